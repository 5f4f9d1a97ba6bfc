"""One curve or a few, with a band: mean and interval along an axis, or along a column that is chosen; shares stacked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plaidwork.core.draws.numbers import format_fixed, format_number
from plaidwork.core.pictures import Axis, Bands, End, Key, Line, Mark, Panel, Picture, Rug, Rule, ViewChoices
from plaidwork.core.pictures.choices import LIST
from plaidwork.core.pictures.marks import area_categories
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.sources import SourceError, Sources

_TOGETHER = 6
"""Curves shown together at first, at most."""
_SHADE = "axis"
_DRAWN = (("lines", "Lines"), ("stacked", "Stacked"))


@dataclass(frozen=True)
class Curves:
    """(K, t) values along ``x`` with bands (K, t, 2) or None; ``x`` rises.

    Attributes
    ----------
    marks : places with a line across. rug : places of the data, as ticks on the axis.
    shaded : (s, 2) stretches of the axis that are shaded. shaded_name : what they are.
    by_class : whether each curve is of a class.
    columns : names of the columns of the input that may be chosen, ``column`` the one along which the curves run.
    """

    x: np.ndarray
    values: np.ndarray
    intervals: np.ndarray | None
    names: tuple[str, ...]
    x_name: str
    y_name: str
    doc: str
    marks: np.ndarray
    rug: np.ndarray
    by_class: bool
    columns: tuple[str, ...] = ()
    column: int = 0
    shaded: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    shaded_name: str = ""

    @property
    def shares(self) -> bool:
        """Whether the curves are probabilities that sum to one everywhere."""
        v = self.values
        return len(v) > 1 and bool(
            np.isfinite(v).all() and v.min() >= 0 and abs(v.sum(axis=0) - 1).max() < 1e-6
        )

    def reader(self, k: int) -> Callable[[int], str]:
        """A place of a curve in words."""

        def read(i: int) -> str:
            words = f"{self.names[k]}, {self.x_name} {format_number(float(self.x[i]), 5)}: "
            words += format_number(float(self.values[k, i]), 4)
            if self.intervals is None:
                return words
            low, high = (float(v) for v in self.intervals[k, i])
            decimals = 2 if max(abs(low), abs(high)) >= 0.1 else 4
            return f"{words}, interval {format_fixed(low, decimals)} to {format_fixed(high, decimals)}"

        return read


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (t,) or (K, t), with ``interval`` (…, 2), ``x`` (t,), ``marks`` (m,) places with a line across,
    ``rug`` (n,) places of the data and ``shaded`` (s, 2) stretches of the axis.

    Options: ``x_label``, ``y_label``, ``response`` (columns of the input that may be chosen), ``stacked`` (begin with a
    stack). Up to six curves are shown together at first; probabilities that sum to one can be stacked.
    """
    curves = _along_a_column(sources, choices)
    if not curves.values.size or not np.isfinite(curves.values).any():
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    shown, stacked = _shown(curves, bool(sources.view.options.get("stacked", False)), choices)
    y, x = (name.split(",")[0] for name in (curves.y_name, curves.x_name))
    return Picture(
        f"{capital(y)} along {x}",
        curves.doc,
        (_stack(curves) if stacked else _lines(curves, shown),),
        "Ticks on the axis: where the data are" if len(curves.rug) else "",
        (Key(curves.shaded_name, _SHADE),) if curves.shaded_name else (),
        table=_table(curves),
    )


def _along_a_column(sources: Sources, choices: ViewChoices) -> Curves:
    """The curves as they are stored, or asked for along another column."""
    response = sources.response()
    if response is None or not response.columns:
        return _read(sources)
    label = sources.result("x").label if sources.has("x") else ""
    stored = response.columns.index(label) if label in response.columns else None
    column = choices.among("column", "Along", response.columns, stored or 0, each="column")
    if column != stored and (stored is not None or column):
        sources = sources.at(response, response.places(column))
        stored = column
    found = _read(sources)
    if stored is None:
        return found
    return replace(found, columns=response.columns, column=stored, rug=response.values[:, stored])


def _read(sources: Sources) -> Curves:
    result = sources.result("values", (1, 2))
    shape = result.values.shape
    values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
    count, t = values.shape
    dims = result.dims if len(result.dims) == len(shape) else ("curve", "step")[-len(shape) :]
    x, x_name = np.arange(1, t + 1, dtype=np.float64), dims[-1].replace("_", " ")
    if sources.has("x"):
        x = sources.array("x", (t,))
        found = sources.result("x")
        x_name = (found.label or x_name) + (f", {found.unit}" if found.unit else "")
    if not np.isfinite(x).all():
        raise SourceError("The places along the axis have to be known numbers.")
    intervals = None
    if sources.has("interval"):
        intervals = sources.array("interval", (*shape, 2)).reshape(count, t, 2)
    order = np.argsort(x, kind="stable")
    unit, options = f", {result.unit}" if result.unit else "", sources.view.options
    return Curves(
        x[order],
        values[:, order],
        None if intervals is None else intervals[:, order],
        sources.dim_names(dims[0], count) if len(shape) == 2 else (result.label or sources.view.title,),
        str(options.get("x_label", x_name)),
        str(options.get("y_label", (result.label or "value") + unit)),
        result.doc,
        sources.array("marks", (None,)) if sources.has("marks") else np.zeros(0),
        sources.array("rug", (None,)) if sources.has("rug") else np.zeros(0),
        by_class=count > 1 and dims[0] == "class",
        **_stretches(sources),
    )


def _stretches(sources: Sources) -> dict[str, Any]:
    """What is shaded, and what it is called."""
    if not sources.has("shaded"):
        return {}
    stretches = sources.array("shaded", (None, 2))
    if not len(stretches):
        return {}
    return {"shaded": stretches, "shaded_name": sources.result("shaded").label or "shaded"}


def _shown(curves: Curves, stacked: bool, choices: ViewChoices) -> tuple[tuple[int, ...], bool]:
    """Numbers of the curves that are shown, and whether they are stacked."""
    count = len(curves.values)
    if curves.shares:
        stacked = choices.pick("drawn", "As", _DRAWN, "stacked" if stacked else "lines") == "stacked"
    else:
        stacked = False
    if stacked or count == 1:
        return tuple(range(count)), stacked
    options = [(str(k), name) for k, name in enumerate(curves.names)]
    together = [("all", "all")] if count <= _TOGETHER else []
    mirrored = curves.shares and count == 2 and curves.intervals is not None
    wanted = choices.pick(
        "show",
        "Show",
        together + options,
        "1" if mirrored else "",  # the band of one minus the other would lie over it and say nothing more
        kind=LIST,
        searched=True,
        each="class" if curves.by_class else "curve",
    )
    return tuple(range(count)) if wanted == "all" else (int(wanted),), False


def _colors(curves: Curves, shown: tuple[int, ...]) -> dict[int, int]:
    """Category of each curve: of its class, or by its place among those shown."""
    if curves.by_class:
        return dict(enumerate(area_categories(len(curves.values))))
    return {k: place for place, k in enumerate(shown)}


def lines_of(curves: Curves, shown: tuple[int, ...], colors: dict[int, int | str]) -> tuple[Mark, ...]:
    """Bands and lines of some curves, with a line across at the marks and ticks where the data are."""
    marks: list[Mark] = [*_shades(curves), Rule(curves.marks), Rug(curves.rug)]
    if curves.intervals is not None:
        ends, opacity = curves.intervals, 0.18 if len(shown) == 1 else 0.12
        marks += [Bands(curves.x, ends[k, :, 0], ends[k, :, 1], opacity, color=colors[k]) for k in shown]
    marks += [
        Line(curves.x, curves.values[k], name=curves.names[k], color=colors[k], read=curves.reader(k))
        for k in shown
    ]
    return tuple(marks)


def _shades(curves: Curves) -> list[Mark]:
    """From below to above all curves, wherever the axis up begins and ends."""
    known = curves.values[np.isfinite(curves.values)]
    low, high = float(known.min()), float(known.max())
    reach = 2 * (high - low) + abs(high) + 1
    ends = np.array([low - reach] * 2), np.array([high + reach] * 2)
    return [
        Bands(stretch, *ends, color=_SHADE, name=curves.shaded_name, held=False) for stretch in curves.shaded
    ]


def _lines(curves: Curves, shown: tuple[int, ...]) -> Panel:
    colors: dict[int, int | str] = dict(_colors(curves, shown))
    ends = []
    for k in shown if len(shown) > 1 else ():
        known = np.flatnonzero(np.isfinite(curves.values[k]))
        if len(known):
            ends.append(End(float(curves.values[k, known[-1]]), curves.names[k], colors[k]))
    level = (
        Axis(curves.y_name, low=0, high=1)
        if curves.shares
        else Axis(curves.y_name, low=_floor(curves, shown))
    )
    return Panel(
        lines_of(curves, shown, colors),
        Axis(curves.x_name, margin=0),
        level,
        title=curves.names[shown[0]] if len(shown) == 1 < len(curves.values) else "",
        ends=tuple(ends),
        reads="across",
    )


def _floor(curves: Curves, shown: tuple[int, ...]) -> float | None:
    """0 when all values are above it but so near that the margin would reach below."""
    values = [curves.values[list(shown)].ravel()]
    if curves.intervals is not None:
        values.append(curves.intervals[list(shown)].ravel())
    known = np.concatenate(values)
    known = known[np.isfinite(known)]
    if not len(known) or known.min() < 0 or known.max() <= 0:
        return None
    margin = 0.05 * (known.max() - known.min()) or 0.5 * known.max()
    return 0.0 if known.min() < margin else None


def _stack(curves: Curves) -> Panel:
    """The curves on top of each other from 0 to 1, the first at the bottom."""
    count = len(curves.values)
    colors = _colors(curves, tuple(range(count)))
    edges = np.vstack([np.zeros(len(curves.x)), np.cumsum(curves.values, axis=0)])
    areas: list[Mark] = [
        Bands(
            curves.x,
            edges[k],
            edges[k + 1],
            name=curves.names[k],
            color=colors[k],
            opacity=1.0,
            read=curves.reader(k),
        )
        for k in range(count)
    ]
    areas += [Rule(curves.marks, width=1.4, color="surface"), Rug(curves.rug, color="surface")]
    middles = (edges[:-1, -1] + edges[1:, -1]) / 2
    ends = [End(float(at), curves.names[k], colors[k]) for k, at in enumerate(middles)]
    return Panel(
        tuple(areas),
        Axis(curves.x_name, margin=0),
        Axis(curves.y_name, low=0, high=1),
        ends=tuple(ends),
        reads="inside",
    )


def _table(curves: Curves) -> dict[str, np.ndarray]:
    count, t = curves.values.shape
    columns: dict[str, np.ndarray] = {}
    if count > 1:
        columns["Curve"] = np.repeat(np.array(curves.names, dtype=object), t)
    columns[capital(curves.x_name)] = np.tile(curves.x, count)
    columns[capital(curves.y_name)] = curves.values.ravel()
    if curves.intervals is not None:
        columns["Low"], columns["High"] = curves.intervals.reshape(-1, 2).T
    return columns
