"""The pass over the rows: comparisons or noise, thresholds, loadings and their shrinkage; a few rows at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.lanes import draw_rows
from plaidwork.plugins.rank_factor.kernels.random import draw_shrinkage, draw_weights
from plaidwork.plugins.rank_factor.kernels.solve import doubled, outer_packed, packed_size
from plaidwork.plugins.rank_factor.scaling import draw_column_scales, loading_precision, propose_row_scales
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, Floats, SamplerSettings, Settings, Shared


class Said(NamedTuple):
    """What rows that were drawn say to others.

    Attributes
    ----------
    p, h : (rows, N) precision and linear term of each value a' z; p (rows, 1) where it is the same for all samples, h None where the linear
        term is made otherwise.
    steep, pull : (packed,) and (K,) precision and linear term of the scales of the columns.
    """

    p: Floats
    h: Floats | None
    steep: Floats
    pull: Floats


def step_margin(setup: Setup, params: Settings) -> float:
    """eps of one comparison: half of it on either side of a threshold."""
    return float(params["margin"]) / (2.0 if setup.likelihood == "levels" else 1.0)


def begin_rows(state: Shared, setup: Setup) -> None:
    """Empty sums over rows of what they say to the scores."""
    d, n, _ = setup.shape
    k = state["a"].shape[1]
    shared = setup.likelihood == "gaussian" and setup.complete
    state["precision"] = np.zeros((1 if shared else n, packed_size(k)))
    state["linear"] = np.zeros((n, k))
    state["scale_precision"], state["scale_linear"] = np.zeros(packed_size(k)), np.zeros(k)
    if setup.pairs is not None:
        state["kappa"] = np.zeros(len(setup.pairs.low))
        state["w"] = np.zeros((n, d))


def add_rows(state: Fields, setup: Setup, lo: int, hi: int, p: np.ndarray, h: np.ndarray | None) -> None:
    """Add what rows lo to hi say to precision and linear term of the scores; p, h (hi - lo, N)."""
    outer = outer_packed(state["a"][lo:hi])
    if len(state["precision"]) == 1:
        state["precision"][0] += p[:, 0] @ outer
    else:
        state["precision"] += p.T @ outer
    if h is not None:
        state["linear"] += h.T @ state["a"][lo:hi]
    elif setup.likelihood == "gaussian":
        state["linear"] += setup.x[lo:hi].T @ (state["gamma"][lo:hi, None] * state["a"][lo:hi])


def add_scales(state: Fields, said: Said) -> None:
    """Add what some rows say to the scales of the columns."""
    state["scale_precision"] += said.steep
    state["scale_linear"] += said.pull


def draw_part(
    state: Fields,
    setup: Setup,
    params: SamplerSettings,
    rng: np.random.Generator,
    lo: int,
    hi: int,
    zz: np.ndarray,
) -> Said:
    """Draw everything of rows lo to hi; ``zz`` (N, packed) are the products z z', of values without gaps their sum (1, packed) will do."""
    draw = {"gaussian": _gaussian, "levels": _levels, "pairs": _pairs}[setup.likelihood]
    return draw(state, setup, params, rng, lo, hi, zz)


def residual_squares(state: Fields, setup: Setup, lo: int, hi: int, zz: Floats, xz: Floats) -> Floats:
    """(hi - lo,) sums of squared residuals of Gaussian rows; Z'Z ``zz`` (packed,) and X Z ``xz`` are used when no cell is missing."""
    a, x = state["a"][lo:hi], setup.x[lo:hi]
    if not setup.complete:
        squares: Floats = (((x - a @ state["z"].T) * setup.known[lo:hi]) ** 2).sum(axis=1)
        return squares
    square = np.einsum("ij,ij->i", x, x) - 2.0 * (xz * a).sum(axis=1)
    return np.maximum(square + outer_packed(a) @ doubled(zz, a.shape[1]), 0.0)


def _gaussian(
    state: Fields,
    setup: Setup,
    params: SamplerSettings,
    rng: np.random.Generator,
    lo: int,
    hi: int,
    zz: Floats,
) -> Said:
    z, x, known = state["z"], setup.x[lo:hi], setup.known[lo:hi]
    total, xz = zz.sum(axis=0), x @ z
    shape = params["noise_shape"] + 0.5 * known.sum(axis=1)
    rate = params["noise_rate"] + 0.5 * residual_squares(state, setup, lo, hi, total, xz)
    gamma = np.maximum(rng.standard_gamma(shape), 1e-100) / rate
    state["gamma"][lo:hi] = gamma
    precision = gamma[:, None] * (total if setup.complete else known @ zz)
    steep, pull = _loadings(state, params, rng, lo, hi, precision, gamma[:, None] * xz)
    return Said(gamma[:, None] if setup.complete else gamma[:, None] * known, None, steep, pull)


def _levels(
    state: Fields,
    setup: Setup,
    params: SamplerSettings,
    rng: np.random.Generator,
    lo: int,
    hi: int,
    zz: Floats,
) -> Said:
    assert setup.levels is not None
    z, eps = state["z"], step_margin(setup, params)
    level, top, c = setup.levels.values[lo:hi], setup.levels.top[lo:hi], state["c"][lo:hi]
    w = state["a"][lo:hi] @ z.T
    below, above, p, h = level_kernels.buffers(w.shape, 4)
    level_kernels.arguments(level, top, w, c, eps, below, above)
    draw_weights(rng, below)
    draw_weights(rng, above)
    draw_thresholds(c, level, w, below, above, eps, params, rng)
    level_kernels.cell_terms(level, below, above, c, eps, p, h)
    return Said(p, h, *_loadings(state, params, rng, lo, hi, p @ zz, h @ z))


def draw_thresholds(
    c: Floats, level: np.ndarray, w: Floats, below: Floats, above: Floats, eps: float, params: SamplerSettings,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw the thresholds ``c`` of some rows, in place."""
    precision = np.full(c.shape, params["threshold_sd"] ** -2)
    linear = np.zeros(c.shape)
    level_kernels.threshold_terms(level, w, below, above, eps, precision, linear)
    c[:] = linear / precision + rng.standard_normal(c.shape) / np.sqrt(precision)


def _pairs(
    state: Fields,
    setup: Setup,
    params: SamplerSettings,
    rng: np.random.Generator,
    lo: int,
    hi: int,
    zz: Floats,
) -> Said:
    assert setup.pairs is not None
    z, eps, pairs, kappa = state["z"], step_margin(setup, params), setup.pairs, state["kappa"]
    k = z.shape[1]
    w = state["a"][lo:hi] @ z.T
    pair_kernels.arguments(lo, hi, pairs.start, pairs.low, pairs.high, w, eps, kappa)
    draw_weights(rng, kappa[pairs.start[lo] : pairs.start[hi]])
    precision, linear = np.zeros((hi - lo, packed_size(k))), np.zeros((hi - lo, k))
    pair_kernels.row_terms(lo, hi, pairs.start, pairs.low, pairs.high, kappa, z, eps, precision, linear)
    steep, pull = _loadings(state, params, rng, lo, hi, precision, linear)
    state["w"][:, lo:hi] = z @ state["a"][lo:hi].T
    p = np.empty(w.shape)
    pair_kernels.touching(lo, hi, pairs.start, pairs.low, pairs.high, kappa, p)
    return Said(p, None, steep, pull)


def _loadings(
    state: Fields, params: SamplerSettings, rng: np.random.Generator, lo: int, hi: int, precision: Floats, linear: Floats
) -> tuple[Floats, Floats]:  # fmt: skip
    """Draw loadings of rows lo to hi, then their prior variances; returns what they say to the scales of the columns."""
    a, xi, eta = state["a"][lo:hi], state["xi"][lo:hi], state["eta"][lo:hi]
    steep = precision.copy()
    draw_rows(rng, precision, linear, 1.0 / xi + loading_precision(params), a)
    said = np.einsum("ij,ij->j", steep, outer_packed(a)), np.einsum("ij,ij->j", linear, a)
    rate = np.tile(state["phi"], (hi - lo, 1))
    draw_shrinkage(rng, a, xi, eta, rate, params["loading_shape"], params["loading_rate"])
    return said


def end_rows(state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator) -> None:
    """Draw the rates of the columns and of all of them, and with one plane the scales of the columns."""
    d, k = state["a"].shape
    shape = 0.5 + params["loading_rate"] * d
    drawn = rng.standard_gamma(shape, k) / (state["phi_rate"] + state["eta"].sum(axis=0))
    state["phi"] = np.maximum(drawn, 1e-100)
    state["phi_rate"] = max(rng.standard_gamma(0.5 + 0.5 * k) / (1.0 + float(state["phi"].sum())), 1e-100)
    if len(state["psi"]) > 1:
        return
    draw_column_scales(state, params, rng)
    if setup.pairs is not None:
        state["w"] = state["z"] @ state["a"].T


def measure_part(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, lo: int, hi: int
) -> None:
    """Hinges and orders of rows lo to hi under the present state, for the traces; scales of some rows with thresholds."""
    z = state["z"]
    if setup.likelihood == "gaussian":
        total = (z.T @ z)[np.tril_indices(z.shape[1])]
        state["squares"][lo:hi] = residual_squares(state, setup, lo, hi, total, setup.x[lo:hi] @ z)
        return
    w, eps = state["a"][lo:hi] @ z.T, step_margin(setup, params)
    found = np.empty((hi - lo, 4))
    if setup.pairs is not None:
        pairs = setup.pairs
        pair_kernels.measure(lo, hi, pairs.start, pairs.low, pairs.high, w, eps, found)
    elif setup.levels is not None:
        level, top = setup.levels.values[lo:hi], setup.levels.top[lo:hi]
        level_kernels.measure(level, top, w, state["c"][lo:hi], eps, found)
        propose_row_scales(state, params, rng, lo, level, top, w, eps, found)
    state["measured"][lo:hi] = found
