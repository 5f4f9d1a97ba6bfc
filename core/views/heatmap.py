"""Any matrix of numbers as a heat map with names on both axes; matrices of similarities square, clustered, with groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import (
    format_correlation,
    format_count,
    format_fixed,
    format_number,
    format_probability,
)
from plaidwork.core.pictures import Axis, Cells, Items, Mark, Matrix, Outlines, Panel, Picture, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.matrices import (
    TOGETHER,
    Shades,
    alike,
    can_cluster,
    clustered,
    groups_of,
    shades_of,
)
from plaidwork.core.views.sources import Sources, data_axis, role_names

_MOST_CLUSTERED, _MOST_NUMBERED = 3000, 40
"""Longer matrices are not clustered, or have no numbers in their cells."""
_LISTED = 6
"""Groups, and names of each, that are listed at most."""
_HIGHEST, _WIDEST = 72.0, 140.0
"""Pixels of a cell at most."""


@dataclass(frozen=True)
class _Heat:
    """A matrix as given. ``words`` are those of a row and a column, ``lines`` the kinds of items that rows and columns
    are; ``groups`` are those of items that are alike, which ``order`` puts side by side."""

    values: np.ndarray
    names: tuple[tuple[str, ...], tuple[str, ...]]
    words: tuple[str, str]
    lines: tuple[str, str]
    label: str
    shades: Shades
    dots: np.ndarray | None
    similar: bool
    order: np.ndarray
    groups: list[np.ndarray]

    def number(self, value: float) -> str:
        """A cell, by what the ends of the scale say that it is."""
        if self.shades.limits == (0.0, 1.0):
            return format_probability(value)
        return format_correlation(value) if self.shades.limits == (-1.0, 1.0) else format_fixed(value, 2)

    def told(self, value: float) -> str:
        """A cell in words: small numbers with three digits, signed ones with their sign."""
        if value != value:
            return "missing"
        if self.shades.limits != (0.0, 1.0) and abs(value) < 0.1:
            return format_number(value, 3)
        shown = self.number(value)
        return f"+{shown}" if self.shades.map == "loom" and value > 0 and shown[:1].isdigit() else shown


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values``: a result (n, m); ``mark`` (n, m) puts a dot into the cells where it is above 0.

    Options: ``scale`` "sequential" or "diverging" (else found from the numbers), ``minimum`` and ``maximum``,
    ``row_dim`` and ``col_dim`` (names of axes, when the result has none), ``cluster`` (True: start with the clustered
    order; False: never offer it), ``order`` (words for the order of the result itself, as "by block"),
    ``layer`` "row", "column" or "both": that axis has the factors, so a click chooses one in every view of the run.
    Roles ``row_names`` and ``column_names`` may name tables (their first column) or results of indices into the
    items of the dim. A matrix of similarities, the same both ways, is square, and its groups are found by average
    linkage.
    """
    heat, given = _read(sources), str(sources.view.options.get("order", "as given"))
    if not heat.values.size:
        return Picture(
            sources.view.title, empty=("Nothing to show", "The run has found nothing for this picture.")
        )
    rows, columns, told = _orders(heat, sources, choices, given)
    result, (n, m) = sources.result("values"), heat.values.shape
    values = heat.values[np.ix_(rows, columns)]
    return Picture(
        _headline(heat),
        result.doc,
        (_panel(heat, rows, columns),),
        f"{format_count(n)} × {format_count(m)}, {told}",
        heat.shades.keys(heat.label, bool(np.isnan(values).any())),
        matrix=Matrix(
            values,
            tuple(heat.names[0][i] for i in rows),
            tuple(heat.names[1][j] for j in columns),
            heat.words[0],
        ),
        layers=_layers(sources),
    )


def _layered(sources: Sources) -> tuple[int, ...]:
    """Axes that have the factors."""
    return {"row": (0,), "column": (1,), "both": (0, 1)}.get(str(sources.view.options.get("layer", "")), ())


def _dims(sources: Sources) -> tuple[str, str]:
    dims = sources.result("values", 2).dims
    row, column = dims if len(dims) == 2 else ("row", "column")
    options = sources.view.options
    return str(options.get("row_dim", row)), str(options.get("col_dim", column))


def _layers(sources: Sources) -> str:
    axes = _layered(sources)
    return _dims(sources)[axes[-1]] if axes else ""


def _read(sources: Sources) -> _Heat:
    result, options = sources.result("values", 2), sources.view.options
    values = np.asarray(result.values, dtype=np.float64)
    dims, (n, m) = _dims(sources), values.shape
    lines = [data_axis(sources, dim, length) for dim, length in zip(dims, values.shape, strict=True)]
    for axis in _layered(sources):
        lines[axis] = "layer"
    names = role_names(sources, "row_names", dims[0], n), role_names(sources, "column_names", dims[1], m)
    similar = n > 2 and names[0] == names[1] and alike(values)
    order, groups = groups_of(values) if similar else (np.arange(n), [])
    label = (result.label or sources.view.title) + (f" ({result.unit})" if result.unit else "")
    return _Heat(
        values,
        names,
        (_word(dims[0]), _word(dims[1])),
        (lines[0], lines[1]),
        label,
        shades_of(values, options),
        sources.array("mark", (n, m)) > 0 if sources.has("mark") else None,
        similar,
        order,
        groups,
    )


def _word(dim: str) -> str:
    return dim.removesuffix("_picked").replace("_", " ")


def _orders(
    heat: _Heat, sources: Sources, choices: ViewChoices, given: str
) -> tuple[np.ndarray, np.ndarray, str]:
    """The order of rows and columns, and words for it."""
    n, m = heat.values.shape
    options = sources.view.options
    as_given = np.arange(n), np.arange(m), given
    offered = 2 < max(n, m) <= _MOST_CLUSTERED and (can_cluster(n) or can_cluster(m)) and min(n, m) > 1
    if options.get("cluster") is False or not offered:  # places on axes mean nothing in another order
        return as_given
    at_first = heat.similar and "order" not in options and "layer" not in options
    default = "clustered" if options.get("cluster", at_first) else "given"
    orders = (("given", capital(given)), ("clustered", "Clustered"))
    if choices.pick("order", "Order", orders, default) == "given":
        return as_given
    if heat.similar:
        return heat.order, heat.order, "clustered"
    moved = [can_cluster(length) for length in (n, m)]
    told = "clustered"
    if not all(moved):
        axes = ("rows", "columns") if moved[0] else ("columns", "rows")
        told = f"{axes[0]} clustered, {axes[1]} {given}"
    return clustered(heat.values), clustered(heat.values.T), told


def _headline(heat: _Heat) -> str:
    """The label, and of similarities how many groups there are."""
    label, n = capital(heat.label), len(heat.values)
    if not heat.similar or not can_cluster(n):
        return label
    items, level = plural(heat.words[0]), f"{TOGETHER:g}"
    if not heat.groups:
        return f"{label}: no two {items} above {level}"
    count, largest = len(heat.groups), len(heat.groups[0])
    if count == 1:
        return f"{label}: one group of {format_count(largest)} of {format_count(n)} {items} above {level}"
    return (
        f"{label}: {counted(count, 'group')} above {level}, the largest of {format_count(largest)} of "
        f"{format_count(n)} {items}"
    )


def _panel(heat: _Heat, rows: np.ndarray, columns: np.ndarray) -> Panel:
    values = heat.values[np.ix_(rows, columns)]
    n, m = values.shape
    row_names = tuple(heat.names[0][i] for i in rows)
    column_names = tuple(heat.names[1][j] for j in columns)
    labels: tuple[str, ...] = ()
    if heat.dots is None and max(n, m) <= _MOST_NUMBERED:
        labels = tuple("" if v != v else heat.number(float(v)) for v in values.ravel())
    marks: list[Mark] = [
        Cells(
            values,
            -0.5,
            m - 0.5,
            -0.5,
            n - 0.5,
            heat.shades.map,
            heat.shades.limits,
            labels=labels,
            rows=Items(heat.lines[0], rows) if heat.lines[0] else None,
            columns=Items(heat.lines[1], columns) if heat.lines[1] else None,
            dots=None if heat.dots is None else heat.dots[np.ix_(rows, columns)],
            name=heat.label,
            read=_reader(heat, values, row_names, column_names),
        )
    ]
    if heat.groups and rows is heat.order:
        marks.append(_frames(heat))
    return Panel(
        tuple(marks),
        Axis(scale="category", names=column_names, turned=True),
        Axis(scale="category", names=row_names, down=True),
        aside=_aside(heat),
        equal=heat.similar,
        highest=0.0 if heat.similar else _HIGHEST,
        most=0.0 if heat.similar else _WIDEST,
        reads="inside",
        lines=False,
    )


def _aside(heat: _Heat) -> tuple[str, ...]:
    """The groups by the names of their items, where there is room; without groups the pairs that are most alike."""
    if not heat.groups:
        return _pairs(heat) if heat.similar else ()
    lines = [f"Groups above {TOGETHER:g}"]
    for members in heat.groups[:_LISTED]:
        names = [heat.names[0][i] for i in members]
        more = f" and {format_count(len(names) - _LISTED)} more" if len(names) > _LISTED else ""
        lines.append(f"{format_count(len(names))}: {', '.join(names[:_LISTED])}{more}")
    if len(heat.groups) > _LISTED:
        lines.append(f"and {format_count(len(heat.groups) - _LISTED)} more")
    return tuple(lines)


def _pairs(heat: _Heat) -> tuple[str, ...]:
    """The pairs that are furthest from 0."""
    one, other = np.triu_indices(len(heat.values), 1)
    values = heat.values[one, other]
    order = np.argsort(-np.nan_to_num(np.abs(values)), kind="stable")[:_LISTED]
    names, kept = heat.names[0], [k for k in order.tolist() if np.isfinite(values[k]) and values[k]]
    lines = [f"{names[one[k]]} and {names[other[k]]}: {heat.number(float(values[k]))}" for k in kept]
    return ("Furthest from 0", *lines) if lines else ()


def _reader(
    heat: _Heat, values: np.ndarray, rows: tuple[str, ...], columns: tuple[str, ...]
) -> Callable[[int], str]:
    def read(piece: int) -> str:
        row, column = divmod(piece, values.shape[1])
        return f"{rows[row]}, {columns[column]}: {heat.told(float(values[row, column]))}"

    return read


def _frames(heat: _Heat) -> Outlines:
    """Squares around the groups, which stand side by side in this order."""
    place = np.argsort(heat.order)
    ends = np.array([(place[members].min() - 0.5, place[members].max() + 0.5) for members in heat.groups])
    low, high = ends.T
    return Outlines(low, low, high, high, width=1.4, color="text", name="groups")
