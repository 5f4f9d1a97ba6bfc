"""Exact moves of scales, along which updates of one block at a time only creep (NOTES.md has the exponents).

All are generalised Gibbs steps (Liu and Sabatti 2000, Biometrika 87, theorem 1): a part of the state is multiplied by powers of
s, and s is drawn from its density under the target, the Haar measure ds / s included, or moved by a Metropolis step.
"""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels.random import gigs
from plaidwork.plugins.rank_factor.kernels.solve import diagonal, draw_normal, outer_packed
from plaidwork.plugins.rank_factor.mixture import size_precision
from plaidwork.plugins.rank_factor.state import Fields, Floats, SamplerSettings, Scaled

LEAST_RATE, LEAST_SCALE = 1e-100, 1e-8
Moves = tuple[tuple[Scaled, Floats], ...]
ROW_SHARE, ROW_STEPS = 0.25, (0.1, 1.0)
"""Share of the rows whose scale is tried in a sweep, with a mixture of planes; least and greatest sd of log s."""


def loading_precision(params: SamplerSettings) -> float:
    """Of the normal factor that bounds the loadings by ranks, with a single plane; 0 without."""
    size = params["loading_size"] * params["margin"]
    bounded = size and params["likelihood"] == "rank" and params["classifier"] == "linear"
    return size**-2.0 if bounded else 0.0


def column_precision(state: Fields, params: SamplerSettings) -> Floats:
    """(packed,) precision of the scales of :func:`draw_column_scales`."""
    precision, at = state["scale_precision"].copy(), diagonal(len(state["phi"]))
    precision[at] += 2.0 * state["phi"] * state["phi_rate"] + LEAST_RATE
    precision[at] += loading_precision(params) * (state["a"] ** 2).sum(axis=0)
    return precision


def draw_column_scales(state: Fields, params: SamplerSettings, rng: np.random.Generator) -> None:
    """Columns of the loadings times s, their prior variances times s^2, given the weights of the comparisons (or noise).

    Jointly normal: precision sum_i (a_i a_i') P_i + 2 diag(Phi Phi~) + diag(a' a) / size^2, linear term sum_i a_i h_i. What the rows say to the
    scores follows. Without it the scale of a factor that is not in use hardly moves.
    """
    s = state["scale_linear"].copy()
    draw_normal(rng, column_precision(state, params), s, len(s))
    s = np.where(np.abs(s) < LEAST_SCALE, LEAST_SCALE, s)
    moves: Moves = (("a", s), ("xi", s**2), ("eta", s**-2.0), ("phi", s**2), ("linear", s))
    for name, factor in moves:
        state[name] = state[name] * factor
    state["precision"] *= outer_packed(s[None])


def scale_terms(state: Fields, params: SamplerSettings) -> tuple[np.ndarray, np.ndarray, float]:
    """(steep, back, power): s_k of :func:`draw_scales` has the density s^(power - 1) exp(-(steep_k s^2 + back_k / s^2) / 2)."""
    (n, k), g = state["z"].shape, state["beta"].shape[1]
    steep = 2.0 * state["phi"] * state["phi_rate"] + loading_precision(params) * (state["a"] ** 2).sum(axis=0)
    back = (state["z"] ** 2).sum(axis=0)
    power = 1.0 - n
    if "f" not in state:  # labels that are cut from the scores do not hold them
        back = back + 2.0 * state["b_phi"][0] @ state["e"][0, :, :k]
        steep = steep + size_precision(params) * (state["beta"][0, :, :k] ** 2).sum(axis=0)
        power -= 2.0 * params["coefficient_rate"] * g
    return steep, back, power


def draw_scales(state: Fields, params: SamplerSettings, rng: np.random.Generator) -> None:
    """Loadings of each factor times s, its scores by s, its coefficients times s; of a single plane.

    Values, hinges and decisions stay as they are, so that priors alone decide: s^2 is generalised inverse Gaussian.
    """
    steep, back, power = scale_terms(state, params)
    k = len(steep)
    steep = np.maximum(steep, LEAST_RATE)
    s = np.sqrt(gigs(rng, steep, back, 0.5 * power))
    moves: Moves = (("a", s), ("xi", s**2), ("eta", s**-2.0), ("phi", s**2))
    for name, factor in moves:
        state[name] = state[name] * factor
    state["z"], state["new_z"] = state["z"] / s, state["new_z"] / s
    if "f" in state:
        return
    for part, factor in ((state["beta"], s), (state["b"], s**2), (state["e"], s**-2.0)):
        part[:, :, :k] *= factor


def moves_more(params: SamplerSettings) -> bool:
    """Whether the further moves of scales are made."""
    return params["interweave"] and params["classifier"] != "nonlinear"


def row_gain(
    state: Fields,
    params: SamplerSettings,
    at: np.ndarray,
    top: np.ndarray,
    log_s: np.ndarray,
    hinge: np.ndarray,
) -> np.ndarray:
    """Log density of log s of rows ``at`` less that of 0; ``hinge`` is what their hinges grow by."""
    c, k = state["c"][at], state["a"].shape[1]
    s = np.exp(log_s)
    used = np.arange(c.shape[1]) < top[:, None]
    gain = (top - 2.0 * params["loading_rate"] * k) * log_s - 2.0 * hinge
    squares = ((c * used) ** 2).sum(axis=1) / params["threshold_sd"] ** 2
    squares += loading_precision(params) * (state["a"][at] ** 2).sum(axis=1)
    gain -= 0.5 * (s**2 - 1.0) * squares
    return np.asarray(gain - (s**-2.0 - 1.0) * (state["eta"][at] @ state["phi"]))


def propose_row_scales(
    state: Fields,
    params: SamplerSettings,
    rng: np.random.Generator,
    lo: int,
    levels: np.ndarray,
    top: np.ndarray,
    w: np.ndarray,
    eps: float,
    found: np.ndarray,
) -> None:
    """Loadings and thresholds of some rows times s, their prior variances times s^2: a Metropolis step on log s.

    The weights of the comparisons are integrated out. ``levels``, ``top`` and ``w`` (rows, N) are those of the rows from
    ``lo`` on, ``found`` what :func:`kernels.levels.measure` says of them; it is brought up to date. A row whose levels the
    scores keep apart has a flat likelihood upwards, along which single blocks get nowhere.
    """
    rows = np.arange(len(w)) if moves_more(params) else np.flatnonzero(rng.random(len(w)) < ROW_SHARE)
    low, high = ROW_STEPS
    log_s = low * (high / low) ** rng.random(len(rows)) * rng.standard_normal(len(rows))
    log_u = np.log1p(-rng.random(len(rows)))
    if not len(rows):
        return
    s, at = np.exp(log_s), lo + rows
    tried = np.empty((len(rows), 4))
    level_kernels.measure_scaled(levels, top, w, state["c"][lo : lo + len(w)], rows, s, eps, tried)
    gain = row_gain(state, params, at, top[rows], log_s, tried[:, 1] - found[rows, 1])
    taken = log_u < gain
    at, s = at[taken], s[taken][:, None]
    found[rows[taken]] = tried[taken]
    moves: Moves = (("a", s), ("c", s), ("xi", s**2), ("eta", s**-2.0))
    for name, factor in moves:
        state[name][at] *= factor
