"""Probability maps: values under the pointer, classes, boundary, points, the cut by drag and keys, states, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.gui.results.marks import colors_of
from plaidwork.gui.theme import theme
from tests.gui.factor_runs import choose, click, factor_run, wheel

SOURCE = {
    "values": "share",
    "x": "across",
    "y": "up",
    "names": "class",
    "points": "places",
    "labels": "codes",
    "test": "held",
    "null": "nothing",
    "uncertainty": "sd",
}
SURFACE = View("surface", "Map", SOURCE)


def map_run(classes: int = 2, null: bool = True, n: int = 180):
    """A disc of class B around the origin in a plane of A; C, if there is one, at the right."""
    rng = np.random.default_rng(3)
    workbench, run = factor_run()
    x, y = np.linspace(-2, 3, 51), np.linspace(-1.5, 1.5, 41)
    score = [np.zeros((41, 51)), 4 * (1 - np.hypot(x[None, :], y[:, None]))]
    if classes == 3:
        score.append(4 * (x[None, :] - 1.5) + 0 * y[:, None])
    share = np.exp(score) / np.exp(score).sum(axis=0)
    points = np.stack([rng.uniform(-1.9, 2.9, n), rng.uniform(-1.4, 1.4, n)], axis=1)
    codes = (np.hypot(*points.T) < 1).astype(int)
    codes[n // 2 :] = -1
    run.results |= {
        "share": Result(share, ("class", "up", "across"), label="probability"),
        "across": Result(x, ("across",), label="x1"),
        "up": Result(y, ("up",), label="x2", unit="cm"),
        "class": Result(np.array(["A", "B", "C"][:classes]), ("class",)),
        "places": Result(points, ("patient", "axis")),
        "codes": Result(codes, ("patient",)),
        "held": Result((np.arange(n) % 5 == 0).astype(int), ("patient",)),
        "sd": Result(0.2 * share[0] * (1 - share[0]), ("up", "across"), label="standard deviation"),
    }
    if null:
        run.results["nothing"] = Result(
            0.9 * np.exp(-8 * (np.hypot(x[None, :], y[:, None]) - 1) ** 2), ("up", "across")
        )
    return workbench, run


def place(chart, x: float, y: float) -> QPoint:
    """Pixel of a place on the map."""
    across, up = chart.scales()
    return QPointF(across.at(x), up.at(y)).toPoint()


def along(page, x: float) -> float:
    """Probability of B on the cut."""
    line = page.curve.picture.panels[0].marks[1]
    return float(np.interp(x, line.x, line.y))


def test_two_classes(opened, qtbot, tmp_path):
    workbench, run = bench = map_run()
    page = opened(bench, SURFACE, size=(900, 700))
    chart = page.chart
    assert page._headline.text() == "Probability of B by x1 and x2"
    assert not page._picker_field.isVisible()
    (ring,) = [line for line in page.layer.boundary if len(line) > 20]
    assert np.hypot(*ring.T) == pytest.approx(1, abs=5e-3)
    assert {contour.level for contour in page.layer.contours} == {0.1, 0.25, 0.75, 0.9}
    assert page._foot.text() == (
        "180 patients, 36 for the test (with an eye); thick line: decision boundary; hatched: no class is more likely than not"
    )
    page.data.click()
    qtbot.mouseMove(chart, place(chart, 0.02, 0.02))
    near = chart.value_text(QPointF(place(chart, 0, 0)))
    assert near.startswith("x1 ")
    assert near.endswith(": A 0.02, B 0.98, no class < 0.01")
    assert page.told[-1].endswith("B 0.98, no class < 0.01")
    page.data.click()
    point = run.results["places"].values[10]
    at = place(chart, *point)
    click(qtbot, chart, at.x(), at.y())
    assert len(workbench.selection(run).get("row")) == 1
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert chart.marked == ()
    wheel(chart, at.x(), at.y(), 120)
    assert chart.zoomed
    page.refresh()
    assert page.wait(20_000)
    assert chart.zoomed
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not chart.zoomed
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "m.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "m.csv").open()))
    assert len(lines) == 42
    assert float(lines[21][21]) == pytest.approx(run.results["share"].values[1][20, 20])
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"m.{kind}").stat().st_size > 5000


def test_cut_by_drag_and_keys(opened, qtbot):
    page = opened(map_run(), SURFACE, size=(900, 700))
    chart = page.chart
    page.data.click()
    assert page.cut.isChecked()
    assert chart.cut == pytest.approx(0)
    lines = page.curve.picture.panels[0].marks
    assert [line.name for line in lines] == ["A", "B", "no class"]
    points = colors_of(chart.points.colouring)  # a colour means one thing
    assert [theme().category(line.color) for line in lines[:2]] == points
    assert along(page, 0) == pytest.approx(1 / (1 + np.exp(-4)), abs=0.01)
    (frame,) = page.curve.frames.frames
    assert (frame.area.left(), frame.area.right()) == (chart.scales()[0].start, chart.scales()[0].end)
    start, end = place(chart, 1.5, 0), place(chart, 1.5, 1)
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(chart, end)
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=end)
    assert chart.cut == pytest.approx(1, abs=0.02)
    assert along(page, 0) == pytest.approx(0.5, abs=0.03)
    assert page.curve.picture.panels[0].x.label.startswith("x1, where x2 is ")
    wheel(chart, start.x(), start.y(), 120)
    assert page.curve.picture.panels[0].marks[0].x[0] == pytest.approx(chart.scales()[0].low)
    before = chart.cut
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chart.cut == pytest.approx(before - 3 / 50)
    page.cut.click()
    assert not page.curve.isVisible()


def test_many_classes_have_a_map_each(opened, qtbot):
    page = opened(map_run(classes=3), SURFACE)
    assert page.layer.title == "probability of A"
    choose(qtbot, page.picker, "C")
    assert page.layer.title == "probability of C"
    assert not page.layer.diverging
    (edge,) = page.layer.boundary
    far = edge[np.hypot(*edge.T) > 1.6]
    assert far[:, 0] == pytest.approx(1.5, abs=0.02)
    click(qtbot, page.shows._group.button(1), 5, 5)
    assert page.layer.title == "standard deviation"
    click(qtbot, page.shows._group.button(2), 5, 5)
    assert page.layer.title == "probability of no class"
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
    page.show_data().close()


def test_one_probability_and_nothing_else(opened):
    workbench, run = map_run(null=False)
    run.results["share"] = Result(run.results["share"].values[1], ("up", "across"))
    page = opened((workbench, run), View("surface", "M", {"values": "share", "x": "across", "y": "up"}))
    assert page.chart.value_text(QPointF(place(page.chart, 0, 0))).endswith("0.02, B 0.98")
    assert not page._shows_field.isVisible()
    assert not page.legend.isVisible()
    page.grab()


def test_what_cannot_be_drawn_is_said(opened):
    workbench, run = map_run()
    run.results["share"] = Result(np.full((2, 1, 51), 0.5), ("class", "up", "across"))
    run.results["up"] = Result(np.zeros(1), ("up",))
    assert opened((workbench, run), SURFACE).state == "A map needs two inputs"
    workbench, run = map_run()
    run.results["up"] = Result(-run.results["up"].values, ("up",))
    assert opened((workbench, run), SURFACE).state == "This picture could not be drawn"
    workbench, run = map_run()
    run.results["share"].values[:, 3:6, 3:6] = np.nan
    page = opened((workbench, run), SURFACE, size=(520, 380))
    assert not page.state
    page.grab()
