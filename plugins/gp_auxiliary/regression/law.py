"""The law of observations ``y = f + e`` with f integrated out, in the form that evidence and moves of the classifiers take.

Those add a noise of 1 to the covariance that they are given. So they are given ``C + R - I``, R the diagonal of the noise
variances: evidence, gradient and trajectories (``evidence.py``, ``hmc.py``) then are those of N(y | 0, C + R).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance, Parameter
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.radial import is_radial

FLOOR = 1e-6
"""Smallest noise variance, of standardised values: it is added to what the parameter says, so that no fit is without noise."""
EXTRA = 2
"""Columns beside the inputs: the factor of the noise variance, and the number of its parameter among those of the noise."""


@dataclass(frozen=True, slots=True)
class ObservedCovariance(Covariance):
    """``C + R - I``; samples are given as (n, D + 2): what the covariance ``f`` takes, ``scale`` and ``kind`` of their noise.

    Its variance is ``R_n = scale_n (FLOOR + exp(theta))`` with the ``kind_n``-th of the last ``n_noises`` entries of theta; of kind -1, a
    label that is not in the fit, it is the mean of all of them.
    """

    f: Covariance
    n_noises: int = 1

    def matrix(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        inputs = inputs_of(x)
        found = self.f.cross(inputs, inputs, theta) if self._radial else self.f.matrix(inputs, theta)
        found.flat[:: len(found) + 1] += self.noise(x, theta) - 1.0
        return found

    def slopes(self, x: np.ndarray, theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
        inputs = inputs_of(x)
        pull = np.bincount(x[:, -1].astype(np.intp), x[:, -2] * np.diag(weights), minlength=self.n_noises)
        if self._radial:
            known = self.f.cross(inputs, inputs, theta)
            found = self.f.slopes_of_known(inputs, inputs, theta, weights, known)
        else:
            found = self.f.slopes(inputs, theta, weights)
        found[-self.n_noises :] += np.exp(theta[-self.n_noises :]) * pull
        return found

    @property
    def _radial(self) -> bool:
        """Whether whole arrays are faster than half of the pairs one by one."""
        return type(self.f) is Covariance and is_radial(self.f.table)

    def noise(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """(n,) noise variances of samples x (n, D + 2)."""
        noises = self.noises(theta)
        return np.asarray(x[:, -2] * np.append(noises, noises.mean())[x[:, -1].astype(np.intp)])

    def noises(self, theta: np.ndarray) -> np.ndarray:
        """(n_noises,) noise variances of a sample with scale 1."""
        return FLOOR + np.exp(theta[-self.n_noises :])

    def latent(self) -> Covariance:
        """The covariance of f alone, which takes the same theta, and samples (n, D) as it wants them."""
        return self.f


def inputs_of(x: np.ndarray) -> np.ndarray:
    """(n, D) what the covariance takes of extended samples (n, D + 2)."""
    return np.ascontiguousarray(x[:, :-EXTRA])


def extended(x: np.ndarray, scale: np.ndarray | float = 1.0, kind: np.ndarray | int = 0) -> np.ndarray:
    """(n, D + 2) samples with scale and kind of their noise."""
    return np.column_stack([x, np.broadcast_to(scale, len(x)), np.broadcast_to(kind, len(x))])


def observed_prior(law: Covariance, x: np.ndarray, noises: Sequence[Parameter]) -> Prior:
    """The law of values at extended samples x (n, D + 2), with these parameters of the noise."""
    parameters = (*law.parameters, *noises)
    f = replace(law, parameters=parameters)
    observed = ObservedCovariance(law.table, law.n_groups, law.degree, parameters, f, len(noises))
    return Prior(observed, x, np.zeros((0, x.shape[1])))


def law_of(prior: Prior) -> ObservedCovariance:
    """The covariance of a prior that :func:`observed_prior` made."""
    assert isinstance(prior.covariance, ObservedCovariance)
    return prior.covariance


def log_evidence(prior: Prior, theta: np.ndarray, y: np.ndarray) -> float:
    """``log N(y | 0, C + R)`` in nats of values y (N,), constant included."""
    return prior.log_density(theta, y[None]) - 0.5 * len(y) * math.log(2.0 * math.pi)
