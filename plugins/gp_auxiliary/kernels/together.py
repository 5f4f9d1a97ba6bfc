"""Hamiltonian trajectories of f and the sizes of its summands, with the auxiliary variables integrated out.

f is a sum of summands of unit normals, ``f_k = R (s o v_k)``: the columns of R (N, r) are roots of the summands' covariances at
size 1, and ``s_j^2`` the size of the summand that column j is of, one parameter or a product of two. The law is that of v (K, r) and the logarithms of
the sizes given the labels. v is moved along ``A p``, ``A A'`` about its covariance given the labels, so that the few directions
that the labels know well allow steps as long as all others. Any A and any lengths give the right law.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import POOR, labelled_of_all, log_product
from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import label_terms
from plaidwork.plugins.gp_auxiliary.kernels.winner import log_win_slopes

_FAR = 25.0
"""Logarithms of sizes beyond this are taken for impossible, as they overflow."""


@njit(nogil=True, cache=True)
def label_slopes(f, code, low, high, slope):
    """Log probability of all labels given f (K, N), every sample having one; its gradient goes into ``slope`` (K, N).

    ``low``, ``high`` (N,) are the ends of the labels' intervals where there is one row, ``code`` (N,) the leading rows where there are more.
    """
    total = 0.0
    if len(f) == 1:
        for n in range(f.shape[1]):
            value, slope[0, n] = label_terms(f[0, n], low[n], high[n], 1.0)
            total += value
        return total
    chance, over = np.empty(f.shape[1]), np.empty((len(f) - 1, f.shape[1]))
    labelled_of_all(f, code, chance, over)
    own, force = np.empty(len(f)), np.empty(len(f))
    for n in range(f.shape[1]):
        k = code[n]
        if chance[n] > POOR:
            slope[k, n] = 0.0
            for i in range(len(over)):
                slope[(k + 1 + i) % len(f), n] = -over[i, n]
                slope[k, n] += over[i, n]
            continue
        for i in range(len(f)):
            own[i] = f[i, n]
        total, chance[n] = total + log_win_slopes(own, k, force), 1.0
        for i in range(len(f)):
            slope[i, n] = force[i]
    return total + log_product(chance)


@njit(nogil=True, cache=True)
def log_law(v, theta, rows, sizes, prior_mean, prior_sd, code, low, high, slope, pull, force):
    """Log density of v (K, r) and the sizes in theta (P,) given the labels, but for a constant, and its gradient.

    Parameters
    ----------
    rows : (N, r) R.
    sizes : (r, 2) the numbers in theta of the logarithms of the two sizes of each column, the second -1 where it has but one.
    slope, pull : (K, r), (P,) where the gradient goes; ``pull`` of parameters that are no size is 0.
    force : (K, N) where the gradient of the labels' log probability by f goes.
    """
    scale, is_size = np.empty(len(sizes)), np.zeros(len(theta))
    for j in range(len(sizes)):
        log_size = theta[sizes[j, 0]]
        is_size[sizes[j, 0]] = 1.0
        if sizes[j, 1] >= 0:
            log_size += theta[sizes[j, 1]]
            is_size[sizes[j, 1]] = 1.0
        scale[j] = math.exp(0.5 * log_size)
    total = label_slopes(np.dot(v * scale, rows.T), code, low, high, force)
    slope[:] = np.dot(force, rows)
    pull[:] = 0.0
    for k in range(len(v)):
        for j in range(len(sizes)):
            slope[k, j] *= scale[j]
            own = 0.5 * slope[k, j] * v[k, j]
            pull[sizes[j, 0]] += own
            if sizes[j, 1] >= 0:
                pull[sizes[j, 1]] += own
            total -= 0.5 * v[k, j] ** 2
            slope[k, j] -= v[k, j]
    for p in range(len(theta)):
        if is_size[p] > 0.0:
            off = (theta[p] - prior_mean[p]) / prior_sd[p]
            total -= 0.5 * off * off
            pull[p] -= off / prior_sd[p]
    return total


@njit(nogil=True, cache=True)
def move_together(
    rng, v, theta, rows, sizes, prior_mean, prior_sd, code, low, high, root, lengths, steps, step, squares
):
    """One trajectory of ``steps`` leaps of v (K, r) and the sizes in theta (P,), in place: (chance to be taken, whether it was).

    Parameters as in :func:`log_law`, and
    ----------
    root : (r, r) A.
    lengths : (P,) of a leap of ``step`` 1 in the logarithms.
    squares : (N,) where the squared slopes of the labels' log probability at the start are added, summed over the rows.
    """
    place, at = v.copy(), theta.copy()
    slope, pull, force = np.empty(v.shape), np.empty(len(theta)), np.empty((len(v), len(rows)))
    value = log_law(place, at, rows, sizes, prior_mean, prior_sd, code, low, high, slope, pull, force)
    for n in range(len(squares)):
        for k in range(len(v)):
            squares[n] += force[k, n] ** 2
    speed, pace = np.empty(v.shape), np.empty(len(theta))
    energy = value
    for k in range(len(v)):
        for j in range(v.shape[1]):
            speed[k, j] = rng.standard_normal()
            energy -= 0.5 * speed[k, j] ** 2
    for p in range(len(theta)):
        pace[p] = rng.standard_normal()
        energy -= 0.5 * pace[p] ** 2
    turned = np.ascontiguousarray(root.T)
    moving = np.zeros(len(theta))
    for p in sizes.ravel():
        if p >= 0:
            moving[p] = lengths[p]
    for _ in range(steps):
        speed += 0.5 * step * np.dot(slope, root)
        pace += 0.5 * step * pull * moving
        place += step * np.dot(speed, turned)
        at += step * pace * moving
        if np.abs(at * (moving > 0.0)).max() > _FAR:
            return 0.0, False
        value = log_law(place, at, rows, sizes, prior_mean, prior_sd, code, low, high, slope, pull, force)
        speed += 0.5 * step * np.dot(slope, root)
        pace += 0.5 * step * pull * moving
    gain = value - 0.5 * (speed**2).sum() - 0.5 * (pace**2).sum() - energy
    chance = math.exp(min(gain, 0.0)) if gain == gain else 0.0
    if rng.random() < chance:
        v[:] = place
        theta[:] = at
        return chance, True
    return chance, False
