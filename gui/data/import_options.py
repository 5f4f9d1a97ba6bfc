"""The left side of the import dialog: how the file is read, made from the choices of the preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from plaidwork.core.importers import Preview
from plaidwork.gui.data.import_state import ORDER, option_title, same
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.style import set_variant
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Chip, Label, tool_button

_RADIOS = ("samples_in",)


class OptionField(QWidget):
    """Label, chip *detected* (or an arrow back to detection), editor, and why a choice is needed.

    The editor is a combo box; radio buttons for `samples_in`; a line of text where the reader
    offers one list of texts (missing values).
    """

    changed = Signal(str, object)

    def __init__(self, name: str, as_text: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self._choices: list[tuple[Any, str]] = []
        self._shown = ""
        self.chip = Chip("detected")
        self.again = tool_button("reset", "Detect again", lambda: self.changed.emit(name, None))
        self.error = ErrorLine()
        head = QHBoxLayout()
        head.setSpacing(space.XS)
        head.addWidget(Label(option_title(name), elide=True), 1)
        head.addWidget(self.chip)
        head.addWidget(self.again)
        self._head = head
        self.editor: QWidget
        self.radios = QButtonGroup(self)
        if as_text:
            self.editor = QLineEdit()
            self.editor.editingFinished.connect(self._typed)
        elif name in _RADIOS:
            self.editor = QWidget()
            column = QVBoxLayout(self.editor)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(space.XS)
            self.radios.idClicked.connect(self._picked)
        else:
            self.editor = QuietCombo()
            self.editor.activated.connect(self._picked)
        self.editor.setObjectName(f"option_{name}")
        self.editor.setAccessibleName(option_title(name))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(space.XS)
        column.addLayout(head)
        column.addWidget(self.editor)
        column.addWidget(self.error)

    def show_value(
        self, choices: Sequence[tuple[Any, str]], value: Any, detected: bool, given: bool, unclear: str
    ) -> None:
        """Show what is in force; `unclear` is the reason why the user has to choose."""
        choices = list(choices)
        if isinstance(self.editor, QLineEdit):
            self._choices = choices
            self._shown = choices[0][1] if choices else ""
            if not self.editor.hasFocus() or not given:
                self.editor.setText(self._shown)
                self.editor.setCursorPosition(0)
        else:
            self._set_choices(choices, None if unclear else value)
        self.chip.setVisible(detected and not unclear)
        self.again.setVisible(given)
        self.error.set_text(unclear)
        set_variant(self.editor, "invalid", bool(unclear))

    def _set_choices(self, choices: list[tuple[Any, str]], value: Any) -> None:
        current = next((k for k, (item, _) in enumerate(choices) if same(item, value)), -1)
        new = [text for _, text in choices] != [text for _, text in self._choices]
        self._choices = choices
        if isinstance(self.editor, QuietCombo):
            blocker = QSignalBlocker(self.editor)
            if new:
                self.editor.clear()
                self.editor.addItems([text for _, text in choices])
            self.editor.setPlaceholderText("Choose…")
            self.editor.setCurrentIndex(current)
            blocker.unblock()
            return
        if new:
            for button in self.radios.buttons():
                self.radios.removeButton(button)
                button.deleteLater()
            for number, (_, text) in enumerate(choices):
                button = QRadioButton(text)
                self.radios.addButton(button, number)
                self.editor.layout().addWidget(button)
        if current >= 0:
            self.radios.button(current).setChecked(True)

    def _picked(self, number: int) -> None:
        self.changed.emit(self.name, self._choices[number][0])

    def _typed(self) -> None:
        assert isinstance(self.editor, QLineEdit)
        text = self.editor.text().strip()
        if text != self._shown:
            self._shown = text
            self.changed.emit(self.name, text or None)


class OptionsPanel(QWidget):
    """All options that the reader offers, in a fixed order; emits `changed` with name and value.

    None as value means: detect it.
    """

    changed = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fields: dict[str, OptionField] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(space.M)

    def field(self, name: str) -> OptionField:
        """The field of an option."""
        return self._fields[name]

    @property
    def names(self) -> list[str]:
        """Options shown."""
        return [name for name, field in self._fields.items() if not field.isHidden()]

    def show_preview(self, preview: Preview, given: dict[str, Any]) -> None:
        """Show the options of a preview."""
        rank = {name: place for place, name in enumerate(ORDER)}
        names = sorted(preview.choices, key=lambda name: rank.get(name, len(rank)))
        for name in names:
            choices = preview.choices[name]
            if name not in self._fields:
                as_text = len(choices) == 1 and isinstance(choices[0][0], (list, tuple))
                made = OptionField(name, as_text)
                made.changed.connect(self.changed)
                self._fields[name] = made
                self._column.addWidget(made)
            self._fields[name].show_value(
                choices,
                preview.options.get(name),
                name in preview.detected,
                name in given,
                preview.unclear.get(name, ""),
            )
        if preview.choices:
            for name, field in self._fields.items():
                field.setVisible(name in preview.choices)
