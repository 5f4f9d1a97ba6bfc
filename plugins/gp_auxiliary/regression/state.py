"""What a chain of the regression keeps, and the law of its values."""

from __future__ import annotations

import math
from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from plaidwork.plugins.gp_auxiliary.regression.law import inputs_of, law_of, log_evidence
from plaidwork.plugins.gp_auxiliary.regression.outputs import OutputsCovariance
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, filled, prior_at
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.state import Floats, Steps
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings


class RegressionFixed(TypedDict):
    """What no sweep changes."""

    x: Floats
    """(N, D) standardised inputs of the fitted samples."""
    y: Floats
    """(N,) their standardised values, (m,) those of the cells of several outputs."""
    unit: float
    """What a value was divided by; of several outputs the geometric mean."""
    season: NotRequired[Floats]
    """(2,) or (0,), see ``season_of``; states kept before there were periodic terms are without."""
    codes: NotRequired[NDArray[np.int64]]
    """(N,) numbers of the samples' groups, -1 without; states kept before there were groups have none."""
    cells: NotRequired[NDArray[np.int64]]
    """(m, 2) sample and output of each value y (m,) of several outputs; (0, 2) or none of a single one."""


class Bracket(TypedDict):
    """An elliptical slice under way: the angles between which the next one lies, the second axis (J,), the height to reach."""

    low: float
    high: float
    other: Floats
    height: float


class RegressionFields(TypedDict):
    """The state of a chain."""

    fixed: RegressionFixed
    theta: Floats
    """(P,) logarithms of the parameters of covariance and noise."""
    log_density: float
    """Of values and parameters, the function integrated out, given the scales of the noise."""
    steps: Steps
    shape: Floats
    """(0,), (1,) or (J,) what shapes the noise, see ``noise.py``."""
    scale: Floats
    """(N,) scales of the noise variances."""
    places: Floats
    """(J, D) places of a varying noise."""
    slices: int
    """Elliptical slices that this sweep has ended."""
    bracket: NotRequired[Bracket]
    """Within an elliptical slice."""


def fixed_of(samples: Samples) -> RegressionFixed:
    """What a chain keeps of the samples."""
    return {
        "x": samples.frame.fitted,
        "y": samples.y,
        "unit": float(np.exp(np.log(samples.spread).mean())),
        "season": samples.season,
        "codes": samples.codes[samples.frame.used],
        "cells": samples.cells,
    }


def settings_at(fixed: RegressionFixed, params: RegressionSettings) -> RegressionSettings:
    """The settings as a chain needs them."""
    return filled(params, fixed.get("season", np.zeros(0)))


def prior_of(
    fixed: RegressionFixed,
    params: RegressionSettings,
    scale: np.ndarray | float = 1.0,
    points: np.ndarray | None = None,
) -> Prior:
    """The law of the values of a chain, see ``prior_at``."""
    x = fixed["x"]
    codes = fixed.get("codes", np.full(len(x), -1))
    labels = tuple(str(code + 1) for code in range(int(codes.max()) + 1))
    cells = fixed.get("cells", np.zeros((0, 2), np.int64))
    outputs = tuple(str(p + 1) for p in range(n_outputs(fixed)))
    return prior_at(x, settings_at(fixed, params), numbered(x), codes, labels, scale, points, cells, outputs)


def n_outputs(fixed: RegressionFixed) -> int:
    """How many outputs there are, 0 of a single one."""
    cells = fixed.get("cells", np.zeros((0, 2), np.int64))
    return int(cells[:, 1].max(initial=-1)) + 1


def noise_variance(prior: Prior, theta: np.ndarray) -> float:
    """Variance of the noise, of standardised values: the mean over groups, the geometric mean over several outputs."""
    law = prior.covariance
    if isinstance(law, OutputsCovariance):
        return math.exp(np.log(law.noise.variances(law.apart(theta)[2])).mean())
    return float(law_of(prior).noises(theta).mean())


def amplitude(prior: Prior, theta: np.ndarray) -> float:
    """Variance of the function, or of its first term; of several outputs the mean."""
    law = prior.covariance
    return float(
        np.diag(law.between(theta)[0]).mean() if isinstance(law, OutputsCovariance) else np.exp(theta[0])
    )


def start_of(law: Covariance, rng: np.random.Generator) -> np.ndarray:
    """(P,) where a chain begins: near the middle of the prior; a period at it, as the evidence has many modes along that."""
    jitter = 0.3 * law.prior_sd * rng.standard_normal(len(law.parameters))
    jitter[[parameter.kind == "period" for parameter in law.parameters]] = 0.0
    return np.asarray(law.prior_mean + jitter)


def numbered(x: np.ndarray) -> tuple[str, ...]:
    return tuple(str(d + 1) for d in range(x.shape[1]))


def log_density(prior: Prior, theta: np.ndarray, y: np.ndarray) -> float:
    """Of values y (N,) and parameters theta (P,), the latter but for a constant, the function integrated out."""
    return float(log_evidence(prior, theta, y) + prior.covariance.log_prior(theta))


def draw_values(prior: Prior, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N,) values from N(0, C + R)."""
    if isinstance(prior.covariance, OutputsCovariance):
        k = prior.covariance.matrix(prior.x, theta) + np.eye(len(prior.x))
        return np.asarray(np.linalg.cholesky(k) @ rng.standard_normal(len(k)))
    law = law_of(prior)
    c = law.latent().matrix(inputs_of(prior.x), theta)
    c.flat[:: len(c) + 1] += law.noise(prior.x, theta)
    return np.asarray(np.linalg.cholesky(c) @ rng.standard_normal(len(c)))
