"""Base of the charts that result pages paint themselves: scales, axes, focus ring, hover."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from plaidwork.core.pictures.scales import Scaling
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.theme import size, space, theme


def padded(values: np.ndarray, *, zero: bool = False, share: float = 0.05) -> tuple[float, float]:
    """Limits around the finite values with a margin; ``zero`` takes zero in."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = share * (high - low) if high > low else 0.5 * abs(high) or 0.5
    low, high = low - margin, high + margin
    return (min(low, 0.0), max(high, 0.0)) if zero else (low, high)


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``; ticks about every ``gap`` pixels."""

    low: float
    high: float
    start: float
    end: float
    gap: float = 84
    ticks: tuple[float, ...] = field(init=False)
    texts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        ticks = Scaling("linear", self.low, self.high).ticks(int(abs(self.end - self.start) / self.gap))
        object.__setattr__(self, "ticks", tuple(tick.value for tick in ticks))
        object.__setattr__(self, "texts", tuple(tick.text for tick in ticks))

    def at(self, value: float) -> float:
        """Pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def all_at(self, values: np.ndarray) -> np.ndarray:
        """Pixels of values."""
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)

    def value(self, pixel: float) -> float:
        """Value at a pixel."""
        return self.low + (pixel - self.start) / (self.end - self.start) * (self.high - self.low)


class Chart(QWidget):
    """A chart painted with QPainter. ``hovered`` tells what is under the pointer."""

    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme().changed.connect(self.restyle)

    def sizeHint(self) -> QSize:
        return QSize(560, 380)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 160)

    def restyle(self) -> None:
        """Colours or fonts have changed."""
        self.update()

    @property
    def caption_metrics(self) -> QFontMetricsF:
        """Sizes of axis texts."""
        return QFontMetricsF(theme().font("caption"))

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("")
        super().leaveEvent(event)

    # -- axes -----------------------------------------------------------------------------------
    def left_room(self, scale: Scale, name: str) -> float:
        """Pixels for the tick texts and the name of a left axis."""
        metrics = self.caption_metrics
        widest = max((metrics.horizontalAdvance(text) for text in scale.texts), default=0)
        return RING + widest + space.S + (metrics.height() + space.XS if name else 0)

    def bottom_room(self, name: str) -> float:
        """Pixels for the tick texts and the name of a bottom axis."""
        height = self.caption_metrics.height()
        return RING + height + space.S + (height + space.XS if name else 0)

    def paint_bottom_axis(self, painter: QPainter, area: QRectF, scale: Scale, name: str) -> None:
        """Axis line, tick texts, name below."""
        colors, metrics = theme(), self.caption_metrics
        painter.setFont(colors.font("caption"))
        painter.setPen(QPen(colors.color("axis"), 1))
        y = round(area.bottom()) + 0.5
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(colors.color("muted"))
        last = -1e9
        for tick, text in zip(scale.ticks, scale.texts):
            half = metrics.horizontalAdvance(text) / 2
            if scale.at(tick) - half < last + space.XS:
                continue
            last = scale.at(tick) + half
            box = QRectF(scale.at(tick) - 50, y + space.XS, 100, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, text)
        if name:
            box = QRectF(area.left(), y + metrics.height() + space.S, area.width(), metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, elided(metrics, name, box.width()))

    def paint_left_axis(
        self, painter: QPainter, area: QRectF, scale: Scale, name: str, grid: bool = True
    ) -> None:
        """Tick texts with faint lines, name turned at the left edge."""
        colors, metrics = theme(), self.caption_metrics
        painter.setFont(colors.font("caption"))
        for tick, text in zip(scale.ticks, scale.texts):
            y = round(scale.at(tick)) + 0.5
            if grid:
                painter.setPen(QPen(colors.color("grid"), 1))
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            box = QRectF(0, y - metrics.height() / 2, area.left() - space.S, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        if name:
            painter.save()
            painter.translate(RING, area.center().y())
            painter.rotate(-90)
            box = QRectF(-area.height() / 2, 0, area.height(), metrics.height())
            painter.setPen(colors.color("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, elided(metrics, name, box.width()))
            painter.restore()

    def paint_focus(self, painter: QPainter) -> None:
        """The ring of the focus."""
        if self.hasFocus():
            painter.setPen(QPen(theme().color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))


class ItemPicker(QComboBox):
    """Chooses one of a few named items; keeps the choice when the names come again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(260)
        self.currentTextChanged.connect(self.setToolTip)

    def set_names(self, names: tuple[str, ...] | list[str], current: int = 0) -> None:
        """Replace the items, silently."""
        blocked = self.blockSignals(True)
        if [self.itemText(i) for i in range(self.count())] != list(names):
            self.clear()
            self.addItems(list(names))
        self.setCurrentIndex(min(max(current, 0), len(names) - 1))
        self.blockSignals(blocked)
        self.setToolTip(self.currentText())

    def choose(self, index: int) -> None:
        """Show an item as chosen, silently."""
        blocked = self.blockSignals(True)
        self.setCurrentIndex(index)
        self.blockSignals(blocked)
        self.setToolTip(self.currentText())


def elided(metrics: QFontMetricsF, text: str, room: float) -> str:
    """The text, cut with an ellipsis to what there is room for."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0))
