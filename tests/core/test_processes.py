"""Chains in processes of their own: same numbers, stop and pause obeyed, a dead process told."""

import threading
import time

import pytest
from toy import ToyRegistry, ToySampler, ToyVariational, same_chains, toy_data
from toys import STEP_SECONDS

from plaidwork.core.data.dataset import Step
from plaidwork.core.errors import ModelError, PluginError
from plaidwork.core.inference.events import Checkpointed, Failed, Finished, Swept
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run
from plaidwork.core.session.fitting import resume
from plaidwork.core.session.session import Session, open_session


def _plan(draws=10, chains=2, **params):
    schedule = ToySampler.spec.schedule.with_(draws=draws, chains=chains)
    return make_plan(ToySampler(), {"X": toy_data()}, params, schedule=schedule, seed=3)


def _whole(plan):
    run = Run.from_plan(plan)
    execute(run, plan, InlineExecutor())
    return run


@pytest.mark.slow
def test_same_numbers_with_more_chains_than_processors(monkeypatch):
    monkeypatch.setattr("plaidwork.core.inference.processes.processors", lambda: 1)
    plan = _plan(chains=3)
    run = Run.from_plan(plan)
    running, most = set(), []

    def progress(run, event):
        running.add(event.chain)
        if isinstance(event, Finished):
            running.discard(event.chain)
        most.append(len(running))

    execute(run, plan, ProcessExecutor(), progress)
    assert run.status == "done"
    assert max(most) == 1
    assert same_chains(run, _whole(plan))


@pytest.mark.slow
def test_stopped_saved_and_resumed_in_processes_equals_uninterrupted(tmp_path, monkeypatch):
    session, control = Session(), Control()
    plan = make_plan(
        ToySampler(),
        {"X": session.add_dataset(toy_data())},
        seed=3,
        schedule=ToySampler.spec.schedule.with_(draws=1000),
    )
    run = session.add_run(plan)

    def progress(run, event):
        if isinstance(event, Swept) and event.sweep > 20:
            control.stop()

    monkeypatch.setenv(STEP_SECONDS, "0.01")  # 10 s and more are left when the stop arrives
    execute(run, plan, ProcessExecutor(control), progress)
    monkeypatch.delenv(STEP_SECONDS)
    assert run.status == "stopped"
    assert 0 < run.n_draws < 2000
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    new = resume(again, plugins=ToyRegistry(), executor=ProcessExecutor())
    assert new.status == "done"
    assert same_chains(new, _whole(plan))
    third = open_session(again.save())
    assert same_chains(third.runs[run.id], new)


@pytest.mark.slow
def test_variational_in_processes():
    data = toy_data()
    plan = make_plan(ToyVariational(), {"X": data.take(0, [1, 2, 3], Step("rows"))}, seed=3)
    run = Run.from_plan(plan)
    execute(run, plan, ProcessExecutor())
    assert same_chains(run, _whole(plan))


@pytest.mark.long
def test_pause_takes_a_checkpoint_and_goes_on():
    plan = _plan(draws=20000, chains=1)
    run, control, events = Run.from_plan(plan), Control(), []
    handle = ProcessExecutor(control).start(plan, run.chains, events.append)
    _until(lambda: any(isinstance(event, Swept) for event in events))
    control.pause()
    _until(lambda: any(isinstance(event, Checkpointed) for event in events))
    sweeps = run.chains[0].sweep
    assert run.chains[0].saved.sweep == sweeps
    time.sleep(0.2)
    assert run.chains[0].sweep == sweeps
    control.resume()
    _until(lambda: run.chains[0].sweep > sweeps)
    control.stop()
    assert handle.wait(30)
    assert isinstance(events[-1], Finished)
    assert run.chains[0].saved.n_draws == run.chains[0].draws.count > 0


def _until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_dead_process_is_told_and_the_rest_goes_on():
    plan = _plan(fail="die", chains=1)
    run, failures = Run.from_plan(plan), []
    with pytest.raises(PluginError, match="chain 1 of Toy sampler ended with code 3"):
        execute(run, plan, ProcessExecutor(), lambda run, event: failures.append(event))
    assert any(isinstance(event, Failed) for event in failures)
    assert run.status == "failed"
    assert run.chains[0].broken


@pytest.mark.slow
def test_failure_in_the_model_equals_inline():
    plan = _plan(fail="step")
    run, inline = Run.from_plan(plan), Run.from_plan(plan)
    execute(run, plan, ProcessExecutor())
    execute(inline, plan, InlineExecutor())
    assert run.status == inline.status == "failed"
    for one, other in zip(run.chains, inline.chains, strict=True):
        assert one.broken
        assert one.draws.count == other.draws.count == 3
        assert one.trace.rows().tobytes() == other.trace.rows().tobytes()
    texts = [sorted(line.text for line in each.log if line.level == "error") for each in (run, inline)]
    assert texts[0] == texts[1]


def test_model_that_cannot_be_sent():
    class Local(ToySampler):
        pass

    plan = make_plan(Local(), {"X": toy_data()}, schedule=ToySampler.spec.schedule)
    with pytest.raises(ModelError, match="cannot run in a process of its own"):
        execute(Run.from_plan(plan), plan, ProcessExecutor())


@pytest.mark.long
def test_start_returns_at_once():
    plan = _plan()
    run = Run.from_plan(plan)
    events = []
    handle = ProcessExecutor().start(plan, run.chains, events.append)
    assert not events  # it did not wait for a process to come up
    assert handle.wait(30)
    assert threading.active_count() < 20


@pytest.mark.long
def test_a_process_that_stays_silent_is_started_anew(monkeypatch):
    from plaidwork.core.inference import processes

    monkeypatch.setattr(processes, "FIRST_WORD_SECONDS", 20.0)
    begin, begun = processes._start, []

    class Silent:
        """A pipe whose other end never says anything."""

        def poll(self, seconds):
            return False

        def close(self):
            pass

    class Nobody:
        def kill(self):
            pass

        def join(self, seconds):
            pass

    def start(job):
        begun.append(job.chain)
        return (Silent(), Nobody()) if len(begun) == 1 else begin(job)

    monkeypatch.setattr(processes, "_start", start)
    plan = _plan(draws=5, chains=1)
    run = Run.from_plan(plan)
    execute(run, plan, ProcessExecutor())
    assert begun == [0, 0]
    assert same_chains(run, _whole(plan))
