"""Labels of buttons, tabs, heads, menus, progress lines and splitters."""

from __future__ import annotations

import re

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QIcon, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionButton, QTabBar, QWidget

from plaidwork.gui.style._paint import (
    Option,
    State,
    check_mark,
    chevron,
    faded,
    flag_of,
    has,
    ring,
    rounded,
    text_color,
)
from plaidwork.gui.style._primitives import PRIMITIVES, Draw
from plaidwork.gui.theme import size, theme

CE = QStyle.ControlElement
_MNEMONIC = Qt.TextFlag.TextShowMnemonic | Qt.TextFlag.TextHideMnemonic
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_UPRIGHT = (QTabBar.Shape.RoundedNorth, QTabBar.Shape.TriangularNorth, QTabBar.Shape.RoundedSouth)


def _mode(option: Option) -> QIcon.Mode:
    return QIcon.Mode.Normal if has(option, State.State_Enabled) else QIcon.Mode.Disabled


def _button_label(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    primary = flag_of(widget, "primary")
    enabled = has(option, State.State_Enabled)
    painter.save()
    if primary:
        painter.setFont(theme().font("strong"))
    painter.setPen(theme().color("on_accent") if primary and enabled else text_color(option))
    metrics = painter.fontMetrics()
    text = option.text
    menu = bool(option.features & QStyleOptionButton.ButtonFeature.HasMenu)
    rect = option.rect.adjusted(6, 0, -6 - (14 if menu else 0), 0)
    icon_width = option.iconSize.width() if not option.icon.isNull() else 0
    gap = 5 if icon_width and text else 0
    room = rect.width() - icon_width - gap
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room, Qt.TextFlag.TextShowMnemonic)
    wide = metrics.size(Qt.TextFlag.TextShowMnemonic, shown).width() if text else 0
    left = rect.x() + max(0, (rect.width() - icon_width - gap - wide) // 2)
    if icon_width:
        top = rect.y() + (rect.height() - option.iconSize.height()) // 2
        where = QRect(left, top, icon_width, option.iconSize.height())
        option.icon.paint(painter, where, Qt.AlignmentFlag.AlignCenter, _mode(option))
        left += icon_width + gap
    painter.drawText(QRect(left, rect.y(), wide + 2, rect.height()), _LEFT | _MNEMONIC, shown)
    if menu:
        centre = QPointF(option.rect.right() - 14, option.rect.center().y() + 1)
        chevron(painter, centre, "down", painter.pen().color())
    painter.restore()


def _tab_shape(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    if has(option, State.State_Selected):
        south = option.shape == QTabBar.Shape.RoundedSouth
        top = rect.y() if south else rect.bottom() - 1
        painter.fillRect(rect.x() + 8, top, rect.width() - 16, 2, theme().color("accent"))
    elif has(option, State.State_MouseOver) and has(option, State.State_Enabled):
        rounded(painter, rect.adjusted(4, 6, -4, -6), theme().color("hover"))
    if has(option, State.State_HasFocus):
        ring(painter, rect.adjusted(2, 5, -2, -5))


def _tab_label(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    current = has(option, State.State_Selected)
    rect = option.rect.adjusted(12, 0, -8 - max(0, option.rightButtonSize.width()), 0)
    left = rect.x() + max(0, option.leftButtonSize.width())
    painter.save()
    if not option.icon.isNull():
        edge = option.iconSize.width()
        where = QRect(left, rect.y() + (rect.height() - edge) // 2, edge, edge)
        option.icon.paint(painter, where, Qt.AlignmentFlag.AlignCenter, _mode(option))
        left += edge + 6
    painter.setFont(theme().font("strong" if current else "body"))
    enabled = has(option, State.State_Enabled)
    painter.setPen(theme().color("text" if current else "muted") if enabled else text_color(option))
    room = QRect(left, rect.y(), rect.right() - left + 1, rect.height())
    painter.drawText(room, _LEFT | _MNEMONIC, option.text)
    painter.restore()


def _header_section(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    painter.fillRect(rect, theme().color("surface"))
    # the area beyond the last section comes as a plain option without an orientation
    if getattr(option, "orientation", Qt.Orientation.Horizontal) == Qt.Orientation.Horizontal:
        painter.fillRect(rect.x(), rect.bottom(), rect.width(), 1, theme().color("border"))


def _header_label(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    painter.save()
    painter.setFont(theme().font("caption"))
    painter.setPen(theme().color("muted"))
    sorted_by = option.sortIndicator != option.SortIndicator.None_
    rect = option.rect.adjusted(0, 0, 0, 0)
    metrics = painter.fontMetrics()
    text = metrics.elidedText(option.text, Qt.TextElideMode.ElideRight, rect.width())
    right = bool(option.textAlignment & Qt.AlignmentFlag.AlignRight)
    painter.drawText(rect, _RIGHT if right else _LEFT, text)
    if sorted_by:
        wide = metrics.horizontalAdvance(text)
        x = rect.right() - wide - 8 if right else rect.x() + wide + 9
        up = option.sortIndicator == option.SortIndicator.SortUp
        centre = QPointF(min(max(x, rect.x()), rect.right() - 2), rect.center().y() + 1)
        chevron(painter, centre, "up" if up else "down", theme().color("muted"), 7)
    painter.restore()


def _splitter(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    over = has(option, State.State_MouseOver)
    color = theme().color("control" if over else "border")
    if has(option, State.State_Horizontal):
        painter.fillRect(rect.center().x(), rect.y(), 1, rect.height(), color)
    else:
        painter.fillRect(rect.x(), rect.center().y(), rect.width(), 1, color)


def _menu_bar_item(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    painter.fillRect(option.rect, theme().color("window"))
    if has(option, State.State_Selected) and has(option, State.State_Enabled):
        token = "border" if has(option, State.State_Sunken) else "hover"
        rounded(painter, option.rect.adjusted(0, 2, 0, -2), theme().color(token))
    painter.setPen(text_color(option))
    painter.drawText(option.rect, Qt.AlignmentFlag.AlignCenter | _MNEMONIC, option.text)


def _menu_bar_space(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    painter.fillRect(option.rect, theme().color("window"))


def _menu_item(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    kind = option.menuItemType
    if kind == option.MenuItemType.Separator:
        painter.fillRect(rect.x(), rect.center().y(), rect.width(), 1, theme().color("border"))
        return
    if has(option, State.State_Selected) and has(option, State.State_Enabled):
        rounded(painter, rect, theme().color("tint"), radius=size.RADIUS_CHECK)
    painter.save()
    ink = text_color(option)
    mark = QRect(rect.x() + 9, rect.y() + (rect.height() - size.ICON) // 2, size.ICON, size.ICON)
    if option.checked:
        check_mark(painter, QRectF(mark), ink)
    elif not option.icon.isNull():
        option.icon.paint(painter, mark, Qt.AlignmentFlag.AlignCenter, _mode(option))
    text, _, keys = option.text.partition("\t")
    painter.setFont(option.font)
    painter.setPen(ink)
    body = rect.adjusted(34, 0, -12, 0)
    painter.drawText(body, _LEFT | _MNEMONIC, text)
    if kind == option.MenuItemType.SubMenu:
        chevron(painter, QPointF(rect.right() - 12, rect.center().y() + 1), "right", ink)
    elif keys:
        painter.setPen(theme().color("muted") if has(option, State.State_Enabled) else ink)
        painter.drawText(body, _RIGHT, keys)
    painter.restore()


def _progress(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = QRect(option.rect)
    if option.textVisible and option.text:
        text = re.sub(r"(?<=\d)%", " %", option.text)
        wide = QFontMetrics(theme().font("caption")).horizontalAdvance(text) + 8
        painter.save()
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("muted"))
        painter.drawText(rect, _RIGHT, text)
        painter.restore()
        rect.setRight(rect.right() - wide)
    top = rect.y() + max(0, (rect.height() - size.PROGRESS) // 2)
    bar = QRectF(rect.x(), top, rect.width(), min(size.PROGRESS, rect.height()))
    radius = bar.height() / 2
    span = option.maximum - option.minimum
    rounded(painter, bar, theme().color("border" if span else "tint_line"), radius=radius)
    if span <= 0:
        return
    share = min(max((option.progress - option.minimum) / span, 0.0), 1.0)
    if share > 0:
        bar.setWidth(max(bar.height(), bar.width() * share))
        enabled = has(option, State.State_Enabled)
        rounded(painter, bar, theme().color("accent") if enabled else faded("control", 0.6), radius=radius)


def _combo_label(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    if option.editable:
        return
    rect = option.rect.adjusted(11, 1, -30, -1)
    painter.save()
    if not option.currentIcon.isNull():
        where = QRect(rect.x(), rect.y() + (rect.height() - size.ICON) // 2, size.ICON, size.ICON)
        option.currentIcon.paint(painter, where, Qt.AlignmentFlag.AlignCenter, _mode(option))
        rect.setLeft(rect.x() + size.ICON + 6)
    painter.setPen(text_color(option))
    shown = painter.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, _LEFT, shown)
    painter.restore()


def _nothing(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    """Flat."""


CONTROLS: dict[QStyle.ControlElement, Draw] = {
    CE.CE_PushButtonBevel: PRIMITIVES[QStyle.PrimitiveElement.PE_PanelButtonCommand],
    CE.CE_PushButtonLabel: _button_label,
    CE.CE_TabBarTabShape: _tab_shape,
    CE.CE_TabBarTabLabel: _tab_label,
    CE.CE_HeaderSection: _header_section,
    CE.CE_HeaderEmptyArea: _header_section,
    CE.CE_HeaderLabel: _header_label,
    CE.CE_Splitter: _splitter,
    CE.CE_MenuBarItem: _menu_bar_item,
    CE.CE_MenuBarEmptyArea: _menu_bar_space,
    CE.CE_MenuItem: _menu_item,
    CE.CE_ProgressBar: _progress,
    CE.CE_ComboBoxLabel: _combo_label,
    CE.CE_ToolBar: _nothing,
    CE.CE_SizeGrip: _nothing,
}


def upright(option: Option) -> bool:
    """True for tabs in a row; those in a column are left to Fusion."""
    return option.shape in _UPRIGHT
