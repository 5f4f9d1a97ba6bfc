"""Maps and curves over columns that are chosen in the window, posteriors with priors, stacked class probabilities."""

from __future__ import annotations

import csv
import threading
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Bands, Line, Points, Rug
from plaidwork.core.session.session import Session
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import FactorModel, choose, click, factor_run
from tests.registries import registry_of

NAMES = ("age", "dose", "weight")
MAP = View(
    "surface",
    "Map",
    {"values": "share", "x": "across", "y": "up", "points": "places"},
    options={"response": {"input": "X", "values": "p"}},
)
CURVES = View(
    "curve",
    "Along one input",
    {"values": "course", "interval": "course_band", "x": "across"},
    options={"response": {"input": "X", "values": "p", "interval": "band"}},
)


class AnsweringModel(FactorModel):
    """Two classes; the second one is probable where the first column minus the third is large. Notes its threads."""

    threads: set[int] = set()
    spec = replace(FactorModel.spec, id="toy.answering", views=(MAP, CURVES))

    def response(self, kept, data, params, name, rows, wanted):
        self.threads.add(threading.get_ident())
        p = 1 / (1 + np.exp(-3 * (rows[:, 0] - rows[:, 2])))
        share = np.stack([1 - p, p], axis=1)
        return {
            "p": Result(share, ("row", "class"), label="probability"),
            "band": Result(np.stack([share / 2, (1 + share) / 2], axis=-1)),
        }


def answering_run():
    """A finished run whose map over the first two columns is stored, as is the curve along the first."""
    values = np.random.default_rng(1).normal(size=(60, 3))
    dataset = Dataset("patients", values, tuple(f"p{i}" for i in range(60)), NAMES)
    session = Session(name="Answering")
    run: Run = session.add_run(make_plan(AnsweringModel(), {"X": dataset}))
    run.chains[0].draws.append({"level": 0.0})
    x, y = np.linspace(-3, 3, 12), np.linspace(-2, 2, 10)
    share = np.tile(1 / (1 + np.exp(-x)), (10, 1))
    run.results = {
        "share": Result(np.stack([1 - share, share]), ("class", "up", "across")),
        "across": Result(x, ("across",), label="age"),
        "up": Result(y, ("up",), label="dose"),
        "places": Result(values[:, :2], ("patient", "axis")),
        "class": Result(np.array(["no", "yes"]), ("class",)),
        "course": Result(np.stack([1 - share[0], share[0]]), ("class", "across"), label="probability"),
        "course_band": Result(np.stack([share[:2] / 2, (1 + share[:2]) / 2], axis=-1)),
    }
    run.results_draws, run.status = 1, "done"
    workbench = Workbench(registry_of(AnsweringModel))
    workbench.set_session(session)
    return workbench, run


def shown(page) -> tuple[str, str]:
    """Columns across and up."""
    return page.control("across").currentText(), page.control("up").currentText()


def test_a_map_over_other_columns(opened, qtbot):
    workbench, run = bench = answering_run()
    page = opened(bench, MAP, size=(900, 700))
    assert shown(page) == ("age", "dose")
    assert len(page.loaded.table["age"]) == 10 * 12
    AnsweringModel.threads.clear()
    choose(qtbot, page.control("up"), "weight")
    assert page.wait(20_000)
    assert AnsweringModel.threads
    assert threading.get_ident() not in AnsweringModel.threads
    table = page.loaded.table
    assert list(table)[:2] == ["age", "weight"]
    assert len(table["age"]) == 40 * 40
    exact = 1 / (1 + np.exp(-3 * (table["age"] - table["weight"])))
    assert np.allclose(table["probability of yes"], exact)
    values = workbench.session.datasets["patients"].values
    marks = page.loaded.panels[0].marks
    (points,) = [mark for mark in marks if isinstance(mark, Points)]
    assert np.allclose(np.stack([points.x, points.y], axis=1), values[:, [0, 2]])
    boundary = [mark for mark in marks if isinstance(mark, Line)][-1]
    assert np.allclose(boundary.x, boundary.y, atol=0.02)
    choose(qtbot, page.control("across"), "weight")  # what was up there gives way
    assert page.wait(20_000)
    assert shown(page) == ("weight", "dose")
    assert next(iter(page.loaded.table)) == "weight"
    workbench.results_changed.emit(run.id)  # while a fit runs
    assert page.wait(20_000)
    assert next(iter(page.loaded.table)) == "weight"
    again = opened(bench, MAP)
    assert shown(again) == ("weight", "dose")
    assert next(iter(again.loaded.table)) == "weight"


def test_without_the_model_there_is_no_choice(opened):
    workbench, run = answering_run()
    run.chains[0].draws = type(run.chains[0].draws)(run.spec.variables)
    page = opened((workbench, run), MAP)
    assert "across" not in [choice.id for choice in page.loaded.choices]
    assert not page.state


def test_curves_along_another_column(opened, qtbot, tmp_path):
    workbench, _run = bench = answering_run()
    page = opened(bench, CURVES)
    assert page._headline.text() == "Probability along age"
    choose(qtbot, page.control("column"), "weight")
    assert page.wait(20_000)
    assert page._headline.text() == "Probability along weight"
    marks = {type(mark): mark for mark in page.loaded.panels[0].marks}
    values = workbench.session.datasets["patients"].values
    line = marks[Line]  # the last one: the second class
    p = 1 / (1 + np.exp(-3 * (np.median(values[:, 0]) - line.x)))
    assert np.allclose(line.y, p)
    assert np.allclose(marks[Bands].low, p / 2)
    assert np.allclose(marks[Bands].high, (1 + p) / 2)
    assert np.allclose(marks[Rug].x, values[:, 2])
    light = page.grab().toImage()
    click(qtbot, page.control("drawn")._group.button(1), 5, 5)
    assert page.wait(20_000)
    assert page.grab().toImage() != light
    (frame,) = page.chart.frames.frames
    middle = frame.area.center().x()
    qtbot.mouseMove(page.chart, QPointF(middle, frame.y.at(0.02)).toPoint())
    assert page.told[-1].startswith("no, weight ")
    first = page.chart.current
    qtbot.mouseMove(page.chart, QPointF(middle, frame.y.at(0.98)).toPoint())
    assert (page.chart.current.mark, page.chart.current.piece) == (first.mark + 1, first.piece)
    assert page.export_picture(tmp_path / "c.svg").stat().st_size > 2000
    page.show_data().close()
    again = opened(bench, CURVES)
    assert again.control("column").currentText() == "weight"


def posterior_run(spread: float = 1.0):
    workbench, run = factor_run()
    rng = np.random.default_rng(2)
    x = np.tile(np.linspace(-5, 5, 201), (2, 1))
    run.results |= {
        "draws": Result(
            np.stack([rng.normal(1, 0.2, (2, 4000)), spread * rng.normal(size=(2, 4000))], axis=-1),
            ("chain", "draw", "parameter"),
        ),
        "places": Result(x),
        "density": Result(np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)),
        "parameter": Result(np.array(["length", "height"]), ("parameter",)),
    }
    return workbench, run


def test_posteriors_with_priors(opened, qtbot, tmp_path):
    view = View(
        "posterior",
        "Posterior",
        {"values": "draws", "x": "places", "prior": "density"},
        options={"dim": "length"},
    )
    page = opened(posterior_run(), view)
    table = page.loaded.table
    assert table["Quantity"].tolist() == ["length", "height"]
    assert [table[title][0] for title in ("5 %", "Median", "95 %")] == pytest.approx(
        [0.671, 1, 1.329], abs=0.02
    )
    assert (table["Prior 5 %"][1], table["Prior 95 %"][1]) == pytest.approx((-1.645, 1.645), abs=0.01)
    band, one, two, whole = page.loaded.panels[1].marks[:4]  # band, two chains, all draws
    assert isinstance(band, Bands)
    assert one.opacity == two.opacity < whole.opacity
    assert np.abs(whole.y - np.exp(-0.5 * whole.x**2) / np.sqrt(2 * np.pi)).max() < 0.03
    assert page._headline.text() == "1 of 2 lengths is known much better than beforehand"
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert page.told[-1].startswith("length: median ")
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert page.told[-1].startswith("height: median ")
    first = page.chart.frames.frames[0].area
    qtbot.mouseMove(page.chart, QPointF(first.left() + 3, first.top() + 3).toPoint())
    assert page.told[-1].startswith("length: median ")
    assert page.search("heig")[0].startswith("height: median ")
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "p.csv")
    dialog.close()
    rows = list(csv.reader((tmp_path / "p.csv").open()))
    assert float(rows[2][5]) == pytest.approx(1.645, abs=0.01)


@pytest.mark.slow
def test_many_posteriors_scroll_and_are_exported_whole(opened, qtbot, tmp_path):
    workbench, run = posterior_run()
    run.results["draws"] = Result(np.random.default_rng(1).normal(size=(2, 50, 40)), ("chain", "draw", "k"))
    page = opened((workbench, run), View("posterior", "Posterior", {"values": "draws"}), size=(700, 400))
    layout = page.chart.frames
    assert layout.across == 2
    assert page.chart.height() > 20 * 136
    areas = [frame.area for frame in layout.frames]
    assert not any(a.intersects(b) for i, a in enumerate(areas) for b in areas[i + 1 :])
    for _ in range(2):
        qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    assert page.chart.current.panel == 2
    page.export_picture(tmp_path / "p.png")
    assert QImage(str(tmp_path / "p.png")).height() > 2 * 20 * 136


def test_posteriors_of_logarithms_and_of_nothing(opened):
    view = View("posterior", "Posterior", {"values": "draws"}, options={"log": True})
    workbench, run = posterior_run(spread=0.0)
    page = opened((workbench, run), view)
    (panel,) = page.loaded.panels  # the other one never moves
    assert panel.values[0].startswith("2.7")
    assert panel.x.scale == "log"
    assert page.loaded.table["Median"] == pytest.approx([np.e], abs=0.05)
    run.results["draws"] = Result(np.zeros((1, 5, 2)), ("chain", "draw", "parameter"))
    assert opened((workbench, run), view).state == "Nothing was inferred here"


def test_probabilities_of_each_item(opened, qtbot):
    workbench, run = factor_run()
    rng = np.random.default_rng(3)
    share = rng.dirichlet(np.ones(3), 90)
    codes = rng.integers(0, 3, 90)
    run.results |= {
        "share": Result(share, ("sample", "class")),
        "codes": Result(codes, ("sample",)),
        "half": Result(np.where(np.arange(90) < 40, "test", "fitted"), ("sample",)),
        "class": Result(np.array(["low", "middle", "high"]), ("class",)),
    }
    view = View("shares", "Each sample", {"labels": "codes", "probability": "share", "part": "half"})
    page = opened((workbench, run), view)
    table, chart = page.loaded.table, page.chart
    expected = share[:40] @ np.arange(3)
    order = np.argsort(expected)
    assert np.allclose(table["low"], share[:40][order, 0])
    area = chart.frames.frames[0].area
    first = order[0]
    qtbot.mouseMove(chart, QPointF(area.left() + 2, area.center().y()).toPoint())
    name = ["low", "middle", "high"][codes[first]]
    assert page.told[-1].startswith(f"Sample of class {name}: low {share[first, 0]:.2f}")
    click(qtbot, page.control("order")._group.button(1), 5, 5)
    assert page.wait(20_000)
    names = ["low", "middle", "high"]
    known = [names.index(text) for text in page.loaded.table["Known class"]]
    assert len(known) == 40
    assert (np.diff(known) >= 0).all()
    choose(qtbot, page.control("part"), "fitted")
    assert page.wait(20_000)
    assert len(page.loaded.table["Known class"]) == 50
    QApplication.processEvents()
    page.grab()
    page.show_data().close()
