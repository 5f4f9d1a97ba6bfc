"""Panels, frames and indicators."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QStyle,
    QStyleOptionFrame,
    QToolButton,
    QTreeView,
    QWidget,
)

from plaidwork.gui.style._paint import (
    Option,
    State,
    check_mark,
    chevron,
    faded,
    field,
    flag_of,
    has,
    ring,
    rounded,
    stroke,
)
from plaidwork.gui.theme import size, space, theme

PE = QStyle.PrimitiveElement
Draw = Callable[[Option, QPainter, QWidget | None], None]


def _nothing(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    """Flat: no frame, no bevel."""


def _button(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    colors = theme()
    rect = option.rect
    enabled, focus = has(option, State.State_Enabled), has(option, State.State_HasFocus)
    down = has(option, State.State_Sunken)
    over = has(option, State.State_MouseOver) and enabled
    if flag_of(widget, "primary") and enabled:
        fill = colors.color("accent")
        if down or over:
            factor = 115 if down else 107
            fill = fill.lighter(factor) if colors.is_dark else fill.darker(factor)
        rounded(painter, rect, fill)
        if focus:
            ring(painter, rect, "text")
        return
    if flag_of(widget, "quiet"):
        if down or over or has(option, State.State_On):
            rounded(painter, rect, colors.color("border" if down else "hover"))
    elif has(option, State.State_On):
        rounded(painter, rect, colors.color("tint"), colors.color("tint_line"))
    else:
        fill = colors.color("hover" if down else "sunken" if over else "surface")
        rounded(painter, rect, fill, faded("control", 0.65) if enabled else colors.color("border"))
    if focus:
        ring(painter, rect)


def _tool(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    colors = theme()
    if has(option, State.State_On):
        rounded(painter, option.rect, colors.color("tint"), colors.color("tint_line"))
    elif has(option, State.State_Sunken):
        rounded(painter, option.rect, colors.color("border"))
    elif has(option, State.State_MouseOver) and has(option, State.State_Enabled):
        rounded(painter, option.rect, colors.color("hover"))


def _focus(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    if isinstance(widget, QToolButton):
        ring(painter, widget.rect())
    elif isinstance(widget, QAbstractItemView):
        if widget.window().windowType() == Qt.WindowType.Popup:
            return  # the row itself is marked in the list of a combo box
        ring(painter, option.rect, radius=3)
    else:
        ring(painter, option.rect.adjusted(-3, -1, 3, 1), radius=size.RADIUS_CHECK)


def _line_edit(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    owner = widget.parentWidget() if widget is not None else None
    if isinstance(owner, QAbstractSpinBox | QComboBox):
        return
    if isinstance(option, QStyleOptionFrame) and option.lineWidth <= 0:
        painter.fillRect(option.rect, theme().color("surface"))
        return
    field(option, painter, widget, has(option, State.State_HasFocus))


def _frame(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    focus = has(option, State.State_HasFocus) and isinstance(widget, QAbstractScrollArea)
    if flag_of(widget, "invalid"):
        ring(painter, option.rect, "error", radius=3)
    elif focus:
        rounded(painter, option.rect, None, theme().color("accent"), min(2, option.lineWidth or 1), 3)
    else:
        editable = isinstance(widget, QAbstractScrollArea) and not isinstance(widget, QAbstractItemView)
        rounded(painter, option.rect, None, theme().color("control" if editable else "border"), 1, 3)


def _check_box(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    colors = theme()
    rect = QRectF(option.rect)
    enabled = has(option, State.State_Enabled)
    on, part = has(option, State.State_On), has(option, State.State_NoChange)
    if on or part:
        fill = colors.color("accent") if enabled else faded("control", 0.45)
        rounded(painter, rect, fill, radius=size.RADIUS_CHECK)
        ink = colors.color("on_accent")
        if on:
            check_mark(painter, rect, ink)
        else:
            middle = rect.center()
            stroke(painter, [middle - QPointF(3.5, 0), middle + QPointF(3.5, 0)], ink, 1.8)
        return
    over = has(option, State.State_MouseOver) and enabled
    line = colors.color("accent" if over else "control" if enabled else "border")
    rounded(painter, rect, colors.color("surface"), line, radius=size.RADIUS_CHECK)


def _radio(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    colors = theme()
    rect = QRectF(option.rect)
    enabled = has(option, State.State_Enabled)
    radius = rect.width() / 2
    if has(option, State.State_On):
        rounded(painter, rect, colors.color("accent") if enabled else faded("control", 0.45), radius=radius)
        dot = rect.adjusted(5, 5, -5, -5)
        rounded(painter, dot, colors.color("on_accent"), radius=dot.width() / 2)
        return
    line = colors.color("control" if enabled else "border")
    rounded(painter, rect, colors.color("surface"), line, radius=radius)


def _branch(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    if has(option, State.State_Children):
        side = "down" if has(option, State.State_Open) else "right"
        chevron(painter, QRectF(option.rect).center(), side, theme().color("muted"))


def _item(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    brush = getattr(option, "backgroundBrush", None)
    if brush is not None and brush.style() != Qt.BrushStyle.NoBrush:
        painter.fillRect(option.rect, brush)
    if has(option, State.State_Selected):
        painter.fillRect(option.rect, theme().color("tint"))
    elif has(option, State.State_MouseOver) and has(option, State.State_Enabled):
        painter.fillRect(option.rect, theme().color("hover"))


def _row(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    over = has(option, State.State_MouseOver) and isinstance(widget, QTreeView)
    if has(option, State.State_Selected):
        painter.fillRect(option.rect, theme().color("tint"))
    elif over and has(option, State.State_Enabled):
        painter.fillRect(option.rect, theme().color("hover"))


def _tab_base(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    painter.fillRect(rect.x(), rect.bottom(), rect.width(), 1, theme().color("border"))


def _tear(left: bool) -> Draw:
    """Tabs that go on beyond an edge fade out there."""

    def draw(option: Option, painter: QPainter, widget: QWidget | None) -> None:
        rect = option.rect.adjusted(0 if left else -space.L, 0, space.L if left else 0, 0)
        ground = widget.palette().color(widget.backgroundRole()) if widget else theme().color("window")
        clear = QColor(ground)
        clear.setAlpha(0)
        fade = QLinearGradient(rect.left(), 0, rect.right() + 1, 0)
        fade.setColorAt(0, ground if left else clear)
        fade.setColorAt(1, clear if left else ground)
        painter.fillRect(rect, fade)

    return draw


def _popup(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    painter.save()
    painter.setPen(QPen(theme().color("border"), 1))
    painter.setBrush(theme().color("surface"))
    painter.drawRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5))
    painter.restore()


def _separator(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    rect = option.rect
    color = theme().color("border")
    if has(option, State.State_Horizontal):
        painter.fillRect(rect.center().x(), rect.y() + 10, 1, max(rect.height() - 20, 8), color)
    else:
        painter.fillRect(rect.x() + 10, rect.center().y(), max(rect.width() - 20, 8), 1, color)


def _fill_border(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    painter.fillRect(option.rect, theme().color("border"))


def _tab_close(option: Option, painter: QPainter, widget: QWidget | None) -> None:
    if has(option, State.State_MouseOver) and has(option, State.State_Enabled):
        rounded(painter, option.rect, theme().color("hover"), radius=size.RADIUS_CHECK)
    c, r = QRectF(option.rect).center(), 3.5
    ink = theme().color("muted")
    stroke(painter, [c - QPointF(r, r), c + QPointF(r, r)], ink)
    stroke(painter, [c + QPointF(-r, r), c + QPointF(r, -r)], ink)


def _arrow(direction: str) -> Draw:
    def draw(option: Option, painter: QPainter, widget: QWidget | None) -> None:
        """Draw the chevron."""
        token = "text" if has(option, State.State_Enabled) else "faint"
        chevron(painter, QRectF(option.rect).center(), direction, theme().color(token))

    return draw


PRIMITIVES: dict[QStyle.PrimitiveElement, Draw] = {
    PE.PE_PanelButtonCommand: _button,
    PE.PE_PanelButtonBevel: _button,
    PE.PE_FrameDefaultButton: _nothing,
    PE.PE_PanelButtonTool: _tool,
    PE.PE_FrameButtonTool: _nothing,
    PE.PE_FrameFocusRect: _focus,
    PE.PE_PanelLineEdit: _line_edit,
    PE.PE_FrameLineEdit: _nothing,
    PE.PE_Frame: _frame,
    PE.PE_FrameGroupBox: _nothing,
    PE.PE_FrameTabWidget: _nothing,
    PE.PE_FrameDockWidget: _nothing,
    PE.PE_FrameStatusBarItem: _nothing,
    PE.PE_PanelStatusBar: _nothing,
    PE.PE_PanelMenuBar: _nothing,
    PE.PE_PanelToolBar: _nothing,
    PE.PE_PanelScrollAreaCorner: _nothing,
    PE.PE_FrameTabBarBase: _tab_base,
    PE.PE_IndicatorTabTearLeft: _tear(True),
    PE.PE_IndicatorTabTearRight: _tear(False),
    PE.PE_PanelMenu: _popup,
    PE.PE_FrameMenu: _nothing,
    PE.PE_PanelTipLabel: _popup,
    PE.PE_IndicatorCheckBox: _check_box,
    PE.PE_IndicatorItemViewItemCheck: _check_box,
    PE.PE_IndicatorRadioButton: _radio,
    PE.PE_IndicatorBranch: _branch,
    PE.PE_PanelItemViewItem: _item,
    PE.PE_PanelItemViewRow: _row,
    PE.PE_IndicatorToolBarSeparator: _separator,
    PE.PE_IndicatorDockWidgetResizeHandle: _fill_border,
    PE.PE_IndicatorTabClose: _tab_close,
    PE.PE_IndicatorHeaderArrow: _nothing,  # drawn beside the words of the head, not over them
    PE.PE_IndicatorArrowDown: _arrow("down"),
    PE.PE_IndicatorArrowUp: _arrow("up"),
    PE.PE_IndicatorArrowLeft: _arrow("left"),
    PE.PE_IndicatorArrowRight: _arrow("right"),
}
