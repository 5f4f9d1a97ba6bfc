"""Annotation columns beside a matrix, as strips in grey steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.numbers import format_number
from plaidwork.core.pictures import Axis, Cells, End, Items, Key, Panel
from plaidwork.core.views.colouring import class_text

MOST_CLASSES, STEPS = 12, 4
"""Classes of a column at most, and greys that tell them apart: of more classes the last one is that of all others."""
_HIGH, _LONGEST = 0.75, 20
"""Lines of text that a strip is high, and letters of a name in its legend."""


@dataclass(frozen=True)
class Strip:
    """Classes of items: a ``shade`` (0 the strongest to 3, -1 missing) and the ``classes`` (empty when missing) of each, and
    a legend of (shade, text)."""

    title: str
    shades: np.ndarray
    legend: tuple[tuple[int, str], ...]
    classes: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        """(n,) from 0, pale, to 1, strong; NaN where missing."""
        return np.where(self.shades < 0, np.nan, 1 - self.shades / (STEPS - 1))

    def text(self, item: int) -> str:
        """The class of an item."""
        return str(self.classes[item]) or "unknown"

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend."""
        named = [Key(_short(text), f"grey{shade}") for shade, text in self.legend]
        missing = [Key("unknown", "border", "missing")] if (self.shades < 0).any() else []
        return _headed(self.title, (*named, *missing))


@dataclass(frozen=True)
class NumberStrip:
    """One number per item, pale for low and strong for high."""

    title: str
    values: np.ndarray

    @property
    def limits(self) -> tuple[float, float]:
        """Least and largest value."""
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)

    @property
    def levels(self) -> np.ndarray:
        """(n,) from 0, pale, to 1, strong; NaN where missing."""
        low, high = self.limits
        return np.asarray((self.values - low) / ((high - low) or 1.0))

    def text(self, item: int) -> str:
        """The number of an item."""
        value = float(self.values[item])
        return format_number(value, 4) if value == value else "unknown"

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend."""
        low, high = (format_number(value, 3) for value in self.limits)
        missing = [] if np.isfinite(self.values).all() else [Key("unknown", "border", "missing")]
        return _headed(self.title, (Key(low, f"grey{STEPS - 1}"), Key(high, "grey0"), *missing))


AnyStrip = Strip | NumberStrip


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _headed(title: str, keys: tuple[Key, ...]) -> tuple[Key, ...]:
    """The title before the first entry."""
    first = Key(f"{_short(title)}: {keys[0].text}", keys[0].color, keys[0].sign)
    return (first, *keys[1:])


def strip_panel(strip: AnyStrip, order: np.ndarray, names: tuple[str, ...], kind: str = "") -> Panel:
    """The items in an order, across above a matrix with the same ``names`` in that order; ``kind`` of the items."""
    m = len(order)
    cells = Cells(
        strip.levels[order][None, :],
        -0.5,
        m - 0.5,
        0.0,
        1.0,
        "greys",
        name=strip.title,
        read=lambda piece: f"{names[piece]}: {strip.title} {strip.text(int(order[piece]))}",
        columns=Items(kind, order) if kind else None,
    )
    return Panel(
        (cells,),
        Axis(scale="category", names=names, ticks=False),
        Axis(low=0.0, high=1.0, ticks=False),
        ends=(End(0.5, strip.title, "muted"),),
        height=_HIGH,
        reads="inside",
        zoom="x",
        lines=False,
    )


def strip_of(title: str, column: np.ndarray) -> AnyStrip | None:
    """Classes in grey steps, numbers on a grey scale; None when the column says nothing."""
    column = np.asarray(column)
    found = _strip(title, column, max(MOST_CLASSES, len(column) // 4))
    if found is not None:
        return found
    if column.dtype.kind in "biuf" and len(np.unique(column[np.isfinite(column)])) > 1:
        return NumberStrip(title, column.astype(np.float64))
    return None


def categorical(table: Mapping[str, np.ndarray]) -> dict[str, Strip]:
    """Strips of the columns that have a few classes, by title."""
    found = {}
    for title, column in table.items():
        strip = _strip(title, np.asarray(column))
        if strip is not None:
            found[title] = strip
    return found


def _strip(title: str, column: np.ndarray, most: int = MOST_CLASSES) -> Strip | None:
    if column.dtype.kind == "f" and not np.all(np.isnan(column) | (column == np.round(column))):
        return None
    texts = np.array([class_text(value) for value in column], dtype=object)
    names, first, counts = np.unique(texts[texts != ""].astype(str), return_index=True, return_counts=True)
    if not 2 <= len(names) <= most or len(names) > max(2, len(column) // 2):
        return None
    by_position = np.argsort(first)
    names, counts = names[by_position], counts[by_position]
    if len(names) > STEPS:
        common = set(names[np.argsort(-counts, kind="stable")[: STEPS - 1]])
        kept = [name for name in names if name in common]
        legend = [*kept, f"{len(names) - len(kept)} others"]
    else:
        kept, legend = list(names), list(names)
    shade = {name: kept.index(name) if name in kept else STEPS - 1 for name in names}
    shades = np.array([shade[text] if text else -1 for text in texts])
    entries = list(enumerate(legend))
    if len(entries) == 2:  # two classes: strongest against palest
        shades = np.where(shades == 1, STEPS - 1, shades)
        entries = [(0, legend[0]), (STEPS - 1, legend[1])]
    return Strip(title, shades, tuple(entries), texts)
