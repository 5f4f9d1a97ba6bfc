"""Shares by view and factor: a table with coloured cells, totals, and bars below that keep the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_fixed, format_number, format_percent
from plaidwork.gui.results.chart import Chart, Scale, elided
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.theme import ink_on, space, theme

_TALLEST, _LOWEST = 44, 20
_GAP = 2
_MOST_BARS = 6
"""Views that have a colour of their own in the bars."""
_TOTAL = 120
_NAME = 64
"""Narrower columns have numbers instead of names."""


@dataclass(frozen=True)
class Shares:
    """(V, K) shares from 0 to 1, names, and the share of all factors together by view."""

    values: np.ndarray
    totals: np.ndarray
    views: tuple[str, ...]
    factors: tuple[str, ...]
    short: tuple[str, ...]
    """Short names of the factors, for the heads of narrow columns."""
    samples: str = "all"
    """Name of the group of samples that they are of."""
    root: bool = True
    """Whether colours and bars follow the square root of the share, so that weak factors are seen beside strong ones."""

    @property
    def high(self) -> float:
        """Upper end of the colours."""
        known = self.values[np.isfinite(self.values)]
        return float(known.max()) if len(known) and known.max() > 0 else 1.0

    def cell(self, view: int, factor: int) -> str:
        """A share in per cent without the sign, one decimal."""
        value = self.values[view, factor]
        if value != value:
            return "\N{EN DASH}"
        if 0 < value < 0.0005:
            return "< 0.1"
        return "0" if value == 0 else format_fixed(100 * value, 1)

    def text(self, view: int, factor: int) -> str:
        """A cell in words."""
        share = self.values[view, factor]
        shown = "missing" if share != share else format_percent(float(share), 1)
        return f"{self.factors[factor]} explains of {self.views[view]}: {shown}"

    def color(self, value: float) -> QColor:
        """Colour of a share."""
        if value != value:
            return theme().color("border")
        share = float(np.clip(value / self.high, 0, 1))
        step = round(255 * (share**0.5 if self.root else share))
        return QColor(*(int(part) for part in theme().lut("tide")[step][:3]))


class RootScale(Scale):
    """Values from 0 to ``high`` by their square root; ticks 1, 2, 5, 10, 20, … as far apart as they can be read."""

    def __post_init__(self) -> None:
        steps = [10.0**power * digit for power in range(-2, 3) for digit in (1, 2, 5)]
        ticks = [0.0]
        for tick in sorted((step for step in steps if step <= self.high), reverse=True):
            clear = min(abs(self.at(tick) - self.at(other)) for other in ticks)
            if clear >= self.gap / 2:
                ticks.append(tick)
        ticks.sort()
        object.__setattr__(self, "ticks", tuple(ticks))
        object.__setattr__(self, "texts", tuple(format_number(tick, 3) for tick in ticks))

    def at(self, value: float) -> float:
        """Pixel of a value; what is below 0 stands at 0."""
        return self.start + (max(value, 0.0) / self.high) ** 0.5 * (self.end - self.start)


class VarianceChart(Chart):
    """Click a column, or walk with the arrows, to choose a factor.

    Signals
    -------
    chosen : number of the factor
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shares: Shares | None = None
        self.current = -1
        self.over = (-1, -1)
        self._area: QRectF | None = None

    def restyle(self) -> None:
        self._area = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._area = None
        super().resizeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(640, 420)

    def set_shares(self, shares: Shares) -> None:
        """Show other shares."""
        self.shares, self.over, self._area = shares, (-1, -1), None
        self.setAccessibleName(f"{len(shares.views)} views by {len(shares.factors)} factors")
        self.update()

    def set_current(self, factor: int) -> None:
        """Outline a factor (-1: none)."""
        self.current = factor
        self.update()

    # -- places ---------------------------------------------------------------------------------
    def cells(self) -> QRectF:
        """The coloured cells."""
        if self._area is None:
            self._area = self._place_cells()
        return self._area

    def _place_cells(self) -> QRectF:
        assert self.shares is not None
        metrics = self.caption_metrics
        widest = max(metrics.horizontalAdvance(name) for name in self.shares.views)
        left = RING + 18 + min(widest * 1.15, 180, self.width() * 0.25) + space.M
        width = max(self.width() - left - _TOTAL - space.M - RING, 60)
        width = min(width, 220.0 * len(self.shares.factors))
        count = len(self.shares.views)
        free = self.height() * (0.45 if self._has_bars() else 0.9) - self._heads()
        row = min(max(free / count, _LOWEST), _TALLEST)
        return QRectF(left, RING + self._heads(), width, row * count)

    def _heads(self) -> float:
        return self.caption_metrics.height() + space.S

    def _has_bars(self) -> bool:
        return self.shares is not None and self.height() > 300 and len(self.shares.views) <= _MOST_BARS

    def column(self, factor: int) -> tuple[float, float]:
        """Left edge and width of a column."""
        assert self.shares is not None
        area = self.cells()
        step = area.width() / len(self.shares.factors)
        return area.left() + step * factor, step

    def _cell_rect(self, view: int, factor: int) -> QRectF:
        assert self.shares is not None
        area, (x, step) = self.cells(), self.column(factor)
        row = area.height() / len(self.shares.views)
        gap = _GAP if step > 12 else 0
        left, right = round(x), round(x + step) - gap
        top, bottom = round(area.top() + view * row), round(area.top() + (view + 1) * row) - _GAP
        return QRectF(left, top, max(right - left, 1), max(bottom - top, 1))

    def position_at(self, at: QPointF) -> tuple[int, int]:
        """(view, factor) under a point; view is -1 outside of the cells, factor -1 beside the columns."""
        if self.shares is None:
            return -1, -1
        area = self.cells()
        if not area.left() <= at.x() < area.right():
            return -1, -1
        factor = int((at.x() - area.left()) / area.width() * len(self.shares.factors))
        inside = area.top() <= at.y() < area.bottom()
        view = int((at.y() - area.top()) / area.height() * len(self.shares.views)) if inside else -1
        return view, factor

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.shares is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_heads(painter)
        for view in range(len(self.shares.views)):
            self._paint_row(painter, view)
        if self._has_bars():
            self._paint_bars(painter)
        self._paint_chosen(painter)
        self.paint_focus(painter)
        painter.end()

    def _paint_heads(self, painter: QPainter) -> None:
        assert self.shares is not None
        metrics, area = self.caption_metrics, self.cells()
        painter.setFont(theme().font("caption"))
        step = self.column(0)[1]
        names = self.shares.factors
        fits = max(metrics.horizontalAdvance(name) for name in names) <= step - space.S
        if not fits and step < _NAME:
            names = self.shares.short
        widest = max(metrics.horizontalAdvance(name) for name in names)
        every = max(1, int(np.ceil((min(widest, _NAME - space.XS) + space.XS) / step)))
        for factor, name in enumerate(names):
            if factor != self.current and (
                factor % every or (self.current >= 0 and abs(factor - self.current) < every)
            ):
                continue  # the chosen one has its name, whatever the room
            x, _ = self.column(factor)
            painter.setPen(theme().color("text" if factor == self.current else "muted"))
            box = QRectF(x - 60, RING, step + 120, metrics.height())
            shown = elided(metrics, name, max(step * every - space.XS, 24))
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, shown)
        painter.setPen(theme().color("muted"))
        painter.drawText(
            QRectF(area.right() + space.M, RING, _TOTAL, metrics.height()),
            Qt.AlignmentFlag.AlignLeft,
            "all factors",
        )

    def _paint_row(self, painter: QPainter, view: int) -> None:
        assert self.shares is not None
        shares, metrics, colors = self.shares, self.caption_metrics, theme()
        area, step = self.cells(), self.column(0)[1]
        first = self._cell_rect(view, 0)
        bars = self._has_bars()
        painter.setFont(colors.font("body"))
        if bars:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(view_color(view))
            painter.drawRoundedRect(QRectF(RING, round(first.center().y()) - 6, 12, 12), 2, 2)
        painter.setPen(colors.color("text"))
        left = RING + (18 if bars else 0)
        name = painter.fontMetrics().elidedText(
            shares.views[view], Qt.TextElideMode.ElideRight, int(area.left() - space.S - left)
        )
        painter.drawText(
            QRectF(left, first.top(), area.left() - left, first.height()), Qt.AlignmentFlag.AlignVCenter, name
        )
        painter.setFont(colors.font("caption"))
        widest = max(metrics.horizontalAdvance(shares.cell(view, k)) for k in range(len(shares.factors)))
        numbers = widest + 4 <= step and first.height() >= metrics.height()
        for factor in range(len(shares.factors)):
            cell, ink = self._cell_rect(view, factor), shares.color(shares.values[view, factor])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawRoundedRect(cell, 3 if step > 12 else 0, 3 if step > 12 else 0)
            if numbers:
                painter.setPen(ink_on(ink))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, shares.cell(view, factor))
        total = float(shares.totals[view])
        x, room = area.right() + space.M, _TOTAL - 52
        middle = round(first.center().y())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("hover"))
        painter.drawRect(QRectF(x, middle - 5, room, 10))
        if total == total:
            painter.setBrush(view_color(view) if bars else colors.color("neutral"))
            painter.drawRect(QRectF(x, middle - 5, room * min(max(total, 0), 1), 10))
        painter.setFont(colors.font("strong"))
        painter.setPen(colors.color("text"))
        box = QRectF(x + room, first.top(), 52, first.height())
        painter.drawText(
            box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, format_percent(total)
        )

    def _bar_area(self) -> QRectF:
        area, metrics = self.cells(), self.caption_metrics
        top = area.bottom() + space.XL + metrics.height() * 1.6
        return QRectF(area.left(), top, area.width(), max(self.height() - top - RING - space.S, 20))

    def _paint_bars(self, painter: QPainter) -> None:
        assert self.shares is not None
        shares, area = self.shares, self._bar_area()
        kind = RootScale if shares.root else Scale
        scale = kind(0, 100 * shares.high * 1.04, area.bottom(), area.top(), 50)
        painter.setFont(theme().font("strong"))
        painter.setPen(theme().color("text"))
        head = QRectF(
            RING, self.cells().bottom() + space.L, self.width() - 2 * RING, painter.fontMetrics().height()
        )
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, "The same by factor, % of each view")
        if 0 <= self.current < len(shares.factors):
            x, step = self.column(self.current)
            painter.fillRect(QRectF(x, area.top(), step - _GAP, area.height()), theme().color("tint"))
        self.paint_left_axis(painter, area, scale, "")
        count, step = len(shares.views), self.column(0)[1]
        width = min(step * 0.76 / count, 34.0)
        painter.setPen(Qt.PenStyle.NoPen)
        for factor in range(len(shares.factors)):
            start = self.column(factor)[0] + (step - width * count) / 2
            for view in range(count):
                value = shares.values[view, factor]
                if not value > 0:
                    continue
                top = scale.at(100 * value)
                painter.setBrush(view_color(view))
                gap = 1 if width > 4 else 0
                painter.drawRect(QRectF(start + view * width, top, width - gap, scale.start - top))
        painter.setPen(QPen(theme().color("axis"), 1))
        y = round(area.bottom()) + 0.5
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))

    def _paint_chosen(self, painter: QPainter) -> None:
        assert self.shares is not None
        last = len(self.shares.views) - 1
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for factor, color, pen in ((self.over[1], "control", 1.2), (self.current, "accent", 2.0)):
            if not 0 <= factor < len(self.shares.factors):
                continue
            whole = self._cell_rect(0, factor).united(self._cell_rect(last, factor))
            painter.setPen(QPen(theme().color(color), pen))
            painter.drawRoundedRect(whole.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5)

    # -- pointer and keys -----------------------------------------------------------------------
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_position(self.position_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_position((-1, -1))
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the factor of the column, in the cells, the heads or the bars."""
        factor = self.position_at(event.position())[1]
        if event.button() == Qt.MouseButton.LeftButton and factor >= 0:
            self.chosen.emit(factor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk over the factors."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step and self.shares is not None:
            self.chosen.emit(min(max(self.current + step, 0), len(self.shares.factors) - 1))
        else:
            super().keyPressEvent(event)

    def show_position(self, position: tuple[int, int]) -> None:
        """Tell what is under the pointer."""
        if position == self.over or self.shares is None:
            return
        self.over = position
        view, factor = position
        if factor < 0:
            text = ""
        elif view >= 0:
            text = self.shares.text(view, factor)
        else:
            each = (
                f"{name} {format_percent(float(self.shares.values[v, factor]), 1)}"
                for v, name in enumerate(self.shares.views)
            )
            text = f"{self.shares.factors[factor]}: " + ", ".join(each)
        self.hovered.emit(text)
        self.update()


def view_color(view: int) -> QColor:
    """Colour of a view in the bars; blues are left to the cells."""
    return theme().category((1, 4, 3, 2, 5, 6)[min(view, 5)])
