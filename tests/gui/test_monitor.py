"""Live traces and diagnostics of a run, through their widgets."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from plaidwork.core.fitting import execute
from plaidwork.core.session import Session
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import plan, toy_registry


@pytest.fixture
def finished(qapp):
    """A workbench with a finished run."""
    workbench = Workbench(toy_registry())
    session = Session(name="walks")
    fitted = plan(draws=200, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    yield workbench, run
    wait_for_tasks()
    qapp.processEvents()


def test_decimation_keeps_every_spike_and_the_length_of_short_curves():
    y = np.random.default_rng(0).normal(size=50_000)
    y[31_234] = 1000
    y[77] = -1000
    x, thin = decimate(y, 2000)
    assert len(x) == len(thin) <= 2010
    assert thin.max() == 1000
    assert thin.min() == -1000
    assert np.all(np.diff(x) > 0)
    assert np.array_equal(y[(x - 1).astype(int)], thin)
    short, same = decimate(y[:10])
    assert np.array_equal(short, np.arange(1, 11))
    assert np.array_equal(same, y[:10])


def test_decimation_takes_nan():
    y = np.full(9000, np.nan)
    y[4000:] = 1.0
    _x, thin = decimate(y, 1000)
    assert np.nanmax(thin) == 1.0


def test_live_page_shows_one_line_per_chain_and_the_progress(finished, qtbot):
    from plaidwork.gui.monitor.live_page import LivePage

    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(900, 600)
    page.show()
    qtbot.waitUntil(lambda: len(page._plots) == 2, timeout=20_000)  # small plots are made one by one
    assert [plot.trace.name for plot in page._plots] == ["lp", "level"]
    assert [len(line.y) for line in page._plots[0].lines] == [205, 205, 205]
    assert page._figures["sweep"].value == "615"
    assert "R-hat" in page._figures["agreement"].note


def test_space_holds_drawing_only(finished, qtbot):
    from plaidwork.gui.monitor.live_page import LivePage

    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.show()
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert "held" in page._figures["sweep"].note
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert "held" not in page._figures["sweep"].note


def test_diagnostics_show_a_verdict_and_follow_the_chosen_row(finished, qtbot):
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage

    workbench, run = finished
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    assert page._diagnosis.verdict.title
    titles = [q.title for q in page._diagnosis.quantities]
    assert "level" in titles
    row = titles.index("level")
    view = page.table.view
    cell = view.visualRect(view.model().index(row, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    assert page.trace.title == "Level"
    assert len(page.trace.lines) == 3
    assert np.array_equal(page.trace.lines[0].y, run.draws["level"][0])


def test_settings_page_lists_what_was_changed_and_keeps_notes(finished, qtbot):
    from plaidwork.gui.monitor.settings_page import SettingsPage

    workbench, run = finished
    page = SettingsPage(workbench, run)
    qtbot.addWidget(page)
    page.show()
    qtbot.keyClicks(page.notes, "looks right")
    assert run.notes == "looks right"
    assert workbench.dirty


def test_restarts_are_compared_where_they_ended_and_by_their_way_there(qapp, qtbot):
    """R-hat, ESS and ranks say nothing of restarts: no such column, dots or bars."""
    from plaidwork.gui.run_pages import DIAGNOSTICS, run_pages

    workbench = Workbench(toy_registry())
    session = Session(name="climbs")
    fitted = plan(toys.Climb, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    page = next(info for info in run_pages(workbench, run) if info.key.endswith(DIAGNOSTICS)).make()
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    model = page.table.view.model()
    heads = [model.headerData(i, Qt.Orientation.Horizontal, 0) for i in range(model.columnCount())]
    assert heads == ["Quantity", "Restart 1", "Restart 2", "Restart 3"]
    assert not page.dots.isVisible()
    assert not page.ranks[0].isVisible()
    assert [line.name for line in page.trace.lines] == ["Restart 1", "Restart 2", "Restart 3"]
    assert len(page.trace.lines[0].y) == run.chains[0].sweep
    wait_for_tasks()


def test_a_trace_declared_logarithmic_is_drawn_so(finished, qtbot):
    from dataclasses import replace

    from plaidwork.gui.monitor.live_page import TracePlot

    _workbench, run = finished
    plot = TracePlot(run, replace(run.spec.traces[0], y_log=True), large=False)
    qtbot.addWidget(plot)
    name = plot.trace.name
    plot.draw([{name: np.array([100.0, 0.0, 0.01, 1.0])}] * len(run.chains))
    line = plot.lines[0]
    np.testing.assert_array_equal(line.curve.getOriginalDataset()[1], [2, np.nan, -2, 0])
    assert plot.y_axis.tickStrings([-2.0, 0.0, 2.0], 1, 1) == ["0.01", "1", "100"]
    assert plot.read_out(3.0, -2.0).endswith(": 0.01")
    np.testing.assert_array_equal(plot.data()[plot.y_axis.word or "y"][:4], [100, 0, 0.01, 1])
