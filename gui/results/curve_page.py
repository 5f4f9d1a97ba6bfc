"""One curve or a few, with a band: mean and interval along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.numbers import format_interval, format_number
from plaidwork.gui.results.chart import Chart, ItemPicker, Scale, capital, elided, padded
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import SourceError, Sources
from plaidwork.gui.theme import space, theme

_MOST_TOGETHER = 6
_POINTS = 2000


@dataclass(frozen=True)
class Curves:
    """(K, t) values along ``x`` with bands (K, t, 2) or None; ``x`` rises."""

    x: np.ndarray
    values: np.ndarray
    intervals: np.ndarray | None
    names: tuple[str, ...]
    x_name: str
    y_name: str
    doc: str

    def text(self, k: int, i: int) -> str:
        """One place of a curve in words."""
        words = f"{self.names[k]}, {self.x_name} {format_number(float(self.x[i]), 5)}: "
        words += format_number(float(self.values[k, i]), 4)
        if self.intervals is not None:
            low, high = (float(v) for v in self.intervals[k, i])
            words += f", interval {format_interval(low, high, 2 if max(abs(low), abs(high)) >= 0.1 else 4)}"
        return words


class CurveChart(Chart):
    """Curves with bands; names stand at the right end, hover reads the nearest place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves: Curves | None = None
        self.shown: tuple[int, ...] = ()
        self.current = (-1, -1)

    def set_curves(self, curves: Curves, shown: tuple[int, ...]) -> None:
        """Show some of these curves."""
        self.curves, self.shown, self.current = curves, shown, (-1, -1)
        self.setAccessibleName(f"{len(shown)} curves of {curves.y_name} along {curves.x_name}")
        self.update()

    def scales(self) -> tuple[Scale, Scale]:
        """Of x and y, in pixels of this widget."""
        assert self.curves is not None
        curves, at = self.curves, list(self.shown)
        heights = curves.values[at].ravel()
        if curves.intervals is not None:
            heights = np.append(heights, curves.intervals[at].ravel())
        low, high = padded(heights)
        if low < 0 <= float(np.nanmin(heights, initial=np.inf)):
            low = 0.0
        y = Scale(low, high, self.height() - self.bottom_room(curves.x_name), RING + space.S, 50)
        right = float(self.width() - RING - space.M)
        if len(at) > 1:
            metrics = self.caption_metrics
            right -= min(max(metrics.horizontalAdvance(curves.names[k]) for k in at), 140) + space.S
        x_low, x_high = padded(curves.x, share=0.0)
        return Scale(x_low, x_high, self.left_room(y, curves.y_name), right), y

    def color(self, k: int) -> QColor:
        """Colour of a curve, by its place among those shown."""
        return theme().category(self.shown.index(k) if len(self.shown) > 1 else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.curves is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        self.paint_left_axis(painter, area, y, self.curves.y_name)
        if y.low < 0 < y.high:
            painter.setPen(QPen(theme().color("axis"), 1))
            at = round(y.at(0)) + 0.5
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        self.paint_bottom_axis(painter, area, x, self.curves.x_name)
        for k in self.shown:
            self._paint_band(painter, k, x, y)
        for k in self.shown:
            self._paint_line(painter, k, x, y)
        if len(self.shown) > 1:
            self._paint_names(painter, area, y)
        k, i = self.current
        if k >= 0:
            at_point = QPointF(x.at(float(self.curves.x[i])), y.at(float(self.curves.values[k, i])))
            painter.setPen(QPen(theme().color("axis"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(at_point.x(), area.top()), QPointF(at_point.x(), area.bottom()))
            painter.setPen(QPen(theme().color("surface"), 1))
            painter.setBrush(self.color(k))
            painter.drawEllipse(at_point, 5, 5)
        self.paint_focus(painter)
        painter.end()

    def _paint_band(self, painter: QPainter, k: int, x: Scale, y: Scale) -> None:
        assert self.curves is not None
        if self.curves.intervals is None:
            return
        every = max(1, len(self.curves.x) // _POINTS)
        low, high = self.curves.intervals[k, ::every].T
        along = x.all_at(self.curves.x[::every])
        known = np.isfinite(low) & np.isfinite(high)
        fill = self.color(k)
        fill.setAlphaF(0.18 if len(self.shown) == 1 else 0.12)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        for part in _runs(known):
            top = [QPointF(a, b) for a, b in zip(along[part], y.all_at(high[part]))]
            below = [QPointF(a, b) for a, b in zip(along[part], y.all_at(low[part]))]
            painter.drawPolygon(QPolygonF([*top, *reversed(below)]))

    def _paint_line(self, painter: QPainter, k: int, x: Scale, y: Scale) -> None:
        assert self.curves is not None
        place, values = decimate(self.curves.values[k], _POINTS)
        along = x.all_at(self.curves.x[place.astype(np.intp) - 1])
        heights = y.all_at(values)
        path = QPainterPath()
        for part in _runs(np.isfinite(heights)):
            points = [QPointF(a, b) for a, b in zip(along[part], heights[part])]
            path.moveTo(points[0])
            for point in points[1:]:
                path.lineTo(point)
            if len(points) == 1:
                path.addEllipse(points[0], 2, 2)
        pen = QPen(self.color(k), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_names(self, painter: QPainter, area: QRectF, y: Scale) -> None:
        assert self.curves is not None
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        ends = []
        for k in self.shown:
            known = np.nonzero(np.isfinite(self.curves.values[k]))[0]
            if len(known):
                ends.append((y.at(float(self.curves.values[k, known[-1]])), k))
        last = area.top() - metrics.height()
        for at, k in sorted(ends):
            last = max(at - metrics.height() / 2, last + metrics.height())
            painter.setPen(self.color(k))
            box = QRectF(
                area.right() + space.S, last, self.width() - area.right() - space.S - 2, metrics.height()
            )
            painter.drawText(
                box, Qt.AlignmentFlag.AlignLeft, elided(metrics, self.curves.names[k], box.width())
            )

    # -- pointer and keys -----------------------------------------------------------------------
    def place_at(self, at: QPointF) -> tuple[int, int]:
        """(curve, place) nearest to a point; -1, -1 outside of the picture."""
        if self.curves is None or not len(self.curves.x):
            return -1, -1
        x, y = self.scales()
        if not (x.start - 8 <= at.x() <= x.end + 8 and y.end - 8 <= at.y() <= y.start + 8):
            return -1, -1
        i = int(np.argmin(np.abs(x.all_at(self.curves.x) - at.x())))
        away = [abs(y.at(float(self.curves.values[k, i])) - at.y()) for k in self.shown]
        if not np.isfinite(away).any():
            return -1, -1
        return self.shown[int(np.nanargmin(away))], i

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_place(*self.place_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_place(-1, -1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk along the curve, up and down change the curve."""
        key = Qt.Key(event.key())
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(key, 0)
        jump = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)
        if not (step or jump) or self.curves is None or not self.shown:
            super().keyPressEvent(event)
            return
        k, i = self.current if self.current[0] >= 0 else (self.shown[0], -step if step > 0 else 0)
        place = (self.shown.index(k) + jump) % len(self.shown)
        self.show_place(self.shown[place], min(max(i + step, 0), len(self.curves.x) - 1))

    def show_place(self, k: int, i: int) -> None:
        """Mark a place of a curve and tell it."""
        if (k, i) != self.current and self.curves is not None:
            self.current = (k, i)
            self.hovered.emit(self.curves.text(k, i) if k >= 0 else "")
            self.update()


class CurvePage(ResultPage):
    """Role ``values`` (t,) or (K, t), with ``interval`` (…, 2) and ``x`` (t,).

    Options: ``x_label``, ``y_label``. Up to six curves are shown together at first.
    """

    icon_name = "chart"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._choice = 0
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self.chart = CurveChart()
        self.chart.hovered.connect(self.hovered)
        self.picker = ItemPicker()
        self.picker.currentIndexChanged.connect(self.choose)
        self._options = OptionRow(Labelled("Show", self.picker))
        return page_content(self._options, self.chart)

    def load(self, sources: Sources) -> Curves:
        result = sources.result("values", (1, 2))
        shape = result.values.shape
        values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
        count, t = values.shape
        dims = result.dims if len(result.dims) == len(shape) else ("curve", "step")[-len(shape) :]
        x, x_name = np.arange(1, t + 1, dtype=np.float64), dims[-1].replace("_", " ")
        if sources.has("x"):
            x = sources.array("x", (t,))
            found = sources.result("x")
            x_name = (found.label or x_name) + (f", {found.unit}" if found.unit else "")
        if not np.isfinite(x).all():
            raise SourceError("The places along the axis have to be known numbers.")
        intervals = None
        if sources.has("interval"):
            intervals = sources.array("interval", (*shape, 2)).reshape(count, t, 2)
        order = np.argsort(x, kind="stable")
        unit = f", {result.unit}" if result.unit else ""
        options = self.view.options
        return Curves(
            x[order],
            values[:, order],
            None if intervals is None else intervals[:, order],
            sources.dim_names(dims[0], count) if len(shape) == 2 else (result.label or self.view.title,),
            str(options.get("x_label", x_name)),
            str(options.get("y_label", (result.label or "value") + unit)),
            result.doc,
        )

    def show_loaded(self, loaded: Curves) -> None:
        if not loaded.values.size or not np.isfinite(loaded.values).any():
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        count = len(loaded.values)
        together = 1 < count <= _MOST_TOGETHER
        choices = (["all"] if together else []) + list(loaded.names)
        self._choice = min(self._choice, len(choices) - 1)
        self.picker.set_names(choices, self._choice)
        self._options.setVisible(count > 1)
        self.choose(self._choice)

    def choose(self, choice: int) -> None:
        """Show one curve, or all (the first choice when there are few)."""
        if self.loaded is None or choice < 0:
            return
        self._choice = choice
        self.picker.choose(choice)
        count = len(self.loaded.values)
        together = 1 < count <= _MOST_TOGETHER
        shown = tuple(range(count)) if together and choice == 0 else (choice - together,)
        self.chart.set_curves(self.loaded, shown)

    def search(self, text: str) -> list[str]:
        """Show the first curve whose name holds the text."""
        if self.loaded is None:
            return []
        hits = [k for k, name in enumerate(self.loaded.names) if text and text.casefold() in name.casefold()]
        if hits:
            self.choose(hits[0] + (self.picker.count() - len(self.loaded.names)))
        return [self.loaded.names[k] for k in hits]

    def default_headline(self) -> str:
        if not self.loaded or not self.loaded.values.size:
            return self.view.title
        y, x = (name.split(",")[0] for name in (self.loaded.y_name, self.loaded.x_name))
        return f"{capital(y)} along {x}"

    def default_caption(self) -> str:
        return self.loaded.doc if self.loaded else ""

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        curves: Curves = self.loaded
        count, t = curves.values.shape
        columns: dict[str, Any] = {}
        if count > 1:
            columns["Curve"] = np.repeat(np.array(curves.names, dtype=object), t)
        columns[capital(curves.x_name)] = np.tile(curves.x, count)
        columns[capital(curves.y_name)] = curves.values.ravel()
        if curves.intervals is not None:
            columns["Low"], columns["High"] = curves.intervals.reshape(-1, 2).T
        return columns, {}


def _runs(known: np.ndarray) -> list[slice]:
    """Stretches of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]
