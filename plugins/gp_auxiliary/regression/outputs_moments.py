"""Several outputs at any inputs given draws of the parameters, and what each fitted sample's values were expected to be.

Of complete samples every turned output is a regression of its own (`outputs.Spectral`): ``mean = g' (b y / d)`` and
``variance = b c** - g'^2 (b^2 / d)`` with ``g = V' c*``, turned back by ``(L^-T U)^-1``. With cells missing by the dense matrix of those
that are known. A sample is left out with all its values (Rasmussen & Williams 2006, equations 2.25, 2.26 and 5.12, the last with blocks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.special import logsumexp

from plaidwork.core.api import Kept
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted, Moments, solve_dense, taken_draws
from plaidwork.plugins.gp_auxiliary.regression.outputs import GridPrior, Spectral, outputs_law
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

_BLOCK = 20_000_000
"""Numbers of a block of covariances between places and cells: 160 MB."""


@dataclass(frozen=True, slots=True)
class Place:
    """Law of the outputs at m places: ``mean`` (m, P) and ``covariance`` (m, P, P)."""

    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True, slots=True)
class OutputsMoments:
    """By draws s, on the scale of the standardised values.

    Attributes
    ----------
    mean : (s, m, P) of f at the places. covariance : (s, m, P, P).
    noise : (s, P, P) S.
    left_mean, left_covariance : (s, N, P), (s, N, P, P) of new observations of each fitted sample given all others; of a value that
        is not known given its own other values too.
    kept : how many draws there are; ``s`` of them were taken.
    """

    mean: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    left_mean: np.ndarray
    left_covariance: np.ndarray
    kept: int

    def of_output(self, p: int) -> Moments:
        """Of one output alone."""
        noise = self.noise[:, p, p, None]
        left = self.left_covariance[:, :, p, p]
        return Moments(
            self.mean[:, :, p],
            self.covariance[:, :, p, p],
            np.broadcast_to(noise, self.mean.shape[:2]),
            self.left_mean[:, :, p],
            np.maximum(left - noise, 0.0),
            np.broadcast_to(noise, left.shape),
            np.zeros(0),
            self.kept,
        )

    def observations(self, places: slice) -> Place:
        """Laws of new observations at some of the places, with a leading axis of draws."""
        return Place(self.mean[:, places], self.covariance[:, places] + self.noise[:, None])

    def left_out_density(self, y: np.ndarray, known: np.ndarray) -> np.ndarray:
        """(s, N) log densities of what is known (N, P) of the standardised values y (N, P) of each sample, given all other samples."""
        return log_densities(Place(self.left_mean, self.left_covariance), y, known)


def log_densities(law: Place, y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(s, m) log densities of what is ``known`` (m, P) of y (m, P) under laws of s draws at m places; 0 where nothing is."""
    found = np.zeros(law.mean.shape[:2])
    patterns, of = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        here, p = np.flatnonzero(of.ravel() == number), np.flatnonzero(pattern)
        if not len(p):
            continue
        root = np.linalg.cholesky(law.covariance[:, here][:, :, p[:, None], p])
        gap = (y[here][:, p] - law.mean[:, here][:, :, p])[..., None]
        half = np.linalg.solve(root, gap)[..., 0]
        log_det = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        found[:, here] = -0.5 * (half * half).sum(axis=-1) - log_det - 0.5 * len(p) * np.log(2.0 * np.pi)
    return found


def mixed_density(log_density: np.ndarray, log_weights: np.ndarray) -> np.ndarray:
    """(m,) log densities of the mixture over draws of log densities (s, m), weighed by the exponentials of (s, m)."""
    return np.asarray(logsumexp(log_density + log_weights, axis=0) - logsumexp(log_weights, axis=0))


@dataclass(frozen=True, slots=True)
class SolvedGrid:
    """Complete samples at one theta."""

    prior: GridPrior
    theta: np.ndarray
    found: Spectral

    def at(self, x_new: np.ndarray) -> Place:
        """f at samples x_new (m, D) as the covariance of the inputs takes them."""
        law, found = outputs_law(self.prior), self.found
        by_c = law.apart(self.theta)[0]
        b, d = found.turn.b, found.d
        g = law.f.cross(x_new, self.prior.samples, by_c) @ found.vectors
        variance = np.outer(law.f.variance(x_new, by_c), b) - (g * g) @ (b * b / d)
        return self._back(g @ (found.y / d) * b, np.maximum(variance, 0.0))

    def left_out(self) -> Place:
        """New observations of each fitted sample, given all others."""
        found = self.found
        own = 1.0 / ((found.vectors**2) @ (1.0 / found.d))
        return self._back(found.vectors @ found.y - (found.vectors @ (found.y / found.d)) * own, own)

    def _back(self, mean: np.ndarray, variance: np.ndarray) -> Place:
        """From turned outputs (m, P) to the outputs."""
        back = self.found.turn.back
        return Place(mean @ back, np.einsum("jp,mj,jq->mpq", back, variance, back, optimize=True))


@dataclass(frozen=True, slots=True)
class SolvedCells:
    """Samples of which cells are missing, at one theta: the root (m, m) of the known cells' matrix and ``a = K^-1 y``."""

    prior: Prior
    theta: np.ndarray
    y: np.ndarray
    root: np.ndarray
    a: np.ndarray
    x: np.ndarray
    cells: np.ndarray

    def at(self, x_new: np.ndarray) -> Place:
        """f at samples x_new (k, D) as the covariance of the inputs takes them."""
        law = outputs_law(self.prior)
        by_c, (b, _s) = law.apart(self.theta)[0], law.between(self.theta)
        step = max(1, _BLOCK // (len(self.y) * len(b)))
        parts = [self._at(x_new[at : at + step], b, by_c) for at in range(0, len(x_new), step)]
        return Place(np.concatenate([p.mean for p in parts]), np.concatenate([p.covariance for p in parts]))

    def _at(self, x_new: np.ndarray, b: np.ndarray, by_c: np.ndarray) -> Place:
        f, (number, output) = outputs_law(self.prior).f, self.cells.T
        cross = f.cross(x_new, self.x, by_c)[:, None, number] * b[:, output]  # (k, P, m)
        half = solve_triangular(self.root, cross.reshape(-1, len(self.y)).T, lower=True)
        half = half.reshape(len(self.y), len(x_new), len(b))
        covariance = f.variance(x_new, by_c)[:, None, None] * b - np.einsum("ckp,ckq->kpq", half, half)
        return Place(cross @ self.a, covariance)

    def left_out(self) -> Place:
        """New observations of each fitted sample, given all others; of a value that is not known given all that is."""
        law, (number, output) = outputs_law(self.prior), self.cells.T
        by_c, (b, s) = law.apart(self.theta)[0], law.between(self.theta)
        inverse, _failed = dpotri(self.root, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        c, size = law.f.matrix(self.x, by_c), len(b)
        mean, covariance = np.zeros((len(self.x), size)), np.zeros((len(self.x), size, size))
        order = np.argsort(number, kind="stable")
        ends = np.searchsorted(number[order], np.arange(len(self.x) + 1))
        for n in range(len(self.x)):
            own = order[ends[n] : ends[n + 1]]
            p = output[own]
            covariance[n][np.ix_(p, p)] = np.linalg.inv(inverse[np.ix_(own, own)])
            mean[n, p] = self.y[own] - covariance[n][np.ix_(p, p)] @ self.a[own]
            for q in np.setdiff1d(np.arange(size), p):
                cross = b[q, output] * c[n, number] + s[q, output] * (number == n)
                mean[n, q] = cross @ self.a
                covariance[n, q, q] = b[q, q] * c[n, n] + s[q, q] - cross @ inverse @ cross
        return Place(mean, covariance)


def solve_outputs(prior: Prior, theta: np.ndarray, fitted: Fitted) -> SolvedGrid | SolvedCells:
    """At theta. Raises ``LinAlgError`` where rounding leaves a matrix indefinite."""
    if isinstance(prior, GridPrior):
        found = prior.spectral(theta, fitted.y)
        if found is None:
            raise np.linalg.LinAlgError("The covariance of the outputs is not positive definite.")
        return SolvedGrid(prior, theta, found)
    solved = solve_dense(prior, theta, fitted.y)
    x = outputs_law(prior).f.located(fitted.x, fitted.codes)
    return SolvedCells(prior, theta, fitted.y, solved.root, solved.a, x, fitted.cells)


def size_of(fitted: Fitted) -> int:
    """Samples of a single output whose predictions cost about as much."""
    complete = isinstance(fitted.prior(), GridPrior)
    return int(len(fitted.x) * len(fitted.outputs) ** (1 / 3)) if complete else len(fitted.y)


def outputs_moments(
    kept: Kept, fitted: Fitted, x_new: np.ndarray, codes: np.ndarray, most: int | None = None
) -> OutputsMoments:
    """At standardised inputs x_new (m, D) in these groups (m,), over draws of all chains, at most so many of them."""
    places, noise, left = [], [], []
    prior = fitted.prior()
    law = outputs_law(prior)
    new = law.f.located(x_new, codes)
    taken = list(taken_draws(kept, size_of(fitted), len(x_new), False))
    for chain, number in taken[:: -(-len(taken) // most)] if most else taken:
        theta = np.asarray(chain.draw("theta", number))
        solved = solve_outputs(prior, theta, fitted)
        places.append(solved.at(new))
        left.append(solved.left_out())
        noise.append(law.between(theta)[1])
    return OutputsMoments(
        np.stack([place.mean for place in places]),
        np.stack([place.covariance for place in places]),
        np.stack(noise),
        np.stack([place.mean for place in left]),
        np.stack([place.covariance for place in left]),
        sum(chain.n_draws for chain in kept.chains),
    )
