"""A setting on the form: label, range, editor, unit, and a line of help or what is wrong."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import EDITORS, CheckEdit, Editor, FocusWatch, typed
from plaidwork.gui.setup.entry import parse, short_range, write
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.setup.matrix_edit import MatrixEdit
from plaidwork.gui.style import set_variant
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal, vertical


def editor_of(parameter: Hyperparameter) -> Editor | MatrixEdit:
    """The editor for a setting."""
    return MatrixEdit(parameter) if parameter.per else EDITORS[parameter.kind](parameter)


class SettingField(QWidget):
    """One setting. Errors appear when the field is left; a changed value carries a mark and an arrow back.

    Signals
    -------
    changed : the value or its validity may have changed (also while typing)
    judged : the field shows another problem, or none any more
    """

    changed = Signal()
    judged = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameter = parameter
        self.default = parameter.default
        self._value = parameter.default
        self._problem = ""
        self.editor: Editor | MatrixEdit = editor_of(parameter)
        self._changed = Label("changed", "caption", "link")
        self._range = Label(short_range(parameter), "caption", "muted")
        self._reset = tool_button("reset", f"Back to the default, {self._default_text()}", self.reset)
        self._help = Label(parameter.doc, "caption", "muted", wrap=True)
        self._error = ErrorLine()
        self._build()
        self.editor.edited.connect(self._edited)
        self.editor.left.connect(self.leave)
        FocusWatch(self.editor, self.leave)
        self.editor.put(self._value)
        self._refresh()

    def _default_text(self) -> str:
        for choice in self.parameter.choices:
            if choice.value == self.default:
                return choice.label
        return write(self.default)

    def _build(self) -> None:
        parameter = self.parameter
        head = horizontal(spacing=space.S)
        if not isinstance(self.editor, CheckEdit):
            label = Label(parameter.title, elide=True)
            label.setBuddy(self.editor)
            label.setToolTip(parameter.name)
            head.addWidget(label)
        else:
            head.addWidget(self.editor)
        add(head, self._changed, STRETCH, self._range)
        column = vertical(head, on=self, spacing=space.XS)
        if isinstance(self.editor, CheckEdit):
            head.addWidget(self._reset)
        else:
            row = horizontal((self.editor, 1), spacing=space.S)
            if parameter.unit:
                row.addWidget(Label(parameter.unit, "body", "muted"))
            row.addWidget(self._reset)
            column.addLayout(row)
        add(column, self._help, self._error)
        self._help.setVisible(bool(parameter.doc))
        self.editor.setAccessibleName(tr(parameter.title))
        self.editor.setAccessibleDescription(f"{tr(parameter.doc)} {tr(short_range(parameter))}".strip())
        self.editor.setObjectName(parameter.name)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.editor)

    # -- value ----------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the setting."""
        return self.parameter.name

    @property
    def value(self) -> Any:
        """The value, or the last good one while the text is none."""
        return self._value

    @property
    def problem(self) -> str:
        """What is wrong with the text, or empty; also before the field is left."""
        return self._problem

    @property
    def shown_problem(self) -> str:
        """What the field says is wrong."""
        return self._error.text

    @property
    def is_changed(self) -> bool:
        """Whether it differs from the default (a wrong text does)."""
        return bool(self._problem) or self._value != self.default

    def set_value(self, value: Any) -> None:
        """Show a value. Raises ``SettingError`` when it is not allowed."""
        self._value = self.parameter.check(value)
        self._problem = ""
        self.editor.put(self._value)
        self._show_problem("")
        self._refresh()
        self.changed.emit()

    def set_default(self, value: Any) -> None:
        """Another default (a model's own schedule)."""
        self.default = self.parameter.check(value)
        tip = f"Back to the default, {self._default_text()}"
        self._reset.setToolTip(tr(tip))
        self._reset.setAccessibleName(tr(tip))
        self._refresh()

    def hide_range(self) -> None:
        """For ranges too wide to be of use."""
        self._range.hide()

    def reset(self) -> None:
        """Back to the default; the keyboard stays here."""
        had_focus = self._reset.hasFocus()
        self.set_value(self.default)
        if had_focus:
            self.editor.setFocus()

    def leave(self) -> None:
        """Judge the text, as when the field is left."""
        self._read()
        if not self._problem and not isinstance(self.editor, CheckEdit):
            self.editor.put(self._value)
        self._show_problem(self._problem)
        self._refresh()

    def tell(self, problem: str) -> None:
        """Show a problem that was found elsewhere (by the model); the next edit clears it."""
        self._show_problem(problem)

    def _edited(self) -> None:
        self._read()
        if self._error.text and not self._problem:
            self._show_problem("")
        self._refresh()
        self.changed.emit()

    def _read(self) -> None:
        text = typed(self.editor)
        if text == write(self._value) and not self._problem:
            return
        try:
            self._value, self._problem = parse(self.parameter, text), ""
        except SettingError as error:
            self._problem = error.message

    def _show_problem(self, problem: str) -> None:
        same = problem == self._error.text
        self._error.set_text(problem)
        self._help.setVisible(bool(self._help_text()) and not problem)
        set_variant(self.editor, "invalid", bool(problem))
        if not same:
            self.judged.emit()

    def _help_text(self) -> str:
        for choice in self.parameter.choices:
            if choice.value == self._value and choice.doc:
                return choice.doc[:1].upper() + choice.doc[1:]
        return self.parameter.doc

    def _refresh(self) -> None:
        changed = self.is_changed
        self._changed.setVisible(changed)
        self._reset.setVisible(changed)
        text = self._help_text()
        if text != self._help.text():
            self._help.setText(text)
        self._help.setVisible(bool(text) and not self._error.text)
