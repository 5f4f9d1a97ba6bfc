"""The metric of Hamiltonian trajectories, made in the warm-up. Any metric gives the right law.

At first it is the negative Hessian at a mode of ``p(theta | y)``, by differences of the gradient: steps of the posterior's own
size in every direction (Girolami & Calderhead 2011, Journal of the Royal Statistical Society B 73:123, with one metric for all
theta), for the values (and their scales, which change with the
precisions of raters) as they are when it is due, a gradient with each trajectory, so that no slice of a sweep is long. But the
mode for the values of one sweep may be far sharper than the posterior is. So, where a window is kept, the covariance of the draws
of later and later parts of the warm-up takes its place (Carpenter et al. 2017, Journal of Statistical Software 76(1), section 3).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.state import Metric, Search, Window

TARGET = 0.8
"""Acceptance that the step of trajectories aims at in the warm-up."""
_FIRST_DUE, _LATER = 2, 5
_SEARCH = 25
"""Most gradients of the search for a mode."""
_NEAR = 0.01
"""Nats: a step that gains less ends the search."""
_SHORT = 1e-3
"""Share of a step below which the search ends."""
_ENOUGH = 1e-4
"""Share of the gain that the slope promises which a step has to bring (Armijo)."""
_DIFFERENCE = 1e-3
_WINDOW = 60
"""Trajectories after which the first window ends; each later one is ``_LONGER`` times as long as all before it."""
_LONGER = 1.5
_FEW = 5
"""Draws, and two for each parameter, that correlations of 0 count for beside those of a window."""
_FAR = 30.0
"""Logarithms beyond this are taken for impossible, as they overflow."""


def new_metric(prior: Prior, by_draws: bool) -> Metric:
    """The prior's own standard deviations, until the warm-up has seen values; ``by_draws`` whether their covariance follows."""
    metric: Metric = {
        "root": np.diag(prior.covariance.prior_sd),
        "log_step": math.log(0.5),
        "count": 0,
        "due": _FIRST_DUE,
        "recent": TARGET,
    }
    if by_draws:
        metric["window"] = _window(_WINDOW, len(metric["root"]))
    return metric


def _window(until: int, size: int) -> Window:
    return {"until": until, "seen": 0, "mean": np.zeros(size), "spread": np.zeros((size, size))}


def note_draw(theta: np.ndarray, metric: Metric) -> None:
    """Take theta (P,) at the end of a trajectory of the warm-up into the window; when that ends, its covariance is the metric."""
    window = metric["window"]
    window["seen"] += 1
    off = theta - window["mean"]
    window["mean"] = window["mean"] + off / window["seen"]
    window["spread"] = window["spread"] + np.outer(off, theta - window["mean"])
    if metric["count"] < window["until"]:
        return
    covariance = window["spread"] / max(window["seen"] - 1, 1)
    few = _FEW + 2 * len(theta)
    covariance *= window["seen"] / (window["seen"] + few)
    covariance[np.diag_indices(len(theta))] *= 1.0 + few / window["seen"]
    if np.diag(covariance).min() > 0.0:
        metric["root"] = np.asarray(np.linalg.cholesky(covariance), float)
        metric["recent"], metric["log_step"] = TARGET, 0.0
        metric.pop("search", None)
    metric["window"] = _window(metric["count"] + int(_LONGER * metric["count"]), len(theta))


def log_posterior(prior: Prior, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """``log p(theta | y)`` of values y (K, N), but for a constant, and its gradient (P,)."""
    law = prior.covariance
    if not np.abs(theta).max() < _FAR:
        return -math.inf, np.zeros(len(theta))
    found = evidence(prior, theta, y)
    pull = (theta - law.prior_mean) / law.prior_sd**2
    return found.value + law.log_prior(theta), found.gradient - pull


def learn_metric(theta: np.ndarray, y: np.ndarray, prior: Prior, metric: Metric) -> None:
    """A unit of work on the metric, for theta (P,) and y (K, N), when one is due: ever more rarely, as the values settle."""
    if "search" not in metric:
        if metric["count"] < metric["due"] or (metric["count"] >= _WINDOW and "window" in metric):
            return
        metric["due"] *= _LATER
        metric["search"] = _begun(theta, y, prior, metric["root"])
        return
    search = metric["search"]
    prior = replace(prior, x=search.get("x", prior.x))
    if not search["found"]:
        _climb(prior, search)
        return
    column = search["columns"]
    step = np.zeros(len(theta))
    step[column] = _DIFFERENCE
    search["bend"][column] = search["slope"] - log_posterior(prior, search["place"] + step, search["y"])[1]
    search["columns"] += 1
    if search["columns"] == len(theta):
        metric["root"] = _root_of(search["bend"] / _DIFFERENCE, prior)
        metric["recent"], metric["log_step"] = TARGET, 0.0
        del metric["search"]


def _begun(theta: np.ndarray, y: np.ndarray, prior: Prior, root: np.ndarray) -> Search:
    value, slope = log_posterior(prior, theta, y)
    return {
        "x": prior.x.copy(), "y": y.copy(), "place": theta.copy(), "value": value, "slope": slope, "curve": root @ root.T, "length": 1.0,
        "tried": 0, "found": not value > -math.inf, "bend": np.zeros((len(theta), len(theta))), "columns": 0,
    }  # fmt: skip


def _climb(prior: Prior, search: Search) -> None:
    """A try of a quasi-Newton step (Nocedal & Wright 2006, Numerical Optimization, equation 6.17) to the mode."""
    direction = search["curve"] @ search["slope"]
    step = search["length"] * direction
    value, slope = log_posterior(prior, search["place"] + step, search["y"])
    search["tried"] += 1
    gain = value - search["value"]
    if gain >= _ENOUGH * float(step @ search["slope"]):
        change = search["slope"] - slope
        along = float(step @ change)
        if along > 0.0:
            turn = np.eye(len(step)) - np.outer(step, change) / along
            search["curve"] = turn @ search["curve"] @ turn.T + np.outer(step, step) / along
        search["place"], search["value"], search["slope"] = search["place"] + step, value, slope
        search["length"] = 1.0
    else:
        gain, search["length"] = math.inf, 0.25 * search["length"]
    search["found"] = gain < _NEAR or search["tried"] == _SEARCH or search["length"] < _SHORT


def _root_of(bend: np.ndarray, prior: Prior) -> np.ndarray:
    """(P, P) T with ``T T'`` the inverse of a negative Hessian (P, P); where that is flat or curved upwards the prior's
    curvature stands for its own."""
    values, vectors = np.linalg.eigh(0.5 * (bend + bend.T))
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
