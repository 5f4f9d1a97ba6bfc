"""What an analysis asks before it is made: annotations, datasets and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from plaidwork.core.analysis import (
    AnalysisRecord,
    AnalysisSpec,
    AnnotationRef,
    Annotations,
    available_annotations,
)
from plaidwork.core.dataset import Dataset
from plaidwork.core.run import Run
from plaidwork.core.spec import Choice, Hyperparameter
from plaidwork.gui.setup.fields import ErrorLine, SettingField
from plaidwork.gui.setup.form import HyperparameterForm
from plaidwork.gui.setup.inputs_form import InputField
from plaidwork.gui.setup.sections import Fold, Section
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Label, button

MAX_WIDTH = 1100
_PROGRESS_WIDTH = 160
_FEW_LABELS = 24


def annotation_setting(
    declared: Annotations, run: Run, datasets: Mapping[str, Dataset]
) -> Hyperparameter | None:
    """The choice as a setting, so that the form's field draws it; None when there is nothing to choose."""
    refs = available_annotations(declared, run, datasets)
    if not refs:
        return None
    several = len({ref.input for ref in refs}) > 1
    choices = [Choice(value=str(ref), label=_words(ref, run, datasets, several)) for ref in refs]
    if not declared.required:
        choices.insert(0, Choice(value="", label="None"))
    return Hyperparameter(
        declared.name,
        "choice",
        str(_likely(refs, run, datasets)) if declared.required else "",
        label=declared.title,
        doc=declared.doc,
        choices=tuple(choices),
    )


def _likely(refs: list[AnnotationRef], run: Run, datasets: Mapping[str, Dataset]) -> AnnotationRef:
    """The one to begin with: the first with a few labels that recur; else the first."""
    for ref in refs:
        dataset = datasets[run.inputs[ref.input][0]]
        column = (dataset.row_table if ref.axis == "row" else dataset.column_table)[ref.title]
        found = {str(value) for value in np.asarray(column)} - {"", "None", "nan"}
        if 2 <= len(found) <= min(_FEW_LABELS, len(column) / 2):
            return ref
    return refs[0]


def _words(ref: AnnotationRef, run: Run, datasets: Mapping[str, Dataset], several: bool) -> str:
    dataset = datasets[run.inputs[ref.input][0]]
    label = dataset.row_label if ref.axis == "row" else dataset.column_label
    return f"{ref.title} ({label} of {dataset.name})" if several else f"{ref.title} ({label})"


class AskPage(QWidget):
    """Title, summary, form and *Run analysis*; while it is made, progress and *Cancel*.

    Signals
    -------
    asked : inputs (datasets by name and annotations as text) and settings
    cancelled : stop what is being made
    """

    asked = Signal(dict, dict)
    cancelled = Signal()

    def __init__(
        self,
        spec: AnalysisSpec,
        run: Run,
        datasets: Mapping[str, Dataset],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.spec = spec
        self._missing = ""
        self._annotations: dict[str, SettingField] = {}
        self._inputs: dict[str, InputField] = {}
        asks = self._asks(run, datasets)
        settings = tuple(replace(one, group=one.group or "Settings") for one in spec.hyperparameters)
        self.form = HyperparameterForm(
            cast(Any, replace(spec, hyperparameters=settings)),
            left=[Section("Data", asks)] if asks else [],
            right=[],
        )
        self.message = ErrorLine()
        self.start = button("Run analysis", self._ask, kind="primary", icon_name="play")
        self.cancel = button("Cancel", self.cancelled.emit)
        self.progress = QProgressBar()
        self._build()
        self.set_busy(None)
        self.form.changed.connect(self._judge)
        for choice in self._annotations.values():
            choice.changed.connect(self._judge)
        for field in self._inputs.values():
            field.changed.connect(self._judge)
        self._judge()

    def _asks(self, run: Run, datasets: Mapping[str, Dataset]) -> list[QWidget]:
        fields: list[QWidget] = []
        for declared in self.spec.annotations:
            setting = annotation_setting(declared, run, datasets)
            if setting is not None:
                self._annotations[declared.name] = SettingField(setting)
                fields.append(self._annotations[declared.name])
            elif declared.required:
                self._missing = (
                    f"The data of this run have no annotation to choose as “{declared.title}”. "
                    "Import a table of labels with the data, then fit again."
                )
        for item in self.spec.inputs:
            field = InputField(item)
            field.set_datasets(datasets)
            known = {one.name for one in run.spec.inputs}
            field.choose(list(run.inputs.get(item.name, ())) if item.name in known else field.chosen)
            field._import.hide()  # importing is done from the window
            self._inputs[item.name] = field
            fields.append(field)
        return fields

    def _build(self) -> None:
        content = QWidget()
        content.setMaximumWidth(MAX_WIDTH)
        column = QVBoxLayout(content)
        column.setContentsMargins(space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.L)
        column.setSpacing(space.XL)
        head = QVBoxLayout()
        head.setSpacing(2)
        head.addWidget(Label(self.spec.title, "title", wrap=True))
        head.addWidget(Label(self.spec.summary, "body", "muted", wrap=True))
        column.addLayout(head)
        column.addWidget(self.form)
        if self.spec.help or self.spec.citation:
            words = "\n\n".join(part for part in (self.spec.help, self.spec.citation) if part)
            fold = Fold("How it is computed", Label(words.replace("**", ""), wrap=True))
            column.addWidget(fold)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(content)
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1000)
        self.progress.setFixedSize(_PROGRESS_WIDTH, size.PROGRESS)
        row = QHBoxLayout()
        row.setContentsMargins(space.VIEW_EDGE, space.S, space.VIEW_EDGE, space.M)
        row.setSpacing(space.M)
        row.addWidget(self.message, 1)
        row.addStretch(0)
        for widget in (self.progress, self.cancel, self.start):
            row.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scroll, 1)
        layout.addLayout(row)

    # -- answers --------------------------------------------------------------------------------
    def inputs(self) -> dict[str, Any]:
        """Names of datasets, and annotations as text, by what was asked for."""
        found: dict[str, Any] = {name: field.value for name, field in self._annotations.items()}
        for name, field in self._inputs.items():
            if field.chosen:
                found[name] = list(field.chosen)
        return found

    def annotation_field(self, name: str) -> SettingField:
        """The field of an annotation."""
        return self._annotations[name]

    def input_field(self, name: str) -> InputField:
        """The field of a dataset."""
        return self._inputs[name]

    def take_from(self, record: AnalysisRecord) -> None:
        """Fill in the answers of an earlier analysis, as far as they still hold."""
        known = {parameter.name for parameter in self.spec.hyperparameters}
        self.form.set_values({name: value for name, value in record.params.items() if name in known})
        for name, ref in record.annotations.items():
            field = self._annotations.get(name)
            if field is not None and str(ref) in [choice.value for choice in field.parameter.choices]:
                field.set_value(str(ref))
        for name, names in record.inputs.items():
            if name in self._inputs:
                self._inputs[name].choose(list(names))

    @property
    def problem(self) -> str:
        """Why it cannot be made now; empty when it can."""
        if self._missing:
            return self._missing
        for field in self._inputs.values():
            if field.problem:
                return f"“{field.item.title}” needs data. {field.item.doc}"
        wrong = self.form.problems()
        return wrong[0].message if wrong else ""

    def _judge(self) -> None:
        problem = self.problem
        self.message.set_text(problem, "warning")
        self.start.setEnabled(not problem)

    def _ask(self) -> None:
        self.form.leave_all()
        if not self.problem:
            self.asked.emit(self.inputs(), self.form.values())

    # -- progress -------------------------------------------------------------------------------
    def set_busy(self, share: float | None) -> None:
        """Show the share done with *Cancel*; None: ready to start."""
        busy = share is not None
        self.start.setVisible(not busy)
        self.cancel.setVisible(busy)
        self.progress.setVisible(busy)
        if share is not None:
            self.progress.setValue(round(1000 * share))
            self.message.set_text("")

    def tell(self, words: str) -> None:
        """Say what went wrong, beside the button."""
        self.message.set_text(words)
