"""Chains that go on until they have settled, and the fixed schedule that every such run says it was."""

import threading
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from sparing import every
from toys import STEP_SECONDS, Steady, matrix

from plaidwork.core.api import Schedule
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import SettingError
from plaidwork.core.inference import execution, settling, time_taken
from plaidwork.core.inference.events import Finished, Preparing, Started, Swept
from plaidwork.core.inference.execution import FitJob, execute
from plaidwork.core.inference.executor import Control, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.repeating import repeat
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.time_taken import TimeTaken
from plaidwork.core.session.session import Session, open_session

SLOW = {"memory": 0.75}
"""ESS is about a seventh of the draws."""
AWAY = {"memory": 0.9, "start": 1e6}
"""Begins far away, and takes some 150 sweeps to come to rest."""


def _plan(model=None, schedule=None, seed=3, **params):
    model = model or Steady()
    data = {"X": as_dataset("X", matrix())}
    return make_plan(model, data, params, schedule=schedule or model.spec.default_schedule, seed=seed)


def _fit(plan, executor=None, progress=None):
    run = Run.from_plan(plan)
    execute(run, plan, executor or InlineExecutor(), progress)
    return run


@cache
def _settled(slow):
    """A run that has settled, of chains that are slow or begin far away; no test changes it."""
    return _fit(_plan(**(SLOW if slow else AWAY)))


def _same(first, second):
    assert [record.sweep for record in first.chains] == [record.sweep for record in second.chains]
    for a, b in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(a.trace.rows(), b.trace.rows())
        assert np.array_equal(a.view().kept_sweeps, b.view().kept_sweeps)
        assert np.array_equal(a.view().stack("place"), b.view().stack("place"))
    assert np.array_equal(first.results["place"].values, second.results["place"].values)


def test_the_default_of_a_sampler_is_a_goal_and_a_number_of_draws_is_none():
    spec = Steady.spec
    assert spec.default_schedule == replace(spec.schedule, budget=120.0)
    assert spec.default_schedule.with_(draws=7) == replace(spec.schedule, draws=7)
    assert spec.default_schedule.with_(draws=7, budget=5).budget == 5
    several = replace(spec, algorithm="variational").default_schedule
    assert several == replace(spec.schedule, most_chains=48)
    assert several.with_(chains=3) == replace(spec.schedule, chains=3)
    assert replace(spec, schedule=Schedule(chains=1)).default_schedule.budget == 0
    with pytest.raises(SettingError, match="budget"):
        Schedule(budget=-1)


def test_a_run_that_has_settled_at_the_first_look_is_the_plain_one():
    run = _fit(_plan(memory=0.0))
    assert run.diagnosis().verdict.settled
    assert run.schedule == Steady.spec.schedule
    _same(run, _fit(_plan(schedule=Steady.spec.schedule, memory=0.0)))
    assert run.log[-1].text.startswith("Settled after 210 sweeps per chain, of which 10")


@pytest.mark.long
@pytest.mark.parametrize("slow", every([True, False], 2), ids=["slow", "away"])
def test_a_run_goes_on_until_it_has_settled_and_equals_the_fixed_run_it_says(slow):
    run = _settled(slow)
    assert run.status == "done"
    assert run.diagnosis().verdict.settled
    assert run.sweeps_done > 4 * 210
    assert run.goal == Steady.spec.default_schedule
    fixed = _fit(_plan(schedule=run.schedule, **(SLOW if slow else AWAY)))
    assert fixed.goal is None
    _same(run, fixed)


@pytest.mark.slow
def test_sweeps_before_the_chains_agree_are_left_out():
    away = _settled(False)
    assert away.schedule.burn_in > 0
    assert abs(away.results["place"].values[0]) < 0.5
    assert np.mean(away.traces["level"][3][10:]) > 100
    slow = _settled(True)
    assert slow.schedule.burn_in < slow.schedule.sweeps("mcmc") / 2


def _judged(*rhats, n_draws=800):
    quantities = [SimpleNamespace(rhat=rhat, ess_bulk=1e4, ess_tail=1e4) for rhat in rhats]
    verdict = SimpleNamespace(kind="warn", settled=False)
    return SimpleNamespace(
        judged=quantities, unsettled=quantities, n_draws=n_draws, n_chains=4, verdict=verdict
    )


@pytest.mark.parametrize(
    ("all_draws", "second_half", "left_out"),
    [(1.3, 1.05, 100), (1.05, 1.3, 0), (1.3, np.nan, 100), (1.005, 1.001, 0)],
    ids=["began far away", "slow", "cannot be judged", "few effective draws"],
)
def test_the_first_half_is_let_go_where_it_is_what_differs(all_draws, second_half, left_out):
    goal, asked = Steady.spec.schedule, []

    def later(first):
        asked.append(first)
        return _judged(second_half)

    now = settling.longer(goal, goal, _judged(1.002, all_draws), later)
    assert now.burn_in == left_out
    assert now.burn_in + now.draws == 266  # a third more of 200
    assert asked == ([] if all_draws < 1.01 else [100])


@pytest.mark.long
@pytest.mark.parametrize("executor", every([ThreadExecutor, ProcessExecutor], 2))
def test_all_executors_end_at_the_same_draws(executor):
    plan = _plan(schedule=Steady.spec.schedule.with_(budget=1e6), memory=0.7)
    run = _fit(plan, executor())
    assert run.sweeps_done > 4 * 210
    _same(run, _fit(plan))


@pytest.mark.slow
def test_no_more_draws_are_kept_than_have_room(monkeypatch):
    monkeypatch.setattr(settling, "_ROOM", 1600)
    run = _fit(_plan(**SLOW))
    assert run.schedule.thin > 1
    assert 4 * run.schedule.draws == run.n_draws <= 1600
    assert run.diagnosis().verdict.settled
    _same(run, _fit(_plan(schedule=run.schedule, **SLOW)))


def _ticks(monkeypatch):
    """Time moves on by a second with every sweep of a chain, of which the function that is returned is told."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(time_taken, "time", clock)

    def tick(run, event):
        clock.now += isinstance(event, Swept)

    return tick


@pytest.mark.long
def test_the_budget_ends_draws_that_would_take_too_long(monkeypatch):
    """Of 400 draws asked for the first 50 are made, then as many as there is time for: 100 of 410 sweeps take 100 s, say."""
    goal = Steady.spec.schedule.with_(draws=400, budget=200.0)
    plan = _plan(schedule=goal, **SLOW)
    run, seen = Run.from_plan(plan), []
    assert run.schedule.draws == 50
    monkeypatch.setattr(
        TimeTaken, "room_for", lambda taken, now, goal: seen.append(now) or goal.budget / now.sweeps("mcmc")
    )
    execute(run, plan, InlineExecutor())
    assert run.schedule == replace(goal, draws=190, budget=0.0)
    assert [len(record.trace.rows()) for record in run.chains] == [200] * 4
    assert "time budget of 200 s" in run.log[-1].text
    _same(run, _fit(_plan(schedule=goal.with_(draws=190), **SLOW)))
    run.go_on(1e4)
    execute(run, plan, InlineExecutor())
    assert run.schedule.draws >= 400


@pytest.mark.long
def test_chains_that_never_agree_end_by_the_budget_of_time(monkeypatch):
    schedule = Steady.spec.schedule.with_(budget=4000.0)
    run = _fit(_plan(schedule=schedule, lost=50.0), progress=_ticks(monkeypatch))
    assert run.status == "done"
    assert 3900 < run.sweeps_done < 4100  # a block more, a third, would have been too long, and was cut
    assert "time budget of 4000 s" in run.log[-1].text
    _same(run, _fit(_plan(schedule=run.schedule, lost=50.0)))


@pytest.mark.parametrize(
    "executor", [InlineExecutor, ThreadExecutor, pytest.param(ProcessExecutor, marks=pytest.mark.long)]
)
def test_a_warm_up_that_would_outlast_the_budget_is_begun_again_and_shorter(executor, monkeypatch):
    """Of 4 chains with 500 sweeps of warm-up in 400 s, a second for a sweep."""
    schedule, told = Schedule(chains=4, warmup=500, draws=200, budget=400.0), []
    tick = _ticks(monkeypatch)

    def progress(run, event):
        tick(run, event)
        told.append(event)

    if executor is ProcessExecutor:  # on a busy machine the news would else come when all is done
        monkeypatch.setenv(STEP_SECONDS, "0.005")
    run = _fit(_plan(schedule=schedule, **SLOW), executor(), progress)
    monkeypatch.delenv(STEP_SECONDS, raising=False)
    assert run.status == "done"
    assert run.goal == schedule
    assert (
        10 <= run.schedule.warmup <= (250 if executor is ProcessExecutor else 45)
    )  # whose news come in batches
    assert [event.reason for event in told if isinstance(event, Finished)] == ["done"] * 4
    assert "begin again" in run.log[0].text
    assert "warm-up of 500 sweeps" in run.log[0].text
    assert "time budget of 400 s" in run.log[-1].text
    assert run.log[-1].text.endswith("left out as warm-up; a warm-up of 500 would have outlasted the budget.")
    _same(run, _fit(_plan(schedule=run.schedule, **SLOW)))
    shorter = run.schedule.warmup
    run.go_on(1e4)
    execute(run, _plan(schedule=schedule, **SLOW), InlineExecutor(), tick)
    assert run.schedule.warmup == shorter
    assert run.schedule.draws >= 200


@pytest.mark.parametrize(("budget", "sweeps"), [(4000.0, 500), (60.0, 10)])
def test_a_warm_up_is_shorter_only_where_the_budget_has_no_time_for_it(budget, sweeps, monkeypatch):
    schedule = Schedule(chains=4, warmup=500, draws=50, budget=budget)
    run = _fit(_plan(schedule=schedule, **SLOW), progress=_ticks(monkeypatch))
    assert run.schedule.warmup == sweeps
    assert run.n_draws >= 40


def test_first_sweeps_that_take_longer_do_not_cut_a_warm_up():
    goal = Schedule(chains=2, warmup=100, draws=100, budget=80.0)

    def begins_again(spent, done):
        return settling.shorter_warmup(goal, goal, spent, done, 200 - done) is not None

    assert not begins_again(5.0, 1)
    assert not begins_again(12.0, 0)
    assert not begins_again(12.0, 20)  # 108 s at that pace, of which three fifths are believed
    assert begins_again(12.0, 8)
    assert begins_again(20.0, 35)
    assert not begins_again(20.0, 60)
    assert not begins_again(45.0, 60)  # too late to give up what was done


def test_what_one_chain_finds_of_the_warm_up_is_not_undone_by_another(monkeypatch):
    """A chain that had begun to look finds nothing after another has let all end."""
    schedule = Schedule(chains=4, warmup=500, draws=60, budget=400.0)
    plan, asked = _plan(schedule=schedule, **SLOW), []
    run = Run.from_plan(plan)
    job = FitJob(run, plan, InlineExecutor())

    def seen(*_args):
        asked.append(1)
        if len(asked) > 1:
            return replace(schedule, budget=0.0, warmup=20, draws=50)
        job._watch_warmup()  # the other chain, meanwhile
        return None

    monkeypatch.setattr(execution, "shorter_warmup", seen)
    job.complete()
    assert run.status == "done"
    assert run.schedule.warmup == 20


def test_a_stop_while_the_warm_up_is_given_up_ends_the_run(monkeypatch):
    tick = _ticks(monkeypatch)
    plan = _plan(schedule=Schedule(chains=4, warmup=500, draws=200, budget=400.0), **SLOW)
    control = Control()
    run, told = Run.from_plan(plan), []
    halt = control.halt
    monkeypatch.setattr(control, "halt", lambda: (halt(), control.stop()))

    def progress(run, event):
        tick(run, event)
        told.append(event)

    execute(run, plan, InlineExecutor(control), progress)
    assert run.status == "stopped"
    assert run.schedule.warmup == 500
    assert [event.reason for event in told if isinstance(event, Finished)] == ["stopped"]


def test_a_run_that_nothing_helps_ends_after_so_many_times_its_draws(monkeypatch):
    monkeypatch.setattr(settling, "LONGEST", 3)
    run = _fit(_plan(lost=50.0))
    assert 3 * 200 <= run.schedule.burn_in + run.schedule.draws * run.schedule.thin <= 4 * 200
    assert "more of them would hardly help" in run.log[-1].text


def test_one_chain_goes_on_until_it_has_enough_effective_draws():
    run = _fit(_plan(schedule=Schedule(chains=1, warmup=10, draws=200, budget=60.0)))
    assert min(q.ess_bulk for q in run.diagnosis().judged) >= 400
    assert run.sweeps_done < 10_000


def test_what_the_model_doubts_counts():
    class Doubting(Steady):
        def summarise(self, kept, data, params):
            doubt = {"doubt": "It may be early"} if kept.n_draws < 1200 else {}
            return super().summarise(kept, data, params) | doubt

    run = _fit(_plan(Doubting(), memory=0.0))
    assert run.n_draws >= 1200
    assert run.diagnosis().verdict.settled


@pytest.mark.long
@pytest.mark.parametrize("after", every([300, 4 * 210 + 50], 2))
def test_stopped_saved_and_resumed_it_equals_an_uninterrupted_run(after, tmp_path):
    plan, session, control = _plan(**SLOW), Session(), Control()
    session.datasets["X"] = plan.inputs["X"][0]
    run = session.add_run(plan)

    def stop(run, event):
        if run.sweeps_done >= after:
            control.stop()

    execute(run, plan, InlineExecutor(control), stop)
    assert run.status == "stopped"
    assert run.resumable
    again = open_session(session.save(tmp_path / "s.plaidwork")).runs[run.id]
    assert again.goal == run.goal
    execute(again, plan, ThreadExecutor())
    assert again.status == "done"
    _same(again, _settled(True))


@pytest.mark.slow
def test_a_stop_at_a_look_can_be_gone_on_from():
    plan, control = _plan(**SLOW), Control()
    run = Run.from_plan(plan)

    def stop(run, event):
        if isinstance(event, Swept) and run.sweeps_done == 4 * 210:
            control.stop()

    execute(run, plan, InlineExecutor(control), stop)
    assert run.status == "stopped"
    assert run.resumable
    execute(run, plan, InlineExecutor())
    _same(run, _settled(True))


@pytest.mark.slow
def test_more_draws_after_the_goal_equal_a_longer_fixed_run():
    run = _fit(_plan(**SLOW))
    run.extend(30)
    assert run.goal is None
    execute(run, _plan(**SLOW), InlineExecutor())
    _same(run, _fit(_plan(schedule=run.schedule, **SLOW)))


@pytest.mark.slow
def test_a_fixed_run_goes_on_until_it_has_settled():
    run = _fit(_plan(schedule=Steady.spec.schedule, **SLOW))
    assert not run.diagnosis().verdict.settled
    run.go_on(60.0)
    execute(run, _plan(**SLOW), InlineExecutor())
    _same(run, _fit(_plan(**SLOW)))


@pytest.mark.slow
def test_a_run_that_goes_on_is_repeated_by_what_is_stored():
    plan = _plan(**AWAY)
    run = _fit(plan)
    sweeps = run.schedule.left_out + 3 * run.schedule.thin
    assert repeat(run, replace(plan, schedule=run.schedule), sweeps).verdict == "equal"


@pytest.mark.long
def test_looks_are_not_told_as_ends():
    told = []
    job = FitJob(Run.from_plan(_plan(**SLOW)), _plan(**SLOW), ThreadExecutor())
    for event in job:
        told.append(type(event))
    for kind in (Preparing, Started, Finished):
        assert told.count(kind) == 4
    assert sum("done at sweep" in line.text for line in job.run.log) == 4


@pytest.mark.slow
def test_draws_can_be_read_while_others_are_let_go():
    """A reader sees draws and the sweeps they are of together, whatever is thinned or left out meanwhile."""
    run, ended, wrong = Run.from_plan(_plan(**AWAY)), threading.Event(), []

    def read():
        while not ended.is_set():
            for view in run.kept().chains:
                if not np.array_equal(view.stack("place")[:, 0], view.kept_trace("level")):
                    wrong.append(view)

    reader = threading.Thread(target=read)
    reader.start()
    execute(run, _plan(**AWAY), ThreadExecutor())
    ended.set()
    reader.join()
    assert not wrong


@pytest.mark.long
def test_how_long_it_takes_is_told_from_the_draws_so_far():
    plan = _plan(schedule=Steady.spec.schedule, **SLOW)
    now, goal = plan.schedule, Steady.spec.default_schedule
    needed = settling.sweeps_needed(now, goal, _fit(plan).diagnosis())
    took = _fit(_plan(**SLOW)).schedule.sweeps("mcmc")
    assert took / 2 <= needed <= 2 * took
    few = _fit(_plan(schedule=now.with_(draws=20), **SLOW))
    assert settling.sweeps_needed(now, goal, few.diagnosis()) is None


def test_pauses_do_not_count(monkeypatch):
    monkeypatch.setenv(STEP_SECONDS, "0.0")
    control = Control()
    control.pause()
    threading.Event().wait(0.05)
    control.resume()
    assert 0.04 < control.paused_seconds < 5
    before = control.paused_seconds
    control.resume()
    assert control.paused_seconds == before


@pytest.mark.slow
def test_averages_of_runs_that_have_settled_are_as_sure_as_they_say():
    """Looking again and again must not make errors: the mean of draws that began far away is within 1.96 of its standard errors
    of the truth in 95 % of runs. Of 80 runs 4 are expected beyond; 11 or more happen by chance once in 480.
    """
    beyond = 0
    for seed in range(80):
        run = _fit(_plan(seed=seed, memory=0.8, start=1e4))
        found = run.diagnosis()
        assert found.verdict.settled
        (level,) = [q for q in found.quantities if q.name == "level"]
        beyond += abs(level.mean) > 1.96 * level.mcse
    assert beyond <= 10


@pytest.mark.long
def test_a_run_says_that_it_averages_over_its_draws():
    class Averaging(Steady):
        phases = ()

        def summarise(self, kept, data, params):
            self.phases = (*self.phases, job.phase)
            return super().summarise(kept, data, params)

    plan = _plan(Averaging())
    job = FitJob(Run.from_plan(plan), plan, InlineExecutor())
    for _ in job:
        pass
    assert plan.model.phases[-1] == "summarising"
    assert job.phase == ""
