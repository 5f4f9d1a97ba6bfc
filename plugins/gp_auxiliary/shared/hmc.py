"""Hamiltonian trajectories of the covariance's parameters given values with unit noise, f integrated out.

Their metric is made in the warm-up (``metric.py``). Any metric and step give the right law.
"""

from __future__ import annotations

import math

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.metric import TARGET, learn_metric, log_posterior, note_draw
from plaidwork.plugins.gp_auxiliary.shared.state import Metric, Path

LEAPS = 3
"""Leapfrog steps of a trajectory."""
UNITS = LEAPS + 2
"""Pieces of work of a trajectory, each of one gradient: something of the metric, the start, the leaps."""
POOR = 0.2
"""Acceptance below which random walks take over."""
_MEMORY = 0.02
"""What a trajectory counts for in the acceptance of late: about the last 50."""


def leap(
    rng: np.random.Generator,
    theta: np.ndarray,
    y: np.ndarray,
    prior: Prior,
    metric: Metric,
    warming: bool,
    number: int,
) -> bool | None:
    """Unit ``number`` of a trajectory of theta (P,) under p(theta | y), y (K, N); the last one says whether it was taken,
    and changes theta in place. What there is of an unfinished trajectory is kept in the metric."""
    if number == 0:
        if warming:
            learn_metric(theta, y, prior, metric)
        else:
            metric.pop("search", None)
        return None
    if number == 1:
        metric["path"] = _set_out(rng, theta, y, prior, metric)
        return None
    path, root = metric["path"], metric["root"]
    if path["value"] > -math.inf:
        path["speed"] += 0.5 * path["step"] * (path["slope"] @ root)
        path["place"] += path["step"] * (root @ path["speed"])
        path["value"], path["slope"] = log_posterior(prior, path["place"], y)
        path["speed"] += 0.5 * path["step"] * (path["slope"] @ root)
    return None if number + 1 < UNITS else _arrive(rng, theta, metric, warming)


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
    if warming and "window" in metric:
        note_draw(theta, metric)
    return taken
