"""More restarts where they are quick and while only one has reached the best objective: what they find, and when there are none."""

import numpy as np
import pytest

from plaidwork.core.inference import restarting
from plaidwork.core.inference.execution import FitJob, execute
from plaidwork.core.inference.executor import InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session, open_session
from tests.gui.window_tools import dataset
from tests.toys import Climb, Hills

SEED = 33
"""Of its restarts the second is the first at the top, and the fourth the next."""


@pytest.fixture
def two_enough(monkeypatch):
    monkeypatch.setattr(restarting, "ENOUGH", 2)


def planned(model, **schedule):
    return make_plan(
        model, {"X": dataset()}, schedule=model.spec.default_schedule.with_(**schedule), seed=SEED
    )


def fitted(model, executor=None, **schedule):
    plan = planned(model, **schedule)
    run = Run.from_plan(plan)
    execute(run, plan, executor or InlineExecutor())
    return run


@pytest.mark.parametrize(
    "executor", [InlineExecutor, ThreadExecutor, pytest.param(ProcessExecutor, marks=pytest.mark.long)]
)
@pytest.mark.usefixtures("two_enough")
def test_restarts_are_added_until_two_have_reached_the_best(executor):
    run = fitted(Hills(), executor())
    assert (len(run.chains), run.schedule.chains, run.status) == (4, 4, "done")
    assert run.diagnosis().verdict.title == "2 of 4 restarts reached the best elbo"
    assert "1 of 2 restarts has reached the best objective so far, so 2 more are made." in [
        line.text for line in run.log
    ]
    plain = fitted(Hills(), chains=4)
    for one, other in zip(run.chains, plain.chains, strict=True):
        np.testing.assert_array_equal(one.trace.rows(), other.trace.rows())
        np.testing.assert_array_equal(one.view().stack("place"), other.view().stack("place"))


def test_quick_restarts_are_doubled_though_two_agree():
    run = fitted(Climb())
    assert (len(run.chains), run.diagnosis().verdict.title) == (16, "16 of 16 restarts reached the best elbo")
    said = [line.text for line in run.log if "look for" in line.text]
    assert [text.split()[7] for text in said] == ["2", "4", "8"]


@pytest.mark.usefixtures("two_enough")
def test_no_restart_is_added_where_two_agree_or_so_many_were_asked_for():
    assert len(fitted(Climb()).chains) == 2
    assert len(fitted(Hills(), chains=2).chains) == 2
    assert len(fitted(Hills(), chains=2, most_chains=3).chains) == 3


def test_no_restart_is_added_when_the_time_is_over(monkeypatch):
    monkeypatch.setattr(restarting, "ALONE_SECONDS", 0.0)
    run = fitted(Hills())
    assert len(run.chains) == 2
    assert run.diagnosis().verdict.word == "Restarts differ"


def test_restarts_that_agree_have_half_the_time(monkeypatch):
    monkeypatch.setattr(restarting, "SECONDS", 0.0)
    assert len(fitted(Climb()).chains) == 2
    assert len(fitted(Hills()).chains) == 4


def test_no_restart_is_added_to_one_that_has_not_converged():
    run = fitted(Climb(), max_sweeps=3)
    assert (len(run.chains), run.diagnosis().verdict.word) == (2, "Not converged")


def test_a_stop_adds_none():
    plan = planned(Hills())
    run = Run.from_plan(plan)
    job = FitJob(run, plan, InlineExecutor())
    job.stop()
    for _ in job:
        pass
    assert (len(run.chains), run.status) == (2, "stopped")


@pytest.mark.usefixtures("two_enough")
def test_added_restarts_are_stored_and_read_back(tmp_path):
    session, plan = Session(), planned(Hills())
    session.add_dataset(dataset())
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    session.save(tmp_path / "more.plaidwork")
    (back,) = open_session(tmp_path / "more.plaidwork").runs.values()
    assert (len(back.chains), back.schedule) == (4, run.schedule)
    assert back.diagnosis().verdict == run.diagnosis().verdict
