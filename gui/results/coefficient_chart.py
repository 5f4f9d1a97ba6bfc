"""Coefficients as sorted dots with intervals and names, from a line at zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_interval, format_number, format_probability
from plaidwork.gui.results.chart import Scale, elided
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.row_chart import RowChart, strong_height
from plaidwork.gui.theme import space, theme

_MOST_NAME = 200
_DOT = 4.5
_SURE = 0.5
"""Inclusion probability from which a dot is filled."""


@dataclass(frozen=True)
class Shown:
    """What one chart shows, in its order, from top to bottom; ``items`` are indices into all items."""

    title: str
    aid: str
    items: np.ndarray
    names: tuple[str, ...]
    values: np.ndarray
    intervals: np.ndarray | None
    probability: np.ndarray | None
    axis: str

    def doubtful(self, i: int) -> bool:
        """Whether the interval of a coefficient holds zero."""
        return self.intervals is not None and bool(self.intervals[i, 0] <= 0 <= self.intervals[i, 1])

    def text(self, i: int) -> str:
        """Name, value, interval and probability in words."""
        parts = f"{self.names[i]}: {format_number(float(self.values[i]), 3)}"
        if self.intervals is not None:
            low, high = (float(v) for v in self.intervals[i])
            decimals = 2 if max(abs(low), abs(high)) >= 0.1 else 4
            parts += f", interval {format_interval(low, high, decimals)}"
        if self.probability is not None:
            parts += f", probability {format_probability(float(self.probability[i]))}"
        return parts


def limits_of(lists: Sequence[Shown]) -> tuple[float, float]:
    """Of an axis that holds these lists and zero."""
    parts = [
        shown.values if shown.intervals is None else np.append(shown.values, shown.intervals)
        for shown in lists
    ]
    known = np.concatenate(parts)
    known = known[np.isfinite(known)]
    low, high = (min(known.min(), 0.0), max(known.max(), 0.0)) if len(known) else (0.0, 1.0)
    margin = 0.04 * (high - low) or 0.5
    return float(low - margin * (low < 0)), float(high + margin * (high > 0 or low == 0))


class CoefficientChart(RowChart):
    """One list of coefficients; scrolls when the rows do not fit."""

    signed = True
    """Whether sides of zero differ in colour, and intervals that hold it are pale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Shown | None = None
        self.limits = (-1.0, 1.0)

    def row_count(self) -> int:
        return 0 if self.shown is None else len(self.shown.values)

    def item_of(self, row: int) -> int:
        assert self.shown is not None
        return int(self.shown.items[row])

    def row_text(self, row: int) -> str:
        assert self.shown is not None
        return self.shown.text(row)

    def axis_name(self) -> str:
        return "" if self.shown is None else self.shown.axis

    def head_height(self) -> float:
        height = self.caption_metrics.height()
        return RING + height + space.M if self.shown is None else RING + strong_height() + space.S + height

    def sizeHint(self) -> QSize:
        return QSize(380, 420)

    def set_shown(self, shown: Shown, limits: tuple[float, float]) -> None:
        """Show other coefficients on an axis with these limits."""
        same = self.shown is not None and self.shown.title == shown.title
        self.shown, self.limits, self.current = shown, limits, -1
        first = f"; first {shown.text(0)}" if len(shown.values) else ""
        self.setAccessibleName(f"{shown.title}: {len(shown.values)} coefficients{first}")
        self.fit_bar()
        if not same:
            self.bar.setValue(0)
        self.update()

    def _columns(self) -> tuple[QRectF, float, float]:
        """Area of the dots, width of the names, width of the probabilities."""
        assert self.shown is not None
        metrics, body = self.caption_metrics, self.body()
        right = body.right() - RING - (self.bar.width() + space.S if self.bar.isVisible() else 0)
        chance = 0.0
        if self.shown.probability is not None:
            chance = metrics.horizontalAdvance("probability") + space.M
        names = 0.0
        if not self._names_at_zero():
            widest = max((metrics.horizontalAdvance(name) for name in self.shown.names), default=0)
            names = min(widest, _MOST_NAME, body.width() * 0.4) + space.M
        left = RING + names + space.S
        high = min(self.rows_in_view(), len(self.shown.values)) * self.row_height() + space.XS
        return QRectF(left, body.top(), max(right - chance - left, 40), high), names, chance

    def _names_at_zero(self) -> bool:
        """Names stand at the zero line, opposite to the dot, when nothing else can be there."""
        assert self.shown is not None
        if self.shown.intervals is not None:
            return False
        return bool((self.shown.values < 0).any() and (self.shown.values > 0).any())

    def _scale(self, area: QRectF) -> Scale:
        low, high = self.limits
        if self._names_at_zero():  # room for the names on both sides
            assert self.shown is not None
            metrics = self.caption_metrics
            for sign in (1, -1):
                names = [n for n, v in zip(self.shown.names, self.shown.values) if v * sign > 0]
                widest = max((metrics.horizontalAdvance(name) for name in names), default=0)
                share = min(widest + 2 * space.M, area.width() * 0.42) / area.width()
                if sign > 0:
                    low = min(low, -share / (1 - share) * high)
                else:
                    high = max(high, share / (1 - share) * -low)
        return Scale(low, high, area.left() + _DOT, area.right() - _DOT)

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.shown is None:
            return
        colors, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shown, metrics = self.shown, self.caption_metrics
        area, _, chance = columns = self._columns()
        room = self.width() - 2 * RING
        painter.setFont(colors.font("strong"))
        painter.setPen(colors.color("text"))
        title = elided(painter.fontMetrics(), shown.title, room)  # type: ignore[arg-type]
        painter.drawText(QPointF(RING, RING + painter.fontMetrics().ascent()), title)
        used = painter.fontMetrics().horizontalAdvance(title) + space.M
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("muted"))
        baseline = RING + strong_height() - metrics.descent() - 2
        painter.drawText(QPointF(RING + used, baseline), elided(metrics, shown.aid, room - used))
        if chance:
            box = QRectF(area.right(), area.top() - metrics.height() - 2, chance, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, "probability")
        scale = self._scale(area)
        zero = round(scale.at(0.0)) + 0.5
        painter.setPen(QPen(colors.color("axis"), 1))
        painter.drawLine(QPointF(zero, area.top() - 2), QPointF(zero, area.bottom()))
        for index, i in enumerate(self.shown_rows()):
            row = QRectF(0, area.top() + index * self.row_height(), self.width(), self.row_height())
            self._paint_row(painter, row, i, scale, columns)
        self.paint_bottom_axis(painter, area, scale, shown.axis)
        self.paint_focus(painter)
        painter.end()

    def color(self, i: int) -> QColor:
        """By the sign; neutral when the interval holds zero. Where zero means nothing all are alike."""
        assert self.shown is not None
        if not self.signed:
            return theme().category(0)
        if self.shown.doubtful(i) or self.shown.values[i] == 0:
            return theme().color("neutral")
        return theme().category(0 if self.shown.values[i] > 0 else 4)

    def _paint_row(
        self, painter: QPainter, row: QRectF, i: int, scale: Scale, columns: tuple[QRectF, float, float]
    ) -> None:
        assert self.shown is not None
        shown, colors, metrics = self.shown, theme(), self.caption_metrics
        area, names, chance = columns
        value = float(shown.values[i])
        middle = row.center().y()
        item = int(shown.items[i])
        if i == self.current or item in self.marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("tint" if item in self.marked else "hover"))
            right = area.right() + chance + space.S
            painter.drawRoundedRect(QRectF(RING - 2, row.top(), right - RING + 2, row.height()), 4, 4)
        ink, zero, x = self.color(i), scale.at(0.0), scale.at(value)
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("text"))
        if self._names_at_zero():
            if value >= 0:
                box = QRectF(area.left(), row.top(), zero - space.S - area.left(), row.height())
                flags |= Qt.AlignmentFlag.AlignRight
            else:
                box = QRectF(zero + space.S, row.top(), area.right() - zero - space.S, row.height())
        else:
            box = QRectF(RING + 2, row.top(), names - space.S, row.height())
            flags |= Qt.AlignmentFlag.AlignRight
        painter.drawText(box, flags, elided(metrics, shown.names[i], box.width()))
        faint = QColor(ink)
        faint.setAlphaF(0.55)
        if shown.intervals is None:
            painter.setPen(QPen(faint, 1.6))
            painter.drawLine(QPointF(zero, middle), QPointF(x, middle))
        else:
            low, high = (scale.at(float(v)) for v in shown.intervals[i])
            painter.setPen(QPen(ink, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        sure = shown.probability is None or shown.probability[i] >= _SURE
        painter.setPen(QPen(colors.color("surface") if sure else ink, 1 if sure else 1.6))
        painter.setBrush(ink if sure else colors.color("surface"))
        painter.drawEllipse(QPointF(x, middle), _DOT, _DOT)
        if shown.probability is not None:
            painter.setPen(colors.color("text" if sure else "muted"))
            box = QRectF(area.right(), row.top(), chance, row.height())
            text = format_probability(float(shown.probability[i]))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
