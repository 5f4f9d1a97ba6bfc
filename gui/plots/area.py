"""View box and two axes in a grid: what our pictures use of pyqtgraph's plot item.

That one also makes a hidden form of 60 controls, menus and a button for every picture: a small trace plot took 19 ms of the GUI thread
to make, and takes 9 without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyqtgraph as pg
from PySide6.QtWidgets import QGraphicsGridLayout, QSizePolicy

_PLACES = {"left": (0, 0), "bottom": (1, 1)}


class PlotArea(pg.GraphicsWidget):
    """Central item of a picture.

    Attributes
    ----------
    view_box : pyqtgraph's view box, without a menu
    items : what was added, in this order
    """

    def __init__(self, axes: Mapping[str, pg.AxisItem]) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.view_box = pg.ViewBox(parent=self, enableMenu=False)
        self.items: list[Any] = []
        self._axes = dict(axes)
        self.grid = QGraphicsGridLayout(self)
        self.grid.setSpacing(0)
        self.grid.addItem(self.view_box, 0, 1)
        for side, axis in self._axes.items():
            axis.linkToView(self.view_box)
            axis.setZValue(0.5)  # over the marks at 0
            self.grid.addItem(axis, *_PLACES[side])
        self.grid.setRowStretchFactor(0, 100)
        self.grid.setColumnStretchFactor(1, 100)

    def add(self, item: Any, ignore_bounds: bool = False) -> None:
        """Put a mark into the view box; the range follows it unless ``ignore_bounds``."""
        self.items.append(item)
        self.view_box.addItem(item, ignoreBounds=ignore_bounds)

    def remove(self, item: Any) -> None:
        """Take a mark out again; one that is not there is no error."""
        if item in self.items:
            self.items.remove(item)
            self.view_box.removeItem(item)

    def hide_axis(self, side: str) -> None:
        """Leave out the ``left`` or ``bottom`` axis."""
        self._axes[side].hide()
