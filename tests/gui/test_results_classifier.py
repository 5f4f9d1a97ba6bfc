"""Scores with the line of a classifier and its groups, one feature against its fit, and the choice of views in a tab."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.pictures import Rule, Texts
from plaidwork.core.session.session import Session
from plaidwork.core.views.decision import Planes, decision_lines
from plaidwork.gui.group_page import GroupPage
from plaidwork.gui.run_pages import run_pages
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import FactorModel, choose, factor_run, find
from tests.gui.image_runs import IMAGES, bar_images, image_results
from tests.gui.points import axes_of, legend_on, lines_on, values_on

PLANES = View(
    "scatter",
    "Scatter",
    {"values": "scores", "planes": "planes", "centres": "centres", "spread": "spread", "share": "shares_of"},
)
FIT = View(
    "feature_fit",
    "One feature",
    {
        "values": "scores",
        "weights": "weights",
        "matrix": "data:X",
        "order": "order",
        "thresholds": "thresholds",
        "levels": "levels",
        "first": "first",
    },
)


def planes(groups: int = 1, classes: int = 1, factors: int = 8) -> Planes:
    """Planes of which the third and the second factor count most."""
    rng = np.random.default_rng(2)
    weights = rng.normal(0, 0.1, (groups, classes, factors + 1))
    weights[:, :, 2] += 3.0
    weights[:, 0, 1] -= 2.0
    centres = np.zeros((groups, factors))
    centres[:, 2] = np.linspace(-2, 2, groups) if groups > 1 else 0.0
    return Planes(weights, centres, np.full(groups, 0.7), np.full(groups, 1.0 / groups))


def classified(groups: int = 1, classes: int = 1):
    """A run with planes."""
    workbench, run = factor_run()
    made = planes(groups, classes)
    run.results = {
        **run.results,
        "planes": Result(made.weights, ("group", "classifier", "coefficient")),
        "centres": Result(made.centres, ("group", "factor")),
        "spread": Result(made.spread, ("group",)),
        "shares_of": Result(made.share, ("group",)),
    }
    return workbench, run


def fit_run(m: int = 40):
    """A run with thresholds at −1 and 1 for each drug but the last, which was left out."""
    workbench, run = factor_run(m=m)
    fitted = run.results["scores"].values @ run.results["weights"].values
    order = (np.abs(fitted) > 1).astype(np.int8)
    order[:, -1] = -1
    levels = np.full(m, 3)
    levels[-1] = 0
    run.results = {
        **run.results,
        "order": Result(order, ("patient", "drug")),
        "thresholds": Result(np.tile([-1.0, 1.0], (m, 1)), ("drug", "threshold")),
        "levels": Result(levels, ("drug",)),
        "first": Result(np.array([4]), ("shown",)),
    }
    return workbench, run


# -- lines --------------------------------------------------------------------------------------------
def test_lines_lie_where_the_classifier_is_zero():
    made = planes()
    at = np.full(8, 0.3)
    (line,) = decision_lines(made, at, 2, 1, (-3, 3), (-3, 3))
    z = np.tile(at, (len(line), 1))
    z[:, 2], z[:, 1] = line.T
    assert np.abs(made.values(z)).max() < 1e-6


def test_lines_of_groups_and_of_several_classes():
    made = planes(groups=3, classes=3)
    lines = decision_lines(made, np.zeros(8), 2, 1, (-3, 3), (-3, 3))
    z = np.zeros((sum(map(len, lines)), 8))
    z[:, 2], z[:, 1] = np.concatenate(lines).T
    f = np.sort(made.values(z), axis=1)
    assert np.median(f[:, -1] - f[:, -2]) < 0.05  # the two largest are equal on the line
    alone = made.values(np.zeros((1, 8)))
    p = np.exp(-0.5 * (made.centres[:, 2] / 0.7) ** 2)
    p /= p.sum()
    np.testing.assert_allclose(alone[0], p @ made.weights[:, :, -1], atol=1e-12)


# -- scatter ------------------------------------------------------------------------------------------
def test_scatter_begins_with_the_factors_that_decide(opened, qtbot):
    page = opened(classified(), PLANES)
    assert axes_of(page) == ("factor 3", "factor 2")
    assert len(lines_on(page)) == 1
    assert "line: decision" in page._notes.text()
    assert [choice.id for choice in page.loaded.choices][:4] == ["x", "y", "line", "colour"]
    assert not page.loaded.panels[0].equal
    with_line = page.chart.grab().toImage()
    box = page.control("line")
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert page.wait(20_000)
    assert not lines_on(page)
    assert page.chart.grab().toImage() != with_line
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert page.wait(20_000)
    (before,) = lines_on(page)
    choose(qtbot, page.control("x"), "factor 1")
    assert page.wait(20_000)
    assert not lines_on(page) or not np.array_equal(lines_on(page)[0].x, before.x)


def test_scatter_shows_groups_as_circles(opened, qtbot, tmp_path):
    page = opened(classified(groups=4, classes=3), PLANES)
    circles = [line for line in lines_on(page) if line.dashed]
    np.testing.assert_allclose([line.x.max() - 0.7 for line in circles], np.linspace(-2, 2, 4))
    (names,) = (mark.words for mark in page.loaded.panels[0].marks if isinstance(mark, Texts))
    assert names == ("Group 1", "Group 2", "Group 3", "Group 4")
    assert "circles: one standard deviation" in page._notes.text()
    frame = page.chart.frames.frames[0]
    wide, high = (abs(axis.at(1.0) - axis.at(0.0)) for axis in (frame.x, frame.y))
    assert wide == pytest.approx(high)
    page.control("groups").click()
    assert page.wait(20_000)
    assert not any(line.dashed for line in lines_on(page))
    assert page.export_picture(tmp_path / "a.svg").stat().st_size > 1000


def test_scatter_without_planes_has_no_boxes(opened):
    page = opened(factor_run(), View("scatter", "Scatter", "scores"))
    assert axes_of(page) == ("factor 1", "factor 2")
    assert [choice.id for choice in page.loaded.choices][:3] == ["x", "y", "colour"]
    workbench, run = classified(groups=2)
    view = View("scatter", "Scatter", {"values": "scores", "planes": "planes"})
    broken = opened((workbench, run), view)
    assert broken.state


# -- one feature --------------------------------------------------------------------------------------
def thresholds_on(page) -> list[float]:
    """Heights of the dashed lines."""
    rules = (mark for mark in page.loaded.panels[0].marks if isinstance(mark, Rule) and mark.dashed)
    return [float(at) for rule in rules for at in rule.at]


def test_one_feature(opened, qtbot, tmp_path):
    workbench, run = fit_run()
    page = opened((workbench, run), FIT)
    assert page.control("feature").currentText() == "drug 5"
    fit = run.results["scores"].values @ run.results["weights"].values[:, 4]
    np.testing.assert_allclose(values_on(page, "y"), fit)
    np.testing.assert_allclose(values_on(page, "x"), workbench.session.datasets["drugs"].values[:, 4])
    assert axes_of(page) == ("drug 5", "fitted value of drug 5")
    assert legend_on(page) == ["in order", "out of order"]
    np.testing.assert_array_equal(values_on(page, "shapes"), np.abs(fit) > 1)
    assert thresholds_on(page) == [-1.0, 1.0]
    assert "2 dashed lines" in page._notes.text()
    share = np.mean(np.abs(fit) <= 1)
    assert f"drug 5: {100 * share:.0f} % of 180 patients in order" in page._headline.text()
    find(qtbot, page.control("feature"), "drug 12")
    assert page.wait(20_000)
    assert axes_of(page)[0] == "drug 12"
    assert workbench.selection(run).get("column") == (11,)
    content, _ = page.data_content()
    assert list(content)[1:] == ["drug 12", "Fitted value", "Order"]
    page.export_picture(tmp_path / "a.png")


def test_one_feature_follows_the_selection(opened, qtbot):
    workbench, run = fit_run()
    page = opened((workbench, run), FIT)
    workbench.selection(run).set("column", (7,))
    assert page.wait(20_000)
    assert axes_of(page)[0] == "drug 8"
    workbench.selection(run).set("column", (39,))
    assert page.wait(20_000)
    assert page._headline.text() == "drug 40 was left out of the fit"
    assert thresholds_on(page) == []
    workbench.selection(run).set("row", (3,))
    assert page.chart.selected["row"] == {3}
    assert page._notes.text().startswith("patient 4: ")
    find(qtbot, page.control("colour"), "IGHV")
    assert page.wait(20_000)
    assert "mutated" in legend_on(page)


def test_one_feature_of_other_data(opened):
    workbench, run = fit_run()
    run.results["weights"] = Result(run.results["weights"].values[:, :7], ("factor", "drug"))
    assert "not a matrix" in opened((workbench, run), FIT)._pane._text.text()


# -- tabs with several views --------------------------------------------------------------------------
GROUPED = tuple(replace(view, group="Loadings") for view in (View("table", "List", "listed"), IMAGES))


class TwoKinds(FactorModel):
    """Images in a group, and views that depend on a setting."""

    spec = replace(
        FactorModel.spec,
        id="toy.two_kinds",
        hyperparameters=(Hyperparameter("bent", "bool", False),),
        views=(
            *GROUPED,
            View("table", "Straight", "listed", when={"bent": False}),
            View("table", "Bent", "listed", when={"bent": (True,)}),
        ),
    )


def two_kinds(image_shape=(8, 8), **params):
    dataset, kind = bar_images()
    dataset = dataset.with_(image_shape=image_shape)
    session = Session(name="Images")
    run = session.add_run(make_plan(TwoKinds(), {"X": dataset}, params))
    found = image_results(np.asarray(dataset.values), kind, ["row 2", "row 4"], 6)
    run.results, run.results_draws, run.status = {**found, "listed": found["scores"]}, 300, "done"
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run


def titles(workbench, run) -> list[str]:
    return [info.title for info in run_pages(workbench, run)][:2]


@pytest.mark.parametrize(("shape", "bent"), [((8, 8), False), ((), False), ((), True)])
def test_views_that_say_something_are_offered(qtbot, shape, bent):
    workbench, run = two_kinds(shape, bent=bent)
    assert titles(workbench, run) == ["Loadings", "Bent" if bent else "Straight"]
    page = run_pages(workbench, run)[0].make()
    qtbot.addWidget(page)
    assert isinstance(page, GroupPage) == bool(shape)


def test_the_dock_follows_the_view_of_a_tab(qtbot):
    workbench, run = two_kinds()
    page = run_pages(workbench, run)[0].make()
    qtbot.addWidget(page)
    page.resize(900, 600)
    page.show()
    with qtbot.waitSignal(page.panel_changed, timeout=20_000):  # once the picture tells what it has beside it
        pass
    panel = page.side_panel()
    assert panel is not None  # it opens on the images
    panel.deleteLater()
    with qtbot.waitSignal(page.panel_changed):
        qtbot.mouseClick(page.choice._group.button(0), Qt.MouseButton.LeftButton)
    assert page.side_panel() is None
    with qtbot.waitSignal(page.panel_changed):
        button = page.choice._group.button(1)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert page.front.wait(20_000)
    panel = page.side_panel()
    assert isinstance(panel, QWidget)
    assert panel.accessibleName()
    panel.deleteLater()


def test_data_of_one_feature_as_a_file(opened, tmp_path):
    workbench, run = fit_run(m=6)
    page = opened((workbench, run), FIT)
    dialog = page.show_data()
    path = tmp_path / "fit.csv"
    dialog.to_csv(path)
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["Patient", "drug 5", "Fitted value", "Order"]
    assert len(rows) == 181
    dialog.close()
