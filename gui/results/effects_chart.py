"""Estimates with intervals: a row for each name, the groups below each other in it, from a line at zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.core.views.colouring import class_category
from plaidwork.gui.numbers import format_count, format_number, step_decimals
from plaidwork.gui.results.chart import RatioScale, Scale, elided, padded
from plaidwork.gui.results.marks import paint_mark
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.row_chart import RowChart
from plaidwork.gui.theme import space, theme

NOT_ESTIMABLE = "not estimable"
_DOT, _STEP = 4.5, 18


@dataclass(frozen=True)
class Effects:
    """(S, R) estimates of R names in S groups, NaN where there is none.

    Attributes
    ----------
    names, groups : R and S texts; one empty group without groups.
    values : (S, R). intervals : (S, R, 2) or None. counts, p : (S, R) or None. reasons : why there is no estimate.
    entry : (S, R) number of the entry in the results, -1 where there is none.
    ratio : whether estimates are logarithms of ratios, which are what is shown; the line at zero is then at 1.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    values: np.ndarray
    intervals: np.ndarray | None
    counts: np.ndarray | None
    p: np.ndarray | None
    reasons: tuple[tuple[str, ...], ...]
    entry: np.ndarray
    axis: str
    count_name: str
    p_name: str
    word: str
    doc: str
    ratio: bool = False

    @property
    def middle(self) -> str:
        """What stands at the line that estimates are compared with."""
        return "1" if self.ratio else "zero"

    @cached_property
    def decimals(self) -> int:
        """Decimals of estimates: two digits more than the axis has steps for."""
        low, high = self.limits
        return min(step_decimals((high - low) / 100), 6)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Of the axis: all estimates, intervals and zero."""
        known = self.values.ravel()
        if self.intervals is not None:
            known = np.append(known, self.intervals.ravel())
        return padded(np.append(known, 0.0), share=0.04)

    def clear(self, g: int, r: int) -> bool:
        """Whether the interval of an estimate lies on one side of zero."""
        if self.intervals is None or not np.isfinite(self.intervals[g, r]).all():
            return False
        return not bool(self.intervals[g, r, 0] <= 0 <= self.intervals[g, r, 1])

    def number(self, value: float) -> str:
        if self.ratio:
            return format_number(math.exp(value), 3)
        return format_number(round(value, self.decimals), 6)

    def estimate_text(self, g: int, r: int) -> str:
        """Estimate, interval, count and p of one group in words."""
        value = float(self.values[g, r])
        if not np.isfinite(value):
            reason = self.reasons[g][r]
            parts = f"{NOT_ESTIMABLE}: {reason}" if reason else NOT_ESTIMABLE
        else:
            parts = self.number(value)
            if self.intervals is not None and np.isfinite(self.intervals[g, r]).all():
                parts += " ({} to {})".format(*(self.number(float(end)) for end in self.intervals[g, r]))
        if self.counts is not None and self.counts[g, r] >= 0:
            parts += f", {self.count_name} {format_count(float(self.counts[g, r]))}"
        if self.p is not None and np.isfinite(self.p[g, r]):
            parts += f", {self.p_name} {p_text(float(self.p[g, r]))}"
        return parts

    def text(self, r: int) -> str:
        """A row in words."""
        parts = [
            (f"{group}: " if group else "") + self.estimate_text(g, r)
            for g, group in enumerate(self.groups)
            if self.entry[g, r] >= 0
        ]
        return f"{self.names[r]}: " + "; ".join(parts)


def p_text(p: float) -> str:
    """Two digits, ``< 0.001`` below."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


class EffectsChart(RowChart):
    """Dots with whiskers; groups of one name stand together, by colour and shape."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.effects: Effects | None = None
        self.order: np.ndarray = np.zeros(0, dtype=np.intp)

    def sizeHint(self) -> QSize:
        return QSize(560, 420)

    def set_effects(self, effects: Effects, order: np.ndarray) -> None:
        """Show the rows of ``order``, from top to bottom."""
        self.effects, self.order, self.current = effects, order, -1
        self.least_row = max(28, _STEP * len(effects.groups) + space.S)
        self.tallest_row = 52 if len(effects.groups) == 1 else self.least_row + space.M
        first = f"; first {effects.text(int(order[0]))}" if len(order) else ""
        self.setAccessibleName(f"{len(order)} estimates with intervals{first}")
        self.fit_bar()
        self.update()

    def row_count(self) -> int:
        return len(self.order)

    def item_of(self, row: int) -> int:
        return int(self.order[row])

    def row_text(self, row: int) -> str:
        assert self.effects is not None
        return self.effects.text(int(self.order[row]))

    def axis_name(self) -> str:
        return "" if self.effects is None else self.effects.axis

    def head_height(self) -> float:
        return RING + self.caption_metrics.height() + space.S

    # -- places ---------------------------------------------------------------------------------
    def _notes(self) -> list[tuple[str, float]]:
        """Titles and widths of the columns of numbers at the right, those for which there is room."""
        assert self.effects is not None
        data, metrics = self.effects, self.caption_metrics
        titles = []
        if data.counts is not None:
            titles.append((data.count_name, [format_count(float(max(data.counts.max(initial=0), 0)))]))
        if data.p is not None:
            titles.append((data.p_name, ["< 0.001"]))
        widths = [
            (t, max(metrics.horizontalAdvance(w) for w in (t, *texts)) + space.L) for t, texts in titles
        ]
        while widths and sum(w for _, w in widths) > self.width() * 0.3:
            widths.pop(0)
        return widths

    def columns(self) -> tuple[QRectF, float]:
        """Area of the dots, width of the names."""
        assert self.effects is not None
        metrics, body = self.caption_metrics, self.body()
        right = body.right() - RING - (self.bar.width() + space.S if self.bar.isVisible() else 0)
        right -= sum(width for _, width in self._notes())
        widest = max((metrics.horizontalAdvance(name) for name in self.effects.names), default=0)
        names = min(widest + space.XS, body.width() * 0.4) + space.M
        left = RING + names
        high = min(self.rows_in_view(), self.row_count()) * self.row_height() + space.XS
        return QRectF(left, body.top(), max(right - left, 40), high), names

    def scale(self) -> Scale:
        """Of the estimates, in pixels of this widget."""
        assert self.effects is not None
        area, _ = self.columns()
        scale = RatioScale if self.effects.ratio else Scale
        return scale(*self.effects.limits, area.left() + _DOT, area.right() - _DOT)

    def series_color(self, g: int, r: int) -> QColor:
        """By the sign where there is one group (neutral when the interval holds zero), else by the group."""
        assert self.effects is not None
        data = self.effects
        if len(data.groups) > 1:
            return theme().category(class_category(g))
        if data.intervals is not None and not data.clear(g, r):
            return theme().color("neutral")
        return theme().category(0 if data.values[g, r] > 0 else 4)

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.effects is None:
            return
        colors, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area, names = self.columns()
        scale, metrics = self.scale(), self.caption_metrics
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("muted"))
        right = area.right()
        for title, width in self._notes():
            box = QRectF(right, area.top() - metrics.height() - space.XS, width, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, title)
            right += width
        painter.setPen(QPen(colors.color("grid"), 1))
        for tick in scale.ticks:
            at = round(scale.at(tick)) + 0.5
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
        painter.setPen(QPen(colors.color("axis"), 1.4))
        zero = round(scale.at(0.0)) + 0.5
        painter.drawLine(QPointF(zero, area.top() - 2), QPointF(zero, area.bottom()))
        for index, row in enumerate(self.shown_rows()):
            box = QRectF(0, area.top() + index * self.row_height(), self.width(), self.row_height())
            self._paint_row(painter, box, row, scale, area, names)
        self.paint_bottom_axis(painter, area, scale, self.effects.axis)
        self.paint_focus(painter)
        painter.end()

    def _paint_row(
        self, painter: QPainter, row: QRectF, number: int, scale: Scale, area: QRectF, names: float
    ) -> None:
        assert self.effects is not None
        data, colors, metrics = self.effects, theme(), self.caption_metrics
        r = int(self.order[number])
        if number == self.current or r in self.marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("tint" if r in self.marked else "hover"))
            right = area.right() + sum(width for _, width in self._notes()) + space.XS
            painter.drawRoundedRect(QRectF(RING - 2, row.top(), right - RING + 2, row.height()), 4, 4)
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("text"))
        box = QRectF(RING + 2, row.top(), names - space.M, row.height())
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, flags, elided(metrics, data.names[r], box.width()))
        there = [g for g in range(len(data.groups)) if data.entry[g, r] >= 0]
        for k, g in enumerate(there):
            middle = row.center().y() + (k - (len(there) - 1) / 2) * _STEP
            self._paint_estimate(painter, g, r, middle, scale, area)
            self._paint_notes(painter, g, r, middle, area)

    def _paint_estimate(
        self, painter: QPainter, g: int, r: int, middle: float, scale: Scale, area: QRectF
    ) -> None:
        assert self.effects is not None
        data, metrics = self.effects, self.caption_metrics
        value = float(data.values[g, r])
        if not np.isfinite(value):
            reason = data.reasons[g][r]
            text = f"{NOT_ESTIMABLE}: {reason}" if reason else NOT_ESTIMABLE
            if len(data.groups) > 1:
                text = f"{data.groups[g]}: {text}"
            box = QRectF(
                area.left() + space.XS, middle - metrics.height() / 2, area.width() - 8, metrics.height()
            )
            shown = elided(metrics, text, box.width())
            width = metrics.horizontalAdvance(shown) + space.S
            ground = theme().color("hover" if r == self._current_item() else "surface")
            painter.fillRect(QRectF(box.left() - space.XS, box.top(), width, box.height()), ground)
            painter.setPen(theme().color("muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            return
        ink = self.series_color(g, r)
        if data.intervals is not None and np.isfinite(data.intervals[g, r]).all():
            low, high = (scale.at(float(end)) for end in data.intervals[g, r])
            painter.setPen(QPen(ink, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        many = len(data.groups) > 1
        paint_mark(painter, QPointF(scale.at(value), middle), ink, g if many else 0, _DOT)

    def _current_item(self) -> int:
        return self.item_of(self.current) if self.current >= 0 else -1

    def _paint_notes(self, painter: QPainter, g: int, r: int, middle: float, area: QRectF) -> None:
        assert self.effects is not None
        data, metrics = self.effects, self.caption_metrics
        painter.setPen(theme().color("text"))
        right = area.right()
        for title, width in self._notes():
            text = ""
            if title == data.count_name and data.counts is not None and data.counts[g, r] >= 0:
                text = format_count(float(data.counts[g, r]))
            elif title == data.p_name and data.p is not None and np.isfinite(data.p[g, r]):
                text = p_text(float(data.p[g, r]))
            box = QRectF(right, middle - metrics.height() / 2, width, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, text)
            right += width
