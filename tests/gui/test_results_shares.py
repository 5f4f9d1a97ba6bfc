"""Shares by view and factor, and curves with bands: pictures, choices by real clicks, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from tests.gui.factor_runs import CURVE, PLAIN, SCATTER, VARIANCE, at, choose, click, factor_run


# -- variance -----------------------------------------------------------------------------------
def test_variance_chooses_the_factor_everywhere(opened, qtbot, tmp_path):
    workbench, run = factor_run()
    page, weights = opened((workbench, run), VARIANCE), opened((workbench, run), PLAIN)
    scores = opened((workbench, run), SCATTER)
    shares, chart = run.results["shares"].values, page.chart
    assert page._headline.text().startswith(f"8 factors explain {round(100 * shares[0].sum())} % of Drugs, ")
    cells, bars = chart.frames.frames
    x, y = cells.x.at(4), cells.y.at(1)
    qtbot.mouseMove(chart, at(x, y))
    assert page.told[-1].startswith("factor 5 explains of Mutations: ")
    click(qtbot, chart, x, y)
    assert workbench.selection(run).get("layer") == (4,)
    assert weights.wait(20_000)
    assert scores.wait(20_000)
    assert weights.loaded.panels[0].title.startswith("Factor 5")
    assert scores.loaded.panels[0].x.label == "factor 5"
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert workbench.selection(run).get("layer") == (3,)
    assert page._notes.text().startswith("Factor 4: Drugs ")
    qtbot.mouseMove(chart, at(x, bars.area.bottom() - 3))
    assert page.told[-1].startswith("Factor 5: Drugs ")
    page.grab()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert workbench.selection(run).get("layer") == ()
    assert page._notes.text().startswith("Colours follow")
    assert page.search("factor 6") == ["factor 6"]
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "v.csv")
    lines = list(csv.reader((tmp_path / "v.csv").open()))
    assert lines[0] == ["Factor", "Drugs", "Mutations", "Expression"]
    assert lines[-1][0] == "all factors"
    assert float(lines[1][1]) == shares[0, 0]
    dialog.close()


@pytest.mark.parametrize("sizes", [{"count": 1, "views": 1}, {"count": 40, "views": 7}])
def test_variance_of_any_size(opened, qtbot, sizes):
    for window in ((700, 300), (1200, 700)):
        page = opened(factor_run(**sizes), VARIANCE, window)
        assert page.state == ""
        cells, last = page.chart.frames.frames[0], sizes["count"] - 1
        assert cells.area.right() < page.chart.width() - 60
        click(qtbot, page.chart, cells.x.at(last), cells.y.at(sizes["views"] - 1))
        assert page.workbench.selection(page.run).get("layer") == (last,)
        page.grab()


# -- curve --------------------------------------------------------------------------------------
def shown(page) -> list[str]:
    """Names of the curves that are drawn."""
    return [mark.name for mark in page.loaded.panels[0].marks if mark.read is not None]


def test_curves_together_and_alone(opened, qtbot, tmp_path):
    page = opened(factor_run(), CURVE)
    assert page._headline.text() == "Level along time"
    assert shown(page) == ["factor 1", "factor 2", "factor 3"]
    choose(qtbot, page.control("show"), "factor 2")
    assert page.wait(20_000)
    assert shown(page) == ["factor 2"]
    (frame,) = page.chart.frames.frames
    assert (frame.x.scaling.low, frame.x.scaling.high) == (0, 48)
    line = frame.panel.marks[-1]
    qtbot.mouseMove(page.chart, at(frame.x.at(24), frame.y.at(float(line.y[48]))))
    assert page.told[-1].startswith("factor 2, time, h 24: ")
    assert ", interval " in page.told[-1]
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert page.chart.current.piece == 49
    assert page.search("factor 3") == ["factor 3"]
    assert page.wait(20_000)
    assert shown(page) == ["factor 3"]
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "c.csv")
    lines = list(csv.reader((tmp_path / "c.csv").open()))
    assert lines[0] == ["Curve", "Time, h", "Level, sd", "Low", "High"]
    assert len(lines) == 1 + 3 * 97
    dialog.close()


def test_a_long_curve_with_gaps(opened):
    workbench, run = factor_run()
    values = np.cumsum(np.random.default_rng(1).normal(size=50_000))
    values[1000:9000] = np.nan
    run.results["walk"] = Result(values, ("step",), label="walk")
    page = opened((workbench, run), View("curve", "Walk", "walk"))
    assert not page.row.isVisible()
    page.grab()
    run.results["walk"] = Result(np.array([2.0]), ("step",), label="walk")
    opened((workbench, run), View("curve", "Walk", "walk")).grab()
