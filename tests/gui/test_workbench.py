"""Runs started, paused, stopped, resumed, saved and opened through the workbench."""

import numpy as np
import pytest

from plaidwork.core.session.session import Session
from plaidwork.gui.run_places import RunPlaces, chain_pool
from plaidwork.gui.tasks import run_task, wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import SlowWalk, plan, toy_registry


@pytest.fixture
def workbench(qapp):
    made = Workbench(toy_registry())
    yield made
    for run in made.active_runs():
        made.stop(run)
    assert made.wait(20_000)
    wait_for_tasks()
    qapp.processEvents()


def test_a_fit_runs_to_its_end_and_is_summarised(workbench, qtbot):
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        run = workbench.start(plan())
    assert run.status == "done"
    assert run.n_draws == 100
    assert run.results["place"].values.shape == (4,)
    assert workbench.dirty


def test_a_start_waits_for_no_library_to_say_its_version(workbench, qtbot, monkeypatch):
    """Asking for the processor and BLAS loads libraries, half a second when nobody has asked before."""
    import threading

    from plaidwork.core.inference import execution as module

    asked = []

    def slow(model=None):
        asked.append(threading.current_thread())
        return {"BLAS": "some"}

    monkeypatch.setattr(module, "environment", slow)
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        run = workbench.start(plan())
    qtbot.waitUntil(lambda: bool(run.environment), timeout=20_000)
    assert run.environment == {"BLAS": "some"}
    assert asked
    assert threading.main_thread() not in asked
    assert not any("Goes on" in line.text for line in run.log)


def test_window_and_headless_give_the_same_draws(workbench, qtbot):
    from plaidwork.core.inference.execution import execute
    from plaidwork.core.inference.executor import InlineExecutor
    from plaidwork.core.inference.run import Run

    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        run = workbench.start(plan())
    alone = Run.from_plan(plan())
    execute(alone, plan(), InlineExecutor())
    assert np.array_equal(run.draws["place"], alone.draws["place"])


def test_pause_holds_and_resume_goes_on(workbench, qtbot):
    run = workbench.start(plan(SlowWalk, draws=400))
    qtbot.waitUntil(lambda: run.sweeps_done > 4, timeout=20_000)
    workbench.pause(run)
    assert workbench.phase(run) == "paused"
    qtbot.waitUntil(  # a pause takes a checkpoint
        lambda: all(record.saved is not None for record in run.chains), timeout=20_000
    )
    held = run.sweeps_done
    qtbot.wait(60)
    assert run.sweeps_done == held
    workbench.unpause(run)
    qtbot.waitUntil(lambda: run.sweeps_done > held, timeout=20_000)


def test_stop_answers_at_once_and_resume_equals_an_uninterrupted_run(workbench, qtbot):
    run = workbench.start(plan(SlowWalk, draws=60))
    qtbot.waitUntil(lambda: run.sweeps_done > 10, timeout=20_000)
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.stop(run)
    assert run.status == "stopped"
    assert run.resumable
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.resume(run)
    assert run.status == "done"
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        whole = workbench.start(plan(SlowWalk, draws=60))
    assert np.array_equal(run.draws["place"], whole.draws["place"])


@pytest.mark.slow
def test_chains_in_processes_pause_stop_and_have_the_same_draws(qapp, qtbot):
    from plaidwork.core.inference.execution import execute
    from plaidwork.core.inference.executor import InlineExecutor
    from plaidwork.core.inference.run import Run

    pool = chain_pool()
    workbench = Workbench(toy_registry(), places=RunPlaces(pool=pool))
    run = workbench.start(plan(SlowWalk, draws=2000))
    qtbot.waitUntil(lambda: all(record.sweep > 4 for record in run.chains), timeout=60_000)
    workbench.pause(run)
    qtbot.waitUntil(lambda: all(record.saved is not None for record in run.chains), timeout=20_000)
    workbench.unpause(run)
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.stop(run)
    assert run.status == "stopped"
    assert run.resumable
    assert pool.started == 2
    as_long = plan(draws=max(record.sweep for record in run.chains))  # the slow walk walks as the quick one
    alone = Run.from_plan(as_long)
    execute(alone, as_long, InlineExecutor())
    for one, other in zip(run.chains, alone.chains, strict=True):
        rows = one.trace.rows()
        assert np.array_equal(rows, other.trace.rows()[: len(rows)])
    pool.close()
    wait_for_tasks()


def test_save_open_and_go_on_with_more_draws(workbench, qtbot, tmp_path):
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.start(plan(draws=20))
    path = tmp_path / "a.plaidwork"
    with qtbot.waitSignal(workbench.saved, timeout=20_000):
        workbench.file.save(path)
    assert not workbench.dirty
    with qtbot.waitSignal(workbench.session_replaced, timeout=20_000):
        workbench.file.open(path)
    run = next(iter(workbench.session.runs.values()))
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.resume(run, 20)
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        longer = workbench.start(plan(draws=40))
    assert np.array_equal(run.draws["place"], longer.draws["place"])


def test_an_opened_session_is_called_as_its_file(workbench, qtbot, tmp_path):
    session = Session(name="Untitled")
    session.save(tmp_path / "tumours.plaidwork")
    with qtbot.waitSignal(workbench.session_replaced, timeout=20_000):
        workbench.file.open(tmp_path / "tumours.plaidwork")
    assert workbench.session.name == "tumours"


def test_a_failing_chain_is_told_and_keeps_what_it_has(workbench, qtbot):
    with qtbot.waitSignal(workbench.message_posted, timeout=20_000) as asked:
        run = workbench.start(plan(fail_at=20))
    assert asked.args[0].kind == "error"
    assert "The walk has ended." in asked.args[0].text
    qtbot.waitUntil(lambda: run.status == "failed" and bool(run.results), timeout=20_000)
    assert run.n_draws == 2 * 14


def test_a_file_that_is_no_session_is_told(workbench, qtbot, tmp_path):
    path = tmp_path / "no.plaidwork"
    path.write_text("hello")
    with qtbot.waitSignal(workbench.notified, timeout=20_000) as told:
        workbench.file.open(path)
    assert told.args[1] == "Could not open no.plaidwork"


def test_a_run_that_was_removed_is_left_alone_by_late_events(workbench, qtbot):
    run = workbench.start(plan(SlowWalk, draws=200))
    qtbot.waitUntil(lambda: run.sweeps_done > 4, timeout=20_000)
    workbench.stop(run)
    del workbench.session.runs[run.id]
    qtbot.waitUntil(lambda: not workbench.active_runs() and workbench.wait(0), timeout=20_000)


def test_tasks_report_errors_progress_and_cancellation(qtbot):
    told = []
    run_task(lambda task: task.report(0.5) or 7, told.append, progress=told.append)
    qtbot.waitUntil(lambda: told == [0.5, 7], timeout=20_000)
    run_task(lambda task: 1 / 0, told.append, lambda error, details: told.append((type(error), details)))
    qtbot.waitUntil(lambda: len(told) == 3, timeout=20_000)
    assert told[2][0] is ZeroDivisionError
    assert "1 / 0" in told[2][1]
    cancelled = run_task(lambda task: 8, told.append)
    cancelled.cancel()
    qtbot.waitUntil(lambda: cancelled.finished, timeout=20_000)
    assert len(told) == 3


def test_variational_models_end_when_they_have_converged(workbench, qtbot):
    from plaidwork.core.inference.plan import make_plan
    from tests.gui.window_tools import dataset

    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        run = workbench.start(make_plan(toys.Climb(), {"X": dataset()}))
    assert run.status == "done"
    assert all(record.converged and record.draws.count == 1 for record in run.chains)
