"""Where the entries of a legend stand."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF

from plaidwork.core.pictures import Key, Ramp
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.tokens import size, space

_SIGN, RAMP = 12.0, 150.0
"""Pixels of the sign of an entry, and of a colour map."""


@dataclass(frozen=True)
class LegendPlace:
    """An entry of the legend and its box."""

    key: Key | Ramp
    box: QRectF


def legend_of(
    keys: tuple[Key | Ramp, ...], rect: QRectF, style: Style
) -> tuple[tuple[LegendPlace, ...], float]:
    """Entries in rows from the left, a colour map at the end of its row, and the height they take."""
    metrics = style.metrics()
    x, y, high, found = rect.left(), rect.top(), metrics.height() + space.XS, []
    if any(isinstance(key, Ramp) for key in keys):
        high += size.COLOR_BAR + 2
    for key in keys:
        beside = RAMP + space.M if isinstance(key, Ramp) else _SIGN + 6
        wide = min(beside + metrics.horizontalAdvance(key.text), rect.width())
        if x > rect.left() and x + wide > rect.right():
            x, y = rect.left(), y + high
        if isinstance(key, Ramp):
            x = rect.right() - wide
        found.append(LegendPlace(key, QRectF(x, y, wide, high)))
        x += wide + space.M
    return tuple(found), (y + high - rect.top() + space.S if found else 0.0)
