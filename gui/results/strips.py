"""Annotation columns as strips in grey steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtGui import QColor

from plaidwork.core.views.colouring import class_text
from plaidwork.gui.numbers import format_number
from plaidwork.gui.theme import theme

STRIP = 12
"""Pixels across a strip."""
_PROFILE = 34
_TALL = 68
"""Image rows of a profile; drawn half as high."""
MOST_CLASSES = 12
SHADES = 4


@dataclass(frozen=True)
class Strip:
    """One annotation: a shade (0 to 3, -1 missing) per item, and a legend of (shade, text)."""

    title: str
    shades: np.ndarray
    legend: tuple[tuple[int, str], ...]
    classes: np.ndarray
    """Class name of each item, empty when missing."""
    height: int = STRIP

    def color(self, shade: int) -> QColor:
        """Colour of a shade in the current scheme."""
        return theme().grey_step(shade) if shade >= 0 else theme().color("border")

    def pixels(self, order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
        """(length,) colours (0xffRRGGBB) of the items in view."""
        shades = self.shades[_in_view(order, span, length)]
        table = np.array([self.color(shade).rgb() for shade in (-1, *range(SHADES))], dtype=np.uint32)
        return table[shades + 1]


@dataclass(frozen=True)
class NumberStrip:
    """One number per item in greys, pale for low and strong for high; missing ones in the colour of borders."""

    title: str
    values: np.ndarray
    height: int = STRIP

    @property
    def limits(self) -> tuple[float, float]:
        """Least and largest value."""
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)

    def color(self, share: float) -> QColor:
        """Colour of a share of the way from the least to the largest value."""
        low, high = theme().grey_step(3), theme().grey_step(0)
        parts = zip(low.getRgb()[:3], high.getRgb()[:3], strict=True)  # type: ignore[index]
        return QColor(*(round(a + (b - a) * share) for a, b in parts))

    def pixels(self, order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
        """(length,) colours (0xffRRGGBB) of the items in view."""
        low, high = self.limits
        values = self.values[_in_view(order, span, length)]
        table = np.array([self.color(k / 255).rgb() for k in range(256)], dtype=np.uint32)
        step = np.clip((np.nan_to_num(values) - low) / (high - low or 1) * 255, 0, 255).astype(np.intp)
        return np.where(np.isfinite(values), table[step], np.uint32(theme().color("border").rgb()))


@dataclass(frozen=True)
class Profile:
    """One number per item as bars from a line at zero."""

    title: str
    values: np.ndarray
    height: int = _PROFILE

    def pixels(self, order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
        """(rows, length) colours (0xffRRGGBB) of the items in view."""
        values = self.values[_in_view(order, span, length)]
        known = self.values[np.isfinite(self.values)]
        low, high = (min(known.min(), 0.0), max(known.max(), 0.0)) if len(known) else (0.0, 1.0)
        unit = (high - low) or 1.0
        top = (high - np.nan_to_num(values)) / unit * (_TALL - 1)
        zero = high / unit * (_TALL - 1)
        rows = np.arange(_TALL)[:, None]
        filled = (rows >= np.minimum(top, zero) - 0.5) & (rows <= np.maximum(top, zero) + 0.5)
        ink, ground = (np.uint32(theme().color(name).rgb()) for name in ("control", "surface"))
        return np.where(filled & np.isfinite(values), ink, ground)


AnyStrip = Strip | NumberStrip | Profile


def legend_of(strip: AnyStrip) -> list[tuple[Callable[[], QColor], str]]:
    """Colours, as functions that follow the scheme, and what they mean."""
    if isinstance(strip, NumberStrip):
        shares = zip((0.0, 1.0), strip.limits, strict=True)
        return [(partial(strip.color, share), format_number(value, 3)) for share, value in shares]
    if isinstance(strip, Strip):
        return [(partial(strip.color, shade), text) for shade, text in strip.legend]
    return []


def _in_view(order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
    """The item at each of so many pixels."""
    at = span[0] + (np.arange(length) + 0.5) * (span[1] - span[0]) / length
    return order[np.clip(at.astype(np.intp), 0, len(order) - 1)]


def strip_of(title: str, column: np.ndarray) -> Strip | NumberStrip | None:
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
    if len(names) > SHADES:
        common = set(names[np.argsort(-counts, kind="stable")[: SHADES - 1]])
        kept = [name for name in names if name in common]
        legend = [*kept, f"{len(names) - len(kept)} others"]
    else:
        kept, legend = list(names), list(names)
    shade = {name: kept.index(name) if name in kept else SHADES - 1 for name in names}
    shades = np.array([shade[text] if text else -1 for text in texts])
    entries = list(enumerate(legend))
    if len(entries) == 2:  # two classes: strongest against palest
        shades = np.where(shades == 1, SHADES - 1, shades)
        entries = [(0, legend[0]), (SHADES - 1, legend[1])]
    return Strip(title, shades, tuple(entries), texts)
