"""One sweep, cut into slices of like work, in the order of NOTES.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from plaidwork.core.api import ModelData, Stage
from plaidwork.plugins.group_factor import (
    blocks,
    grams,
    growing,
    kernels,
    passing,
    products,
    smooth,
    stochastic,
    updates,
    weak,
)
from plaidwork.plugins.group_factor.bound import bound_terms
from plaidwork.plugins.group_factor.cells import views_of
from plaidwork.plugins.group_factor.start import advance_start
from plaidwork.plugins.group_factor.state import Fields, Settings

SLICE = 200_000_000
"""Multiplications and additions in one slice, some 5 to 20 ms."""
LOCAL_WORK = 200
"""What a cell costs in the last stage, in the same unit."""


def stages(
    state: Fields, data: ModelData, params: Settings, sweep: int, rng: np.random.Generator
) -> Sequence[Stage]:
    """The stages of a sweep, each some tens of milliseconds a slice; longer where views are read from a file."""
    (k, n), d = state["z"].shape, len(state["lik"])
    columns = products.width(k) + k
    small = all(
        view.summed for view in views_of(state)
    )  # then no stage of features but the products goes through the cells
    found = []
    if "start" in state:
        found.append(Stage("start", lambda lo, hi: advance_start(state, data, params), None, 1, whole=False))
    if weak.drops_now(sweep, params):
        found.append(weak.stage(state, params))
    if growing.grows_now(sweep, params):
        found.append(
            Stage("more factors", lambda lo, hi: growing.advance(state, params, rng), None, 1, whole=False)
        )
    if found or state["stale"]:
        found += passing.fresh_products(
            state, data, lambda lo, hi: blocks.update_products(state, lo, hi, True)
        )
    steps = stochastic.now(sweep, params)
    return [
        *found,
        Stage(
            "weights",
            lambda lo, hi: updates.update_weights(state, params, lo, hi),
            d,
            max(_slice(columns * (1 if small else n)), grams.FEATURES if grams.pay(state) else 1),
            parallel=True,
        ),
        _at_once("slab precisions", lambda: updates.update_alpha(state, params)),
        *(
            [_at_once("shares", lambda: updates.update_theta(state, params))]
            if sweep >= params["theta_start"]
            else []
        ),
        *_scores(state, data, params, sweep, rng),
        _at_once("precision of the scores", lambda: updates.update_score_precision(state, params)),
        Stage(
            "local",
            lambda lo, hi: (stochastic.update_local if steps else updates.update_local)(
                state, params, lo, hi
            ),
            d,
            d if all(view.stays for view in views_of(state)) else _slice(n * (3 * k + LOCAL_WORK)),
            parallel=True,
        ),
    ]


def _scores(
    state: Fields, data: ModelData, params: Settings, sweep: int, rng: np.random.Generator
) -> Sequence[Stage]:
    """The stages of the factor values."""
    if "smooth" in state:
        return smooth.stages(state, sweep)
    steps = stochastic.now(sweep, params)
    through = stochastic.stage(state, data, params, sweep, rng) if steps else passing.scores(state, data)
    if through is not None:
        return [through]
    (k, n), d = state["z"].shape, len(state["lik"])
    size = _slice(d * (products.width(k) + k))
    work = partial(updates.update_scores, state)
    return [Stage("scores", work, n, lambda lo: _samples_to(state, lo, size), parallel=True)]


def _slice(work: int) -> int:
    """Units of one slice, when a unit takes so many multiplications."""
    return max(1, SLICE // work)


def _samples_to(state: Fields, lo: int, size: int) -> int:
    """Where a slice of about ``size`` samples from ``lo`` on ends: with a stretch of those that are worked at once."""
    if not grams.pay(state):
        return lo + size
    return (lo // grams.SAMPLES + max(1, round(size / grams.SAMPLES))) * grams.SAMPLES


def _at_once(name: str, work: Callable[[], None]) -> Stage:
    """A stage that takes next to no time."""
    return Stage(name, lambda lo, hi: work(), slice=1000)


def bring_up_to_date(state: Fields, before: Fields) -> None:
    """What follows from means and rates that have been carried on; the variances of the weights stay."""
    state["zz"] = state["z"] ** 2 + state["v"]
    state["ww"] = state["w"] ** 2 + np.maximum(before["ww"] - before["w"] ** 2, 0.0)
    state["scale"] = np.where(state["kind"] == kernels.GAUSSIAN, state["tau_shape"] / state["tau_rate"], 1.0)


def traces_of(state: Fields, params: Settings) -> dict[str, float]:
    """Traces after a sweep."""
    terms = bound_terms(state, params)
    return {
        "elbo": sum(terms.values()),
        **terms,
        "n_factors": float(len(state["z"])),
        "active": float((state["gamma"] > 0.5).mean()),
    }
