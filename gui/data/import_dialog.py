"""The import dialog: trust before numbers enter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.importers import Preview, Reader, find_reader
from plaidwork.core.data.importers.reading import read_all
from plaidwork.core.data.text import texts_in
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, PlaidworkError, PluginError
from plaidwork.gui.data.class_row import ClassRow, file_stem
from plaidwork.gui.data.import_options import OptionsPanel
from plaidwork.gui.data.import_state import FixRow, ImportState, annotate, is_step_option
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.data.preview_pane import PreviewPane
from plaidwork.gui.data.reading_dialog import ReadingDialog
from plaidwork.gui.data.undo import undo_store
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_percent
from plaidwork.gui.task_dialog import error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label, MessageBar, StatePane, scrolled
from plaidwork.gui.widgets.layouts import horizontal, vertical

LEFT, MOST = 268, 1.5
"""Pixels that the settings at the left take, and how many times as many where texts are larger."""
PREVIEW, READING, SWITCH = "preview", "reading", "switch"
"""Names of the tasks."""
_ROW_COLUMN = re.compile(r"row (\d+)(?:, column (\d+))?")


class ImportDialog(ReadingDialog):
    """Shows how a file would be read; after ``accept`` what it holds is in ``datasets``, the first in ``dataset``.

    ``text_column`` names the column whose words the user wants to have counted instead; empty otherwise.

    Parameters
    ----------
    path : the file
    registry : anything with ``readers`` (those of plugins, tried before the built-in ones)
    """

    def __init__(self, path: str | Path, registry: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(f"Import {Path(path).name}", parent)
        self.path = Path(path)
        self.datasets: list[Dataset] = []
        self.text_column = ""
        self._texts_offered = False
        self.state = ImportState()
        self._reader: Reader | None = None
        self._registry = registry
        self._own_labels = [False, False]
        self._build()
        self.resize(1180, 780)
        try:
            self._reader = find_reader(self.path, tuple(registry.readers) if registry is not None else ())
        except DataError as error:
            self._refuse(error.message, error.hint)
            return
        self.options.set_reader(self._reader.id)
        self._load()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.messages = MessageBar()
        self.options = OptionsPanel()
        self.classes = ClassRow(self.path)
        self.pane = PreviewPane(self.classes)
        self.roles, self.table, self.issues = self.pane.roles, self.pane.table, self.pane.issues
        self._bar.hide()
        self.name_edit = QLineEdit(file_stem(self.path))
        self.label_edits = (QLineEdit(), QLineEdit())
        for axis, edit in enumerate(self.label_edits):
            edit.textEdited.connect(lambda _, axis=axis: self._label_edited(axis))
        self._left, self._right = self._build_left(), self.pane
        self.options.changed.connect(self._option_changed)
        self.roles.role_chosen.connect(self._role_chosen)
        self.issues.ticked.connect(self._ticked)
        self.issues.other_ticked.connect(lambda row, on: self._ticked(row, on, second=True))
        self.issues.row_requested.connect(self._go_to)
        self.classes.failed.connect(
            lambda title, hint: self.messages.post("error", title, hint, key="classes")
        )
        self.classes.read.connect(lambda: self.messages.dismiss("classes"))
        self._refusal = StatePane("warning", "", icon_color="error")
        self._refusal.hide()
        middle = horizontal(self._left, (self._right, 1), spacing=0)
        self.lay_out(self.messages, (middle, 1), (self._refusal, 1))

    def _build_left(self) -> QWidget:
        pane = Pane("sunken", "right")
        inner = Pane("sunken")
        column = vertical(
            Label("How to read it", "strong"),
            self.options,
            space.S,
            Label("What to call it", "strong"),
            on=inner,
            spacing=space.M,
            margins=(space.DIALOG_EDGE, space.L, space.L, space.L),
        )
        for title, edit in zip(("Name", "Rows are", "Columns are"), (self.name_edit, *self.label_edits)):
            label = Label(title)
            label.setBuddy(edit)
            edit.setAccessibleName(tr(title))
            part = vertical(label, edit, spacing=space.XS)
            column.addLayout(part)
        column.addStretch(1)
        scroll = scrolled(inner)
        vertical(scroll, on=pane, margins=(0, 0, 1, 0))
        pane.setFixedWidth(round(LEFT * min(theme().text_scale, MOST)))
        return pane

    # -- preview --------------------------------------------------------------------------------
    def _load(self) -> None:
        """Read the preview again, off the GUI thread."""
        reader, path, given = self._reader, self.path, dict(self.state.given)
        if reader is None:
            return
        self._set_ready(False)
        if self.state.preview is None:
            self.table.say("Reading the file")
            self.say(self.state.obstacle, "muted")
        self.begin(PREVIEW, lambda task: reader.preview(path, given), self._show, self._preview_failed)

    def _show(self, preview: Preview) -> None:
        self.state.take(preview)
        self.table.say("No rows to show")
        self.options.show_preview(preview, self.state.given)
        self.pane.show_preview(preview, self.state)
        found = f"{counted(preview.n_rows, 'row')} and {counted(preview.n_columns, 'column')} found. "
        self._note.setText(
            found + "Check how they were read; nothing is changed in your file."
            if preview.n_rows and preview.n_columns
            else "Check how it was read; nothing is changed in your file."
        )
        self._show_labels()
        self.classes.show_match(preview)
        self._offer_texts(preview)
        self._set_ready(True)

    def _offer_texts(self, preview: Preview) -> None:
        """A column of running text is better counted than kept as a label."""
        column = texts_in(preview)
        if not column or self._texts_offered:
            return
        self._texts_offered = True

        def go() -> None:
            self.text_column = column
            self.reject()

        self.messages.post(
            "info",
            f"The column “{column}” holds texts",
            "Their words can be counted for models of documents.",
            [("Import texts…", go)],
            key="texts",
        )

    def _show_labels(self) -> None:
        for axis, (edit, label) in enumerate(zip(self.label_edits, self.state.axis_labels())):
            if not self._own_labels[axis]:
                edit.setText(label)

    def _preview_failed(self, error: BaseException, details: str) -> None:
        if isinstance(error, PlaidworkError):
            self._refuse(error.message, error.hint, self._switch(error))
        else:
            self._refuse(f"{self.path.name} could not be read: {error_text(error)}")

    def _switch(self, error: BaseException) -> list[tuple[str, Callable[[], object]]]:
        """The button that turns off the plugin whose reader failed."""
        registry = self._registry
        if registry is None or not isinstance(error, PluginError) or not error.plugin:
            return []
        name = error.plugin

        def done(_: Any) -> None:
            self.messages.post(
                "info", f"The plugin {name} is turned off", "Import the file again.", key="reading"
            )

        def failed(error: BaseException, details: str) -> None:
            self.messages.post("error", f"{name} could not be turned off for good", str(error), key="reading")

        return [
            ("Disable plugin", lambda: self.begin(SWITCH, lambda task: registry.disable(name), done, failed))
        ]

    def _refuse(
        self, title: str, text: str = "", actions: Sequence[tuple[str, Callable[[], object]]] = ()
    ) -> None:
        self._refusal.set("warning", title, text, actions, icon_color="error")
        for part, on in ((self._refusal, True), (self._left, False), (self._right, False)):
            part.setVisible(on)
        self._set_ready(False)
        self._foot.setText("Nothing was added")

    def _set_ready(self, ready: bool) -> None:
        obstacle = self.state.obstacle
        self.import_button.setEnabled(ready and not obstacle)
        if ready:
            labels = (self.label_edits[0].text().strip(), self.label_edits[1].text().strip())
            self.say(obstacle or self.state.adds(labels), "error" if obstacle else "muted")
        self.import_button.setToolTip(tr(obstacle if ready else ""))

    # -- changes --------------------------------------------------------------------------------
    def _option_changed(self, name: str, value: Any) -> None:
        self.state.give(name, value)
        self._load()

    def _role_chosen(self, column: int, role: str) -> None:
        self.state.set_role(column, role)
        self._load()

    def _ticked(self, row: FixRow, on: bool, second: bool = False) -> None:
        self.state.tick(row, on, second)
        self._load()

    def _label_edited(self, axis: int) -> None:
        self._own_labels[axis] = bool(self.label_edits[axis].text().strip())
        self._set_ready(not self.busy(PREVIEW))

    def _go_to(self, row: FixRow) -> None:
        line = self.state.file_row(row.issue.row)
        if line >= 0:
            self.table.show_cell(line, row.issue.column - 1)

    def set_classes(self, path: Path) -> None:
        """Read a table of annotations, one row per sample (or per row of the matrix)."""
        self.classes.set_file(path)

    # -- reading --------------------------------------------------------------------------------
    def start_import(self) -> None:
        """Read the whole file in the background, then accept."""
        if self._reader is None or self.busy(READING) or not self.import_button.isEnabled():
            return
        reader, path, given = self._reader, self.path, dict(self.state.given)
        annotations, file = self.classes.annotations, self.classes.file
        self.messages.dismiss("reading")

        def one(task: Task, options: dict[str, Any], steps: tuple[Step, ...]) -> Dataset:
            dataset = reader.read(path, options, task.report)
            if annotations is not None and file is not None:
                dataset = annotate(dataset, annotations.names, annotations.columns, file.name)
            return undo_store().replay(dataset, steps) if steps else dataset

        def work(task: Task) -> list[Dataset]:
            found = read_all(reader, path, given, task.report)
            plain = {name: value for name, value in given.items() if not is_step_option(name)}
            if len(found) > 1:  # each again as it is in the file, so that its steps can be undone
                own = [
                    {name: v for name, v in d.source.options.items() if not is_step_option(name)}
                    for d in found
                ]
                return [one(task, options, d.steps) for options, d in zip(own, found, strict=True)]
            (dataset,) = found
            if dataset.steps:
                return [one(task, plain, dataset.steps)]
            if annotations is not None and file is not None:
                return [annotate(dataset, annotations.names, annotations.columns, file.name)]
            return [dataset]

        self._set_reading(True)
        self.begin(READING, work, self._finished, self._failed, self._progress)

    def _progress(self, share: float) -> None:
        self._bar.setValue(round(1000 * share))
        self._foot.setText(f"Reading {self.path.name}, {format_percent(share)}")

    def _set_reading(self, on: bool) -> None:
        self._bar.setValue(0)
        self._bar.setVisible(on)
        self._left.setEnabled(not on)
        self._right.setEnabled(not on)
        self.import_button.setEnabled(not on)
        self.cancel_button.setText(tr("Stop reading" if on else "Cancel"))
        if on:
            self._foot.setText(f"Reading {self.path.name}")
        else:
            self._set_ready(True)

    def _finished(self, datasets: list[Dataset]) -> None:
        labels = [edit.text().strip() for edit in self.label_edits]
        changes = {name: label for name, label in zip(("row_label", "column_label"), labels) if label}
        name = self.name_edit.text().strip()
        if name and name != file_stem(self.path) and len(datasets) == 1:
            changes["name"] = name
        self.datasets = [dataset.with_(**changes) for dataset in datasets]
        self.accept()

    @property
    def dataset(self) -> Dataset | None:
        """The first matrix that was imported."""
        return self.datasets[0] if self.datasets else None

    def _failed(self, error: BaseException, details: str) -> None:
        self._set_reading(False)
        if isinstance(error, PlaidworkError):
            self.messages.post("error", error.message, error.hint, self._switch(error), key="reading")
            found = _ROW_COLUMN.search(error.message)
            if found:
                row = self.state.file_row(int(found[1]))
                if row >= 0:
                    self.table.show_cell(row, int(found[2] or 1) - 1)
        else:
            title = f"{self.path.name} could not be read"
            self.messages.post("error", title, error_text(error), key="reading")
        self._foot.setText("Nothing was added")

    def reject(self) -> None:
        """Stop reading; without that, close."""
        if self.busy(READING):
            self.drop(READING)
            self._set_reading(False)
            return
        super().reject()
