"""Room that names and columns of numbers beside a panel take."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

from plaidwork.core.pictures import Column, Panel, Scaling
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.tokens import space

_BESIDE, LONGEST, _MEASURED = 0.3, 150.0, 400
"""Share of a panel that columns of numbers beside it may take, pixels of the longest name, and names that are measured."""


def shown_names(scaling: Scaling) -> list[str]:
    """Names of the places of a scale of categories that are in view: of very many those of some."""
    names = scaling.names[max(0, math.ceil(scaling.low)) : math.floor(scaling.high) + 1]
    return list(names[:: max(1, len(names) // _MEASURED)])


def widest_of(texts: list[str], metrics: QFontMetricsF) -> float:
    """Pixels of the widest text."""
    return max((metrics.horizontalAdvance(text) for text in texts), default=0.0)


def upright_names(panel: Panel, style: Style, rect: QRectF, across: Scaling) -> float:
    """Height of names that are written upright below a panel; 0 when they have room beside each other."""
    if not (panel.x.turned and panel.x.ticks) or panel.x.above:
        return 0.0
    metrics = style.metrics()
    widest = widest_of(shown_names(across), metrics)
    each = 0.8 * rect.width() / max(across.high - across.low, 1.0)
    if panel.equal and not panel.fills:  # as wide as a row is high, at most
        up, whole = panel.scaling("y"), panel.scaling("x")
        zoomed = (whole.high - whole.low) / (across.high - across.low)
        each = min(each, zoomed * rect.height() / (up.high - up.low))
    if widest + space.S <= each:
        return 0.0
    return min(widest, LONGEST, 0.3 * rect.height())


def beside_rows(panel: Panel, style: Style, width: float) -> list[tuple[Column, float]]:
    """Columns for which a panel so wide has room, and their widths."""
    metrics = style.metrics()
    found = [
        (one, max(metrics.horizontalAdvance(text) for text in (one.title, *one.texts[:_MEASURED])) + space.L)
        for one in panel.columns
    ]
    while len(found) > 1 and sum(wide for _, wide in found) > _BESIDE * width:
        found.pop(0)
    return found
