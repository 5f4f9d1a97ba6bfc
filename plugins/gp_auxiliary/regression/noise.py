"""Laws of the noise beside the normal one of a single variance: Student's t, and a variance that changes with the inputs.

Either is a scale of each sample's noise variance given some latent numbers, the ``shape``:

- Student: ``R_n = s2 / w_n``, ``w_n ~ Gamma(nu / 2, rate nu / 2)``; the shape is (nu,), the scales 1 / w are kept beside it. A sweep
  draws the residuals given w, nu given them with w integrated out, and w anew at once (nu before w: given w it would hardly move).
- varying: ``R_n = s2 exp((Phi u)_n)``, ``Phi = c(X, Z) L_Z^-T`` at some places Z with ``L_Z L_Z' = c(Z, Z)``, ``u ~ N(0, I)``; the shape is u.
  It moves by elliptical slices (Murray, Adams, MacKay 2010, AISTATS) under the evidence with f integrated out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.special import gammaln
from scipy.stats import gamma

from plaidwork.plugins.gp_auxiliary.shared.gram import choose_inducing, inducing_root, root_of_f

DEGREES = np.geomspace(1.0, 100.0, 40)
"""Values of nu."""
_DEGREES_LOG_MEAN, _DEGREES_LOG_SD = np.log(4.0), 1.0
PLACES = 20
_AMPLITUDE, _LENGTH = 1.5, 0.5
"""Of the logarithm of a varying variance: its sd, and how far in sds of an input (times the root of their number) it reaches."""
_NODES = 24
"""Values of w by which a t density is a sum of normal ones; its tails are right up to probabilities of about 1e-6."""


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """What is known of the noise before the fit.

    Attributes
    ----------
    kind : normal, groups, student or varying.
    places : (J, D) where the logarithm of a varying variance has its weights; J = 0 for the others.
    """

    kind: str
    places: np.ndarray

    @classmethod
    def of(cls, kind: str, x: np.ndarray) -> NoiseLaw:
        """For standardised inputs x (N, D) of the fitted samples."""
        places = choose_inducing(x, PLACES) if kind == "varying" else np.zeros((0, x.shape[1]))
        return cls(kind, places)

    def prior_shape(self, rng: np.random.Generator) -> np.ndarray:
        """A shape from its prior: (0,), (1,) or (J,)."""
        if self.kind == "student":
            weights = np.exp(log_prior_of_degrees())
            return DEGREES[[int(rng.choice(len(DEGREES), p=weights / weights.sum()))]]
        return rng.standard_normal(len(self.places))

    def start_shape(self) -> np.ndarray:
        """Where a chain begins: nu near 4, no change with the inputs."""
        return DEGREES[[12]] if self.kind == "student" else np.zeros(len(self.places))

    def basis(self, x: np.ndarray) -> np.ndarray:
        """(m, J) Phi at standardised inputs x (m, D)."""
        root = inducing_root(_alike(self.places, self.places))
        return np.ascontiguousarray(solve_triangular(root, _alike(self.places, x), lower=True).T)

    def scale_at(self, shape: np.ndarray, x: np.ndarray) -> np.ndarray:
        """(m,) scales of new observations at x (m, D); of Student's noise that of the normal law which w makes heavy-tailed."""
        if self.kind != "varying":
            return np.ones(len(x))
        return np.asarray(np.exp(self.basis(x) @ shape))


def _alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(N, M) covariances of the logarithm of a varying variance."""
    squares = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(_AMPLITUDE**2 * np.exp(-0.5 * squares / (_LENGTH**2 * x.shape[1])))


def log_prior_of_degrees() -> np.ndarray:
    """(40,) log prior probabilities of nu, but for a constant."""
    return np.asarray(-0.5 * ((np.log(DEGREES) - _DEGREES_LOG_MEAN) / _DEGREES_LOG_SD) ** 2)


def degrees_prior_ends() -> tuple[float, float]:
    """Where nu lies with 90 % before the fit."""
    chance = np.exp(log_prior_of_degrees())
    below = np.cumsum(chance / chance.sum())
    return float(DEGREES[np.searchsorted(below, 0.05)]), float(DEGREES[np.searchsorted(below, 0.95)])


def draw_residuals(
    rng: np.random.Generator, root: np.ndarray, noise: np.ndarray, y: np.ndarray
) -> np.ndarray:
    """(N,) ``e = y - f`` given y (N,), noise variances R (N,) and the root L (N, N) of ``C + R``: N(R K^-1 y, R - R K^-1 R)."""
    inverse, _failed = dpotri(root, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    sd = np.sqrt(noise)
    share = sd[:, None] * inverse * sd  # (C / (sd sd') + I)^-1
    return np.asarray(sd * (share @ (y / sd) + root_of_f(share) @ rng.standard_normal(len(y))))


def draw_degrees(rng: np.random.Generator, squares: np.ndarray) -> float:
    """nu given squared residuals in units of s2 (N,), w integrated out."""
    nu = DEGREES[:, None]
    single = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * nu) - 0.5 * np.log(nu)
    single = single - 0.5 * (nu + 1) * np.log1p(squares / nu)
    value = log_prior_of_degrees() + single.sum(axis=1)
    weight = np.exp(value - value.max())
    return float(DEGREES[int(rng.choice(len(DEGREES), p=weight / weight.sum()))])


def draw_scales(rng: np.random.Generator, nu: float, squares: np.ndarray) -> np.ndarray:
    """(N,) 1 / w given nu and squared residuals in units of s2 (N,)."""
    return np.asarray(0.5 * (nu + squares) / rng.gamma(0.5 * (nu + 1), size=len(squares)))


def nodes_of(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """(w (24,), weights (24,)) by which an average over ``w ~ Gamma(nu / 2, rate nu / 2)`` is a sum: the trapezoidal rule in log w."""
    law = gamma(0.5 * nu, scale=2.0 / nu)
    w = np.geomspace(max(float(law.ppf(1e-6)), 1e-9), float(law.ppf(1.0 - 1e-8)), _NODES)
    weights = law.pdf(w) * w
    return w, weights / weights.sum()
