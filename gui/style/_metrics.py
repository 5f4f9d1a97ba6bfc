"""Sizes and hints of the style."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QStyle,
    QTreeView,
    QWidget,
)

from plaidwork.gui.style._paint import Option, flag_of
from plaidwork.gui.theme import size, theme

PM = QStyle.PixelMetric
CT = QStyle.ContentsType
SH = QStyle.StyleHint

METRICS: dict[QStyle.PixelMetric, int] = {
    PM.PM_ScrollBarExtent: size.SCROLL_BAR,
    PM.PM_ScrollBarSliderMin: 28,
    PM.PM_ScrollView_ScrollBarSpacing: 0,
    PM.PM_SplitterWidth: 7,
    PM.PM_IndicatorWidth: 16,
    PM.PM_IndicatorHeight: 16,
    PM.PM_ExclusiveIndicatorWidth: 16,
    PM.PM_ExclusiveIndicatorHeight: 16,
    PM.PM_CheckBoxLabelSpacing: 6,
    PM.PM_RadioButtonLabelSpacing: 6,
    PM.PM_MessageBoxIconSize: size.ICON_EMPTY,
    PM.PM_DockWidgetSeparatorExtent: 1,
    PM.PM_DockWidgetFrameWidth: 0,
    PM.PM_DefaultFrameWidth: 1,
    PM.PM_ComboBoxFrameWidth: 1,
    PM.PM_SpinBoxFrameWidth: 1,
    PM.PM_ButtonShiftHorizontal: 0,
    PM.PM_ButtonShiftVertical: 0,
    PM.PM_ButtonDefaultIndicator: 0,
    PM.PM_MenuPanelWidth: 1,
    PM.PM_MenuHMargin: 4,
    PM.PM_MenuVMargin: 4,
    PM.PM_MenuBarPanelWidth: 0,
    PM.PM_MenuBarHMargin: 8,
    PM.PM_MenuBarVMargin: 0,
    PM.PM_MenuBarItemSpacing: 0,
    PM.PM_ToolBarFrameWidth: 0,
    PM.PM_ToolBarItemMargin: 8,
    PM.PM_ToolBarItemSpacing: 4,
    PM.PM_ToolBarSeparatorExtent: 9,
    PM.PM_SliderLength: 16,
    PM.PM_SliderThickness: size.HIT,
    PM.PM_SliderControlThickness: 16,
    PM.PM_TabBarTabShiftVertical: 0,
    PM.PM_TabBarTabShiftHorizontal: 0,
    PM.PM_TabBarTabOverlap: 0,
    PM.PM_TabBarTabHSpace: 24,
    PM.PM_HeaderMargin: 8,
    PM.PM_HeaderMarkSize: 8,
    PM.PM_TreeViewIndentation: 18,
    PM.PM_ToolTipLabelFrameWidth: 7,
}

ICONS = {
    PM.PM_SmallIconSize,
    PM.PM_ButtonIconSize,
    PM.PM_TabBarIconSize,
    PM.PM_ListViewIconSize,
    PM.PM_ToolBarIconSize,
    PM.PM_LineEditIconSize,
}
"""Sizes of icons, which grow with the text."""

HINTS: dict[QStyle.StyleHint, int] = {
    SH.SH_EtchDisabledText: 0,
    SH.SH_DitherDisabledText: 0,
    SH.SH_ItemView_ShowDecorationSelected: 1,
    SH.SH_ComboBox_Popup: 0,
    SH.SH_Slider_AbsoluteSetButtons: Qt.MouseButton.LeftButton.value,
    SH.SH_TabBar_Alignment: Qt.AlignmentFlag.AlignLeft.value,
    SH.SH_TabBar_ElideMode: Qt.TextElideMode.ElideNone.value,
    SH.SH_Widget_Animate: 0,
    SH.SH_Widget_Animation_Duration: 0,
    SH.SH_DialogButtonBox_ButtonsHaveIcons: 0,
    SH.SH_UnderlineShortcut: 0,
    SH.SH_ToolTip_WakeUpDelay: 500,
    SH.SH_ScrollBar_LeftClickAbsolutePosition: 1,
}


def pixel_metric(metric: QStyle.PixelMetric, widget: QWidget | None) -> int | None:
    """Own value of a metric, None for that of Fusion."""
    if metric == PM.PM_FocusFrameHMargin:
        return 3 if isinstance(widget, QTreeView) else 7
    if metric == PM.PM_DefaultFrameWidth and isinstance(widget, QAbstractScrollArea):
        return 2 if not isinstance(widget, QAbstractItemView) else 1
    return size.ICON if metric in ICONS else METRICS.get(metric)


def contents_size(kind: QStyle.ContentsType, option: Option, size_: QSize, widget: QWidget | None) -> QSize:
    """Adjust the size hint `size_` of Fusion (or of the content, for buttons and fields)."""
    adjust = _SIZES.get(kind)
    return size_ if adjust is None else adjust(option, QSize(size_), widget)


def line_edit_contents(option: Option, widget: QWidget | None) -> QRect:
    """Where the text of a line edit goes: 10 px from the outline, 2 inside other controls."""
    owner = widget.parentWidget() if widget is not None else None
    inner = isinstance(owner, QAbstractSpinBox | QComboBox)
    if inner or getattr(option, "lineWidth", 1) <= 0:
        return option.rect.adjusted(1, 0, -1, 0)
    return option.rect.adjusted(8, 2, -6, -2)


_MOST_KNOWN = 500
_known_extra: dict[tuple[str, str, str], int] = {}
"""Pixels by text and fonts."""


def _bold_extra(text: str, widget: QWidget | None) -> int:
    normal, bold = widget.font() if widget is not None else theme().font("body"), theme().font("strong")
    key = (text, normal.key(), bold.key())
    if key not in _known_extra:  # a tab is measured tens of times while a page is laid out
        if len(_known_extra) >= _MOST_KNOWN:
            _known_extra.clear()
        wide = QFontMetrics(bold).horizontalAdvance(text) - QFontMetrics(normal).horizontalAdvance(text)
        _known_extra[key] = max(0, wide)
    return _known_extra[key]


def _high(hint: QSize, least: int) -> QSize:
    return QSize(hint.width(), max(hint.height(), least))


def _control_height(widget: QWidget | None) -> int:
    text = widget.fontMetrics().height() if widget is not None else 0
    return max(size.CONTROL, text + 12)


def _push_button(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    extra = _bold_extra(option.text, widget) if flag_of(widget, "primary") else 0
    wide = hint.width() + extra + 22
    return QSize(max(wide, 76) if option.text else size.CONTROL, _control_height(widget))


def _tab(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    if not option.text:  # an icon stands in the middle of as little as can be hit
        return QSize(size.ICON + 24, size.TAB)
    return QSize(hint.width() + _bold_extra(option.text, widget) + 6, size.TAB)


def _tool_button(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    if option.toolButtonStyle == Qt.ToolButtonStyle.ToolButtonIconOnly:
        return hint.expandedTo(QSize(size.COMPACT, size.COMPACT))
    return _high(QSize(hint.width() + 8, hint.height()), size.COMPACT)


def _menu_item(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    if not option.text and hint.height() < 16:
        return QSize(hint.width(), 9)
    text, _, keys = option.text.partition("\t")
    metrics = QFontMetrics(option.font)
    wide = 34 + metrics.horizontalAdvance(text.replace("&", "")) + 34
    return QSize(wide + (metrics.horizontalAdvance(keys) + 24 if keys else 0), size.ROW)


def _header(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    wide = QFontMetrics(theme().font("caption")).horizontalAdvance(option.text)
    return QSize(wide + 2 * 8 + 12, size.TABLE_HEAD)


def _progress(option: Option, hint: QSize, widget: QWidget | None) -> QSize:
    return hint if option.textVisible else QSize(hint.width(), size.PROGRESS)


_SIZES = {
    CT.CT_PushButton: _push_button,
    CT.CT_TabBarTab: _tab,
    CT.CT_ToolButton: _tool_button,
    CT.CT_MenuItem: _menu_item,
    CT.CT_ProgressBar: _progress,
    CT.CT_LineEdit: lambda _, hint, w: QSize(hint.width() + 14, _control_height(w)),
    CT.CT_ComboBox: lambda _, hint, w: QSize(hint.width() + 44, _control_height(w)),
    CT.CT_SpinBox: lambda _, hint, w: QSize(hint.width() + 38, _control_height(w)),
    CT.CT_CheckBox: lambda _, hint, w: _high(hint, size.HIT),
    CT.CT_RadioButton: lambda _, hint, w: _high(hint, size.HIT),
    CT.CT_MenuBarItem: lambda _, hint, w: QSize(hint.width() + 4, size.MENU_BAR),
    CT.CT_HeaderSection: _header,
    CT.CT_ItemViewItem: lambda _, hint, w: _high(hint, size.ROW if isinstance(w, QTreeView) else size.HIT),
    CT.CT_Slider: lambda _, hint, w: hint.expandedTo(QSize(size.HIT, size.HIT)),
}

#: Kinds whose content size is passed on as it is, without Fusion's margins.
FROM_CONTENT = {CT.CT_PushButton, CT.CT_LineEdit, CT.CT_ComboBox, CT.CT_SpinBox}
