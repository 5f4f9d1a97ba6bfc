"""Fits that go on until they have settled, in the window: what is told on the way, and at the end."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.inference import restarting
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Pace, Run
from plaidwork.gui import judging
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.monitor.live_page import LivePage
from plaidwork.gui.monitor.restart_diagnostics import RestartDiagnosticsPage
from plaidwork.gui.setup.setup_page import SetupPage
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import Label
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import dataset
from tests.registries import registry_of


@pytest.fixture
def workbench(qapp, monkeypatch):
    monkeypatch.setattr(judging, "LIVE_JUDGEMENT_SECONDS", 0.05)
    made = Workbench(registry_of(toys.Steady))
    yield made
    for run in made.active_runs():
        made.stop(run)
    assert made.wait(20_000)
    wait_for_tasks()
    qapp.processEvents()


def _plan(budget=60.0, draws=200, **params):
    schedule = Schedule(chains=4, warmup=10, draws=draws, budget=budget)
    return make_plan(toys.Steady(), {"X": dataset()}, params, schedule=schedule, seed=3)


def _words(widget):
    return " ".join(label.text() for label in widget.findChildren(Label))


@pytest.mark.slow
def test_a_fit_goes_on_until_it_has_settled_and_equals_one_without_a_window(workbench, qtbot):
    fitted = _plan(memory=0.75)
    with qtbot.waitSignal(workbench.results_changed, timeout=60_000):
        run = workbench.start(fitted)
    qtbot.waitUntil(lambda: not run.active and workbench.verdict(run) is not None, timeout=20_000)
    assert workbench.verdict(run).settled
    assert run.schedule.draws > 200
    alone = Run.from_plan(fitted)
    execute(alone, fitted, InlineExecutor())
    assert np.array_equal(run.draws["place"], alone.draws["place"])
    assert run.log[-1].text == alone.log[-1].text


def test_the_live_page_says_how_far_each_quantity_is_and_how_long_it_takes(workbench, qtbot, monkeypatch):
    monkeypatch.setenv(toys.STEP_SECONDS, "0.002")
    run = workbench.start(_plan(memory=0.9, budget=600.0))
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    assert 500 < workbench.budget_left(run) <= 600

    def told():
        workbench.pace(run).add(run.sweeps_done)
        page.tick()
        return page._figures["left"].value not in ("–", "Preparing", "Done")

    goal = page.side_panel().goal
    qtbot.waitUntil(lambda: told() and not goal.isHidden(), timeout=60_000)
    figures = page._figures
    assert figures["left"].note.startswith("budget ends in")
    assert "of about" in figures["sweep"].note
    for count, _ in page.side_panel()._chains:
        assert "of about" in count.text(), "as the sweeps of all"
    assert "Level" in _words(goal)
    assert "R-hat to 1.01" in _words(goal)
    assert run.sweeps_planned > 4 * 210
    assert figures["verdict"].value != "Settled"
    workbench.stop(run)
    qtbot.waitUntil(lambda: run.status == "stopped" and not workbench.active_runs(), timeout=20_000)
    assert run.resumable


@pytest.mark.long
def test_a_fit_that_takes_longer_than_its_budget_says_so(workbench, qtbot, monkeypatch):
    monkeypatch.setenv(toys.STEP_SECONDS, "0.002")
    run = workbench.start(_plan(memory=0.9, budget=2.0, draws=4000))
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    monkeypatch.setattr(Pace, "per_second", lambda self: 10.0)

    def told():
        page.tick()
        return page._figures["left"]._value.color == "warn"

    qtbot.waitUntil(told, timeout=20_000)
    qtbot.waitUntil(lambda: not workbench.active_runs(), timeout=60_000)
    assert 500 <= run.schedule.draws < 4000
    assert "time budget of 2 s" in run.log[-1].text


@pytest.mark.long
def test_a_warm_up_that_is_begun_again_is_drawn_anew(workbench, qtbot, monkeypatch):
    monkeypatch.setenv(toys.STEP_SECONDS, "0.005")
    schedule = Schedule(chains=4, warmup=4000, draws=100, budget=4.0)
    run = workbench.start(make_plan(toys.Steady(), {"X": dataset()}, {}, schedule=schedule, seed=3))
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    longest = []

    def told():
        page.tick()
        longest.append(max(len(record.trace.rows()) for record in run.chains))
        return not workbench.active_runs()

    qtbot.waitUntil(told, timeout=60_000)
    page.tick()
    assert 10 <= run.schedule.warmup < 1000
    assert any(after < before for before, after in pairwise(longest))
    assert any("begin again" in line.text for line in run.log)
    assert page._plots[0]._shade[0].getRegion()[1] == run.schedule.left_out
    assert page._plots[0]._drawn == [len(record.trace.rows()) for record in run.chains]


@pytest.mark.long
def test_what_ended_by_its_budget_can_go_on(workbench, qtbot):
    with qtbot.waitSignal(workbench.results_changed, timeout=60_000):
        run = workbench.start(_plan(memory=0.75, budget=1e-6))
    assert run.schedule.draws == 50
    qtbot.waitUntil(lambda: workbench.verdict(run) is not None, timeout=20_000)
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: page.verdict.buttons.count() > 0, timeout=20_000)
    again = page.verdict.buttons.itemAt(0).widget()
    assert again.text() == "Go on for at most 2 min"
    with qtbot.waitSignal(workbench.results_changed, timeout=60_000):
        again.click()
    qtbot.waitUntil(lambda: not run.active and workbench.verdict(run) is not None, timeout=20_000)
    assert workbench.verdict(run).settled
    assert run.goal.budget == 120.0


@pytest.mark.long
def test_the_settings_beside_the_traces_follow_what_was_left_out(workbench, qtbot):
    fitted = _plan(memory=0.9, start=1e6)
    run = workbench.session.add_run(fitted)
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    qtbot.waitUntil(lambda: bool(page._plots), timeout=20_000)  # made by a timer
    assert "Left out besides" not in _words(page.side_panel())
    execute(run, fitted, InlineExecutor())
    page.tick()
    assert "Left out besides" in _words(page.side_panel())
    assert f"{run.schedule.burn_in}" in _words(page.side_panel()).replace("\u202f", "").replace(" ", "")
    assert page._plots[0]._shade[0].getRegion()[1] == run.schedule.left_out


@pytest.mark.slow
def test_fit_again_asks_for_what_was_asked(workbench, qtbot):
    fitted = _plan(memory=0.75)
    run = workbench.session.add_run(fitted)
    execute(run, fitted, InlineExecutor())
    page = SetupPage(workbench, "toy.steady")
    qtbot.addWidget(page)
    page.from_run(run)
    assert page.schedule_form.schedule() == replace(toys.Steady.spec.schedule, budget=60.0)
    run.extend(10)
    page.from_run(run)
    assert page.schedule_form.schedule() == run.schedule


def test_restarts_that_are_added_are_drawn_and_listed(qapp, qtbot, monkeypatch):
    """Of the first two one is worse, so there are two more: lines, rows of the side panel and figures follow."""
    monkeypatch.setenv(toys.STEP_SECONDS, "0.02")
    monkeypatch.setattr(restarting, "ENOUGH", 2)
    workbench = Workbench(registry_of(toys.Hills))
    run = workbench.start(
        make_plan(toys.Hills(), {"X": dataset()}, schedule=toys.Hills.spec.default_schedule, seed=33)
    )
    page, diagnostics = LivePage(workbench, run), RestartDiagnosticsPage(workbench, run)
    for widget in (page, page.side_panel(), diagnostics):
        qtbot.addWidget(widget)
    page.show()
    assert "Restart 3" not in _words(page.side_panel())
    while run.active:
        page.tick()
        qtbot.wait(20)
    assert workbench.wait(20_000)
    qtbot.waitUntil(lambda: workbench.verdict(run) is not None, timeout=20_000)
    page.tick()
    diagnostics.refresh()
    assert "Restart 4" in _words(page.side_panel())
    assert page._figures["sweep"].note == "4 restarts", "of how many sweeps says nothing at the end"
    assert workbench.verdict(run).title == "2 of 4 restarts reached the best elbo"
    assert len(page._plots[0]._lines_by_chain) == 4
    wait_for_tasks()
    qapp.processEvents()
