"""Samplers that are wrong, planted and found by the tests against the prior; right ones pass for many seeds."""

import numpy as np
import pytest
from conforming import Bound, Means
from faults import caught, skipped
from sparing import every

from plaidwork.core.checks import checks_for, prior


class Narrow(Means):
    """Draws of a mean are a third too narrow."""

    def draw_mean(self, state, x, known, params, rng):
        precision = params["spread"] ** -2 + state["tau"] * known.sum(axis=0)
        centre = state["tau"] * x.sum(axis=0) / precision
        state["mean"] = centre + 0.67 * rng.standard_normal(len(centre)) / np.sqrt(precision)


class FarTooNarrow(Means):
    """The same by a factor of five: calibration at the quick level finds coarse errors only."""

    def draw_mean(self, state, x, known, params, rng):
        precision = params["spread"] ** -2 + state["tau"] * known.sum(axis=0)
        centre = state["tau"] * x.sum(axis=0) / precision
        state["mean"] = centre + 0.2 * rng.standard_normal(len(centre)) / np.sqrt(precision)


class OtherPrior(Means):
    """The rate of the prior of tau is 1 in the sampler and 2 in the simulation."""

    def draw_tau(self, state, x, known, params, rng):
        square = float((known * (x - state["mean"]) ** 2).sum())
        state["tau"] = float(rng.gamma(params["shape"] + known.sum() / 2)) / (1.0 + square / 2)


class CountsGaps(Means):
    """Takes missing cells for zeros."""

    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, np.ones_like(known), params, rng)


class Blind(Means):
    """Draws from the prior, whatever the data: all that depends on parameters alone is right."""

    def draw_mean(self, state, x, known, params, rng):
        state["mean"] = params["spread"] * rng.standard_normal(x.shape[1])

    def draw_tau(self, state, x, known, params, rng):
        state["tau"] = float(rng.gamma(params["shape"])) / 2.0


class OtherData(Means):
    """Data given the state have another noise than data from the prior."""

    def simulate(self, params, shapes, rng):
        _, state = super().simulate(params, shapes, rng)
        return {"X": state["mean"] + 2 * rng.standard_normal(shapes["X"]) / np.sqrt(state["tau"])}, state


class Nothing(Means):
    """Never moves."""

    def draw_mean(self, state, x, known, params, rng):
        pass

    def draw_tau(self, state, x, known, params, rng):
        pass


@pytest.mark.long
@pytest.mark.parametrize(
    "model", every([Narrow, OtherPrior, CountsGaps, Blind, OtherData], 3), ids=lambda m: m.__name__
)
def test_geweke(model):
    caught(model, "geweke", "trial “default”", "p = ")


class LeavesOne(Means):
    """One of the means stays where it is: at its prior, if it came from there."""

    def draw_mean(self, state, x, known, params, rng):
        last = state["mean"][-1]
        super().draw_mean(state, x, known, params, rng)
        state["mean"][-1] = last


def test_geweke_finds_what_never_moves():
    caught(Nothing, "geweke", "“tau”", "never change in 20 chains")
    caught(LeavesOne, "geweke", "“mean” (1 of ", "varies in the prior and never changes")


@pytest.mark.parametrize("model", [FarTooNarrow, CountsGaps, Nothing], ids=lambda m: m.__name__)
def test_calibration(model):
    caught(model, "calibration", "ranks of", "of 48")


@pytest.mark.slow
def test_small_faults_at_full_level():
    class Slight(Means):
        def draw_mean(self, state, x, known, params, rng):
            precision = params["spread"] ** -2 + state["tau"] * known.sum(axis=0)
            centre = state["tau"] * x.sum(axis=0) / precision
            state["mean"] = centre + 0.93 * rng.standard_normal(len(centre)) / np.sqrt(precision)

    (check,) = checks_for(Slight, only=["geweke"], level="full")
    with pytest.raises(AssertionError, match="trial"):
        check()


@pytest.mark.slow
def test_right_ones_pass_for_other_seeds():
    for seed in range(2, 8):
        for check in checks_for(Means, only=["geweke", "calibration"], seed=seed):
            check()


def test_does_not_apply():
    skipped(Bound, "geweke")
    skipped(Bound, "calibration")


def test_comparison_has_the_stated_error():
    """Equal laws, slow chains: the p values are those of chance."""
    rng = np.random.default_rng(3)
    low = 0
    for _ in range(60):
        base = rng.standard_normal((500, 2))
        chains = np.repeat(rng.standard_normal((20, 10, 2)), 6, axis=1)
        _, p_values, _ = prior.compare((["a"], ["b"]), base, chains)
        low += int((p_values < 0.05).sum())
    assert 60 * 5 * 0.05 * 0.3 < low < 60 * 5 * 0.05 * 2.5
