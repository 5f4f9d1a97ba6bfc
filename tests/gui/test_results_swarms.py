"""Beeswarm, restarts, tables and heat maps of factors: pictures, choices by keys and clicks."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.draws.numbers import format_fixed
from tests.gui.factor_runs import cell_at, choose, click, factor_run, find, wheel
from tests.gui.points import legend_on, lines_on, places_on


# -- beeswarm -----------------------------------------------------------------------------------
def swarm_of(page) -> tuple[tuple[str, ...], tuple[str, ...], list[float]]:
    """Classes, numbers of points, and heights of their bars."""
    axis, bars = page.loaded.panels[0].x, lines_on(page)
    return axis.names, axis.below, [float(bar.y[0]) for bar in bars]


def test_beeswarm_splits_by_classes(opened, qtbot, tmp_path):
    workbench, run = bench = factor_run()
    page = opened(bench, View("beeswarm", "B", {"values": "scores"}))
    assert page.control("split").currentText() == "IGHV"
    classes, counts, centres = swarm_of(page)
    assert set(classes) == {"mutated", "unmutated", "unknown"}
    assert classes[-1] == "unknown"
    known = next(iter(workbench.session.datasets.values())).row_table["IGHV"]
    scores = run.results["scores"].values[:, 0]
    groups = [scores[[(v or "unknown") == name for v in known]] for name in classes]
    assert list(counts) == [f"n = {len(group)}" for group in groups]
    assert centres == pytest.approx([np.median(group) for group in groups])
    click(qtbot, page.control("centre")._group.button(1), 5, 5)
    assert page.wait(20_000)
    assert swarm_of(page)[2] == pytest.approx([group.mean() for group in groups])
    told = [
        f"{name} ({format_fixed(group.mean(), 2)})"
        for name, group in zip(classes, groups)
        if name != "unknown"
    ]
    assert page._caption.text() == f"Mean: {', '.join(told)}"
    x, y = places_on(page).T
    top = int(np.argmax(y))
    click(qtbot, page.chart, x[top], y[top])
    assert workbench.selection(run).get("row") == (top,)
    assert page._notes.text().startswith(f"patient {top + 1}: factor 1 ")
    choose(qtbot, page.control("factor"), "factor 2")
    assert page.wait(20_000)
    assert not np.array_equal(places_on(page)[:, 1], y)
    find(qtbot, page.control("split"), "nothing")
    assert page.wait(20_000)
    assert swarm_of(page)[0] == ("n = 180",)
    find(qtbot, page.control("colour"), "drug 3")
    assert page.wait(20_000)
    assert legend_on(page) == ["drug 3"]
    find(qtbot, page.control("split"), "site")
    assert page.wait(20_000)
    assert len(swarm_of(page)[0]) == 6
    across = page.chart.frames.frames[0].x
    wheel(page.chart, 300, 200, 120)
    assert page.chart.zoomed
    assert page.chart.frames.frames[0].x == across
    page.export_picture(tmp_path / "b.pdf")


# -- restarts -----------------------------------------------------------------------------------
def restarts_run():
    """Two restarts of 3 and 4 factors: the second has them in another order, one with the other sign, and one more."""
    workbench, run = factor_run()
    rng = np.random.default_rng(3)
    z = rng.normal(size=(3, 500))
    other = np.vstack([-z[2], rng.normal(size=500), z[0], z[1] + 0.8 * rng.normal(size=500)])
    run.results |= {
        "both": Result(np.corrcoef(np.vstack([z, other])), ("found", "found_2")),
        "restart": Result(np.array([2, 2, 2, 1, 1, 1, 1]), ("found",)),
        "labels": Result(np.array([*"ABC", *"wxyz"]), ("found",)),
        "best": Result(np.array([2]), ("best",)),
    }
    return workbench, run


PAIRED = View(
    "restarts", "Restarts", {"values": "both", "restart": "restart", "names": "labels", "shown": "best"}
)


def test_a_correlation_next_to_one_does_not_read_one(opened):
    _, run = bench = restarts_run()
    close = run.results["both"].values.copy()
    close[0, 5], close[1, 6] = 1 - 1e-9, 1e-9
    run.results["both"] = Result(close, ("found", "found_2"))
    page = opened(bench, PAIRED)
    panel = page.loaded.panels[0]
    shown = np.array(panel.marks[0].labels).reshape(3, 4)[:, [panel.x.names.index(name) for name in "wxyz"]]
    assert (shown[0, 2], shown[1, 3], shown[2, 0]) == ("> 0.99", "< 0.01", "1")


def test_factors_of_restarts_are_paired(opened, qtbot, tmp_path):
    workbench, run = bench = restarts_run()
    page = opened(bench, PAIRED)
    assert page.control("one").currentText() == "Restart 2, shown in all views"
    panel = page.loaded.panels[0]
    assert (panel.y.names, panel.x.names) == (("A", "B", "C"), ("y", "z", "w", "x"))
    assert page._headline.text() == "2 of 3 factors of restart 2 come back in restart 1"
    frames = panel.marks[1]
    assert (frames.x0 + 0.5).tolist() == (frames.y0 + 0.5).tolist() == [0, 2]
    place = cell_at(page, 2, 2)
    qtbot.mouseMove(page.chart, place)
    assert page.told[-1] == "C of restart 2, w of restart 1: correlation −1, partners"
    click(qtbot, page.chart, place.x(), place.y())
    assert workbench.selection(run).get("layer") == (2,)
    assert page.chart.selected == {"layer": {2}}
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "r.csv")
    assert [line[:2] for line in csv.reader((tmp_path / "r.csv").open())][1:] == [
        ["A", "y"],
        ["B", "z"],
        ["C", "w"],
    ]
    dialog.close()
    assert page.search("B") == ["B"]
    choose(qtbot, page.control("one"), "Restart 1")
    assert page.wait(20_000)
    assert not page.loaded.panels[0].marks[0].kinds
    assert page._headline.text() == "Restart 1 beside itself"
    page.export_picture(tmp_path / "r.png")


def test_one_restart_alone(opened):
    workbench, run = restarts_run()
    run.results["restart"] = Result(np.full(7, 2), ("found",))
    assert opened((workbench, run), PAIRED).state == "One restart alone cannot be compared"


# -- factors in other views ----------------------------------------------------------------------
def test_heat_map_of_factors_marks_the_chosen_one(opened, qtbot):
    workbench, run = factor_run()
    page = opened((workbench, run), View("heatmap", "H", "scores", options={"layer": "column"}))
    selection = workbench.selection(run)
    selection.set("layer", (3,))
    assert page.chart.selected == {"layer": {3}}
    shown = page.chart.grab().toImage()
    place = cell_at(page, 20, 5)
    click(qtbot, page.chart, place.x(), place.y())
    assert page.chart.grab().toImage() != shown
    assert selection.get("layer") == (5,)


def test_rows_of_a_table_are_the_factors(opened, qtbot):
    workbench, run = factor_run()
    run.results["by_factor"] = Table({"Factor": np.array(["one", "two", "three"]), "Share": np.arange(3.0)})
    page = opened((workbench, run), View("table", "T", "by_factor", options={"layer": True}))
    selection = workbench.selection(run)
    selection.set("layer", (2,))
    assert page.table.selected_rows() == [2]
    place = page.table.view.visualRect(page.table.model.index(1, 0)).center()
    qtbot.mouseClick(page.table.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert selection.get("layer") == (1,)
    selection.set("layer", (7,))
    assert page.table.selected_rows() == []


def test_numbers_in_cells_where_they_fit(opened):
    page = opened(restarts_run(), PAIRED)
    with_numbers = page.grab().toImage()
    (panel,) = page.loaded.panels
    bare = replace(panel, marks=(replace(panel.marks[0], labels=()), *panel.marks[1:]))
    page.chart.set_picture(replace(page.loaded, panels=(bare,)))
    assert page.grab().toImage() != with_numbers
