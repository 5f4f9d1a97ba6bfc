"""One sweep of the sampler (NOTES.md), cut into slices of like work."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Clock, Params, State
from plaidwork.plugins.rank_factor import mixture, rows
from plaidwork.plugins.rank_factor.density import label_values, log_density
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.labels import add_score_terms, draw_scores
from plaidwork.plugins.rank_factor.kernels.solve import outer_packed, packed_size
from plaidwork.plugins.rank_factor.newcomers import draw_new, new_terms
from plaidwork.plugins.rank_factor.scaling import draw_scales
from plaidwork.plugins.rank_factor.setup import Setup

STAGES = ("rows", "scores", "measure", "new")
PART = 10_000_000
"""Work of one part, some 10 ms; in units of about a nanosecond."""
SLICE = 30_000_000
"""Work after which a slice ends."""
NEW_BEFORE = 15
"""Sweeps before the end of the warm-up in which the scores of new samples settle."""


def cell_work(k: int) -> int:
    """Work on a cell: a comparison or two, and its part of the precisions."""
    return 60 + packed_size(k) // 4


def sample_work(setup: Setup, k: int) -> int:
    """Work on the scores of a sample."""
    return 200 + k**3 // 2 + (10 * k * setup.shape[0] if setup.pairs is not None else 10 * k)


def parts_of(stage: str, setup: Setup, k: int) -> tuple[int, int, int]:
    """(end, size of a part, its work) of a stage."""
    d, n, _ = setup.shape
    if stage == "scores":
        each, end = sample_work(setup, k), n
    else:
        cells = n if stage != "new" or setup.test_cells is None else setup.test_cells.size
        each, end = cells * (cell_work(k) if stage != "measure" else 10 + k // 4), d
    size = max(1, min(end, PART // each))
    return end, size, size * each


def advance(
    state: State, setup: Setup, params: Params, rng: np.random.Generator, clock: Clock
) -> dict[str, float] | None:
    """The next slice; the traces when it ends the sweep."""
    k, spent = state["z"].shape[1], 0
    zz = np.empty((0, 0))
    while spent < SLICE:
        stage, lo = STAGES[state["stage"]], state["at"]
        if stage == "rows" and not len(zz):
            zz = outer_packed(state["z"])
        if lo == 0:
            _begin(stage, state, setup, params, rng, clock)
        end, size, work = parts_of(stage, setup, k)
        hi = min(end, lo + size)
        _part(stage, state, setup, params, rng, lo, hi, zz)
        spent += work
        state["at"] = hi
        if hi < end:
            continue
        _end(stage, state, setup, params, rng)
        state["at"], state["stage"] = 0, state["stage"] + 1
        if STAGES[state["stage"] - 1] == "measure" and not new_now(setup, clock):
            state["stage"] = len(STAGES)
        if state["stage"] == len(STAGES):
            state["stage"] = 0
            return traces_of(state, setup, params)
    return None


def new_now(setup: Setup, clock: Clock) -> bool:
    """Whether new samples are scored in this sweep."""
    return setup.test_cells is not None and clock.sweep >= clock.warmup - NEW_BEFORE


def _begin(stage, state, setup, params, rng, clock) -> None:
    if stage == "rows":
        rows.begin_rows(state, setup)
    elif stage == "scores":
        if len(state["psi"]) > 1 and clock.sweep >= mixture.FROZEN_SWEEPS:
            mixture.draw_groups(state, setup, params, rng)
        mixture.draw_label_terms(state, setup, params, rng)
    elif stage == "new":
        size, k = state["new_z"].shape
        state["precision"], state["linear"] = np.zeros((size, packed_size(k))), np.zeros((size, k))


def _part(stage, state, setup, params, rng, lo, hi, zz) -> None:
    if stage == "rows":
        rows.draw_part(state, setup, params, rng, lo, hi, zz)
    elif stage == "scores":
        draw_part(state, setup, params, rng, lo, hi)
    elif stage == "measure":
        rows.measure_part(state, setup, params, rng, lo, hi)
    else:
        eps = rows.step_margin(setup, params)
        p, h = new_terms(state, setup, setup.test_cells, state["new_z"], eps, lo, hi, rng)
        state["precision"] += p
        state["linear"] += h


def score_part(state: State, setup: Setup, params: Params, lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
    """Precision (hi - lo, packed) and linear term (hi - lo, K) of the scores, without the comparisons of samples."""
    every = state["precision"]
    precision = np.repeat(every, hi - lo, axis=0) if len(every) == 1 else every[lo:hi].copy()
    linear = state["linear"][lo:hi].copy()
    add_score_terms(
        lo, hi, precision, linear, state["t"], state["psi"], state["mu"], setup.y, state["label_kappa"],
        state["beta"], params["label_weight"],
    )  # fmt: skip
    return precision, linear


def draw_part(state: State, setup: Setup, params: Params, rng: np.random.Generator, lo: int, hi: int) -> None:
    """Draw the scores of samples lo to hi."""
    precision, linear = score_part(state, setup, params, lo, hi)
    if setup.pairs is None:
        draw_scores(rng, lo, hi, precision, linear, state["z"])
        return
    pairs, eps = setup.pairs, rows.step_margin(setup, params)
    pair_kernels.draw_samples(
        rng, lo, hi, precision, linear, pairs.first, pairs.row, pairs.other, pairs.pair, pairs.sign,
        state["kappa"], state["w"], state["a"], eps, state["z"],
    )  # fmt: skip


def _end(stage, state, setup, params, rng) -> None:
    if stage == "rows":
        rows.end_rows(state, setup, params, rng)
    elif stage == "scores":
        mixture.draw_coefficients(state, setup, params, rng)
        if len(state["psi"]) > 1:
            mixture.draw_mixture(state, params, rng)
        else:
            draw_scales(state, params, rng)
    elif stage == "new":
        precision, linear = state["precision"], state["linear"]
        draw = {**state, "log_weight": mixture.log_weights(state)}
        state["new_f"] = draw_new(draw, setup, state["new_z"], precision, linear, rng)
    if stage in ("scores", "new"):
        for name in ("precision", "linear", "kappa", "w"):
            state[name] = np.zeros((0,) * state[name].ndim)


def predicted(f: np.ndarray) -> np.ndarray:
    """Class numbers from the values (N, G) of the classifiers."""
    return (f[:, 0] > 0).astype(np.int64) if f.shape[1] == 1 else f.argmax(axis=1)


def training_error(f: np.ndarray, setup: Setup) -> float:
    """Share of wrong classes among the labelled training samples."""
    codes = setup.codes[setup.train]
    return float((predicted(f) != codes)[codes >= 0].mean())


def label_hinge(f: np.ndarray, setup: Setup) -> float:
    """Mean of max(0, 1 - y f) over the labels; ``f`` (N, G) as in :func:`training_error`."""
    return float(np.maximum(0.0, 1.0 - setup.y * f)[setup.y != 0].mean())


def traces_of(state: State, setup: Setup, params: Params) -> dict[str, float]:
    """Traces after a sweep."""
    groups = len(state["psi"])
    total = state["measured"].sum(axis=0)
    rank = setup.likelihood != "gaussian"
    own = np.bincount(state["t"], minlength=groups)
    return {
        "log_density": log_density(state, setup, params),
        "hinge": float(total[1] / total[0]) if rank else float("nan"),
        "ordered": float(total[2] / total[0]) if rank else float("nan"),
        "noise": float("nan") if rank else float(np.sqrt(1.0 / state["gamma"]).mean()),
        "error": training_error(label_values(state), setup),
        "label_hinge": label_hinge(label_values(state), setup),
        "loadings": float(np.median(np.sqrt((state["a"] ** 2).sum(axis=1)))),
        "coefficients": float(np.sqrt((state["beta"] ** 2).sum())),
        "groups": float((own > 0).sum()) if groups > 1 else float("nan"),
        "alpha": float(state["alpha"]) if groups > 1 else float("nan"),
    }
