"""How much each factor explains of each view: a table with coloured cells and totals, and bars below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import agree
from plaidwork.core.draws.numbers import format_count, format_fixed, format_percent
from plaidwork.core.findings.naming import ShownName
from plaidwork.core.pictures import (
    Axis,
    Bars,
    Cells,
    Color,
    End,
    Items,
    Key,
    Panel,
    Picture,
    Ramp,
    ViewChoices,
)
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.sources import Sources, role_names

_BLUELESS = (1, 4, 3, 2, 5, 6)
"""Categories of the views in the bars; blues are left to the cells."""
_WIDEST, _HIGHEST, _GAP = 220.0, 44.0, 2.0
"""Pixels of the largest cell, and between two."""
_SCALES = (("root", "Square root"), ("linear", "Linear"))


@dataclass(frozen=True)
class Shares:
    """(V, K) shares from 0 to 1, names of views and factors, and the share of all factors together by view.

    ``short`` names of the factors are for narrow columns. ``samples`` is the name of the group that they are of, ``dim``
    that of the factors among the results.
    """

    values: np.ndarray
    totals: np.ndarray
    views: tuple[str, ...]
    factors: tuple[str, ...]
    short: tuple[str, ...]
    samples: str = "all"
    dim: str = ""

    @property
    def high(self) -> float:
        """Upper end of the colours."""
        known = self.values[np.isfinite(self.values)]
        return float(known.max()) if len(known) and known.max() > 0 else 1.0

    def cell(self, view: int, factor: int) -> str:
        """A share in per cent without the sign, one decimal."""
        value = self.values[view, factor]
        if value != value:
            return "\N{EN DASH}"
        if 0 < value < 0.0005:
            return "< 0.1"
        return "0" if value == 0 else format_fixed(100 * value, 1)

    def text(self, view: int, factor: int) -> str:
        """A cell in words."""
        share = self.values[view, factor]
        shown = "missing" if share != share else format_percent(float(share), 1)
        return f"{self.factors[factor]} explains of {self.views[view]}: {shown}"

    def whole(self, factor: int) -> str:
        """A factor in words."""
        values = zip(self.views, self.values[:, factor], strict=True)
        each = (f"{name} {format_percent(float(value), 1)}" for name, value in values)
        return f"{capital(self.factors[factor])}: {', '.join(each)}"


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (V, K), shares of each view from 0 to 1; ``total`` (V,), else the sums; ``row_names`` (V,) and
    ``column_names`` (K,); ``by_group`` (G, V, K), the shares of each group of samples, and ``groups`` (G,), their names.

    Option: ``scale`` "root" or "linear".
    """
    found = _read(sources)
    if not found[0].values.size:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    group = choices.among("group", "Samples", [shares.samples for shares in found])
    scale = str(sources.view.options.get("scale", "root"))
    root = choices.pick("scale", "Scale", _SCALES, scale) == "root"
    shares = found[group]
    bars = len(shares.views) <= len(_BLUELESS)
    table = _table(shares)
    keys = tuple(Key(name, _color(v)) for v, name in enumerate(shares.views)) if bars else ()
    return Picture(
        _headline(shares, group),
        "Share of the variance of each view that a factor explains, in per cent.",
        (_cells(shares, root, bars), *([_bars(shares, root)] if bars else [])),
        "Colours follow the square root of the share, so that weak factors show" if root else "",
        (*keys, _ramp(shares, root)),
        table,
        formats=dict.fromkeys([*table][1:], _percent),
        layers=found[0].dim,
    )


def _read(sources: Sources) -> tuple[Shares, ...]:
    """Of all samples, then of each group."""
    result = sources.result("values", 2)
    values = np.asarray(result.values, dtype=np.float64)
    count, factors = values.shape
    dims = result.dims if len(result.dims) == 2 else ("view", "factor")
    totals = sources.array("total", (count,)) if sources.has("total") else np.nansum(values, axis=1)
    names = role_names(sources, "column_names", dims[1], factors)
    word = dims[1].replace("_", " ")
    short = tuple(
        name if isinstance(name, ShownName) else f"{word[:1].upper()}{k + 1}" for k, name in enumerate(names)
    )
    rows = role_names(sources, "row_names", dims[0], count)
    found = [Shares(values, totals, rows, names, short, dim="".join(result.dims[1:]))]
    if sources.has("by_group"):
        parts = sources.array("by_group", (None, count, factors))
        of = sources.result("by_group").dims[:1] or ("group",)
        groups = role_names(sources, "groups", of[0], len(parts))
        found += [
            Shares(part, np.nansum(part, axis=1), rows, names, short, group)
            for part, group in zip(parts, groups, strict=True)
        ]
    return tuple(found)


def _color(view: int) -> Color:
    return _BLUELESS[view % len(_BLUELESS)]


def _cells(shares: Shares, root: bool, bars: bool) -> Panel:
    """The first view at the top; at the right what all factors explain together."""
    count, factors = shares.values.shape
    low_first = shares.values[::-1]
    places = [(view, factor) for view in range(count - 1, -1, -1) for factor in range(factors)]
    mark = Cells(
        np.sqrt(np.maximum(low_first, 0)) if root else low_first,
        -0.5,
        factors - 0.5,
        -0.5,
        count - 0.5,
        limits=(0.0, shares.high**0.5 if root else shares.high),
        labels=tuple(shares.cell(*place) for place in places),
        gap=_GAP,
        name="shares",
        read=tuple(shares.text(*place) for place in places),
        of=Items("layer", np.tile(np.arange(factors), count)),
    )
    ends = [
        End(
            count - 1 - view,
            format_percent(float(total)),
            _color(view) if bars else "neutral",
            float(total) if total == total else 0.0,
        )
        for view, total in enumerate(shares.totals)
    ]
    return Panel(
        (mark,),
        Axis(scale="category", names=shares.factors, short=shares.short, above=True),
        Axis(scale="category", names=shares.views[::-1]),
        ends=tuple(ends),
        ends_title="all factors",
        most=_WIDEST,
        highest=_HIGHEST,
        reads="inside",
        zoom="",
    )


def _bars(shares: Shares, root: bool) -> Panel:
    """The same by factor, a bar for each view."""
    count, factors = shares.values.shape
    width = min(0.76 / count, 0.3)
    read = tuple(map(shares.whole, range(factors)))
    marks = tuple(
        Bars(
            np.arange(factors) + (view - (count - 1) / 2) * width,
            np.zeros(factors),
            np.where(shares.values[view] > 0, 100 * shares.values[view], np.nan),
            0.94 * width,
            34.0,
            name=name,
            color=_color(view),
            read=read,
            of=Items("layer", np.arange(factors)),
        )
        for view, name in enumerate(shares.views)
    )
    return Panel(
        marks,
        Axis(ticks=False),
        Axis(scale="sqrt" if root else "linear", low=0, high=104 * shares.high),
        title=f"The same by factor, % of each view{', square-root scale' if root else ''}",
        reads="across",
        zoom="",
    )


def _ramp(shares: Shares, root: bool) -> Ramp:
    high = 100 * shares.high
    decimals, middle = 0 if high >= 20 else 1, high / (4 if root else 2)
    ends = ("0", format_fixed(middle, decimals), format_fixed(high, decimals))
    return Ramp("share explained, %", ends=ends)


def _headline(shares: Shares, group: int) -> str:
    count = len(shares.factors)
    word = agree(count, "factor explains", "factors explain")
    totals = zip(shares.views, shares.totals, strict=True)
    parts = [f"{format_percent(float(total))} of {name}" for name, total in totals]
    shown = parts[:3] + ([f"{len(parts) - 3} more"] if len(parts) > 3 else [])
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    of = f" in the samples “{shares.samples}”" if group else ""
    return f"{format_count(count)} {word} {listed}{of}"


def _percent(share: float) -> str:
    return format_percent(float(share), 1)


def _table(shares: Shares) -> dict[str, np.ndarray]:
    """A row for each factor and one for all of them, in per cent."""
    columns = {"Factor": np.array([*shares.factors, "all factors"], dtype=object)}
    for v, name in enumerate(shares.views):
        title = name if name not in columns else f"{name} ({v + 1})"
        columns[title] = np.append(shares.values[v], shares.totals[v])
    return columns
