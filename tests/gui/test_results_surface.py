"""Probability maps: values under the pointer, classes, boundary, points, the cut by drag and keys, states, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Line, Points, Rule, Texts
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


def place(chart, x: float, y: float) -> QPointF:
    """Pixel of a place on the map."""
    frame = chart.frames.frames[0]
    return QPointF(frame.x.at(x), frame.y.at(y))


def marks(page, kind) -> list:
    """Marks of a kind on the map."""
    return [mark for mark in page.loaded.panels[0].marks if isinstance(mark, kind)]


def along(page, x: float, name: str = "B") -> float:
    """Probability of a class on the line across."""
    (line,) = [line for line in page.loaded.panels[1].marks if line.name == name]
    return float(np.interp(x, line.x, line.y))


@pytest.mark.long
def test_two_classes(opened, qtbot, tmp_path):
    workbench, run = bench = map_run()
    page = opened(bench, SURFACE, size=(900, 700))
    chart = page.chart
    assert page._headline.text() == "Probability of B by x1 and x2"
    assert [choice.id for choice in page.loaded.choices] == [
        *("show", "contours", "data", "band", "cut", "line"),
    ]
    ring = marks(page, Line)[-1]
    assert np.hypot(ring.x, ring.y) == pytest.approx(1, abs=5e-3)
    assert set(marks(page, Texts)[0].words) <= {"0.1", "0.25", "0.75", "0.9"}
    assert page._notes.text() == (
        "180 patients, 36 for the test (with an eye); thick line: decision boundary; hatched: no class is more likely than not"
    )
    point = run.results["places"].values[10]
    at = place(chart, *point)
    qtbot.mouseMove(chart, at.toPoint())
    assert page.told[-1].startswith("patient 11, ")
    click(qtbot, chart, at.x(), at.y())
    assert workbench.selection(run).get("row") == (10,)
    assert page._notes.text().startswith("patient 11, ")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert workbench.selection(run).get("row") == ()
    wheel(chart, at.x(), at.y(), 120)
    assert chart.zoomed
    page.refresh()
    assert page.wait(20_000)
    assert chart.zoomed
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not chart.zoomed
    page.control("data").click()
    assert page.wait(20_000)
    qtbot.mouseMove(chart, place(chart, 0.02, 0.02).toPoint())
    assert page.told[-1].startswith("x1 ")
    assert page.told[-1].endswith(": A 0.02, B 0.98, no class < 0.01")
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "m.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "m.csv").open()))
    assert len(lines) == 1 + 41 * 51
    assert lines[0][:4] == ["x1", "x2, cm", "probability of A", "probability of B"]
    assert float(lines[1 + 20 * 51 + 20][3]) == pytest.approx(run.results["share"].values[1][20, 20])
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"m.{kind}").stat().st_size > 5000


def test_the_line_across_is_dragged_and_moved_by_keys(opened, qtbot):
    page = opened(map_run(), SURFACE, size=(900, 700))
    chart = page.chart
    lines = page.loaded.panels[1].marks
    assert [line.name for line in lines] == ["A", "B", "no class"]
    points = {code: color for mark in marks(page, Points) for code, color in zip(mark.shapes, mark.color)}
    assert [points[0], points[1]] == [line.color for line in lines[:2]]  # a colour means one thing
    assert along(page, 0) == pytest.approx(1 / (1 + np.exp(-4)), abs=0.01)
    above, below = chart.frames.frames
    assert (above.area.left(), above.area.right()) == (below.area.left(), below.area.right())
    start, end = place(chart, 1.55, 0).toPoint(), place(chart, 1.55, 1).toPoint()
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(chart, end)
    chart.grab()
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, pos=end)
    assert page.wait(20_000)
    assert marks(page, Rule)[0].at[0] == pytest.approx(1, abs=0.03)
    assert page.workbench.selection(page.run).get("row") == ()
    assert along(page, 0) == pytest.approx(0.5, abs=0.04)
    assert page.loaded.panels[1].x.label.startswith("x1, where x2 is ")
    qtbot.keyClick(page.control("line").slider, Qt.Key.Key_Left)
    assert page.wait(20_000)
    assert marks(page, Rule)[0].at[0] == pytest.approx(0.97, abs=0.03)
    page.control("cut").click()
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 1


def test_many_classes_have_a_map_each(opened, qtbot):
    page = opened(map_run(classes=3), SURFACE)
    assert page._headline.text().startswith("Probability of A")
    choose(qtbot, page.control("class"), "C")
    assert page.wait(20_000)
    assert page._headline.text().startswith("Probability of C")
    assert page.loaded.legend[-1].map == "tide"
    edge = marks(page, Line)[-1]
    far = edge.x[np.hypot(edge.x, edge.y) > 1.6]
    assert far == pytest.approx(1.5, abs=0.02)
    for number, title in ((1, "Standard deviation"), (2, "Probability of no class")):
        click(qtbot, page.control("show")._group.button(number), 5, 5)
        assert page.wait(20_000)
        assert page._headline.text().startswith(title)
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
    page.show_data().close()


def test_one_probability_and_nothing_else(opened, qtbot):
    workbench, run = map_run(null=False)
    run.results["share"] = Result(run.results["share"].values[1], ("up", "across"))
    page = opened((workbench, run), View("surface", "M", {"values": "share", "x": "across", "y": "up"}))
    qtbot.mouseMove(page.chart, place(page.chart, 0, 0).toPoint())
    assert page.told[-1].endswith("0.02, B 0.98")
    assert [choice.id for choice in page.loaded.choices] == ["contours", "cut", "line"]
    assert len(page.loaded.legend) == 1
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
