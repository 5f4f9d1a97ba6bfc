"""q of thresholds, noise, loadings and their shrinkage, a few rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.solve import doubled, row_moments
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.shrinkage import scale_moments
from plaidwork.plugins.rank_factor.state import Q, Settings


@dataclass
class RowPart:
    """Rows lo to hi in the midst of a sweep: E[w], Var(w) (rows, N), weights of the comparisons with thresholds."""

    lo: int
    hi: int
    w: np.ndarray
    variance: np.ndarray
    below: np.ndarray
    above: np.ndarray


def full_second(state: Q, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, K, K) E[a a']."""
    return unpacked(q.a_second(state, lo, hi), state["a"].shape[1])


def unpacked(packed: np.ndarray, k: int) -> np.ndarray:
    """(n, K, K) symmetric matrices from (n, packed)."""
    position = np.zeros((k, k), np.int64)
    position[np.tril_indices(k)] = np.arange(packed.shape[1])
    position = np.maximum(position, position.T)
    return np.ascontiguousarray(packed[:, position])


def begin_part(state: Q, setup: Setup, lo: int, hi: int, zz: np.ndarray) -> RowPart:
    """Moments of w of some rows; ``zz`` (N, packed) is E[z z']."""
    w = state["a"][lo:hi] @ state["z"].T
    variance = doubled(q.a_second(state, lo, hi), state["a"].shape[1]) @ zz.T
    empty = np.empty((0, 0))
    if setup.pairs is None:
        variance = np.maximum(variance - w**2, 0.0)
    below, above = level_kernels.buffers(w.shape, 2) if setup.likelihood == "levels" else (empty, empty)
    return RowPart(lo, hi, w, variance, below, above)


def update_weights(state: Q, setup: Setup, params: Settings, part: RowPart) -> None:
    """The weights of the comparisons: levels in the part, pairs in the state."""
    eps, lo, hi = step_margin(setup, params), part.lo, part.hi
    if setup.likelihood == "levels":
        level, top = setup.ranks.values[lo:hi], setup.ranks.top[lo:hi]
        c, spread = state["c"][lo:hi], state["c_var"][lo:hi]
        level_kernels.mean_weights(level, top, part.w, part.variance, c, spread, eps, part.below, part.above)
    elif setup.pairs is not None:
        squares = pair_squares(state, setup, params, part)
        pair_kernels.mean_weights(lo, hi, setup.pairs.start, squares, state["kappa"])


def pair_squares(state: Q, setup: Setup, params: Settings, part: RowPart) -> np.ndarray:
    """E[u^2] of the pairs, of which those of the part are filled."""
    pairs, eps, lo, hi = setup.pairs, step_margin(setup, params), part.lo, part.hi
    assert pairs is not None
    out = np.empty(len(pairs.low))
    pair_kernels.mean_squares(
        lo, hi, pairs.start, pairs.low, pairs.high, part.w, part.variance, state["z"],
        full_second(state, lo, hi), eps, out,
    )  # fmt: skip
    return out


def update_own(state: Q, setup: Setup, params: Settings, part: RowPart) -> None:
    """q(c), or q(gamma)."""
    lo, hi = part.lo, part.hi
    if setup.likelihood == "levels":
        precision = np.full(state["c"][lo:hi].shape, params["threshold_sd"] ** -2)
        linear = np.zeros(precision.shape)
        level, eps = setup.ranks.values[lo:hi], step_margin(setup, params)
        level_kernels.threshold_terms(level, part.w, part.below, part.above, eps, precision, linear)
        state["c"][lo:hi], state["c_var"][lo:hi] = linear / precision, 1.0 / precision
    elif setup.likelihood == "gaussian":
        square = gaussian_squares(setup, part)
        state["squares"][lo:hi] = square
        state["gamma_rate"][lo:hi] = params["noise_rate"] + 0.5 * square


def gaussian_squares(setup: Setup, part: RowPart) -> np.ndarray:
    """(hi - lo,) expected sums of squared residuals."""
    known = setup.known[part.lo : part.hi]
    rest = (setup.x[part.lo : part.hi] - part.w) ** 2 + part.variance
    return (rest * known).sum(axis=1)


def update_loadings(state: Q, setup: Setup, params: Settings, part: RowPart, zz: np.ndarray) -> None:
    """q(a) of the rows."""
    lo, hi, z = part.lo, part.hi, state["z"]
    if setup.pairs is not None:
        pairs, eps = setup.pairs, step_margin(setup, params)
        touch = np.empty(part.w.shape)
        pair_kernels.touching(lo, hi, pairs.start, pairs.low, pairs.high, state["kappa"], touch)
        precision, linear = touch @ state["z_cov"], np.zeros((hi - lo, z.shape[1]))
        pair_kernels.row_terms(
            lo, hi, pairs.start, pairs.low, pairs.high, state["kappa"], z, eps, precision, linear
        )
    else:
        p, h = cell_terms(state, setup, params, part)
        precision, linear = p @ zz, h @ z
    row_moments(
        precision, linear, state["xi_inverse"][lo:hi], state["a"][lo:hi], state["a_cov"][lo:hi],
        state["a_log_det"][lo:hi],
    )  # fmt: skip


def cell_terms(state: Q, setup: Setup, params: Settings, part: RowPart) -> tuple[np.ndarray, np.ndarray]:
    """Precision and linear term of every w of the rows; not of pairs."""
    lo, hi = part.lo, part.hi
    if setup.likelihood == "gaussian":
        gamma = q.mean_of(state, "gamma")[lo:hi, None]
        return gamma * setup.known[lo:hi], gamma * setup.x[lo:hi]
    p, h = level_kernels.buffers(part.w.shape, 2)
    level, eps = setup.ranks.values[lo:hi], step_margin(setup, params)
    level_kernels.cell_terms(level, part.below, part.above, state["c"][lo:hi], eps, p, h)
    return p, h


def update_scales(state: Q, params: Settings, lo: int, hi: int) -> None:
    """q(xi) of the rows."""
    state["xi_eta"][lo:hi] = q.mean_of(state, "eta")[lo:hi]
    state["xi_square"][lo:hi] = q.squares_of(state["a"][lo:hi], state["a_cov"][lo:hi])
    mean, inverse, _ = scale_moments(
        state["xi_eta"][lo:hi], state["xi_square"][lo:hi], params["loading_shape"]
    )
    state["xi_mean"][lo:hi], state["xi_inverse"][lo:hi] = mean, inverse


def update_rates(state: Q, lo: int, hi: int) -> None:
    """q(eta) of the rows."""
    state["eta_rate"][lo:hi] = state["xi_mean"][lo:hi] + q.mean_of(state, "phi")


def pass_on(state: Q, setup: Setup, params: Settings, part: RowPart) -> None:
    """Add what the rows say to the scores."""
    lo, hi = part.lo, part.hi
    second = q.a_second(state, lo, hi)
    if setup.pairs is not None:
        pairs, p = setup.pairs, np.empty(part.w.shape)
        pair_kernels.touching(lo, hi, pairs.start, pairs.low, pairs.high, state["kappa"], p)
        state["w"][:, lo:hi] = state["z"] @ state["a"][lo:hi].T
        state["precision"] += p.T @ second
        return
    p, h = cell_terms(state, setup, params, part)
    if len(state["precision"]) == 1:
        state["precision"][0] += p[:, 0] @ second
    else:
        state["precision"] += p.T @ second
    state["linear"] += h.T @ state["a"][lo:hi]


def update_columns(state: Q) -> None:
    """q of the rates of the columns, then of all."""
    state["phi_rate"] = q.mean_of(state, "top") + q.mean_of(state, "eta").sum(axis=0)
    state["top_rate"] = 1.0 + float(q.mean_of(state, "phi").sum())


def measure_part(state: Q, setup: Setup, params: Settings, part: RowPart, given: bool = False) -> None:
    """Expected log hinges (or squares) of the rows into the state; with ``given`` at the weights as they are."""
    lo, hi, eps, found = part.lo, part.hi, step_margin(setup, params), np.empty((part.hi - part.lo, 4))
    if setup.likelihood == "gaussian":
        state["squares"][lo:hi] = gaussian_squares(setup, part)
        return
    if setup.pairs is not None:
        pairs = setup.pairs
        squares = pair_squares(state, setup, params, part)
        pair_kernels.bound(
            lo, hi, pairs.start, pairs.low, pairs.high, part.w, squares, eps, state["kappa"], given,
            state["hinges"],
        )  # fmt: skip
        pair_kernels.measure(lo, hi, pairs.start, pairs.low, pairs.high, part.w, eps, found)
    else:
        level, top = setup.ranks.values[lo:hi], setup.ranks.top[lo:hi]
        c, spread = state["c"][lo:hi], state["c_var"][lo:hi]
        level_kernels.bound(
            level, top, part.w, part.variance, c, spread, eps, part.below, part.above, given,
            state["hinges"][lo:hi],
        )  # fmt: skip
        level_kernels.measure(level, top, part.w, c, eps, found)
    state["measured"][lo:hi] = found
