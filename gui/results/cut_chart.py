"""Probabilities along a line across a map, below it and on its scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures import Axis, Color, End, Line, Panel, Picture
from plaidwork.gui.numbers import format_number
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.results.surface_chart import SurfaceChart
from plaidwork.gui.theme import space

_LEAST, _HEIGHT, _STEPS, _MOST = 110, 150, 240, 6
NO_CLASS = "no class"


class CutChart(PictureCanvas):
    """The classes along the line, in the colours of their points; places stand below those of the map."""

    def __init__(self, above: SurfaceChart, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._above = above
        self.setMinimumHeight(_LEAST)
        self.setMaximumHeight(_HEIGHT)

    def bounds(self) -> tuple[float, float]:
        """Below the map."""
        across, _ = self._above.scales()
        return across.start, across.end

    def _color(self, name: str) -> Color:
        if name == NO_CLASS or self._above.points is None:
            return "control"
        shown = self._above.points.colouring
        return shown.categories()[shown.classes.index(name)]

    def show_cut(self) -> None:
        """Follow the line of the map and the part of it that is shown."""
        surface = self._above.surface
        if surface is None:
            return
        names = list(surface.classes[-1:] if len(surface.values) == 1 else surface.classes)
        if surface.null is not None:
            names.append(NO_CLASS)
        metrics = self.fontMetrics()
        room = min(max(metrics.horizontalAdvance(name) for name in names), 140) + space.S
        self._above.right_room = room if len(names) > 1 else 0.0
        across, _ = self._above.scales()
        x = np.linspace(across.low, across.high, _STEPS)
        along = [np.interp(x, surface.x, row) for row in surface.cut(self._above.cut)]
        where = (
            f"{surface.x_name}, where {surface.y_name.split(',')[0]} is {format_number(self._above.cut, 3)}"
        )
        if len(along) > _MOST:
            where += f"; the first {_MOST} of {len(along)} classes"
        lines = [
            Line(x, values, name=name, color=self._color(name), read=_reader(name, where, x, values))
            for name, values in zip(names[:_MOST], along[:_MOST], strict=True)
        ]
        ends = [End(float(line.y[-1]), line.name, self._color(line.name)) for line in lines]
        panel = Panel(
            tuple(lines),
            Axis(where, margin=0),
            Axis("probability", low=0, high=1),
            ends=tuple(ends) if len(ends) > 1 else (),
            reads="across",
            zoom="",
        )
        self.set_picture(Picture(f"Probability along {where}", panels=(panel,)))


def _reader(name: str, where: str, x: np.ndarray, values: np.ndarray) -> Callable[[int], str]:
    """A place in words."""
    return lambda i: f"{name}, {where} {format_number(float(x[i]), 5)}: {format_number(float(values[i]), 4)}"
