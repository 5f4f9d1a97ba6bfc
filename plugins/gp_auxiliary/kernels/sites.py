"""Collapsed sweeps over the auxiliary variables: f integrated out, one site at a time.

The law of z is ``N(0, C + I)`` cut to the labels' regions. Its precision ``Q = (C + I)^-1`` comes in one of two forms,
both as (``rows``, ``weight``): dense, where ``rows`` is Q (N, N) and ``work`` holds Qz; or of low rank,
``Q = diag(weight) - rows rows'`` with ``rows`` (N, r), where ``work`` holds ``rows' z`` and no N x N array is kept.
``diagonal`` is the diagonal of Q. All kernels write to ``z`` and ``work`` only.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import POOR, ROOM, WIDEST, labelled_of_all, log_product
from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import value_of
from plaidwork.plugins.gp_auxiliary.kernels.leaders import log_leaders
from plaidwork.plugins.gp_auxiliary.kernels.many import are_alike, many_of_all, many_of_one
from plaidwork.plugins.gp_auxiliary.kernels.precision import quadratic
from plaidwork.plugins.gp_auxiliary.kernels.truncated import (
    ROOT_HALF,
    log_ndtr,
    log_ndtr_between,
    normal_above,
    normal_between,
)
from plaidwork.plugins.gp_auxiliary.kernels.winner import draw_lead, log_win, log_wins


@njit(nogil=True, cache=True)
def start_work(z, rows, dense):
    """``work`` of one row of z: Qz (N,), or rows' z (r,)."""
    work = np.zeros(rows.shape[1])
    for n in range(len(z)):
        value = z[n]
        for j in range(rows.shape[1]):
            work[j] += value * rows[n, j]
    return work


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _ahead(rows, n, work):
    """The products of row n with ``work`` and with the row before: what the next site needs, made while this one is drawn."""
    product, shared = 0.0, 0.0
    for j in range(rows.shape[1]):
        product += rows[n, j] * work[j]
        shared += rows[n, j] * rows[n - 1, j]
    return product, shared


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _move(n, value, z, work, rows):
    """Set z_n, and ``work`` with it; returns how far it went."""
    step = value - z[n]
    z[n] = value
    for j in range(rows.shape[1]):
        work[j] += step * rows[n, j]
    return step


@njit(nogil=True, cache=True)
def sweep_intervals(rng, z, work, rows, diagonal, weight, dense, low, high, free, null, log_minus, log_plus):
    """Draw every z_n anew: within (low_n, high_n), or where ``free`` outside (-null, null).

    Parameters
    ----------
    z : (N,), changed in place, as is ``work``.
    low, high : (N,) ends of the region that the label names.
    free : (N,) bool, samples without a label (null category noise model, Lawrence & Jordan 2004): side s is drawn
        with probability proportional to ``gamma_s Phi(s mu / sd - null / sd)``.
    log_minus, log_plus : log gamma of either side.
    """
    roots, product, ahead, shared = np.sqrt(diagonal), 0.0, 0.0, 0.0
    if not dense:
        product = value_of(rows, 0, work, False)
    for n in range(len(z)):
        root = roots[n]
        sd = 1.0 / root
        pull = work[n] if dense else weight[n] * z[n] - product
        if not dense and n + 1 < len(z):
            ahead, shared = _ahead(rows, n + 1, work)
        mean = z[n] - pull * (sd * sd)
        bottom, top = low[n], high[n]
        if free[n]:
            plus = log_plus + log_ndtr((mean - null) / sd)
            minus = log_minus + log_ndtr((-mean - null) / sd)
            if math.log(rng.random()) < -math.log1p(math.exp(min(minus - plus, 700.0))):
                bottom, top = null, math.inf
            else:
                bottom, top = -math.inf, -null
        value = mean + sd * normal_between(rng, (bottom - mean) * root, (top - mean) * root)
        product = ahead + _move(n, min(max(value, bottom), top), z, work, rows) * shared


@njit(nogil=True, cache=True)
def sweep_winners(rng, z, work, rows, diagonal, weight, dense, label, null, log_share):
    """Draw every sample's K values anew: the label's one leads all others by more than ``null``.

    Parameters
    ----------
    z : (K, N), changed in place, as is ``work`` (K, N or r).
    label : (N,) class, -1 without a label: the winner is drawn too, class k with weight
        ``gamma_k P(z_k > z_i + null for all i != k)``.
    log_share : (K,) log gamma.

    All K values of a sample are drawn together: the leading one from its marginal, the others below it.
    """
    n_classes, n_samples = z.shape
    mean = np.empty(n_classes)
    lead = np.empty(n_classes)
    for n in range(n_samples):
        sd = 1.0 / math.sqrt(diagonal[n])
        for k in range(n_classes):
            pull = work[k, n] if dense else weight[n] * z[k, n] - value_of(rows, n, work[k], False)
            mean[k] = z[k, n] - pull * (sd * sd)
        winner = label[n]
        if winner < 0:
            winner = draw_winner(rng, mean, sd, null, log_share, lead)
        top = mean[winner] + sd * draw_lead(rng, mean, sd, winner, null)
        _move(n, top, z[winner], work[winner], rows)
        bar = top - null
        for k in range(n_classes):
            if k != winner:
                value = mean[k] - sd * normal_above(rng, (mean[k] - bar) / sd)
                _move(n, min(value, bar), z[k], work[k], rows)


@njit(nogil=True, cache=True)
def scale_z(rng, z, work, weight, dense):
    """``z -> c z`` with ``c^2 ~ Gamma(M / 2, z'Qz / 2)``, M the number of z: a Gibbs step along the ray (Liu & Sabatti
    2000), right wherever the labels' regions are cones (no null category). z (K, N) and work are changed in place."""
    square = 0.0
    for k in range(len(z)):
        square += quadratic(z[k], work[k], weight, dense)
    factor = math.sqrt(rng.standard_gamma(0.5 * z.size) / (0.5 * max(square, 1e-300)))
    for k in range(len(z)):
        for n in range(z.shape[1]):
            z[k, n] *= factor
        for j in range(work.shape[1]):
            work[k, j] *= factor


@njit(nogil=True, cache=True)
def sweep_many(rng, times, z, work, rows, diagonal, weight, dense, label, low, high, free, null, log_share):
    """``times`` sweeps over the samples, each with a scale move where there is no null category. One call, as handing
    over a generator costs as much as a sweep over a hundred samples. One row of z: two classes."""
    for _ in range(times):
        if len(z) == 1:
            sweep_intervals(
                rng,
                z[0],
                work[0],
                rows,
                diagonal,
                weight,
                dense,
                low,
                high,
                free,
                null,
                log_share[0],
                log_share[1],
            )
        else:
            sweep_winners(rng, z, work, rows, diagonal, weight, dense, label, null, log_share)
        if null == 0.0:
            scale_z(rng, z, work, weight, dense)


@njit(nogil=True, cache=True)
def draw_winner(rng, mean, sd, null, log_share, lead):
    """The class that leads an unlabelled sample; ``lead`` (K,) is scratch space."""
    if len(mean) > 3 and are_alike(null / sd, log_share):
        many_of_one(mean, sd, null, log_share, lead)
    else:
        log_wins(mean, sd, null, log_share, lead)
        largest = lead.max()
        for k in range(len(mean)):
            lead[k] = math.exp(lead[k] - largest)
    threshold = rng.random() * lead.sum()
    for k in range(len(mean)):
        threshold -= lead[k]
        if threshold <= 0.0:
            return k
    return len(mean) - 1


@njit(nogil=True, cache=True)
def draw_intervals(rng, mean, z, low, high, free, null, log_minus, log_plus):
    """z given f (``mean``, (N,)): independent unit normals in the labels' regions, as in :func:`sweep_intervals`."""
    for n in range(len(z)):
        bottom, top = low[n], high[n]
        if free[n]:
            plus = log_plus + log_ndtr(mean[n] - null)
            minus = log_minus + log_ndtr(-mean[n] - null)
            if math.log(rng.random()) < -math.log1p(math.exp(min(minus - plus, 700.0))):
                bottom, top = null, math.inf
            else:
                bottom, top = -math.inf, -null
        value = mean[n] + normal_between(rng, bottom - mean[n], top - mean[n])
        z[n] = min(max(value, bottom), top)


@njit(nogil=True, cache=True)
def draw_winners(rng, f, z, label, null, log_share):
    """z (K, N) given f (K, N), as in :func:`sweep_winners`."""
    n_classes, n_samples = f.shape
    mean, lead = np.empty(n_classes), np.empty(n_classes)
    for n in range(n_samples):
        for k in range(n_classes):
            mean[k] = f[k, n]
        winner = label[n]
        if winner < 0:
            winner = draw_winner(rng, mean, 1.0, null, log_share, lead)
        top = mean[winner] + draw_lead(rng, mean, 1.0, winner, null)
        z[winner, n] = top
        for k in range(n_classes):
            if k != winner:
                value = mean[k] - normal_above(rng, mean[k] - (top - null))
                z[k, n] = min(value, top - null)


@njit(nogil=True, cache=True)
def log_intervals(f, low, high, free, null, log_minus, log_plus):
    """Log likelihood of f (N,): z integrated out."""
    total = 0.0
    gamma_plus, gamma_minus = 0.5 * math.exp(log_plus), 0.5 * math.exp(log_minus)
    for n in range(len(f)):
        if free[n]:
            value = gamma_plus * math.erfc((null - f[n]) * ROOT_HALF) + gamma_minus * math.erfc(
                (null + f[n]) * ROOT_HALF
            )
            if value > 1e-250:
                total += math.log(value)
                continue
            plus, minus = log_plus + log_ndtr(f[n] - null), log_minus + log_ndtr(-f[n] - null)
            top = max(plus, minus)
            total += top + math.log1p(math.exp(min(plus, minus) - top))
        else:
            total += log_ndtr_between(low[n] - f[n], high[n] - f[n])
    return total


@njit(nogil=True, cache=True)
def interval_values(f, low, high, out):
    """``log P(low < f + e < high)`` of every value, e a unit normal, into out (M,)."""
    for i in range(len(f)):
        out[i] = log_ndtr_between(low[i] - f[i], high[i] - f[i])


@njit(nogil=True, cache=True)
def log_winners(f, label, null, log_share):
    """Log likelihood of f (K, N) with z integrated out, labels as in :func:`sweep_winners`."""
    n_classes, n_samples = f.shape
    missing = (label < 0).sum()
    if n_classes == 3 and null <= WIDEST and 3 * missing > n_samples:  # the slopes cost less than one by one
        return log_leaders(f, label, null, log_share, np.empty(f.shape), np.empty((ROOM, n_samples)))
    mean, lead, chance = np.empty(n_classes), np.empty(n_classes), np.zeros(n_samples)
    total = 0.0
    if n_classes > 3 and are_alike(null, log_share):
        many_of_all(f, label, null, log_share, chance)
    elif null == 0.0 and 2 * missing < n_samples:
        labelled_of_all(f, np.maximum(label, 0), chance, np.empty((n_classes - 1, n_samples)))
        for n in range(n_samples):
            chance[n] = chance[n] if label[n] >= 0 else 0.0
    for n in range(n_samples):
        if chance[n] > POOR:
            continue
        chance[n] = 1.0
        for k in range(n_classes):
            mean[k] = f[k, n]
        if label[n] >= 0:
            total += log_win(mean, 1.0, label[n], null)
            continue
        log_wins(mean, 1.0, null, log_share, lead)
        largest, together = lead.max(), 0.0
        for k in range(n_classes):
            if lead[k] > -math.inf:
                together += math.exp(lead[k] - largest)
        total += largest + math.log(together)
    return total + log_product(chance)
