"""f and new observations at any inputs given draws of the parameters, and what each fitted sample's value was expected to be.

With ``K = C + R`` and ``a = K^-1 y``: mean ``c'a`` and variance ``c** - c'K^-1 c`` of f (Rasmussen & Williams 2006, equations
2.25 and 2.26). Left out, value n is normal around ``y_n - a_n / K^-1_nn`` with variance ``1 / K^-1_nn``, noise included (5.12).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from plaidwork.core.api import ChainView, Kept
from plaidwork.core.numerics.used_draws import spread
from plaidwork.plugins.gp_auxiliary.regression.law import inputs_of, law_of
from plaidwork.plugins.gp_auxiliary.regression.mixture import Mixture
from plaidwork.plugins.gp_auxiliary.regression.noise import NoiseLaw, nodes_of
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, located, points_of, prior_at
from plaidwork.plugins.gp_auxiliary.regression.sparse import Sparse, solve_sparse
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

MOST_DRAWS, LEAST_DRAWS, ROUGH_DRAWS = 200, 12, 25
"""Draws that predictions are averaged over: at most, in any case, and while the chains go on."""
_HEAVY = 4
"""One of so many draws is taken where the noise is Student's, each of which is a sum of normal laws."""
WORK = 3e10
"""Multiplications that all draws together may cost: a few seconds of one core."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What predictions start from: standardised inputs x (N, D) and values y (N,), settings, names of the inputs, law of the noise,
    inducing points (M, D), numbers (N,) and names of the groups, cells (m, 2) and names of several outputs."""

    x: np.ndarray
    y: np.ndarray
    params: RegressionSettings
    columns: tuple[str, ...]
    law: NoiseLaw
    points: np.ndarray
    codes: np.ndarray
    labels: tuple[str, ...]
    cells: np.ndarray
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, samples: Samples, params: RegressionSettings) -> Fitted:
        """From the samples of a fit."""
        x, columns = samples.frame.fitted, samples.frame.columns
        law, codes = NoiseLaw.of(params["noise"], x), samples.codes[samples.frame.used]
        points = points_of(x, params)
        cells, outputs = samples.cells, samples.outputs
        return cls(x, samples.y, params, columns, law, points, codes, samples.labels, cells, outputs)

    def prior(self, scale: np.ndarray | float = 1.0) -> Prior:
        """The law of the values, whose noise has these scales (N,); of several outputs that of their cells."""
        return prior_at(
            self.x,
            self.params,
            self.columns,
            self.codes,
            self.labels,
            scale,
            self.points,
            self.cells,
            self.outputs,
        )

    def at(self, chain: ChainView, draw: int) -> Draw:
        """A draw of a chain."""
        theta = np.asarray(chain.draw("theta", draw))
        if self.law.kind in ("normal", "groups"):
            return Draw(theta, np.zeros(0), np.ones(len(self.y)))
        shape = np.asarray(chain.draw("shape", draw))
        if self.law.kind == "student":
            return Draw(theta, shape, np.asarray(chain.draw("scale", draw)))
        return Draw(theta, shape, self.law.scale_at(shape, self.x))


@dataclass(frozen=True, slots=True)
class Draw:
    """theta (P,), the shape of the noise, and the scales (N,) of the fitted samples' noise."""

    theta: np.ndarray
    shape: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True, slots=True)
class Moments:
    """By draws s, on the scale of the standardised values.

    Attributes
    ----------
    mean, variance : (s, m) of f at the places.
    noise : (s, m) noise variances of new observations there.
    left_out_mean, left_out_variance : (s, N) of f at each fitted sample given all other values.
    left_out_noise : (s, N) noise variances of a new observation of each fitted sample.
    degrees : (s,) degrees of freedom of Student's noise, or empty.
    kept : how many draws there are; ``s`` of them were taken.
    """

    mean: np.ndarray
    variance: np.ndarray
    noise: np.ndarray
    left_out_mean: np.ndarray
    left_out_variance: np.ndarray
    left_out_noise: np.ndarray
    degrees: np.ndarray
    kept: int

    def observation(self, places: slice) -> Mixture:
        """The law of new observations at some of the places."""
        mean, variance, noise = self.mean[:, places], self.variance[:, places], self.noise[:, places]
        return observed(mean, variance, noise, self.degrees, np.zeros(mean.shape))

    def left_out(self, log_weights: np.ndarray) -> Mixture:
        """The law of each fitted value given all others, draws weighed by the exponential of these (s, N)."""
        return observed(
            self.left_out_mean, self.left_out_variance, self.left_out_noise, self.degrees, log_weights
        )

    def left_out_density(self, y: np.ndarray) -> np.ndarray:
        """(s, N) log densities of the standardised values y (N,), each given all others and a draw."""
        parts = (self.left_out_mean, self.left_out_variance, self.left_out_noise)
        found = []
        for s in range(len(self.left_out_mean)):
            mean, variance, noise = (part[s : s + 1] for part in parts)
            single = observed(mean, variance, noise, self.degrees[s : s + 1], np.zeros(mean.shape))
            found.append(single.log_density(y))
        return np.stack(found)


def observed(
    mean: np.ndarray, variance: np.ndarray, noise: np.ndarray, degrees: np.ndarray, log_weights: np.ndarray
) -> Mixture:
    """The law of observations of f with these means and variances (s, m) and noise (s, m); of degrees (s,) Student's, as a sum of normal ones."""
    weights = np.exp(log_weights - log_weights.max(axis=0))
    weights /= weights.sum(axis=0)
    if not len(degrees):
        return Mixture(mean, variance + noise, weights)
    w, shares = (np.stack(part) for part in zip(*map(nodes_of, degrees.tolist()), strict=True))
    size = (-1, mean.shape[1])
    return Mixture(
        np.repeat(mean, w.shape[1], axis=0),
        (variance[:, None] + noise[:, None] / w[:, :, None]).reshape(size),
        (weights[:, None] * shares[:, :, None]).reshape(size),
    )


@dataclass(frozen=True, slots=True)
class Solved:
    """``K = C + R`` of the fitted samples at one theta: its root L (N, N) and ``a = K^-1 y``."""

    root: np.ndarray
    a: np.ndarray

    def left_out(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (N,), variance (N,)) of each value y (N,) given all others."""
        inverse, _failed = dpotri(self.root, lower=1)
        own = 1.0 / np.diag(inverse)
        return y - self.a * own, own

    def moments_at(self, prior: Prior, theta: np.ndarray, x_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (m,), variance (m,)) of f at samples x_new (m, D) as the covariance takes them."""
        law = law_of(prior).latent()
        cross = law.cross(x_new, inputs_of(prior.x), theta)
        rest = solve_triangular(self.root, cross.T, lower=True)
        variance = law.variance(x_new, theta) - (rest * rest).sum(axis=0)
        return cross @ self.a, np.maximum(variance, 0.0)


def solve_dense(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Solved:
    """At theta (P,) for values y (N,). Raises ``LinAlgError`` where rounding leaves K indefinite."""
    k = prior.covariance.matrix(prior.x, theta)
    k.flat[:: len(k) + 1] += 1.0
    root, failed = dpotrf(k, lower=1, overwrite_a=0, clean=1)
    if failed:
        raise np.linalg.LinAlgError("The covariance is not positive definite.")
    half = solve_triangular(root, y, lower=True)
    return Solved(root, solve_triangular(root, half, lower=True, trans=1))


def solve(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Solved | Sparse:
    """At theta (P,) for values y (N,), by inducing points where the prior has some. Raises ``LinAlgError``."""
    return solve_dense(prior, theta, y) if prior.dense else solve_sparse(prior, theta, y)


def taken_draws(kept: Kept, size: int, places: int, heavy: bool) -> Iterator[tuple[ChainView, int]]:
    """Those that predictions of N = ``size`` samples at so many places are averaged over, even among all of each chain."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    cost = float(size) ** 3 + float(places) * size**2
    most = ROUGH_DRAWS if kept.under_way else max(LEAST_DRAWS, min(MOST_DRAWS, int(WORK / cost)))
    each = max(1, -(-most // (max(len(chains), 1) * (_HEAVY if heavy else 1))))
    for chain in chains:
        for draw in np.sort(spread(chain.n_draws)[:each]).tolist():
            yield chain, draw


def moments_of(kept: Kept, fitted: Fitted, x_new: np.ndarray, codes: np.ndarray) -> Moments:
    """At standardised inputs x_new (m, D) in these groups (m,), over draws of all chains."""
    found: list[tuple[np.ndarray, ...]] = []
    degrees, y, student = [], fitted.y, fitted.law.kind == "student"
    for chain, number in taken_draws(kept, len(y), len(x_new), student):
        draw = fitted.at(chain, number)
        prior, theta = fitted.prior(draw.scale), draw.theta
        solved = solve(prior, theta, y)
        law, scale = law_of(prior), fitted.law.scale_at(draw.shape, x_new)
        new = located(law.latent(), x_new, fitted.params, codes, scale)
        noise = law.noise(new, theta)
        own = law_of(prior).noise(prior.x, theta)
        mean, variance = solved.left_out(y)
        anew = own / draw.scale if student else own
        found.append(
            (
                *solved.moments_at(prior, theta, inputs_of(new)),
                noise,
                mean,
                np.maximum(variance - own, 0.0),
                anew,
            )
        )
        if student:
            degrees.append(draw.shape[0])
    total = sum(chain.n_draws for chain in kept.chains)
    mean, variance, noise, left_mean, left_variance, left_noise = (
        np.stack(column) for column in zip(*found, strict=True)
    )
    return Moments(mean, variance, noise, left_mean, left_variance, left_noise, np.array(degrees), total)
