"""Who has what: one band of samples for each view, drawn with QPainter; absent samples are hatched."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QFontMetrics, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.data.overview import Overview
from plaidwork.core.draws.counting import agree, counted
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count, format_percent, nice_ticks
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets.drawing import Drawing

_LEAST, _MOST = 22, 104
_GAP = 6
_NAMES = 0.3


def band_image(present: np.ndarray, width: int) -> QImage:
    """One line of ``width`` pixels: colour by the mean share of features among samples there, alpha by how many are.

    ``present`` (N,) is the share of features that a sample has, 0 where it lacks the view. Area averages, so that no
    sample is lost however many there are.
    """
    n = len(present)
    width = max(1, min(width, n))
    starts = np.arange(width) * n // width
    sizes = np.diff(np.append(starts, n))
    there = np.add.reduceat((present > 0).astype(float), starts)
    share = np.add.reduceat(present, starts) / np.maximum(there, 1)
    table = theme().lut("tide")
    position = np.clip(np.round((0.25 + 0.45 * share) * (len(table) - 1)), 0, len(table) - 1).astype(int)
    pixels = np.ascontiguousarray(table[position][:, :4]).copy()
    pixels[:, 3] = np.round(255 * there / sizes).astype(np.uint8)
    image = QImage(pixels.data, width, 1, 4 * width, QImage.Format.Format_RGBA8888)
    return image.copy()


def paint_band(painter: QPainter, area: QRectF, present: np.ndarray, ratio: float = 1.0) -> None:
    """Hatch, and the band over it."""
    painter.fillRect(area, theme().color("sunken"))
    painter.fillRect(area, QBrush(theme().color("neutral"), Qt.BrushStyle.BDiagPattern))
    if len(present):
        image = band_image(present, max(1, round(area.width() * ratio)))
        smooth = len(present) > image.width()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(area, image)
    painter.setPen(QPen(theme().color("border"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))


class PresenceLegend(Drawing):
    """What the colours of the bands mean."""

    ENTRIES = (("all features known", 1.0), ("few", 0.05), ("missing", 0.0))

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(
            tr("Legend: dark where all features are known, pale where few are, hatched where missing")
        )

    def sizeHint(self) -> QSize:
        wide = sum(
            self.fontMetrics().horizontalAdvance(tr(text)) + 14 + 6 + space.L for text, _ in self.ENTRIES
        )
        return QSize(wide - space.L, self.fontMetrics().height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        x, metrics = 0, self.fontMetrics()
        for entry, share in self.ENTRIES:
            text = tr(entry)
            paint_band(painter, QRectF(x, (self.height() - 12) / 2, 14, 12), np.full(1, share))
            painter.setPen(theme().color("muted"))
            wide = metrics.horizontalAdvance(text)
            painter.drawText(QRectF(x + 20, 0, wide + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += 14 + 6 + wide + space.L
        painter.end()


class PresenceStrip(QWidget):
    """The band of one view, as high as a line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._present = np.zeros(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(10)
        self.setMinimumWidth(60)
        theme().changed.connect(self.update)

    def set_present(self, present: np.ndarray) -> None:
        """Share of features by sample."""
        self._present = present
        missing = int((present == 0).sum())
        self.setToolTip(
            tr(
                f"{format_count(len(present) - missing)} of {counted(len(present), 'sample')} "
                f"{agree(len(present) - missing, 'has', 'have')} this view"
            )
        )
        self.setAccessibleName(self.toolTip())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if len(self._present):
            paint_band(painter, QRectF(self.rect()), self._present, self.devicePixelRatioF())
        painter.end()


class PresencePicture(Drawing):
    """All views one above the other, on one axis of samples.

    Signals
    -------
    hovered : view, sample and share under the pointer, for the status bar
    """

    hovered = Signal(str)

    def __init__(self, total: int = 260, parent: QWidget | None = None) -> None:
        """``total``: height of all bands together, as far as a band is neither thin nor thick."""
        super().__init__(parent)
        self._overview: Overview | None = None
        self._word = "samples"
        self._total = total
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_overview(self, overview: Overview | None, word: str = "samples") -> None:
        """Show views; ``word`` is what a sample is called, in the plural."""
        self._overview, self._word = overview, word
        if overview is not None:
            text = "; ".join(
                f"{v.name}: {v.n_samples} {word}, {counted(v.n_features, 'feature')}" for v in overview.views
            )
            self.setAccessibleName(tr(f"Views and their {word}. {text}"))
        self.updateGeometry()
        self.update()

    @property
    def overview(self) -> Overview | None:
        """What is shown."""
        return self._overview

    def _axis_height(self) -> int:
        return 2 * QFontMetrics(self.font()).height() + space.S

    def sizeHint(self) -> QSize:
        rows = max(1, len(self._overview.views) if self._overview else 1)
        return QSize(480, round(rows * (self._row_height() + _GAP)) + self._axis_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    # -- places ---------------------------------------------------------------------------------
    def _row_height(self) -> float:
        rows = max(1, len(self._overview.views) if self._overview else 1)
        return min(_MOST, max(_LEAST, self._total / rows))

    def _left(self) -> float:
        """Room for the names, as much as they need and not more than a share of the width."""
        if self._overview is None:
            return 0.0
        strong = QFontMetrics(theme().font("strong"))
        small = QFontMetrics(theme().font("caption"))
        wide = [strong.horizontalAdvance(view.name) for view in self._overview.views]
        wide += [small.horizontalAdvance(_about(view.n_features)) for view in self._overview.views]
        return min(max(wide, default=0) + 2, _NAMES * self.width()) + space.M

    def _area(self, row: int) -> QRectF:
        height = self._row_height()
        return QRectF(self._left(), row * (height + _GAP), self.width() - self._left() - 1, height)

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Names at the left, bands, axis of samples below."""
        overview = self._overview
        if overview is None:
            return
        painter = QPainter(self)
        for row, view in enumerate(overview.views):
            area = self._area(row)
            paint_band(painter, area, overview.present[row], self.devicePixelRatioF())
            self._paint_name(
                painter,
                QRectF(0, area.top(), area.left() - space.M, area.height()),
                view.name,
                view.n_features,
            )
        self._paint_axis(painter, len(overview.samples), len(overview.views))
        painter.end()

    def _paint_name(self, painter: QPainter, area: QRectF, name: str, n_features: int) -> None:
        strong, small = theme().font("strong"), theme().font("caption")
        two = QFontMetrics(strong).height() + QFontMetrics(small).height() <= area.height() + 2
        painter.setFont(strong)
        painter.setPen(theme().color("text"))
        shown = QFontMetrics(strong).elidedText(name, Qt.TextElideMode.ElideMiddle, int(area.width()))
        height = QFontMetrics(strong).height()
        top = area.center().y() - (height + QFontMetrics(small).height() if two else height) / 2
        painter.drawText(QRectF(area.left(), top, area.width(), height), Qt.AlignmentFlag.AlignLeft, shown)
        if two:
            painter.setFont(small)
            painter.setPen(theme().color("muted"))
            below = QRectF(area.left(), top + height, area.width(), QFontMetrics(small).height())
            text = QFontMetrics(small).elidedText(
                tr(_about(n_features)), Qt.TextElideMode.ElideRight, int(area.width())
            )
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, text)

    def _paint_axis(self, painter: QPainter, n: int, rows: int) -> None:
        area = self._area(max(rows - 1, 0))
        y = area.bottom() + space.XS
        painter.setFont(self.font())
        metrics = painter.fontMetrics()
        painter.setPen(QPen(theme().color("axis"), 1))
        painter.drawLine(QPointF(area.left(), y + 0.5), QPointF(area.right(), y + 0.5))
        painter.setPen(theme().color("muted"))
        ticks = nice_ticks(0, max(n, 1), max(3, min(8, int(area.width() // 84))))
        for tick in (tick for tick in ticks if tick <= n and tick == round(tick)):
            text = format_count(tick)
            wide = metrics.horizontalAdvance(text)
            x = min(
                max(area.left() + tick / max(n, 1) * area.width() - wide / 2, area.left()),
                area.right() - wide,
            )
            painter.drawText(QPointF(x, y + 2 + metrics.ascent()), text)
        full = tr(f"{self._word}, those with the same views together")
        text = full if metrics.horizontalAdvance(full) <= area.width() else self._word
        below = QRectF(area.left(), y + 2 + metrics.height(), area.width(), metrics.height())
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, text)

    # -- pointer --------------------------------------------------------------------------------
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say what is under the pointer."""
        self.hovered.emit(self.read_out(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("")

    def read_out(self, position: QPointF) -> str:
        """View, sample and share of its features at a place of the widget; empty outside the bands."""
        overview = self._overview
        if overview is None or not overview.samples:
            return ""
        for row, view in enumerate(overview.views):
            area = self._area(row)
            if area.contains(position):
                n = len(overview.samples)
                column = min(n - 1, int((position.x() - area.left()) / area.width() * n))
                share = float(overview.present[row, column])
                text = f"{format_percent(share)} of the features known" if share > 0 else "missing"
                return f"{view.name}, {overview.samples[column]}: {text}"
        return ""


def _about(n_features: int) -> str:
    return counted(n_features, "feature")
