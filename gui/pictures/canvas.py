"""The canvas of the window: a picture that is read, walked over, zoomed, and whose marks select what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.pictures import Cells, Picture, Rule, describe
from plaidwork.gui.pictures import moving
from plaidwork.gui.pictures.cells import paint_lines_of, paint_places
from plaidwork.gui.pictures.frame import WHOLE, Layout, Window, Zoom, lay_out, least_height
from plaidwork.gui.pictures.hits import Spot, alike, mark_of, rule_at, spot_at, spots_of, stepped, text_of
from plaidwork.gui.pictures.marks import paint_mark
from plaidwork.gui.pictures.moving import LastPaint, paint_moved
from plaidwork.gui.pictures.paint import paint_picture, paint_spots
from plaidwork.gui.pictures.style import Style, screen_style
from plaidwork.gui.theme import size, space, theme

EDGE = 4
"""Pixels around the picture, for the ring of the focus."""
_NOTCH, _CLOSEST = 0.8, 1e-4
_MOST_MARKED = 2000


class PictureCanvas(QWidget):
    """Draws a :class:`Picture` and everything that is done to it by hand.

    The marks are painted once into a pixmap; pointing and selecting only paint over it.

    Signals
    -------
    hovered : what is under the pointer or the keys, in words
    chosen : id of a choice and its value that a mark is which was clicked
    moved : id of a choice whose line is dragged, its value, and whether it was let go
    picked : kind and numbers of the items of a mark that was clicked; an empty kind where nothing is
    """

    hovered = Signal(str)
    picked = Signal(str, object)
    chosen = Signal(str, str)
    moved = Signal(str, float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture: Picture | None = None
        self.current: Spot | None = None
        self.selected: dict[str, frozenset[int]] = {}
        self.pointed: dict[tuple[int, str], np.ndarray] = {}
        self.zoom = Zoom()
        self._export_ratio = 0.0
        self._layout: Layout | None = None
        self._painted: QPixmap | None = None
        self._pressed: tuple[QPointF, Zoom] | None = None
        self._dragged = False
        self._held: tuple[int, Rule] | None = None
        self._held_at = 0.0
        self._last: LastPaint | None = None
        self._settle = QTimer(self, singleShot=True, interval=moving.SETTLE)
        self._settle.timeout.connect(self.update)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme().changed.connect(self.redraw)

    def sizeHint(self) -> QSize:
        return QSize(560, 380)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 160)

    # -- what is shown --------------------------------------------------------------------------
    def set_picture(self, picture: Picture) -> None:
        """Show another picture, whole unless it is the same one with newer numbers; its accessible name are its words."""
        old, self.picture, self.current = self.picture, picture, None
        self._last = None
        self.pointed = {}
        if old is None or (old.choices, len(old.panels)) != (picture.choices, len(picture.panels)):
            self.zoom = Zoom()
        self.setAccessibleName(describe(picture, rows=0).splitlines()[0])
        self.setAccessibleDescription(describe(picture))
        self._fit()
        self.redraw()

    def _fit(self) -> None:
        """Be as high as the panels of a grid need; a page scrolls what it has no room for."""
        if self.picture is not None and self.picture.grid is not None:
            needed = least_height(self.picture, self.width() - 2 * EDGE, screen_style()) + 2 * EDGE
            self.setMinimumHeight(max(int(needed), self.minimumSizeHint().height()))

    def redraw(self) -> None:
        """Lay out and paint anew, as after a change of colours or of size."""
        self._layout = self._painted = None
        self.update()

    def set_selected(self, selected: Mapping[str, tuple[int, ...]]) -> None:
        """Mark the pieces of these items, by kind."""
        self.selected = {kind: frozenset(items) for kind, items in selected.items() if items}
        self.update()

    def bounds(self) -> tuple[float, float] | None:
        """Pixels between which the marks lie across, to stand below another widget; None lets the texts decide."""
        return None

    def set_export_ratio(self, ratio: float) -> None:
        """While above 0, paint onto a file of another page, mark by mark."""
        self._export_ratio = ratio

    @property
    def frames(self) -> Layout:
        """Where everything stands now."""
        assert self.picture is not None
        if self._layout is None:
            rect = QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE)
            self._layout = lay_out(self.picture, rect, screen_style(), self.zoom, self.bounds())
        return self._layout

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.picture is None:
            return
        style = screen_style()
        if self._export_ratio:
            on_file = QPainter(self)
            paint_picture(on_file, self.frames, style)
            on_file.end()
            return
        painter = QPainter(self)
        if self._last is not None and not self.settled:
            paint_moved(painter, self._last, self.frames.frames[0], style)
        else:
            painter.drawPixmap(0, 0, self._whole_painted(style))
        for kind, items in self.selected.items():
            spots = [spot for spot, _ in zip(spots_of(self.picture, kind, items), range(_MOST_MARKED))]
            paint_spots(painter, self.picture, self.frames, spots, style, True)
            for frame in self.frames.frames:
                for mark in frame.panel.marks:
                    if isinstance(mark, Cells):
                        paint_lines_of(mark, painter, frame, kind, items, style)
        for (panel, axis), places in self.pointed.items():
            paint_places(painter, self.frames.frames[panel], axis, places, style)
        if self.current is not None:
            paint_spots(painter, self.picture, self.frames, alike(self.picture, self.current), style, False)
        if self._held is not None and self._dragged:
            panel, rule = self._held
            held = replace(rule, at=[self._held_at], width=2.0)
            paint_mark(held, painter, self.frames.frames[panel], style)
        if self.hasFocus():
            painter.setPen(QPen(theme().color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _whole_painted(self, style: Style) -> QPixmap:
        """The picture without what is pointed at; painted once."""
        if self._painted is None:
            begun, ratio = perf_counter(), self.devicePixelRatioF()
            self._painted = QPixmap(self.size() * ratio)
            self._painted.setDevicePixelRatio(ratio)
            self._painted.fill(style.color("surface"))
            below = QPainter(self._painted)
            paint_picture(below, self.frames, style)
            below.end()
            slow = perf_counter() - begun >= moving.SLOW and len(self.frames.frames) == 1
            self._last = LastPaint(self._painted, self.frames.frames[0]) if slow else None
        return self._painted

    # -- pointing and walking -------------------------------------------------------------------
    def show_spot(self, spot: Spot | None) -> None:
        """Mark a piece and tell it."""
        if spot != self.current and self.picture is not None:
            self.current = spot
            self.hovered.emit("" if spot is None else text_of(self.picture, spot))
            self.update()

    def point_out(self, places: Mapping[tuple[int, str], np.ndarray]) -> None:
        """Point at places of axes, "x" or "y" of a panel, and bring the first of each so near that its name has room."""
        self.pointed = {key: np.asarray(found, dtype=float) for key, found in places.items() if len(found)}
        room = 1.3 * screen_style().metrics().height()
        for (panel, axis), found in self.pointed.items():
            self._bring(panel, axis, float(found[0]), room)
        self.update()

    def _bring(self, panel: int, axis: str, value: float, room: float = 0.0) -> None:
        """Move the part that is shown so that it holds a value; ``room`` are the least pixels of its unit."""
        frame = self.frames.frames[panel]
        pixels = frame.x if axis == "x" else frame.y
        window = self.zoom.x if axis == "x" else self.zoom.y.get(panel, WHOLE)
        whole = (frame.panel if axis == "y" else self.picture.panels[0]).scaling(axis)
        low, high = whole.shares(np.array([value - 0.5, value + 0.5])).tolist()
        long = window[1] - window[0]
        if room:
            long = min(long, (high - low) * abs(pixels.end - pixels.start) / room)
            moved = _kept((low + high - long) / 2, long)
        else:
            moved = _kept(window[0] + min(low - window[0], 0.0) + max(high - window[1], 0.0), long)
        if moved != window:
            up = dict(self.zoom.y)
            if axis == "y":
                up[panel] = moved
            self._set_zoom(Zoom(moved if axis == "x" else self.zoom.x, up))

    def _walk(self, step: int, jump: int) -> None:
        """To another piece by the keys; a part that is shown moves along."""
        assert self.picture is not None
        spot = stepped(self.picture, self.current, step, jump, self.frames.across)
        self.show_spot(spot)
        if spot is not None and self.zoomed and isinstance(mark_of(self.picture, spot), Cells):
            for axis, value in zip("xy", mark_of(self.picture, spot).middle(spot.piece), strict=True):
                self._bring(spot.panel, axis, value)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.DevicePixelRatioChange):
            self._fit()
            self.redraw()
        return super().event(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.show_spot(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk along a mark, up and down to another; Enter selects, + and − zoom, 0 shows all.

        With Ctrl the arrows move the part that is shown.
        """
        key = Qt.Key(event.key())
        step = {
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_PageDown: 10,
            Qt.Key.Key_PageUp: -10,
        }.get(key, 0)
        jump = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)
        turn = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Minus: -1}.get(key, 0)
        if self.picture is None:
            super().keyPressEvent(event)
        elif (step or jump) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._shift(step, jump)
        elif step or jump:
            self._walk(step, jump)
        elif turn:
            self.zoom_about(self.frames.frames[0].area.center(), turn)
        elif key == Qt.Key.Key_0:
            self.reset_view()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None:
            self._pick(self.current)
        else:
            super().keyPressEvent(event)

    def _pick(self, spot: Spot | None) -> None:
        items = mark_of(self.picture, spot).items(spot.piece) if spot and self.picture else None
        self.picked.emit(*(items or ("", ())))
        if spot and self.picture and (choice := mark_of(self.picture, spot).choice) is not None:
            self.chosen.emit(choice[0], choice[1][spot.piece])

    # -- zoom and pan ---------------------------------------------------------------------------
    @property
    def settled(self) -> bool:
        """Whether the picture is painted as it should be; not while a large one is moved."""
        return not self._settle.isActive()

    @property
    def zoomed(self) -> bool:
        """Whether a part is shown."""
        return not self.zoom.whole

    def reset_view(self) -> None:
        """Show all."""
        self._set_zoom(Zoom())

    def _set_zoom(self, zoom: Zoom) -> None:
        if zoom != self.zoom:
            self.zoom = zoom
            if self._last is not None:
                self._settle.start()
            self.redraw()

    def _shift(self, right: int, down: int) -> None:
        """Move the part of the first panel that is shown by a tenth."""
        window = self.zoom.y.get(0, WHOLE)
        sign = 1 if self.frames.frames[0].panel.y.down else -1
        across = _moved(self.zoom.x, right * (self.zoom.x[1] - self.zoom.x[0]) / 10)
        up = _moved(window, sign * down * (window[1] - window[0]) / 10)
        self._set_zoom(Zoom(across, {**self.zoom.y, 0: up} if up != window else dict(self.zoom.y)))

    def _panel_at(self, at: QPointF) -> int | None:
        for p, frame in enumerate(self.frames.frames):
            if frame.area.adjusted(-EDGE, -EDGE, EDGE, EDGE).contains(at):
                return p if frame.panel.zoom else None
        return None

    def zoom_about(self, at: QPointF, notches: float) -> bool:
        """Zoom in (positive) or out about a point; False where there is nothing to zoom."""
        p = self._panel_at(at) if self.picture else None
        if p is None:
            return False
        frame, factor = self.frames.frames[p], _NOTCH**notches
        across = _scaled(self.zoom.x, (at.x() - frame.area.left()) / frame.area.width(), factor)
        up = dict(self.zoom.y)
        if "y" in frame.panel.zoom:
            share = (at.y() - frame.y.start) / (frame.y.end - frame.y.start)
            up[p] = _scaled(up.get(p, WHOLE), share, factor)
        self._set_zoom(Zoom(across, up))
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        zoomed = self.zoom_about(event.position(), event.angleDelta().y() / 120)
        event.setAccepted(zoomed)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.picture is not None:
            self._pressed, self._dragged = (event.position(), self.zoom), False
            self._held = rule_at(self.frames, event.position())
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Read what is under the pointer, or move the part that is shown."""
        if self.picture is None:
            return
        if self._held is not None:
            self._move_rule(event.position(), False)
        elif self._pressed is not None and self.zoomed:
            self._drag(event.position())
        else:
            self._show_grip(event.position())
            self.show_spot(spot_at(self.picture, self.frames, event.position()))

    def _show_grip(self, at: QPointF) -> None:
        found = rule_at(self.frames, at)
        shapes = {"x": Qt.CursorShape.SizeHorCursor, "y": Qt.CursorShape.SizeVerCursor}
        self.setCursor(shapes[found[1].axis] if found else Qt.CursorShape.ArrowCursor)

    def _move_rule(self, to: QPointF, done: bool) -> None:
        """The line that is held goes along at once; whoever draws the picture follows."""
        assert self._held is not None
        panel, rule = self._held
        frame = self.frames.frames[panel]
        scale, at = (frame.x, to.x()) if rule.axis == "x" else (frame.y, to.y())
        value = scale.value(min(max(at, min(scale.start, scale.end)), max(scale.start, scale.end)))
        self._dragged, self._held_at = True, value
        self.moved.emit(rule.drags, value, done)
        self.update()

    def _drag(self, to: QPointF) -> None:
        assert self._pressed is not None
        start, zoom = self._pressed
        away = to - start
        p = self._panel_at(start)
        if p is None or (not self._dragged and away.manhattanLength() < space.XS):
            return
        self._dragged = True
        frame = self.frames.frames[p]
        across = _moved(zoom.x, -away.x() / frame.area.width())
        up = dict(zoom.y)
        if p in up:
            up[p] = _moved(up[p], -away.y() / (frame.y.end - frame.y.start))
        self._set_zoom(Zoom(across, up))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click that moved nothing selects what the mark stands for."""
        pressed, self._pressed = self._pressed, None
        if self._held is not None and self._dragged:
            self._move_rule(event.position(), True)
        self._held = None
        if event.button() == Qt.MouseButton.LeftButton and pressed is not None and not self._dragged:
            self._pick(spot_at(self.picture, self.frames, event.position()) if self.picture else None)
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        self.reset_view()


def _scaled(window: Window, share: float, factor: float) -> Window:
    """The part of a scale after zooming about a share of what is shown."""
    low, high = window
    at, long = low + share * (high - low), min(max((high - low) * factor, _CLOSEST), 1.0)
    return _kept(at - share * long, long)


def _moved(window: Window, by: float) -> Window:
    long = window[1] - window[0]
    return _kept(window[0] + by * long, long)


def _kept(low: float, long: float) -> Window:
    """A window of this length within the whole."""
    low = min(max(low, 0.0), 1.0 - long)
    return WHOLE if long >= 1 else (low, low + long)
