"""Right dock of the tiles: the chosen image, its weight, the scores on it by class, all weights."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures.densities import densities
from plaidwork.core.pictures.words import capital, headed
from plaidwork.gui.numbers import format_fixed, format_interval, format_number, format_percent
from plaidwork.gui.results.density_chart import DensityChart
from plaidwork.gui.results.images import Images, class_threads, parted, separation
from plaidwork.gui.results.tile_paint import fitted, paint_frame, tile_image
from plaidwork.gui.results.weight_chart import WeightChart
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import KeyFigure, Label, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal, vertical

_TILE = 140


class _Tile(QWidget):
    """One image."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: np.ndarray | None = None
        self.map_name = "loom"
        self.setFixedSize(_TILE, _TILE)
        theme().changed.connect(self.update)

    def set_image(self, steps: np.ndarray, map_name: str, name: str) -> None:
        self.steps, self.map_name = steps, map_name
        self.setAccessibleName(f"Image of {name}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.steps is None:
            return
        painter = QPainter(self)
        rect = fitted(QRectF(1, 1, _TILE - 2, _TILE - 2), self.steps.shape[0] / self.steps.shape[1])
        ratio = self.devicePixelRatioF()
        image = tile_image(
            self.steps,
            self.map_name,
            max(1, round(rect.width() * ratio)),
            max(1, round(rect.height() * ratio)),
        )
        painter.drawImage(rect, image)
        paint_frame(painter, rect, False)
        painter.end()


class ImagePanel(QWidget):
    """What is known of the chosen image.

    Signals
    -------
    chosen : number of the image that was clicked among all weights
    hovered : read-out of the charts
    """

    chosen = Signal(int)
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Chosen image")
        self.title = Label("", "title", elide=True)
        self.tile = _Tile()
        self.weight = KeyFigure("Weight")
        self.alone = KeyFigure("", role="strong")
        self.strength = KeyFigure("Size", role="strong")
        self.density, self.weights = DensityChart(), WeightChart()
        self._density_title = Label("Scores by class", "strong")
        self._weights_title = Label("All weights", "strong")
        self.weights.chosen.connect(self.chosen)
        for chart in (self.density, self.weights):
            chart.hovered.connect(self.hovered)
        self._arrange()

    def _arrange(self) -> None:
        figures = vertical(self.weight, self.alone, self.strength, STRETCH, spacing=space.S)
        head = horizontal((self.tile, 0, Qt.AlignmentFlag.AlignTop), (figures, 1), spacing=space.L)
        inner = QWidget()
        column = vertical(
            self.title,
            head,
            on=inner,
            spacing=space.S,
            margins=(space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.M),
        )
        for title, chart in ((self._density_title, self.density), (self._weights_title, self.weights)):
            add(column, space.M, title, chart)
        column.addStretch(1)
        area = scrolled(inner, background=QPalette.ColorRole.Window)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        vertical(area, on=self)

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 200)

    def set_shown(self, images: Images, order: np.ndarray, scale: str, group: int, k: int) -> None:
        """Show an image."""
        name = headed(images.names[k])
        self.title.setText(name)
        self.tile.set_image(images.steps(scale)[k], images.map_name, name)
        self.strength.set_value(format_number(float(images.size[k]), 3))
        self.strength.setToolTip("Root mean square of its pixels")
        self._show_weight(images, group, k)
        self._show_scores(images, group, k)
        has = images.weights is not None
        self.weights.setVisible(has)
        self._weights_title.setVisible(has)
        if has:
            self.weights.set_shown(images, order, group, k)

    def _show_weight(self, images: Images, g: int, k: int) -> None:
        weights = images.weights
        self.weight.setVisible(weights is not None)
        if weights is None:
            return
        self.weight.set_label(capital(weights.label))
        note = ""
        if weights.intervals is not None:
            low, high = (float(end) for end in weights.intervals[g, k])
            note = format_interval(low, high)
        self.weight.set_value(format_fixed(float(weights.values[g, k]), 2, sign=True), note)

    def _show_scores(self, images: Images, g: int, k: int) -> None:
        shown = images.scores is not None and len(images.classes) > 1
        for widget in (self._density_title, self.density):
            widget.setVisible(shown)
        self.alone.setVisible(False)
        if not shown or images.scores is None:
            return
        classes, codes = parted(images, g)
        positive = images.weights.names[g] if images.weights is not None else ""
        threads = class_threads(classes, positive)
        scores = images.scores[:, k]
        self.density.set_curves(
            densities(scores, codes, classes, threads), f"score on {images.short_names[k]}"
        )
        if len(classes) == 2:
            known = (codes >= 0) & np.isfinite(scores)
            share = separation(scores[known], codes[known] == 0)
            self.alone.setVisible(share == share)
            self.alone.set_label(f"Alone tells {classes[0]} from {classes[1]}")
            self.alone.set_value(f"{format_percent(share)} of pairs right")
