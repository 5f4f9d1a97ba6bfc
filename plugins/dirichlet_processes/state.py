"""What a chain keeps, by name, and the data as the kernels take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api_tempering import Swaps
from plaidwork.plugins.dirichlet_processes.joint_layout import roots_of
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law, empty_clusters
from plaidwork.plugins.dirichlet_processes.likeness import gamma_steps
from plaidwork.plugins.dirichlet_processes.partitions import Floats, log_new, shift_of
from plaidwork.plugins.dirichlet_processes.settings import Settings

Ints = NDArray[np.int64]
SLOTS = 8


class Base(TypedDict):
    """What the clusters have in common."""

    m0: Floats
    """(G,) centre of each column of numbers, standardised"""
    k0: Floats
    """(V,) weight by matrix: of the centre, also where there are no numbers; of rows of counts that of each column's share"""
    b0: Floats
    """(G,) scale of the variances"""
    rate: Floats
    """(P,) rate of the law of rates"""
    joint_m0: Floats
    """(F,) centre of each correlated column, standardised"""
    psi: Floats
    """(Q,) Psi0 of each matrix of correlated columns, d x d numbers, one matrix after the other"""
    shape: NotRequired[float]
    """Of the laws of variances and covariances, where it is learned: see ``likeness.py``"""


class Copy(TypedDict):
    """A partition with its base and concentration: all that the next sweep of an untempered chain depends on."""

    labels: Ints
    """(n,) cluster of each row; -1 before the first sweep of a sequential start"""
    order: Ints
    """(n,) the order of the rows in this sweep"""
    alpha: float
    discount: float
    base: Base
    clusters: dict[str, NDArray[Any]]
    pair: dict[str, NDArray[Any]]
    """Three slots for a move"""
    joint: Floats
    """(n, F) correlated columns, standardised; missing cells hold what was drawn last"""
    fresh: Floats
    """(n,) log density of each row in an empty cluster"""
    at: Ints
    """(5,) see ``kernels/scan.py``"""
    log_evidence: float
    """Log density of the data given partition and base, at the end of a sweep"""
    log_new: Floats
    """(n + 1,) as in the law, at this sweep's concentration"""


class State(Copy):
    """All that the next sweep depends on. The other entries are there where a chain is tempered, see ``tempering.py``."""

    copies: NotRequired[dict[str, Copy]]
    """By number from 1: copies with the density of the data to a power; 0 is the chain itself"""
    powers: NotRequired[Floats]
    """(M,) from 1 down, of the chain and its copies"""
    swaps: NotRequired[Swaps]


@dataclass(frozen=True)
class Table:
    """The matrices of a fit side by side, by kind of column.

    ``matrix`` and ``column`` say of each column of numbers, codes and counts where it is from; ``centre`` and ``scale`` (G,) are
    those of the numbers, ``joint_centre`` and ``joint_scale`` (F,) those of correlated columns, ``unit`` (P,) the mean count that rates are relative to, ``values`` the distinct values of each column of
    codes, ``kinds`` the likelihood of each matrix.
    """

    items: Items
    kinds: tuple[str, ...]
    number_of: NDArray[np.int64]
    """(G, 2) matrix and column"""
    code_of: NDArray[np.int64]
    """(C, 2)"""
    count_of: NDArray[np.int64]
    """(P, 2)"""
    centre: Floats
    scale: Floats
    unit: Floats
    values: tuple[Floats, ...]
    first: Ints
    """(C + M + 1,) where the levels of each column of codes, then the columns of each matrix of rows of counts begin"""
    joint_of: NDArray[np.int64]
    """(F, 2) matrix and column of correlated columns"""
    joint_first: Ints
    """(B + 1,) where the columns of each of their matrices begin"""
    joint_centre: Floats
    joint_scale: Floats
    share_of: NDArray[np.int64]
    """(W, 2) matrix and column of the columns of rows of counts that share a total"""
    constant: float
    """What the log density of the data in their own unit has more than that of the clusters"""
    steps: Floats
    """(n + 1,) of the law"""
    least: Floats
    """(G,) least variance within a cluster that is expected of each column of numbers, in units of the fit"""
    joint_least: Floats
    """(F,) of correlated columns"""

    @cached_property
    def widths(self) -> tuple[int, int, int, int]:
        """As ``Clusters`` has them: columns of numbers, of codes and matrices of rows of counts, levels of all these, columns of counts."""
        return len(self.number_of), len(self.first) - 1, int(self.first[-1]), len(self.count_of)

    @cached_property
    def matrices_of_numbers(self) -> NDArray[np.int64]:
        """Which matrices have columns of numbers, in order."""
        return np.unique(self.number_of[:, 0])

    @cached_property
    def joint_widths(self) -> tuple[int, ...]:
        """Columns of each matrix whose columns are correlated."""
        return tuple(np.diff(self.joint_first).tolist())

    @cached_property
    def row_matrix(self) -> NDArray[np.int64]:
        """(M,) which matrices are rows of counts that share a total."""
        return np.unique(self.share_of[:, 0])

    @cached_property
    def joint_matrix(self) -> NDArray[np.int64]:
        """(B,) which matrices these are."""
        return np.asarray(self.joint_of[self.joint_first[:-1], 0])


def with_joint(state: Mapping[str, Any], table: Table) -> State:
    """A state of before columns could be correlated, none of which were."""
    none = np.zeros(0)

    def wider(clusters: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {**empty_clusters(len(clusters["size"]), *table.widths), **clusters}

    found = {
        **state,
        "base": {**state["base"], "joint_m0": none, "psi": none},
        "clusters": wider(state["clusters"]),
        "pair": wider(state["pair"]),
        "joint": np.zeros((len(state["labels"]), 0)),
    }
    return cast(State, found)


def law_of(
    table: Table, base: Base, params: Settings, new: Floats, discount: float, power: float = 1.0
) -> Law:
    """The numbers of the priors as the kernels take them; ``new`` is ``log_new``, ``power`` that of a tempered copy."""
    steps = gamma_steps(base["shape"], len(table.steps) - 1) if "shape" in base else table.steps
    return Law(
        base.get("shape", params["within_shape"]), base["m0"], base["k0"][table.number_of[:, 0]], base["b0"], steps,
        params["level_weight"],
        table.first, params["rate_shape"], base["rate"], shift_of(params, discount), new, table.joint_first, base["joint_m0"],
        base["k0"][table.joint_matrix], roots_of(base["psi"], table.joint_first), base["k0"][table.row_matrix],
        power,
    )  # fmt: skip


def law_at(state: Copy, table: Table, params: Settings, power: float = 1.0) -> Law:
    """The law of this sweep."""
    return law_of(table, state["base"], params, state["log_new"], state["discount"], power)


def items_of(state: Copy, table: Table) -> Items:
    """The rows, missing cells of correlated columns as this chain has drawn them."""
    return table.items._replace(joint=state["joint"])


def clusters_of(state: Copy) -> Clusters:
    """The slots as they are now."""
    return Clusters(**state["clusters"])


def refresh_weights(state: Copy, params: Settings) -> None:
    """The weights of new clusters at the state's concentration."""
    n = len(state["labels"])
    if params["prior"] != "finite" or len(state["log_new"]) != n + 1:
        state["log_new"] = log_new(params, n, state["alpha"], state["discount"])
