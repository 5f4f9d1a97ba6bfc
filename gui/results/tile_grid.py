"""The field of tiles: one image per factor, one of them enlarged, or beside the mean image of each class."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from plaidwork.core.pictures.words import capital
from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.chart import Chart, elided
from plaidwork.gui.results.images import Images
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.tile_paint import (
    GAP,
    Layout,
    fitted,
    foot_height,
    lay_out,
    paint_foot,
    paint_frame,
    tile_image,
    tile_names,
)
from plaidwork.gui.theme import space, theme

_EDGE = RING + 3
"""Room for the ring of a chosen tile at the edge."""


class TileGrid(Chart):
    """Tiles in an order; arrows move, Enter enlarges, Space compares, Esc goes back.

    Signals
    -------
    chosen : number of the image that was chosen
    mode_changed : enlarged, compared or all were put up
    """

    chosen = Signal(int)
    mode_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.images: Images | None = None
        self.order = np.zeros(0, dtype=np.intp)
        self.scale, self.group, self.current = "shared", 0, 0
        self.enlarged = self.comparing = False
        self._ratio = 0.0
        self._pixmaps: dict[tuple[object, ...], QPixmap] = {}
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.bar.valueChanged.connect(self.update)
        self.bar.hide()

    # -- content --------------------------------------------------------------------------------
    def set_images(self, images: Images) -> None:
        """Show other images."""
        self.images = images
        self._pixmaps.clear()
        self.current = min(self.current, len(images.values) - 1)
        self.comparing = self.comparing and images.means is not None

    def set_shown(self, order: np.ndarray, scale: str, group: int) -> None:
        """Show the images in an order, on a scale, with the bars of a classifier."""
        if scale != self.scale:
            self._pixmaps.clear()
        self.order, self.scale, self.group = order, scale, group
        self._fit_bar()
        self._name()
        self.update()

    def choose(self, k: int) -> None:
        """Mark an image and bring it into view."""
        if self.images is None or not 0 <= k < len(self.images.values):
            return
        self.current = k
        if not self.enlarged and k in self.order:
            rect = self.layout_now().rect(self._position(k), 0, 0)
            bottom = rect.bottom() + foot_height() + 2 * _EDGE
            if rect.top() < self.bar.value():
                self.bar.setValue(int(rect.top()))
            elif bottom > self.bar.value() + self.height():
                self.bar.setValue(math.ceil(bottom - self.height()))
        self._name()
        self.update()

    def _name(self) -> None:
        assert self.images is not None
        self.setAccessibleName(f"{len(self.order)} images; {self.images.names[self.current]} is chosen")

    def enlarge(self, on: bool, compare: bool = False) -> None:
        """Show the chosen image alone, perhaps with the mean images; or all again."""
        compare = on and compare and self.images is not None and self.images.means is not None
        if (on, compare) != (self.enlarged, self.comparing):
            self.enlarged, self.comparing = on, compare
            self._fit_bar()
            self.choose(self.current)
            self.mode_changed.emit()

    def restyle(self) -> None:
        self._pixmaps.clear()
        self._fit_bar()
        self.update()

    def set_export_ratio(self, ratio: float) -> None:
        """Device pixels a logical one while a picture is written; 0 for those of the screen."""
        self._ratio = ratio

    # -- places ---------------------------------------------------------------------------------
    def aspect(self) -> float:
        """Height by width of a tile; very long images stand in a shorter one."""
        assert self.images is not None
        high, wide = self.images.shape
        return min(max(high / wide, 0.25), 2.5)

    def layout_now(self) -> Layout:
        """Places of the tiles at the size there is."""
        room, width = self.height() - 2 * _EDGE, self.width() - 2 * _EDGE
        found = lay_out(len(self.order), self.aspect(), width, room, foot_height())
        if found.whole > room:
            width -= self.bar.sizeHint().width() + GAP
            found = lay_out(len(self.order), self.aspect(), width, room, foot_height())
        return found

    def _position(self, k: int) -> int:
        return int(np.flatnonzero(self.order == k)[0])

    def tile_rect(self, k: int) -> QRectF:
        """Where an image is, with the scroll bar as it stands."""
        return self.layout_now().rect(self._position(k), _EDGE, _EDGE - self.bar.value())

    def _fit_bar(self) -> None:
        if self.images is None or not len(self.order):
            return
        extra = 0 if self.enlarged else math.ceil(self.layout_now().whole + 2 * _EDGE - self.height())
        self.bar.setRange(0, max(extra, 0))
        self.bar.setPageStep(self.height())
        self.bar.setSingleStep(40)
        self.bar.setVisible(extra > 0)
        wide = self.bar.sizeHint().width()
        self.bar.setGeometry(self.width() - wide - RING, RING, wide, max(self.height() - 2 * RING, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_bar()

    def panels(self) -> list[tuple[str, QRectF, np.ndarray, str, np.ndarray]]:
        """While one is enlarged: title, place, steps, colour map and numbers of each image shown."""
        images = self.images
        assert images is not None
        name = capital(images.names[self.current])
        shown = [(name, images.steps(self.scale)[self.current], images.map_name, images.values[self.current])]
        if self.comparing and images.means is not None and images.mean_steps is not None:
            for c, title in enumerate(images.classes):
                shown.append((f"Mean of {title}", images.mean_steps[c], "tide", images.means[c]))
        head = self.caption_metrics.height() + space.S
        best: tuple[float, int] = (0.0, 1)
        width, height = self.width() - 2 * _EDGE, self.height() - 2 * _EDGE
        for columns in range(1, len(shown) + 1):
            rows = -(-len(shown) // columns)
            cell = QRectF(0, 0, (width - GAP * (columns - 1)) / columns, (height - GAP * (rows - 1)) / rows)
            inner = fitted(cell.adjusted(0, head, 0, 0), self.aspect()).width()
            best = max(best, (inner, columns), key=lambda item: item[0])
        columns = best[1]
        rows = -(-len(shown) // columns)
        wide, high = (width - GAP * (columns - 1)) / columns, (height - GAP * (rows - 1)) / rows
        found = []
        for i, (title, steps, lut, values) in enumerate(shown):
            row, column = divmod(i, columns)
            cell = QRectF(_EDGE + column * (wide + GAP), _EDGE + row * (high + GAP) + head, wide, high - head)
            rect = fitted(cell, self.aspect())
            rect.moveLeft(cell.left())
            found.append((title, rect, steps, lut, values))
        return found

    # -- painting -------------------------------------------------------------------------------
    def pixmap(self, key: tuple[object, ...], steps: np.ndarray, lut: str, rect: QRectF) -> QPixmap:
        """An image at the size of a place, kept until the colours change."""
        ratio = self._ratio or self.devicePixelRatioF()
        wide, high = max(1, round(rect.width() * ratio)), max(1, round(rect.height() * ratio))
        full = (*key, wide, high)
        found = self._pixmaps.get(full)
        if found is None:
            if len(self._pixmaps) > 600:
                self._pixmaps.clear()
            found = self._pixmaps[full] = QPixmap.fromImage(tile_image(steps, lut, wide, high))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.images is not None and len(self.order):
            if self.enlarged:
                self._paint_large(painter)
            else:
                clip = QRectF(self.rect())
                painter.setClipRect(clip)
                self.paint_tiles(painter, self.layout_now(), _EDGE, _EDGE - self.bar.value(), clip)
        self.paint_focus(painter)
        painter.end()

    def paint_tiles(
        self, painter: QPainter, layout: Layout, left: float, top: float, clip: QRectF | None = None
    ) -> None:
        """All tiles that touch ``clip`` (all without one)."""
        images = self.images
        assert images is not None
        steps, names = images.steps(self.scale), tile_names(images, layout.width)
        for position, k in enumerate(self.order):
            rect = layout.rect(position, left, top)
            if clip is not None and not clip.intersects(rect.adjusted(0, -GAP, 0, layout.foot + GAP)):
                continue
            pixmap = self.pixmap(("tile", int(k)), steps[k], images.map_name, rect)
            painter.drawPixmap(rect, pixmap, QRectF(pixmap.rect()))
            mine = int(k) == self.current
            paint_frame(painter, rect, mine)
            paint_foot(painter, images, names, int(k), self.group, rect, mine)

    def _paint_large(self, painter: QPainter) -> None:
        metrics = self.caption_metrics
        for title, rect, steps, lut, _ in self.panels():
            pixmap = self.pixmap(("large", title, self.current), steps, lut, rect)
            painter.drawPixmap(rect, pixmap, QRectF(pixmap.rect()))
            paint_frame(painter, rect, False)
            painter.setFont(theme().font("caption"))
            painter.setPen(theme().color("text"))
            line = QRectF(
                rect.left(), rect.top() - metrics.height() - space.XS, rect.width(), metrics.height()
            )
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, elided(metrics, title, line.width()))

    # -- pointer and keys -----------------------------------------------------------------------
    def tile_at(self, at: QPointF) -> int:
        """Number of the image under a place, with the line below it; -1 for none."""
        if self.images is None or self.enlarged or not len(self.order):
            return -1
        layout = self.layout_now()
        for position, k in enumerate(self.order):
            rect = layout.rect(position, _EDGE, _EDGE - self.bar.value())
            if rect.adjusted(0, 0, 0, layout.foot).contains(at):
                return int(k)
        return -1

    def read_out(self, at: QPointF) -> str:
        """Image, pixel and number under a place."""
        if self.images is None or not len(self.order):
            return ""
        if self.enlarged:
            shown = [(title, rect, values) for title, rect, _, _, values in self.panels()]
        else:
            k = self.tile_at(at)
            shown = [(self.images.names[k], self.tile_rect(k), self.images.values[k])] if k >= 0 else []
        for title, rect, values in shown:
            if rect.contains(at):
                row = min(int((at.y() - rect.top()) / rect.height() * values.shape[0]), values.shape[0] - 1)
                column = min(
                    int((at.x() - rect.left()) / rect.width() * values.shape[1]), values.shape[1] - 1
                )
                number = float(values[row, column])
                text = format_number(number, 3) if number == number else "left out"
                return f"{title}, row {row + 1}, column {column + 1}: {text}"
        return ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        k = self.tile_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and k >= 0:
            self.choose(k)
            self.chosen.emit(k)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Enlarge a tile, or show all again."""
        if self.enlarged or self.tile_at(event.position()) >= 0:
            self.enlarge(not self.enlarged)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.read_out(event.position()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.bar.event(event)

    def event(self, event: QEvent) -> bool:
        """Esc is this field's own while an image is enlarged."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Escape)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.images is None or not len(self.order):
            super().keyPressEvent(event)
            return
        key = Qt.Key(event.key())
        across = 1 if self.enlarged else self.layout_now().columns
        last = len(self.order) - 1
        moves = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -across,
            Qt.Key.Key_Down: across,
            Qt.Key.Key_Home: -last,
            Qt.Key.Key_End: last,
        }
        if key in moves:
            position = self._position(self.current) + moves[key]
            if abs(moves[key]) in (1, last) or 0 <= position <= last:
                k = int(self.order[min(max(position, 0), last)])
                self.choose(k)
                self.chosen.emit(k)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.enlarge(not self.enlarged)
        elif key == Qt.Key.Key_Space:
            self.enlarge(True, not self.comparing)
        elif key == Qt.Key.Key_Escape and self.enlarged:
            self.enlarge(self.comparing)
        else:
            super().keyPressEvent(event)


class TileSheet(QWidget):
    """All tiles of a field at once, for picture files; never on the screen."""

    def __init__(self, grid: TileGrid) -> None:
        super().__init__(grid)
        self.hide()
        self.grid = grid
        self._layout = lay_out(
            len(grid.order), grid.aspect(), grid.width() - 2 * _EDGE, grid.height(), foot_height()
        )
        self.resize(grid.width(), math.ceil(self._layout.whole + 2 * _EDGE))

    def isHidden(self) -> bool:
        """It is part of a picture all the same."""
        return False

    def set_export_ratio(self, ratio: float) -> None:
        """Device pixels a logical one in the file."""
        self.grid.set_export_ratio(ratio)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.grid.paint_tiles(painter, self._layout, _EDGE, _EDGE)
        painter.end()
