"""Class probabilities item by item, stacked to one, with the known class below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_percent, format_probability
from plaidwork.gui.results.assessed_page import AssessedPage, Judged
from plaidwork.gui.results.chart import Scale, capital, plural
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.marks import area_colors
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.position_chart import PositionChart
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import SegmentedControl

ORDERS = (("expected", "By expected class"), ("known", "By known class"))
_STRIP, _WIDEST, _FINE = 14.0, 28.0, 400
"""Pixels of the strip of known classes and of the widest bar; steps of the picture up."""


def ordered(data: Judged, order: str) -> np.ndarray:
    """Numbers of the items from left to right: by the mean number of the class, within the known class if asked for."""
    expected = data.probability @ np.arange(len(data.classes))
    first = data.codes if order == "known" else np.zeros(len(data.codes))
    return np.lexsort((expected, first))


class SharesChart(PositionChart):
    """A bar for each item from 0 to 1, parted by the classes; a strip below has the known ones."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.data: Judged | None = None
        self.order = np.zeros(0, dtype=np.intp)
        self.current = -1

    def set_data(self, data: Judged, order: np.ndarray) -> None:
        """Show these items in this order."""
        self.data, self.order, self.current = data, order, -1
        self.setAccessibleName(f"Class probabilities of {len(order)} {plural(data.word)}")
        self.update()

    def area(self) -> tuple[QRectF, Scale]:
        """Place of the bars, and the scale up."""
        bottom = self.height() - self.bottom_room("x") - _STRIP - space.S
        y = Scale(0, 1, bottom, RING + space.S, 50)
        left = self.left_room(y, "y")
        wide = min(self.width() - left - RING - space.S, _WIDEST * max(len(self.order), 1))
        return QRectF(left, y.end, wide, y.start - y.end), y

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.data is None or not len(self.order):
            return
        painter = QPainter(self)
        area, y = self.area()
        self.paint_left_axis(painter, area, y, "probability")
        image, strip = self._images()
        painter.drawImage(area, image)
        below = QRectF(area.left(), area.bottom() + space.S, area.width(), _STRIP)
        painter.drawImage(below, strip)
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("muted"))
        box = QRectF(area.left(), below.bottom() + space.S, area.width(), self.caption_metrics.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, f"{plural(self.data.word)}; strip: known class")
        if self.current >= 0:
            at = area.left() + (self.current + 0.5) / len(self.order) * area.width()
            painter.setPen(QPen(theme().color("text"), 1.4))
            painter.drawLine(QPointF(at, area.top()), QPointF(at, below.bottom()))
        self.paint_focus(painter)
        painter.end()

    def _images(self) -> tuple[QImage, QImage]:
        """Bars (400 steps up) and strip, one pixel for each item; as many items as there are pixels are told apart."""
        assert self.data is not None
        inks = [color.rgb() for color in area_colors(len(self.data.classes))]
        colors = np.array(inks, dtype=np.uint32)
        edges = np.cumsum(self.data.probability[self.order], axis=1)
        steps = (np.arange(_FINE) + 0.5)[::-1] / _FINE
        top = len(self.data.classes) - 1
        classes = np.minimum((edges[None] < steps[:, None, None]).sum(axis=2), top)
        picture = np.ascontiguousarray(colors[classes])
        strip = np.ascontiguousarray(colors[self.data.codes[self.order]][None])
        return _image(picture), _image(strip)

    # -- pointer and keys -----------------------------------------------------------------------
    def position_text(self, position: int) -> str:
        """An item in words."""
        assert self.data is not None
        i = int(self.order[position])
        shares = ", ".join(
            f"{name} {format_probability(float(p))}"
            for name, p in zip(self.data.classes, self.data.probability[i], strict=True)
        )
        return f"{capital(self.data.word)} of class {self.data.classes[self.data.codes[i]]}: {shares}"

    def position_at(self, at: QPointF) -> int:
        """Place of the item under a point; -1 outside of the bars."""
        area, _ = self.area()
        if self.data is None or not area.adjusted(0, 0, 0, _STRIP + space.S).contains(at):
            return -1
        return min(int((at.x() - area.left()) / area.width() * len(self.order)), len(self.order) - 1)

    def position_count(self) -> int:
        return len(self.order)


def _image(picture: np.ndarray) -> QImage:
    high, wide = picture.shape
    return QImage(picture.data, wide, high, 4 * wide, QImage.Format.Format_RGB32).copy()


class SharesPage(AssessedPage):
    """Roles of an `AssessedPage`. Option: ``order`` "expected" (mean number of the class) or "known"."""

    icon_name = "tiles"
    each_class = False

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        order = str(view.options.get("order", "expected"))
        self._order = order if order in dict(ORDERS) else "expected"
        super().__init__(workbench, run, view, parent)

    def build(self) -> QWidget:
        self._build_common()
        self.chart = SharesChart()
        self.chart.hovered.connect(self.hovered)
        self.orders = SegmentedControl(list(ORDERS), self._order)
        self.orders.changed.connect(self.set_order)
        self.legend = Legend()
        options = OptionRow(self._class_field, self._part_field, Labelled("Order", self.orders))
        return page_content(options, self.chart, self._foot, self.legend)

    def set_order(self, order: str) -> None:
        """Order the items by the ``"expected"`` class, or that within the ``"known"`` one."""
        self._order = order
        if self.loaded is not None:
            self._redraw()

    def _draw(self) -> None:
        data = self.judged
        self.chart.set_data(data, ordered(data, self._order))
        count = len(data.classes)
        self.legend.set_entries(
            [(lambda k=k: area_colors(count)[k], name) for k, name in enumerate(data.classes)]
        )
        self._foot.setText(self._items())

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded or not len(self.judged.codes):
            return self.view.title
        data = self.judged
        own = float(data.probability[np.arange(len(data.codes)), data.codes].mean())
        return f"The known class has a probability of {format_percent(own)} on average"

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.legend]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        data, order = self.judged, self.chart.order
        columns: dict[str, Any] = {"Known class": np.array(data.classes, dtype=object)[data.codes[order]]}
        columns |= {name: data.probability[order, k] for k, name in enumerate(data.classes)}
        return columns, {}
