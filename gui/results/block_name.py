"""Colour and name of the chosen block; the name can be edited in place."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QWidget

from plaidwork.gui.results.blocks import Blocks
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import Label


class BlockSwatch(QWidget):
    """Square in the colour of a block."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__()
        self._blocks, self.block = blocks, 0
        self.setFixedSize(14, 14)
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._blocks.color(self.block))
        painter.drawRoundedRect(QRectF(0, 0, 14, 14), 2, 2)
        painter.end()


class BlockName(QStackedWidget):
    """A title that turns into a field on double click, F2 or the pencil."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.label = Label("", "title", elide=True)
        self.label.setToolTip("Double click to rename")
        self.field = QLineEdit()
        self.field.setAccessibleName("Name of the block")
        self.field.setMaxLength(80)
        self.field.editingFinished.connect(self._finish)
        self.addWidget(self.label)
        self.addWidget(self.field)
        self.setFixedHeight(size.CONTROL)

    def set_text(self, text: str) -> None:
        self.label.setText(text)
        self.setCurrentWidget(self.label)

    def edit(self) -> None:
        """Show the field."""
        self.field.setText(self.label.text())
        self.setCurrentWidget(self.field)
        self.field.setFocus()
        self.field.selectAll()

    def _finish(self) -> None:
        if self.currentWidget() is self.field:
            self.setCurrentWidget(self.label)
            if self.field.text() != self.label.text():
                self.renamed.emit(self.field.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.currentWidget() is self.field:
            self.setCurrentWidget(self.label)
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.edit()
