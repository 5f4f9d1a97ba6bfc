"""The ground of a row in a list or tree that paints its own rows."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from plaidwork.gui.theme import theme


def paint_row_ground(painter: QPainter, option: QStyleOptionViewItem, rect: QRect) -> None:
    """Tinted when selected, with a frame when the keyboard is there too; a shade under the mouse."""
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, theme().color("tint"))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme().color("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, theme().color("hover"))
