"""All blocks at a glance: how much they cover, and the shift of each with its interval."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.numbers import format_fixed, format_percent, nice_ticks, step_decimals
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import KeyFigure, Label
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

_ROW = 24
_NAME = 92


class ShiftPlot(QWidget):
    """One row per block: dot at the shift, line over its interval, zero marked."""

    clicked = Signal(int)

    def __init__(self, blocks: Blocks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._blocks = blocks
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Shift of each block")
        theme().changed.connect(self.update)

    def _shown(self) -> list[int]:
        data = self._blocks.data
        if data is None or data.shift is None:
            return []
        return [block for block in range(len(data)) if np.isfinite(data.shift[block])]

    def sizeHint(self) -> QSize:
        """One row a block and an axis."""
        return QSize(300, max(1, len(self._shown())) * _ROW + 26)

    def minimumSizeHint(self) -> QSize:
        """May be narrow."""
        return QSize(180, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Grid, intervals, dots, names."""
        data, shown = self._blocks.data, self._shown()
        if data is None or data.shift is None or not shown:
            return
        colors, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(colors.font("caption"))
        metrics = QFontMetricsF(painter.font())
        bounds = (
            data.shift[shown] if data.interval is None else np.append(data.shift[shown], data.interval[shown])
        )
        bounds = np.append(bounds[np.isfinite(bounds)], 0.0)
        low, high = float(bounds.min()), float(bounds.max())
        high = high if high > low else low + 1
        left, right = _NAME + space.S, self.width() - space.S
        bottom = len(shown) * _ROW

        def x_of(value: float) -> float:
            return left + space.S + (value - low) / (high - low) * (right - left - 2 * space.S)

        ticks = nice_ticks(low, high, 4)
        decimals = step_decimals(ticks[1] - ticks[0]) if len(ticks) > 1 else 1
        for tick in ticks:
            x = round(x_of(tick)) + 0.5
            painter.setPen(QPen(colors.color("axis" if tick == 0 else "grid"), 1))
            painter.drawLine(QPointF(x, 0), QPointF(x, bottom))
            painter.setPen(colors.color("muted"))
            box = QRectF(x - 40, bottom + 4, 80, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, format_fixed(tick, decimals))
        for row, block in enumerate(shown):
            y, color = row * _ROW + _ROW / 2, self._blocks.color(block)
            painter.setPen(colors.color("text"))
            name = metrics.elidedText(self._blocks.name(block), Qt.TextElideMode.ElideRight, _NAME)
            painter.drawText(QPointF(0, y + (metrics.ascent() - metrics.descent()) / 2), name)
            if data.interval is not None and np.isfinite(data.interval[block]).all():
                a, b = data.interval[block]
                painter.setPen(QPen(color, 2))
                painter.drawLine(QPointF(x_of(a), y), QPointF(x_of(b), y))
            painter.setPen(QPen(colors.color("window"), 1))
            painter.setBrush(color)
            painter.drawEllipse(QPointF(x_of(float(data.shift[block])), y), 4.5, 4.5)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a row chooses the block."""
        row, shown = int(event.position().y() // _ROW), self._shown()
        if 0 <= row < len(shown):
            self.clicked.emit(shown[row])


class BlockOverview(QWidget):
    """Shown in the panel while no block is chosen."""

    def __init__(self, blocks: Blocks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._blocks = blocks
        self._figures = [KeyFigure(text, role="strong") for text in ("In a block", "In several", "In none")]
        figures = horizontal(*self._figures, STRETCH, spacing=space.L)
        self._title = Label("", "strong", elide=True)
        self._aid = Label("", "caption", "muted", elide=True)
        self.plot = ShiftPlot(blocks)
        self.plot.clicked.connect(blocks.select)
        self._hint = Label(
            "Click a block in the picture, the list or here to see its members.", "body", "muted", wrap=True
        )
        vertical(
            figures,
            space.L,
            self._title,
            self._aid,
            space.S,
            self.plot,
            space.M,
            self._hint,
            STRETCH,
            on=self,
            spacing=space.XS,
            margins=(0, space.M, 0, 0),
        )
        self.setMinimumHeight(size.CONTROL)

    def refresh(self) -> None:
        """Take the numbers of the blocks at their threshold."""
        data = self._blocks.data
        if data is None:
            return
        once, several = self._blocks.cover_shares()
        for figure, share in zip(self._figures, (once, several, 1 - once)):
            figure.set_value(format_percent(share), "of the cells")
        shown = data.shift is not None and len(data) > 0
        for widget in (self._title, self._aid, self.plot):
            widget.setVisible(shown)
        self._title.setText("Shift of each block" + (f", in {data.shift_unit}" if data.shift_unit else ""))
        self._aid.setText("with its interval; 0 means like the rest" if data.interval is not None else "")
        self.plot.updateGeometry()
        self.plot.update()
