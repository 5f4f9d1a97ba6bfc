"""What was measured over time: the picture of data whose only column is a time and whose rows have an amount beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.measured import are_times
from plaidwork.gui.language import tr, tr_name
from plaidwork.gui.numbers import format_ticks, nice_ticks, step_decimals
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets.drawing import Drawing

_MOST = 20_000
"""Points drawn; of more every n-th."""
_DOTS = 400
"""Points up to which each is as large as may be."""


@dataclass(frozen=True)
class Course:
    """Amounts y (k,) at times x (k,), both known, and what they are called."""

    x: np.ndarray
    y: np.ndarray
    x_name: str
    y_name: str


def course_of(dataset: Dataset) -> Course | None:
    """The amounts beside a single column of times; None of other data. They must be at hand."""
    if dataset.shape[1:] != (1,) or dataset.is_sparse or not are_times(dataset.column_names, dataset.unit):
        return None
    beside = {title: np.asarray(column) for title, column in dataset.row_table.items()}
    amounts = [title for title, column in beside.items() if column.dtype.kind in "fiu"]
    if len(amounts) != 1:
        return None
    x, y = np.asarray(dataset.values, dtype=float)[:, 0], beside[amounts[0]].astype(float)
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 2:
        return None
    every = -(-int(known.sum()) // _MOST)
    return Course(x[known][::every], y[known][::every], dataset.column_names[0], amounts[0])


class CoursePicture(Drawing):
    """The amounts as points over the time, with both axes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._course: Course | None = None
        self.setMinimumSize(80, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_course(self, course: Course) -> None:
        """Show amounts over time."""
        self._course = course
        self.setAccessibleName(tr(f"{course.y_name} over {course.x_name}"))
        self.update()

    def sizeHint(self) -> QSize:
        """As high as the matrix of other data."""
        return QSize(280, 300)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lines of the ticks, points, texts."""
        if self._course is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = self.fontMetrics().height()
        ticks = _ticks(self._course.y, max(3, self.height() // 60))
        left = 8.0 + max(self.fontMetrics().horizontalAdvance(text) for _, text in ticks)
        room = QRectF(left, high + 8.0, self.width() - left - 6.0, self.height() - 3.0 * high - 16.0)
        at_x, at_y = (
            _within(self._course.x, room.left(), room.right()),
            _within(self._course.y, room.bottom(), room.top()),
        )
        self._draw_up(painter, room, [(at_y(value), text) for value, text in ticks])
        across = _ticks(self._course.x, max(3, self.width() // 80))
        self._draw_across(painter, room, [(at_x(value), text) for value, text in across])
        self._draw_points(painter, at_x(self._course.x), at_y(self._course.y))
        painter.end()

    def _draw_up(self, painter: QPainter, room: QRectF, ticks: list[tuple[float, str]]) -> None:
        """The lines of the amounts with their numbers, and what these are of above."""
        metrics, name = self.fontMetrics(), tr_name(self._course.y_name if self._course else "")
        for y, text in ticks:
            painter.setPen(QPen(theme().color("grid"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme().color("muted"))
            wide = metrics.horizontalAdvance(text)
            painter.drawText(QPointF(room.left() - 6.0 - wide, y + metrics.capHeight() / 2), text)
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QPointF(0.0, float(metrics.ascent())), shown)

    def _draw_across(self, painter: QPainter, room: QRectF, ticks: list[tuple[float, str]]) -> None:
        """The axis of the time, with its numbers and its name."""
        metrics, name = self.fontMetrics(), tr_name(self._course.x_name if self._course else "")
        painter.setPen(QPen(theme().color("axis"), 1))
        painter.drawLine(room.bottomLeft(), room.bottomRight())
        painter.setPen(theme().color("muted"))
        for x, text in ticks:
            wide = metrics.horizontalAdvance(text)
            at = min(max(x - wide / 2, 0.0), self.width() - wide)
            painter.drawText(QPointF(at, room.bottom() + 4.0 + metrics.ascent()), text)
        line = QRectF(
            room.left(), self.height() - metrics.height() - 1.0, room.width(), metrics.height() + 1.0
        )
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(line, Qt.AlignmentFlag.AlignCenter, shown)

    def _draw_points(self, painter: QPainter, x: np.ndarray, y: np.ndarray) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().category(0))
        radius = 2.5 if len(x) <= _DOTS else 1.5
        for place in zip(x.tolist(), y.tolist(), strict=True):
            painter.drawEllipse(QPointF(*place), radius, radius)


def _ends(values: np.ndarray) -> tuple[float, float]:
    """The ends of an axis of values (k,), with some room on both sides."""
    low, high = float(values.min()), float(values.max())
    room = 0.03 * (high - low) or 0.5
    return low - room, high + room


def _ticks(values: np.ndarray, count: int) -> list[tuple[float, str]]:
    """About so many ticks of an axis of values (k,), with their texts."""
    found = nice_ticks(*_ends(values), count)
    decimals = step_decimals(found[1] - found[0]) if len(found) > 1 else 2
    return list(zip(found, format_ticks(found, decimals), strict=True))


def _within(values: np.ndarray, start: float, end: float) -> Callable[[Any], Any]:
    """Where a value stands between two places, of the axis of values (k,)."""
    low, high = _ends(values)
    return lambda value: start + (end - start) * (value - low) / (high - low)
