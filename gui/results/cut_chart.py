"""Probabilities along a line across a map, below it and on its scale."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.chart import Scale
from plaidwork.gui.results.curve_chart import CurveChart, Curves
from plaidwork.gui.results.surface_chart import SurfaceChart
from plaidwork.gui.theme import space, theme

_LEAST, _HEIGHT, _STEPS, _MOST = 110, 150, 240, 6
NO_CLASS = "no class"


class CutChart(CurveChart):
    """The classes along the line, in the colours of their points; places stand below those of the map."""

    def __init__(self, above: SurfaceChart, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._above = above
        self.setMinimumHeight(_LEAST)
        self.setMaximumHeight(_HEIGHT)

    def scales(self) -> tuple[Scale, Scale]:
        x, y = super().scales()
        map_x, _ = self._above.scales()
        return Scale(x.low, x.high, map_x.start, map_x.end), Scale(0.0, 1.0, y.start, y.end, 50)

    def color(self, k: int) -> QColor:
        assert self.curves is not None
        if self.curves.names[k] == NO_CLASS or self._above.points is None:
            return theme().color("control")
        shown = self._above.points.colouring
        return shown.colors()[shown.classes.index(self.curves.names[k])]

    def show_cut(self) -> None:
        """Follow the line of the map and the part of it that is shown."""
        surface = self._above.surface
        if surface is None:
            return
        names = list(surface.classes[-1:] if len(surface.values) == 1 else surface.classes)
        if surface.null is not None:
            names.append(NO_CLASS)
        metrics = self.caption_metrics
        room = min(max(metrics.horizontalAdvance(name) for name in names), 140) + space.S
        self._above.right_room = room if len(names) > 1 else 0.0
        across, _ = self._above.scales()
        x = np.linspace(across.low, across.high, _STEPS)
        along = np.stack([np.interp(x, surface.x, row) for row in surface.cut(self._above.cut)])
        where = (
            f"{surface.x_name}, where {surface.y_name.split(',')[0]} is {format_number(self._above.cut, 3)}"
        )
        if len(along) > _MOST:
            where += f"; the first {_MOST} of {len(along)} classes"
        curves = Curves(x, along, None, tuple(names), where, "probability", "")
        self.set_curves(curves, tuple(range(min(len(along), _MOST))))
