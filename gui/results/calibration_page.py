"""Whether probabilities hold: the share of the class where so much was promised, with intervals and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.assessment import Bin, calibration, calibration_error, score
from plaidwork.gui.numbers import format_count, format_fixed, format_loss, format_probability
from plaidwork.gui.results.assessed_page import AssessedPage, Judged, with_interval
from plaidwork.gui.results.chart import Scale, plural
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.position_chart import PositionChart
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import SliderField

_WIDEST = 1.8
"""Width of the picture to its height at most."""
_COUNTS = 56.0
"""Pixels of the bars of counts."""


class ReliabilityChart(PositionChart):
    """Share of the class against probability, the diagonal, and below how many items each point stands for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bins: list[Bin] = []
        self.name, self.word = "", ""
        self.current = -1

    def set_bins(self, bins: list[Bin], name: str, word: str) -> None:
        """Show the bins of a class."""
        self.bins, self.name, self.word, self.current = bins, name, word, -1
        self.setAccessibleName(f"Reliability of the probabilities of {name} in {len(bins)} bins")
        self.update()

    def scales(self) -> tuple[Scale, Scale]:
        """Of probability and share."""
        bottom = self.height() - self.bottom_room("x") - _COUNTS - space.M
        y = Scale(0, 1, bottom, RING + space.S, 50)
        left = self.left_room(y, "y")
        high = y.start - y.end
        wide = min(_WIDEST * high, self.width() - left - RING - space.M)
        return Scale(0, 1, left, left + wide), Scale(0, 1, y.end + high, y.end, 50)

    def position_text(self, i: int) -> str:
        """A bin in words."""
        part = self.bins[i]
        return (
            f"mean probability {format_probability(part.mean)}: {self.name} in {with_interval(part.share)} of "
            f"{format_count(part.count)} {plural(self.word)}"
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.bins:
            return
        painter, colors = QPainter(self), theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        self.paint_left_axis(painter, area, y, f"share of {self.name}")
        painter.setPen(QPen(colors.color("axis"), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x.at(0), y.at(0)), QPointF(x.at(1), y.at(1)))
        painter.setPen(QPen(colors.color("axis"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        ink = colors.category(0)
        for part in self.bins:
            if part.share.low == part.share.low:
                painter.setPen(QPen(ink, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
                at = x.at(part.mean)
                painter.drawLine(QPointF(at, y.at(part.share.low)), QPointF(at, y.at(part.share.high)))
        for i, part in enumerate(self.bins):
            painter.setPen(QPen(colors.color("text" if i == self.current else "surface"), 1))
            painter.setBrush(ink)
            painter.drawEllipse(QPointF(x.at(part.mean), y.at(part.share.value)), 4.5, 4.5)
        self._paint_counts(painter, x, area)
        self.paint_focus(painter)
        painter.end()

    def _paint_counts(self, painter: QPainter, x: Scale, area: QRectF) -> None:
        most = max(part.count for part in self.bins)
        top = area.bottom() + space.M
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        wide = min(28.0, (x.end - x.start) / max(len(self.bins), 1) * 0.5)
        for i, part in enumerate(self.bins):
            high = (_COUNTS - metrics.height() - 2) * part.count / most
            bar = QRectF(x.at(part.mean) - wide / 2, top + _COUNTS - high, wide, high)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color("control" if i == self.current else "neutral"))
            painter.drawRect(bar)
            text = format_count(float(part.count))
            if metrics.horizontalAdvance(text) < (x.end - x.start) / len(self.bins) or i == self.current:
                painter.setPen(theme().color("muted"))
                box = QRectF(bar.center().x() - 40, bar.top() - metrics.height() - 1, 80, metrics.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, text)
        below = QRectF(area.left(), top, area.width(), _COUNTS)
        self.paint_bottom_axis(painter, below, x, f"probability of {self.name}; bars: {plural(self.word)}")

    # -- pointer and keys -----------------------------------------------------------------------
    def position_at(self, at: QPointF) -> int:
        """The bin nearest to a place across; -1 outside of the picture."""
        if not self.bins:
            return -1
        x, y = self.scales()
        if not (x.start - 8 <= at.x() <= x.end + 8 and y.end - 8 <= at.y()):
            return -1
        return int(np.argmin([abs(x.at(part.mean) - at.x()) for part in self.bins]))

    def position_count(self) -> int:
        return len(self.bins)


class CalibrationPage(AssessedPage):
    """Roles of an `AssessedPage`. Option besides: ``bins`` (10)."""

    icon_name = "target"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._bins = min(max(2, int(view.options.get("bins", 10))), 20)
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self._build_common()
        self.chart = ReliabilityChart()
        self.chart.hovered.connect(self.hovered)
        self.bins = SliderField("", 2, 20, self._bins, step=1)
        self.bins.slider.setAccessibleName("Number of bins")
        self.bins.value_changed.connect(self._set_bins)
        options = OptionRow(self._class_field, self._part_field, Labelled("Bins", self.bins))
        return page_content(options, self.chart, self._foot)

    def _set_bins(self, bins: float) -> None:
        self._bins = int(bins)
        if self.loaded is not None:
            self._redraw()

    def _draw(self) -> None:
        data = self.judged
        found = calibration(data.codes == self._class, data.probability[:, self._class], self._bins)
        self.chart.set_bins(found, data.classes[self._class], data.word)
        self._foot.setText(
            f"{self._items()}; points on the dashed line keep their promise; Wilson intervals, 95 %"
        )

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not len(self.loaded.codes):
            return self.view.title
        data: Judged = self.judged
        found = score(data.codes, data.probability)
        return f"Log loss {format_loss(found.log_loss.value)}, Brier score {format_loss(found.brier.value)}"

    def default_caption(self) -> str:
        if not self.loaded or not len(self.loaded.codes):
            return super().default_caption()
        data, size = self.judged, len(self.loaded.classes)
        found = score(data.codes, data.probability)
        ends = [[format_loss(end) for end in part[1:]] for part in (found.log_loss, found.brier)]
        intervals = " and ".join(f"{low} to {high}" for low, high in ends)
        return (
            f"95 % intervals {intervals}. Guessing all classes alike has {format_fixed(float(np.log(size)), 3)} and "
            f"{format_fixed((1 - 1 / size) / 2, 3)}. Probabilities of {self.chart.name} are off by "
            f"{format_loss(calibration_error(self.chart.bins), 2)} on average."
        )

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        bins = self.chart.bins
        return {
            "Mean probability": np.array([part.mean for part in bins]),
            "Share": np.array([part.share.value for part in bins]),
            "Low": np.array([part.share.low for part in bins]),
            "High": np.array([part.share.high for part in bins]),
            "Number": np.array([part.count for part in bins]),
        }, {}
