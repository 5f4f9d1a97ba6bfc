"""Moves of f with the auxiliary variables integrated out, along a Gaussian reference that is learnt in the warm-up."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from plaidwork.core.api import in_python
from plaidwork.plugins.gp_auxiliary.kernels import hamiltonian, precision
from plaidwork.plugins.gp_auxiliary.shared.blocks import generators, in_blocks, is_large, projected, summed
from plaidwork.plugins.gp_auxiliary.shared.gram import (
    Prior,
    dense_precision,
    inverse_of,
    is_dense,
    root_of_f,
    times_q,
)
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

    def products(part: slice) -> tuple[np.ndarray, np.ndarray]:
        its = g[part]
        return its.T @ (weight[part, None] * its), its.T @ (bend[part, None] * its)

    own, whole = (np.linalg.cholesky(identity + sums) for sums in summed(products, len(g)))
    rows = _turned(g, whole)
    turn = np.ascontiguousarray(solve_triangular(own, whole, lower=True).T)
    return {
        "map": rows,
        "centre": projected(reference["pull"], rows),
        "sd": 1.0 / np.sqrt(weight),
        "turn": turn,
        "root": _NOTHING,
    }


def _turned(g: np.ndarray, root: np.ndarray) -> np.ndarray:
    """``G root^-T`` (N, r) of loadings (N, r) and a lower triangular root; of large data by the inverse, block by block."""
    if not is_large(len(g)):
        return np.ascontiguousarray(solve_triangular(root, g.T, lower=True).T)
    turned, rows = inverse_of(root).T, np.empty_like(g)
    in_blocks(lambda part: np.matmul(g[part], turned, out=rows[part]), len(g))
    return rows


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
    return np.asarray(flow["turn"] @ (projected(z, rows) + rng.standard_normal(rows.shape[1])))


def values_of(w: np.ndarray, flow: Flow) -> np.ndarray:
    """f (N,) at w, without the samples' own terms of a low-rank form."""
    rows = flow["map"]
    return np.concatenate(in_blocks(lambda part: rows[part] @ w, len(rows)))


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
    apart = is_large(len(z)) and not triangular
    taken = (_move_and_draw if apart else hamiltonian.move_and_draw)(
        rng, flow["map"], triangular, w, flow["centre"], z, low, high, flow["sd"],
        reference["pull"], reference["bend"], steps, angle, count,
    )  # fmt: skip
    reference["tried"] += count
    reference["taken"] += taken
    if warming:
        gain = 1.0 / math.sqrt(1.0 + reference["count"])
        angle = reference["log_angle"] + gain * (taken / count - TARGET)
        reference["log_angle"] = min(max(angle, math.log(0.02)), math.log(1.2))
        (_local_terms if apart else hamiltonian.local_terms)(
            flow["map"], triangular, w, low, high, flow["sd"], reference["sums"]
        )
        reference["count"] += 1


def _rest(
    rows: np.ndarray, triangular: bool, w: np.ndarray, low: np.ndarray, high: np.ndarray, sd: np.ndarray, pull: np.ndarray,
    bend: np.ndarray, slope: np.ndarray,
) -> float:  # fmt: skip
    """``hamiltonian.rest`` block by block."""

    def work(part: slice) -> tuple[float, np.ndarray]:
        its = np.empty(len(w))
        found = hamiltonian.rest(
            rows[part], triangular, w, low[part], high[part], sd[part], pull[part], bend[part], its
        )
        return found, its

    total, slope[:] = summed(work, len(rows))
    return float(total)


def _draw_z(
    rng: np.random.Generator, rows: np.ndarray, triangular: bool, w: np.ndarray, z: np.ndarray, low: np.ndarray,
    high: np.ndarray, sd: np.ndarray,
) -> None:  # fmt: skip
    """``hamiltonian.draw_z`` block by block."""
    own_rng = generators(rng, len(z))

    def work(part: slice) -> None:
        hamiltonian.draw_z(own_rng(part), rows[part], triangular, w, z[part], low[part], high[part], sd[part])

    in_blocks(work, len(z))


def _local_terms(
    rows: np.ndarray, triangular: bool, w: np.ndarray, low: np.ndarray, high: np.ndarray, sd: np.ndarray, out: np.ndarray
) -> None:  # fmt: skip
    """``hamiltonian.local_terms`` block by block."""

    def work(part: slice) -> None:
        its = np.zeros((3, part.stop - part.start))
        hamiltonian.local_terms(rows[part], triangular, w, low[part], high[part], sd[part], its)
        out[:, part] += its

    in_blocks(work, len(rows))


_move_and_draw = in_python(
    hamiltonian.move_and_draw, move_f=in_python(hamiltonian.move_f, rest=_rest), draw_z=_draw_z
)


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
