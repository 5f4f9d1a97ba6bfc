"""Every way of running a chain gives the same numbers, also when it was stopped in between."""

import threading

import numpy as np
import pytest
from sparing import some
from toy import ToySampler, toy_data
from toys import SCHEDULE, STEP_SECONDS, Climb, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import ModelError
from plaidwork.core.inference.events import Swept
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run

EXECUTORS = [InlineExecutor, ThreadExecutor, ProcessExecutor]
STARTED_ONCE = some(EXECUTORS, EXECUTORS[:2])
"""For what starts processes several times; ``test_processes.py`` and ``test_process_pool.py`` hold the same of processes."""


def _plan(model=None, **params):
    return make_plan(model or Walk(), {"X": as_dataset("X", matrix())}, params, schedule=SCHEDULE)


def _fit(plan, executor, progress=None):
    run = Run.from_plan(plan)
    execute(run, plan, executor, progress)
    return run


def _assert_same(first, second):
    for a, b in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(a.trace.rows(), b.trace.rows())
        assert a.draws.count == b.draws.count
        for variable in first.spec.variables:
            for index in range(a.draws.count):
                assert np.array_equal(a.draws.get(variable.name, index), b.draws.get(variable.name, index))
    for name, result in first.results.items():
        if hasattr(result, "values"):
            assert np.array_equal(result.values, second.results[name].values)


@pytest.mark.parametrize(
    ("executor", "model"),
    [
        pytest.param(
            executor,
            model,
            id=f"{executor.__name__}-{name}",
            marks=pytest.mark.slow if (executor, name) == (ProcessExecutor, "variational") else (),
        )
        for executor in EXECUTORS
        for name, model in {"mcmc": Walk(), "variational": Climb()}.items()
    ],
)
def test_same_numbers_everywhere(model, executor):
    plan = _plan(model)
    run = _fit(plan, executor())
    assert run.status == "done"
    assert run.cpu_seconds > 0
    _assert_same(_fit(plan, InlineExecutor()), run)


@pytest.mark.long
@pytest.mark.parametrize("executor", STARTED_ONCE)
def test_stopped_and_resumed_equals_uninterrupted(executor, monkeypatch):
    control = Control()
    schedule = SCHEDULE.with_(draws=1000)
    plan = make_plan(Walk(), {"X": as_dataset("X", matrix())}, schedule=schedule)
    monkeypatch.setenv(STEP_SECONDS, "0.02")  # 20 s and more are left when the stop arrives, in a process too
    run = _fit(plan, executor(control), lambda run, event: control.stop())
    monkeypatch.delenv(STEP_SECONDS)
    assert run.status == "stopped"
    assert run.sweeps_done < run.sweeps_planned
    execute(run, plan, executor())
    assert run.status == "done"
    _assert_same(_fit(plan, InlineExecutor()), run)


@pytest.mark.parametrize("executor", STARTED_ONCE)
def test_extended_equals_longer(executor):
    plan = _plan()
    run = _fit(plan, executor())
    run.extend(4)
    execute(run, plan, executor())
    longer = make_plan(
        Walk(), {"X": as_dataset("X", matrix())}, schedule=SCHEDULE.with_(draws=SCHEDULE.draws + 4)
    )
    _assert_same(_fit(longer, InlineExecutor()), run)


@pytest.mark.parametrize("executor", STARTED_ONCE)
def test_error_of_the_model_keeps_what_was_done(executor):
    run = _fit(_plan(fail_at=8), executor())
    assert run.status == "failed"
    assert [record.trace.count for record in run.chains] == [7, 7]
    assert [line.text for line in run.log if line.level == "error"] == ["The walk has ended. Walk less."] * 2


@pytest.mark.parametrize("executor", STARTED_ONCE)
def test_all_chains_failing_raises(executor):
    with pytest.raises(ModelError, match="The walk has ended"):
        _fit(_plan(fail_at=2), executor())


@pytest.mark.long
def test_pause_and_go_on_in_another_process():
    plan, control = _plan(), Control()
    paused = threading.Event()

    def pause_once(event):
        if isinstance(event, Swept) and not paused.is_set():
            control.pause()
            paused.set()

    run = Run.from_plan(plan)
    handle = ProcessExecutor(control).start(plan, run.chains, pause_once)
    assert paused.wait(60)
    handle.wait(0.2)
    control.resume()
    assert handle.wait(60)
    execute(run, plan, InlineExecutor())
    _assert_same(_fit(plan, InlineExecutor()), run)


def test_a_chain_that_has_ended_holds_its_state_once():
    """The last checkpoint has it; who goes on gets a copy, so that the checkpoint stays as it was."""
    model = ToySampler()
    plan = make_plan(model, {"X": toy_data()}, schedule=model.spec.schedule.with_(chains=1))
    run = Run.from_plan(plan)
    execute(run, plan, InlineExecutor())
    (record,) = run.chains
    assert record.resting
    assert record._state is None
    before = record.saved.state["walk"].copy()
    record.state["walk"] += 1.0
    assert not record.resting
    np.testing.assert_array_equal(record.saved.state["walk"], before)
