"""The matrix with outlines and name tags of blocks, and what the pointer does to them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures import Picture, Regions
from plaidwork.core.views.biclusters import Ordered, panels_of
from plaidwork.core.views.strips import Strip
from plaidwork.gui.language import tr
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.frame import Frame, Zoom
from plaidwork.gui.pictures.regions import region_parts, tag_places
from plaidwork.gui.pictures.style import screen_style
from plaidwork.gui.pictures.zooming import within
from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.theme import space


class BiclusterCanvas(PictureCanvas):
    """Draws the blocks over the cells.

    Click chooses a block, double click opens its sub-matrix, Esc goes back, [ and ] step.

    Signals
    -------
    opened : a block whose sub-matrix is to be shown
    view_changed : another part is shown
    """

    opened = Signal(int)
    view_changed = Signal()

    def __init__(self, blocks: Blocks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.blocks = blocks
        self.ordered: Ordered | None = None
        self.strips: tuple[Strip, ...] = ()
        self.outlined = True
        self._press_block: int | None = None
        self._press_known = False

    # -- what is shown --------------------------------------------------------------------------
    def show_ordered(self, ordered: Ordered, strips: tuple[Strip, ...]) -> None:
        """Show the matrix in an order, with strips of the columns above it."""
        self.ordered, self.strips = ordered, strips
        self.show_blocks()

    def show_blocks(self) -> None:
        """Show the blocks as they are now over the same cells."""
        ordered = self.ordered
        if self.blocks.data is None or ordered is None:
            return
        panels = panels_of(self.blocks, ordered, self.strips, self.outlined)
        self.set_picture(Picture("Blocks in the re-ordered matrix", panels=panels))
        self.setAccessibleDescription(
            tr(
                "Arrow keys move over the cells, square brackets step through the blocks, "
                "Enter opens the sub-matrix of the chosen block, Escape goes back."
            )
        )

    @property
    def map_frame(self) -> Frame:
        """Where the matrix is."""
        return self.frames.frames[-1]

    def _shown_regions(self) -> tuple[Regions, list[int]] | None:
        """The outlines and the numbers of their blocks."""
        mark = self.map_frame.panel.marks[-1] if self.picture is not None else None
        if not isinstance(mark, Regions):
            return None
        return mark, [int(text) - 1 for text in mark.short]

    def parts(self, block: int) -> list[QRectF]:
        """Outlines of a block in pixels."""
        found = self._shown_regions()
        if found is None or block not in found[1]:
            return []
        return region_parts(found[0], self.map_frame, found[1].index(block))

    def tag_rect(self, block: int) -> QRectF:
        """Where the tag of a block is; empty when it has none."""
        return next((rect for rect, other in self._tags() if other == block), QRectF())

    def _tags(self) -> list[tuple[QRectF, int]]:
        found = self._shown_regions()
        if found is None:
            return []
        mark, blocks = found
        places = tag_places(mark, self.map_frame, screen_style())
        return [(rect, blocks[region]) for region, (rect, _) in places.items()]

    # -- the part that is shown -----------------------------------------------------------------
    def _set_zoom(self, zoom: Zoom) -> None:
        before = self.zoom
        super()._set_zoom(zoom)
        if self.zoom != before:
            self.view_changed.emit()

    @property
    def visible_range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Places in view: (first row, end row), (first column, end column)."""
        rows, columns = self.map_frame.y.scaling, self.map_frame.x.scaling
        return (rows.low + 0.5, rows.high + 0.5), (columns.low + 0.5, columns.high + 0.5)

    def show_part(self, rows: tuple[float, float], columns: tuple[float, float]) -> None:
        """Show these places."""
        assert self.ordered is not None
        windows = [
            within(low / length, min((high - low) / length, 1.0))
            for (low, high), length in zip(
                (rows, columns), (len(self.ordered.row_order), len(self.ordered.column_order)), strict=True
            )
        ]
        self._set_zoom(Zoom(windows[1], {len(self.frames.frames) - 1: windows[0]}))

    def show_block(self, block: int) -> None:
        """Zoom to the rows and columns of a block, with a little around it."""
        if self.ordered is None:
            return
        rows, columns = self.blocks.masks
        spans = []
        for mask, order in (
            (rows[block], self.ordered.row_order),
            (columns[block], self.ordered.column_order),
        ):
            places = np.flatnonzero(mask[order])
            if not len(places):
                return
            around = 0.04 * (places[-1] + 1 - places[0]) + space.XS / 8
            spans.append((float(places[0]) - around, float(places[-1]) + 1 + around))
        self.show_part(spans[0], spans[1])

    def go_to(self, row: int | None = None, column: int | None = None) -> None:
        """Bring a row or column of the data into view, so near that its name has room."""
        if self.ordered is None:
            return
        orders = (("y", row, self.ordered.row_order), ("x", column, self.ordered.column_order))
        for axis, item, order in orders:
            places = np.flatnonzero(order == item) if item is not None else np.empty(0, int)
            if len(places):  # it may be one of the rows that are still being read
                self.bring(len(self.frames.frames) - 1, axis, float(places[0]), True)

    # -- pointer --------------------------------------------------------------------------------
    def point_of(self, row: int, column: int) -> QPointF:
        """The middle of the cell of a row and a column of the data."""
        assert self.ordered is not None
        y = int(np.flatnonzero(self.ordered.row_order == row)[0])
        x = int(np.flatnonzero(self.ordered.column_order == column)[0])
        return QPointF(self.map_frame.x.at(x), self.map_frame.y.at(y))

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Row and column of the data under a point."""
        if self.ordered is None or self.picture is None or not self.map_frame.area.contains(at):
            return None
        n, m = len(self.ordered.row_order), len(self.ordered.column_order)
        row = min(max(round(self.map_frame.y.value(at.y())), 0), n - 1)
        column = min(max(round(self.map_frame.x.value(at.x())), 0), m - 1)
        return int(self.ordered.row_order[row]), int(self.ordered.column_order[column])

    def block_at(self, at: QPointF) -> int | None:
        """The block whose tag or cell lies under a point; of several the smallest."""
        for rect, block in self._tags() if self.picture is not None else ():
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
        if clicked and event.button() == Qt.MouseButton.LeftButton and self.outlined:
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
