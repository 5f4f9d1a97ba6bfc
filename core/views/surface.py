"""A map of class probabilities over two inputs, with contours, boundary and data on it, and a cut along a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_fixed, format_number, format_probability
from plaidwork.core.pictures import (
    Axis,
    Cells,
    Color,
    End,
    Hatch,
    Items,
    Key,
    Line,
    Mark,
    Panel,
    Picture,
    Points,
    Ramp,
    Rule,
    Texts,
    ViewChoices,
)
from plaidwork.core.pictures.choices import LIST
from plaidwork.core.pictures.links import joined
from plaidwork.core.pictures.marks import area_categories
from plaidwork.core.pictures.scales import nice_step
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.contours import label_position
from plaidwork.core.views.sources import Sources
from plaidwork.core.views.surface_map import Layer, Surface, chosen_columns, read_chosen

SHOWS = (("probability", "Probability"), ("uncertainty", "Uncertainty"), ("null", "No class"))
NO_CLASS = "no class"
_MOST, _STEPS, _LINES, _LOW, _CROWD = 6, 240, 8, 5, 150
"""Classes along the line, places along it, lines of text that the curves are high, and that they are where a map with equal
units needs the height, and points of which more are smaller."""
_SHEET, _FREE, _AVOIDED = (720.0, 460.0), 26.0, 1000
"""Pixels of the map for which the places of labels are found, those that they keep from points and each other, and how
many points they keep from."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (C, gy, gx), or (gy, gx) of the second of two classes, at the places ``x`` (gx,) and ``y`` (gy,);
    ``names`` (C,), ``points`` (n, 2) with ``labels`` (n,) below 0 where unknown and ``test`` (n,) 1 for test points,
    ``null`` (gy, gx) probability of no class, ``uncertainty`` (gy, gx) or (C, gy, gx).

    Options: ``x_label``, ``y_label``; ``equal``, settings and their values with which a unit of both inputs means the
    same; ``response``, the input whose columns may be chosen, and by role what ``Model.response`` calls it.
    """
    pair = _columns(sources, choices)
    surface = read_chosen(sources, sources.view.options, pair)
    if surface is None:
        return Picture(
            sources.view.title, empty=("A map needs two inputs", "Along one input, look at the curve.")
        )
    layer = _layer(surface, choices)
    lines = choices.flag("contours", "Contours", True)
    data = bool(len(surface.points)) and choices.flag("data", "Data", True)
    band = surface.null is not None and choices.flag("band", "Band", True)
    cut = None
    if choices.flag("cut", "Cut", True):
        low, high = float(surface.y[0]), float(surface.y[-1])
        step = nice_step(high - low, 100)
        first, last = math.ceil(low / step), math.floor(high / step)
        middle = (first + last) // 2 * step
        cut = choices.number("line", "Line at", first * step, last * step, middle, step)
    marks = [*_map(surface, layer, lines, band, data), *(_points(surface) if data else ())]
    if cut is not None:
        marks.append(Rule([cut], axis="y", width=1.6, color="accent", drags="line"))
    panels = [_panel(surface, marks, cut is not None, sources)]
    if cut is not None:
        panels.append(_along(surface, cut, _LOW if panels[0].equal else _LINES))
    x, y = (name.split(",")[0] for name in (surface.x_name, surface.y_name))
    return Picture(
        f"{capital(layer.title)} by {x} and {y}",
        surface.doc,
        tuple(panels),
        _notes(surface, layer, band),
        (*(_keys(surface) if data else ()), _ramp(layer)),
        _table(surface),
    )


def _columns(sources: Sources, choices: ViewChoices) -> tuple[int, int] | None:
    """The columns of the input that are chosen; None for the map as it is stored."""
    columns, stored = chosen_columns(sources)
    if not columns:
        return None
    options = [(str(k), name) for k, name in enumerate(columns)]
    across = int(choices.pick("across", "Across", options, str(stored[0]), kind=LIST, unlike="up"))
    up = int(choices.pick("up", "Up", options, str(stored[1]), kind=LIST, unlike="across"))
    return None if (across, up) == stored else (across, up)


def _layer(surface: Surface, choices: ViewChoices) -> Layer:
    """What is shown of which class; at first the most frequent one, so that there is something to see."""
    offered = [(key, text) for key, text in SHOWS if key == "probability" or key in surface.extra]
    show = choices.pick("show", "Show", offered) if len(offered) > 1 else "probability"
    labelled = surface.labels[surface.labels >= 0]
    first = int(np.bincount(labelled).argmax()) if len(labelled) else 0
    number = 0 if surface.two else choices.among("class", "Class", surface.classes, first)
    layers = surface.layers if show == "probability" else surface.extra[show]
    return layers[min(number, len(layers) - 1)]


# -- the map ------------------------------------------------------------------------------------
def _panel(surface: Surface, marks: list[Mark], cut: bool, sources: Sources) -> Panel:
    x, y = surface.x, surface.y
    alike: Mapping[str, Any] = sources.view.options.get("equal", {})
    params = sources.run.params
    across = Axis(surface.x_name, low=float(x[0]), high=float(x[-1]))
    return Panel(
        tuple(marks),
        replace(across, label="", ticks=False) if cut else across,
        Axis(surface.y_name, low=float(y[0]), high=float(y[-1])),
        equal=bool(alike) and all(params.get(name) == value for name, value in alike.items()),
        aside=_counts(surface),
        reads="over",
        lines=False,
        beside=across if cut else None,
    )


def _counts(surface: Surface) -> tuple[str, ...]:
    """How many samples each class has, for the test and not, where there is room beside the map."""
    lines = []
    for k, name in enumerate((*surface.classes, "class not known")):
        own = surface.labels == k if k < len(surface.classes) else surface.labels < 0
        count, test = int(own.sum()), int((own & surface.test).sum())
        if count:
            lines.append(
                f"{name}: {format_count(count)}{f', {format_count(test)} for the test' if test else ''}"
            )
    return (f"{capital(plural(surface.word))} by class", *lines) if lines else ()


def _map(surface: Surface, layer: Layer, lines: bool, band: bool, data: bool) -> list[Mark]:
    """Colours, the null band, contours with their levels, and the boundary."""
    fx, fy = surface.fine_x, surface.fine_y
    half_x, half_y = (fx[1] - fx[0]) / 2, (fy[1] - fy[0]) / 2
    marks: list[Mark] = [
        Cells(
            layer.values,
            float(fx[0] - half_x),
            float(fx[-1] + half_x),
            float(fy[0] - half_y),
            float(fy[-1] + half_y),
            map="soft_loom" if layer.diverging else "tide",
            limits=layer.limits,
            smooth=True,
            name=layer.title,
            read=_reader(surface),
        )
    ]
    if band and surface.band:
        marks.append(Hatch(*joined(surface.band), color="text"))
        marks.append(Line(*joined(surface.band_edges), 1.2, dashed=True, color="text"))
    if lines:
        pieces = [line for contour in layer.contours for line in contour.lines]
        marks.append(Line(*joined(pieces), 1.0, opacity=0.45, color="text"))
    marks.append(Line(*joined(layer.boundary), 2.8, color="text"))
    if lines:
        marks.append(_levels(surface, layer, data))
    return marks


def _levels(surface: Surface, layer: Layer, data: bool) -> Texts:
    """The level of each line where it is away from points, edges and other levels."""
    low = np.array([surface.x[0], surface.y[0]])
    scale = np.array(_SHEET) / (np.array([surface.x[-1], surface.y[-1]]) - low)
    taken = ((surface.points - low) * scale)[:: max(1, len(surface.points) // _AVOIDED)]
    taken = taken[np.isfinite(taken).all(axis=1)] if data else np.zeros((0, 2))
    found: list[np.ndarray] = []
    words = []
    for contour in layer.contours:
        for line in sorted(contour.lines, key=len, reverse=True):
            at = (line - low) * scale
            inside = ((at > (24, 14)) & (at < np.array(_SHEET) - (24, 14))).all(axis=1)
            place = label_position(at[inside], taken, _FREE)
            if place is not None:
                found.append(place / scale + low)
                words.append(format_fixed(contour.level, 2).rstrip("0"))
                taken = np.vstack([taken, place])
                break
    x, y = np.array(found).reshape(-1, 2).T
    return Texts(x, y, tuple(words), "middle", tagged=True, color="text")


def _reader(surface: Surface) -> Callable[[int], str]:
    """Probabilities at a cell in words."""

    def read(piece: int) -> str:
        row, column = divmod(piece, len(surface.fine_x))
        x, y = float(surface.fine_x[column]), float(surface.fine_y[row])
        shares, null = surface.at(x, y)
        if len(shares) == 1:
            shares = np.array([1 - shares[0], shares[0]])
        pairs = zip(surface.classes, shares, strict=True)
        parts = [f"{name} {format_probability(float(p))}" for name, p in pairs]
        if null is not None:
            parts.append(f"{NO_CLASS} {format_probability(null)}")
        where = f"{surface.x_name} {format_number(x, 3)}, {surface.y_name} {format_number(y, 3)}"
        return f"{where}: {', '.join(parts)}"

    return read


# -- the data -----------------------------------------------------------------------------------
def _colors(surface: Surface) -> tuple[Color, ...]:
    """Colours of the classes that tell from the map: of the map's two ends, or none of the map's blue."""
    return area_categories(len(surface.classes))


def _points(surface: Surface) -> list[Mark]:
    """Points by class, larger where others have no label; hollow without one; test points with an eye."""
    labels, colors = surface.labels, _colors(surface)
    few = bool((labels < 0).any()) and (labels >= 0).mean() < 0.25
    marks: list[Mark] = []
    usual = 8.0 if (labels >= 0).sum() <= _CROWD else 6.0
    for known, size in ((False, 5.4), (True, 12.0 if few else usual)):
        rows = np.flatnonzero(((labels >= 0) == known) & np.isfinite(surface.points).all(axis=1))
        if not len(rows):
            continue
        codes = labels[rows].tolist()
        x, y = surface.points[rows].T
        marks.append(
            Points(
                x,
                y,
                size,
                tuple(codes) if known else (-1,) * len(rows),
                name="data",
                color=tuple(colors[code] for code in codes) if known else "control",
                read=tuple(_told(surface, int(i)) for i in rows),
                of=Items(surface.selection_kind, rows) if surface.selection_kind else None,
            )
        )
        test = surface.test[rows] & known
        if test.any():
            marks.append(Points(x[test], y[test], 0.25 * size, color="surface"))
    return marks


def _told(surface: Surface, i: int) -> str:
    """A point in words."""
    code = surface.labels[i]
    x, y = (format_number(float(value), 3) for value in surface.points[i])
    words = f"{surface.names[i]}, {surface.classes[code] if code >= 0 else 'class not known'}"
    held = ", for the test" if surface.test[i] else ""
    return f"{words}{held}: {surface.x_name} {x}, {surface.y_name} {y}"


def _keys(surface: Surface) -> list[Key]:
    pairs = enumerate(zip(surface.classes, _colors(surface), strict=True))
    keys = [Key(name, color, "point", shape=k) for k, (name, color) in pairs if (surface.labels == k).any()]
    if (surface.labels < 0).any():
        keys.append(Key("class not known", "control", "point", shape=-1))
    return keys


# -- the line across ----------------------------------------------------------------------------
def _along(surface: Surface, cut: float, high: int) -> Panel:
    """The classes along the line, in the colours of their points; so many lines of text high."""
    names = list(surface.classes[-1:] if len(surface.values) == 1 else surface.classes)
    colors: dict[str, Color] = dict(zip(surface.classes, _colors(surface), strict=True))
    rows = surface.cut(cut)
    if surface.null is not None:
        names.append(NO_CLASS)
        colors[NO_CLASS] = "control"
    where = f"{surface.x_name}, where {surface.y_name.split(',')[0]} is {format_number(cut, 3)}"
    if len(rows) > _MOST:
        where += f"; the first {_MOST} of {counted(len(rows), 'class')}"
    x = np.linspace(surface.x[0], surface.x[-1], _STEPS)
    lines = [
        Line(x, along, name=name, color=colors[name], read=_place_reader(name, where, x, along))
        for name, row in zip(names[:_MOST], rows[:_MOST], strict=True)
        for along in (np.interp(x, surface.x, row),)
    ]
    ends = tuple(End(float(line.y[-1]), line.name, colors[line.name]) for line in lines)
    return Panel(
        tuple(lines),
        Axis(where, margin=0),
        Axis("probability", low=0, high=1),
        ends=ends if len(ends) > 1 else (),
        height=high,
        reads="across",
        zoom="x",
    )


def _place_reader(name: str, where: str, x: np.ndarray, values: np.ndarray) -> Callable[[int], str]:
    """A place of a curve in words."""
    return lambda i: f"{name}, {where} {format_number(float(x[i]), 5)}: {format_number(float(values[i]), 4)}"


# -- words --------------------------------------------------------------------------------------
def _notes(surface: Surface, layer: Layer, band: bool) -> str:
    parts = []
    if len(surface.points):
        text = f"{format_count(len(surface.points))} {plural(surface.word)}"
        if surface.test.any():
            text += f", {format_count(int(surface.test.sum()))} for the test (with an eye)"
        x, y = surface.points.T
        inside = (surface.x[0] <= x) & (x <= surface.x[-1]) & (surface.y[0] <= y) & (y <= surface.y[-1])
        missing = ~np.isfinite(surface.points).all(axis=1)
        if missing.any():
            text += f", {format_count(int(missing.sum()))} without a place as a value is missing"
        if not (inside | missing).all():
            text += f", {format_count(int((~inside & ~missing).sum()))} outside of the map"
        parts.append(text)
    if layer.boundary:
        parts.append("thick line: decision boundary")
    if surface.band and band:
        parts.append("hatched: no class is more likely than not")
    return "; ".join(parts)


def _ramp(layer: Layer) -> Ramp:
    low, high = layer.limits
    least, middle, most = (format_number(value, 3) for value in (low, (low + high) / 2, high))
    return Ramp(
        layer.title, "soft_loom" if layer.diverging else "tide", (least, middle, most), limits=layer.limits
    )


def _table(surface: Surface) -> dict[str, np.ndarray]:
    """A row for each place of the grid as the model gave it."""
    rows, columns = surface.values.shape[1:]
    names = surface.classes[-1:] if len(surface.values) == 1 else surface.classes
    table = {surface.x_name: np.tile(surface.x, rows)}
    table[surface.y_name] = np.repeat(surface.y, columns)
    for name, grid in zip(names, surface.values, strict=True):
        table[f"probability of {name}"] = grid.ravel()
    if surface.null is not None:
        table[f"probability of {NO_CLASS}"] = surface.null.ravel()
    if surface.uncertainty is not None:
        title, few = surface.extra["uncertainty"][0].title, len(surface.uncertainty) == 1
        for k, grid in enumerate(surface.uncertainty):
            table[title if few else f"{title} of {surface.classes[k]}"] = grid.ravel()
    return table
