"""Processes that stay: the same numbers as other executors, few starts, and a process that is lost."""

from contextlib import suppress

import numpy as np
import pytest
from toy import ToySampler, same_chains, toy_data

from plaidwork.core.errors import PluginError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.inference.run import Run
from plaidwork.core.study import Study

SCHEDULE = ToySampler.spec.schedule.with_(chains=2, warmup=2, draws=10)


def _fit(executor, seed=1, **params):
    plan = make_plan(ToySampler(), {"X": toy_data()}, params, schedule=SCHEDULE, seed=seed)
    run = Run.from_plan(plan)
    execute(run, plan, executor)
    return run


@pytest.mark.slow
def test_many_fits_share_few_processes_and_have_the_same_numbers():
    study = Study.grid(ToySampler(), {"X": toy_data()}, seeds=range(1, 6), schedule=SCHEDULE)
    with ProcessPool(2) as pool:
        study.run(pool.executor, at_once=2)
        assert pool.started <= 2
        idle = list(pool._idle)
    assert study.count("done") == 5
    assert not any(worker.process.is_alive() for worker in idle)
    for job in study.jobs:
        assert same_chains(job.run, _fit(InlineExecutor(), job.seed))


def test_other_data_are_sent_to_the_process_that_held_the_first():
    other = toy_data(seed=5)
    with ProcessPool(1) as pool:
        for data in (toy_data(), other, toy_data()):
            plan = make_plan(ToySampler(), {"X": data}, schedule=SCHEDULE)
            run, alone = Run.from_plan(plan), Run.from_plan(plan)
            execute(run, plan, pool.executor())
            execute(alone, plan, InlineExecutor())
            assert same_chains(run, alone)
        assert pool.started == 1


@pytest.mark.slow
def test_a_process_that_is_lost_fails_its_fit_and_the_next_gets_another():
    plan = make_plan(ToySampler(), {"X": toy_data()}, {"fail": "die"}, schedule=SCHEDULE)
    run = Run.from_plan(plan)
    with ProcessPool(1) as pool:
        with suppress(PluginError):  # told only when nothing was kept
            execute(run, plan, pool.executor())
        assert run.status == "failed"
        assert any("ended with code 3" in line.text for line in run.log)
        assert _fit(pool.executor()).status == "done"
        assert pool.started >= 2


@pytest.mark.slow
def test_a_process_that_died_while_it_was_idle_is_replaced():
    with ProcessPool(1) as pool:
        _fit(pool.executor())
        (worker,) = pool._idle
        worker.process.kill()
        worker.process.join(20)
        assert _fit(pool.executor()).status == "done"


def test_a_stopped_pool_runs_nothing():
    control = Control()
    control.stop()
    with ProcessPool(1) as pool:
        run = _fit(pool.executor(control))
        assert run.status == "stopped"
        assert pool.started == 0


def test_a_failure_of_the_model_leaves_the_process_for_the_next():
    with ProcessPool(1) as pool:
        failed = _fit(pool.executor(), fail="step", seed=2)
        assert failed.status == "failed"
        assert "broke on purpose" in failed.log[-1].text
        np.testing.assert_array_equal(
            _fit(pool.executor()).draws["theta"], _fit(InlineExecutor()).draws["theta"]
        )
        assert pool.started == 1
