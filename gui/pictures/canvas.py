"""The canvas of the window: a picture that is read, walked over, zoomed, and whose marks select what they stand for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.pictures import Cells, Picture
from plaidwork.gui.language.pictures import described, told
from plaidwork.gui.pictures import hits, moving
from plaidwork.gui.pictures.cells import paint_lines_of, paint_places
from plaidwork.gui.pictures.frame import Layout, Zoom, lay_out
from plaidwork.gui.pictures.heights import least_height
from plaidwork.gui.pictures.held import Held, grip_at, held_at
from plaidwork.gui.pictures.hits import Spot, alike, mark_of, spot_at, spots_of, text_of
from plaidwork.gui.pictures.marks import paint_mark
from plaidwork.gui.pictures.moving import LastPaint, paint_moved, painted_of
from plaidwork.gui.pictures.paint import paint_spots, told_apart
from plaidwork.gui.pictures.part import goes_on, holds_points, paint_lasso
from plaidwork.gui.pictures.style import Style, screen_style
from plaidwork.gui.pictures.zooming import bringing, dragged, largest, panel_at, shifted, zoomed_about
from plaidwork.gui.theme import size, space, theme

EDGE = 4
"""Pixels around the picture, for the ring of the focus."""
_MOST_MARKED = 2000
_STEPS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_PageDown: 10, Qt.Key.Key_PageUp: -10}
_BUTTONS = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)
_MORE = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class PictureCanvas(QWidget):
    """Draws a :class:`Picture` and everything that is done to it by hand.

    The marks are painted once into a pixmap; pointing and selecting only paint over it.

    Signals
    -------
    hovered : what is under the pointer or the keys, in words
    chosen : id of a choice and its value that a mark is which was clicked
    moved : id of a choice whose line is dragged, its value, and whether it was let go
    picked : kind and numbers of the items of a mark that was clicked; an empty kind where nothing is
    twice : the same, of a mark that was clicked twice, where the picture does something then
    gathered : kind and numbers of items that a lasso holds, or of a mark clicked with Ctrl or Shift, and whether they come
        to those selected before
    reached : a place that has to be in view
    """

    hovered = Signal(str)
    picked = Signal(str, object)
    twice = Signal(str, object)
    chosen = Signal(str, str)
    moved = Signal(str, float, bool)
    gathered = Signal(str, object, bool)
    reached = Signal(QPointF)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture: Picture | None = None
        self.current: Spot | None = None
        self.selected: dict[str, frozenset[int]] = {}
        self.pointed: dict[tuple[int, str], np.ndarray] = {}
        self.zoom = Zoom()
        self._layout: Layout | None = None
        self._painted: QPixmap | None = None
        self._pressed: tuple[QPointF, Zoom] | None = None
        self._dragged = False
        self._held: Held | None = None
        self._last: LastPaint | None = None
        self._settle = QTimer(self, singleShot=True, interval=moving.SETTLE)
        self._settle.timeout.connect(self.update)
        self._lasso: list[QPointF] = []
        self._told_apart: set[tuple[int, int]] = set()
        """Panels and marks whose selected points are told by the others being pale."""
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
        """Show another picture, whole unless it is the same one with newer numbers, or other marks on the same axes."""
        words = described(picture)
        picture = told(picture)
        old, self.picture, self.current = self.picture, picture, None
        self._last = None
        self.pointed = {}
        if old is None or not goes_on(old, picture):
            self.zoom = Zoom()
        self.setAccessibleName(words.partition("\n")[0])
        self.setAccessibleDescription(words)
        self._fit()
        self.redraw()

    def _fit(self) -> None:
        """Be as high as the panels of a grid, or texts, need; a page scrolls what it has no room for."""
        if self.picture is not None and self.minimumHeight() < self.maximumHeight():  # else it is fixed
            needed = least_height(self.picture, self.width() - 2 * EDGE, screen_style(), True) + 2 * EDGE
            self.setMinimumHeight(max(int(needed), self.minimumSizeHint().height()))

    def redraw(self) -> None:
        """Lay out and paint anew, as after a change of colours or of size."""
        self._layout = self._painted = None
        self.update()

    def set_selected(self, selected: Mapping[str, tuple[int, ...]]) -> None:
        """Mark the pieces of these items, by kind."""
        found = {kind: frozenset(items) for kind, items in selected.items() if items}
        if found != self.selected:
            self.selected, self._painted = found, None
            self.update()

    @property
    def frames(self) -> Layout:
        """Where everything stands now."""
        assert self.picture is not None
        if self._layout is None:
            rect = QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE)
            self._layout = lay_out(self.picture, rect, screen_style(), self.zoom)
        return self._layout

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.picture is None:
            return
        style = screen_style()
        painter = QPainter(self)
        if self._last is not None and not self.settled:
            paint_moved(painter, self._last, self.frames.frames[0], style)
        else:
            painter.drawPixmap(0, 0, self._whole_painted(style))
        for kind, items in self.selected.items():
            found = spots_of(self.picture, kind, items, self._told_apart)
            spots = [spot for spot, _ in zip(found, range(_MOST_MARKED))]
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
            paint_mark(self._held.rule, painter, self.frames.frames[self._held.panel], style)
        if len(self._lasso) > 1:
            paint_lasso(painter, self._lasso)
        if self.hasFocus():
            painter.setPen(QPen(theme().color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _whole_painted(self, style: Style) -> QPixmap:
        """The picture without what is pointed at; painted once."""
        if self._painted is None:
            assert self.picture is not None
            self._told_apart = told_apart(self.picture, self.selected)
            found = painted_of(self, self.picture, self.frames, style, self.selected)
            self._painted, self._last = found
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
        for (panel, axis), found in self.pointed.items():
            self.bring(panel, axis, float(found[0]), True)
        self.update()

    def bring(self, panel: int, axis: str, value: float, near: bool = False) -> None:
        """Move the part that is shown so that it holds a value; ``near`` so that a name of it has room."""
        room = 1.3 * screen_style().metrics().height() if near else 0.0
        self._set_zoom(bringing(self.frames, self.zoom, panel, axis, value, room))

    def _walk(self, step: int, jump: int) -> None:
        """To another piece by the keys; a part that is shown moves along."""
        assert self.picture is not None
        spot = hits.stepped(self.picture, self.current, step, jump, self.frames.across)
        self.show_spot(spot)
        if spot is not None:
            self.reach(spot)
        if spot is not None and self.zoomed and isinstance(mark_of(self.picture, spot), Cells):
            for axis, value in zip("xy", mark_of(self.picture, spot).middle(spot.piece), strict=True):
                self.bring(spot.panel, axis, value)

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
        step, jump = _STEPS.get(key, 0), {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)
        turn = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Minus: -1}.get(key, 0)
        if self.picture is None:
            super().keyPressEvent(event)
        elif (step or jump) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._set_zoom(shifted(self.frames, self.zoom, step, jump))
        elif step or jump:
            self._walk(step, jump)
        elif turn:
            self.zoom_about(self.frames.frames[largest(self.frames)].area.center(), turn)
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

    def reach(self, spot: Spot) -> None:
        """Ask for a piece to be in view."""
        assert self.picture is not None
        frame = self.frames.frames[spot.panel]
        at = hits.position(mark_of(self.picture, spot), frame, spot.piece)
        self.reached.emit(QPointF(at.x() if at.x() == at.x() else frame.left, at.y()))

    def zoom_about(self, at: QPointF, notches: float) -> bool:
        """Zoom in (positive) or out about a point; False where there is nothing to zoom."""
        found = zoomed_about(self.frames, self.zoom, at, notches) if self.picture else None
        if found is not None:
            self._set_zoom(found)
        return found is not None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        zoomed = self.zoom_about(event.position(), event.angleDelta().y() / 120)
        event.setAccepted(zoomed)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The left button clicks, or draws a lasso around points; that and the middle one move what is zoomed elsewhere."""
        at = event.position()
        if self.picture is not None and event.button() in _BUTTONS:
            self._pressed, self._dragged = (at, self.zoom), False
            left = event.button() == Qt.MouseButton.LeftButton
            self._held = held_at(self.frames, at) if left else None
            self._lasso = [at] if left and self._held is None and holds_points(self.frames, at) else []
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Read what is under the pointer, or move the part that is shown."""
        if self.picture is None:
            return
        if self._held is not None:
            self._move_rule(event.position(), False)
        elif self._lasso:
            self._lasso.append(event.position())
            self.update()
        elif self._pressed is not None and self.zoomed:
            self._drag(event.position())
        else:
            self.setCursor(grip_at(self.frames, event.position()))
            self.show_spot(spot_at(self.picture, self.frames, event.position()))

    def _move_rule(self, to: QPointF, done: bool) -> None:
        """The line that is held goes along at once; whoever draws the picture follows."""
        assert self._held is not None
        self._held = self._held.moved(self.frames, to)
        self._dragged = True
        self.moved.emit(self._held.rule.drags, float(self._held.rule.at[0]), done)
        self.update()

    def _drag(self, to: QPointF) -> None:
        assert self._pressed is not None
        start, zoom = self._pressed
        away = to - start
        p = panel_at(self.frames, start)
        if p is not None and (self._dragged or away.manhattanLength() >= space.XS):
            self._dragged = True
            self._set_zoom(dragged(self.frames, zoom, p, away))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A lasso selects what is inside; a click that moved nothing what the mark stands for."""
        (pressed, self._pressed), (path, self._lasso) = (self._pressed, None), (self._lasso, [])
        if self._held is not None and self._dragged:
            self._move_rule(event.position(), True)
        self._held = None
        if event.button() == Qt.MouseButton.LeftButton and pressed is not None and self.picture is not None:
            more = bool(event.modifiers() & _MORE)
            if path and max((point - path[0]).manhattanLength() for point in path) > space.XS:
                self._gather([*path, event.position()], more)
            elif not self._dragged:
                self._click(spot_at(self.picture, self.frames, event.position()), more)
        super().mouseReleaseEvent(event)

    def _click(self, spot: Spot | None, more: bool) -> None:
        items = mark_of(self.picture, spot).items(spot.piece) if spot and self.picture else None
        if more and items is not None:
            self.gathered.emit(*items, True)
        elif not more:
            self._pick(spot)

    def _gather(self, path: list[QPointF], more: bool) -> None:
        assert self.picture is not None
        panel = next(p for p, frame in enumerate(self.frames.frames) if frame.area.contains(path[0]))
        kind, items = hits.surrounded(self.picture, self.frames, panel, path)
        self.gathered.emit(kind, items, more)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """What the picture does then with the mark there, or show all again."""
        items = None
        if self.picture is not None and self.picture.twice is not None:
            spot = spot_at(self.picture, self.frames, event.position())
            items = mark_of(self.picture, spot).items(spot.piece) if spot is not None else None
        if items is None:
            self.reset_view()
        else:
            self.twice.emit(*items)
