"""A few choices side by side, one of them on: Data / Fit / Residual."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets.layouts import horizontal


class _Segment(QAbstractButton):
    """One choice; painted by itself so that the frame stays one piece."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(tr(text))
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Text plus 8 px on both sides."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 17, size.CONTROL - 4)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tinted when on, ring when focused."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = theme()
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self.isChecked():
            painter.setPen(QPen(colors.color("tint_line"), 1))
            painter.setBrush(colors.color("tint"))
            painter.drawRoundedRect(rect, size.RADIUS - 1, size.RADIUS - 1)
        elif self.underMouse() and self.isEnabled():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("hover"))
            painter.drawRoundedRect(rect, size.RADIUS - 1, size.RADIUS - 1)
        if self.hasFocus():
            painter.setPen(QPen(colors.color("accent"), size.FOCUS))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), size.RADIUS - 1, size.RADIUS - 1)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()


class SegmentedControl(QWidget):
    """Exclusive choice; options are texts or (key, text) pairs. Emits `changed` with the key."""

    changed = Signal(str)

    def __init__(
        self, options: Sequence[str | tuple[str, str]], current: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._keys: list[str] = []
        layout = horizontal(on=self, spacing=2, margins=2)
        for option in options:
            key, text = (option, option) if isinstance(option, str) else option
            segment = _Segment(text, self)
            self._group.addButton(segment, len(self._keys))
            self._keys.append(key)
            layout.addWidget(segment)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_current(current or self._keys[0])
        self._group.idToggled.connect(self._toggled)
        theme().changed.connect(self.update)

    @property
    def current(self) -> str:
        """Key of the choice that is on."""
        return self._keys[self._group.checkedId()]

    def offers(self, key: object) -> bool:
        """Whether `key` is one of the choices and not hidden."""
        return key in self._keys and not self._group.button(self._keys.index(key)).isHidden()

    def offer(self, key: str, offered: bool = True) -> None:
        """Show one of the choices, or hide it."""
        self._group.button(self._keys.index(key)).setVisible(offered)

    def set_current(self, key: str) -> None:
        """Turn `key` on; emits `changed` if it was off."""
        if key not in self._keys:
            raise KeyError(f"choice must be one of {', '.join(self._keys)}, got {key!r}")
        self._group.button(self._keys.index(key)).setChecked(True)

    def _toggled(self, number: int, on: bool) -> None:
        for segment in self._group.buttons():
            only = Qt.FocusPolicy.StrongFocus if segment.isChecked() else Qt.FocusPolicy.ClickFocus
            segment.setFocusPolicy(only)
        if on:
            self.changed.emit(self._keys[number])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right step through the choices."""
        step = (event.key() == Qt.Key.Key_Right) - (event.key() == Qt.Key.Key_Left)
        if not step:
            super().keyPressEvent(event)
            return
        number = min(max(self._group.checkedId() + step, 0), len(self._keys) - 1)
        self._group.button(number).setChecked(True)
        self._group.button(number).setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Sunken frame around the choices."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("border"), 1))
        painter.setBrush(theme().color("window" if not theme().is_dark else "sunken"))
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, size.RADIUS, size.RADIUS)
        painter.end()
