"""Chains that wait for each other as threads go on in processes, with the same numbers; where no process can begin they stay threads."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from toys import SCHEDULE, STEP_SECONDS, Climb, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference import moving
from plaidwork.core.inference.events import Started
from plaidwork.core.inference.execution import execute, named_executor
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.moving import MovingExecutor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.inference.run import Run


@pytest.fixture
def soon(monkeypatch):
    """What is waited for is short; the steps of the toys sleep, which is no work of the processor."""
    monkeypatch.setattr(moving, "WATCHED", 0.3)
    monkeypatch.setattr(moving, "WORTH", 0.2)
    monkeypatch.setattr(moving, "processors", lambda: 2)
    monkeypatch.setenv(STEP_SECONDS, "0.02")


@pytest.fixture
def given_to_processes(monkeypatch):
    """Numbers of the chains that a process was asked to run, in order, and the sweeps that they had."""
    asked, run = [], ProcessPool.run

    def told(self, plan, record, control, notify):
        asked.append((record.chain, record.sweep))
        run(self, plan, record, control, notify)

    monkeypatch.setattr(ProcessPool, "run", told)
    return asked


def planned(model, sweeps):
    schedule = SCHEDULE.with_(draws=sweeps, thin=1, max_sweeps=sweeps)
    return make_plan(model, {"X": as_dataset("X", matrix())}, schedule=schedule)


def fitted(plan, executor, progress=None):
    run = Run.from_plan(plan)
    execute(run, plan, executor, progress)
    return run


def same(first, second):
    for one, other in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(one.trace.rows(), other.trace.rows())
        for draw in range(one.draws.count):
            assert np.array_equal(one.draws.get("place", draw), other.draws.get("place", draw))


@pytest.mark.long
def test_they_go_on_in_processes_with_the_same_numbers(soon, given_to_processes, monkeypatch):
    plan, begun = planned(Walk(), 150), []
    run = fitted(
        plan, MovingExecutor(), lambda _run, event: isinstance(event, Started) and begun.append(event.chain)
    )
    assert run.status == "done"
    assert sorted(chain for chain, _ in given_to_processes) == [0, 1]
    assert all(sweep > 2 for _, sweep in given_to_processes)
    assert sorted(begun) == [0, 1]
    assert sum("done" in line.text for line in run.log) == 2
    assert not any("stopped" in line.text for line in run.log)
    monkeypatch.delenv(STEP_SECONDS)
    same(fitted(plan, InlineExecutor()), run)


@pytest.mark.long
def test_a_stop_reaches_them_there_and_they_go_on_to_the_same_numbers(soon, given_to_processes, monkeypatch):
    plan, control = planned(Walk(), 400), Control()

    def stop_there(_run, _event):
        if given_to_processes:
            control.stop()

    run = fitted(plan, MovingExecutor(control), stop_there)
    assert given_to_processes
    assert run.status == "stopped"
    monkeypatch.delenv(STEP_SECONDS)
    execute(run, plan, MovingExecutor())
    same(fitted(plan, InlineExecutor()), run)


def test_what_ends_soon_stays_in_threads(soon, given_to_processes):
    run = fitted(planned(Walk(), 20), MovingExecutor())
    assert run.status == "done"
    assert not given_to_processes


def test_a_processor_that_is_used_is_left_alone(soon, given_to_processes, monkeypatch):
    monkeypatch.setattr(moving, "WAITING", -1.0)
    fitted(planned(Climb(), 60), MovingExecutor())
    assert not given_to_processes


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("fit()\n", False),
        ("import os\nif __name__ == '__main__':\n    fit()\n", True),
        ("if os.name == 'nt':\n    pass\nfit()\n", False),
        ("not python", False),
        (None, True),
    ],
)
def test_a_script_that_would_run_again_keeps_its_chains(tmp_path, monkeypatch, text, may):
    main = ModuleType("__main__")
    if text is not None:
        (tmp_path / "script.py").write_text(text)
        main.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert moving.can_begin(SimpleNamespace(model=Walk())) is may
    mine = type("Mine", (), {"__module__": "__main__"})()
    assert not moving.can_begin(SimpleNamespace(model=mine))


def test_it_is_what_who_does_not_choose_gets_but_studies():
    """The fits of a study fill the processors beside each other."""
    assert isinstance(named_executor("auto"), MovingExecutor)
    with Place().executors() as make:
        assert isinstance(make(Control()), MovingExecutor)
    with Place("auto").executors(jobs=3) as make:
        assert not isinstance(make(Control()), MovingExecutor)


def test_large_data_stay_where_chains_share_them(soon, given_to_processes, monkeypatch):
    monkeypatch.setattr(moving, "LARGE", 10)
    fitted(planned(Walk(), 60), MovingExecutor())
    assert not given_to_processes
