"""The covariance that the training data speak for, among a few sums of terms, by the bound of the quick model.

The bound of the mean-field approximation (``variational.py``) at the best parameters, with the parameters integrated out by Laplace's
method, stands for the evidence of each sum: more lengths have to earn themselves. Test samples take no part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.optimize import minimize

from plaidwork.core.api import ModelData
from plaidwork.plugins.gp_auxiliary.shared.covariance import in_words
from plaidwork.plugins.gp_auxiliary.shared.frame import make_frame, prior_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.metric import hessian_of, log_posterior
from plaidwork.plugins.gp_auxiliary.shared.tilting import bound_of, settle
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings, SettingsT

LINE = "mean_linear"
"""A linear part alone, with a constant in it, for straight boundaries: two parameters, quick to sample."""
SUMS = (
    LINE,
    "rbf + constant",
    "rbf(ard) + constant",
    "rbf + mean_linear + constant",
    "rbf(ard) + mean_linear + constant",
)
"""What is chosen among, the simplest first."""
CHOSEN_BY = (
    "covariance", "linear_alone", "degree", "intercept", "amplitude", "amplitude_sd", "gamma", "gamma_sd", "standardise", "test_share",
)  # fmt: skip
MOST_LENGTHS = 100
"""Columns up to which a length of each is among what is tried: the curvature by so many takes twice as many gradients, each longer by as
much, some ten seconds; and few lengths of more columns can be told from so few samples."""
_MOST_SAMPLES = 300
"""Samples, evenly among the fitted ones, that the choice is made by: it costs a second or two."""
_ROUNDS, _SEARCH, _SETTLED = 30, 8, 0.02
_LONGER = (0.0, 2.5)


@dataclass(frozen=True, slots=True)
class Choice:
    """The sums that were tried and their bounds (nats), in the order of ``SUMS``; ``wide`` where there are more columns than lengths are
    tried for."""

    sums: tuple[str, ...]
    bounds: tuple[float, ...]
    wide: bool

    @property
    def expression(self) -> str:
        """The best sum; of equal ones the first."""
        return self.sums[int(np.argmax(self.bounds))]

    def text(self) -> str:
        """The choice and the bounds as a sentence."""
        each = ", ".join(
            f"{in_words(name)}: {value:.1f}" for name, value in zip(self.sums, self.bounds, strict=True)
        )
        text = (
            f"Chosen from the data: {in_words(self.expression)}. Bounds of the log evidence in nats: {each}."
        )
        if self.wide:
            text += f" A length of each column was not tried, as there are more than {MOST_LENGTHS} columns."
        return text


def choice_of(data: ModelData, params: LawSettings) -> Choice:
    """Of the fitted samples with labels."""
    frame = make_frame(data, params)
    x, code = frame.fitted, frame.codes[frame.used]
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_SAMPLES)).round().astype(np.intp))
    rows = 1 if len(frame.classes) == 2 else len(frame.classes)
    settings = tuple(sorted(params.items()))
    return _choice(x[some].tobytes(), x.shape[1], code[some].tobytes(), rows, settings)


@lru_cache(maxsize=16)
def _choice(
    x: bytes, columns: int, code: bytes, rows: int, settings: tuple[tuple[str, object], ...]
) -> Choice:
    """Remembered by content: a run's data are made anew for every prediction of it."""
    params = cast("LawSettings", dict(settings))
    samples, nothing = np.frombuffer(x).reshape(-1, columns), np.zeros((0, columns))
    wide, line = columns > MOST_LENGTHS, params["linear_alone"]
    sums = tuple(name for name in SUMS if not (wide and "(ard)" in name) and (line or name != LINE))
    found = []
    for expression in sums:
        prior = prior_of(samples, nothing, with_sum(params, expression), False)
        found.append(bound_at_best(prior, np.frombuffer(code, dtype=np.int64), rows))
    return Choice(sums, tuple(found), wide)


def with_sum(params: SettingsT, expression: str) -> SettingsT:
    """The settings with this sum of terms."""
    filled = params.copy()
    filled["covariance"], filled["expression"] = "expression", expression
    return filled


def bound_at_best(prior: Prior, code: np.ndarray, rows: int) -> float:
    """Log evidence of the labels (N,) by the bound, the parameters integrated out around their best values: those of two searches, one
    of which begins with long lengths."""
    gammas = np.array([parameter.kind == "gamma" for parameter in prior.covariance.parameters])
    starts = [prior.covariance.prior_mean - shift * gammas for shift in _LONGER]
    return max(_bound_from(prior, start, code, rows) for start in starts)


def _bound_from(prior: Prior, theta: np.ndarray, code: np.ndarray, rows: int) -> float:
    mean = np.zeros((rows, len(code)))
    value = -math.inf
    for _ in range(_ROUNDS):
        gram = prior.gram(theta)
        z, mean = settle(mean, code, gram)
        before, value = value, bound_of(z, mean, code, gram["log_det"]) + prior.covariance.log_prior(theta)
        if value - before < _SETTLED:
            break
        theta = _climb(prior, theta, z)
    law = prior.covariance
    bend = np.linalg.eigvalsh(hessian_of(prior, theta, z))
    bend = np.maximum(bend, law.prior_sd.max() ** -2.0)
    return value - float(np.log(law.prior_sd).sum()) - 0.5 * float(np.log(bend).sum())


def _climb(prior: Prior, theta: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Theta after some steps of ascent at these means of z (K, N): the bound rises by what this does."""

    def descent(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = log_posterior(prior, place, z)
        return (-value, -slope) if value > -math.inf else (1e300, slope)

    found = minimize(descent, theta, jac=True, method="L-BFGS-B", options={"maxiter": _SEARCH})
    return np.asarray(found.x)
