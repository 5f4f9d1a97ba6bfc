"""Annotation columns as strips in grey steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QColor

from plaidwork.gui.theme import theme

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

    def color(self, shade: int) -> QColor:
        """Colour of a shade in the current scheme."""
        return theme().grey_step(shade) if shade >= 0 else theme().color("border")

    def pixels(self, order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
        """(length,) colours (0xffRRGGBB) of the items in view."""
        at = span[0] + (np.arange(length) + 0.5) * (span[1] - span[0]) / length
        shades = self.shades[order[np.clip(at.astype(np.intp), 0, len(order) - 1)]]
        table = np.array([self.color(shade).rgb() for shade in (-1, *range(SHADES))], dtype=np.uint32)
        return table[shades + 1]


def categorical(table: Mapping[str, np.ndarray]) -> dict[str, Strip]:
    """Strips of the columns that have a few classes, by title."""
    found = {}
    for title, column in table.items():
        strip = _strip(title, np.asarray(column))
        if strip is not None:
            found[title] = strip
    return found


def _strip(title: str, column: np.ndarray) -> Strip | None:
    if column.dtype.kind == "f" and not np.all(np.isnan(column) | (column == np.round(column))):
        return None
    texts = np.array([class_text(value) for value in column], dtype=object)
    names, first, counts = np.unique(texts[texts != ""].astype(str), return_index=True, return_counts=True)
    if not 2 <= len(names) <= MOST_CLASSES or len(names) > max(2, len(column) // 2):
        return None
    by_place = np.argsort(first)
    names, counts = names[by_place], counts[by_place]
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


def class_text(value: object) -> str:
    """Class of an item as text, empty when missing."""
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    return str(value).strip()
