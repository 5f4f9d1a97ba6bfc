"""Small rounded tag with a word, and an icon when it states a status."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets.drawing import Drawing

#: kind -> (text colour, ground colour, icon)
KINDS = {
    "neutral": ("muted", "hover", ""),
    "ok": ("ok", "ok_on", "check"),
    "warn": ("warn", "warn_on", "warning"),
    "error": ("error", "error_on", "error"),
    "accent": ("link", "tint", ""),
}
_HEIGHT = 22
_PAD = 8


class Chip(Drawing):
    """Tag such as "Not saved" or "detected"; `kind` is neutral, ok, warn, error or accent."""

    def __init__(self, text: str, kind: str = "neutral", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._kind = kind
        self.set(text, kind)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The word shown."""
        return self._text

    @property
    def kind(self) -> str:
        """One of `KINDS`."""
        return self._kind

    def set(self, text: str, kind: str | None = None) -> None:
        """Change word and, if given, kind."""
        kind = kind or self._kind
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        self._text, self._kind = tr(text), kind
        self.setAccessibleName(tr(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Text, icon and padding; 22 px high or more for large fonts."""
        metrics = self.fontMetrics()
        icon = size.ICON + 2 if KINDS[self._kind][2] else 0
        height = max(_HEIGHT, metrics.height() + 4)
        return QSize(metrics.horizontalAdvance(self._text) + 2 * _PAD + icon + 1, height)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, icon, word."""
        ink, ground, name = KINDS[self._kind]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(ground))
        radius = min(size.RADIUS_CHIP, self.height() / 2)
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        left = _PAD
        if name:
            edge = size.ICON - 2
            painter.drawPixmap(
                left, (self.height() - edge) // 2, pixmap(name, edge, ink, self.devicePixelRatioF())
            )
            left += edge + 4
        painter.setPen(theme().color(ink))
        rect = self.rect().adjusted(left, 0, 0, 0)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._text)
        painter.end()
