"""A network as a matrix: its most important nodes group by group, where very many links would be a tangle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_count, format_number
from plaidwork.core.pictures import Axis, Cells, Panel, Picture, Ramp
from plaidwork.core.views.network_data import Network, Shown

_MOST = 400
"""Nodes along an axis."""


def matrix_picture(shown: Shown, headline: str, table: Mapping[str, np.ndarray]) -> Picture:
    """Weights of the links that are shown between the nodes with most of them, group by group."""
    data = shown.network
    nodes = shown.nodes[np.argsort(-shown.degree[shown.nodes], kind="stable")]
    first, others = nodes[nodes < data.first][:_MOST], nodes[nodes >= data.first][:_MOST]
    columns = _ordered(data, shown, others)
    rows = np.sort(first) if data.first else columns
    values = _weights(shown, rows, columns)
    known = np.abs(values[np.isfinite(values)])
    most = float(known.max()) if len(known) else 1.0
    below = bool((data.weights[shown.links] < 0).any())
    limits = (-most if below else 0.0, most or 1.0)
    names = [tuple(data.names[i] for i in part) for part in (rows[::-1], columns)]
    mark = Cells(
        np.nan_to_num(values)[::-1],
        -0.5,
        len(columns) - 0.5,
        -0.5,
        len(rows) - 0.5,
        map="loom" if below else "tide",
        limits=limits,
        name="links",
        read=_reader(data, values[::-1], *names),
    )
    panel = Panel(
        (mark,),
        Axis(scale="category", names=names[1]),
        Axis(scale="category", names=names[0]),
        equal=not data.first,
        reads="inside",
    )
    left_out = len(others) < int((nodes >= data.first).sum())
    notes = f"The {format_count(_MOST)} {plural(data.word)} with most links" if left_out else ""
    ends = tuple(format_number(value, 2) for value in (limits[0], sum(limits) / 2, limits[1]))
    ramp = Ramp(data.label.lower(), mark.map, (ends[0], ends[1], ends[2]))
    return Picture(headline, "Group by group, those with most links first.", (panel,), notes, (ramp,), table)


def _ordered(data: Network, shown: Shown, nodes: np.ndarray) -> np.ndarray:
    """Nodes group by group, in groups those with most links first."""
    return nodes[np.lexsort((-shown.degree[nodes], data.colours.codes[nodes]))]


def _weights(shown: Shown, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(r, c) weights of the links shown; NaN where there is none."""
    data = shown.network
    across, down = np.full(len(data.names), -1), np.full(len(data.names), -1)
    across[columns], down[rows] = np.arange(len(columns)), np.arange(len(rows))
    found = np.full((len(rows), len(columns)), np.nan)
    for a, b in (data.ends[shown.links].T, data.ends[shown.links].T[::-1]):
        inside = (down[a] >= 0) & (across[b] >= 0)
        found[down[a][inside], across[b][inside]] = data.weights[shown.links][inside]
    return found


def _reader(
    data: Network, values: np.ndarray, rows: tuple[str, ...], columns: tuple[str, ...]
) -> Callable[[int], str]:
    """A cell in words."""

    def read(piece: int) -> str:
        row, column = divmod(piece, len(columns))
        weight = values[row, column]
        said = "no link" if weight != weight else f"{data.label.lower()} {format_number(float(weight), 3)}"
        return f"{rows[row]} and {columns[column]}: {said}"

    return read
