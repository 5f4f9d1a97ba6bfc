"""Moves of f with the auxiliary variables integrated out, along a Gaussian reference that is learnt in the warm-up."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from plaidwork.plugins.gp_auxiliary.kernels import hamiltonian, precision
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, dense_precision, is_dense, root_of_f, times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Flow, Gram, Precision, Reference

NOWHERE = np.zeros(0)
"""The place w of a chain whose f has to be drawn given z first: whoever changes z or integrates f out sets it."""
_NOTHING = np.zeros((0, 0))
NO_FLOW: Flow = {
    "map": _NOTHING, "centre": NOWHERE, "sd": NOWHERE, "turn": _NOTHING, "root": _NOTHING,
}  # fmt: skip
WHOLE_TURN = 1.8
"""Radians of a trajectory, a little over a quarter of a turn: where the reference is exact, f is new after it."""
START_ANGLE = 0.6
MOST_STEPS = 12
TARGET = 0.85
"""Share of accepted trajectories that the angle aims at."""
LEAST_BEND, MOST_BEND = 0.02, 1.0


def new_reference(z: np.ndarray) -> Reference:
    """A first guess from values z (N,) within the labels' intervals."""
    bend = np.full(len(z), 0.4)
    return {
        "pull": bend * np.clip(z, -3.0, 3.0),
        "bend": bend,
        "sums": np.zeros((3, len(z))),
        "count": 0,
        "due": 4,
        "log_angle": math.log(START_ANGLE),
        "tried": 0,
        "taken": 0,
    }


def flow_of(prior: Prior, theta: np.ndarray, gram: Gram, reference: Reference) -> Flow:
    """The map from w to f at these parameters, of which ``gram`` is the precision."""
    bend = reference["bend"]
    if is_dense(gram):
        root = np.sqrt(bend)
        inner = root[:, None] * prior.covariance.matrix(prior.x, theta) * root
        inverse, _log_det = dense_precision(inner)
        rows = np.ascontiguousarray(lower_root(inverse) / root[:, None])
        return {
            "map": rows,
            "centre": reference["pull"] @ rows,
            "sd": np.ones(len(bend)),
            "turn": _NOTHING,
            "root": gram["root"] if len(gram["root"]) else root_of_f(gram["rows"]),
        }
    g, weight = gram["loadings"], gram["weight"]
    identity = np.eye(g.shape[1])
    own = np.linalg.cholesky(identity + g.T @ (weight[:, None] * g))
    whole = np.linalg.cholesky(identity + g.T @ (bend[:, None] * g))
    rows = np.ascontiguousarray(solve_triangular(whole, g.T, lower=True).T)
    turn = np.ascontiguousarray(solve_triangular(own, whole, lower=True).T)
    return {
        "map": rows,
        "centre": reference["pull"] @ rows,
        "sd": 1.0 / np.sqrt(weight),
        "turn": turn,
        "root": _NOTHING,
    }


def lower_root(inverse: np.ndarray) -> np.ndarray:
    """(N, N) lower triangular root of I - inverse, which rounding may have made indefinite."""
    for jitter in (1e-9, 1e-7):
        try:
            return np.asarray(precision.root_of_rest(inverse, jitter))
        except np.linalg.LinAlgError:
            continue
    return np.asarray(precision.root_of_rest(inverse, 1e-5))


def place_of(rng: np.random.Generator, z: np.ndarray, gram: Precision, flow: Flow) -> np.ndarray:
    """w (r,) drawn given z (N,), whatever the labels: f | z ~ N(S z, S)."""
    if is_dense(gram):
        f = z - times_q(z, gram) + flow["root"] @ rng.standard_normal(len(z))
        hamiltonian.solve_lower(flow["map"], f)
        return np.asarray(f)
    rows = gram["rows"]
    return np.asarray(flow["turn"] @ (z @ rows + rng.standard_normal(rows.shape[1])))


def values_of(w: np.ndarray, flow: Flow) -> np.ndarray:
    """f (N,) at w, without the samples' own terms of a low-rank form."""
    return np.asarray(flow["map"] @ w)


def move(
    rng: np.random.Generator,
    w: np.ndarray,
    z: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    flow: Flow,
    reference: Reference,
    warming: bool,
    count: int,
) -> None:
    """``count`` trajectories of w (r,) given the labels, z integrated out, then z (N,) given f; both in place.

    ``ends`` are the low and high ends (N,) of the labels' intervals.
    """
    low, high = ends
    angle = math.exp(reference["log_angle"])
    steps = min(max(round(WHOLE_TURN / angle), 1), MOST_STEPS)
    triangular = len(flow["turn"]) == 0
    taken = hamiltonian.move_and_draw(
        rng, flow["map"], triangular, w, flow["centre"], z, low, high, flow["sd"],
        reference["pull"], reference["bend"], steps, angle, count,
    )  # fmt: skip
    reference["tried"] += count
    reference["taken"] += taken
    if warming:
        gain = 1.0 / math.sqrt(1.0 + reference["count"])
        angle = reference["log_angle"] + gain * (taken / count - TARGET)
        reference["log_angle"] = min(max(angle, math.log(0.02)), math.log(1.2))
        hamiltonian.local_terms(flow["map"], triangular, w, low, high, flow["sd"], reference["sums"])
        reference["count"] += 1


def learn(reference: Reference) -> bool:
    """Take the averages of the warm-up so far for the reference, now and then; whether it changed.

    With them the reference is the Gaussian nearest to the law of f given the labels (Opper & Archambeau 2009, Neural
    Computation 21:786): ``W = E[curvature]``, ``b = E[slope] + W E[f]``.
    """
    if reference["count"] < reference["due"]:
        return False
    f, slope, curvature = reference["sums"] / reference["count"]
    reference["bend"] = np.clip(curvature, LEAST_BEND, MOST_BEND)
    reference["pull"] = slope + reference["bend"] * f
    reference["sums"] = np.zeros_like(reference["sums"])
    reference["count"], reference["due"] = 0, 2 * reference["due"]
    reference["log_angle"] = math.log(START_ANGLE)
    return True
