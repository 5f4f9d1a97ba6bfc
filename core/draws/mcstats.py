"""Convergence statistics of chains: rank-normalised R-hat, effective sample sizes, Monte Carlo error, intervals.

Every function takes (chain, draw, ...) arrays, chains of equal length, and works on all quantities of the trailing axes
at once. A quantity with a value that is not finite gets NaN, and so does what cannot be computed (fewer than 4 draws).
Source: Vehtari, Gelman, Simpson, Carpenter, Buerkner (2021), Bayesian Analysis 16(2), 667-718. Values equal those of
ArviZ, which also sets the conventions for short and constant chains.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_CHUNK = 2_000_000
"""Numbers worked on at once, which bounds the memory of the Fourier transforms."""


def rhat(values: np.ndarray) -> np.ndarray:
    """Rank-normalised split R-hat, the larger of the one for location and the folded one for scale: (...).

    NaN for fewer than 2 chains or 4 draws and for a quantity that never changes; infinite when every half chain is
    constant but not at one value.
    """
    return _apply(_rhat_rank, values, min_chains=2)


def ess_bulk(values: np.ndarray) -> np.ndarray:
    """Effective number of independent draws for the centre of the distribution: (...). Constant: all draws."""
    return _apply(lambda x: _ess(_z_scale(_split(x))), values)


def ess_tail(values: np.ndarray) -> np.ndarray:
    """Effective number of independent draws for the 5 % and the 95 % quantile, the smaller of the two: (...)."""
    return _apply(_ess_tail, values)


def ess_mean(values: np.ndarray) -> np.ndarray:
    """Effective number of independent draws for the mean: (...)."""
    return _apply(lambda x: _ess(_split(x)), values)


def mcse_mean(values: np.ndarray) -> np.ndarray:
    """Monte Carlo standard error of the mean over all draws, in the unit of the values: (...)."""
    return _apply(lambda x: np.std(x, axis=(1, 2), ddof=1) / np.sqrt(_ess(_split(x))), values)


def hdi(values: np.ndarray, prob: float = 0.94) -> np.ndarray:
    """Shortest interval that holds ``prob`` of all draws: (..., 2), NaN draws left out.

    NaN for a quantity without draws. Raises ``ValueError`` for a probability outside (0, 1].
    """
    if not 0 < prob <= 1:
        raise ValueError(f"prob must be above 0 and at most 1, got {prob}")
    values = _check(values)
    flat = values.reshape(values.shape[0] * values.shape[1], -1)
    out = np.full((flat.shape[1], 2), np.nan)
    for q, column in enumerate(flat.T):
        column = np.sort(column[~np.isnan(column)])
        if len(column):
            span = min(int(np.floor(prob * len(column))), len(column) - 1)
            low = int(np.argmin(column[span:] - column[: len(column) - span]))
            out[q] = column[low], column[low + span]
    return out.reshape(*values.shape[2:], 2)


def autocorrelation(values: np.ndarray, max_lag: int | None = None) -> np.ndarray:
    """Autocorrelation of each chain by lag: (chain, lag, ...), lag 0 first, up to ``max_lag``.

    The biased estimate (divided by the number of draws). NaN for constant chains and chains with a NaN.
    """
    values = _check(values)
    n_draws = values.shape[1]
    moved = np.moveaxis(values, 1, -1)
    finite = np.isfinite(moved).all(axis=-1, keepdims=True)
    cov = _autocovariance(np.where(finite, moved, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        out = np.where(finite & (cov[..., :1] > 0), cov / cov[..., :1], np.nan)
    n_lags = n_draws if max_lag is None else min(n_draws, max_lag + 1)
    return np.moveaxis(out[..., :n_lags], -1, 1)


def rank_histogram(values: np.ndarray, bins: int = 20) -> tuple[np.ndarray, float]:
    """How the ranks among all draws spread over each chain.

    Parameters
    ----------
    values : (chain, draw) of one quantity, all finite
    bins : bins of equal width over the ranks

    Returns
    -------
    counts : (chain, bins) int64, lowest ranks first
    expected : count in every bin when the chains agree
    """
    values = _check(values)
    if values.ndim != 2:
        raise ValueError(f"values must be (chain, draw), got shape {values.shape}")
    n_chains, n_draws = values.shape
    if values.size == 0:
        return np.zeros((n_chains, bins), np.int64), 0.0
    ranks = _average_ranks(values.reshape(1, -1)).reshape(values.shape)
    bin_of = np.minimum(((ranks - 0.5) * bins / values.size).astype(np.int64), bins - 1)
    counts = np.stack([np.bincount(row, minlength=bins) for row in bin_of])
    return counts, n_draws / bins


def _check(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.ndim < 2:
        raise ValueError(f"values must be (chain, draw, ...), got shape {values.shape}")
    return values


def _apply(
    statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray, min_chains: int = 1
) -> np.ndarray:
    """``statistic`` of (q, chain, draw) pieces, put together to the trailing shape of ``values``."""
    values = _check(values)
    n_chains, n_draws = values.shape[:2]
    shape = values.shape[2:]
    flat = np.moveaxis(values.reshape(n_chains, n_draws, -1), -1, 0)
    out = np.full(len(flat), np.nan)
    if n_chains >= min_chains and n_draws >= 4:
        finite = np.isfinite(flat).all(axis=(1, 2))
        wanted = np.flatnonzero(finite)
        step = max(1, _CHUNK // (n_chains * n_draws))
        for start in range(0, len(wanted), step):
            chosen = wanted[start : start + step]
            with np.errstate(invalid="ignore", divide="ignore"):
                out[chosen] = statistic(np.ascontiguousarray(flat[chosen]))
    return out.reshape(shape)[()]


def _split(x: np.ndarray) -> np.ndarray:
    """(q, chain, draw) -> (q, 2 chain, draw // 2); an odd draw in the middle is left out."""
    half = x.shape[2] // 2
    return np.concatenate([x[:, :, :half], x[:, :, -half:]], axis=1)


def _average_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1 along the last axis of (q, n); equal values share their mean rank."""
    n = x.shape[1]
    order = np.argsort(x, axis=1, kind="stable")
    ordered = np.take_along_axis(x, order, axis=1)
    position = np.arange(n)
    fresh = np.ones(x.shape, bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(fresh, position, 0), axis=1)
    closing = np.ones(x.shape, bool)
    closing[:, :-1] = fresh[:, 1:]
    last = np.minimum.accumulate(np.where(closing, position, n)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(x.shape)
    np.put_along_axis(ranks, order, (first + last) / 2.0 + 1.0, axis=1)
    return ranks


def _z_scale(x: np.ndarray) -> np.ndarray:
    """Normal scores of the pooled ranks (Blom's offset 3/8) of (q, chain, draw)."""
    from scipy.special import ndtri

    n = x.shape[1] * x.shape[2]
    ranks = _average_ranks(x.reshape(len(x), n))
    return ndtri((ranks - 0.375) / (n + 0.25)).reshape(x.shape)


def _constant(x: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    return x.max(axis=axis) - x.min(axis=axis) < np.finfo(float).resolution


def _plain_rhat(x: np.ndarray) -> np.ndarray:
    n_draws = x.shape[2]
    between = n_draws * np.var(x.mean(axis=2), axis=1, ddof=1)
    within = np.var(x, axis=2, ddof=1).mean(axis=1)
    out = np.sqrt((between / within + n_draws - 1) / n_draws)
    out = np.where(_constant(x, 2).all(axis=1), np.inf, out)
    return np.where(_constant(x, (1, 2)), np.nan, out)


def _rhat_rank(x: np.ndarray) -> np.ndarray:
    x = _split(x)
    folded = np.abs(x - np.median(x.reshape(len(x), -1), axis=1)[:, None, None])
    return np.fmax(_plain_rhat(_z_scale(x)), _plain_rhat(_z_scale(folded)))


def _autocovariance(x: np.ndarray) -> np.ndarray:
    """Biased autocovariance along the last axis, all lags."""
    n = x.shape[-1]
    n_fft = 1 << (2 * n - 1).bit_length()
    transform = np.fft.rfft(x - x.mean(axis=-1, keepdims=True), n=n_fft, axis=-1)
    return np.fft.irfft(transform * np.conjugate(transform), n=n_fft, axis=-1)[..., :n] / n


def _ess(x: np.ndarray) -> np.ndarray:
    """Effective sample size of (q, chain, draw) chains by Geyer's initial monotone sequence: (q,).

    Autocorrelations are added in pairs ``P_j = rho_2j + rho_2j+1`` up to the first that is not positive, with
    ``P_j <= P_j-1`` enforced; of the last pair only its even member counts, when that is positive.
    """
    n_chains, n_draws = x.shape[1:]
    total = n_chains * n_draws
    cov = _autocovariance(x).mean(axis=1)
    mean_var = cov[:, 0] * n_draws / (n_draws - 1.0)
    var_plus = cov[:, 0].copy()
    if n_chains > 1:
        var_plus += np.var(x.mean(axis=2), axis=1, ddof=1)
    rho = 1.0 - (mean_var[:, None] - cov) / var_plus[:, None]
    rho[:, 0] = 1.0
    n_pairs = n_draws // 2
    pairs = rho[:, 0 : 2 * n_pairs : 2] + rho[:, 1 : 2 * n_pairs : 2]
    most = max(0, -(-(n_draws - 2) // 2) - 1)
    stopped = pairs <= 0
    last = np.where(stopped.any(axis=1), stopped.argmax(axis=1), most)
    last = np.minimum(last, most)
    pick = np.arange(len(x))
    even = rho[pick, 2 * last]
    rest = np.where((even > 0) | (pairs[pick, last] >= 0), even, 0.0)
    sums = np.cumsum(np.minimum.accumulate(pairs, axis=1), axis=1)
    before = np.where(last > 0, sums[pick, np.maximum(last - 1, 0)], 0.0)
    tau = np.maximum(-1.0 + 2.0 * before + rest, 1.0 / np.log10(total))
    return np.where(_constant(x, (1, 2)), float(total), total / tau)


def _ess_tail(x: np.ndarray) -> np.ndarray:
    ordered = np.sort(x.reshape(len(x), -1), axis=1)
    below = [x <= _quantile(ordered, prob)[:, None, None] for prob in (0.05, 0.95)]
    return np.minimum(*(_ess(_split(inside.astype(float))) for inside in below))


def _quantile(ordered: np.ndarray, prob: float) -> np.ndarray:
    """Quantile (type 7) of sorted (q, n): (q,). Rounded as in ArviZ, so that a draw that is the quantile falls on
    the same side; exact between equal draws."""
    n = ordered.shape[1]
    position = n * prob + (1.0 - prob)
    below = int(np.floor(np.clip(position, 1, n - 1)))
    share = float(np.clip(position - below, 0, 1))
    low, high = ordered[:, below - 1], ordered[:, below]
    return np.where(low == high, low, (1.0 - share) * low + share * high)
