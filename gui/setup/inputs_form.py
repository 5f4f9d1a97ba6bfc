"""Which datasets of the session go into the fit: one choice per declared input."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.orienting import placed
from plaidwork.core.data.outcomes import without_outcomes
from plaidwork.core.errors import DataError
from plaidwork.core.session.suitability import Choices, Names
from plaidwork.gui.setup.form import FieldProblem
from plaidwork.gui.setup.input_field import InputField
from plaidwork.gui.setup.sections import Fold, Section


class InputsForm(Section):
    """All inputs of a model; optional ones under a fold.

    Signals
    -------
    changed : another dataset was chosen
    import_requested : the user wants to import data for a required input
    samples_chosen : name of a dataset, and the axis (``rows`` or ``columns``) on which its samples are
    """

    changed = Signal()
    import_requested = Signal()
    samples_chosen = Signal(str, str)

    def __init__(self, spec: ModelSpec, parent: QWidget | None = None) -> None:
        super().__init__("Data", parent=parent)
        self.spec = spec
        self._fields = {item.name: InputField(item) for item in spec.inputs}
        self.choices = Choices({})
        self._apart: tuple[dict[str, list[Dataset]], dict[str, tuple[Dataset, ...]]] = ({}, {})
        self._fold: Fold | None = None
        optional = [field for field in self._fields.values() if not field.item.required]
        for field in self._fields.values():
            if field.item.required:
                self.add(field)
            field.changed.connect(self._changed)
            field.picked.connect(partial(self._follow, field))
            field.import_requested.connect(self.import_requested)
            field.samples.chosen.connect(self.samples_chosen)
        if optional:
            inner = Section("", optional)
            self._fold = Fold("Optional data", inner)
            self.add(self._fold)
        self._changed()

    def set_datasets(
        self, datasets: Mapping[str, Dataset], focus: Sequence[str] = (), kept: Names | None = None
    ) -> None:
        """Offer the datasets of the session, those in focus first, and fill the inputs that nothing was chosen for.

        ``kept`` was chosen for another model; it is chosen again where it suits.
        """
        self.choices = Choices({name: datasets[name] for name in Choices(datasets).order(focus)})
        for field in self._fields.values():
            field.set_choices(self.choices)
        self._fill(focus, {**(kept or {}), **self.values()})

    def _fill(self, focus: Sequence[str], kept: Names) -> None:
        found = self.choices.propose(self.spec, focus, kept)
        for name, field in self._fields.items():
            if not field.chosen and not (field.decided and not field.item.required):
                field.propose(found.get(name, []) or self._only_labels(field, focus))

    def _only_labels(self, field: InputField, focus: Sequence[str]) -> list[str]:
        """The column of classes beside the data in focus, where labels are needed and there is no other choice."""
        item = field.item
        offered = self.choices.offer(item)
        if not item.required or item.kind != "labels" or offered.datasets or len(offered.columns) != 1:
            return []
        return [name for name, ref in offered.columns.items() if not focus or ref.dataset in focus]

    def _follow(self, field: InputField) -> None:
        """What was only proposed comes from the data that the user has chosen; so does what now fits no more."""
        chosen = self.choices.bases({field.item.name: field.chosen})
        if not chosen:
            return
        main = field.item.required and field.item.kind == "matrix"
        for other in self._fields.values() if main else ():
            if other is not field and other.chosen and not self._stays(other, chosen):
                other.propose([])
        self._fill(chosen, self.values())

    def _stays(self, field: InputField, main: Sequence[str]) -> bool:
        """Whether a choice was made on purpose and has to do with the data that were chosen."""
        data = self.choices.bases({field.item.name: field.chosen})
        return field.decided and any(
            one == name or self.choices.related(one, name) for one in data for name in main
        )

    def take(self, names: Sequence[str]) -> bool:
        """Put data just imported into the inputs that they suit; whether there is one."""
        found = self.choices.propose(self.spec, names)
        mine = {
            key: chosen
            for key, chosen in found.items()
            if set(self.choices.bases({key: chosen})) & set(names)
        }
        for key, chosen in mine.items():
            self._fields[key].choose(chosen)
            self._follow(self._fields[key])
        return bool(mine)

    def values(self) -> dict[str, list[str]]:
        """Dataset names by input; inputs without data are left out."""
        return {name: field.chosen for name, field in self._fields.items() if field.chosen}

    def datasets(self) -> dict[str, list[Dataset]]:
        """What is chosen by input; columns as datasets of their own, and matrices without those of their measurements.

        The same objects as long as the same is chosen.
        """
        given = {
            key: [self._fields[key].dataset(name) for name in names] for key, names in self.values().items()
        }
        before, found = self._apart
        same = given.keys() == before.keys() and all(
            len(given[key]) == len(before[key]) and all(map(operator.is_, given[key], before[key]))
            for key in given
        )
        if not same:
            found = {key: tuple(datasets) for key, datasets in given.items()}
            with suppress(DataError):  # told when the fit is planned
                found = without_outcomes(self.spec.inputs, given, self.choices.session)
            self._apart = given, found
        return {key: list(datasets) for key, datasets in found.items()}

    def subsets(self) -> dict[str, int]:
        """Numbers of rows to use by input, where not all are used."""
        return {name: field.subset for name, field in self._fields.items() if field.chosen and field.subset}

    def set_values(self, values: Mapping[str, Sequence[str]]) -> None:
        """Choose by name."""
        for name, field in self._fields.items():
            if name in values:
                field.choose(list(values[name]))

    def field(self, name: str) -> InputField:
        """The field of an input."""
        return self._fields[name]

    @property
    def fold(self) -> Fold | None:
        """The fold with the optional inputs."""
        return self._fold

    def problems(self) -> list[FieldProblem]:
        """Inputs without data."""
        return [FieldProblem(name, f.problem, f) for name, f in self._fields.items() if f.problem]

    def reveal(self, field: QWidget) -> None:
        """Open the fold when the field is inside."""
        if self._fold is not None and self._fold.isAncestorOf(field):
            self._fold.set_open()

    def leave_all(self) -> None:
        """Judge all inputs."""
        for field in self._fields.values():
            field.leave()

    def _changed(self) -> None:
        if self._fold is not None:
            optional = [f for f in self._fields.values() if not f.item.required]
            used = [f.item.title.lower() for f in optional if f.chosen]
            rest = [f.item.title.lower() for f in optional if not f.chosen]
            note = f"{', '.join(used)} given" if used else f"none given: {', '.join(rest)}"
            self._fold.set_note(note)
        found = placed(self.spec.inputs, self.datasets())
        for name, field in self._fields.items():
            field.show_placed([one for one in found if one.item.name == name])
        self.changed.emit()
