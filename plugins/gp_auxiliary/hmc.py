"""Hamiltonian trajectories of the covariance's parameters given values with unit noise, f integrated out.

The metric is the negative Hessian at a mode of ``p(theta | y)`` (Girolami & Calderhead 2011, Journal of the Royal Statistical
Society B 73:123, with one metric for all theta), made in the warm-up by differences of the gradient: steps are then of the
posterior's own size in every direction. Any metric and step give the right law.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from plaidwork.plugins.gp_auxiliary.evidence import evidence
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.state import Metric, Path

LEAPS = 3
"""Leapfrog steps of a trajectory."""
TARGET = 0.8
"""Acceptance that the step aims at in the warm-up."""
POOR = 0.2
"""Acceptance below which random walks take over."""
_MEMORY = 0.02
"""What a trajectory counts for in the acceptance of late: about the last 50."""
_FIRST_DUE, _LATER = 2, 5
_SEARCH = 25
"""Most steps of the search for a mode."""
_DIFFERENCE = 1e-3
_FAR = 30.0
"""Logarithms beyond this are taken for impossible, as they overflow."""


def new_metric(prior: Prior) -> Metric:
    """The prior's own standard deviations, until the warm-up has seen values."""
    return {
        "root": np.diag(prior.covariance.prior_sd),
        "log_step": math.log(0.5),
        "count": 0,
        "due": _FIRST_DUE,
        "recent": TARGET,
    }


def log_posterior(prior: Prior, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """``log p(theta | y)`` of values y (K, N), but for a constant, and its gradient (P,)."""
    law = prior.covariance
    if not np.abs(theta).max() < _FAR:
        return -math.inf, np.zeros(len(theta))
    found = evidence(prior, theta, y)
    pull = (theta - law.prior_mean) / law.prior_sd**2
    return found.value + law.log_prior(theta), found.gradient - pull


def leap(
    rng: np.random.Generator,
    theta: np.ndarray,
    y: np.ndarray,
    prior: Prior,
    metric: Metric,
    warming: bool,
    number: int,
) -> bool | None:
    """Leap ``number`` of a trajectory of theta (P,) under p(theta | y), y (K, N); the last one says whether it was taken,
    and changes theta in place. What there is of an unfinished trajectory is kept in the metric."""
    if number == 0:
        if warming:
            _learn_root(theta, y, prior, metric)
        metric["path"] = _set_out(rng, theta, y, prior, metric)
    path, root = metric["path"], metric["root"]
    if path["value"] > -math.inf:
        path["speed"] += 0.5 * path["step"] * (path["slope"] @ root)
        path["place"] += path["step"] * (root @ path["speed"])
        path["value"], path["slope"] = log_posterior(prior, path["place"], y)
        path["speed"] += 0.5 * path["step"] * (path["slope"] @ root)
    return None if number + 1 < LEAPS else _arrive(rng, theta, metric, warming)


def _set_out(
    rng: np.random.Generator, theta: np.ndarray, y: np.ndarray, prior: Prior, metric: Metric
) -> Path:
    step = math.exp(metric["log_step"]) * (0.7 + 0.6 * rng.random())
    value, slope = log_posterior(prior, theta, y)
    speed = rng.standard_normal(len(theta))
    energy = value - 0.5 * float(speed @ speed)
    return {
        "place": theta.copy(), "speed": speed, "slope": slope, "value": value, "energy": energy, "step": step,
    }  # fmt: skip


def _arrive(rng: np.random.Generator, theta: np.ndarray, metric: Metric, warming: bool) -> bool:
    """Take the end of a trajectory, or stay; learn from it in the warm-up."""
    path = metric.pop("path")
    gain = path["value"] - 0.5 * float(path["speed"] @ path["speed"]) - path["energy"]
    chance = math.exp(min(gain, 0.0)) if gain == gain else 0.0
    if warming:
        metric["count"] += 1
        metric["log_step"] += (chance - TARGET) / math.sqrt(metric["count"])
        metric["recent"] += _MEMORY * (chance - metric["recent"])
    taken = rng.random() < chance
    if taken:
        theta[:] = path["place"]
    return taken


def _learn_root(theta: np.ndarray, y: np.ndarray, prior: Prior, metric: Metric) -> None:
    """Make the metric anew when it is due: ever more rarely, as z settles."""
    if metric["count"] < metric["due"]:
        return
    metric["due"] *= _LATER
    metric["root"] = root_at_mode(prior, theta, y)
    metric["recent"], metric["log_step"] = TARGET, 0.0


def root_at_mode(prior: Prior, theta: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(P, P) T with ``T T'`` the inverse of the negative Hessian of log p(theta | y) at the mode above ``theta``.

    Where the posterior is flat or curved upwards the prior's curvature stands for its own.
    """

    def descent(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = log_posterior(prior, place, y)
        return (-value, -slope) if value > -math.inf else (1e300, slope)

    mode = minimize(descent, theta, jac=True, method="L-BFGS-B", options={"maxiter": _SEARCH}).x
    values, vectors = np.linalg.eigh(hessian_of(prior, mode, y))
    least = prior.covariance.prior_sd.max() ** -2.0
    return np.asarray(vectors / np.sqrt(np.maximum(values, least)))


def hessian_of(prior: Prior, theta: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(P, P) negative Hessian of log p(theta | y), by central differences of the gradient."""
    steps = _DIFFERENCE * np.eye(len(theta))
    columns = [
        log_posterior(prior, theta - step, y)[1] - log_posterior(prior, theta + step, y)[1] for step in steps
    ]
    bend = np.array(columns) / (2.0 * _DIFFERENCE)
    return np.asarray(0.5 * (bend + bend.T))
