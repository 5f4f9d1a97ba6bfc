"""The row of controls that a view's declared choices become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QWidget
from shiboken6 import delete

from plaidwork.core.pictures import ViewChoice
from plaidwork.core.pictures.choices import FEW, FLAG, MANY, NUMBER, TEXT
from plaidwork.gui.language import tr
from plaidwork.gui.results.item_picker import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow, in_rows
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import SegmentedControl, SliderField, button
from plaidwork.gui.widgets.layouts import vertical
from plaidwork.gui.widgets.popover import open_beside

_ROWS = 2
"""Rows of choices beside each other; what does not fit is a click away, so that the picture keeps its room."""


class _Aside(QFrame):
    """Choices below each other, opened by the button that says how many there are; Esc closes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Further choices"))
        self.column = vertical(on=self, spacing=space.M, margins=space.L)

    def open_for(self, owner: QWidget) -> None:
        """Show it with the focus on its first control."""
        self.adjustSize()
        open_beside(self, owner)
        self.focusNextChild()


class ChoiceRow(QWidget):
    """A control for every choice. It stays as long as the choice has the same values, also while that is not offered,
    so that focus and what follows a control are kept. The last ones stand in a popover where there is little room.

    Signals
    -------
    chosen : id of a choice and the value that somebody has chosen
    """

    chosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = vertical(on=self)
        self._row = OptionRow()
        self._layout.addWidget(self._row)
        self._controls: dict[str, QWidget] = {}
        self._fields: dict[str, QWidget] = {}
        self._made_for: dict[str, tuple[Any, ...]] = {}
        self._keys: dict[str, list[str]] = {}
        self._many: dict[str, ViewChoice] = {}
        self._shown: list[str] = []
        self._wide, self._inline, self._arranging = 0, 0, False
        self._aside = _Aside(self)
        self._more = button("9 more", self._open_aside, kind="quiet", icon_name="sliders", parent=self)
        self._more.setAccessibleName(tr("Further choices"))
        self._more.hide()
        self._silent, self._rows = False, _ROWS

    def control(self, name: str) -> QWidget:
        """The control of a choice. Raises ``KeyError`` when it is not offered."""
        return self._controls[name]

    def set_choices(self, choices: Sequence[ViewChoice]) -> bool:
        """Show these choices; True when there are new controls."""
        self._silent = True
        new = [choice for choice in choices if self._made_for.get(choice.id) != _parts(choice)]
        for choice in new:
            self._add(choice)
        for choice in choices:
            self._show(choice)
        self._silent = False
        names = [choice.id for choice in choices]
        if new or names != self._shown or self._fitting(names) != self._inline:
            self._arrange(names)
        self.setVisible(bool(choices))
        return bool(new)

    def _add(self, choice: ViewChoice) -> None:
        old = self._fields.pop(choice.id, None)
        if old is not None:
            delete(old)  # at once: nobody may take it for the new one
        self._many.pop(choice.id, None)
        control = self._controls[choice.id] = self._made(choice)
        self._made_for[choice.id] = _parts(choice)
        alone = isinstance(control, QCheckBox)
        self._fields[choice.id] = control if alone else Labelled(choice.title, control)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take choices out of the popover, or into it."""
        super().resizeEvent(event)
        self._wide = event.size().width()
        if not self._arranging and self._fitting(self._shown) != self._inline:
            self._arrange(self._shown)

    def set_rows(self, rows: int) -> None:
        """How many rows there are at most."""
        self._rows = rows
        if self._fitting(self._shown) != self._inline:
            self._arrange(self._shown)

    def _open_aside(self) -> None:
        self._aside.open_for(self._more)

    def _fitting(self, names: list[str]) -> int:
        """How many of these fields stand in the rows; all of them while the width is unknown."""
        widths = [self._fields[name].sizeHint().width() for name in names]
        if not self._wide or len(in_rows(widths, self._wide, space.M)) <= self._rows:
            return len(names)
        more = self._more.sizeHint().width()
        counts = range(len(names) - 1, 1, -1)
        fits = (n for n in counts if len(in_rows([*widths[:n], more], self._wide, space.M)) <= self._rows)
        return next(fits, 1)

    def _arrange(self, names: list[str]) -> None:
        """Put the fields into a new row in this order, the last ones aside; those that are not offered wait, hidden."""
        self._arranging, wide, count = True, self._wide, self._fitting(names)
        aside = [self._fields[name] for name in names[count:]]
        self._more.setText(tr(f"{len(aside)} more"))
        further = (self._more,) if aside else ()
        row, old = OptionRow(*(self._fields[name] for name in names[:count]), *further), self._row
        for field in aside:
            self._aside.column.addWidget(field)
        for name, field in self._fields.items():
            if name not in names:
                field.setParent(self)
            field.setVisible(name in names)
        self._more.setVisible(bool(aside))
        if not aside:
            self._more.setParent(self)
        self._more.setToolTip(tr(", ".join(_title(field) for field in aside)))
        self._layout.replaceWidget(old, row)
        row.show()  # at once, where the layout would do it later
        old.hide()
        old.deleteLater()
        self._row, self._shown, self._inline = row, names, count
        self._arranging = False
        if self._wide != wide and self._fitting(names) != count:
            self._arrange(names)  # showing the row had the page laid out

    def _made(self, choice: ViewChoice) -> QWidget:
        name = choice.id
        if choice.kind == FEW:
            segments = SegmentedControl(list(choice.options), choice.value)
            segments.changed.connect(lambda value: self._say(name, value))
            return segments
        if choice.kind == NUMBER:
            slider = SliderField("", choice.low, choice.high, choice.value, step=choice.step)
            slider.slider.setAccessibleName(tr(choice.title))
            slider.value_changed.connect(lambda value: self._say(name, value))
            return slider
        if choice.kind == FLAG:
            box = QCheckBox(tr(choice.title))
            box.toggled.connect(lambda value: self._say(name, value))
            return box
        if choice.kind == MANY:
            search = SearchPicker()
            search.chosen.connect(lambda text: self._say(name, self._key_of(name, text)))
            return search
        if choice.kind == TEXT:
            field = QLineEdit()
            field.setClearButtonEnabled(True)
            field.setAccessibleName(tr(choice.title))
            field.editingFinished.connect(lambda: self._say(name, field.text().strip()))
            return field
        picker = ItemPicker()
        picker.currentIndexChanged.connect(lambda at: self._say(name, self._keys[name][at]))
        return picker

    def _show(self, choice: ViewChoice) -> None:
        control = self._controls[choice.id]
        if isinstance(control, SegmentedControl):
            control.set_current(choice.value)
        elif isinstance(control, SliderField):
            control.set_range(choice.low, choice.high)
            control.set_value(choice.value)
        elif isinstance(control, QCheckBox):
            control.setChecked(choice.value)
        elif isinstance(control, QLineEdit):
            control.setText(choice.value)
        elif isinstance(control, SearchPicker):
            self._show_many(control, choice)
        elif isinstance(control, ItemPicker):
            keys = self._keys[choice.id] = [key for key, _ in choice.options]
            control.set_names([text for _, text in choice.options], keys.index(choice.value))

    def _show_many(self, control: SearchPicker, choice: ViewChoice) -> None:
        old = self._many.get(choice.id)
        if old is not None and (old.options, old.sections) == (choice.options, choice.sections):
            control.set_current(choice.text)
        else:
            names, sections, first = [text for _, text in choice.options], {}, 0
            for head, count in choice.sections:
                sections[head] = names[first : first + count]
                first += count
            control.set_sections(sections, choice.text)
        self._many[choice.id] = choice

    def _key_of(self, name: str, text: str) -> str:
        return next(key for key, shown in self._many[name].options if shown == text)

    def _say(self, name: str, value: object) -> None:
        if not self._silent:
            self.chosen.emit(name, value)


def _title(field: QWidget) -> str:
    """The words beside a control."""
    if isinstance(field, Labelled):
        return field.label.text()
    return field.text() if isinstance(field, QCheckBox) else ""


def _parts(choice: ViewChoice) -> tuple[Any, ...]:
    """What a control is made for; the names in a list may change, and the ends of a number."""
    return choice.title, choice.kind, choice.options if choice.kind == FEW else choice.step
