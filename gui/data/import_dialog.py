"""The import dialog: trust before numbers enter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError, PlaidworkError, PluginError
from plaidwork.core.importers import Preview, Reader, find_reader
from plaidwork.core.text import texts_in
from plaidwork.gui.data.import_options import OptionsPanel
from plaidwork.gui.data.import_state import FixRow, ImportState, annotate, is_step_option, match_axis
from plaidwork.gui.data.issue_list import IssueList
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.data.preview_table import PreviewTable
from plaidwork.gui.data.role_chips import RoleBar
from plaidwork.gui.data.undo import undo_store
from plaidwork.gui.numbers import format_count, format_percent
from plaidwork.gui.plots.legend import Legend, LegendEntry
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Card, Chip, Label, MessageBar, StatePane, button

LEFT = 264
_ROW_COLUMN = re.compile(r"row (\d+)(?:, column (\d+))?")


class ImportDialog(QDialog):
    """Shows how a file would be read; after ``accept`` the matrix is in ``dataset``.

    ``text_column`` names the column whose words the user wants to have counted instead; empty otherwise.

    Parameters
    ----------
    path : the file
    registry : anything with ``readers`` (those of plugins, tried before the built-in ones)
    """

    def __init__(self, path: str | Path, registry: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = Path(path)
        self.dataset: Dataset | None = None
        self.text_column = ""
        self._texts_offered = False
        self.state = ImportState()
        self._reader: Reader | None = None
        self._registry = registry
        self._task: Task | None = None
        self._reading: Task | None = None
        self._annotations: Any = None
        self._annotation_path: Path | None = None
        self._own_labels = [False, False]
        self.setWindowTitle(f"Import {self.path.name}")
        self._build()
        self.resize(1180, 780)
        try:
            self._reader = find_reader(self.path, tuple(registry.readers) if registry is not None else ())
        except DataError as error:
            self._refuse(error.message, error.hint)
            return
        self._load()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.messages = MessageBar()
        self.options = OptionsPanel()
        self.roles = RoleBar()
        self.table = PreviewTable()
        self.issues = IssueList()
        self._found = Chip("", "warn")
        self._found_line = Label("", "body", "muted", elide=True)
        self._told = Label("", "body", "muted", elide=True)
        self._foot = Label("", "body", "muted", elide=True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(160, size.PROGRESS)
        self._bar.setRange(0, 1000)
        self._bar.hide()
        self.cancel_button = button("Cancel", self.reject)
        self.import_button = button("Import", self.start_import, kind="primary")
        self.import_button.setDefault(True)
        self.name_edit = QLineEdit(_stem(self.path))
        self.label_edits = (QLineEdit(), QLineEdit())
        for axis, edit in enumerate(self.label_edits):
            edit.textEdited.connect(lambda _, axis=axis: self._label_edited(axis))
        self._left, self._right = self._build_left(), self._build_right()
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self._left)
        middle.addWidget(self._right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._build_head())
        column.addWidget(self.messages)
        column.addLayout(middle, 1)
        self._refusal = StatePane("warning", "", icon_color="error")
        self._refusal.hide()
        column.addWidget(self._refusal, 1)
        column.addWidget(self._build_foot())

    def _build_head(self) -> QWidget:
        head = Pane("surface", "bottom")
        column = QVBoxLayout(head)
        column.setContentsMargins(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L)
        column.setSpacing(space.XS)
        column.addWidget(Label(f"Import {self.path.name}", "headline", elide=True))
        column.addWidget(self._told)
        return head

    def _build_left(self) -> QWidget:
        pane = Pane("sunken", "right")
        inner = Pane("sunken")
        column = QVBoxLayout(inner)
        column.setContentsMargins(space.DIALOG_EDGE, space.L, space.L, space.L)
        column.setSpacing(space.M)
        column.addWidget(Label("How to read it", "strong"))
        column.addWidget(self.options)
        column.addSpacing(space.S)
        column.addWidget(Label("What to call it", "strong"))
        for title, edit in zip(("Name", "Rows are", "Columns are"), (self.name_edit, *self.label_edits)):
            label = Label(title)
            label.setBuddy(edit)
            edit.setAccessibleName(title)
            part = QVBoxLayout()
            part.setSpacing(space.XS)
            part.addWidget(label)
            part.addWidget(edit)
            column.addLayout(part)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        outer = QVBoxLayout(pane)
        outer.setContentsMargins(0, 0, 1, 0)
        outer.addWidget(scroll)
        pane.setFixedWidth(LEFT)
        return pane

    def _build_right(self) -> QWidget:
        pane = Pane("surface")
        legend = Legend()
        legend.set_entries(
            [LegendEntry("name", 0, "box"), LegendEntry("label", 2, "box"), LegendEntry("number", 4, "box")]
        )
        top = QHBoxLayout()
        top.setSpacing(space.S)
        top.addWidget(Label("Preview", "strong"))
        top.addWidget(self._found_line, 1)
        top.addWidget(legend)
        frame = Card()
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(4, 3, 4, 3)
        inside.addWidget(self.table)
        found = QHBoxLayout()
        found.setSpacing(space.S)
        found.addWidget(Label("Found while reading", "strong"))
        found.addWidget(self._found)
        found.addStretch(1)
        column = QVBoxLayout(pane)
        column.setContentsMargins(space.XL, space.L, space.DIALOG_EDGE, space.L)
        column.setSpacing(space.S)
        column.addLayout(top)
        column.addWidget(self.roles)
        column.addWidget(frame, 1)
        column.addSpacing(space.XS)
        column.addLayout(found)
        column.addWidget(self._scrolled_issues())
        column.addSpacing(space.XS)
        column.addLayout(self._build_classes())
        self.options.changed.connect(self._option_changed)
        self.roles.role_chosen.connect(self._role_chosen)
        self.table.role_menu_requested.connect(self.roles.open_column_menu)
        self.issues.ticked.connect(self._ticked)
        self.issues.place_requested.connect(self._go_to)
        return pane

    def _scrolled_issues(self) -> QWidget:
        self._issue_scroll = QScrollArea()
        self._issue_scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._issue_scroll.setWidgetResizable(True)
        self._issue_scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._issue_scroll.setBackgroundRole(self.palette().ColorRole.Base)
        self._issue_scroll.viewport().setBackgroundRole(self.palette().ColorRole.Base)
        self._issue_scroll.setWidget(self.issues)
        return self._issue_scroll

    def _build_classes(self) -> QHBoxLayout:
        self._class_file = Chip("")
        self._class_match = Chip("", "ok")
        self._class_line = Label(
            "Optional: a table with one row per sample, for colours and classifiers",
            "caption",
            "muted",
            elide=True,
        )
        self.suggest_button = button("", self._take_suggestion, kind="quiet")
        self.remove_classes = button("Remove", self._forget_classes, kind="quiet")
        self.classes_button = button("Choose…", self._ask_classes)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label("Sample classes", "strong"))
        words.addWidget(self._class_line)
        row = QHBoxLayout()
        row.setSpacing(space.S)
        row.addLayout(words, 1)
        for item in (self._class_file, self._class_match, self.suggest_button, self.remove_classes):
            row.addWidget(item)
        row.addWidget(self.classes_button)
        self._suggestion = _find_sibling(self.path)
        self._show_classes()
        return row

    def _build_foot(self) -> QWidget:
        foot = Pane("window", "top")
        row = QHBoxLayout(foot)
        row.setContentsMargins(space.DIALOG_EDGE, space.M, space.DIALOG_EDGE, space.M)
        row.setSpacing(space.S)
        row.addWidget(self._foot, 1)
        for item in (self._bar, self.cancel_button, self.import_button):
            row.addWidget(item)
        return foot

    # -- preview --------------------------------------------------------------------------------
    def _load(self) -> None:
        """Read the preview again, off the GUI thread."""
        reader, path, given = self._reader, self.path, dict(self.state.given)
        if reader is None:
            return
        if self._task is not None:
            self._task.cancel()
        self._set_ready(False)
        self._task = run_task(lambda task: reader.preview(path, given), self._show, self._preview_failed)

    def _show(self, preview: Preview) -> None:
        self._task = None
        if self.state.take(preview):
            self._load()
            return
        self.options.show_preview(preview, self.state.given)
        changeable = "names" in preview.options and len(preview.roles) == len(preview.header)
        self.roles.show_preview(preview, max(self.state.size) and self._n_values(), changeable)
        bad = {
            (self.state.file_row(row.issue.row), row.issue.column - 1)
            for row in self.state.rows
            if row.issue.row and row.issue.column and not row.applied
        }
        self.table.show_preview(preview, bad)
        self._show_issues(preview)
        found = f"{format_count(preview.n_rows)} rows and {format_count(preview.n_columns)} columns found. "
        self._told.setText(
            (found if preview.n_rows and preview.n_columns else "")
            + "Check how they were read; nothing is changed in your file."
        )
        shown = len(preview.cells)
        every = shown >= preview.n_rows
        told = f"{'all' if every else 'first'} {format_count(shown)} rows"
        self._found_line.setText(told if shown else "")
        self._show_labels()
        self._match_classes()
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

    def _n_values(self) -> int:
        assert self.state.preview is not None
        rows, columns = self.state.size
        return rows if self.state.given.get("transpose") else columns

    def _show_issues(self, preview: Preview) -> None:
        partly = any("rows were checked" in row.issue.message for row in self.state.rows)
        self.issues.show_rows(self.state.rows, "the first rows" if partly else "all rows")
        count = self.state.to_look_at
        mended = self.state.mended
        self._found.set(f"{count} to look at" if count else f"{mended} mended", "warn" if count else "ok")
        self._found.setVisible(count + mended > 0)
        rows = max(1, len(self.issues.rows))
        self._issue_scroll.setFixedHeight(min(rows, 4) * 36 + 4)

    def _show_labels(self) -> None:
        for axis, (edit, label) in enumerate(zip(self.label_edits, self.state.axis_labels())):
            if not self._own_labels[axis]:
                edit.setText(label)

    def _preview_failed(self, error: BaseException, details: str) -> None:
        self._task = None
        if isinstance(error, PlaidworkError):
            self._refuse(error.message, error.hint, self._switch(error))
        else:
            self._refuse(f"{self.path.name} could not be read: {type(error).__name__}: {error}")

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

        return [("Disable plugin", lambda: run_task(lambda task: registry.disable(name), done, failed))]

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
            self._foot.setText(obstacle or self.state.adds(labels))
            self._foot.set_color("error" if obstacle else "muted")
        self.import_button.setToolTip(obstacle if ready else "")

    # -- changes --------------------------------------------------------------------------------
    def _option_changed(self, name: str, value: Any) -> None:
        self.state.give(name, value)
        self._load()

    def _role_chosen(self, column: int, role: str) -> None:
        self.state.set_role(column, role)
        self._load()

    def _ticked(self, row: FixRow, on: bool) -> None:
        self.state.tick(row, on)
        self._load()

    def _label_edited(self, axis: int) -> None:
        self._own_labels[axis] = bool(self.label_edits[axis].text().strip())
        self._set_ready(self._task is None)

    def _go_to(self, row: FixRow) -> None:
        place = self.state.file_row(row.issue.row)
        if place >= 0:
            self.table.show_cell(place, row.issue.column - 1)

    # -- classes --------------------------------------------------------------------------------
    def _ask_classes(self) -> None:
        kinds = "Tables (*.csv *.tsv *.txt *.csv.gz *.tsv.gz)"
        path, _ = QFileDialog.getOpenFileName(self, "Sample classes", str(self.path.parent), kinds)
        if path:
            self.set_classes(Path(path))

    def _take_suggestion(self) -> None:
        if self._suggestion is not None:
            self.set_classes(self._suggestion)

    def set_classes(self, path: Path) -> None:
        """Read a table of annotations, one row per sample (or per row of the matrix)."""

        def done(found: Any) -> None:
            self._annotations, self._annotation_path = found, path
            self.messages.dismiss("classes")
            self._show_classes()

        def failed(error: BaseException, details: str) -> None:
            title = error.message if isinstance(error, PlaidworkError) else f"{path.name}: {error}"
            hint = error.hint if isinstance(error, PlaidworkError) else ""
            self.messages.post("error", title, hint, key="classes")

        run_task(lambda task: _read_annotations(path), done, failed)

    def _forget_classes(self) -> None:
        self._annotations = self._annotation_path = None
        self._show_classes()

    def _show_classes(self) -> None:
        chosen = self._annotations is not None
        for widget in (self._class_file, self._class_match, self.remove_classes):
            widget.setVisible(chosen)
        self.suggest_button.setVisible(not chosen and self._suggestion is not None)
        if self._suggestion is not None:
            self.suggest_button.setText(f"Use {self._suggestion.name}")
        if chosen and self._annotation_path is not None:
            self._class_file.set(self._annotation_path.name)
            columns = list(self._annotations.columns)
            self._class_line.setText(f"Adds {', '.join(columns[:4])}{', …' if len(columns) > 4 else ''}")
            self._match_classes()
        else:
            self._class_line.setText("Optional: a table with one row per sample, for colours and classifiers")

    def _match_classes(self) -> None:
        preview = self.state.preview
        if self._annotations is None or preview is None:
            return
        columns = tuple(t for t, role in zip(preview.header, preview.roles) if role == "value")
        rows: tuple[str, ...] = ()
        if "name" in preview.roles:
            place = preview.roles.index("name")
            rows = tuple(cells[place].strip() for cells in preview.cells if place < len(cells))
        axis, count = match_axis({1: columns, 0: rows}, self._annotations.names)
        total = len((rows, columns)[axis])
        if count == 0:
            self._class_match.set("no name matches", "error")
        elif axis == 0 and preview.n_rows > len(preview.cells):
            self._class_match.set(
                f"{count} of the first {total} names match", "ok" if count == total else "warn"
            )
        else:
            told = f"{format_count(count)} of {format_count(total)} names match"
            self._class_match.set(told, "ok" if count == total else "warn")

    # -- reading --------------------------------------------------------------------------------
    def start_import(self) -> None:
        """Read the whole file in the background, then accept."""
        if self._reader is None or self._reading is not None or not self.import_button.isEnabled():
            return
        reader, path, given = self._reader, self.path, dict(self.state.given)
        annotations, file = self._annotations, self._annotation_path
        self.messages.dismiss("reading")

        def work(task: Task) -> Dataset:
            dataset = reader.read(path, given, task.report)
            steps = dataset.steps
            if steps:  # keep the data as they are in the file, so that the steps can be undone
                plain = {name: value for name, value in given.items() if not is_step_option(name)}
                dataset = reader.read(path, plain, task.report)
            if annotations is not None and file is not None:
                dataset = annotate(dataset, annotations.names, annotations.columns, file.name)
            if steps:
                dataset = undo_store().replay(dataset, steps)
            return dataset

        self._set_reading(True)
        self._reading = run_task(work, self._finished, self._failed, self._progress)

    def _progress(self, share: float) -> None:
        if self._reading is not None:
            self._bar.setValue(round(1000 * share))
            self._foot.setText(f"Reading {self.path.name}, {format_percent(share)}")

    def _set_reading(self, on: bool) -> None:
        self._bar.setValue(0)
        self._bar.setVisible(on)
        self._left.setEnabled(not on)
        self._right.setEnabled(not on)
        self.import_button.setEnabled(not on)
        self.cancel_button.setText("Stop reading" if on else "Cancel")
        if on:
            self._foot.setText(f"Reading {self.path.name}")
        else:
            self._reading = None
            self._set_ready(True)

    def _finished(self, dataset: Dataset) -> None:
        changes: dict[str, Any] = {}
        name = self.name_edit.text().strip()
        if name and name != _stem(self.path):
            changes["name"] = name
        labels = [edit.text().strip() for edit in self.label_edits]
        if labels[0]:
            changes["row_label"] = labels[0]
        if labels[1]:
            changes["column_label"] = labels[1]
        self.dataset = dataset.with_(**changes)
        self._reading = None
        self.accept()

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
            text = f"{type(error).__name__}: {error}"
            self.messages.post("error", f"{self.path.name} could not be read", text, key="reading")
        self._foot.setText("Nothing was added")

    def reject(self) -> None:
        """Stop reading; without that, close."""
        if self._reading is not None:
            self._reading.cancel()
            self._set_reading(False)
            return
        if self._task is not None:
            self._task.cancel()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nothing goes on behind a closed dialog."""
        for task in (self._task, self._reading):
            if task is not None:
                task.cancel()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter inside a field takes the text first."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self.focusWidget(), QLineEdit):
            self.focusNextChild()
            return
        super().keyPressEvent(event)


def _stem(path: Path) -> str:
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def _find_sibling(path: Path) -> Path | None:
    """A table of samples beside the file: ``a_x.csv`` → ``a_samples.csv``."""
    stem = _stem(path)
    suffix = path.name[len(stem) :]
    stems: Sequence[str] = (stem.removesuffix("_x").removesuffix("_data"), stem)
    for base in stems:
        for word in ("samples", "classes", "labels"):
            found = path.with_name(f"{base}_{word}{suffix}")
            if found != path and found.is_file():
                return found
    return None


def _read_annotations(path: Path) -> Any:
    from plaidwork.core.importers._column import read_annotations

    return read_annotations(path)
