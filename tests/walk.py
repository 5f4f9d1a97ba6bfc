"""Walks through what is on the screen and tells what a careful reader would complain of.

`complaints` looks at the widgets that are visible now; `options` chooses everything that a page lets one choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from plaidwork.gui.results.broken_page import BrokenPage
from plaidwork.gui.results.choices import controls_in
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import DataTable, Label, SegmentedControl, SliderField, StatePane

_SLACK = 1
"""Pixels by which rounding may be off."""
_FAILURES = ("could not be drawn", "could not be shown", "could not be", "failed")


def complaints(root: QWidget) -> list[str]:
    """What is wrong with the visible widgets in a window: cut text, widgets outside their parents, broken pages."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        if not widget.isVisible() or (widget.visibleRegion().isEmpty() and not _lost(widget)):
            continue
        for tell in (_cut, _lost, _broken):
            words = tell(widget)
            if words:
                found.append(f"{_path(widget, root)}: {words}")
    return found


def _path(widget: QWidget, root: QWidget) -> str:
    names: list[str] = []
    at: QWidget | None = widget
    while at is not None and at is not root and len(names) < 4:
        name = at.objectName() or at.accessibleName()
        names.append(type(at).__name__ + (f" “{name}”" if name else ""))
        at = at.parentWidget()
    return " in ".join(names)


# -- text that is cut ---------------------------------------------------------------------------
def _cut(widget: QWidget) -> str:
    """How much of the words is missing, when nothing else (a tool tip) has them."""
    if isinstance(widget, QLabel):
        return _cut_label(widget)
    if isinstance(widget, QPushButton | QCheckBox):
        short = widget.minimumSizeHint().width() - widget.width()
        return f"“{widget.text()}” is cut by {short} px" if widget.text() and short > _SLACK else ""
    if isinstance(widget, QAbstractButton) and isinstance(widget.parentWidget(), SegmentedControl):
        short = widget.fontMetrics().horizontalAdvance(widget.text()) - widget.width()
        return f"“{widget.text()}” is cut by {short} px" if short > _SLACK else ""
    if isinstance(widget, QComboBox):
        return _cut_combo(widget)
    return ""


def _cut_label(label: QLabel) -> str:
    text = label.text()
    if not text or not label.pixmap().isNull():
        return ""
    room, metrics = label.contentsRect(), label.fontMetrics()
    if label.wordWrap():
        needs = metrics.boundingRect(
            QRect(0, 0, room.width(), 10_000), int(label.alignment()) | 0x1000, text
        ).height()
        return (
            f"“{text}” needs {needs} px and has {room.height()} px of height"
            if needs > room.height() + 2
            else ""
        )
    if room.height() < metrics.ascent() + metrics.descent() - _SLACK:
        return f"“{text}” needs {metrics.height()} px and has {room.height()} px of height"
    if isinstance(label, Label) and label.minimumSizeHint().width() < label.sizeHint().width():
        return ""  # it elides, and then has a tool tip
    if label.toolTip():
        return ""
    needs = max(metrics.horizontalAdvance(line) for line in text.splitlines())
    if needs > room.width() + _SLACK:
        return f"“{text}” needs {needs} px and has {room.width()} px"
    return ""


def _cut_combo(combo: QComboBox) -> str:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    field = combo.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, combo
    )
    needs = combo.fontMetrics().horizontalAdvance(combo.currentText())
    if needs > field.width() + _SLACK and not combo.toolTip():
        return f"“{combo.currentText()}” needs {needs} px and has {field.width()} px, without a tool tip"
    return ""


# -- widgets that are not where they belong -----------------------------------------------------
def _lost(widget: QWidget) -> str:
    """Where a widget sticks out of its parent, unless that scrolls."""
    parent = widget.parentWidget()
    if (
        parent is None
        or widget.isWindow()
        or not widget.isVisible()
        or not widget.width()
        or not widget.height()
    ):
        return ""
    if isinstance(parent.parentWidget(), QAbstractScrollArea) and parent is parent.parentWidget().viewport():
        return ""
    area = widget.geometry()
    if parent.rect().adjusted(-_SLACK, -_SLACK, _SLACK, _SLACK).contains(area):
        return ""
    at: QPoint = area.topLeft()
    return (
        f"{area.width()} × {area.height()} at {at.x()}, {at.y()} is not within its parent of "
        f"{parent.width()} × {parent.height()}"
    )


def _broken(widget: QWidget) -> str:
    if isinstance(widget, BrokenPage):
        return f"broken page: {widget._reason}"
    if isinstance(widget, StatePane) and any(words in widget.title for words in _FAILURES):
        return f"{widget.title}: {widget._text.text()}"
    return ""


# -- everything that can be chosen --------------------------------------------------------------
def options(page: QWidget, most: int = 4) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name and act of every other choice in the visible controls of a page, ``most`` per control.

    At the end each control is as it was, unless only one other choice was made.
    """
    for name, control, kind in list(controls_in(page)):
        if not control.isVisible() or not control.isEnabled() or isinstance(control, DataTable):
            continue
        before = kind.read(control)
        others = [value for value in _values(control) if value != before]
        if len(others) > most:
            others = [*others[: most - 1], others[-1]]
        for value in [*others, before] if most > 1 else others:
            yield (
                f"{name} = {value}",
                lambda value=value, control=control, kind=kind: kind.write(control, value),
            )


def _values(control: QWidget) -> list:
    if isinstance(control, SegmentedControl):
        return [key for key in control._keys if control.offers(key)]
    if isinstance(control, SliderField):
        slider = control.slider
        ends = (slider.minimum(), (slider.minimum() + slider.maximum()) // 2, slider.maximum())
        return [control._minimum + place * control._step for place in ends]
    if isinstance(control, SearchPicker):
        return [name for names in control._sections.values() for name in names]
    if isinstance(control, QComboBox):
        return [control.itemText(place) for place in range(control.count())]
    return [True, False] if isinstance(control, QCheckBox) else []


def settle(page: QWidget) -> None:
    """Wait until a page has nothing more to compute, and all is in its place (which asks for layout again)."""
    if hasattr(page, "wait"):
        page.wait(20_000)
    else:
        wait_for_tasks(20_000)
    for _ in range(3):
        QApplication.processEvents()
