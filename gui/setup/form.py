"""The form of a model's settings, made from its declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.spelling import inside_sentence
from plaidwork.gui.numbers import format_count
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.setup.matrix_edit import MatrixEdit
from plaidwork.gui.setup.sections import Columns, Fold, Section
from plaidwork.gui.theme import space
from plaidwork.gui.widgets.layouts import vertical

MANY = 6
"""Above so many settings the fold names their groups instead."""


@dataclass(frozen=True)
class FieldProblem:
    """A field that needs a change."""

    name: str
    message: str
    field: QWidget


def show_only_active(fields: Mapping[str, SettingField]) -> None:
    """Hide the fields whose ``when`` does not hold (or hangs on a hidden field)."""
    values = {name: field.value for name, field in fields.items()}
    visible = dict.fromkeys(fields, True)
    for _ in fields:  # a chain of conditions is as long as the form at most
        before = dict(visible)
        for name, field in fields.items():
            parents = all(visible.get(other, True) for other in field.parameter.when)
            visible[name] = parents and field.parameter.active(values)
        if visible == before:
            break
    for name, field in fields.items():
        field.setVisible(visible[name])


class HyperparameterForm(QWidget):
    """Groups of settings in two columns, with an Advanced fold.

    Parameters
    ----------
    spec : the model's declaration
    left, right : further sections, on top of the columns
    advanced : further fields for the fold

    Signals
    -------
    changed : a value or its validity may have changed
    judged : a field shows another problem, or none any more
    """

    changed = Signal()
    judged = Signal()

    def __init__(
        self,
        spec: ModelSpec,
        left: Sequence[QWidget] = (),
        right: Sequence[QWidget] = (),
        advanced: Sequence[SettingField] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.spec = spec
        self._fields = {parameter.name: SettingField(parameter) for parameter in spec.hyperparameters}
        self._guests = list(advanced)
        self._fold: Fold | None = None
        basic = self._sections(advanced=False)
        self.columns = Columns(left, right, basic)
        column = vertical(self.columns, on=self, spacing=space.XXL)
        hidden = self._sections(advanced=True)
        if self._guests:
            hidden.append(Section("Schedule", self._guests))
        if hidden:
            self._fold = Fold("Advanced", Columns(free=hidden))
            column.addWidget(self._fold)
        for field in (*self._fields.values(), *self._guests):
            field.changed.connect(self._changed)
            field.judged.connect(self.judged)
        for field in self._guests:
            field.show()
        self._changed()

    def _sections(self, advanced: bool) -> list[QWidget]:
        groups: dict[str, list[QWidget]] = {}
        for field in self._fields.values():
            if field.parameter.advanced == advanced:
                groups.setdefault(field.parameter.group or "Model", []).append(field)
        return [Section(title, fields) for title, fields in groups.items()]

    # -- values ---------------------------------------------------------------------------------
    def values(self) -> dict[str, Any]:
        """All settings; a field with a wrong text gives its last good value."""
        return {name: field.value for name, field in self._fields.items()}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show values; settings not named stay. Raises ``SettingError`` before anything is changed."""
        checked = {name: self.spec.hyperparameter(name).check(value) for name, value in values.items()}
        for name, value in checked.items():
            self._fields[name].set_value(value)

    def reset(self) -> None:
        """All settings back to their defaults."""
        for field in self._fields.values():
            field.reset()

    def problems(self) -> list[FieldProblem]:
        """Visible fields that need a change, from top to bottom."""
        return [
            FieldProblem(name, field.problem, field)
            for name, field in self._fields.items()
            if field.problem and not field.isHidden()
        ]

    def field(self, name: str) -> SettingField:
        """The field of a setting."""
        return self._fields[name]

    @property
    def fold(self) -> Fold | None:
        """The Advanced fold, when the model has advanced settings."""
        return self._fold

    def set_matrices(self, name: str, datasets: Sequence[Dataset]) -> None:
        """The matrices chosen for an input: settings with one choice per matrix show a line for each."""
        for field in self._fields.values():
            if field.parameter.per == name and isinstance(field.editor, MatrixEdit):
                field.editor.set_datasets(datasets)

    def reveal(self, field: QWidget) -> None:
        """Open the fold when the field is inside."""
        if self._fold is not None and self._fold.isAncestorOf(field):
            self._fold.set_open()

    def leave_all(self) -> None:
        """Judge all fields, as when each is left."""
        for field in self._fields.values():
            field.leave()

    def _changed(self) -> None:
        show_only_active(self._fields)
        self._tell_matrices()
        self._tell_fold()
        self.changed.emit()

    def _tell_matrices(self) -> None:
        values = self.values()
        for field in self._fields.values():
            if isinstance(field.editor, MatrixEdit):
                field.editor.set_params(values)

    def _tell_fold(self) -> None:
        if self._fold is None:
            return
        inside = [field for field in self._fields.values() if field.parameter.advanced]
        inside = [field for field in (*inside, *self._guests) if not field.isHidden()]
        changed = [field for field in inside if field.is_changed]
        plain = len(inside) - len(changed)
        names = [field.parameter.title for field in changed or inside]
        if not changed and len(inside) > MANY:
            names = list(dict.fromkeys(field.parameter.group or "schedule" for field in inside))
        listed = ", ".join(map(inside_sentence, names))
        default = f"{counted(plain, 'setting')} at the default"
        if changed:
            self._fold.set_note(f"{format_count(len(changed))} changed: {listed}; {default}")
        else:
            self._fold.set_note(f"{default}: {listed}")
