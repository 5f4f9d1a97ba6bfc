"""Moves of f with the covariance's parameters, the auxiliary variables integrated out.

Given z the parameters hardly move where the labels say little, and given them z does not. Here f is a sum of summands of unit
normals (``kernels/together.py``), drawn given z. By turns they make Hamiltonian trajectories with the sizes of the summands, and one of the
parameters of their shapes takes a step while they stay (Murray & Adams 2010, Advances in Neural Information Processing Systems
23:1732, section 2). Only labels and priors count. What the trajectories go by is learnt in the warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtri

from plaidwork.plugins.gp_auxiliary.kernels import together as kernels
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Gram, Together
from plaidwork.plugins.gp_auxiliary.shared.summands import Summand, summands_of
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings

MOST = 400
"""Samples above which a trajectory would hold a chain for too long."""
MOST_CLASSES = 10
"""Of more, the chances to lead, whose cost rises with the classes for every sample, would hold a chain for too long."""
ROUNDS = 4
"""Trajectories of a draw, each followed by steps of the shapes."""
_STEPS = 2
_FEWEST, _LONGEST = 10, 30
"""Leaps of a trajectory, drawn at random: no length is right for all that moves."""
_TARGET, _TARGET_STEP = 0.8, 0.44
"""Shares of accepted trajectories, and steps of one parameter, that are aimed at."""
_LEFT = 1e-8
"""Of the variance at size 1 a sample, what the root of a summand may leave out: far below the noise's 1."""
_FIRST_DUE = 8
_SHORTER = 0.4
"""Of a parameter's sd, which it has with f moving: given f it is narrower."""
_LEAST_SD = 0.05
_FAR = 25.0


def new_together(prior: Prior) -> Together:
    """Nothing learnt yet."""
    law, samples = prior.covariance, len(prior.x)
    return {
        "log_step": math.log(0.1),
        "bend": np.full(samples, 0.1),
        "centre": law.prior_mean,
        "sd": 0.5 * law.prior_sd,
        "squares": np.zeros(samples),
        "sums": np.zeros((2, len(law.parameters))),
        "count": 0,
        "due": _FIRST_DUE,
        "log_size": np.zeros(len(law.parameters)),
        "tried": np.zeros(len(law.parameters)),
    }


def wanted(params: ClassesSettings, samples: int, n_classes: int) -> bool:
    """Whether f and theta are moved together at these settings, of so many samples that all have a label."""
    asked = params.get("stretch") == "trajectories" and params.get("moves") == "hamiltonian"
    few = samples <= MOST and n_classes <= MOST_CLASSES
    return asked and few and params.get("parameters") == "inferred"


def seconds(samples: int, n_classes: int) -> float:
    """About how long the trajectories of a draw take, for each row of f: of four and more classes the chance to lead is an integral."""
    lead = 1.5e-7 * samples if n_classes > 3 else 0.0
    return ROUNDS * 0.5 * (_FEWEST + _LONGEST) * (1.5e-9 * samples**2 + lead)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the labels say of f (K, N): classes ``code`` (N,), and ends ``low``, ``high`` (N,) of one row; ``log_likelihood`` of f."""

    code: np.ndarray
    low: np.ndarray
    high: np.ndarray
    log_likelihood: Callable[[np.ndarray], float]


@dataclass(slots=True)
class _Sum:
    """What f (K, N) is the sum of: summands, for each its unit normals in ``v`` (K, r) and its root (N, r) at size 1, with the
    parameters theta (P,). All of them but ``parts`` and ``law`` change in place."""

    parts: list[Summand]
    law: Covariance
    theta: np.ndarray
    roots: list[np.ndarray]
    v: list[np.ndarray]

    def each(self) -> list[np.ndarray]:
        """(K, N) every summand."""
        return [_part(*one, self.theta, self.law) for one in zip(self.v, self.roots, self.parts, strict=True)]

    def f(self) -> np.ndarray:
        """(K, N)."""
        return np.asarray(np.sum(self.each(), axis=0))

    def by_column(self, values: Sequence[object]) -> np.ndarray:
        """One value, or row of values, a summand, repeated for each of its normals."""
        return np.repeat(np.array(values), [root.shape[1] for root in self.roots], axis=0)


def move_f(
    rng: np.random.Generator,
    z: np.ndarray,
    gram: Gram,
    theta: np.ndarray,
    prior: Prior,
    terms: Terms,
    own: Together,
    warming: bool,
) -> np.ndarray:
    """f (K, N) given z (K, N), then moved with theta (P,), which changes in place; ``gram`` is of theta as it comes."""
    law = prior.covariance
    parts = summands_of(law)
    roots = [_root(prior, theta, part) for part in parts]
    now = _Sum(parts, law, theta, roots, [rng.standard_normal((len(z), root.shape[1])) for root in roots])
    gap = times_q((z - now.f() - rng.standard_normal(z.shape)).T, gram).T
    now.v = [
        mine + (gap @ root) * _scale(part, theta, law)
        for mine, root, part in zip(now.v, roots, parts, strict=True)
    ]
    for _ in range(ROUNDS):
        _trajectory(rng, now, terms, own, warming)
        _steps_of_shapes(rng, now, prior, terms, own, warming)
    if warming:
        _learn(theta, own)
    return now.f()


def _trajectory(rng: np.random.Generator, now: _Sum, terms: Terms, own: Together, warming: bool) -> None:
    """All summands' normals and the sizes in theta moved at once."""
    law = now.law
    rows, whole = np.ascontiguousarray(np.hstack(now.roots)), np.ascontiguousarray(np.hstack(now.v))
    sizes = now.by_column([_sizes(part, law) for part in now.parts])
    typical = rows * now.by_column([_scale(part, own["centre"], law) for part in now.parts])
    inner = np.eye(len(sizes)) + typical.T @ (own["bend"][:, None] * typical)
    root = np.ascontiguousarray(dtrtri(np.linalg.cholesky(inner), lower=1)[0].T)
    squares = np.zeros(len(rows))
    step = math.exp(own["log_step"]) * (0.8 + 0.4 * rng.random())
    chance, _taken = kernels.move_together(
        rng, whole, now.theta, rows, sizes, law.prior_mean, law.prior_sd, terms.code, terms.low, terms.high,
        root, _SHORTER * own["sd"], int(rng.integers(_FEWEST, _LONGEST + 1)), step, squares,
    )  # fmt: skip
    if warming:
        own["squares"] += squares / len(whole)
        own["count"] += 1
        own["log_step"] += (chance - _TARGET) / math.sqrt(own["count"])
    now.v = np.split(whole, np.cumsum([root.shape[1] for root in now.roots])[:-1], axis=1)


def _steps_of_shapes(
    rng: np.random.Generator, now: _Sum, prior: Prior, terms: Terms, own: Together, warming: bool
) -> None:
    """Random-walk steps of single parameters of the summands' shapes, their normals as they are.

    A root may have another number of columns then: normals that a summand does not use have their prior.
    """
    law, theta = now.law, now.theta
    scales = [part.scales for part in now.parts]
    shapes = [p for p in range(len(theta)) if p not in scales]
    if not shapes:
        return
    each = now.each()
    before = terms.log_likelihood(np.sum(each, axis=0)) + law.log_prior(theta)
    for _ in range(_STEPS):
        p = shapes[int(rng.integers(len(shapes)))]
        number = scales.index(_group_of(p, law))
        proposed = theta.copy()
        proposed[p] += math.exp(own["log_size"][p]) * rng.standard_normal()
        chance = 0.0
        if abs(proposed[p]) < _FAR:
            root, v = _root(prior, proposed, now.parts[number]), now.v[number]
            spare = rng.standard_normal((len(v), len(prior.x) - v.shape[1]))
            moved = np.hstack([v, spare])[:, : root.shape[1]]
            part = _part(moved, root, now.parts[number], proposed, law)
            f = np.sum([*each[:number], part, *each[number + 1 :]], axis=0)
            after = terms.log_likelihood(f) + law.log_prior(proposed)
            chance = math.exp(min(after - before, 0.0))
            if rng.random() < chance:
                now.v[number], now.roots[number], theta[p] = moved, root, proposed[p]
                each[number], before = part, after
        if warming:
            own["tried"][p] += 1
            own["log_size"][p] += 2.0 * (chance - _TARGET_STEP) / math.sqrt(own["tried"][p])


def _learn(theta: np.ndarray, own: Together) -> None:
    """Take what the warm-up has seen since the last time for what the trajectories go by, ever more rarely.

    The mean of squared slopes is the mean curvature (Bartlett).
    """
    own["sums"] += np.stack([theta, theta**2])
    draws = own["count"] // ROUNDS
    if draws < own["due"]:
        return
    mean, square = own["sums"] / draws
    own["bend"] = own["squares"] / own["count"]
    own["centre"], own["sd"] = mean, np.maximum(np.sqrt(np.maximum(square - mean**2, 0.0)), _LEAST_SD)
    own["squares"], own["sums"] = np.zeros_like(own["squares"]), np.zeros_like(own["sums"])
    own["count"], own["due"] = 0, 2 * own["due"]


def _sizes(part: Summand, law: Covariance) -> tuple[int, int]:
    """The numbers in theta of the sizes of a summand, the second -1 where it has but one: an intercept has its linear term's too."""
    if part.scales < law.n_groups:
        return part.scales, -1
    return next(group for group in range(law.n_groups) if group not in part.off), part.scales


def _scale(part: Summand, theta: np.ndarray, law: Covariance) -> float:
    first, second = _sizes(part, law)
    return math.exp(0.5 * (theta[first] + (theta[second] if second >= 0 else 0.0)))


def _group_of(p: int, law: Covariance) -> int:
    """The group of terms that a parameter of a shape belongs to."""
    return int(law.table[np.searchsorted(law.table[:, 2], p, side="right") - 1, 1])


def _root(prior: Prior, theta: np.ndarray, part: Summand) -> np.ndarray:
    """(N, r) root of a summand's covariance at size 1."""
    law, size = prior.covariance, len(prior.x)
    if part.scales >= law.n_groups:
        return np.ones((size, 1))
    only = theta.copy()
    only[part.scales] = 0.0
    only[list(part.off)] = -np.inf
    return law.pivoted(prior.x, only, size, _LEFT * size)[0]


def _part(v: np.ndarray, root: np.ndarray, part: Summand, theta: np.ndarray, law: Covariance) -> np.ndarray:
    """(K, N) a summand of its normals v (K, r)."""
    return np.asarray((v @ root.T) * _scale(part, theta, law))
