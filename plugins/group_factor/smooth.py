"""Factor values that are alike where samples are near each other in time or place (Velten et al. 2022, Nature Methods 19, 179-186).

    z_k ~ N(0, C_k),   C_k = (1 - s_k) I + s_k exp(-|x_n - x_n'|^2 / (2 l_k^2))

for the samples' places x. q(z_k) is a normal law of all samples, N(m_k, S_k): with h_k the sums of (B - T <x without k>) <w_k> and d_k
those of T <w_k^2>, the terms of the data are h_k' z_k - z_k' diag(d_k) z_k / 2, and the bound is at its highest at

    S_k = (1 / C_k + diag(d_k))^-1,   m_k = S_k h_k,   where it holds   h_k' S_k h_k / 2 - log |I + D^1/2 C_k D^1/2| / 2.

Share s_k and length l_k are those of a grid for which this is highest, found in steps: a sweep compares where they stand with a
neighbour and with one point of the grid, which goes round. So no update lowers the bound, and after 48 sweeps each point was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from plaidwork.core.api import Stage
from plaidwork.plugins.group_factor import grams, products
from plaidwork.plugins.group_factor.cells import views_of
from plaidwork.plugins.group_factor.state import Fields, Floats, Predictor, Smooth
from plaidwork.plugins.group_factor.updates import add_level, cross_of_level

LENGTHS = np.geomspace(0.03, 1.0, 8)
"""Lengths of the grid, as shares of the widest range of the places."""
SHARES = np.array([0.0, 0.3, 0.6, 0.85, 0.95, 0.99])
"""Shares of the variance that are smooth. Never all: two samples at one place differ."""
MOST = 1000
"""Samples at most: an update takes some N^3 of work a factor."""
WORK = 3e-10
"""Seconds of an update of a factor by the cube of the number of samples."""
PRODUCTS, STAGE = "products of the weights", "smooth scores"
_NEIGHBOURS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_STRIDE = 5
"""Of the point that goes round the grid; without a common divisor with its size."""


@dataclass(frozen=True)
class Ahead:
    """What the bound gains by the best q(z) of a factor under a prior, its mean, and what its variances follow from."""

    mean: Floats
    gain: float
    half_log: float
    factor: Floats
    """Cholesky factor of I + D^1/2 C D^1/2"""
    covariance: Floats
    """of the prior"""


def new_smooth(places: Floats, k: int) -> Smooth:
    """The entry of the state before the first sweep, for places (N, p) and K factors: no share is smooth yet."""
    n = len(places)
    return {
        "places": np.array(places, dtype=np.float64),
        "linear": np.zeros((n, k)),
        "gram": np.zeros((n, products.width(k))),
        "gain": np.zeros((k, n)),
        "length": np.full(k, len(LENGTHS) // 2, np.int64),
        "share": np.zeros(k, np.int64),
        "kl": np.zeros(k),
    }


def apart(state: Fields) -> None:
    """KL of a q(z) that was set sample by sample, from a prior without a smooth share."""
    smooth = state["smooth"]
    smooth["share"][:] = 0
    smooth["kl"] = 0.5 * (state["zz"] - 1 - np.log(state["v"])).sum(axis=1)


def stages(state: Fields, sweep: int) -> Sequence[Stage]:
    """What stands in place of the scores, sample by sample, of other fits."""
    k, n = state["z"].shape

    def begin() -> None:
        smooth = state["smooth"]
        smooth["linear"], smooth["gram"] = np.zeros((n, k)), np.zeros((n, products.width(k)))

    return (
        Stage(
            PRODUCTS,
            lambda lo, hi: sum_weights(state, lo, hi, state["smooth"]["linear"], state["smooth"]["gram"]),
            n,
            grams.SAMPLES,
            begin,
            parallel=True,
        ),
        Stage(STAGE, lambda lo, hi: update(state, lo, hi, sweep), k, 1),
    )


def sum_weights(state: Predictor, lo: int, hi: int, linear: Floats, gram: Floats) -> None:
    """Of samples lo..hi-1: sums of (B - T <mu>) <w> into (N, K) and the Gram matrices of the weights into (N, width), see ``products``."""
    views = list(views_of(state))
    soft = [view for view in views if not view.level]
    level = np.zeros((len(state["scale"]), gram.shape[1]))
    for view in views:
        if view.level:
            add_level(state, view, level)
    for left in range(lo, hi, grams.SAMPLES):
        right = min(hi, left + grams.SAMPLES)
        sums, cross = grams.of_samples(state, soft, left, right)
        gram[left:right] = sums.T + level[state["group"][left:right]]
        linear[left:right] = (cross + cross_of_level(state, views, left, right)).T


def update(state: Fields, lo: int, hi: int, sweep: int) -> None:
    """q(z) of factors lo..hi-1, one after the other, each with its share and length."""
    smooth = state["smooth"]
    squares = squared_distances(smooth["places"], smooth["places"])
    span = span_of(smooth["places"])
    for k in range(lo, hi):
        linear, gain = terms_of(smooth["linear"], smooth["gram"], state["z"], k)
        points = candidates(int(smooth["length"][k]), int(smooth["share"][k]), sweep, k)
        fits = [ahead(prior(squares, span * LENGTHS[at], SHARES[part]), gain, linear) for at, part in points]
        best = int(np.argmax([found.gain for found in fits]))
        found = fits[best]
        variance = variances(found, gain)
        smooth["length"][k], smooth["share"][k] = points[best]
        smooth["gain"][k], smooth["kl"][k] = gain, divergence(found, variance, gain, linear)
        state["z"][k], state["v"][k] = found.mean, variance
        state["zz"][k] = found.mean**2 + variance


def terms_of(products_of: Floats, gram: Floats, z: Floats, k: int) -> tuple[Floats, Floats]:
    """(N,) h_k and (N,) d_k, from the products of the weights and the means (K, N) of the others."""
    K, linear = len(z), products_of[:, k].copy()
    for j in range(K):
        if j != k:
            low, high = min(j, k), max(j, k)
            linear -= gram[:, high * (high - 1) // 2 + low] * z[j]
    return linear, np.maximum(gram[:, K * (K - 1) // 2 + k], 0.0)


def update_new(state: Predictor, mean: Floats, variance: Floats) -> None:
    """q(z) of new samples one factor after the other, whose values have these means and variances (K, N) before their data."""
    k, n = state["z"].shape
    linear, gram = np.zeros((n, k)), np.zeros((n, products.width(k)))
    sum_weights(state, 0, n, linear, gram)
    for one in range(k):
        pull, gain = terms_of(linear, gram, state["z"], one)
        state["v"][one] = 1.0 / (gain + 1.0 / variance[one])
        state["z"][one] = state["v"][one] * (pull + mean[one] / variance[one])
        state["zz"][one] = state["z"][one] ** 2 + state["v"][one]


def candidates(length: int, share: int, sweep: int, k: int) -> list[tuple[int, int]]:
    """Points (length, share) of the grid that a sweep compares: where they stand first, then a neighbour, then the one that goes round."""
    size = len(LENGTHS), len(SHARES)
    step = _NEIGHBOURS[sweep % len(_NEIGHBOURS)]
    near = length + step[0], share + step[1]
    far = (_STRIDE * sweep + k) % (size[0] * size[1])
    found = [(length, share)]
    if 0 <= near[0] < size[0] and 0 <= near[1] < size[1]:
        found.append(near)
    found.append((far % size[0], far // size[0]))
    return list(dict.fromkeys(found))


def span_of(places: Floats) -> float:
    """The widest range of a coordinate."""
    return float(np.ptp(places, axis=0).max(initial=0.0))


def squared_distances(one: Floats, other: Floats) -> Floats:
    """(A, B) squared distances of places (A, p) and (B, p)."""
    return ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)


def alike(squares: Floats, length: float, share: float) -> Floats:
    """The smooth part of the covariance for squared distances of any shape."""
    return np.asarray(share * np.exp(-0.5 * squares / length**2))


def prior(squares: Floats, length: float, share: float) -> Floats:
    """(N, N) the prior's covariance, 1 on its diagonal."""
    found = alike(squares, length, share)
    np.fill_diagonal(found, 1.0)
    return found


def ahead(C: Floats, gain: Floats, linear: Floats) -> Ahead:
    """The best q(z) under a prior N(0, C), for the terms ``linear`` (N,) and ``gain`` (N,) of the data."""
    root = np.sqrt(gain)
    B = root[:, None] * C * root
    B[np.diag_indices_from(B)] += 1.0
    L: Floats = np.asarray(np.linalg.cholesky(B))
    half_log = float(np.log(np.diag(L)).sum())
    pull = C @ linear
    mean = pull - C @ (root * cho_solve((L, True), root * pull, check_finite=False))
    return Ahead(mean, 0.5 * float(linear @ mean) - half_log, half_log, L, C)


def variances(found: Ahead, gain: Floats) -> Floats:
    """(N,) of q(z): (1 - (1/B)_nn) / d_n, which loses no digits where d_n is large, else C_nn less what is known."""
    root, strong = np.sqrt(gain), gain > 1.0
    variance = np.empty(len(gain))
    if strong.any():
        inner = solve_triangular(found.factor, np.eye(len(gain))[:, strong], lower=True, check_finite=False)
        variance[strong] = (1.0 - (inner**2).sum(axis=0)) / gain[strong]
    if not strong.all():
        right = root[:, None] * found.covariance[:, ~strong]
        known = solve_triangular(found.factor, right, lower=True, check_finite=False)
        variance[~strong] = 1.0 - (known**2).sum(axis=0)
    return variance


def divergence(found: Ahead, variance: Floats, gain: Floats, linear: Floats) -> float:
    """KL of q(z) from its prior, where q(z) is at its best."""
    mean = found.mean
    return found.half_log - 0.5 * float(gain @ variance) + 0.5 * float(mean @ (linear - gain * mean))


def pulled(squares: Floats, length: float, share: float, mean: Floats, gain: Floats) -> tuple[Floats, Floats]:
    """(N,) 1/C m and (N, N) W = 1/C - 1/C S 1/C, by which new places are told; S = C - C W C."""
    C, root = prior(squares, length, share), np.sqrt(gain)
    B = root[:, None] * C * root
    B[np.diag_indices_from(B)] += 1.0
    reduced = root[:, None] * np.linalg.solve(B, np.diag(root))
    return np.asarray(np.linalg.solve(C, mean)), np.asarray(0.5 * (reduced + reduced.T))


def sample_scores(state: Fields, rng: np.random.Generator) -> Floats:
    """(K, N) a draw of the factor values from q."""
    smooth = state["smooth"]
    squares, span = squared_distances(smooth["places"], smooth["places"]), span_of(smooth["places"])
    found = np.empty_like(state["z"])
    for k, mean in enumerate(state["z"]):
        length, share = span * LENGTHS[smooth["length"][k]], SHARES[smooth["share"][k]]
        C = prior(squares, length, share)
        _, reduced = pulled(squares, length, share, mean, smooth["gain"][k])
        S = C - C @ reduced @ C
        values, vectors = np.linalg.eigh(S)
        found[k] = mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(mean)))
    return found


def held_still(state: Fields, before: Fields) -> None:
    """Factor values where they stood before a step beyond the ascent: their law is one of all samples, which the step does not know."""
    for name in ("z", "v", "cross"):
        state[name] = before[name].copy()


def keep(smooth: Smooth, index: np.ndarray) -> None:
    """Only these factors, in this order."""
    for name in ("gain", "length", "share", "kl"):
        smooth[name] = np.ascontiguousarray(smooth[name][index])


def draws(state: Fields) -> dict[str, np.ndarray]:
    """What is kept: share and length (in the unit of the places) of every factor and its precision by the data; 0 without places."""
    k, n = state["z"].shape
    smooth = state.get("smooth")
    if smooth is None:
        return {"smooth_share": np.zeros(k), "smooth_length": np.zeros(k), "score_gain": np.zeros((k, n))}
    return {
        "smooth_share": SHARES[smooth["share"]],
        "smooth_length": span_of(smooth["places"]) * LENGTHS[smooth["length"]],
        "score_gain": smooth["gain"].copy(),
    }
