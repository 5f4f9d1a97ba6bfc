"""ROC and precision-recall curves of one class against the others, with areas and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.assessment import Interval, auc, average_precision, precision_recall, roc, wilson
from plaidwork.gui.numbers import format_count, format_number, format_percent, format_probability
from plaidwork.gui.results.assessed_page import AssessedPage, Judged, with_interval
from plaidwork.gui.results.chart import Scale, capital
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.position_chart import PositionChart
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import SegmentedControl

SHOWN = (("roc", "ROC"), ("pr", "Precision and recall"))
_NEAR = 40.0
_DRAWN = 2000
"""Places drawn of a long curve, about."""
_AXES = {
    "roc": ("false positive rate", "true positive rate"),
    "pr": ("recall", "precision"),
}


@dataclass(frozen=True)
class RatingCurve:
    """A curve on the unit square by falling threshold; ``base`` is the height of guessing (None: the diagonal)."""

    kind: str
    x: np.ndarray
    y: np.ndarray
    thresholds: np.ndarray
    base: float | None
    n_positive: int
    n_negative: int
    title: str

    def text(self, i: int) -> str:
        """A place on the curve in words."""
        limit = float(self.thresholds[i])
        text = "threshold above all" if limit == np.inf else f"threshold {format_number(limit, 3)}"
        hits = round(float(self.y[i] if self.kind == "roc" else self.x[i]) * self.n_positive)
        _, low, high = wilson(hits, self.n_positive)
        names = _AXES[self.kind]
        text += f": {names[0]} {format_probability(self.x[i])}, {names[1]} {format_probability(self.y[i])}"
        return text + f"; {hits} of {self.n_positive} found ({format_percent(low)} to {format_percent(high)})"


class RatingChart(PositionChart):
    """One curve in a square, and what guessing would give."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curve: RatingCurve | None = None
        self.current = -1

    def set_curve(self, curve: RatingCurve) -> None:
        """Show a curve."""
        self.curve, self.current = curve, -1
        self.setAccessibleName(f"{curve.title}, {len(curve.x)} thresholds")
        self.update()

    def scales(self) -> tuple[Scale, Scale]:
        """Of x and y; one unit is as long across as up."""
        names = _AXES[self.curve.kind if self.curve else "roc"]
        y = Scale(0, 1, self.height() - self.bottom_room(names[0]), RING + space.S, 50)
        left = self.left_room(y, names[1])
        side = min(y.start - y.end, self.width() - left - RING - space.M)
        return Scale(0, 1, left, left + side), Scale(0, 1, y.end + side, y.end, 50)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.curve is None:
            return
        painter, colors, curve = QPainter(self), theme(), self.curve
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        names = _AXES[curve.kind]
        self.paint_left_axis(painter, area, y, names[1])
        self.paint_bottom_axis(painter, area, x, names[0])
        painter.setPen(QPen(colors.color("axis"), 1.2, Qt.PenStyle.DashLine))
        heights = (0.0, 1.0) if curve.base is None else (curve.base, curve.base)
        painter.drawLine(QPointF(x.at(0), y.at(heights[0])), QPointF(x.at(1), y.at(heights[1])))
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("muted"))
        metrics = self.caption_metrics
        width = metrics.horizontalAdvance("guessing") + space.S
        top = y.at(0.06) if curve.base is None else y.at(curve.base) - metrics.height() - 2
        if curve.base is not None and top < area.top() + 2:
            top = y.at(curve.base) + 2
        box = QRectF(
            x.at(0.08), top - (0 if curve.base is not None else metrics.height() / 2), width, metrics.height()
        )
        if curve.base is None:
            box.moveLeft(x.at(0.1))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft, "guessing")
        ink = theme().category(0)
        pen = QPen(ink, 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        drawn = np.unique(np.linspace(0, len(curve.x) - 1, min(len(curve.x), _DRAWN)).astype(np.intp))
        places = zip(x.all_at(curve.x[drawn]), y.all_at(curve.y[drawn]), strict=True)
        painter.drawPolyline(QPolygonF([QPointF(a, b) for a, b in places]))
        if self.current >= 0:
            at = QPointF(x.at(float(curve.x[self.current])), y.at(float(curve.y[self.current])))
            painter.setPen(QPen(colors.color("surface"), 1))
            painter.setBrush(ink)
            painter.drawEllipse(at, 5, 5)
        self._paint_beside(painter, x.end + space.XXL)
        self.paint_focus(painter)
        painter.end()

    def _paint_beside(self, painter: QPainter, left: float) -> None:
        """The curve's area at the right of the square where there is room."""
        assert self.curve is not None
        metrics, room = self.caption_metrics, self.width() - RING - left
        if room < 120:
            return
        y = float(RING + space.S)
        lines = [
            self.curve.title,
            f"{format_count(self.curve.n_positive)} of the class",
            f"{format_count(self.curve.n_negative)} of the others",
        ]
        for k, line in enumerate(lines):
            painter.setFont(theme().font("caption"))
            painter.setPen(theme().color("text" if k == 0 else "muted"))
            box = QRectF(left, y, room, 3 * metrics.height())
            flags = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
            used = painter.boundingRect(box, flags, line)
            painter.drawText(box, flags, line)
            y += used.height() + space.XS

    # -- pointer and keys -----------------------------------------------------------------------
    def position_at(self, at: QPointF) -> int:
        """The threshold whose place is nearest to a point; -1 when none is near."""
        if self.curve is None:
            return -1
        x, y = self.scales()
        away = np.hypot(x.all_at(self.curve.x) - at.x(), y.all_at(self.curve.y) - at.y())
        near = int(np.nanargmin(away))
        return near if away[near] <= _NEAR else -1

    def position_count(self) -> int:
        return 0 if self.curve is None else len(self.curve.x)

    def position_text(self, position: int) -> str:
        assert self.curve is not None
        return self.curve.text(position)


class RocPage(AssessedPage):
    """Roles of an `AssessedPage`. Option besides: ``show`` "roc" or "pr"."""

    icon_name = "roc"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        shown = str(view.options.get("show", "roc"))
        self._shown = shown if shown in dict(SHOWN) else "roc"
        self._area = Interval(np.nan, np.nan, np.nan)
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self._build_common()
        self.chart = RatingChart()
        self.chart.hovered.connect(self.hovered)
        self.shown = SegmentedControl(list(SHOWN), self._shown)
        self.shown.changed.connect(self.set_shown)
        options = OptionRow(self._class_field, self._part_field, Labelled("Show", self.shown))
        return page_content(options, self.chart, self._foot)

    def set_shown(self, shown: str) -> None:
        """Show the ``"roc"`` curve, or precision and recall (``"pr"``)."""
        self._shown = shown
        if self.loaded is not None:
            self._redraw()

    def _draw(self) -> None:
        data = self.judged
        positive, score = data.codes == self._class, data.probability[:, self._class]
        count = int(positive.sum())
        self._area = auc(positive, score)
        if not 0 < count < len(positive):
            self.chart.set_curve(_empty(self._shown, count, len(positive) - count))
        elif self._shown == "roc":
            x, y, limits = roc(positive, score)
            title = f"Area {with_interval(self._area)}"
            self.chart.set_curve(RatingCurve("roc", x, y, limits, None, count, len(positive) - count, title))
        else:
            x, y, limits = precision_recall(positive, score)
            title = f"Average precision {format_probability(average_precision(positive, score))}"
            base = count / len(positive)
            self.chart.set_curve(RatingCurve("pr", x, y, limits, base, count, len(positive) - count, title))
        self._foot.setText(self._items() + "; interval of DeLong, 95 %")

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not len(self.loaded.codes):
            return self.view.title
        data: Judged = self.loaded
        name = data.classes[self._class]
        if self._area.value != self._area.value:
            return f"{capital(name)}: all items are of one kind"
        return f"{capital(name)}: area under the ROC curve {with_interval(self._area)}"

    def default_caption(self) -> str:
        if not self.loaded or not len(self.loaded.codes):
            return super().default_caption()
        others = [name for k, name in enumerate(self.loaded.classes) if k != self._class]
        against = others[0] if len(others) == 1 else "all other classes"
        return f"{capital(self.loaded.classes[self._class])} against {against}. Area 0.5 is guessing, 1 tells all apart."

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        curve = self.chart.curve
        assert curve is not None
        names = _AXES[curve.kind]
        return {"Threshold": curve.thresholds, capital(names[0]): curve.x, capital(names[1]): curve.y}, {}


def _empty(kind: str, n_positive: int, n_negative: int) -> RatingCurve:
    nothing = np.zeros(0)
    return RatingCurve(
        kind, nothing, nothing, nothing, None, n_positive, n_negative, "No curve: one kind only"
    )
