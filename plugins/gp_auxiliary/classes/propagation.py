"""Expectation propagation for the classifiers: the evidence of a covariance, and labels predicted when they are left out.

Every label is stood for by normal factors ("sites") of the latent functions at its sample, one of each of the K functions, independent of one another
(Seeger, M., Jordan, M. I. 2004, "Sparse Gaussian process classification with multiple classes", UC Berkeley; Riihimäki, Jylänki & Vehtari
2013, Journal of Machine Learning Research 14:75, who compare it with sites that are not independent). Of two classes there is one function, and it is the method of
Rasmussen & Williams (2006, section 3.6). All sites are updated at once, half way. Beside chains of the sampler the log loss of what it predicts at the best
parameters is right to a few hundredths, where the quick model's bound (``variational.py``) prefers amplitudes that are far too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import log_ndtr

from plaidwork.plugins.gp_auxiliary.kernels.truncated import LOG_ROOT_2PI
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_LOG_WEIGHTS = np.log(_WEIGHTS / math.sqrt(2.0 * math.pi))
_MOST, _STILL, _DAMPED = 30, 5e-3, 0.5
"""Updates of all sites at most, the change of the log evidence (nats) that ends them, and the share of an update that is taken."""
_SETTLED = 5e-4
"""The same where slopes are to be compared."""
_LEAST = 1e-8
"""Precision of a site at least."""
_SEARCH, _GAIN = 25, 3e-4
"""Steps of a search for the best parameters at most, and the share of the log evidence below which a step ends it."""
_WIDE, _FARTHEST = 6.0, 15.0
"""Standard deviations of the prior, and logarithms, from its mean to which parameters are searched for."""
_DIFFERENCE = 0.1
"""Of a parameter's logarithm, for curvatures: small beside its posterior, large beside what the sites are not settled to."""


@dataclass(frozen=True, slots=True)
class Propagated:
    """Where the sites of all labels have settled.

    Attributes
    ----------
    sites : (2, K, N) their precisions, and these times their means.
    log_evidence : of the labels, nats.
    weights : (N, N) W, with ``sum W o dC`` the change of ``log_evidence``.
    left_out : (N,) log probability of each label when its own site is left out.
    """

    sites: np.ndarray
    log_evidence: float
    weights: np.ndarray
    left_out: np.ndarray


def no_sites(rows: int, size: int) -> np.ndarray:
    """(2, K, N) sites that say nothing, where updates begin."""
    return np.stack([np.full((rows, size), _LEAST), np.zeros((rows, size))])


def moments(
    mean: np.ndarray, variance: np.ndarray, code: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log probabilities (N,) of the labels (N,), and means and variances (K, N) of f given each label, where f had these, all (K, N)."""
    sd = np.sqrt(1.0 + variance)
    if len(mean) == 1:
        sign = np.where(code == 1, 1.0, -1.0)
        place = sign * mean[0] / sd[0]
        log_z = log_ndtr(place)
        ratio = np.exp(-0.5 * place**2 - LOG_ROOT_2PI - log_z)
        slope, second = (sign * ratio / sd[0])[None], (-place * ratio / sd[0] ** 2)[None]
    else:
        log_z, slope, second = _of_winner(mean, sd, code)
    left = variance + variance**2 * (second - slope**2)
    return log_z, mean + variance * slope, np.maximum(left, 1e-3 * variance)


def _of_winner(
    mean: np.ndarray, sd: np.ndarray, code: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log probability Z (N,) that the label's function, with its noise, is above all others, and the first and second derivatives of Z by
    the means (K, N), divided by Z: an integral over the place of the former."""
    every = np.arange(mean.shape[1])
    own = sd[code, every]
    above = (mean[code, every] + own * _NODES[:, None])[:, None] - mean  # (nodes, K, N)
    above /= sd
    log_tail = log_ndtr(above)
    ratio = np.exp(-0.5 * above**2 - LOG_ROOT_2PI - log_tail)
    log_tail[:, code, every] = 0.0
    log_all = _LOG_WEIGHTS[:, None] + log_tail.sum(axis=1)
    log_z = np.logaddexp.reduce(log_all, axis=0)
    share = np.exp(log_all - log_z)
    slope = -np.einsum("in,ikn->kn", share, ratio) / sd
    second = -np.einsum("in,ikn->kn", share, above * ratio) / sd**2
    slope[code, every] = (_NODES @ share) / own
    second[code, every] = ((_NODES**2 - 1.0) @ share) / own**2
    return log_z, slope, second


def propagate(c: np.ndarray, code: np.ndarray, sites: np.ndarray, still: float = _STILL) -> Propagated:
    """Updates of the sites (2, K, N) of the labels (N,) from where they are, with f of covariance c (N, N), until one changes the log evidence by less
    than ``still`` nats."""
    precision, weighed = sites
    value = -math.inf
    for _ in range(_MOST):
        roots = np.sqrt(precision)
        lower = np.linalg.cholesky(np.eye(len(c)) + roots[:, :, None] * c * roots[:, None, :])
        turned = np.stack([_solved(low, root[:, None] * c) for low, root in zip(lower, roots, strict=True)])
        variance = np.maximum(np.diag(c) - (turned**2).sum(axis=1), 1e-10)
        mean = weighed @ c - np.einsum("kmn,km->kn", turned, np.einsum("kmn,kn->km", turned, weighed))
        cavity = np.maximum(1.0 / variance - precision, 1e-10)
        around = (mean / variance - weighed) / cavity
        log_z, told_mean, told_variance = moments(around, 1.0 / cavity, code)
        whole = 1.0 / (cavity + precision)
        parts = 0.5 * np.log1p(precision / cavity) + 0.5 * weighed * (mean - weighed * whole)
        parts += 0.5 * around * cavity * whole * (precision * around - 2.0 * weighed)
        before = value
        value = float(parts.sum() + log_z.sum() - np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())
        settled = Propagated(np.stack([precision, weighed]), value, np.zeros(0), log_z)
        if abs(value - before) < still:
            break
        wanted = np.maximum(1.0 / told_variance - cavity, _LEAST)
        precision = precision + _DAMPED * (wanted - precision)
        weighed = weighed + _DAMPED * (told_mean / told_variance - around * cavity - weighed)
    return Propagated(settled.sites, value, _weights(c, settled.sites, lower), log_z)


def _solved(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(solve_triangular(lower, right, lower=True, check_finite=False))


def _weights(c: np.ndarray, sites: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """(N, N) ``sum_k (b_k b_k' - Q_k) / 2``, with ``Q_k = (C + S_k^-1)^-1`` and ``b_k = (I - Q_k C) nu_k`` (Rasmussen & Williams, equation 5.27)."""
    total = np.zeros_like(c)
    for low, precision, weighed in zip(lower, *sites, strict=True):
        root = _solved(low, np.diag(np.sqrt(precision)))
        q = root.T @ root
        b = weighed - q @ (c @ weighed)
        total += 0.5 * (np.outer(b, b) - q)
    return total


class Search:
    """The best parameters of a covariance for labels (N,) of ``rows`` functions, and what the sites say there."""

    def __init__(self, prior: Prior, code: np.ndarray, rows: int) -> None:
        self._prior, self._code, self._law = prior, code, prior.covariance
        self._found = Propagated(
            no_sites(rows, len(code)), -math.inf, np.zeros(0), np.full(len(code), -math.inf)
        )

    def slope(self, theta: np.ndarray, still: float = _STILL) -> tuple[float, np.ndarray]:
        """Log density of labels and parameters (P,), but for a constant, and its gradient; the sites begin where they were."""
        law = self._law
        try:
            self._found = propagate(law.matrix(self._prior.x, theta), self._code, self._found.sites, still)
        except np.linalg.LinAlgError:  # beyond what rounding allows
            return -math.inf, np.zeros(len(theta))
        gradient = law.slopes(self._prior.x, theta, self._found.weights)
        pull = (theta - law.prior_mean) / law.prior_sd**2
        return self._found.log_evidence + law.log_prior(theta), gradient - pull

    def best(self, start: np.ndarray) -> tuple[float, np.ndarray]:
        """The log density and the parameters where an ascent from ``start`` (P,) ends."""

        def descent(theta: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = self.slope(theta)
            return (-value, -slope) if value > -math.inf else (1e300, slope)

        reach = np.minimum(_WIDE * self._law.prior_sd, _FARTHEST)
        bounds = np.column_stack([self._law.prior_mean - reach, self._law.prior_mean + reach])
        options = {"maxiter": _SEARCH, "ftol": _GAIN}
        found = minimize(descent, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return (-float(found.fun) if found.fun < 1e300 else -math.inf), np.asarray(found.x)

    def integrated(self, value: float, theta: np.ndarray) -> tuple[float, float]:
        """Log evidence with the parameters integrated out by Laplace's method around theta (P,), where the log density is ``value``; and the
        log probabilities of the labels, summed, each when it is left out."""
        self.slope(theta, _SETTLED)
        left_out = float(self._found.left_out.sum())
        steps = _DIFFERENCE * np.eye(len(theta))
        columns = [
            self.slope(theta - step, _SETTLED)[1] - self.slope(theta + step, _SETTLED)[1] for step in steps
        ]
        curvature = np.array(columns) / (2.0 * _DIFFERENCE)
        bend = np.linalg.eigvalsh(0.5 * (curvature + curvature.T))
        volume = np.log(np.maximum(bend, self._law.prior_sd.max() ** -2.0)).sum()
        return value - float(np.log(self._law.prior_sd).sum()) - 0.5 * float(volume), left_out


def evidence_of(prior: Prior, code: np.ndarray, rows: int, starts: list[np.ndarray]) -> tuple[float, float]:
    """Log evidence of the labels (N,) with the parameters integrated out around the best of the searches from ``starts``, and the log
    probabilities, summed, of labels that are left out one at a time at these parameters (both in nats)."""
    found = []
    for start in starts:
        search = Search(prior, code, rows)
        found.append((*search.best(start), search))
    value, theta, search = max(found, key=lambda item: item[0])
    return search.integrated(value, theta) if value > -math.inf else (-math.inf, -math.inf)
