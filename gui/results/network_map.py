"""The picture of a network: all of it, or one node with its neighbours."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from plaidwork.gui.results.chart import Chart
from plaidwork.gui.results.network import Shown
from plaidwork.gui.results.network_paint import (
    LABELS,
    around,
    discs_of,
    lines_of,
    paint_links,
    paint_names,
    paint_nodes,
    place_names,
    radii,
)
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.theme import theme

_MOST_ZOOM = 40.0
_CLICK = 4
_REACH = 6
_EDGE = 48
"""Room for names at the edges."""
_STRETCH = 2.0
_MANY = 1500
"""Links from which the last picture is moved at first, and drawn anew when the movement ends."""
_SETTLE = 90
"""Milliseconds without a movement after which the picture is drawn anew."""


class NetworkMap(Chart):
    """Nodes at their places; a click shows the neighbours of one, Esc all again.

    Signals
    -------
    chosen : number of the node that was clicked, -1 for none
    pointed : number of the node under the pointer or the keyboard's mark, -1 for none
    """

    chosen = Signal(int)
    pointed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: Shown | None = None
        self.places = np.zeros((0, 2))
        self.focus = self.current = -1
        self._zoom, self._centre = 1.0, np.zeros(2)
        self._drag: QPointF | None = None
        self._moved = False
        self._cache: QPixmap | None = None
        self._cache_view: tuple[np.ndarray, np.ndarray] | None = None
        self._ratio = 0.0
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE)
        self._settle.timeout.connect(self._redraw)

    # -- content --------------------------------------------------------------------------------
    def set_shown(self, shown: Shown, places: np.ndarray) -> None:
        """Show other links, with the nodes at other places (n, 2), -1 to 1."""
        if len(places) != len(self.places):
            self.current = -1
            self._zoom, self._centre = 1.0, np.zeros(2)
        self.shown, self.places = shown, places
        if self.focus >= len(places):
            self.focus = -1
        self._redraw()

    def set_focus(self, node: int) -> None:
        """Show a node with its neighbours; -1 shows all."""
        self.focus = self.current = node
        self._redraw()

    def reset_view(self) -> None:
        """The whole network."""
        self._zoom, self._centre = 1.0, np.zeros(2)
        self._redraw()

    @property
    def zoomed(self) -> bool:
        """Whether a part fills the picture."""
        return self._zoom > 1.0

    @property
    def settled(self) -> bool:
        """Whether the picture is drawn as it should be; not while a large network is moved."""
        return not self._settle.isActive()

    def _redraw(self) -> None:
        self._settle.stop()
        self._cache = None
        if self.shown is not None:
            count = f"{len(self.shown.nodes)} nodes, {len(self.shown.links)} links"
            name = f", {self.shown.network.names[self.focus]} and its neighbours" if self.focus >= 0 else ""
            self.setAccessibleName(f"Network of {count}{name}")
        self.update()

    def restyle(self) -> None:
        self._redraw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cache = None

    def set_export_ratio(self, ratio: float) -> None:
        """Device pixels a logical one while a picture is written; 0 for those of the screen."""
        self._ratio = ratio

    # -- places ---------------------------------------------------------------------------------
    def _scale(self) -> np.ndarray:
        """Pixels a unit across and down: the network fills the picture, the longer side stretched a little at most."""
        assert self.shown is not None
        span = np.maximum(np.abs(self.places[self.shown.nodes]).max(axis=0, initial=1e-9), 0.05)
        room = np.maximum(np.array([self.width(), self.height()]) / 2 - _EDGE, 10.0)
        scale = room / span
        return np.minimum(scale, _STRETCH * scale.min()) * self._zoom

    def pixels(self) -> np.ndarray:
        """(n, 2) pixels of the nodes; NaN for those that are not shown."""
        assert self.shown is not None
        if self.focus >= 0:
            return around(self.shown, self.focus, self.width(), self.height())
        at = (self.places - self._centre) * self._scale() + [self.width() / 2, self.height() / 2]
        at[self.shown.degree == 0] = np.nan
        return at

    def _radii(self) -> np.ndarray:
        assert self.shown is not None
        return radii(self.shown, self.focus >= 0, self.width() * self.height())

    def node_at(self, point: QPointF) -> int:
        """The node under a place; -1 for none."""
        if self.shown is None or not len(self.places):
            return -1
        at, radius = self.pixels(), self._radii()
        away = np.hypot(*(at - [point.x(), point.y()]).T) - radius
        away = np.where(np.isfinite(away), away, np.inf)
        nearest = int(away.argmin())
        return nearest if away[nearest] <= _REACH else -1

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.shown is not None and len(self.places):
            if self._ratio:
                self._paint_network(painter, self._ratio)
            elif not self.settled and self._cache is not None:
                self._paint_moved(painter)
            else:
                painter.drawPixmap(0, 0, self._picture())
            if self.current >= 0 or self.focus >= 0:
                self._paint_current(painter)
        if not self._ratio:
            self.paint_focus(painter)
        painter.end()

    def _paint_moved(self, painter: QPainter) -> None:
        """The last picture at its new place and size, while the network is moved."""
        assert self._cache is not None
        assert self._cache_view is not None
        old_centre, old_scale = self._cache_view
        scale, middle = self._scale(), np.array([self.width(), self.height()]) / 2
        grown, shift = scale / old_scale, (old_centre - self._centre) * scale
        painter.fillRect(self.rect(), theme().color("surface"))
        painter.save()
        painter.translate(*(middle + shift - grown * middle).tolist())
        painter.scale(*grown.tolist())
        painter.drawPixmap(0, 0, self._cache)
        painter.restore()

    def _picture(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        if self._cache is None or self._cache.devicePixelRatio() != ratio:
            self._cache = QPixmap(self.size() * ratio)
            self._cache.setDevicePixelRatio(ratio)
            self._cache_view = self._centre.copy(), self._scale()
            self._cache.fill(theme().color("surface"))
            painter = QPainter(self._cache)
            self._paint_network(painter, ratio)
            painter.end()
        return self._cache

    def _paint_network(self, painter: QPainter, ratio: float) -> None:
        assert self.shown is not None
        at = self.pixels()
        radius = self._radii()
        discs = discs_of(self.shown, at, radius)
        lines = lines_of(self.shown, at, self.focus)
        paint_links(painter, lines, discs, self.width(), self.height(), ratio)
        if discs is None:
            paint_nodes(painter, self.shown, at, radius)
        room = QRectF(self.rect()).adjusted(RING, RING, -RING, -RING)
        names = self.shown.network.names
        inside = np.isfinite(at).all(axis=1)
        inside &= (at > 0).all(axis=1) & (at < [self.width(), self.height()]).all(axis=1)
        wanted: list[tuple[int, str, bool | None]]
        if self.focus >= 0:
            links = self.shown.links_of(self.focus)
            others = self.shown.other(links, self.focus).tolist()
            wanted = [(i, names[i], bool(at[i, 0] >= self.width() / 2)) for i in others]
        else:
            nodes = [i for i in self.shown.nodes.tolist() if inside[i]]
            wanted = [(i, names[i], None) for i in nodes[:LABELS]]
        paint_names(painter, place_names(wanted, at, radius, room))

    def _paint_current(self, painter: QPainter) -> None:
        assert self.shown is not None
        at, radius = self.pixels(), self._radii()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(self.rect()).adjusted(RING, RING, -RING, -RING)
        for node, token in ((self.focus, "accent"), (self.current, "text")):
            if node < 0 or not np.isfinite(at[node]).all():
                continue
            point, around_it = QPointF(*at[node].tolist()), float(radius[node]) + 4
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in (("surface", 5.0), (token, 2.0)):
                painter.setPen(QPen(theme().color(color), width))
                painter.drawEllipse(point, around_it, around_it)
            under = np.where(np.arange(len(radius)) == node, radius + 6, radius)
            names = place_names([(node, self.shown.network.names[node], None)], at, under, room)
            paint_names(painter, names, node)
            if node == self.current == self.focus:
                break

    # -- pointer and keys -----------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag, self._moved = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the picture while the button is down, else name what is under the pointer."""
        if self._drag is None:
            self.point(self.node_at(event.position()))
            return
        way = event.position() - self._drag
        if (self._moved or way.manhattanLength() > _CLICK) and self.focus < 0:
            self._moved, self._drag = True, event.position()
            self._look_at(self._centre - np.array([way.x(), way.y()]) / self._scale())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._drag is not None:
            self._drag = None
            if not self._moved:
                self.chosen.emit(self.node_at(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole network."""
        if self.node_at(event.position()) < 0:
            self.reset_view()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        if event.angleDelta().y() and self.focus < 0 and self.shown is not None:
            self.zoom(1.25 if event.angleDelta().y() > 0 else 0.8, event.position())
            event.accept()

    def zoom(self, factor: float, about: QPointF | None = None) -> None:
        """Show a part ``factor`` times as large around a place."""
        about = QPointF(self.width() / 2, self.height() / 2) if about is None else about
        away = np.array([about.x() - self.width() / 2, about.y() - self.height() / 2])
        under = self._centre + away / self._scale()
        self._zoom = float(np.clip(self._zoom * factor, 1.0, _MOST_ZOOM))
        self._look_at(under - away / self._scale())

    def _look_at(self, centre: np.ndarray) -> None:
        reach = max(1.0 - 1.0 / self._zoom, 0.0)
        self._centre = np.clip(centre, -reach, reach)
        if self.shown is not None and len(self.shown.links) > _MANY and self._cache is not None:
            self._settle.start()
            self.update()
        else:
            self._redraw()

    def leaveEvent(self, event: QEvent) -> None:
        self.point(-1)
        super().leaveEvent(event)

    def point(self, node: int) -> None:
        """Mark a node and tell it."""
        if node != self.current:
            self.current = node
            self.pointed.emit(node)
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from node to node, most important first; Enter shows the neighbours of one; + and - zoom."""
        key = Qt.Key(event.key())
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}.get(key, 0)
        if self.shown is None or not len(self.shown.nodes):
            super().keyPressEvent(event)
        elif step:
            nodes = self.shown.nodes.tolist()
            if self.focus >= 0:
                nodes = [self.focus, *self.shown.other(self.shown.links_of(self.focus), self.focus).tolist()]
            index = nodes.index(self.current) + step if self.current in nodes else 0
            self.point(nodes[min(max(index, 0), len(nodes) - 1)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.chosen.emit(self.current)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal) and self.focus < 0:
            self.zoom(1.25)
        elif key == Qt.Key.Key_Minus and self.focus < 0:
            self.zoom(0.8)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.reset_view()
        else:
            super().keyPressEvent(event)
