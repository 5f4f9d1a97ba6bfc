"""The page of a dataset: picture, values, annotations; steps, notes and export at the side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QStackedWidget, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.session.store.linked import link_of
from plaidwork.gui.data.annotation_table import annotation_table
from plaidwork.gui.data.data_panel import DataPanel
from plaidwork.gui.data.data_picture import DataPicture
from plaidwork.gui.data.export import write_csv
from plaidwork.gui.data.facts import Facts, in_part_text, missing_text, size_text
from plaidwork.gui.data.label_choice import LabelChoice
from plaidwork.gui.data.samples_choice import SamplesChoice
from plaidwork.gui.data.undo import undo_store
from plaidwork.gui.data.undo_button import offer_undo
from plaidwork.gui.data.values_table import values_table
from plaidwork.gui.data.view_facts import KIND_LABELS
from plaidwork.gui.language import tr
from plaidwork.gui.notes import NotesField
from plaidwork.gui.page import Page
from plaidwork.gui.results.choices import Choices
from plaidwork.gui.save_path import ask_save_path, proposed_name
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl, StatePane, button, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal, vertical
from plaidwork.gui.widgets.state_pane import PaneAction
from plaidwork.gui.workbench import Workbench

PICTURE, VALUES, ROWS, COLUMNS = "picture", "values", "rows", "columns"


class DataPage(Page):
    """Centre page of one dataset of the session."""

    offers = frozenset({"export_picture", "show_data"})

    def __init__(self, workbench: Workbench, dataset_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench = workbench
        self.name = dataset_name
        self._facts: Facts | None = None
        self._task: Task | None = None
        self._pages: dict[str, QWidget] = {}
        self._some_values = False
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._headline = Label("", "title", elide=True)
        self._line = Label("", "body", "muted", elide=True)
        self.transform_button = button("Transform…", self.transform)
        self.undo_button = tool_button("undo", "Undo last step", self.undo)
        self.export_button = tool_button("export", "Export as CSV…", self.ask_export)
        self._switch_row = horizontal(spacing=space.S)
        self.switch: SegmentedControl | None = None
        self.picture = DataPicture()
        self._in_part = Label("", "caption", "muted", elide=True)
        self._stack = QStackedWidget()
        self.panel = self._make_panel()
        self.choices: Choices | None = None
        self._build()
        self._notes_quiet = QTimer(self, singleShot=True, interval=400)
        self._notes_quiet.timeout.connect(self._keep_notes)
        self.notes.edited.connect(lambda *_: self._notes_quiet.start())
        workbench.data_changed.connect(self._data_changed)
        workbench.data_renamed.connect(self._renamed)
        self.refresh()

    def _build(self) -> None:
        texts = vertical(self._headline, self._line, spacing=space.XS)
        add(self._switch_row, STRETCH, self.undo_button, self.export_button, self.transform_button)
        foot = horizontal((self._in_part, 1), self.picture.hatched, self.picture.bar, spacing=space.L)
        vertical(
            texts,
            self._switch_row,
            (self._stack, 1),
            foot,
            on=self,
            spacing=space.M,
            margins=(space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.M),
        )

    def _make_panel(self) -> DataPanel:
        panel = DataPanel(picture=False)
        panel.setWindowTitle(tr("Data"))
        self.notes = NotesField("Notes on these data", "What is worth remembering about these data")
        self.notes.setFixedHeight(170)
        self.samples = SamplesChoice()
        self.samples.chosen.connect(lambda word: self.workbench.set_samples(self.name, word))
        panel.add(self.samples)
        panel.add(Label("Notes", "strong"))
        panel.add(self.notes)
        panel.add(QWidget(), 1)
        panel.computed.connect(self._facts_ready)
        panel.unreadable.connect(self._not_read)
        self.destroyed.connect(panel.deleteLater)
        return panel

    # -- content --------------------------------------------------------------------------------
    @property
    def dataset(self) -> Dataset | None:
        """The dataset shown; None when it was removed."""
        return self.workbench.session.datasets.get(self.name)

    def side_panel(self) -> DataPanel:
        """Spread, numbers, steps and notes, for the right dock."""
        return self.panel

    def _data_changed(self, name: str) -> None:
        if name == self.name:
            self.refresh()

    def refresh(self) -> None:
        """Show the dataset as it is now."""
        dataset = self.dataset
        if dataset is None:
            self._show_gone()
            return
        self._tell_size(dataset)
        source = f" from {dataset.source.file}" if dataset.source.file else ""
        steps = f"; {', '.join(str(step) for step in dataset.steps)}" if dataset.steps else ""
        self._line.setText(f"{dataset.name}: {KIND_LABELS[dataset.kind]}{source}{steps}")
        self._make_switch(dataset)
        for part in list(self._pages):
            self._forget(part)
        if not self.notes.editor.hasFocus():
            self.notes.set_text(dataset.notes)
        self.panel.set_dataset(dataset)
        self.samples.show_dataset(dataset)
        offer_undo(self.undo_button, dataset, lambda: self.dataset is dataset)
        self._keep_choices()
        self.show_part(self.part)

    def _tell_size(self, dataset: Dataset) -> None:
        """How large the data are, and how many cells are missing once that is counted, with the facts in the background."""
        missing = dataset.known_missing
        if missing is None:
            self._headline.setText(size_text(dataset))
        else:
            self._headline.setText(f"{size_text(dataset)}, {missing_text(dataset.shape, missing)}")

    def _show_gone(self) -> None:
        gone = StatePane("database", f"“{self.name}” is no longer in this session")
        self._stack.addWidget(gone)
        self._stack.setCurrentWidget(gone)
        buttons = (self.transform_button, self.undo_button, self.export_button)
        for widget in (*buttons, self.picture.bar, self.picture.hatched):
            widget.hide()
        self._headline.setText(self.name)
        self._line.setText("")
        self.panel.set_dataset(None)

    def _make_switch(self, dataset: Dataset) -> None:
        options = [(PICTURE, "Picture"), (VALUES, "Values")]
        if dataset.row_table:
            options.append((ROWS, dataset.row_label.capitalize()))
        if dataset.column_table:
            options.append((COLUMNS, dataset.column_label.capitalize()))
        before = self.part
        if self.switch is not None:
            self._switch_row.removeWidget(self.switch)
            self.switch.hide()
            self.switch.deleteLater()
        keys = [key for key, _ in options]
        self.switch = SegmentedControl(options, before if before in keys else PICTURE)
        self.switch.setAccessibleName(tr("Part of the data"))
        self.switch.changed.connect(self.show_part)
        self._switch_row.insertWidget(0, self.switch)

    def _keep_choices(self) -> None:
        """Keep the part that is shown and the order of the tables, which are made anew with the data."""
        if self.choices is not None:
            self.choices.deleteLater()
        kept = self.workbench.kept_view(self.name)
        self.choices = Choices(kept, self.workbench.note_view, self)
        if self.switch is not None:
            self.choices.adopt(self.switch)
        self.choices.restore()

    @property
    def part(self) -> str:
        """What the centre shows: picture, values, rows or columns."""
        return self.switch.current if self.switch is not None else PICTURE

    def show_part(self, part: str) -> None:
        """Show another part; each is made when it is first shown."""
        dataset = self.dataset
        if dataset is None:
            return
        if part not in self._pages:
            axes = {ROWS: partial(self._annotations, axis=0), COLUMNS: partial(self._annotations, axis=1)}
            makers: dict[str, Callable[[Dataset], QWidget]] = {PICTURE: self._picture, VALUES: self._values}
            self._pages[part] = (makers | axes)[part](dataset)
            self._stack.addWidget(self._pages[part])
        self._stack.setCurrentWidget(self._pages[part])
        self.picture.show_foot(dataset, part == PICTURE)
        self._tell_part()

    def show_data(self) -> None:
        """The values behind the picture."""
        if self.switch is not None:
            self.switch.set_current(VALUES)

    # -- parts ----------------------------------------------------------------------------------
    def _values(self, dataset: Dataset) -> QWidget:
        """All values, or those rows that were looked at while the others are being read."""
        facts = self._facts
        self._some_values = facts is not None and facts.in_part and not dataset.at_hand
        return values_table(facts.looked_at if facts is not None and self._some_values else dataset)

    def _tell_part(self) -> None:
        """Say where the picture, or the table, is of some of the rows."""
        facts, dataset = self._facts, self.dataset
        shown = {PICTURE: "Picture", VALUES: "Values" if self._some_values else ""}.get(self.part, "")
        told = f"{shown} {in_part_text(facts)}" if shown and facts is not None and facts.in_part else ""
        if told and dataset is not None and dataset.stays:
            told += "; the values stay in their file"
        elif told and dataset is not None and not dataset.is_sparse:
            told += ", the others are being read"
        self._in_part.setText(told)
        self._in_part.setVisible(bool(told))

    def _picture(self, dataset: Dataset) -> QWidget:
        made = self.picture.make(dataset, self._facts.course if self._facts is not None else None)
        if self.picture.image is not None:
            self.picture.image.hovered.connect(self.hovered)
            self.picture.image.data_requested.connect(self.show_data)
            self._draw()
        return made

    def _draw(self) -> None:
        self.picture.draw(self._facts, self.dataset, self._tell_part)

    def _facts_ready(self, facts: Facts) -> None:
        self._facts = facts
        dataset = self.dataset
        if dataset is None:
            return
        self._tell_size(dataset)
        self.picture.show_foot(dataset, self.part == PICTURE)
        course = facts.course is not None or self.picture.course is not None
        if course or facts.n_missing == int(np.prod(facts.shape)):
            self._forget(PICTURE)
        if self._some_values or isinstance(
            self._pages.get(VALUES), StatePane
        ):  # more of the values is there by now
            self._some_values = False
            self._forget(VALUES)
        self._draw()
        if self.part not in self._pages:
            self.show_part(self.part)

    def _not_read(self, why: str) -> None:
        dataset = self.dataset
        linked = dataset is not None and link_of(dataset, {}) is not None
        find = partial(self.workbench.guard.find_requested.emit, self.name)
        actions: list[PaneAction] = [("Find file…", find, "primary")] if linked else []
        for part in (PICTURE, VALUES):
            self._forget(part)
            self._pages[part] = StatePane(
                "warning", "The values cannot be read", why, actions, icon_color="error"
            )
            self._stack.addWidget(self._pages[part])
        self.show_part(self.part)

    def _forget(self, part: str) -> None:
        page = self._pages.pop(part, None)
        if part == PICTURE:
            self.picture.forget()
        if page is not None:
            self._stack.removeWidget(page)
            page.hide()
            page.deleteLater()

    def _annotations(self, dataset: Dataset, axis: int) -> QWidget:
        """The table beside an axis, and above it the choice of what its items are shown by."""
        choice = LabelChoice(dataset, axis)
        choice.chosen.connect(lambda shown: self.workbench.show_by(self.name, axis, shown))
        holder, found = QWidget(), annotation_table(dataset, axis)
        vertical(choice, (found, 1), on=holder, spacing=space.S)
        if self.choices is not None:
            self.choices.adopt(found)
            self.choices.restore()
        return holder

    # -- steps ----------------------------------------------------------------------------------
    def transform(self) -> None:
        """Open the catalogue of transformations."""
        from plaidwork.gui.data.transform_dialog import TransformDialog, used_by

        dataset = self.dataset
        if dataset is None:
            return
        dialog = TransformDialog(dataset, used_by(self.workbench.session, self.name), self)
        if dialog.exec() and dialog.dataset is not None:
            self.take(dialog.dataset, dialog.as_new)
        dialog.deleteLater()

    def take(self, changed: Dataset, as_new: bool = False) -> None:
        """Put a transformed version in place of the dataset, or beside it."""
        if as_new:
            name = f"{self.name}, {changed.steps[-1]}"
            added = self.workbench.add_dataset(changed.with_(name=name))
            self.workbench.notified.emit("ok", f"Added “{added.name}”", "", "")
        else:
            self.workbench.replace_dataset(
                self.name, changed, f"Transform “{self.name}”: {changed.steps[-1]}"
            )

    def undo(self) -> None:
        """Put the version before the last step back."""
        dataset = self.dataset
        before = undo_store().before(dataset) if dataset is not None else None
        if dataset is not None and before is not None:
            step = f"Take “{dataset.steps[-1]}” of “{self.name}” back"
            self.workbench.replace_dataset(self.name, before, step)

    # -- name, notes, export --------------------------------------------------------------------
    def rename(self) -> None:
        """Ask for another name."""
        from plaidwork.gui.dialogs import ask_text

        name = ask_text(self, "Rename the data", "", self.name, "Rename")
        if name:
            self.rename_to(name.strip())

    def rename_to(self, name: str) -> None:
        """Give the dataset another name; runs and searches that use it follow."""
        if self.dataset is None or not name or name == self.name:
            return
        try:
            self.workbench.rename_dataset(self.name, name)
        except PlaidworkError as error:
            self.workbench.notified.emit("warn", f"“{self.name}” was not renamed", str(error), "")

    def _renamed(self, old: str, name: str) -> None:
        if old == self.name:
            self.name = name
            self.refresh()

    def _keep_notes(self) -> None:
        dataset, text = self.dataset, self.notes.text
        if dataset is not None and text != dataset.notes:
            self.workbench.editing.note_dataset(self.name, text)

    def ask_export(self) -> None:
        """Ask for a file and write the values."""
        name = proposed_name(self.workbench.session.name, self.name, suffix=".csv")
        path = ask_save_path(self, "Export data", name, "CSV (*.csv)")
        if path is not None:
            self.export_csv(path)

    def export_csv(self, path: Path) -> Task | None:
        """Write names, row annotations and values in the background."""
        dataset = self.dataset
        if dataset is None:
            return None
        notified = self.workbench.notified

        def failed(error: BaseException, details: str) -> None:
            text = str(error) if isinstance(error, PlaidworkError) else f"{type(error).__name__}: {error}"
            notified.emit("error", "Could not export the data", text, details)

        def done(guarded: str) -> None:
            notified.emit("ok", f"Exported {size_text(dataset)} to {path.name}", guarded, "")

        self._task = run_task(lambda task: write_csv(dataset, path, task.report), done, failed)
        return self._task

    def export_picture(self, path: Path) -> Path | None:
        """Write the picture to a file; None when no cell is known."""
        from plaidwork.gui.plots import save_picture

        if self.switch is not None:
            self.switch.set_current(PICTURE)
        if self.picture.drawn is None:
            return None
        save_picture(self.picture.drawn, path)
        return path
