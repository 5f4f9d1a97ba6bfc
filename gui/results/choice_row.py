"""The row of controls that a view's declared choices become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget
from shiboken6 import delete

from plaidwork.core.pictures import ViewChoice
from plaidwork.core.pictures.choices import FEW, FLAG, MANY, NUMBER, TEXT
from plaidwork.gui.results.item_picker import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.widgets import SegmentedControl, SliderField, tool_button
from plaidwork.gui.widgets.layouts import vertical


class ChoiceRow(QWidget):
    """A control for every choice. It stays as long as the choice has the same values, also while that is not offered,
    so that focus and what follows a control are kept.

    Signals
    -------
    chosen : id of a choice and the value that somebody has chosen
    pencil : what the choice of a factor, block or topic shows is to be renamed
    """

    chosen = Signal(str, object)
    pencil = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = vertical(on=self)
        self._row = OptionRow()
        self._layout.addWidget(self._row)
        self._controls: dict[str, QWidget] = {}
        self._fields: dict[str, QWidget] = {}
        self._made_for: dict[str, tuple[Any, ...]] = {}
        self._keys: dict[str, list[str]] = {}
        self._pencils: dict[str, QWidget] = {}
        self._many: dict[str, ViewChoice] = {}
        self._shown: list[str] = []
        self._silent = False

    def control(self, name: str) -> QWidget:
        """The control of a choice. Raises ``KeyError`` when it is not offered."""
        return self._controls[name]

    def set_choices(self, choices: Sequence[ViewChoice], named: bool = False) -> bool:
        """Show these choices, ``named`` with a pencil where factors, blocks or topics can be renamed; True when there are
        new controls."""
        self._silent = True
        new = [choice for choice in choices if self._made_for.get(choice.id) != _parts(choice)]
        for choice in new:
            self._add(choice)
        for choice in choices:
            self._show(choice)
            if choice.id in self._pencils:
                self._pencils[choice.id].setVisible(named and choice.item_of(choice.value) is not None)
        self._silent = False
        names = [choice.id for choice in choices]
        if new or names != self._shown:
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
        after = []
        if choice.of == "layer":
            pencil = tool_button("pencil", f"Rename the {choice.title.lower()} (F2)", self.pencil.emit)
            self._pencils[choice.id] = pencil
            after.append(pencil)
        self._fields[choice.id] = control if alone else Labelled(choice.title, control, *after)

    def _arrange(self, names: list[str]) -> None:
        """Put the fields into a new row in this order; the others wait, hidden."""
        row, old = OptionRow(*(self._fields[name] for name in names)), self._row
        for name, field in self._fields.items():
            field.setVisible(name in names)
            if name not in names:
                field.setParent(self)
        self._layout.replaceWidget(old, row)
        row.show()  # at once, where the layout would do it later
        old.hide()
        old.deleteLater()
        self._row, self._shown = row, names

    def _made(self, choice: ViewChoice) -> QWidget:
        name = choice.id
        if choice.kind == FEW:
            segments = SegmentedControl(list(choice.options), choice.value)
            segments.changed.connect(lambda value: self._say(name, value))
            return segments
        if choice.kind == NUMBER:
            slider = SliderField("", choice.low, choice.high, choice.value, step=choice.step)
            slider.slider.setAccessibleName(choice.title)
            slider.value_changed.connect(lambda value: self._say(name, value))
            return slider
        if choice.kind == FLAG:
            box = QCheckBox(choice.title)
            box.toggled.connect(lambda value: self._say(name, value))
            return box
        if choice.kind == MANY:
            search = SearchPicker()
            search.chosen.connect(lambda text: self._say(name, self._key_of(name, text)))
            return search
        if choice.kind == TEXT:
            field = QLineEdit()
            field.setClearButtonEnabled(True)
            field.setAccessibleName(choice.title)
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


def _parts(choice: ViewChoice) -> tuple[Any, ...]:
    """What a control is made for; the names in a list may change, and the ends of a number."""
    return choice.title, choice.kind, choice.options if choice.kind == FEW else choice.step
