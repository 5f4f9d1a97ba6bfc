"""Models that cannot bear data or settings at the edge, planted and found."""

import warnings

import numpy as np
import pytest
from conforming import Means
from faults import caught, checks, respec
from sparing import every

from plaidwork.core.api import Hyperparameter, Result
from plaidwork.core.checks import CheckFailed


def starting(change):
    class Faulty(Means):
        def init(self, data, params, rng):
            return change(super().init(data, params, rng), *_read(data))

    return Faulty


def _read(data):
    return data["X"].values, data["X"].observed


def divided(state, x, known):
    """Standardises, without a thought of columns that are constant."""
    return state | {"mean": (x / x.std(axis=0)).mean(axis=0)}


def second(state, x, known):
    return state | {"mean": state["mean"] + x[1]}


def full(state, x, known):
    assert known.any(axis=1).all()
    return state


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "case", "words"),
    every(
        [
            (divided, "constant column", ("RuntimeWarning", "in divided")),
            (divided, "one row", ("RuntimeWarning",)),
            (second, "one row", ("IndexError", "in second")),
            (second, "one cell", ("IndexError",)),
            (full, "empty row", ("AssertionError", "in full")),
        ],
        2,
    ),
)
def test_degenerate_data(change, case, words):
    caught(starting(change), "degenerate_data", *words, case=f"[{case}]")


class NotFinite(Means):
    """Swallows the warning and hands on NaN."""

    def summarise(self, kept, data, params):
        with np.errstate(all="ignore"):
            spread = data["X"].values.mean(axis=0) / data["X"].values.std(axis=0)
        return super().summarise(kept, data, params) | {"ratio": Result(spread, ("feature",))}


class NotFiniteDraw(Means):
    def draws(self, state, data, params):
        with np.errstate(all="ignore"):
            return super().draws(state, data, params) | {"tau": 1 / data["X"].values.std()}


class Warning(Means):
    def step(self, state, data, params, rng, clock):
        if data["X"].values.std() == 0:
            warnings.warn("constant data", UserWarning, stacklevel=2)
        return super().step(state, data, params, rng, clock)


@pytest.mark.slow
def test_numbers_that_are_not_finite():
    caught(NotFinite, "degenerate_data", "“ratio” is not finite", case="[constant]")
    caught(
        NotFiniteDraw, "degenerate_data", "“tau” is inf, a draw is made of finite numbers", case="[constant]"
    )


@pytest.mark.long
def test_a_warning():
    caught(Warning, "degenerate_data", "UserWarning: constant data", case="[constant]")


@pytest.mark.long
def test_refusing_is_fine():
    """``Means`` refuses a matrix without a known cell, by ``validate``."""
    for item in checks(Means, "degenerate_data"):
        item()


class Dividing(Means):
    spec = respec(
        hyperparameters=(*Means.spec.hyperparameters, Hyperparameter("step", "int", 1, minimum=0))
    ).spec

    def init(self, data, params, rng):
        return super().init(data, params, rng) | {"part": 1 / params["step"]}


class Choosing(Means):
    def init(self, data, params, rng):
        if params["start"] == "mean" and len(params["shift"]) > 1:
            raise KeyError(params["start"])
        return super().init(data, params, rng)


def test_settings_at_their_bounds():
    caught(Dividing, "setting_bounds", "ZeroDivisionError", case="[step=0]")
    caught(Choosing, "setting_bounds", "KeyError", case="[shift=0, 0, 1]")


def test_settings_are_tried_where_they_matter():
    names = [item.id for item in checks(Means, "setting_bounds")]
    assert {
        "setting_bounds[spread=1e-06]",
        "setting_bounds[spread=10000.0]",
        "setting_bounds[start=mean]",
    } <= set(names)
    with pytest.raises(CheckFailed, match="shift"):
        next(c for c in checks(Reading, "setting_bounds") if c.id == "setting_bounds[shift=]")()


class Reading(Means):
    def init(self, data, params, rng):
        if params["start"] == "mean":
            raise RuntimeError("shift is read")
        return super().init(data, params, rng)
