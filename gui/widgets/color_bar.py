"""Colour bar, 9 px high, with its low, middle and high value."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.drawing import Drawing
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import horizontal

_TRIANGLE = 7


class _Bar(Drawing):
    """The bar with its three numbers."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.map_name = "loom"
        self.texts = ("", "", "")
        self.clipped = (False, False)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """About 190 px wide: bar, gap, numbers."""
        return QSize(190, size.COLOR_BAR + 2 + self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the three numbers side by side."""
        metrics = self.fontMetrics()
        return QSize(
            sum(metrics.horizontalAdvance(t) + space.S for t in self.texts), self.sizeHint().height()
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Gradient, clip triangles, numbers."""
        table = theme().lut(self.map_name)
        image = QImage(table.tobytes(), len(table), 1, 4 * len(table), QImage.Format.Format_RGBA8888)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        low, high = self.clipped
        left = _TRIANGLE + 1 if low else 0
        right = self.width() - (_TRIANGLE + 1 if high else 0)
        painter.drawImage(QRectF(left, 0, right - left, size.COLOR_BAR), image)
        painter.setPen(Qt.PenStyle.NoPen)
        middle = size.COLOR_BAR / 2
        for on, edge, tip, pixel in ((low, left - 1, 0, 0), (high, right + 1, self.width(), 255)):
            if on:
                painter.setBrush(image.pixelColor(pixel, 0))
                points = [QPointF(edge, 0), QPointF(edge, size.COLOR_BAR), QPointF(tip, middle)]
                painter.drawPolygon(QPolygonF(points))
        painter.setPen(theme().color("muted"))
        rect = self.rect().adjusted(0, size.COLOR_BAR + 2, 0, 0)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for text, side in zip(self.texts, sides):
            painter.drawText(rect, side | Qt.AlignmentFlag.AlignTop, text)
        painter.end()


class ColorBar(QWidget):
    """Quantity at the left, bar with low, middle and high at the right.

    `map_name` is "loom", "soft_loom" or "tide"; the colours follow the theme.
    """

    def __init__(
        self,
        map_name: str = "loom",
        low: str = "",
        mid: str = "",
        high: str = "",
        *,
        label: str = "",
        clipped: tuple[bool, bool] = (False, False),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._label = Label(label, "caption", "muted", elide=True)
        self._bar = _Bar(self)
        horizontal((self._label, 0, Qt.AlignmentFlag.AlignVCenter), self._bar, on=self, spacing=space.M)
        self.set_label(label)
        self.set_limits(low, mid, high, clipped=clipped, map_name=map_name)

    def set_label(self, label: str) -> None:
        """Name of the quantity with its unit."""
        self._label.setText(label)
        self._label.setVisible(bool(label))

    def set_limits(
        self,
        low: str,
        mid: str,
        high: str,
        *,
        clipped: tuple[bool, bool] = (False, False),
        map_name: str = "",
    ) -> None:
        """Set the three numbers; `clipped` says whether values lie below or above."""
        self._bar.texts, self._bar.clipped = (low, mid, high), clipped
        self._bar.map_name = map_name or self._bar.map_name
        self.setAccessibleName(tr(f"Colours from {low} to {high}"))
        self._bar.updateGeometry()
        self._bar.update()
