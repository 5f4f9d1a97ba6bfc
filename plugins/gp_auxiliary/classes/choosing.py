"""The covariance that the training data speak for, among a few sums of terms, by their evidence.

The evidence of each sum is that of expectation propagation (``propagation.py``) at the best parameters, with the parameters integrated out by Laplace's
method: more lengths have to earn themselves. In earlier runs the bound of the mean-field approximation (``variational.py``) stood for it. It is compared among
those sums only that predict: the evidence also counts how well a sum predicted when it had seen few samples. Test samples take no part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.optimize import minimize

from plaidwork.core.api import ModelData
from plaidwork.plugins.gp_auxiliary.classes.propagation import evidence_of
from plaidwork.plugins.gp_auxiliary.shared.covariance import in_words
from plaidwork.plugins.gp_auxiliary.shared.frame import make_frame, prior_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, dense_gram
from plaidwork.plugins.gp_auxiliary.shared.metric import hessian_of, log_posterior
from plaidwork.plugins.gp_auxiliary.shared.tilting import bound_of, settle, tilt
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
    "covariance", "linear_alone", "by_left_out", "chosen_by", "degree", "intercept", "amplitude", "amplitude_sd", "gamma", "gamma_sd", "standardise", "test_share",
)  # fmt: skip
MOST_LENGTHS = 100
"""Columns up to which a length of each is among what is tried: the curvature by so many takes twice as many gradients, each longer by as
much, some ten seconds; and few lengths of more columns can be told from so few samples."""
_MOST_SAMPLES = 300
"""Samples, evenly among the fitted ones, that the quick model's bound is made of: it costs a second or two."""
_PROPAGATED, _FUNCTIONS, _FEWEST = 200, 600, 60
"""The same of expectation propagation, samples times latent functions, and what is left of samples in any case: some seconds."""
_ROUNDS, _SEARCH, _SETTLED = 30, 8, 0.02
_LONGER = (0.0, 2.5)
_FOLDS = 5
NEAR = 2.0
"""Nats below the best by labels that are left out in turn within which a sum predicts as well."""
EVEN = 1.0
"""Nats by which bounds have to differ, or the simpler sum is taken: its sweeps are quicker."""
STRAIGHT = 3.0
"""Nats by which the evidence of expectation propagation has to differ, or a linear part alone is taken: it settles in a fraction of the time. Of others the best is taken."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The sums that were tried, in the order of ``SUMS``, with their log evidence, or the bounds of it, and the log probabilities of labels that are left out
    (nats); ``wide`` where there are more columns than lengths are tried for, ``predicting`` where only sums that predict are chosen from, ``propagated`` where
    all this is by expectation propagation."""

    sums: tuple[str, ...]
    bounds: tuple[float, ...]
    left_out: tuple[float, ...]
    wide: bool
    predicting: bool
    propagated: bool

    @property
    def expression(self) -> str:
        """The sum of the highest evidence among those that predict; a linear part alone where its evidence is not far below, and of bounds the simplest whose bound is next to the highest.
        Where all are chosen from, that of the highest."""
        if not self.predicting:
            return self.sums[int(np.argmax(self.bounds))]
        near = [i for i, value in enumerate(self.left_out) if value >= max(self.left_out) - NEAR]
        highest = max(self.bounds[i] for i in near)
        even = EVEN
        if self.propagated:
            even = (
                STRAIGHT if self.sums[near[0]] == LINE and self.bounds[near[0]] >= highest - STRAIGHT else 0.0
            )
        return self.sums[next(i for i in near if self.bounds[i] >= highest - even)]

    def text(self) -> str:
        """The choice and what it rests on as sentences."""
        chosen, evidence, left_out = (
            in_words(self.expression),
            self._each(self.bounds),
            self._each(self.left_out),
        )
        if self.propagated:
            text = f"Chosen from the data: {chosen}. Log evidence in nats, by expectation propagation: {evidence}."
            told = f" Log probabilities of labels that are left out one at a time: {left_out}."
        else:
            text = f"Chosen from the data: {chosen}. Bounds of the log evidence in nats: {evidence}."
            told = f" Log probabilities of labels that are left out, by cross-validation in five parts: {left_out}."
        if self.predicting:
            text += told
        if self.wide:
            text += f" A length of each column was not tried, as there are more than {MOST_LENGTHS} columns."
        return text

    def _each(self, values: tuple[float, ...]) -> str:
        return ", ".join(
            f"{in_words(name)}: {value:.1f}" for name, value in zip(self.sums, values, strict=True)
        )


def choice_of(data: ModelData, params: LawSettings) -> Choice:
    """Of the fitted samples with labels."""
    frame = make_frame(data, params)
    x, code = frame.fitted, frame.codes[frame.used]
    rows = 1 if len(frame.classes) == 2 else len(frame.classes)
    most = max(min(_PROPAGATED, _FUNCTIONS // rows), _FEWEST) if _propagated(params) else _MOST_SAMPLES
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), most)).round().astype(np.intp))
    settings = tuple(sorted(params.items()))
    return _choice(x[some].tobytes(), x.shape[1], code[some].tobytes(), rows, settings)


def _propagated(params: LawSettings) -> bool:
    return params["chosen_by"] == "propagation"


@lru_cache(maxsize=16)
def _choice(
    x: bytes, columns: int, code: bytes, rows: int, settings: tuple[tuple[str, object], ...]
) -> Choice:
    """Remembered by content: a run's data are made anew for every prediction of it."""
    params = cast("LawSettings", dict(settings))
    samples, nothing = np.frombuffer(x).reshape(-1, columns), np.zeros((0, columns))
    wide, line = columns > MOST_LENGTHS, params["linear_alone"]
    sums = tuple(name for name in SUMS if not (wide and "(ard)" in name) and (line or name != LINE))
    found, propagated = [], _propagated(params)
    for expression in sums:
        prior = prior_of(samples, nothing, with_sum(params, expression), False)
        labels = np.frombuffer(code, dtype=np.int64)
        found.append(
            evidence_of(prior, labels, rows, _starts(prior)) if propagated else at_best(prior, labels, rows)
        )
    bounds, left_out = zip(*found, strict=True)
    return Choice(sums, bounds, left_out, wide, params["by_left_out"], propagated)


def with_sum(params: SettingsT, expression: str) -> SettingsT:
    """The settings with this sum of terms."""
    filled = params.copy()
    filled["covariance"], filled["expression"] = "expression", expression
    return filled


def at_best(prior: Prior, code: np.ndarray, rows: int) -> tuple[float, float]:
    """Log evidence of the labels (N,) by the bound, the parameters integrated out around their best values: those of two searches, one
    of which begins with long lengths. And the log probabilities of labels that are left out, at these values."""
    found = [_found_from(prior, start, code, rows) for start in _starts(prior)]
    evidence, theta, mean = found[0] if found[0][0] >= found[1][0] else found[1]
    return evidence, left_out_of(prior, theta, mean, code)


def _starts(prior: Prior) -> list[np.ndarray]:
    """Parameters (P,) from which searches begin: the mean of the prior, and long lengths."""
    gammas = np.array([parameter.kind == "gamma" for parameter in prior.covariance.parameters])
    return [prior.covariance.prior_mean - shift * gammas for shift in _LONGER]


def _found_from(
    prior: Prior, theta: np.ndarray, code: np.ndarray, rows: int
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log evidence, the parameters and the mean of f (K, N) where a search ends."""
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
    return value - float(np.log(law.prior_sd).sum()) - 0.5 * float(np.log(bend).sum()), theta, mean


def left_out_of(prior: Prior, theta: np.ndarray, mean: np.ndarray, code: np.ndarray) -> float:
    """Log probabilities (nats) of the labels (N,) when the approximation has not seen them, summed: by cross-validation at these parameters.

    The samples of each class go to the five parts in turn; where each is of a class of its own, all are predicted by the prior. ``mean`` (K, N)
    of f is where the approximation of the others begins.
    """
    c = prior.covariance.matrix(prior.x, theta)
    part, total = _parts(code), 0.0
    if not part.any():
        return float(tilt(np.zeros(mean.shape), code)[1].sum())
    for left_out in range(part.max() + 1):  # fewer samples than parts leave some empty
        new, rest = part == left_out, part != left_out
        gram = dense_gram(c[np.ix_(rest, rest)])
        z, _mean = settle(mean[:, rest], code[rest], gram)
        across = c[np.ix_(new, rest)]
        weights = across @ gram["rows"]
        spread = np.sqrt(1.0 + np.diag(c)[new] - (weights * across).sum(axis=1))
        total += float(tilt(z @ weights.T / spread, code[new])[1].sum())
    return total


def _parts(code: np.ndarray) -> np.ndarray:
    """(N,) the part of each sample."""
    part = np.empty(len(code), dtype=np.intp)
    for k in np.unique(code):
        members = np.flatnonzero(code == k)
        part[members] = np.arange(len(members)) % _FOLDS
    return part


def _climb(prior: Prior, theta: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Theta after some steps of ascent at these means of z (K, N): the bound rises by what this does."""

    def descent(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = log_posterior(prior, place, z)
        return (-value, -slope) if value > -math.inf else (1e300, slope)

    found = minimize(descent, theta, jac=True, method="L-BFGS-B", options={"maxiter": _SEARCH})
    return np.asarray(found.x)
