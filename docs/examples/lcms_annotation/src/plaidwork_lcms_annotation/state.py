"""The state of a chain, and the numbers of its law."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from plaidwork.core.api import Layout, ModelData, Params, Part, State
from plaidwork_lcms_annotation.groups import N_COUNTERS, Law, Seen, Work, log_background, log_errors, rebuild
from plaidwork_lcms_annotation.patterns import Floats
from plaidwork_lcms_annotation.peaks import LISTS, Lists, prepared_lists

PPM, RT_SD, RATIO_SD, BIAS = range(4)
"""Places of the scales in a state."""
SCALE_SPREAD = 0.5
"""Prior standard deviation of the logarithm of a scale that is inferred."""
BIAS_SPREAD = 2.0
"""Prior standard deviation, in ppm, of the error that all masses share, where it is inferred."""
BACKGROUND_PRIOR = (3.0, 7.0)
"""Beta prior of the share of background where it is inferred."""
ALPHA_PRIOR = (2.0, 0.2)
"""Shape and rate of the gamma prior of alpha where it is inferred."""
PRIORS = (*LISTS, "priors", "run_start", "run_end", "level", "level_spread")
"""Settings on which :func:`prepared_terms` depends."""


class Terms(NamedTuple):
    """The data as the densities take them, and what is fixed of the prior."""

    lists: Lists
    seen: Seen
    flat: Floats
    """(N,) log density of mass and time of each peak as background."""
    middle: float
    """Middle of the run in s."""
    time_prior: float
    level: float
    """Prior mean of a log intensity."""
    height_prior: float


def prior_numbers(data: ModelData, params: Params, lists: Lists) -> tuple[float, float, float, float]:
    """Start and end of the run in s, mean and spread of the log intensities: given, or those of the data."""
    if params["priors"] == "given":
        return params["run_start"], params["run_end"], params["level"], params["level_spread"]
    peaks = lists.peaks
    times, heights = peaks.rt[peaks.seen], peaks.height[peaks.seen]
    low, high = float(times.min()), float(times.max())
    if high - low < 1.0:  # a run of a single moment
        low, high = low - 0.5, high + 0.5
    return low, high, float(heights.mean()), max(1.5 * float(heights.std()), 0.5)


def prepared_terms(data: ModelData, params: Params) -> Terms:
    """Made once for all chains."""
    lists = data.prepared(prepared_lists, params, LISTS)
    peaks = lists.peaks
    start, end, level, spread = prior_numbers(data, params, lists)
    low, high = math.log(params["mz_low"]), math.log(params["mz_high"])
    inside = (peaks.log_mz >= low) & (peaks.log_mz <= high) & (peaks.rt >= start) & (peaks.rt <= end)
    each = np.where(inside, -math.log(high - low) - math.log(end - start), -np.inf)
    middle = 0.5 * (start + end)
    seen = Seen(
        np.where(peaks.seen, peaks.rt - middle, 0.0),
        np.where(peaks.seen, peaks.height - level, 0.0),
        peaks.seen,
    )
    flat = np.where(peaks.seen, each, 0.0).sum(axis=1)
    return Terms(lists, seen, flat, middle, (0.25 * (end - start)) ** 2, level, spread**2)


def terms_of(data: ModelData, params: Params) -> Terms:
    """:func:`prepared_terms`, made at the first call."""
    return data.prepared(prepared_terms, params, PRIORS)


def law_of(state: State, terms: Terms, scales: Floats | None = None) -> Law:
    """The numbers of the densities at the state, or at other scales (4,)."""
    scales = state["scales"] if scales is None else scales
    return Law(
        state["background"],
        state["alpha"],
        terms.time_prior,
        float(scales[RT_SD] ** 2),
        terms.height_prior,
        float(scales[RATIO_SD] ** 2),
    )


def work_of(state: State) -> Work:
    """The arrays of the kernels; no copy."""
    return Work(cluster=state["cluster"], **state["work"])


def new_state(cluster: Any, position: Any, params: Params) -> State:
    """A state of labels and positions (N,), -1 for background; :func:`ready` has to follow."""
    scales = np.array([params["ppm"], params["rt_sd"], params["ratio_sd"], 0.0])
    return {
        "cluster": np.array(cluster, np.int64),
        "position": np.array(position, np.int64),
        "alpha": float(params["alpha"]),
        "background": float(params["background"]),
        "scales": scales,
        "steps": np.array([0.1, 0.1, 0.1, 0.3]),
        "work": {},
    }


def ready(state: State, terms: Terms) -> None:
    """The arrays of the kernels for these data: made where sizes differ, clusters and sums anew."""
    lists, n = terms.lists, len(state["cluster"])
    near, (n_peaks, replicates) = lists.candidates, lists.peaks.seen.shape
    assert n == n_peaks, "a state of other data"
    slots, adducts, formulas = len(near.active) + 1, len(lists.adducts), len(lists.texts)
    shapes: dict[str, tuple[int, ...]] = {
        "choice": (n,), "size": (slots,), "formula": (slots,), "head": (slots,), "after": (n,), "before": (n,),
        "first": (formulas,), "following": (slots,), "preceding": (slots,), "free": (slots,),
        "times": (slots, replicates, 2), "heights": (slots, adducts, replicates, 2), "mass": (len(near.position),),
        "back": (n,), "list": (n,), "picks": (3, n), "at": (N_COUNTERS,),
    }  # fmt: skip
    floats = {"times", "heights", "mass", "back"}
    work = state["work"]
    for name, shape in shapes.items():
        if name not in work or work[name].shape != shape:
            work[name] = np.zeros(shape, np.float64 if name in floats else np.int64)
    weigh_terms(state, terms, state["scales"], work["mass"], work["back"])
    rebuild(work_of(state), terms.seen, near, lists.theory, state["position"])


def layout_of(terms: Terms) -> Layout:
    """The ranges of labels and of the lists that the kernels keep of blocks: of N peaks, F formulas and S blocks there may be."""
    lists, near = terms.lists, terms.lists.candidates
    peaks, slots = len(lists.peaks.seen), len(near.active) + 1
    below = {
        "position": int(near.position.max(initial=-1)) + 1, "cluster": slots, "work.choice": len(near.position), "work.size": peaks + 1,
        "work.formula": len(lists.texts), **{f"work.{name}": peaks for name in ("head", "after", "before", "list", "picks")},
        **{f"work.{name}": slots for name in ("first", "following", "preceding", "free")},
    }  # fmt: skip
    return {
        **{place: Part(low=-1, below=number) for place, number in below.items()},
        "work.at": Part(low=0, below=2**40),
    }


def weigh_terms(state: State, terms: Terms, scales: Floats, mass: Floats, back: Floats) -> None:
    """Log densities of the errors of mass and of the background at some scales, in place."""
    near, lists = terms.lists.candidates, terms.lists
    log_errors(
        near.off, lists.peaks.seen, near.first, mass, scales[PPM] * 1e-6, scales[BIAS] * 1e-6, lists.window
    )
    log_background(terms.seen, terms.flat, law_of(state, terms, scales), back)
