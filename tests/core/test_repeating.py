"""A repetition is equal to the bit, equal but for rounding, or different; and the run says which arithmetic made it."""

import numpy as np
import pytest
from toys import SCHEDULE, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.repeating import ARITHMETIC, outcome, repeat, same_arithmetic
from plaidwork.core.inference.run import Run


class Elsewhere(Walk):
    """The walk on another processor: ``error`` times ``growth`` for every sweep, relative, from sweep ``begin`` on."""

    error, growth, begin = 1e-15, 1.0, 1

    def step(self, state, data, params, rng, clock):
        traces = super().step(state, data, params, rng, clock)
        if state["sweep"] >= self.begin:
            state["place"] = state["place"] * (1 + self.error * self.growth ** state["sweep"])
        return traces | {"level": float(state["place"].mean())}


def plan_of(model):
    return make_plan(model, {"X": as_dataset("X", matrix())}, schedule=SCHEDULE)


@pytest.fixture(scope="module")
def run():
    plan = plan_of(Walk())
    made = Run.from_plan(plan)
    execute(made, plan, InlineExecutor())
    return made


def elsewhere(run, sweeps=15, **values):
    model = Elsewhere()
    for name, value in values.items():
        setattr(model, name, value)
    return repeat(run, plan_of(model), sweeps)


def test_equal_to_the_bit(run):
    found = repeat(run, plan_of(Walk()), 15)
    assert (found.verdict, found.sweeps, found.exact, found.location) == ("equal", 15, 15, "")
    assert outcome(found, 2, True) == "equal in 2 chains over 15 sweeps, to the bit."


def test_rounding_to_the_end(run):
    found = elsewhere(run)
    assert (found.verdict, found.close) == ("rounding", 15)
    assert 0 < found.largest < 1e-12
    assert "equal within rounding in 2 chains over 15 sweeps" in outcome(found, 2, False)
    assert "should have been equal to the bit" in outcome(found, 2, True)
    assert "should have been" not in outcome(found, 2, False)


def test_rounding_that_grows_until_the_chain_goes_another_way(run):
    found = elsewhere(run, growth=30.0)
    assert found.verdict == "rounding"
    assert 2 <= found.close < 15
    assert found.largest <= 1e-6
    assert f"the first {found.close} of 15 sweeps" in outcome(found, 2, False)
    assert "Chain " in found.location


def test_difference_in_the_first_sweep_is_a_difference(run):
    found = elsewhere(run, error=1e-3)
    assert (found.verdict, found.close) == ("different", 0)
    assert "sweep 1: trace level stored" in outcome(found, 2, False)


def test_draws_count_with_the_sweep_they_were_kept_in(run):
    """A draw that differs in a run whose traces are equal."""

    class Draws(Walk):
        def draws(self, state, data, params):
            return super().draws(state, data, params) | {"up": state["place"] > 1e9}

    found = repeat(run, plan_of(Draws()), 15)
    assert found.close == SCHEDULE.warmup + SCHEDULE.thin - 1
    assert "draw 1: up" in found.location


def test_other_seed_differs(run):
    run.seed += 1
    try:
        assert repeat(run, plan_of(Walk()), 3).verdict == "different"
    finally:
        run.seed -= 1


def test_run_says_which_arithmetic_made_it(run):
    assert run.environment["processor"]
    assert run.environment["BLAS"]
    assert same_arithmetic(run.environment, environment())
    assert not same_arithmetic(run.environment | {"BLAS": "another"}, environment())
    old = {name: value for name, value in environment().items() if name not in ("processor", "BLAS")}
    assert not same_arithmetic(old, environment())
    assert not same_arithmetic(run.environment | {"instructions": "sse2 and 8 more (0)"}, environment())
    assert set(ARITHMETIC) <= set(environment())


def test_going_on_elsewhere_keeps_who_made_the_beginning(run, monkeypatch):
    made = dict(run.environment)
    monkeypatch.setattr(
        "plaidwork.core.inference.execution.environment", lambda model: made | {"BLAS": "another"}
    )
    run.extend(1)
    execute(run, plan_of(Walk()), InlineExecutor())
    assert run.environment == made
    assert f"Goes on with BLAS another, before {made['BLAS']}." in [line.text for line in run.log]
    assert np.isfinite(run.draws["level"]).all()
