"""The left side of the import dialog: how the file is read, made from the options that its reader declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from plaidwork.core.data.importers import Preview
from plaidwork.core.data.reading_options import MAIN, ReadingOption, options_of, reading_option
from plaidwork.gui.data.option_fields import OptionField
from plaidwork.gui.setup.sections import Fold
from plaidwork.gui.theme import space
from plaidwork.gui.widgets.layouts import vertical

_OF_LONG = ("sample", "feature", "value", "view", "part", "repeated", "absent")
_OF_WIDE = ("names", "samples_in", "labels", "skip", "column", "distinct_labels")


class OptionsPanel(QWidget):
    """All options of a reader in the order of their declaration; emits `changed` with name and value.

    None as value means: detect it, or do not do it. Options that are seldom needed are in a part that opens.
    """

    changed = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fields: dict[str, OptionField] = {}
        self._column = _column(self)
        further = QWidget()
        self._further = _column(further)
        self.fold = Fold("Further options", further)
        self._column.addWidget(self.fold)
        self.fold.hide()

    def field(self, name: str) -> OptionField:
        """The field of an option."""
        return self._fields[name]

    @property
    def names(self) -> list[str]:
        """Options that are shown at once."""
        return [name for name, field in self._fields.items() if not field.isHidden() and name in MAIN]

    @property
    def all_names(self) -> set[str]:
        """Every option that has a field, shown or in the part that opens."""
        return set(self._fields)

    def set_reader(self, reader: str) -> None:
        """Make the fields of a built-in reader."""
        for option in options_of(reader):
            self._add(option)

    def _add(self, option: ReadingOption) -> None:
        made = OptionField(option)
        made.changed.connect(self.changed)
        self._fields[option.name] = made
        if option.name in MAIN:
            self._column.insertWidget(self._column.count() - 1, made)
        else:
            self._further.addWidget(made)
            self.fold.show()

    def show_preview(self, preview: Preview, given: Mapping[str, Any]) -> None:
        """Show the options of a preview; choices of a plugin's reader that were not declared get a field, too."""
        for name, choices in preview.choices.items():
            if name not in self._fields:
                self._add(_undeclared(name, list(choices)))
        for name, field in self._fields.items():
            field.show_preview(preview, name in given)
        if not preview.choices and not preview.header:
            # nothing could be read: what may help stays in sight, and what was given, so that it can be changed
            for name in set(_OF_LONG) & self._fields.keys():
                self._fields[name].setVisible(name in given)
            return
        hidden = {"long": _OF_WIDE, "wide": _OF_LONG}.get(str(preview.options.get("layout")), ())
        for name, field in self._fields.items():
            empty = field.option.kind == "choice" and not field.option.choices and name not in preview.choices
            field.setVisible(not empty and name not in hidden)
        changed = [
            field.option.title for name, field in self._fields.items() if name in given and name not in MAIN
        ]
        self.fold.set_note(", ".join(changed))


def _undeclared(name: str, choices: list[tuple[Any, str]]) -> ReadingOption:
    """A choice that a plugin's reader offers."""
    known = reading_option(name)
    if known is not None:
        return known
    texts = len(choices) == 1 and isinstance(choices[0][0], (list, tuple))
    title = name.replace("_", " ").capitalize()
    return ReadingOption(name, "texts" if texts else "choice", title, title, (), tuple(choices))


def _column(widget: QWidget) -> QVBoxLayout:
    column = vertical(on=widget, spacing=space.M)
    return column
