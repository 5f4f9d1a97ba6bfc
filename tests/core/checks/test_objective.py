"""A bound that falls, planted and found."""

from conforming import Bound, Means
from faults import caught, passes, skipped


class WrongRate(Bound):
    """Forgets the half in the rate of q(tau)."""

    def update_tau(self, state, x):
        state["rate"] = self.rate + self.square(state, x)


class Detour(Bound):
    """The update of one factor spoils another, which the end of the sweep hides."""

    def update_mean(self, state, x):
        super().update_mean(state, x)
        state["rate"] *= 3


class NotTheSame(Bound):
    def step(self, state, data, params, rng, clock):
        x = data["X"].values
        self.update_tau(state, x)
        self.update_mean(state, x)
        return {"elbo": self.elbo(state, x)}


class Falling(Bound):
    def step(self, state, data, params, rng, clock):
        found = super().step(state, data, params, rng, clock)
        return {"elbo": found["elbo"] - 1e-3 * clock.sweep}


def test_falls_from_sweep_to_sweep():
    caught(Falling, "bound_rises", "“elbo” falls", "restart 1")


def test_falls_at_a_factor():
    caught(WrongRate, "bound_rises_by_block", "at the update of “tau”", "after “mean”")
    passes(Detour, "bound_rises")
    caught(Detour, "bound_rises_by_block", "at the update of “mean”")


def test_parts_and_whole_agree():
    caught(NotTheSame, "bound_rises_by_block", "step() at")


def test_samplers_have_no_bound():
    skipped(Means, "bound_rises")
