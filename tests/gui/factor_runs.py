"""A finished run with factors made by numpy: scores, weights, shares and a curve, for tests of the result pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.model import Result, Results
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Cells
from plaidwork.core.session.session import Session
from plaidwork.gui.workbench import Workbench
from tests.gui.result_runs import ToyModel
from tests.registries import registry_of

COEFFICIENTS = View(
    "coefficients",
    "Weights",
    {"values": "weights", "interval": "weights_interval", "probability": "inclusion", "group": "origin"},
    options={"top": 12},
)
PLAIN = View("coefficients", "Weights", {"values": "weights", "group": "origin"})
SCATTER = View("scatter", "Scores", {"values": "scores"}, options={"colour_by": "IGHV"})
VARIANCE = View("variance", "Variance", {"values": "shares"})
CURVE = View("curve", "Course", {"values": "course", "interval": "course_interval", "x": "hours"})
VIEWS = (COEFFICIENTS, SCATTER, VARIANCE, CURVE)


class FactorModel(ToyModel):
    """Patients by drugs; never fits."""

    spec = replace(
        ToyModel.spec,
        id="toy.factors",
        inputs=(Input("X", dims=("patient", "drug"), missing=True),),
        dims={"factor": "factors"},
        views=VIEWS,
    )


def factor_dataset(n: int = 180, m: int = 40) -> Dataset:
    """Patients with a class that some lack, an age, and a name of their own."""
    rng = np.random.default_rng(4)
    mutation = np.array(["mutated", "unmutated", None], dtype=object)[rng.choice(3, n, p=[0.5, 0.42, 0.08])]
    return Dataset(
        "drugs",
        rng.normal(size=(n, m)),
        tuple(f"patient {i + 1}" for i in range(n)),
        tuple(f"drug {j + 1}" for j in range(m)),
        row_table={
            "IGHV": mutation,
            "age": np.where(rng.random(n) < 0.05, np.nan, rng.integers(35, 90, n) + rng.random(n)),
            "site": np.array([f"site {i % 9}" for i in range(n)], dtype=object),
            "note": np.array([f"note {i}" for i in range(n)], dtype=object),
        },
        row_label="patients",
        column_label="drugs",
    )


def factor_results(dataset: Dataset, count: int = 8, views: int = 3) -> Results:
    """Results of a factor model."""
    rng = np.random.default_rng(5)
    n, m = dataset.shape
    known = np.array([{"mutated": 1.0, "unmutated": -1.0}.get(v, 0.0) for v in dataset.row_table["IGHV"]])
    scores = rng.normal(size=(n, count))
    scores[:, 0] += 1.2 * known
    weights = rng.normal(0, 0.5, (count, m)) * (rng.random((count, m)) < 0.5)
    half = rng.uniform(0.1, 0.4, weights.shape)
    hours = np.linspace(0, 48, 97)
    course = np.stack([np.sin(hours / 8 + k) * (1 + 0.2 * k) + 0.5 * k for k in range(3)])
    return {
        "scores": Result(scores, ("patient", "factor"), label="score", doc="Each patient on two factors."),
        "weights": Result(weights, ("factor", "drug"), label="weight", doc="What drives the factor."),
        "weights_interval": Result(np.stack([weights - half, weights + half], axis=-1)),
        "inclusion": Result(np.clip(np.abs(weights) * 2.2, 0, 1)),
        "origin": Result(np.array(["drugs" if j % 2 else "mutations" for j in range(m)])),
        "shares": Result(
            rng.dirichlet(np.full(count, 0.4), views) * rng.uniform(0.3, 0.7, (views, 1)), ("view", "factor")
        ),
        "view": Result(
            np.array(["Drugs", "Mutations", "Expression", "Methylation", "V5", "V6", "V7"][:views]), ("view",)
        ),
        "course": Result(course, ("factor", "hour"), label="level", unit="sd", doc="Mean and 90 % interval."),
        "course_interval": Result(np.stack([course - 0.4, course + 0.4], axis=-1)),
        "hours": Result(hours, ("hour",), label="time", unit="h"),
    }


def factor_run(n: int = 180, m: int = 40, **sizes: int) -> tuple[Workbench, Run]:
    """Workbench and finished run."""
    dataset = factor_dataset(n, m)
    session = Session(name="Factors")
    run: Run = session.add_run(make_plan(FactorModel(), {"X": dataset}))
    run.results, run.results_draws, run.status = factor_results(dataset, **sizes), 300, "done"
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run


class FittedModel(FactorModel):
    """Patients by drugs and by mutations; expects the mean of a column, plus its number times the patient's."""

    spec = replace(
        FactorModel.spec,
        id="toy.fitted",
        inputs=(Input("views", dims=("patient", "feature"), missing=True, many=True, union=True),),
        views=(
            View(
                "factor_heatmap",
                "Heat map",
                {
                    "values": "scores",
                    "weights": "weights",
                    "group": "origin",
                    "names": "feature_names",
                    "matrix": "data:views",
                    "fitted": "fitted:views",
                },
            ),
            View("imputed", "Imputation", "fitted:views"),
            View("beeswarm", "Beeswarm", "scores"),
        ),
    )

    def fitted(self, kept, data, params, name, index, columns):
        n = data[name][index].shape[0]
        mean = np.asarray(columns)[None, :] + 0.001 * np.arange(n)[:, None] + 100.0 * index
        return mean, np.full(mean.shape, 0.5)


def fitted_run(missing: float = 0.1) -> tuple[Workbench, Run]:
    """A finished run with two views that lack cells, and a model that tells fitted values."""
    rng = np.random.default_rng(8)
    drugs = factor_dataset()
    values = np.where(rng.random(drugs.shape) < missing, np.nan, drugs.values)
    events = np.where(rng.random((180, 12)) < missing, np.nan, rng.random((180, 12)) < 0.3)
    genes = tuple(f"gene {j + 1}" for j in range(11))
    session = Session(name="Fitted")
    mutations = Dataset("mutations", events, drugs.row_names, (*genes, "drug 1"))
    plan = make_plan(FittedModel(), {"views": [drugs.with_(values=values), mutations]})
    run: Run = session.add_run(plan)
    run.chains[0].draws.append({"level": 0.0})
    names = [*drugs.column_names[1:], "drug 1 (drugs)", *genes, "drug 1 (mutations)"]
    scores = rng.normal(size=(180, 3))
    weights = rng.normal(size=(3, 52))
    run.results = {
        "scores": Result(scores, ("patient", "factor"), label="score"),
        "weights": Result(weights, ("factor", "variable"), label="weight"),
        "origin": Result(np.array(["drugs"] * 40 + ["mutations"] * 12), ("variable",)),
        "feature_names": Result(np.array(names), ("variable",)),
    }
    run.results_draws, run.status = 1, "done"
    workbench = Workbench(registry_of(FittedModel))
    workbench.set_session(session)
    return workbench, run


def at(x: float, y: float) -> QPoint:
    """A place in a widget."""
    return QPointF(x, y).toPoint()


def cells_of(page, panel: int = -1):
    """The cells of a panel of a page's picture."""
    return next(mark for mark in page.loaded.panels[panel].marks if isinstance(mark, Cells))


def cell_at(page, row: int, column: int, panel: int = -1) -> QPoint:
    """Where a cell is in the chart of a page."""
    frame = page.chart.frames.frames[panel]
    return at(frame.x.at(column), frame.y.at(row))


def click(qtbot, widget, x: float, y: float, keys=Qt.KeyboardModifier.NoModifier) -> None:
    """Press and release the left button."""
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, keys, at(x, y))


def find(qtbot, picker, text: str, name: str = "") -> None:
    """Type a part of a name into the list of a picker with a search line, then Enter."""
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Down)
    qtbot.keyClicks(picker.popup.field, text)
    qtbot.keyClick(picker.popup.field, Qt.Key.Key_Return)
    assert picker.currentText() == (name or text)


def choose(qtbot, picker, text: str) -> None:
    """As with the keyboard: to the first item, then down to the one wanted."""
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Home)
    for _ in range(picker.findText(text)):
        qtbot.keyClick(picker, Qt.Key.Key_Down)
    assert picker.currentText() == text


def wheel(widget, x: float, y: float, turn: int) -> None:
    """Turn the wheel over a place; 120 is a notch away from the user."""
    place = QPointF(x, y)
    event = QWheelEvent(
        place,
        QPointF(widget.mapToGlobal(place)),
        QPoint(),
        QPoint(0, turn),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)
