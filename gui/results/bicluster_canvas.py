"""The heat map with outlines and name tags of blocks, and what the pointer does to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.results.heat_canvas import HeatCanvas
from plaidwork.gui.theme import ink_on, space, theme

FADED, FADED_TAG = 0.25, 0.6
"""Opacity of outlines and (number only) tags while another block is chosen."""
_LINE, _SELECTED_LINE = 2, 3
_TAG_PAD = 6


class BiclusterCanvas(HeatCanvas):
    """Draws the blocks over the cells.

    Click chooses a block, double click opens its sub-matrix, Esc goes back, [ and ] step.

    Signals
    -------
    opened : a block whose sub-matrix is to be shown
    left : Esc with nothing to leave here
    """

    opened = Signal(int)

    def __init__(self, blocks: Blocks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.blocks = blocks
        self.show_outlines = True
        self._tags: list[tuple[QRectF, int]] = []
        self._press_block: int | None = None
        self._press_known = False
        self.setAccessibleName("Blocks in the re-ordered matrix")
        self.setAccessibleDescription(
            "Arrow keys move over the cells, square brackets step through the blocks, "
            "Enter opens the sub-matrix of the chosen block, Escape goes back."
        )

    # -- outlines -------------------------------------------------------------------------------
    def parts(self, block: int) -> list[QRectF]:
        """Outlines of a block in logical pixels; parts closer than two pixels are drawn as one."""
        if self.picture is None:
            return []
        rows, columns = self.blocks.masks
        across = self._intervals(rows[block][self.picture.row_order], self._rows, self.y_of)
        along = self._intervals(columns[block][self.picture.column_order], self._columns, self.x_of)
        return [QRectF(x0, y0, x1 - x0, y1 - y0) for y0, y1 in across for x0, x1 in along]

    @staticmethod
    def _intervals(
        mask: np.ndarray, span: tuple[float, float], pixel_of: Callable[[float], float]
    ) -> list[list[float]]:
        """(start, end) in pixels of the runs of a mask in view."""
        low, high = int(span[0]), int(np.ceil(span[1]))
        inside = np.zeros(high - low + 2, dtype=np.int8)
        inside[1:-1] = mask[low:high]
        edges = np.flatnonzero(np.diff(inside))
        merged: list[list[float]] = []
        for start, end in zip(edges[::2] + low, edges[1::2] + low):
            # a block that goes on beyond the view stays open there
            first, last = pixel_of(max(start, span[0] - 1)), pixel_of(min(end, span[1] + 1))
            if merged and first - merged[-1][1] < 2:
                merged[-1][1] = last
            else:
                merged.append([first, last])
        return merged

    def paint_over(self, painter: QPainter) -> None:
        """Outlines from large to small, the chosen one last; then the tags."""
        self._tags = []
        if not self.show_outlines:
            return
        chosen = self.blocks.selected
        shown = self.blocks.visible()
        shown.sort(key=lambda block: (block == chosen, -np.prod(self.blocks.size(block))))
        parts = {block: self.parts(block) for block in shown}
        ratio = self.pixel_ratio()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for block in shown:
            painter.setOpacity(FADED if chosen is not None and block != chosen else 1.0)
            self._outline(painter, parts[block], self._line_color(block), block == chosen, ratio)
        painter.setOpacity(1.0)
        for block in reversed(shown):
            self._tag(painter, block, parts[block], chosen)

    def _line_color(self, block: int) -> QColor:
        if block == self.blocks.selected and self.blocks.swatch(block) == "control":
            return theme().color("text")
        return self.blocks.color(block)

    def _outline(
        self, painter: QPainter, parts: list[QRectF], color: QColor, strong: bool, ratio: float
    ) -> None:
        width = _SELECTED_LINE if strong else _LINE
        inset = width / 2
        inner = [part.adjusted(inset, inset, -inset, -inset) for part in parts]
        inner = [r if min(r.width(), r.height()) > 0 else _at_least(r) for r in inner]
        for ink, wide in ((theme().color("surface"), width + 2), (color, width)):
            pen = QPen(ink, wide)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRects(inner)

    def _tag(self, painter: QPainter, block: int, parts: list[QRectF], chosen: int | None) -> None:
        view = self._plot
        seen = [part.intersected(view) for part in parts]
        seen = [part for part in seen if part.width() > 3 and part.height() > 3]
        if not seen:
            return
        largest = max(seen, key=lambda part: part.width() * part.height())
        other = chosen is not None and block != chosen
        many = other or (len(self.blocks) > 12 and not self.blocks.named(block))
        texts = [str(block + 1)] if many else [self.blocks.name(block), str(block + 1)]
        metrics = self.caption_metrics()
        for text in texts:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, 180)
            width = metrics.horizontalAdvance(text) + 2 * _TAG_PAD
            high = metrics.height() + 4
            rect = self._free_rect(largest, width, high)
            if rect is not None:
                break
        else:
            return
        color = self._line_color(block)
        painter.setOpacity(FADED_TAG if other else 1.0)
        painter.fillRect(rect.adjusted(-1, -1, 1, 1), theme().color("surface"))
        painter.fillRect(rect, color)
        painter.setPen(ink_on(color))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
        painter.setOpacity(1.0)
        self._tags.append((rect, block))

    def _free_rect(self, part: QRectF, width: float, high: float) -> QRectF | None:
        """A spot for a tag inside the part, or hanging over it, that covers no other tag."""
        view = self._plot
        left = min(part.left(), view.right() - width - 1)
        spots = [(left, part.top() + step * (high + 2)) for step in range(5)]
        spots += [
            (max(part.right() - width, view.left() + 1), part.top() + step * (high + 2)) for step in range(3)
        ]
        spots += [(left, part.top() - high)]
        for x, y in spots:
            spot = QRectF(
                max(x, view.left() + 1), min(max(y, view.top() + 1), view.bottom() - high - 1), width, high
            )
            inside = spot.top() < part.bottom() + 1
            if inside and not any(spot.adjusted(-1, -1, 1, 1).intersects(other) for other, _ in self._tags):
                return spot
        return None

    def tag_rect(self, block: int) -> QRectF:
        """Where the tag of a block was drawn last; empty when it has none."""
        return next((rect for rect, other in self._tags if other == block), QRectF())

    # -- pointer --------------------------------------------------------------------------------
    def block_at(self, at: QPointF) -> int | None:
        """The block whose tag or cell lies under a point; of several the smallest."""
        for rect, block in reversed(self._tags):
            if rect.contains(at):
                return block
        cell = self.cell_at(at)
        found = self.blocks.blocks_at(*cell) if cell is not None else []
        if self.blocks.selected in found:
            return self.blocks.selected
        return found[0] if found else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._press_block, self._press_known = self.block_at(event.position()), True
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click that was no drag chooses a block, or none beside all blocks."""
        clicked = self._pressed is not None and not self._dragged
        super().mouseReleaseEvent(event)
        if clicked and event.button() == Qt.MouseButton.LeftButton and self.show_outlines:
            self.blocks.select(self._press_block)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the sub-matrix; beside all blocks show all."""
        self._pressed = None
        # the first click may have re-ordered the picture: what counts is what was under it
        if not self._press_known:
            self._press_block = self.block_at(event.position())
        self._press_known = False
        if self._press_block is None:
            self.reset_view()
        else:
            self.opened.emit(self._press_block)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            self.blocks.step(1 if event.key() == Qt.Key.Key_BracketRight else -1)
        elif event.key() == Qt.Key.Key_Escape and self.leave():
            pass
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.blocks.selected is not None:
            self.opened.emit(self.blocks.selected)
        else:
            super().keyPressEvent(event)

    def leave(self) -> bool:
        """Back one level: zoomed part, chosen block, nothing. False when there was nothing to leave."""
        if self.zoomed:
            self.reset_view()
        elif self.blocks.selected is not None:
            self.blocks.select(None)
        else:
            return False
        return True

    def show_block(self, block: int) -> None:
        """Zoom to the rows and columns of a block, with a little around it."""
        if self.picture is None:
            return
        rows, columns = self.blocks.masks
        spans = []
        for mask, order in (
            (rows[block], self.picture.row_order),
            (columns[block], self.picture.column_order),
        ):
            places = np.flatnonzero(mask[order])
            if not len(places):
                return
            around = 0.04 * (places[-1] + 1 - places[0]) + space.XS / 8
            spans.append((float(places[0]) - around, float(places[-1]) + 1 + around))
        self.set_view(*spans)


def _at_least(rect: QRectF) -> QRectF:
    """A rectangle thinner than its line is drawn as a line."""
    width, height = max(rect.width(), 0.5), max(rect.height(), 0.5)
    return QRectF(rect.center().x() - width / 2, rect.center().y() - height / 2, width, height)
