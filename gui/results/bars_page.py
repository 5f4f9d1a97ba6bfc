"""A discrete distribution, or any few numbers by category, as bars with their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.contract.model import Table
from plaidwork.gui.numbers import format_fixed, format_number, format_probability, nice_ticks, step_decimals
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import SourceError, Sources
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.layouts import vertical

_MOST = 400
_WIDEST = 120
"""Logical pixels of the widest bar."""


@dataclass(frozen=True)
class Bars:
    """Labels, heights and the names of the axes; ``intervals`` (n, 2) or None."""

    labels: tuple[str, ...]
    values: np.ndarray
    x_name: str
    y_name: str
    title: str
    doc: str
    intervals: np.ndarray | None = None

    @property
    def shares(self) -> bool:
        """Whether the heights are probabilities of one distribution."""
        known = self.values[np.isfinite(self.values)]
        return bool(len(known) and known.min() >= 0 and abs(known.sum() - 1) < 1e-6)


class BarChart(QWidget):
    """Bars from zero, the largest in the accent colour when they are a distribution."""

    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: Bars | None = None
        self.current = -1
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(560, 380)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 160)

    def set_bars(self, bars: Bars) -> None:
        """Show other bars."""
        self.bars, self.current = bars, -1
        top = int(np.nanargmax(bars.values)) if np.isfinite(bars.values).any() else -1
        most = f"; highest {bars.labels[top]} with {self.text(top)}" if top >= 0 else ""
        self.setAccessibleName(f"{bars.title}: {len(bars.labels)} bars{most}")
        self.update()

    def text(self, i: int) -> str:
        """Value of a bar as shown."""
        assert self.bars is not None
        value = float(self.bars.values[i])
        if self.bars.shares:
            return format_probability(value)
        return format_number(value, 3)

    def _scale(self) -> tuple[float, float, list[float]]:
        assert self.bars is not None
        heights = (
            self.bars.values
            if self.bars.intervals is None
            else np.append(self.bars.values, self.bars.intervals)
        )
        known = heights[np.isfinite(heights)]
        low, high = (min(float(known.min()), 0.0), max(float(known.max()), 0.0)) if len(known) else (0.0, 1.0)
        if high <= low:
            high = low + 1
        ticks = nice_ticks(low, high, max(3, int(self.height() / 70)))
        return low, high, ticks

    def _area(self, ticks: list[float]) -> tuple[QRectF, list[str]]:
        metrics = QFontMetricsF(theme().font("caption"))
        decimals = step_decimals(ticks[1] - ticks[0]) if len(ticks) > 1 else 0
        texts = [format_fixed(tick, decimals) for tick in ticks]
        left = RING + max(metrics.horizontalAdvance(text) for text in texts) + space.S
        top = RING + 2 * metrics.height() + space.M
        bottom = 2 * metrics.height() + space.M + RING
        return QRectF(left, top, self.width() - left - RING - space.S, self.height() - top - bottom), texts

    def _span_of(self, area: QRectF, i: int) -> tuple[float, float]:
        """Left edge and width of a bar."""
        assert self.bars is not None
        step = area.width() / len(self.bars.labels)
        width = max(min(step * 0.66, _WIDEST), 1.0)
        return area.left() + step * i + (step - width) / 2, width

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.bars is None or not len(self.bars.values):
            return
        colors, painter = theme(), QPainter(self)
        painter.setFont(colors.font("caption"))
        low, high, ticks = self._scale()
        area, texts = self._area(ticks)

        def y_of(value: float) -> float:
            return area.bottom() - (value - low) / (high - low) * area.height()

        metrics = QFontMetricsF(painter.font())
        painter.setPen(colors.color("muted"))
        painter.drawText(QPointF(RING, RING + metrics.ascent()), self.bars.y_name)
        for tick, text in zip(ticks, texts):
            y = round(y_of(tick)) + 0.5
            painter.setPen(QPen(colors.color("axis" if tick == 0 else "grid"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            box = QRectF(0, y - 10, area.left() - space.S, 20)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        self._paint_bars(painter, area, y_of)
        painter.setPen(colors.color("muted"))
        x = max(area.left(), area.center().x() - metrics.horizontalAdvance(self.bars.x_name) / 2)
        painter.drawText(QPointF(x, self.height() - RING - metrics.descent()), self.bars.x_name)
        if self.hasFocus():
            painter.setPen(QPen(colors.color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_bars(self, painter: QPainter, area: QRectF, y_of: Callable[[float], float]) -> None:
        assert self.bars is not None
        colors, metrics = theme(), QFontMetricsF(painter.font())
        values, labels = self.bars.values, self.bars.labels
        top = int(np.nanargmax(values)) if np.isfinite(values).any() else -1
        widest = max(metrics.horizontalAdvance(label) for label in labels)
        step = self._span_of(area, 1)[0] - self._span_of(area, 0)[0] if len(labels) > 1 else area.width()
        every = max(1, int(np.ceil((min(widest, 110) + space.S) / step)))
        number_room = max(metrics.horizontalAdvance(self.text(i)) for i in range(len(labels))) + 4 <= step
        for i, value in enumerate(values):
            if not np.isfinite(value):
                continue
            x, width = self._span_of(area, i)
            y0, y1 = y_of(0.0), y_of(float(value))
            main = i == top or not self.bars.shares
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.category(0) if main else colors.color("neutral"))
            painter.drawRect(
                QRectF(round(x), min(round(y0), round(y1)), round(width), max(abs(round(y1) - round(y0)), 1))
            )
            if i == self.current:
                painter.setPen(QPen(colors.color("text"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(
                    QRectF(round(x), min(y0, y1), round(width), max(abs(y1 - y0), 1)).adjusted(-2, -2, 2, 2)
                )
            above = min(y0, y1)
            if self.bars.intervals is not None and np.isfinite(self.bars.intervals[i]).all():
                a, b = (y_of(float(v)) for v in self.bars.intervals[i])
                painter.setPen(QPen(colors.color("text"), 1.4))
                painter.drawLine(QPointF(x + width / 2, a), QPointF(x + width / 2, b))
                above = min(above, a, b)
            if number_room or i == top:
                painter.setPen(colors.color("text"))
                painter.setFont(colors.font("strong" if i == top and self.bars.shares else "caption"))
                box = QRectF(x + width / 2 - 60, above - 24, 120, 20)
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, self.text(i)
                )
                painter.setFont(colors.font("caption"))
            if i % every == 0:
                painter.setPen(colors.color("muted"))
                room = max(step * every - space.S, 20)
                label = metrics.elidedText(labels[i], Qt.TextElideMode.ElideRight, room)
                box = QRectF(x + width / 2 - room / 2, area.bottom() + space.XS, room, metrics.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop, label)

    def bar_at(self, at: QPointF) -> int:
        """Number of the bar under a point, -1 when none."""
        if self.bars is None:
            return -1
        area, _ = self._area(self._scale()[2])
        for i in range(len(self.bars.labels)):
            x, width = self._span_of(area, i)
            if x - 2 <= at.x() <= x + width + 2 and area.top() - 24 <= at.y() <= area.bottom() + 20:
                return i
        return -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_bar(self.bar_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_bar(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk over the bars."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and self.bars is not None:
            self.show_bar(min(max(self.current + step, 0), len(self.bars.labels) - 1))
        else:
            super().keyPressEvent(event)

    def show_bar(self, i: int) -> None:
        """Mark a bar and tell it."""
        if i == self.current or self.bars is None:
            return
        self.current = i
        text = f"{self.bars.x_name} {self.bars.labels[i]}: {self.text(i)}".strip() if i >= 0 else ""
        self.hovered.emit(text[:1].upper() + text[1:])
        self.update()


class BarsPage(ResultPage):
    """Role ``values`` (n,) with optional ``x`` (n,) and ``interval`` (n, 2), or a Table whose first two columns are
    label and height. Options ``x_label`` and ``y_label`` name the axes."""

    icon_name = "histogram"

    def build(self) -> QWidget:
        self.chart = BarChart()
        self.chart.hovered.connect(self.hovered)
        content = QWidget()
        vertical(self.chart, on=content)
        return content

    def load(self, sources: Sources) -> Bars:
        found = sources.get("values")
        options = self.view.options
        intervals = None
        if isinstance(found, Table):
            titles = list(found.columns)
            if len(titles) < 2:
                raise SourceError("Bars need two columns, labels and heights.")
            labels, values = found.columns[titles[0]], found.columns[titles[1]]
            x_name, y_name, title, doc = titles[0], titles[1], found.label, found.doc
        else:
            result = sources.result("values", 1)
            values, title, doc = result.values, result.label, result.doc
            y_name, x_name = result.label or "value", (result.dims or ("",))[0].replace("_", " ")
            labels = sources.dim_names((result.dims or ("",))[0], len(values))  # type: ignore[assignment]
            if sources.has("x"):
                labels = sources.result("x", 1).values
                x_name = sources.result("x").label or x_name
            if sources.has("interval"):
                intervals = sources.array("interval", (len(values), 2))
        if len(labels) != len(values):
            raise SourceError(f"There are {len(labels)} labels for {len(values)} bars.")
        if len(values) > _MOST:
            raise SourceError(
                f"Bars show up to {_MOST} values. Found {len(values)}; see the data behind the picture."
            )
        if np.asarray(values).dtype.kind not in "biuf":
            raise SourceError("The heights of bars are numbers. Found text.")
        texts = tuple(
            format_number(float(v)) if isinstance(v, int | float | np.number) else str(v) for v in labels
        )
        return Bars(
            texts,
            np.asarray(values, dtype=np.float64),
            str(options.get("x_label", x_name)),
            str(options.get("y_label", y_name)),
            title or self.view.title,
            doc,
            intervals,
        )

    def show_loaded(self, loaded: Bars) -> None:
        if not len(loaded.values):
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        self.chart.set_bars(loaded)

    def default_headline(self) -> str:
        if not self.loaded or not len(self.loaded.values) or not self.loaded.shares:
            return self.view.title
        top = int(np.nanargmax(self.loaded.values))
        value = float(self.loaded.values[top])
        name = self.loaded.x_name[:1].upper() + self.loaded.x_name[1:]
        if value == 1.0:
            return f"{name}: always {self.loaded.labels[top]}"
        return f"{name}: most probably {self.loaded.labels[top]} (probability {format_probability(value)})"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def find_in_page(self) -> None:
        """Nothing to search: the focus goes to the bars."""
        self.chart.setFocus()

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        bars: Bars = self.loaded
        x_name, y_name = bars.x_name or "label", bars.y_name or "value"
        columns: dict[str, Any] = {x_name: np.array(bars.labels, dtype=object), y_name: bars.values}
        if bars.intervals is not None:
            columns["low"], columns["high"] = bars.intervals.T
        return columns, {}
