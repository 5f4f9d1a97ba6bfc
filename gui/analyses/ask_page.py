"""What an analysis asks before it is made: annotations, datasets, files and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.orienting import placed
from plaidwork.core.findings.analysis import AnalysisRecord, AnalysisSpec
from plaidwork.core.findings.annotations import Annotations, available_annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest
from plaidwork.core.findings.new_samples import names_known
from plaidwork.core.findings.unlocking import Standing
from plaidwork.core.inference.run import Run
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.analyses.fields import ColumnsField, Described, FileField, annotation_setting
from plaidwork.gui.analyses.new_data import NewDataField, is_new
from plaidwork.gui.dialogs import ask
from plaidwork.gui.language import tr
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.setup.form import HyperparameterForm
from plaidwork.gui.setup.input_field import InputField
from plaidwork.gui.setup.sections import Fold, Section
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Label, button, scrolled
from plaidwork.gui.widgets.button import clear_layout
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

MAX_WIDTH = 1100
_PROGRESS_WIDTH = 160
AnnotationField = SettingField | ColumnsField
ExamineFile = Callable[[FileRequest, str], tuple[AttachedFile, str]]


class AskPage(QWidget):
    """Title, summary, form and *Run analysis*; while it is made, progress and *Cancel*.

    Signals
    -------
    submitted : inputs (datasets by name, annotations as text, files) and settings
    cancelled : stop what is being made
    labels_requested : a table with further annotations, as path
    data_requested : an input, and the path of a file to import for it
    """

    submitted = Signal(dict, dict)
    cancelled = Signal()
    labels_requested = Signal(str)
    data_requested = Signal(str, str)

    def __init__(
        self,
        spec: AnalysisSpec,
        run: Run,
        datasets: Mapping[str, Dataset],
        examine: ExamineFile,
        standing: Standing | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.spec, self.run = spec, run
        self.standing = standing or Standing("free")
        self._datasets = dict(datasets)
        self._annotations: dict[str, AnnotationField] = {}
        self._holders: dict[str, QVBoxLayout] = {}
        self._inputs: dict[str, InputField] = {}
        self._files = {request.name: FileField(request, partial(examine, request)) for request in spec.files}
        self.add_labels = button("Add labels…", self._ask_for_labels, icon_name="tag", parent=self)
        self.add_labels.hide()
        self.add_labels.setToolTip(tr("Add the columns of a table to the data of this run, matched by name"))
        asks = self._asks()
        settings = tuple(replace(one, group=one.group or "Settings") for one in spec.hyperparameters)
        self.form = HyperparameterForm(
            cast(Any, replace(spec, hyperparameters=settings)),
            left=[Section("Data", asks)] if asks else [],
            right=[],
        )
        self.message = ErrorLine()
        self.start = button("Run analysis", self._ask, kind="primary", icon_name="play")
        if self.standing.state == "locked":
            self.start.setText(tr(f"Open {self.standing.what} and run…"))
        self.cancel = button("Cancel", self.cancelled.emit)
        self.progress = QProgressBar()
        self._build()
        self.set_busy(None)
        self.form.changed.connect(self._judge)
        for field in self._inputs.values():
            field.changed.connect(partial(self._input_chosen, field.item.name))
        for file in self._files.values():
            file.changed.connect(self._judge)
        for declared in spec.annotations:
            self._fill_annotation(declared)
        self._tell_samples()
        self._judge()

    def _asks(self) -> list[QWidget]:
        fields: list[QWidget] = []
        known = {one.name for one in self.run.spec.inputs}
        for item in self.spec.inputs:
            field = self._input_field(item)
            self._offer(field)
            field.choose(list(self.run.inputs.get(item.name, ())) if item.name in known else field.chosen)
            self._inputs[item.name] = field
        for declared in self.spec.annotations:
            holder = QWidget()
            self._holders[declared.name] = vertical(on=holder)
            fields.append(holder)
        if any(declared.of not in self._inputs for declared in self.spec.annotations):
            row = QWidget()
            horizontal(self.add_labels, STRETCH, on=row)
            self.add_labels.show()
            fields.append(row)
        return [*fields, *self._files.values(), *self._inputs.values()]

    def _input_field(self, item: Input) -> InputField:
        """Of data that the fit has not seen, the field that puts those of the fit last."""
        if not is_new(item, self.run.spec):
            return InputField(
                item, columns=item.kind != "matrix", imports=False
            )  # that is done from the window
        used = dict.fromkeys(name for names in self.run.inputs.values() for name in names)
        field = NewDataField(item, [self._datasets[name] for name in used if name in self._datasets])
        field.import_requested.connect(partial(self._ask_for_data, item.name))
        return field

    def _offer(self, field: InputField, choose: bool = True) -> None:
        """Offer the data of the session; what was chosen stays."""
        if isinstance(field, NewDataField):
            field.set_datasets(self._datasets, choose)
        elif choose:
            field.set_datasets(self._datasets)
        else:
            field.set_choices(Choices(self._datasets))

    def _ask_for_data(self, name: str) -> None:
        path, _ = QFileDialog.getOpenFileName(self, tr("Choose new samples"))
        if path:
            self.data_requested.emit(name, path)

    def take_data(self, datasets: Mapping[str, Dataset], name: str, chosen: Sequence[str]) -> None:
        """Offer the data of the session as they are now, and choose these for an input (beside those of a list)."""
        self._datasets = dict(datasets)
        for field in self._inputs.values():
            self._offer(field, choose=False)
        field = self._inputs[name]
        field.choose([*(field.chosen if field.item.many else ()), *chosen])

    def _described(self, declared: Annotations) -> Described:
        if declared.of in self._inputs:
            return {declared.of: [self._datasets[name] for name in self._inputs[declared.of].chosen]}
        return self._fitted()

    def _fitted(self) -> Described:
        return {
            name: [self._datasets[one] for one in names if one in self._datasets]
            for name, names in self.run.inputs.items()
        }

    def _fill_annotation(self, declared: Annotations) -> None:
        """Offer the columns of an annotation; what was chosen stays where it is still on offer."""
        described = self._described(declared)
        chosen = {declared.of: described[declared.of]} if declared.of in self._inputs else {}
        refs = available_annotations(declared, self.run, self._datasets, self.spec.needs, chosen)
        before = self._annotations.pop(declared.name, None)
        field: AnnotationField | None = None
        if declared.many and refs:
            field = ColumnsField(declared, refs, described)
        elif (setting := annotation_setting(declared, refs, described)) is not None:
            field = SettingField(setting)
        clear_layout(self._holders[declared.name])
        self._holders[declared.name].parentWidget().setVisible(field is not None)
        if field is not None:
            self._annotations[declared.name] = field
            self._holders[declared.name].addWidget(field)
            field.changed.connect(self._judge)
            if before is not None:
                self._choose(declared.name, before.value)

    def _choose(self, name: str, value: Any) -> None:
        field = self._annotations.get(name)
        if isinstance(field, ColumnsField):
            field.choose([str(one) for one in ([value] if isinstance(value, str) else value)])
        elif field is not None and str(value) in [choice.value for choice in field.parameter.choices]:
            field.set_value(str(value))

    def _input_chosen(self, name: str) -> None:
        for declared in self.spec.annotations:
            if declared.of == name:
                self._fill_annotation(declared)
        self._tell_samples()
        self._judge()

    def _ask_for_labels(self) -> None:
        kinds = "Tables (*.csv *.tsv *.txt *.csv.gz *.tsv.gz *.xlsx *.xls *.ods);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self, tr("Add labels"), "", kinds)
        if path:
            self.labels_requested.emit(str(Path(path)))

    def _build(self) -> None:
        content = QWidget()
        content.setMaximumWidth(MAX_WIDTH)
        head = vertical(
            Label(self.spec.title, "title", wrap=True),
            Label(self.spec.summary, "body", "muted", wrap=True),
            spacing=2,
        )
        column = vertical(
            head, on=content, spacing=space.XL, margins=(space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.L)
        )
        if self.standing.state == "open":
            head.addWidget(Label(self.standing.text, "body", "muted", wrap=True))
        elif self.standing.text:
            notice = ErrorLine()
            notice.set_text(self.standing.text, "warning")
            column.addWidget(notice)
        column.addWidget(self.form)
        if self.spec.help or self.spec.citation:
            text = "\n\n".join(part for part in (self.spec.help, self.spec.citation) if part)
            fold = Fold("How it is computed", Label(text.replace("**", ""), wrap=True))
            column.addWidget(fold)
        column.addStretch(1)
        scroll = scrolled(content, sideways=True)
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1000)
        self.progress.setFixedSize(_PROGRESS_WIDTH, size.PROGRESS)
        row = horizontal(
            (self.message, 1), spacing=space.M, margins=(space.VIEW_EDGE, space.S, space.VIEW_EDGE, space.M)
        )
        row.addStretch(0)
        for widget in (self.progress, self.cancel, self.start):
            row.addWidget(widget)
        vertical((scroll, 1), row, on=self, spacing=0)

    # -- answers --------------------------------------------------------------------------------
    def inputs(self) -> dict[str, Any]:
        """Names of datasets, and annotations as text, by what was asked for."""
        found: dict[str, Any] = {name: field.value for name, field in self._annotations.items()}
        for name, field in self._inputs.items():
            if field.chosen:
                found[name] = list(field.chosen)
        for name, file in self._files.items():
            if file.value is not None:
                found[name] = file.value
        return found

    def annotation_field(self, name: str) -> AnnotationField:
        """The field of an annotation."""
        return self._annotations[name]

    def input_field(self, name: str) -> InputField:
        """The field of a dataset."""
        return self._inputs[name]

    def file_field(self, name: str) -> FileField:
        """The field of a file."""
        return self._files[name]

    def take_answers(self, inputs: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        """Fill in answers like those that ``submitted`` carries, as far as they still hold."""
        known = {parameter.name for parameter in self.spec.hyperparameters}
        self.form.set_values({name: value for name, value in params.items() if name in known})
        for name, value in inputs.items():
            if name in self._inputs:
                self._inputs[name].choose(list(value))
            elif name in self._files:
                self._files[name].set_value(value)
        for name in self._annotations:
            if name in inputs:
                self._choose(name, inputs[name])

    def take_from(self, record: AnalysisRecord) -> None:
        """Fill in the answers of an earlier analysis, as far as they still hold."""
        refs = {
            name: [str(one) for one in ref] if isinstance(ref, tuple) else str(ref)
            for name, ref in record.annotations.items()
        }
        self.take_answers({**record.inputs, **record.files, **refs}, record.params)

    @property
    def problem(self) -> str:
        """Why it cannot be made now; empty when it can."""
        for declared in self.spec.annotations:
            if declared.required and declared.name not in self._annotations:
                return f"The data have no annotation to choose as “{declared.title}”. Add a table of labels."
        for chosen in self._annotations.values():
            if chosen.problem:
                return chosen.problem
        for file in self._files.values():
            if file.problem:
                return file.problem
        for field in self._inputs.values():
            if field.problem:
                return f"“{field.item.title}” needs data. {field.item.doc}"
        wrong = self.form.problems()
        return wrong[0].message if wrong else ""

    def _tell_samples(self) -> None:
        """Whether chosen matrices will be transposed: the names of what was fitted tell where their samples are."""
        known = names_known(self.run.spec, self._fitted())
        for field in self._inputs.values():
            given = {field.item.name: [field.dataset(name) for name in field.chosen]}
            field.show_placed(placed([field.item], given, known), choose=False)

    def _judge(self) -> None:
        problem = self.problem
        self.message.set_text(problem, "warning")
        self.start.setEnabled(not problem)

    def _ask(self) -> None:
        self.form.leave_all()
        if not self.problem and self._may_open():
            self.submitted.emit(self.inputs(), self.form.values())

    def _may_open(self) -> bool:
        """Whether nothing is locked, or the user says that it may be opened."""
        if self.standing.state != "locked":
            return True
        what = self.standing.what
        title, text = f"Open the {what} for {self.run.title}?", self.standing.text
        choices = (("cancel", "Cancel"), ("open", f"Open {what}"))
        return ask(self.window(), title, text, choices, "cancel") == "open"

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

    def tell(self, text: str) -> None:
        """Say what went wrong, beside the button."""
        self.message.set_text(text)
