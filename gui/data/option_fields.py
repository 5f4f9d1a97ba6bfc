"""One field for each way in which a file can be read, made from its declaration."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from plaidwork.core.data.importers import Preview
from plaidwork.core.data.reading_options import ReadingOption
from plaidwork.core.errors import DataError
from plaidwork.gui.data.import_state import same
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.style import set_variant
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Chip, Label, tool_button
from plaidwork.gui.widgets.layouts import add, horizontal, vertical

_RADIOS = ("samples_in",)
_TYPED = ("text", "number", "columns", "texts", "size")


class OptionField(QWidget):
    """Label, chip *detected* (or an arrow back to detection), editor, and why a choice is needed.

    The editor follows from the kind of the option: a combo box for choices and columns (radio buttons for `samples_in`),
    a check box for flags, a line of text for everything else.
    """

    changed = Signal(str, object)

    def __init__(self, option: ReadingOption, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.option, self.name = option, option.name
        self._choices: list[tuple[Any, str]] = []
        self._shown = ""
        self.chip = Chip("detected", parent=self)
        self.again = tool_button(
            "reset", "Detect again", lambda: self.changed.emit(self.name, None), parent=self
        )
        for one in (self.chip, self.again):  # until something was read
            one.hide()
        self.error = ErrorLine()
        self.radios = QButtonGroup(self)
        self.editor = self._made_editor()
        self.editor.setObjectName(f"option_{self.name}")
        self.editor.setAccessibleName(tr(option.title))
        self.editor.setToolTip(tr(f"{option.doc[:1].upper()}{option.doc[1:]}."))
        column = vertical(on=self, spacing=space.XS)
        if option.kind != "flag":  # a box has its words beside it, and is taken back by itself
            head = horizontal((Label(option.title, elide=True), 1), self.chip, self.again, spacing=space.XS)
            column.addLayout(head)
        add(column, self.editor, self.error)

    def _made_editor(self) -> QWidget:
        if self.option.kind in _TYPED:
            line = QLineEdit()
            line.editingFinished.connect(self._typed)
            return line
        if self.option.kind == "flag":
            box = QCheckBox(tr(self.option.title))
            box.clicked.connect(lambda on: self.changed.emit(self.name, on))
            return box
        if self.name in _RADIOS:
            group = QWidget()
            vertical(on=group, spacing=space.XS)
            self.radios.idClicked.connect(self._picked)
            return group
        combo = QuietCombo()
        combo.activated.connect(self._picked)
        return combo

    def show_preview(self, preview: Preview, given: bool) -> None:
        """Show what is in force; where the user has to choose, why."""
        value, unclear = preview.options.get(self.name), preview.unclear.get(self.name, "")
        if isinstance(self.editor, QLineEdit):
            self._shown = self._text(preview, value)
            if not self.editor.hasFocus() or not given:
                self.editor.setText(self._shown)
                self.editor.setCursorPosition(0)
            self.editor.setPlaceholderText(tr(self.option.off))
        elif isinstance(self.editor, QCheckBox):
            blocker = QSignalBlocker(self.editor)
            self.editor.setChecked(self.option.default if value is None else bool(value))
            blocker.unblock()
        else:
            self._set_choices(self._offered(preview), None if unclear else value, bool(unclear))
        has_head = self.option.kind != "flag"
        self.chip.setVisible(has_head and self.name in preview.detected and not unclear)
        self.again.setVisible(has_head and given)
        self.error.set_text(unclear)
        set_variant(self.editor, "invalid", bool(unclear))

    def _offered(self, preview: Preview) -> list[tuple[Any, str]]:
        """The choices of the file, else the declared ones after the words for "not given"."""
        if self.name in preview.choices:
            return list(preview.choices[self.name])
        off = (None, self.option.off)
        if self.option.kind == "column":
            titles = enumerate(preview.header[:50])
            return [off, *((i, f"Column “{title}”" if title else f"Column {i + 1}") for i, title in titles)]
        return [off, *self.option.choices]

    def _set_choices(self, choices: list[tuple[Any, str]], value: Any, unclear: bool) -> None:
        places = (k for k, (item, _) in enumerate(choices) if same(item, value))
        current = -1 if unclear else next(places, -1)
        new = [text for _, text in choices] != [text for _, text in self._choices]
        self._choices = choices
        if isinstance(self.editor, QuietCombo):
            blocker = QSignalBlocker(self.editor)
            if new:
                self.editor.clear()
                self.editor.addItems([tr(text) for _, text in choices])
            self.editor.setPlaceholderText(tr("Choose…"))
            self.editor.setCurrentIndex(current)
            blocker.unblock()
            return
        if new:
            for button in self.radios.buttons():
                self.radios.removeButton(button)
                button.deleteLater()
            for number, (_, text) in enumerate(choices):
                button = QRadioButton(tr(text))
                self.radios.addButton(button, number)
                self.editor.layout().addWidget(button)
        if current >= 0:
            self.radios.button(current).setChecked(True)

    def _picked(self, number: int) -> None:
        self.changed.emit(self.name, self._choices[number][0])

    # -- lines of text ----------------------------------------------------------------------------
    def _text(self, preview: Preview, value: Any) -> str:
        if self.name in preview.choices:
            return preview.choices[self.name][0][1]
        if value is None:
            return ""
        if self.option.kind == "columns":
            items = value if isinstance(value, (list, tuple)) else [value]
            return ", ".join(_quoted(preview.header[i] if isinstance(i, int) else i) for i in items)
        if self.option.kind == "size":
            return " × ".join(map(str, value))
        return str(value)

    def _typed(self) -> None:
        assert isinstance(self.editor, QLineEdit)
        text = self.editor.text().strip()
        if text == self._shown:
            return
        try:
            value = self.option.parsed(_read(self.option, text)) if text else None
        except (ValueError, DataError):
            self.error.set_text(
                f"“{text}” is not understood. {self.option.doc[:1].upper()}{self.option.doc[1:]}."
            )
            set_variant(self.editor, "invalid", True)
            return
        self._shown = text
        self.changed.emit(self.name, value)


def _quoted(title: str) -> str:
    return f'"{title}"' if "," in title else title


def _read(option: ReadingOption, text: str) -> Any:
    """What a typed line stands for. Raises ``ValueError``."""
    if option.kind == "number":
        return int(text)
    if option.kind == "columns":
        return [part.strip() for part in next(csv.reader([text], skipinitialspace=True)) if part.strip()]
    if option.kind == "size":
        sides: Sequence[str] = re.findall(r"\d+", text)
        if len(sides) != 2:
            raise ValueError(text)
        return [int(side) for side in sides]
    return text
