"""A network of a run: nodes with names and groups, links with weights, and which of them are shown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.draws.counting import counted
from plaidwork.core.findings.naming import identity_of
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.colouring import Colouring, colouring, plain
from plaidwork.core.views.sources import SourceError, Sources, role_names

MOST_NODES, MOST_LINKS = 5_000, 20_000
_PARTS = re.compile(r"(\d+)")
ALL = 21
"""Strongest links a node from which all are meant."""


@dataclass(frozen=True)
class Network:
    """n nodes and e links, strongest first.

    ``ends`` (e, 2) are numbers of nodes, ``weights`` (e,) may be negative; ``rank`` (e,) is 0 for a link that is the
    strongest of one of its nodes. ``first`` nodes are of one kind and the others of another; 0 where there is one kind.
    ``items`` (n,) are the numbers of the nodes along the axis ``selection_kind`` of the data.
    """

    names: tuple[str, ...]
    ends: np.ndarray
    weights: np.ndarray
    rank: np.ndarray
    confidence: np.ndarray | None
    confidence_label: str
    strength: np.ndarray | None
    strength_label: str
    colours: Colouring
    first: int
    word: str
    label: str
    doc: str
    total: int
    """Links before the weakest were left out."""
    selection_kind: str
    items: np.ndarray | None
    places: np.ndarray
    seed: int
    kind: str = "Group"
    """What the first kind of nodes is, or the groups are."""

    @property
    def key(self) -> str:
        """Stands for the nodes and links, to tell whether a layout is theirs."""
        parts = (
            "\0".join(map(identity_of, self.names)).encode("utf-8", "surrogatepass"),
            np.ascontiguousarray(self.ends).tobytes(),
        )
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest size of a weight."""
        size = np.abs(self.weights)
        return (float(size.min()), float(size.max())) if len(size) else (0.0, 1.0)

    def shown(self, least: float, top: int, group: int = -1) -> Shown:
        """Links of at least a size that are among the ``top`` strongest of one of their nodes (from ``ALL`` on: all).

        With a ``group``, those between two nodes of it, or of a node of the first kind where there are two kinds.
        """
        kept = np.abs(self.weights) >= least - 1e-12
        if group >= 0 and self.first:
            kept &= self.ends[:, 0] == group
        elif group >= 0:
            kept &= (self.colours.codes[self.ends] == group).all(axis=1)
        if top < ALL:
            kept &= self.rank < top
        return Shown(self, np.flatnonzero(kept))


@dataclass(frozen=True)
class Shown:
    """Some links of a network, and the nodes they join."""

    network: Network
    links: np.ndarray

    @cached_property
    def degree(self) -> np.ndarray:
        """(n,) number of links."""
        return np.bincount(self.network.ends[self.links].ravel(), minlength=len(self.network.names))

    @cached_property
    def nodes(self) -> np.ndarray:
        """Numbers of the nodes that have links, most important first: by strength where given, else by their links."""
        linked = np.flatnonzero(self.degree)
        strength = self.network.strength
        weight = np.zeros(len(self.network.names))
        np.add.at(
            weight,
            self.network.ends[self.links].ravel(),
            np.repeat(np.abs(self.network.weights[self.links]), 2),
        )
        by = weight if strength is None else np.nan_to_num(np.abs(strength))
        return linked[np.argsort(-by[linked], kind="stable")]

    @cached_property
    def groups(self) -> int:
        """Number of parts without a link between them."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        if not len(self.links):
            return 0
        a, b = self.network.ends[self.links].T
        n = len(self.network.names)
        _, part = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)
        return len(np.unique(part[self.nodes]))

    def links_of(self, node: int) -> np.ndarray:
        """Links of a node, strongest first."""
        return self.links[(self.network.ends[self.links] == node).any(axis=1)]

    def other(self, links: np.ndarray, node: int) -> np.ndarray:
        """The other ends of links of a node."""
        a, b = self.network.ends[links].T
        return np.where(a == node, b, a)


def load_network(sources: Sources, kept: Mapping[str, Any], seed: int | None = None) -> Network:
    """The network of a view and its layout; ``kept`` is what the session holds of both, another ``seed`` lays it out anew."""
    result = sources.result("values", (1, 2))
    names, ends, weights, first, word = _nodes_and_links(sources, result)
    if len(names) > MOST_NODES:
        raise SourceError(
            f"A network of {counted(len(names), 'node')} is too large to be drawn; {MOST_NODES} can be."
        )
    order, total = _strongest(ends, weights)
    confidence, confidence_label = _confidence(sources, result, ends - [0, first])
    ends = np.ascontiguousarray(ends[order])
    strength, strength_label = _strength(sources, len(names), first)
    selection_kind, items = _on_data_axis(sources, names[first:])
    network = Network(
        names=names,
        ends=ends,
        weights=weights[order],
        rank=_ranks(ends, len(names)),
        confidence=None if confidence is None else confidence[order],
        confidence_label=confidence_label,
        strength=strength,
        strength_label=strength_label,
        colours=_groups(sources, names, first, result.dims),
        first=first,
        word=word,
        label=result.label or "Weight",
        doc=result.doc,
        total=total,
        selection_kind=selection_kind,
        items=items,
        places=np.zeros((len(names), 2)),
        seed=_seed(kept) if seed is None else seed,
        kind=capital(result.dims[0].replace("_", " ")) if first and result.dims else "Group",
    )
    return laid_out(network, kept if network.seed == _seed(kept) else {})


def _seed(kept: Mapping[str, Any]) -> int:
    """Seed of the layout that was kept."""
    seed = kept.get("seed", 1)
    return seed if isinstance(seed, int) and seed >= 0 else 1


def _nodes_and_links(
    sources: Sources, result: Result
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, int, str]:
    """Names, ends (e, 2), weights (e,), number of nodes of the first kind, and the word for a node."""
    values = np.asarray(result.values, dtype=np.float64)
    if values.ndim == 1:
        names, ends, word = _listed(sources, len(values))
        return names, ends, values, 0, word
    names, cells, first, word = _crossed(sources, result)
    return names, cells + np.array([0, first]), values[cells[:, 0], cells[:, 1]], first, word


def _strongest(ends: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, int]:
    """Places of the links that are drawn, strongest first and each pair once, and how many there were."""
    known = np.flatnonzero(np.isfinite(weights) & (weights != 0) & (ends[:, 0] != ends[:, 1]))
    order = known[np.argsort(-np.abs(weights[known]), kind="stable")]
    _, once = np.unique(np.sort(ends[order], axis=1), axis=0, return_index=True)
    return order[np.sort(once)][:MOST_LINKS], len(once)


def _confidence(sources: Sources, result: Result, cells: np.ndarray) -> tuple[np.ndarray | None, str]:
    if not sources.has("confidence"):
        return None, ""
    found = sources.result("confidence")
    values = np.asarray(found.values, dtype=np.float64)
    if values.shape != result.values.shape:
        raise SourceError(
            f"The confidence has the shape {values.shape}; the weights have {result.values.shape}."
        )
    return values if values.ndim == 1 else values[cells[:, 0], cells[:, 1]], found.label or "Confidence"


def _listed(sources: Sources, count: int) -> tuple[tuple[str, ...], np.ndarray, str]:
    """Names, ends and the word for a node, of a list of links."""
    if not sources.has("edges"):
        raise SourceError("A list of weights needs the edges, the numbers of the two nodes of each link.")
    ends = np.asarray(sources.result("edges", 2).values)
    if ends.shape != (count, 2) or ends.dtype.kind not in "iu":
        raise SourceError(
            f"The edges need {counted(count, 'row')} of two whole numbers. Found {ends.shape}, {ends.dtype}."
        )
    n, dim = int(ends.max(initial=-1)) + 1, "node"
    if sources.has("names"):
        found = sources.get("names")
        n = len(found) if isinstance(found, Table) else len(found.values)
        dim = dim if isinstance(found, Table) or not found.dims else found.dims[0]
        word = ((found.label if isinstance(found, Result) else "") or dim).lower()
    else:
        word = dim
    if not sources.has("names") and n > MOST_NODES:
        raise SourceError(f"The edges name nodes up to {n - 1}; at most {MOST_NODES} can be drawn.")
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        raise SourceError(f"The edges name nodes from {ends.min()} to {ends.max()}; there are {n}, from 0.")
    return role_names(sources, "names", dim, n), ends.astype(np.intp), word.replace("_", " ")


def _crossed(sources: Sources, result: Result) -> tuple[tuple[str, ...], np.ndarray, int, str]:
    """Names, cells that are links, number of nodes of the first kind (0: one kind) and the word, of a matrix."""
    values = np.asarray(result.values, dtype=np.float64)
    rows, columns = values.shape
    dims = result.dims if len(result.dims) == 2 else ("node", "node")
    two = bool(sources.view.options.get("two_kinds", rows != columns))
    if not two and rows != columns:
        raise SourceError(f"Weights of all pairs need as many rows as columns. Found {rows} × {columns}.")
    size = np.abs(np.nan_to_num(values))
    if not two:
        if size.size and not np.allclose(values, values.T, equal_nan=True):
            raise SourceError("Weights of all pairs have to be the same in both directions.")
        size = np.triu(size, 1)
    flat, most = size.ravel(), MOST_LINKS
    cells = np.argpartition(-flat, most)[:most] if len(flat) > most else np.arange(len(flat))
    cells = cells[flat[cells] > 0]
    ends = np.column_stack(np.unravel_index(cells, values.shape)).astype(np.intp)
    names = role_names(sources, "names", dims[1], columns)
    word = dims[1].replace("_", " ")
    if not two:
        return names, ends, 0, word
    return (*role_names(sources, "row_names", dims[0], rows), *names), ends, rows, "node"


def _ranks(ends: np.ndarray, n: int) -> np.ndarray:
    """For links in order of strength: how many stronger ones the end with fewer of them has."""
    seen, rank = np.zeros(n, dtype=np.intp), np.empty(len(ends), dtype=np.intp)
    for e, (a, b) in enumerate(ends.tolist()):
        rank[e] = min(seen[a], seen[b])
        seen[a] += 1
        seen[b] += 1
    return rank


def _per_node(values: np.ndarray, n: int, first: int, role: str) -> np.ndarray | None:
    """Of all nodes; of the second kind alone it is left open for the first (None: neither)."""
    if values.shape == (n,):
        return values
    if first and values.shape == (n - first,):
        return None
    raise SourceError(f"The {role} has the shape {values.shape}; there are {counted(n, 'node')}.")


def _strength(sources: Sources, n: int, first: int) -> tuple[np.ndarray | None, str]:
    if not sources.has("strength"):
        return None, ""
    found = sources.result("strength")
    values = np.asarray(found.values, dtype=np.float64)
    whole = _per_node(values, n, first, "strength")
    if whole is None:
        whole = np.concatenate([np.full(first, np.abs(values).max(initial=1.0)), values])
    return whole, found.label or "Strength"


def _groups(sources: Sources, names: tuple[str, ...], first: int, dims: tuple[str, ...]) -> Colouring:
    n = len(names)
    column: np.ndarray | None = None
    if sources.has("group"):
        found = sources.get("group")
        column = _per_node(np.asarray(found.values), n, first, "group")
        if column is None:
            kind = dims[0].replace("_", " ") if len(dims) == 2 else "first kind"
            column = np.array([*[kind] * first, *(str(text) for text in found.values)])
    elif first:
        kinds = [dim.replace("_", " ") for dim in dims] if len(dims) == 2 else ["rows", "columns"]
        column = np.array([kinds[0]] * first + [kinds[1]] * (n - first))
    made = None if column is None else colouring("group", np.asarray(column).astype(str))
    if made is None:
        return plain(n)
    if made.has_other or first:
        return made
    order = sorted(
        range(len(made.classes)),
        key=lambda c: [int(p) if p.isdigit() else p for p in _PARTS.split(made.classes[c])],
    )
    position = np.empty(len(order) + 1, dtype=np.intp)
    position[order], position[-1] = np.arange(len(order)), -1
    return replace(made, codes=position[made.codes], classes=tuple(made.classes[c] for c in order))


def _on_data_axis(sources: Sources, names: tuple[str, ...]) -> tuple[str, np.ndarray | None]:
    """The axis of the data whose items the nodes are, and their numbers along it."""
    for item in sources.run.spec.inputs:
        for dataset in sources.run.inputs.get(item.name, ())[:1]:
            for axis in (1, 0):
                position = {identity_of(name): i for i, name in enumerate(sources.names_of(dataset, axis))}
                if names and all(identity_of(name) in position for name in names):
                    return ("row", "column")[axis], np.array([position[identity_of(name)] for name in names])
    return "", None


def laid_out(network: Network, kept: Mapping[str, Any]) -> Network:
    """The network with the layout that was kept, with one that begins at it, or with a new one."""
    from plaidwork.core.numerics.graph_layout import spring_layout

    old, stored = _stored(kept)
    n = len(network.names)
    if kept.get("key") == network.key and stored.shape == (n, 2):
        return replace(network, places=stored)
    start = None
    if stored.shape == (len(old), 2) and len(old):
        position = {name: i for i, name in enumerate(old)}
        names = [identity_of(name) for name in network.names]
        if sum(name in position for name in names) > 0.8 * n:
            rng = np.random.default_rng(network.seed)
            start = np.array(
                [stored[position[name]] if name in position else rng.uniform(-1, 1, 2) for name in names]
            )
    return replace(network, places=spring_layout(n, network.ends, network.weights**2, network.seed, start))


def _stored(kept: Mapping[str, Any]) -> tuple[list[str], np.ndarray]:
    """Names and places (n, 2) of a layout that was kept; a file may hold anything."""
    nothing: tuple[list[str], np.ndarray] = [], np.zeros((0, 2))
    names = kept.get("names", [])
    try:
        places = np.asarray(kept.get("places", ()), dtype=np.float64)
    except (TypeError, ValueError):
        return nothing
    known = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return (names, places) if known and places.ndim == 2 and np.isfinite(places).all() else nothing


def kept_layout(network: Network) -> dict[str, Any]:
    """What the session keeps of a layout."""
    return {
        "seed": network.seed,
        "key": network.key,
        "names": [identity_of(name) for name in network.names],
        "places": np.round(network.places, 4).tolist(),
    }
