"""A matrix as picture: painted cells, annotation strips, labels when they fit, zoom, pan, read-out."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.pictures.rasters import cell_pixels, image_of
from plaidwork.gui.pictures.style import screen_style
from plaidwork.gui.results import heat_paint
from plaidwork.gui.results.heat_paint import RING
from plaidwork.gui.results.heat_picture import Picture, inside
from plaidwork.gui.theme import size, theme

__all__ = ["RING", "HeatCanvas", "Picture"]


class HeatCanvas(QWidget):
    """Paints a `Picture`. Wheel zooms about the pointer, drag pans, double click shows all.

    Keys: arrows move a cell cursor (Ctrl+arrows pan), + and - zoom, 0 or Home shows all.

    Signals
    -------
    hovered_cell : original row and column under the pointer or cursor, (-1, -1) when none
    clicked_cell : original row and column that was clicked, (-1, -1) beside the cells
    """

    hovered_cell = Signal(int, int)
    clicked_cell = Signal(int, int)
    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture: Picture | None = None
        self.show_labels = True
        self.marked_rows: tuple[int, ...] = ()
        self.marked_columns: tuple[int, ...] = ()
        self._rows, self._columns = (0.0, 1.0), (0.0, 1.0)
        self._plot = QRectF()
        self._image: tuple[tuple[object, ...], QImage] | None = None
        self._ratio_override = 0.0
        self._moving = False
        self._pressed: QPointF | None = None
        self._dragged = False
        self._drag_from = ((0.0, 1.0), (0.0, 1.0))
        self._cursor: tuple[int, int] | None = None
        self._settle = QTimer(self, singleShot=True, interval=160)
        self._settle.timeout.connect(self._settled)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAccessibleName("Matrix picture")
        theme().changed.connect(self.restyle)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 140)

    def sizeHint(self) -> QSize:
        return QSize(640, 440)

    def restyle(self) -> None:
        """Take colours and fonts from the theme."""
        self._image = None
        self.update()

    # -- content --------------------------------------------------------------------------------
    def set_picture(self, picture: Picture | None) -> None:
        """Show another picture; the part in view stays when the shape does."""
        old = self.picture
        self.picture = picture
        self._image = None
        if picture is None or old is None or old.shape != picture.shape:
            self._cursor = None
            self.reset_view()
        self._lay_out()
        self.update()

    # -- view -----------------------------------------------------------------------------------
    @property
    def zoomed(self) -> bool:
        """Whether only a part is in view."""
        if self.picture is None:
            return False
        n, m = self.picture.shape
        return self._rows != (0.0, float(n)) or self._columns != (0.0, float(m))

    @property
    def visible_range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Places in view: (first row, end row), (first column, end column)."""
        return self._rows, self._columns

    def reset_view(self) -> None:
        """Show the whole matrix."""
        n, m = self.picture.shape if self.picture is not None else (1, 1)
        self.set_view((0.0, float(n)), (0.0, float(m)))

    def set_view(self, rows: tuple[float, float], columns: tuple[float, float]) -> None:
        """Show these places; moved inside the matrix, at least two cells."""
        if self.picture is None:
            return
        n, m = self.picture.shape
        self._rows, self._columns = inside(rows, n), inside(columns, m)
        self._lay_out()
        self.view_changed.emit()
        self.update()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Show ``factor`` times as much, the place under ``at`` staying where it is."""
        if self.picture is None:
            return
        at = at or self._plot.center()
        y, x = self._position(at)
        n, m = self.picture.shape
        spans = []
        for (low, high), position, length in ((self._rows, y, n), (self._columns, x, m)):
            span = min(max((high - low) * factor, min(2.0, length)), float(length))
            share = (position - low) / (high - low)
            spans.append((position - share * span, position + (1 - share) * span))
        self._hold(spans[0], spans[1])
        # labels may have come or gone: bring the place back under the pointer
        y2, x2 = self._position(at)
        if max(abs(y2 - y), abs(x2 - x)) > 1e-9 and self._plot.contains(at):
            (a, b), (c, d) = self._rows, self._columns
            self.set_view((a + y - y2, b + y - y2), (c + x - x2, d + x - x2))

    def _hold(self, rows: tuple[float, float], columns: tuple[float, float]) -> None:
        """Set the view; drawing may be coarse until it rests."""
        self._moving = True
        self._settle.start()
        self.set_view(rows, columns)

    def _settled(self) -> None:
        self._moving = False
        self._image = None
        self.update()

    def _position(self, at: QPointF) -> tuple[float, float]:
        """Row and column place at a point, as real numbers."""
        plot = self._plot
        (top, bottom), (left, right) = self._rows, self._columns
        y = top + (at.y() - plot.top()) / max(plot.height(), 1) * (bottom - top)
        x = left + (at.x() - plot.left()) / max(plot.width(), 1) * (right - left)
        return y, x

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Original row and column under a point."""
        if self.picture is None or not self._plot.contains(at):
            return None
        y, x = self._position(at)
        n, m = self.picture.shape
        row, column = min(int(y), n - 1), min(int(x), m - 1)
        return int(self.picture.row_order[row]), int(self.picture.column_order[column])

    def point_of(self, row: int, column: int) -> QPointF:
        """Centre of the cell of an original row and column, for tests and tool tips."""
        assert self.picture is not None
        y = int(np.flatnonzero(self.picture.row_order == row)[0]) + 0.5
        x = int(np.flatnonzero(self.picture.column_order == column)[0]) + 0.5
        return QPointF(self.x_of(x), self.y_of(y))

    @property
    def plot(self) -> QRectF:
        """Where the cells are, in logical pixels."""
        return self._plot

    def device_length(self, length: float) -> int:
        """A length in device pixels, at least one."""
        return max(round(length * self.pixel_ratio()), 1)

    def x_of(self, position: float) -> float:
        """Logical x of a column place, on a device pixel."""
        (left, right), plot, ratio = self._columns, self._plot, self.pixel_ratio()
        x = plot.left() + (position - left) / (right - left) * plot.width()
        return float(np.floor(x * ratio + 0.5) / ratio)

    def y_of(self, position: float) -> float:
        """Logical y of a row place, on a device pixel."""
        (top, bottom), plot, ratio = self._rows, self._plot, self.pixel_ratio()
        y = plot.top() + (position - top) / (bottom - top) * plot.height()
        return float(np.floor(y * ratio + 0.5) / ratio)

    # -- layout ---------------------------------------------------------------------------------
    def pixel_ratio(self) -> float:
        """Device pixels a logical one, of the screen or of the file being written."""
        return self._ratio_override or self.devicePixelRatioF()

    def set_export_ratio(self, ratio: float) -> None:
        """Draw cells for this many device pixels a logical one; 0 for those of the screen."""
        self._ratio_override = ratio
        self._image = None

    def _lay_out(self) -> None:
        if self.picture is not None:
            self._plot = heat_paint.lay_out(self)

    def caption_metrics(self) -> QFontMetricsF:
        """Metrics of the font of labels and tags."""
        return QFontMetricsF(theme().font("caption"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()
        super().resizeEvent(event)

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Strips, cells, labels; subclasses draw on top in `paint_over`."""
        if self.picture is None:
            return
        self._lay_out()
        painter = QPainter(self)
        painter.setFont(theme().font("caption"))
        self._paint_image(painter)
        heat_paint.paint_strips(self, painter)
        painter.save()
        painter.setClipRect(self._plot.adjusted(-3, -3, 3, 3))
        self.paint_over(painter)
        self._paint_cursor(painter)
        painter.restore()
        heat_paint.paint_labels(self, painter)
        heat_paint.paint_marks(self, painter)
        if self.hasFocus() and not self._ratio_override:
            painter.setPen(QPen(theme().color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def paint_over(self, painter: QPainter) -> None:
        """For subclasses: what lies over the cells."""

    def _paint_image(self, painter: QPainter) -> None:
        assert self.picture is not None
        picture, plot = self.picture, self._plot
        ratio = self.pixel_ratio()
        w, h = self.device_length(plot.width()), self.device_length(plot.height())
        coarse = 2 if self._moving and w * h > 1_000_000 and not self._ratio_override else 1
        key = (picture.pyramid, self._rows, self._columns, w, h, self._moving, theme().scheme, picture.limits)
        if self._image is None or self._image[0] != key:
            sample = picture.pyramid.sample(
                self._rows, self._columns, h // coarse or 1, w // coarse or 1, coarse=self._moving
            )
            fine = max(1, round(ratio / coarse))
            self._image = (
                key,
                image_of(cell_pixels(sample, picture.limits, picture.lut, screen_style(), fine)),
            )
        painter.drawImage(plot, self._image[1])

    def _paint_cursor(self, painter: QPainter) -> None:
        if self._cursor is None or not self.hasFocus():
            return
        row, column = self._cursor
        x, y = self.x_of(column), self.y_of(row)
        rect = QRectF(x, y, max(self.x_of(column + 1) - x, 3), max(self.y_of(row + 1) - y, 3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((theme().color("surface"), 4), (QColor(theme().color("text")), 2)):
            painter.setPen(QPen(color, width))
            painter.drawRect(rect.adjusted(-1, -1, 1, 1))

    # -- mouse ----------------------------------------------------------------------------------
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        steps = event.angleDelta().y() / 120
        if steps:
            self.zoom(0.8**steps, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragged = event.position(), False
            self._drag_from = (self._rows, self._columns)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag pans; otherwise tell the cell under the pointer."""
        if self._pressed is not None and event.buttons() & Qt.MouseButton.LeftButton:
            moved = event.position() - self._pressed
            if self._dragged or moved.manhattanLength() > 4:
                self._dragged = True
                (a, b), (c, d) = self._drag_from
                dy = -moved.y() / self._plot.height() * (b - a)
                dx = -moved.x() / self._plot.width() * (d - c)
                self._hold((a + dy, b + dy), (c + dx, d + dx))
                if self.zoomed:
                    self.setCursor(Qt.CursorShape.ClosedHandCursor)
                return
        self._tell(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        self._pressed = None
        self.unsetCursor()
        if not self._dragged:
            self.clicked_cell.emit(*(self.cell_at(event.position()) or (-1, -1)))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        self.reset_view()

    def leaveEvent(self, event: QEvent) -> None:
        self._tell(None)
        super().leaveEvent(event)

    def _tell(self, cell: tuple[int, int] | None) -> None:
        self.hovered_cell.emit(*(cell or (-1, -1)))

    # -- keys -----------------------------------------------------------------------------------
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows, zoom keys; the rest goes to the parent."""
        moves = {
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
        }
        if event.key() in moves and self.picture is not None:
            self._step(
                *moves[Qt.Key(event.key())], bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            )
        elif event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(0.8)
        elif event.key() == Qt.Key.Key_Minus:
            self.zoom(1.25)
        elif event.key() in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.reset_view()
        else:
            super().keyPressEvent(event)

    def _step(self, down: int, right: int, pan: bool) -> None:
        assert self.picture is not None
        (a, b), (c, d) = self._rows, self._columns
        if pan:
            dy, dx = down * (b - a) / 10, right * (d - c) / 10
            self.set_view((a + dy, b + dy), (c + dx, d + dx))
            return
        n, m = self.picture.shape
        row, column = self._cursor or (int(a) - down, int(c) - right)
        row, column = min(max(row + down, 0), n - 1), min(max(column + right, 0), m - 1)
        self._cursor = (row, column)
        self._show_position(row, column)
        self._tell((int(self.picture.row_order[row]), int(self.picture.column_order[column])))
        self.update()

    def _show_position(self, row: int, column: int) -> None:
        (a, b), (c, d) = self._rows, self._columns
        dy = min(row - a, 0) + max(row + 1 - b, 0)
        dx = min(column - c, 0) + max(column + 1 - d, 0)
        if dy or dx:
            self.set_view((a + dy, b + dy), (c + dx, d + dx))

    def go_to(self, row: int | None = None, column: int | None = None) -> None:
        """Bring an original row or column into view, zooming in until its label fits."""
        if self.picture is None:
            return
        spans = [self._rows, self._columns]
        for axis, item in enumerate((row, column)):
            if item is None:
                continue
            order = (self.picture.row_order, self.picture.column_order)[axis]
            position = int(np.flatnonzero(order == item)[0]) + 0.5
            extent = (self._plot.height(), self._plot.width())[axis]
            span = min(spans[axis][1] - spans[axis][0], extent / (1.3 * self.caption_metrics().height()))
            spans[axis] = (position - span / 2, position + span / 2)
        self.set_view(*spans)
