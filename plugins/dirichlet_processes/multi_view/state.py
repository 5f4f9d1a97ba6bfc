"""What a chain keeps, by name, and the data as the kernels take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import Block, ModelData, ModelError, Params, per_matrix
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law, empty_clusters
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import (
    CODES,
    COUNTS,
    LEVELS,
    NUMBERS,
    Bag,
    Bases,
    Flat,
    Links,
)
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.reading import TABLE_SETTINGS, read
from plaidwork.plugins.dirichlet_processes.state import Base, Ints, Table
from plaidwork.plugins.dirichlet_processes.sweep import work_of_row

SLOTS, BLOCKS = 8, 8
MOVE_SLOTS = 3
PLACE = {"levels": LEVELS, "coded": CODES, "events": COUNTS, "time": COUNTS}
"""Places in a row of widths of the arrays of ``Clusters`` that are not of numbers."""


class ViewState(TypedDict):
    """All that the next sweep depends on. Arrays of several views are flat, one view after the other, as in ``kernels/bags.py``."""

    block: Ints
    """(n,) block of each sample"""
    cluster: Ints
    """(V, n) cluster of each sample in each view, -1 in a view that it lacks"""
    order: Ints
    """(n,) the order of the samples in this sweep"""
    block_alpha: float
    base: list[Base]
    """Of each view"""
    clusters: dict[str, NDArray[Any]]
    """As ``Clusters``, flat"""
    pair: dict[str, NDArray[Any]]
    """Three slots of each view for a move, flat"""
    links: dict[str, NDArray[Any]]
    """As ``Links``"""
    sides: dict[str, NDArray[Any]]
    """``members``, ``present`` and ``uses`` of three blocks for a move"""
    fresh: Floats
    """(V, n) log density of each sample in an empty cluster"""
    at: Ints
    """(5,) see ``kernels/samples.py``"""
    log_evidence: Floats
    """(V,) log density of the data of each view given clusters and base, at the end of a sweep"""
    information: Floats
    """(pairs + V + 1,) see ``dependence.information``, at the end of a sweep"""


@dataclass(frozen=True)
class ViewTables:
    """The data of all views: each as a table of its own, and all in the bag that the kernels take."""

    tables: tuple[Table, ...]
    bag: Bag

    @property
    def widths(self) -> Ints:
        """(V, 4) as ``Table.widths``."""
        return np.asarray(self.bag.width)

    @cached_property
    def numbers(self) -> Ints:
        """(V,) columns of numbers of each view."""
        return self.widths[:, NUMBERS].copy()

    @cached_property
    def work(self) -> int:
        """Counted work of one density of a row in all views."""
        return sum(work_of_row(table) for table in self.tables)


def one_view(block: Block) -> ModelData:
    """The data of one view alone."""
    return ModelData({"views": (block,)})


def read_views(data: ModelData, params: Params) -> ViewTables:
    """All views; asked for with ``data.prepared``, so that chains share them."""
    blocks: tuple[Block, ...] = tuple(data["views"])
    said = per_matrix(str(params["likelihoods"]), [block.name for block in blocks])
    tables = tuple(
        read(one_view(block), {**params, "likelihoods": word})
        for word, block in zip(said, blocks, strict=True)
    )
    has = np.array([block.observed.any(axis=1) for block in blocks])
    return ViewTables(tables, bag_of(tables, [table.items for table in tables], has, params))


def bag_of(tables: Sequence[Table], items: Sequence[Items], has: NDArray[np.bool_], params: Params) -> Bag:
    """Rows of all views as the kernels take them; ``has`` (V, rows) tells which views a row has."""

    def flat(parts: list[NDArray[Any]]) -> NDArray[Any]:
        out: NDArray[Any] = np.concatenate([part.ravel() for part in parts])
        out.flags.writeable = False
        return out

    widths = np.array([table.widths for table in tables], np.int64)
    return Bag(
        flat([one.numbers for one in items]),
        flat([one.known for one in items]),
        flat([one.codes for one in items]),
        flat([one.counts for one in items]),
        flat([one.exposure for one in items]),
        widths,
        np.array([one.complete for one in items]),
        np.ascontiguousarray(has),
        flat([table.first for table in tables]),
        tables[0].steps,
        float(params["within_shape"]),
        float(params["level_weight"]),
        float(params["rate_shape"]),
    )


def tables_of(data: ModelData, params: ViewSettings) -> ViewTables:
    """The data as the kernels take them, read once for all chains."""
    settings = (*TABLE_SETTINGS, "level_weight", "rate_shape")
    found: ViewTables = data.prepared(read_views, cast(Params, params), settings)
    return found


def bases_of(state: ViewState, tables: ViewTables) -> Bases:
    """The bases of all views as the kernels take them."""
    bases = state["base"]
    return Bases(
        np.concatenate([base["m0"] for base in bases]),
        np.repeat([base["k0"][0] for base in bases], tables.numbers),
        np.concatenate([base["b0"] for base in bases]),
        np.concatenate([base["rate"] for base in bases]),
    )


def put_bases(state: ViewState, bases: Bases) -> None:
    """Write what the kernels have made of the bases into the state."""
    numbers, counts = 0, 0
    for base in state["base"]:
        wide, more = len(base["m0"]), len(base["rate"])
        base["m0"], base["b0"] = (
            bases.m0[numbers : numbers + wide].copy(),
            bases.b0[numbers : numbers + wide].copy(),
        )
        base["rate"] = bases.rate[counts : counts + more].copy()
        if wide:
            base["k0"] = bases.k0[numbers : numbers + 1].copy()
        numbers, counts = numbers + wide, counts + more


def law_of_view(base: Base, table: Table, params: ViewSettings) -> Law:
    """The law of the clusters of one view; the prior of partitions has no part in it."""
    return Law(
        params["within_shape"], base["m0"], np.full(len(base["m0"]), base["k0"][0]), base["b0"], table.steps,
        params["level_weight"], table.first, params["rate_shape"], base["rate"], 0.0, np.zeros(0),
        table.joint_first, np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), 1.0,
    )  # fmt: skip


def clusters_at(state: ViewState, tables: ViewTables, v: int) -> Clusters:
    """The clusters of one view; writing into them writes into the state."""
    slots, own, found = state["links"]["slots"], tables.widths[v], {}
    size = int(slots[v])
    before = (slots[:v] @ tables.widths[:v]).tolist()
    for name, flat in state["clusters"].items():
        if name == "size":
            lo = int(slots[:v].sum())
            found[name] = flat[lo : lo + size]
            continue
        width = row_width(name, own)
        lo = before[PLACE.get(name, NUMBERS)] if width else 0
        found[name] = flat[lo : lo + size * width].reshape(size, width)
    return Clusters(**found)


def row_width(name: str, widths: Ints) -> int:
    """Numbers of a slot of a view with these widths (4,), in the array of this name."""
    if name == "size":
        return 1
    return 0 if name.startswith("joint") else int(widths[PLACE.get(name, NUMBERS)])


def flat_clusters(slots: Ints, widths: Ints) -> dict[str, NDArray[Any]]:
    """Free slots of all views, flat."""
    views = []
    for s, row in zip(slots.tolist(), widths.tolist(), strict=True):
        numbers, codes, levels, counts = row
        views.append(empty_clusters(s, numbers, codes, levels, counts))
    return {name: np.concatenate([view[name].ravel() for view in views]) for name in views[0]}


def flat_of(clusters: Mapping[str, NDArray[Any]]) -> Flat:
    """``clusters`` or ``pair`` of a state as the kernels take them."""
    return Flat(*[clusters[name] for name in Flat._fields])


def links_of(state: ViewState) -> Links:
    """Blocks and weights as they are now."""
    return Links(**state["links"])


def sides_of(state: ViewState) -> Links:
    """Three blocks for a move."""
    return Links(**{**state["links"], **state["sides"]})


def new_sides(slots: Ints) -> dict[str, NDArray[Any]]:
    """Three free blocks."""
    return free_blocks(MOVE_SLOTS, slots)


def free_blocks(number: int, slots: Ints) -> dict[str, NDArray[Any]]:
    """So many blocks without a sample."""
    return {
        "members": np.zeros(number, np.int64),
        "present": np.zeros((number, len(slots)), np.int64),
        "uses": np.zeros((number, int(slots.sum())), np.int64),
    }


def new_state(
    block: Ints,
    cluster: Ints,
    widths: Ints,
    bases: list[Base],
    law: tuple[float, Floats, Floats],
    beta: list[Floats],
    rest: Floats,
) -> ViewState:
    """The state with these blocks (n,) and clusters (V, n); ``law`` has the concentrations a0, alpha and gamma (V,)."""
    views, n = cluster.shape
    slots = np.array([max(SLOTS, 2 * len(one)) for one in beta], np.int64)
    blocks = max(BLOCKS, 2 * (int(block.max()) + 1))
    threes = np.full(views, MOVE_SLOTS, np.int64)
    links = {
        **free_blocks(blocks, slots),
        "beta": np.concatenate(
            [np.concatenate([one, np.zeros(s - len(one))]) for one, s in zip(beta, slots, strict=True)]
        ),
        "rest": rest.astype(float),
        "alpha": np.array(law[1], float),
        "gamma": np.array(law[2], float),
        "slots": slots,
        "first": np.concatenate([[0], np.cumsum(slots)]).astype(np.int64),
        "high": np.array([len(one) for one in beta], np.int64),
    }
    return {
        "block": block.astype(np.int64),
        "cluster": cluster.astype(np.int64),
        "order": np.arange(n),
        "block_alpha": float(law[0]),
        "base": bases,
        "clusters": flat_clusters(slots, widths),
        "pair": flat_clusters(threes, widths),
        "links": links,
        "sides": new_sides(slots),
        "fresh": np.zeros((views, n)),
        "at": np.zeros(5, np.int64),
        "log_evidence": np.zeros(views),
        "information": np.zeros(views * (views - 1) // 2 + views + 1),
    }


def check_labels(cluster: Ints, tables: ViewTables) -> None:
    """Raise ``ModelError`` for drawn clusters (…, V, n) that a sample has in a view that it lacks, or lacks in one that it has."""
    if not ((cluster >= 0) == np.asarray(tables.bag.has)).all():
        raise ModelError(
            "The draws have no clusters where samples have a view, or some where they have none.",
            "Fit again with the same settings.",
        )


def with_joint(state: Mapping[str, Any], tables: ViewTables) -> ViewState:
    """A state of before clusters had sums of correlated columns, which views do not have."""
    none = np.zeros(0)
    threes = np.full(len(tables.widths), MOVE_SLOTS, np.int64)
    slots = state["links"]["slots"].tolist()  # of a file: so many slots are made
    if min(slots, default=0) < 0 or sum(slots) != len(state["clusters"]["size"]):
        raise ModelError("The stored state does not fit the data and settings.", "Fit again to go on.")
    found = {
        **state,
        "base": [{**base, "joint_m0": none, "psi": none} for base in state["base"]],
        "clusters": {**flat_clusters(state["links"]["slots"], tables.widths), **state["clusters"]},
        "pair": {**flat_clusters(threes, tables.widths), **state["pair"]},
    }
    return cast(ViewState, found)


def grow(state: ViewState, tables: ViewTables) -> None:
    """Twice the room where there is none: of blocks, and of the clusters of a view. New slots are empty."""
    links = state["links"]
    if (links["members"] > 0).all():
        for name in ("members", "present", "uses"):
            links[name] = np.concatenate([links[name], np.zeros_like(links[name])])
    for v in np.flatnonzero(links["high"] == links["slots"]):
        more, end = int(links["slots"][v]), int(links["first"][v + 1])
        wide, slots = tables.widths, links["slots"]
        for name, flat in state["clusters"].items():
            ends = [int(s) * row_width(name, row) for s, row in zip(slots, wide, strict=True)]
            at = sum(ends[: v + 1])
            state["clusters"][name] = np.insert(
                flat, [at] * (more * row_width(name, wide[v])), np.zeros(1, flat.dtype)
            )
        links["beta"] = np.insert(links["beta"], [end] * more, 0.0)
        links["uses"] = np.insert(links["uses"], [end] * more, 0, axis=1)
        links["slots"][v] += more
        links["first"] = np.concatenate([[0], np.cumsum(links["slots"])]).astype(np.int64)
    state["sides"] = new_sides(links["slots"])
