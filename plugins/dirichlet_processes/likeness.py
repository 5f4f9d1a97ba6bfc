"""How alike the clusters are in spread, learned: the shape a0 of the laws of their variances and covariances.

    log(a0 - 1) ~ N(log(within_shape - 1), 1),  a0 >= least_shape

The bound is for values that come back: without it a0 runs to 1, at which few clusters of next to no width take the ties.
Given a0 every law of the base is that of ``base.py`` and ``joint.py`` with a0 in the place of the setting. a0 is drawn with the expected
variances ``b0_j / (a0 - 1)`` and covariances ``Psi0 / (2 (a0 - 1))`` held, whose prior and bounds do not depend on it: with b0 and Psi0 held
it could hardly move. The parameters of clusters are integrated out; slice sampling of ``log(a0 - 1)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtri_exp

from plaidwork.plugins.dirichlet_processes.joint_layout import pieces
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters
from plaidwork.plugins.dirichlet_processes.kernels.likeness import (
    Spreads,
    evidence_of_correlated,
    evidence_of_numbers,
)
from plaidwork.plugins.dirichlet_processes.kernels.scatter import lower_root, times_own
from plaidwork.plugins.dirichlet_processes.partitions import Floats, slice_draw
from plaidwork.plugins.dirichlet_processes.settings import JOINT, NUMBERS, ColumnSettings

if TYPE_CHECKING:
    from plaidwork.plugins.dirichlet_processes.state import Base, Table

REACH = 6.0
"""Standard deviations around the prior's mean within which the logarithm is looked for; its prior has nothing beyond that could be seen."""
KEPT = 32
"""Tables of log gammas that are kept: two for each chain and tempered copy that are under way."""

Some = TypeVar("Some", bound=Mapping[str, Any])


def learns_shape(params: ColumnSettings, kinds: tuple[str, ...]) -> bool:
    """Whether the shape is learned: not every model here has the setting, and without numbers there is none."""
    asked = params["learn_base"] and bool(cast(Mapping[str, Any], params).get("learn_shape", False))
    return asked and any(kind in (NUMBERS, JOINT) for kind in kinds)


def at_shape(params: Some, base: Base) -> Some:
    """The settings with the shape of this base, where it is learned."""
    return cast(Some, {**params, "within_shape": base["shape"]}) if "shape" in base else params


def middle_and_least(params: ColumnSettings) -> tuple[float, float]:
    """Mean of the normal law of ``log(a0 - 1)``, and where it is cut off below."""
    least = float(cast(Mapping[str, Any], params).get("least_shape", 1.0))
    return math.log(params["within_shape"] - 1.0), math.log(least - 1.0) if least > 1.0 else -math.inf


def prior_shape(params: ColumnSettings, rng: np.random.Generator) -> float:
    """A draw from the prior, by the probability of what is above it."""
    middle, least = middle_and_least(params)
    above = math.log(1.0 - rng.random()) + log_ndtr(middle - least)
    return 1.0 + math.exp(middle - float(ndtri_exp(above)))


def log_prior_shape(base: Base, params: ColumnSettings) -> float:
    """Log density of the shape at the settings of the fit, as far as it is learned."""
    if "shape" not in base:
        return 0.0
    u, (middle, least) = math.log(base["shape"] - 1.0), middle_and_least(params)
    inside = float(log_ndtr(middle - least))
    return -0.5 * (u - middle) ** 2 - 0.5 * math.log(2.0 * math.pi) - u - inside


@lru_cache(maxsize=KEPT)
def gamma_steps(shape: float, n: int) -> Floats:
    """(n + 1,) ``log Gamma(shape + (c + 1) / 2) - log Gamma(shape + c / 2)`` for c from 0 on; not to be changed."""
    return np.asarray(np.diff(gammaln(shape + 0.5 * np.arange(n + 2))))


def spreads_of(c: Clusters, number: int, base: Base, table: Table) -> Spreads:
    """What the clusters in the first ``number`` slots say of the shape, at the base they were added up with."""
    away, k0 = base["shape"] - 1.0, base["k0"][table.number_of[:, 0]]
    known, gap = c.known[:number], c.mean[:number] - base["m0"]
    rest = np.empty((number, len(base["psi"])))
    for d, _, square in pieces(table.joint_first):
        psi = base["psi"][square].reshape(d, d)
        for k in range(number):
            lower = c.joint_root[k, square].reshape(d, d).T.copy()
            rest[k, square] = (times_own(lower) - psi).ravel()
    return Spreads(
        known, 0.5 * (c.square[:number] + k0 * known / (k0 + known) * gap * gap), base["b0"] / away,
        c.size[:number], rest, base["psi"] / (2.0 * away), table.joint_first,
    )  # fmt: skip


def update_shape(
    rng: np.random.Generator, c: Clusters, number: int, base: Base, params: ColumnSettings, table: Table
) -> None:
    """Draw the shape given the clusters in the first ``number`` slots; base and triangles of the slots follow, in place. O(K (G + d^3))."""
    if "shape" not in base:
        return
    spreads, (middle, least) = spreads_of(c, number, base, table), middle_and_least(params)
    low = max(middle - REACH, least)

    def density(u: float) -> float:
        a0 = 1.0 + math.exp(u)
        found = evidence_of_numbers(spreads, a0) + evidence_of_correlated(spreads, a0)
        return float(found) - 0.5 * (u - middle) ** 2

    u = slice_draw(rng, math.log(base["shape"] - 1.0), density, low, max(middle, low) + REACH)
    base["shape"] = 1.0 + math.exp(u)
    base["b0"] = math.exp(u) * spreads.usual
    base["psi"] = 2.0 * math.exp(u) * spreads.scatter
    for d, _, square in pieces(table.joint_first):
        psi = base["psi"][square].reshape(d, d)
        for k in range(number):
            c.joint_root[k, square] = lower_root(psi + spreads.rest[k, square].reshape(d, d)).T.ravel()
