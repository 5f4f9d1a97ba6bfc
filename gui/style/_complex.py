"""Combo boxes, spin boxes, sliders, scroll bars and group boxes, with their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractSpinBox, QStyle, QStyleOption, QStyleOptionToolButton, QWidget

from plaidwork.gui.style._paint import Option, State, chevron, faded, field, has, ring, rounded, text_color
from plaidwork.gui.style._primitives import PRIMITIVES, Draw
from plaidwork.gui.theme import theme

CC = QStyle.ComplexControl
SC = QStyle.SubControl
PE = QStyle.PrimitiveElement
Part = Callable[[Option, QStyle.SubControl, QWidget | None], Any]

_HANDLE = 16
_ARROWS = 26


# -- drawing --------------------------------------------------------------------------------------
def _combo(option: Option, painter: QPainter, widget: Any) -> None:
    inner = widget.lineEdit() if widget is not None and option.editable else None
    focus = has(option, State.State_HasFocus) or (inner is not None and inner.hasFocus())
    field(option, painter, widget, focus)
    centre = QPointF(option.rect.right() - 14, option.rect.center().y() + 1)
    chevron(painter, centre, "down", text_color(option))


def _spin(option: Option, painter: QPainter, widget: Any) -> None:
    focus = has(option, State.State_HasFocus) or (widget is not None and widget.hasFocus())
    field(option, painter, widget, focus)
    if option.buttonSymbols == QAbstractSpinBox.ButtonSymbols.NoButtons:
        return
    for part, side, flag in (
        (SC.SC_SpinBoxUp, "up", QAbstractSpinBox.StepEnabledFlag.StepUpEnabled),
        (SC.SC_SpinBoxDown, "down", QAbstractSpinBox.StepEnabledFlag.StepDownEnabled),
    ):
        rect = _spin_part(option, part, widget)
        live = bool(option.stepEnabled & flag) and has(option, State.State_Enabled)
        pressed = bool(option.activeSubControls & part)
        if pressed and live:
            rounded(painter, rect.adjusted(1, 1, -1, -1), theme().color("hover"), radius=3)
        ink = theme().color("text") if live else faded("faint", 0.5)
        offset = 1.5 if side == "up" else -0.5
        chevron(painter, QPointF(rect.center().x() + 0.5, rect.center().y() + offset), side, ink, 7)


def _slider(option: Option, painter: QPainter, widget: Any) -> None:
    colors = theme()
    enabled = has(option, State.State_Enabled)
    handle = QRectF(_slider_part(option, SC.SC_SliderHandle, widget))
    rect, middle = QRectF(option.rect), handle.center()
    across = option.orientation == Qt.Orientation.Horizontal
    if across:
        groove = QRectF(rect.x() + 4, rect.center().y() - 1.5, rect.width() - 8, 3)
        done = QRectF(groove)
        done.setLeft(middle.x()) if option.upsideDown else done.setRight(middle.x())
    else:
        groove = QRectF(rect.center().x() - 1.5, rect.y() + 4, 3, rect.height() - 8)
        done = QRectF(groove)
        done.setTop(middle.y()) if option.upsideDown else done.setBottom(middle.y())
    rounded(painter, groove, colors.color("border"), radius=1.5)
    ink = colors.color("accent") if enabled else faded("control", 0.6)
    rounded(painter, done, ink, radius=1.5)
    knob = handle.adjusted(1, 1, -1, -1)
    over = bool(option.activeSubControls & SC.SC_SliderHandle)
    rounded(painter, knob, colors.color("tint" if over else "surface"), ink, 2, knob.width() / 2)
    if has(option, State.State_HasFocus):
        ring(painter, handle.adjusted(-3, -3, 3, 3), radius=handle.width() / 2 + 3)


def _scroll_bar(option: Option, painter: QPainter, widget: Any) -> None:
    if option.maximum <= option.minimum:
        return
    rect = QRectF(_scroll_part(option, SC.SC_ScrollBarSlider, widget))
    active = bool(option.activeSubControls & SC.SC_ScrollBarSlider)
    color = theme().color("control" if active else "neutral")
    across = option.orientation == Qt.Orientation.Horizontal
    rect = rect.adjusted(1, 2, -1, -2) if across else rect.adjusted(2, 1, -2, -1)
    rounded(painter, rect, color, radius=3)


def _group_box(option: Option, painter: QPainter, widget: Any) -> None:
    label = _group_part(option, SC.SC_GroupBoxLabel, widget)
    painter.save()
    painter.setFont(theme().font("title"))
    painter.setPen(text_color(option))
    flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(label, flags | Qt.TextFlag.TextHideMnemonic, option.text)
    painter.restore()
    if option.subControls & SC.SC_GroupBoxCheckBox:
        box = QStyleOption(option)
        box.rect = _group_part(option, SC.SC_GroupBoxCheckBox, widget)
        PRIMITIVES[PE.PE_IndicatorCheckBox](box, painter, widget)
        if has(option, State.State_HasFocus):
            ring(painter, box.rect.adjusted(-3, -3, 3, 3))


def drop_menu_arrow(option: Option) -> None:
    """An icon button that only opens a menu needs no arrow beside its icon."""
    feature = QStyleOptionToolButton.ToolButtonFeature
    icon_only = option.toolButtonStyle == Qt.ToolButtonStyle.ToolButtonIconOnly
    if icon_only and not option.features & feature.MenuButtonPopup:
        option.features &= ~feature.HasMenu


COMPLEX: dict[QStyle.ComplexControl, Draw] = {
    CC.CC_ComboBox: _combo,
    CC.CC_SpinBox: _spin,
    CC.CC_Slider: _slider,
    CC.CC_ScrollBar: _scroll_bar,
    CC.CC_GroupBox: _group_box,
}


# -- parts ----------------------------------------------------------------------------------------
def _combo_part(option: Option, part: QStyle.SubControl, widget: QWidget | None) -> Any:
    rect = option.rect
    if part == SC.SC_ComboBoxEditField:
        return rect.adjusted(6, 2, -28, -2)
    if part == SC.SC_ComboBoxArrow:
        return QRect(rect.right() - 28, rect.y(), 28, rect.height())
    return QRect(rect) if part == SC.SC_ComboBoxFrame else None


def _spin_part(option: Option, part: QStyle.SubControl, widget: QWidget | None) -> Any:
    rect = option.rect
    bare = option.buttonSymbols == QAbstractSpinBox.ButtonSymbols.NoButtons
    if part == SC.SC_SpinBoxEditField:
        return rect.adjusted(6, 2, -6 if bare else -_ARROWS, -2)
    if part in (SC.SC_SpinBoxUp, SC.SC_SpinBoxDown):
        if bare:
            return QRect()
        half = (rect.height() - 4) // 2
        top = rect.y() + 2 if part == SC.SC_SpinBoxUp else rect.bottom() - 1 - half
        return QRect(rect.right() - _ARROWS + 1, top, _ARROWS - 3, half)
    return QRect(rect) if part == SC.SC_SpinBoxFrame else None


def _slider_part(option: Option, part: QStyle.SubControl, widget: QWidget | None) -> Any:
    rect = option.rect
    if part == SC.SC_SliderGroove:
        return QRect(rect)
    if part != SC.SC_SliderHandle:
        return None
    across = option.orientation == Qt.Orientation.Horizontal
    inset = 3  # room for the focus ring
    span = (rect.width() if across else rect.height()) - _HANDLE - 2 * inset
    at = inset + QStyle.sliderPositionFromValue(
        option.minimum, option.maximum, option.sliderPosition, max(span, 0), option.upsideDown
    )
    if across:
        return QRect(rect.x() + at, rect.y() + (rect.height() - _HANDLE) // 2, _HANDLE, _HANDLE)
    return QRect(rect.x() + (rect.width() - _HANDLE) // 2, rect.y() + at, _HANDLE, _HANDLE)


def _scroll_part(option: Option, part: QStyle.SubControl, widget: QWidget | None) -> Any:
    rect = option.rect
    if part in (SC.SC_ScrollBarAddLine, SC.SC_ScrollBarSubLine, SC.SC_ScrollBarFirst, SC.SC_ScrollBarLast):
        return QRect()
    across = option.orientation == Qt.Orientation.Horizontal
    total = rect.width() if across else rect.height()
    span = option.maximum - option.minimum
    length = total
    if span > 0:
        length = min(total, max(28, round(total * option.pageStep / max(span + option.pageStep, 1))))
    at = QStyle.sliderPositionFromValue(
        option.minimum, option.maximum, option.sliderPosition, total - length, option.upsideDown
    )
    start, stop = {
        SC.SC_ScrollBarGroove: (0, total),
        SC.SC_ScrollBarSlider: (at, at + length),
        SC.SC_ScrollBarSubPage: (0, at),
        SC.SC_ScrollBarAddPage: (at + length, total),
    }.get(part, (0, 0))
    if across:
        return QRect(rect.x() + start, rect.y(), stop - start, rect.height())
    return QRect(rect.x(), rect.y() + start, rect.width(), stop - start)


def _group_part(option: Option, part: QStyle.SubControl, widget: QWidget | None) -> Any:
    rect = option.rect
    metrics = QFontMetrics(theme().font("title"))
    checkable = bool(option.subControls & SC.SC_GroupBoxCheckBox)
    head = metrics.height() + 8 if option.text or checkable else 0
    if part == SC.SC_GroupBoxCheckBox:
        return QRect(rect.x() + 3, rect.y() + (head - 16) // 2, 16, 16)
    if part == SC.SC_GroupBoxLabel:
        left = rect.x() + (26 if checkable else 0)
        return QRect(
            left, rect.y(), min(metrics.horizontalAdvance(option.text) + 4, rect.right() - left), head
        )
    if part == SC.SC_GroupBoxContents:
        return rect.adjusted(0, head, 0, 0)
    return QRect(rect) if part == SC.SC_GroupBoxFrame else None


PARTS: dict[QStyle.ComplexControl, Part] = {
    CC.CC_ComboBox: _combo_part,
    CC.CC_SpinBox: _spin_part,
    CC.CC_Slider: _slider_part,
    CC.CC_ScrollBar: _scroll_part,
    CC.CC_GroupBox: _group_part,
}
