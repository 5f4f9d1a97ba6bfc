"""The first images of a file or a data set, side by side."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space, theme

MOST = 12
_SIDE = 64
_LEAST = 40


def first_images(dataset: Dataset) -> np.ndarray | None:
    """(k, h, w) of the first rows of a data set that holds images; None when it does not."""
    if len(dataset.image_shape) != 2 or dataset.is_sparse:
        return None
    height, width = dataset.image_shape
    if dataset.values.ndim != 2 or dataset.values.shape[1] != height * width:
        return None
    return np.asarray(dataset.values[:MOST], dtype=np.float64).reshape(-1, height, width)


class ImageStrip(QWidget):
    """One row of images on one grey scale; as many as have room. Hidden while there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.images = np.zeros((0, 1, 1))
        self._drawn: list[QImage] = []
        self._scheme = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()
        theme().changed.connect(self.update)

    def set_images(self, images: np.ndarray | None) -> None:
        """Show (k, h, w) numbers, NaN where a pixel is missing; None or no images hides the row."""
        self.images = np.zeros((0, 1, 1)) if images is None else np.asarray(images, dtype=np.float64)[:MOST]
        self._drawn = []
        count, height, width = self.images.shape
        self.setVisible(bool(count))
        self.setAccessibleName(
            tr(
                f"The first {counted(count, 'image')}, {height} × {counted(width, 'pixel')} each"
                if count
                else ""
            )
        )
        self.setToolTip(f"{height} × {counted(width, 'pixel')}" if count else "")
        self.updateGeometry()
        self.update()

    @property
    def shown(self) -> int:
        """How many images have room."""
        wide = self._wide() + space.S
        return int(min(len(self.images), max(1, (self.width() + space.S) // wide)))

    def _wide(self) -> float:
        _, height, width = self.images.shape
        return max(_SIDE * width / height, _LEAST)

    def sizeHint(self) -> QSize:
        return QSize(280, _SIDE)

    def minimumSizeHint(self) -> QSize:
        return QSize(_SIDE, _SIDE)

    def _draw(self) -> None:
        from plaidwork.gui.plots.image import to_rgba

        known = self.images[np.isfinite(self.images)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        self._drawn = []
        for image in self.images:
            picture = np.ascontiguousarray(to_rgba(image, theme().lut("tide"), low, high))
            height, width = picture.shape[:2]
            made = QImage(picture.data, width, height, 4 * width, QImage.Format.Format_RGBA8888)
            self._drawn.append(made.copy())
        self._scheme = theme().scheme

    def paintEvent(self, event: QPaintEvent) -> None:
        """Images with a hairline around each."""
        if not len(self.images):
            return
        if len(self._drawn) != len(self.images) or self._scheme != theme().scheme:
            self._draw()
        painter = QPainter(self)
        _, height, width = self.images.shape
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, max(height, width) > 2 * _SIDE)
        wide = self._wide()
        for k in range(self.shown):
            cell = QRectF(round(k * (wide + space.S)), 0, round(wide), _SIDE).adjusted(0.5, 0.5, -0.5, -0.5)
            inside = min(cell.width() / width, cell.height() / height)
            box = QRectF(0, 0, inside * width, inside * height)
            box.moveCenter(cell.center())
            painter.drawImage(box, self._drawn[k])
            painter.setPen(QPen(theme().color("border"), 1))
            painter.drawRect(box)
        painter.end()
