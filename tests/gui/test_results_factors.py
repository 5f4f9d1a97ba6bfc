"""Coefficients, scatter, variance and curves: pictures, choices by real clicks, the shared selection, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.data.dataset import Step
from plaidwork.core.pictures import Points
from plaidwork.core.pictures.words import headed
from plaidwork.core.views.colouring import colouring
from plaidwork.core.views.strips import strip_of
from plaidwork.gui.pictures.hits import mark_of
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import (
    COEFFICIENTS,
    SCATTER,
    VARIANCE,
    VIEWS,
    at,
    choose,
    click,
    factor_run,
    find,
    wheel,
)
from tests.gui.points import axes_of, legend_on, places_on, points_on


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.kind)
def test_before_and_after_there_are_results(opened, view):
    workbench, run = factor_run()
    results, run.results = run.results, {}
    page = opened((workbench, run), view)
    assert page.state == "No result yet"
    run.results = results
    workbench.results_changed.emit(run.id)
    assert page.wait(20_000)
    assert page.state == ""


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.kind)
def test_pictures_files_and_a_live_switch(opened, tmp_path, view):
    page = opened(factor_run(), view)
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
    theme().set_mode("light")
    assert page.grab().toImage() == light
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")):
        assert start in page.export_picture(tmp_path / f"a.{kind}").read_bytes()[:400]
    assert QImage(str(tmp_path / "a.png")).width() >= 2 * page._content.width() * 0.7


BROKEN = [
    (
        View("coefficients", "W", {"values": "weights", "interval": "weights"}),
        "interval need the shape 8 × 40 × 2",
    ),
    (
        View("coefficients", "W", {"values": "weights", "probability": "shares"}),
        "probability need the shape 8 × 40",
    ),
    (
        View("coefficients", "W", {"values": "weights", "group": "view"}),
        "The group has 3 items; there are 40",
    ),
    (View("scatter", "S", {"values": "hours"}), "need 2 axes. Found an array of shape 97"),
    (View("scatter", "S", {"values": "scores", "colour": "hours"}), "there are 180 items"),
    (View("variance", "V", {"values": "shares", "total": "hours"}), "total need the shape 3. Found 97"),
    (View("curve", "C", {"values": "course", "x": "view"}), "need numbers"),
    (View("curve", "C", {"values": "nothing"}), "no result named “nothing”"),
]


@pytest.mark.parametrize(("view", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_broken_sources_say_why(opened, view, words):
    page = opened(factor_run(), view)
    assert page.state == "This picture could not be drawn"
    assert words in page._pane._text.text()


def test_nothing_found(opened):
    workbench, run = factor_run()
    run.results |= {
        "weights": Result(np.zeros((0, 40)), ("factor", "drug")),
        "scores": Result(np.zeros((180, 0)), ("patient", "factor")),
        "shares": Result(np.zeros((3, 0)), ("view", "factor")),
        "course": Result(np.zeros((0, 97)), ("factor", "hour")),
    }
    for view in (View("coefficients", "W", "weights"), SCATTER, VARIANCE, View("curve", "C", "course")):
        page = opened((workbench, run), view)
        assert page.state == "Nothing to show", view.kind
        page.search("x")


# -- coefficients -------------------------------------------------------------------------------
def rows_in(page, panel: int = 0) -> Points:
    """The dots of a list."""
    return next(mark for mark in page.loaded.panels[panel].marks if isinstance(mark, Points))


def row_at(page, row: int, panel: int = 0) -> tuple[float, float]:
    """A place within a row, away from its dot."""
    frame = page.chart.frames.frames[panel]
    return frame.area.left() + 3, frame.y.at(row) + 2


def test_coefficients_strongest_first_with_doubt(opened, qtbot):
    workbench, run = factor_run()
    page = opened((workbench, run), COEFFICIENTS)
    weights, interval = (run.results[name].values[0] for name in ("weights", "weights_interval"))
    panels = page.loaded.panels
    assert [panel.title for panel in panels] == ["Factor 1: mutations", "Factor 1: drugs"]
    assert panels[0].x == panels[1].x  # one scale
    for panel, first in enumerate((0, 1)):
        dots = rows_in(page, panel)
        assert np.abs(dots.x).tolist() == sorted(np.abs(weights[first::2]), reverse=True)[:12]
        for k, i in enumerate(dots.of.index):
            doubtful = interval[i, 0] <= 0 <= interval[i, 1]
            assert dots.color_of(k) == ("neutral" if doubtful else 0 if weights[i] > 0 else 4)
            assert (dots.shapes[k] == -3) == (run.results["inclusion"].values[0, i] < 0.5)
    qtbot.mouseMove(page.chart, at(*row_at(page, 0, 1)))
    assert page.told[-1].startswith(f"{rows_in(page, 1).called[0]}: ")
    assert ", interval " in page.told[-1]
    assert ", probability " in page.told[-1]


def test_coefficients_choices_by_clicks(opened, qtbot):
    workbench, run = factor_run()
    page = opened((workbench, run), COEFFICIENTS)
    selection = workbench.selection(run)
    choose(qtbot, page.control("factor"), "factor 3")
    assert page.wait(20_000)
    assert selection.get("layer") == (2,)
    assert page._headline.text().startswith("Factor 3: ")
    selection.set("layer", (4,))
    assert page.wait(20_000)
    assert page.control("factor").currentText() == "factor 5"
    choose(qtbot, page.control("group"), "drugs")
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 1
    slider = page.control("top").slider
    slider.setFocus()
    for key, count in ((Qt.Key.Key_Home, 1), (Qt.Key.Key_End, 20)):
        qtbot.keyClick(slider, key)
        assert page.wait(20_000)
        assert len(rows_in(page)) == count
    click(qtbot, page.control("order")._group.button(1), 10, 10)
    assert page.wait(20_000)
    values = rows_in(page).x
    assert values.tolist() == sorted(values, reverse=True)
    item = int(rows_in(page).of.index[1])
    click(qtbot, page.chart, *row_at(page, 1))
    assert selection.get("column") == (item,)
    assert page.chart.selected["column"] == {item}
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert selection.get("column") == ()
    qtbot.keyClick(page, Qt.Key.Key_BracketLeft)
    assert page.wait(20_000)
    assert selection.get("layer") == (3,)
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    qtbot.keyClick(page.chart, Qt.Key.Key_Return)
    assert selection.get("column") == (int(rows_in(page).of.index[1]),)


def test_coefficients_search_scroll_and_table(opened, qtbot, tmp_path):
    page = opened(
        factor_run(m=400),
        replace(COEFFICIENTS, source={"values": "weights"}, options={"top": 10}),
        (800, 360),
    )
    weak = int(np.argsort(-np.abs(page.run.results["weights"].values[0]))[60])
    page.find_in_page()
    qtbot.keyClicks(page.find_row.field, f"drug {weak + 1}")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.find_row.found.text().startswith(f"drug {weak + 1}")
    assert page.wait(20_000)
    dots = rows_in(page)
    assert len(dots) >= 61
    assert weak in dots.of.index
    assert weak in page.chart.selected["column"]
    QApplication.processEvents()
    first = min(page.chart.selected["column"] & set(dots.of.index), key=list(dots.of.index).index)
    y = page.chart.frames.frames[0].y.at(list(dots.of.index).index(first))
    assert page.chart.visibleRegion().contains(at(page.chart.width() / 2, y))
    page.close_find()
    assert page.workbench.selection(page.run).get("column") == ()
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "w.csv")
    lines = list(csv.reader((tmp_path / "w.csv").open()))
    assert lines[0] == ["Drug", "Weight"]
    assert len(lines) == 401
    dialog.close()


def test_a_single_list_of_coefficients(opened):
    workbench, run = factor_run()
    run.results["effect"] = Result(np.array([0.5, -2.0, np.nan]), ("thing",), label="effect", unit="sd")
    run.results["thing"] = Result(np.array(["a", "b", "c"]), ("thing",))
    page = opened((workbench, run), View("coefficients", "Effects", "effect"))
    assert rows_in(page).called == ("b", "a")
    assert page.loaded.panels[0].x.title == "effect, sd"
    assert page._headline.text() == "Effects: b is strongest (−2)"
    assert [choice.id for choice in page.loaded.choices] == ["top", "order"]
    page.chart.grab()
    page = opened((workbench, run), View("coefficients", "Effects", "effect", options={"dim": "causes"}))
    assert rows_in(page).called == ("b", "a")
    assert page._notes.text() == "2 of 3 causes, strongest first"
    run.results["labels"] = Table({"Thing": np.array(["x", "y", "z"])})
    page = opened((workbench, run), View("coefficients", "Effects", {"values": "effect", "names": "labels"}))
    assert rows_in(page).called == ("y", "x")


def test_names_of_classes_are_shown_as_they_are(opened):
    workbench, run = factor_run()
    run.results["by_class"] = Result(np.array([[0.5, -2.0], [1.0, 3.0]]), ("class", "factor"), label="effect")
    run.results["class"] = Result(np.array(["b-cell", "t-cell"]), ("class",))
    page = opened((workbench, run), View("coefficients", "Effects", "by_class"))
    assert page._headline.text().startswith("b-cell: ")
    assert headed("factor 2") == "Factor 2"
    assert headed("p53") == "p53"


# -- scatter ------------------------------------------------------------------------------------
def test_scatter_colours(opened, qtbot):
    page = opened(factor_run(), SCATTER)
    picker = page.control("colour")
    rows = picker.names.rows
    assert rows[:6] == [
        ("nothing", True), ("Annotations", False), ("IGHV", True), ("age", True), ("site", True), ("drugs", False),
    ]  # fmt: skip
    assert rows[6] == ("drug 1", True)
    points = points_on(page)
    assert set(legend_on(page)) == {"mutated", "unmutated", "unknown"}
    unknown = points.shapes < 0
    assert unknown.any()
    assert {points.color[i] for i in np.flatnonzero(unknown)} == {"control"}
    assert np.flatnonzero(unknown).max() < np.flatnonzero(~unknown).min()  # below the others
    assert len(set(points.shapes.tolist())) == 3
    find(qtbot, picker, "age")
    assert page.wait(20_000)
    assert points_on(page).levels is not None
    assert legend_on(page) == ["unknown", "age"]
    find(qtbot, picker, "site")
    assert page.wait(20_000)
    assert "other" in legend_on(page)
    find(qtbot, picker, "drug 17")
    assert page.wait(20_000)
    values = next(iter(page.workbench.session.datasets.values())).values[:, 16]
    points = points_on(page)
    assert points.levels.tolist() == values[points.of.index].tolist()
    dialog = page.show_data()
    assert dialog.table.model.columns()["drug 17"].tolist() == values.tolist()
    dialog.close()
    find(qtbot, picker, "nothing")
    assert page.wait(20_000)
    assert legend_on(page) == []


def test_scatter_axes_swap_and_follow_the_factor(opened, qtbot):
    workbench, run = factor_run()
    page = opened((workbench, run), SCATTER)
    selection = workbench.selection(run)
    choose(qtbot, page.control("x"), "factor 3")
    assert page.wait(20_000)
    assert selection.get("layer") == (2,)
    assert axes_of(page) == ("factor 3", "factor 1")  # on its way down the list it met factor 2
    page.control("y").setCurrentText("factor 3")
    assert page.wait(20_000)
    assert axes_of(page) == ("factor 1", "factor 3")
    assert selection.get("layer") == (0,)
    selection.set("layer", (6,))
    assert page.wait(20_000)
    assert axes_of(page) == ("factor 7", "factor 3")
    assert page.control("x").currentText() == "factor 7"
    assert page._headline.text().startswith("Patients by factor 7 and ")
    selection.set("layer", (2,))
    assert page.wait(20_000)
    assert axes_of(page) == ("factor 3", "factor 7")
    qtbot.keyClick(page, Qt.Key.Key_BracketLeft)
    assert page.wait(20_000)
    assert selection.get("layer") == (1,)


def test_scatter_hover_click_and_lasso(opened, qtbot, tmp_path):
    workbench, run = factor_run()
    page = opened((workbench, run), SCATTER)
    selection, chart = workbench.selection(run), page.chart
    x, y = places_on(page).T
    lone = int(np.argmax(x))
    qtbot.mouseMove(chart, at(x[lone], y[lone]))
    assert page.told[-1].startswith(f"patient {lone + 1}: factor 1 ")
    assert ", IGHV " in page.told[-1]
    assert mark_of(page.loaded, chart.current).called_of(chart.current.piece) == f"patient {lone + 1}"
    click(qtbot, chart, x[lone], y[lone])
    assert selection.get("row") == (lone,)
    other = int(np.argmin(x))
    click(qtbot, chart, x[other], y[other], Qt.KeyboardModifier.ControlModifier)
    assert selection.get("row") == tuple(sorted((lone, other)))
    click(qtbot, chart, x[other], y[other], Qt.KeyboardModifier.ControlModifier)
    assert selection.get("row") == (lone,)
    left, right, top, bottom = x.min() - 5, float(np.median(x)), y.min() - 5, y.max() + 5
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=at(left, top))
    for corner in ((right, top), (right, bottom), (left, bottom)):
        qtbot.mouseMove(chart, at(*corner))
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=at(left, bottom))
    assert len(selection.get("row")) == pytest.approx(90, abs=2)
    assert page._notes.text().endswith(f"; {len(selection.get('row'))} selected")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert selection.get("row") == ()
    wheel(chart, x[lone], y[lone], 120)
    assert chart.zoomed
    assert places_on(page)[lone, 0] == pytest.approx(x[lone], abs=1)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not chart.zoomed
    assert page.search("patient 17") == ["patient 17", *(f"patient {i}" for i in range(170, 180))]
    assert selection.get("row") == (16, *range(169, 179))
    page.close_find()
    assert selection.get("row") == ()
    qtbot.mouseMove(chart, QPoint(2, 2))
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert selection.get("row") == (other,)
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "s.csv")
    head = next(csv.reader((tmp_path / "s.csv").open()))
    assert head == ["Patient", *(f"Factor {k}" for k in range(1, 9)), "IGHV", "age", "site"]
    dialog.close()


def test_the_zoom_stays_when_the_colour_changes(opened, qtbot):
    page = opened(factor_run(), SCATTER)
    wheel(page.chart, 400, 250, 120)
    before = page.chart.zoom
    find(qtbot, page.control("colour"), "site")
    assert page.wait(20_000)
    assert page.chart.zoom == before
    choose(qtbot, page.control("x"), "factor 3")
    assert page.wait(20_000)
    assert not page.chart.zoomed


def test_scatter_of_one_factor_and_of_results(opened):
    workbench, run = factor_run()
    run.results["one"] = Result(run.results["scores"].values[:, :1], ("patient", "factor"))
    page = opened((workbench, run), View("scatter", "S", "one"))
    assert axes_of(page) == ("patient, as given", "factor 1")
    run.results["certainty"] = Result(np.linspace(0, 1, 180), ("patient",), label="certainty")
    view = View(
        "scatter", "S", {"values": "scores", "colour": "certainty"}, options={"x": "factor 4", "y": 2}
    )
    page = opened((workbench, run), view)
    assert legend_on(page) == ["certainty"]
    assert axes_of(page) == ("factor 4", "factor 2")


@pytest.mark.parametrize("union", [False, True])
def test_names_and_classes_of_joined_data(opened, union):
    """The run keeps the names of what it was given: items are named as they were joined, classes found by name."""
    workbench, run = factor_run()
    run.spec = replace(run.spec, inputs=(replace(run.spec.inputs[0], many=True, union=union),))
    (whole,) = workbench.session.datasets.values()
    step = Step("top_variance", {})
    later = whole.take(0, np.arange(30, 180)[::-1], step).with_(name="later")
    first = whole.take(0, np.arange(150 if union else 180), step).with_(row_table={})
    workbench.session.datasets.update({"drugs": first, "later": later})
    run.inputs = {"X": ("drugs", "later")}
    expected = np.arange(180) if union else np.arange(30, 180)
    if union:
        expected = np.r_[np.arange(150), np.arange(179, 149, -1)]
    run.results["scores"] = Result(run.results["scores"].values[expected], ("patient", "factor"))
    points = points_on(opened((workbench, run), SCATTER))
    by_item = np.argsort(points.of.index)
    assert [points.called_of(i) for i in by_item] == [f"patient {i + 1}" for i in expected]
    known = np.where(expected >= 30, whole.row_table["IGHV"][expected], None)
    assert [points.text(i).split("IGHV ")[1] for i in by_item] == [text or "unknown" for text in known]


def test_a_column_is_a_class_or_a_scale_or_nothing():
    assert colouring("c", np.array(["a"] * 9)) is None
    assert colouring("c", np.array([f"a{i}" for i in range(60)])) is None
    assert colouring("c", np.array([1, 0, 1, 1, 0])).classes == ("0", "1")
    scale = colouring("c", np.array([*np.arange(30.0), np.nan, np.inf]))
    assert scale.limits == (0, 29)
    assert np.isnan(scale.numbers[30:]).all()


def test_all_factors_side_by_side(opened, qtbot, tmp_path):
    workbench, run = factor_run(count=5)
    view = View("coefficients", "Weights", {"values": "weights"}, options={"top": 6, "together": True})
    page = opened((workbench, run), view)
    weights = run.results["weights"].values
    picker = page.control("factor")
    assert picker.currentText() == "all"
    assert page._headline.text() == "5 factors by their strongest drugs"
    assert [panel.title for panel in page.loaded.panels] == [f"Factor {k}" for k in range(1, 6)]
    assert len({panel.x for panel in page.loaded.panels}) == 1
    for panel, values in enumerate(weights):
        assert np.abs(rows_in(page, panel).x).tolist() == sorted(np.abs(values), reverse=True)[:6]
    assert page._notes.text() == "6 of 40 drugs each by weight, strongest first"
    for wide, across in ((1300, 5), (900, 3), (500, 2)):
        page.resize(wide, 620)
        QApplication.processEvents()
        assert len({frame.area.left() for frame in page.chart.frames.frames}) == across
    workbench.selection(run).set("layer", (3,))
    assert picker.currentText() == "all"
    page.show_data().close()
    page.export_picture(tmp_path / "w.png")
    choose(qtbot, picker, "factor 3")
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 1
    assert page.loaded.panels[0].title == "Factor 3: drugs"
    assert workbench.selection(run).get("layer") == (2,)
    qtbot.keyClick(page, Qt.Key.Key_BracketLeft)
    assert page.wait(20_000)
    assert picker.currentText() == "factor 2"
    choose(qtbot, picker, "all")
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 5


def test_a_strip_shows_more_classes_than_it_has_shades():
    """Thirteen diagnoses, most of them rare: the common ones and the rest, not an empty strip."""
    column = np.array(["CLL"] * 60 + ["T-PLL"] * 20 + ["MCL"] * 9 + [f"rare {i}" for i in range(10)])
    strip = strip_of("Diagnosis", column)
    assert strip is not None
    assert [text for _, text in strip.legend] == ["CLL", "T-PLL", "MCL", "10 others"]
    assert strip_of("Name", np.array([f"sample {i}" for i in range(99)])) is None
