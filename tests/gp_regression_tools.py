"""Samples, laws and data for the tests of Gaussian process regression."""

from __future__ import annotations

import math

import numpy as np
from gp_joint import generator

from plaidwork.core.api import Dataset
from plaidwork.plugins.gp_auxiliary.regression.law import extended, law_of, observed_prior
from plaidwork.plugins.gp_auxiliary.shared.covariance import Parameter, make_covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

SETTINGS = {
    "covariance": "expression",
    "ard": False,
    "intercept": True,
    "amplitude": 1.0,
    "gamma": 0.0,
    "amplitude_sd": 1.0,
    "gamma_sd": 1.0,
    "degree": 2,
    "period": 0.7,
    "season_column": 1,
}
TERMS = [
    "rbf(ard) + constant", "matern12", "matern32(ard)", "matern52", "rational_quadratic(ard)", "linear + constant",
    "polynomial * rbf + white", "rbf * linear + matern52 * rbf(ard) + mean_linear",
    "linear + rbf + periodic * rbf(ard) + rational_quadratic", "periodic + white",
]  # fmt: skip
NOISE = Parameter("noise variance", "noise", math.log(0.1), 1.0)


def prior_of(expression: str, size: int, noises: int = 1, columns: int = 3) -> Prior:
    """Samples whose noise has scales of its own, of ``noises`` kinds by turns."""
    rng = generator(1)
    x = rng.standard_normal((size, columns))
    law = make_covariance(SETTINGS | {"expression": expression}, tuple("abc"[:columns]))
    scale = np.exp(0.3 * rng.standard_normal(size))
    return observed_prior(law, extended(x, scale, np.arange(size) % noises), [NOISE] * noises)


def place_of(prior: Prior) -> np.ndarray:
    law = prior.covariance
    return law.prior_mean + 0.3 * generator(2).standard_normal(len(law.parameters))


def dense(prior: Prior, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(C, R (N,)) written out."""
    x, law = prior.x, law_of(prior)
    count = law.n_noises
    noise = x[:, -2] * (1e-6 + np.exp(theta[-count:]))[x[:, -1].astype(int)]
    return law.latent().matrix(x[:, :-2].copy(), theta), noise


def data_of(size: int, seed: int, columns: int = 2) -> dict[str, Dataset]:
    """A smooth function of the first input with noise 0.3, in units of 10 around 50."""
    rng = generator(seed)
    x = rng.uniform(-2, 2, (size, columns))
    y = 50 + 10 * (np.sin(2 * x[:, 0]) + 0.3 * rng.standard_normal(size))
    names = [f"s{i}" for i in range(size)]
    inputs = Dataset("X", x, names, [f"input {d}" for d in range(columns)])
    return {"X": inputs, "y": Dataset("y", y, names)}
