"""A bound that falls, planted and found."""

from conforming import Bound, Means
from faults import caught, passes, skipped


class WrongRate(Bound):
    """Forgets the half in the rate of q(tau)."""

    def update_tau(self, state, x):
        state["rate"] = self.rate + self.square(state, x)


class Detour(Bound):
    """The update of one factor spoils another, which the end of the sweep hides."""

    def update_mean(self, state, x, lo, hi):
        super().update_mean(state, x, lo, hi)
        if hi == x.shape[1]:
            state["rate"] *= 3


class Falling(Bound):
    def step(self, state, data, params, rng, clock):
        found = super().step(state, data, params, rng, clock)
        return found and {"elbo": found["elbo"] - 1e-3 * clock.sweep}


def test_falls_from_sweep_to_sweep():
    caught(Falling, "bound_rises", "“elbo” falls", "restart 1")


def test_falls_at_a_stage():
    caught(WrongRate, "bound_rises_by_stage", "at the stage “tau”", "after “mean”")
    passes(Detour, "bound_rises")
    caught(Detour, "bound_rises_by_stage", "at the stage “mean”")


class Boasting(Bound):
    def objective(self, state, data, params):
        return super().objective(state, data, params) + 1.0


def test_objective_and_trace_agree():
    caught(Boasting, "bound_rises_by_stage", "objective()", "the trace “elbo”")


def test_samplers_have_no_bound():
    skipped(Means, "bound_rises")
