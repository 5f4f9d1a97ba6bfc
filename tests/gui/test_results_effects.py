"""Effects: dots with whiskers in their rows, groups side by side, what cannot be estimated, order, marks, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Points, Texts
from plaidwork.gui.pictures.frame import ACROSS
from tests.gui.factor_runs import click, factor_run

SOURCE = {
    "values": "effects",
    "interval": "bounds",
    "names": "of",
    "group": "arm",
    "reason": "why",
    "count": "docs",
    "p": "p",
}
EFFECTS = View(
    "effects", "Effects", SOURCE, options={"dim": "topic", "count_label": "documents", "layer": True}
)


def effects_run(groups: bool = False):
    """Four topics, the third without an estimate; with groups, each in two of them but the last."""
    workbench, run = factor_run()
    values = np.array([0.12, -0.30, np.nan, 0.02])
    names, arm = np.array(["Topic 1: film, plot", "Topic 2: war", "Topic 3: man", "Topic 4: end"]), [""] * 4
    if groups:
        values, names = np.append(values, values[:3] / 2), np.append(names, names[:3])
        arm = ["treated"] * 4 + ["control"] * 3
    m = len(values)
    run.results |= {
        "effects": Result(values, ("effect",), unit="points", label="Effect on the outcome"),
        "bounds": Result(np.stack([values - 0.06, values + 0.06], axis=1)),
        "of": Result(names, ("effect",)),
        "arm": Result(np.array(arm), ("effect",)),
        "why": Result(np.array(["in no document" if v != v else "" for v in values]), ("effect",)),
        "docs": Result(np.arange(10, 10 + m), ("effect",)),
        "p": Result(np.where(np.isnan(values), np.nan, 0.0004), ("effect",)),
    }
    return workbench, run


def place(page, row: int) -> tuple[float, float]:
    """A place in a row, over its name."""
    frame = page.chart.frames.frames[0]
    return frame.left + 4, frame.y.at(row)


def dots(page) -> list[Points]:
    """The estimates of each group."""
    marks = page.loaded.panels[0].marks
    return [mark for mark in marks if isinstance(mark, Points) and mark.read is not None]


def test_rows_with_intervals_and_reasons(opened, qtbot, tmp_path):
    workbench, run = bench = effects_run()
    page = opened(bench, EFFECTS)
    assert page._headline.text() == "2 of 3 effects have an interval without zero"
    assert page._notes.text() == "3 estimates, 1 not estimable"
    chart = page.chart
    frame = chart.frames.frames[0]
    across = frame.x
    assert frame.area.left() < across.at(-0.36) < across.at(0) < across.at(0.18) < frame.area.right()
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert page.told[-1] == "Topic 1: film, plot: 0.12 (0.06 to 0.18), documents 10, p < 0.001"
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert page.told[-1] == "Topic 3: man: not estimable: in no document, documents 12"
    (words,) = (mark.words for mark in page.loaded.panels[0].marks if isinstance(mark, Texts))
    assert words == ("not estimable: in no document",)
    click(qtbot, chart, *place(page, 1))
    assert workbench.selection(run).get("layer") == (1,)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not chart.selected
    click(qtbot, page.control("order")._group.button(1), 5, 5)
    assert page.wait(20_000)
    assert [name[:7] for name in page.loaded.panels[0].y.names] == [
        "Topic 1",
        "Topic 4",
        "Topic 2",
        "Topic 3",
    ]
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "e.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "e.csv").open()))
    assert lines[0] == ["Topic", "Effect on the outcome, points", "Low", "High", "documents", "p", "Note"]
    assert [line[0][:7] for line in lines[1:]] == ["Topic 1", "Topic 4", "Topic 2", "Topic 3"]
    assert lines[4][-1] == "not estimable: in no document"
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"e.{kind}").stat().st_size > 1000


def test_ratios_are_given_as_logarithms_and_shown_as_ratios(opened, qtbot, tmp_path):
    bench = effects_run()
    page = opened(bench, View("effects", "Effects", SOURCE, options={"ratio": True}))
    assert page._headline.text() == "2 of 3 effects have an interval without 1"
    ticks = {tick.text: tick.value for tick in page.chart.frames.frames[0].x.ticks(ACROSS)}
    assert ticks["1"] == 1
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    assert page.told[-1] == "Topic 1: film, plot: 1.13 (1.06 to 1.2), n 10, p < 0.001"
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "e.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "e.csv").open()))
    assert [float(number) for number in lines[2][1:4]] == pytest.approx(np.exp([-0.30, -0.36, -0.24]))


def test_colours_tell_sign_and_doubt(opened):
    (mark,) = dots(opened(effects_run(), EFFECTS))
    assert [mark.color_of(row) for row in (0, 1, 3)] == [0, 4, "neutral"]


def test_groups_share_a_row(opened, qtbot):
    page = opened(effects_run(groups=True), EFFECTS)
    treated, control = dots(page)
    assert (treated.name, control.name) == ("treated", "control")
    assert (len(treated), len(control)) == (4, 3)
    assert treated.y[3] == 3  # alone in its row
    assert (control.y[:2] - treated.y[:2] > 0.3).all()
    assert [key.text for key in page.loaded.legend] == ["treated", "control"]
    qtbot.keyClick(page.chart, Qt.Key.Key_Down)
    assert page.told[-1].startswith("Topic 1: film, plot: treated: 0.12 (0.06 to 0.18)")
    assert "; control: 0.06 (0 to 0.12)" in page.told[-1]
    up = page.chart.frames.frames[0].y
    assert up.at(1) - up.at(0) >= 2 * 18
    page.grab()


def test_find_marks_a_row(opened, qtbot):
    page = opened(effects_run(), EFFECTS)
    page.find_in_page()
    qtbot.keyClicks(page.find_row.field, "war")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.chart.selected["layer"] == {1}
    assert page.find_row.found.text() == "Topic 2: war"


def test_estimates_alone_and_none_at_all(opened):
    workbench, run = effects_run()
    page = opened((workbench, run), View("effects", "E", "effects"))
    assert page.loaded.panels[0].y.names == ("effect 1", "effect 2", "effect 3", "effect 4")
    page.grab()
    run.results["effects"] = Result(np.full(4, np.nan), ("effect",))
    page = opened((workbench, run), EFFECTS)
    assert page._headline.text() == "0 of 0 effects have an interval without zero"
    page.grab()
    run.results["effects"] = Result(np.zeros(0), ("effect",))
    assert opened((workbench, run), View("effects", "E", "effects")).state == "Nothing to show"


def test_the_same_name_twice_is_said(opened):
    workbench, run = effects_run()
    run.results["of"] = Result(np.array(["a", "b", "a", "c"]), ("effect",))
    page = opened((workbench, run), EFFECTS)
    assert page.state == "This picture could not be drawn"


@pytest.mark.parametrize("width", [420, 900])
def test_narrow_and_many(opened, qtbot, width):
    workbench, run = factor_run()
    run.results["effects"] = Result(np.linspace(-1, 1, 60), ("effect",))
    page = opened((workbench, run), View("effects", "E", "effects"), size=(width, 400))
    assert page.chart.height() > 60 * 28
    for _ in range(3):
        qtbot.keyClick(page.chart, Qt.Key.Key_PageDown)
    QApplication.processEvents()
    row = page.chart.current.piece
    assert row == 20
    y = page.chart.frames.frames[0].y.at(row)
    assert page.chart.visibleRegion().contains(QPoint(30, round(y)))
