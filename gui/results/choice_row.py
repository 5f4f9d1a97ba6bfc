"""The row of controls that a view's declared choices become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from plaidwork.core.pictures import ViewChoice
from plaidwork.core.pictures.choices import FEW, FLAG, NUMBER
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.option_row import Labelled, OptionRow
from plaidwork.gui.widgets import SegmentedControl, SliderField
from plaidwork.gui.widgets.layouts import vertical


class ChoiceRow(QWidget):
    """A control for every choice, kept as long as the same choices are offered.

    Signals
    -------
    chosen : id of a choice and the value that somebody has chosen
    """

    chosen = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = vertical(on=self)
        self._row: OptionRow | None = None
        self._controls: dict[str, QWidget] = {}
        self._keys: dict[str, list[str]] = {}
        self._shown: tuple[tuple[Any, ...], ...] = ()
        self._silent = False

    def control(self, name: str) -> QWidget:
        """The control of a choice. Raises ``KeyError`` when it is not offered."""
        return self._controls[name]

    def set_choices(self, choices: Sequence[ViewChoice]) -> bool:
        """Show these choices; True when there are new controls."""
        parts = tuple(
            (c.id, c.title, c.kind, c.options if c.kind == FEW else (c.low, c.high)) for c in choices
        )
        again = parts != self._shown
        self._silent = True
        if again:
            self._rebuild(choices)
            self._shown = parts
        for choice in choices:
            self._show(choice)
        self._silent = False
        self.setVisible(bool(choices))
        return again

    def _rebuild(self, choices: Sequence[ViewChoice]) -> None:
        if self._row is not None:
            self._layout.removeWidget(self._row)
            self._row.hide()
            self._row.deleteLater()
        self._controls = {choice.id: self._made(choice) for choice in choices}
        fields = [
            control if isinstance(control, QCheckBox) else Labelled(choice.title, control)
            for choice, control in zip(choices, self._controls.values(), strict=True)
        ]
        self._row = OptionRow(*fields)
        self._layout.addWidget(self._row)

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
        picker = ItemPicker()
        picker.currentIndexChanged.connect(lambda at: self._say(name, self._keys[name][at]))
        return picker

    def _show(self, choice: ViewChoice) -> None:
        control = self._controls[choice.id]
        if isinstance(control, SegmentedControl):
            control.set_current(choice.value)
        elif isinstance(control, SliderField):
            control.set_value(choice.value)
        elif isinstance(control, QCheckBox):
            control.setChecked(choice.value)
        elif isinstance(control, ItemPicker):
            keys = [key for key, _ in choice.options]
            self._keys[choice.id] = keys
            control.set_names([text for _, text in choice.options], keys.index(choice.value))

    def _say(self, name: str, value: object) -> None:
        if not self._silent:
            self.chosen.emit(name, value)
