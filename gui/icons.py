"""Icons drawn from our own SVG files in the colours of the theme.

`icon` returns a QIcon that looks the theme up each time it is painted, so it follows a live
switch without being set again.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from plaidwork.gui import tokens
from plaidwork.gui.theme import theme

__all__ = ["app_icon", "icon", "icon_names", "pixmap", "screen_ratio"]

_MAX_CACHED = 600
_cache: dict[tuple[str, int, str, float], QPixmap] = {}


@lru_cache(maxsize=1)
def icon_names() -> tuple[str, ...]:
    """Names of all icons, sorted."""
    folder = resources.files("plaidwork.resources") / "icons"
    return tuple(sorted(f.name[:-4] for f in folder.iterdir() if f.name.endswith(".svg")))


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    _check(name)
    path = resources.files("plaidwork.resources") / "icons" / f"{name}.svg"
    return path.read_text(encoding="utf-8")


def _check(name: str) -> None:
    if name not in icon_names():
        near = get_close_matches(name, icon_names(), 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise KeyError(f"no icon {name!r}{hint}")


def _coloured(name: str, color: QColor) -> bytes:
    text = _source(name).replace("currentColor", color.name())
    if name == "mark":
        for index in (0, 2):
            text = text.replace(tokens.CATEGORIES["light"][index], theme().category(index).name())
    return text.encode()


def _render(name: str, edge: int, color: QColor, ratio: float) -> QPixmap:
    """Render to `edge` logical pixels at a device pixel ratio; cached by look."""
    paint = color.name(QColor.NameFormat.HexArgb) + (theme().scheme if name == "mark" else "")
    key = (name, edge, paint, ratio)
    found = _cache.get(key)
    if found is None:
        if len(_cache) > _MAX_CACHED:
            _cache.clear()
        device = max(1, round(edge * ratio))
        found = QPixmap(device, device)
        found.fill(Qt.GlobalColor.transparent)
        painter = QPainter(found)
        painter.setOpacity(color.alphaF())
        QSvgRenderer(QByteArray(_coloured(name, color))).render(painter, QRectF(0, 0, device, device))
        painter.end()
        found.setDevicePixelRatio(ratio)
        _cache[key] = found
    return found


def _resolve(color: str | QColor) -> QColor:
    if isinstance(color, QColor):
        return color
    return QColor(color) if color.startswith("#") else theme().color(color)


def pixmap(name: str, size: int = 16, color: str | QColor = "text", ratio: float = 0.0) -> QPixmap:
    """Render an icon as pixmap of `size` logical pixels.

    `color` is a token name, ``#RRGGBB`` or QColor; `ratio` 0 means that of the application.
    A pixmap keeps its colour: make it anew on ``theme().changed`` or use `icon`.
    """
    return _render(name, size, _resolve(color), ratio or screen_ratio())


def screen_ratio() -> float:
    """Device pixel ratio of the application, that of its sharpest screen."""
    app = QApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QApplication) else 1.0


class _Engine(QIconEngine):
    """Paints one icon in the colour that its role has at that moment."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name = name
        self._role = role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw centred and square into `rect`."""
        edge = min(rect.width(), rect.height())
        ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
        left, top = rect.x() + (rect.width() - edge) // 2, rect.y() + (rect.height() - edge) // 2
        painter.drawPixmap(left, top, _render(self._name, edge, self._color(mode), ratio))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Render to `size` device pixels."""
        edge = min(size.width(), size.height())
        return QPixmap(_render(self._name, edge, self._color(mode), 1.0))

    def clone(self) -> QIconEngine:
        """Copy for a detached QIcon."""
        copy = _Engine(self._name, self._role)
        _engines.append(copy)
        return copy

    def key(self) -> str:
        """Name of this kind of engine."""
        return "plaidwork"

    def _color(self, mode: QIcon.Mode) -> QColor:
        if mode != QIcon.Mode.Disabled:
            return _resolve(self._role)
        color = theme().color("faint")  # also for white icons, whose button turns pale
        color.setAlphaF(0.6)
        return color


_icons: dict[tuple[str, str], QIcon] = {}
_engines: list[_Engine] = []  # QIcon owns the C++ side only


def icon(name: str, role: str = "text") -> QIcon:
    """Return the icon `name` in the colour token `role`; unknown names raise KeyError.

    The icon follows the theme by itself, also inside actions, tabs and item views.
    """
    key = (name, role)
    found = _icons.get(key)
    if found is None:
        _check(name)
        _resolve(role)
        engine = _Engine(name, role)
        _engines.append(engine)
        found = _icons[key] = QIcon(engine)
    return found


def app_icon() -> QIcon:
    """Icon of windows and task bar: the mark in fixed sizes."""
    result = QIcon()
    for edge in (16, 24, 32, 48, 64, 128, 256):
        result.addPixmap(pixmap("mark", edge, ratio=1.0))
    return result
