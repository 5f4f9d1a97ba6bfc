"""Several files at once: what each is, how they go together, and one click to add them as views."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers.several import Joined
from plaidwork.core.data.overview import Overview
from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.issue_list import IssueList
from plaidwork.gui.data.presence import PresenceLegend, PresencePicture
from plaidwork.gui.data.reading_dialog import ReadingDialog
from plaidwork.gui.data.view_facts import doubts
from plaidwork.gui.data.view_files import FileRow
from plaidwork.gui.data.views_state import FileEntry, ViewsState
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.task_dialog import message_and_hint
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Chip, Label, MessageBar, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

_QUIET = 300
JOINING = "joining"
"""Name of the task."""


class ViewsDialog(ReadingDialog):
    """Shows how files would be joined; after ``accept`` the views are in ``datasets``.

    Parameters
    ----------
    paths : the files
    registry : anything with ``readers``, for the dialog that shows how one file is read
    """

    def __init__(self, paths: Sequence[Path], registry: Any = None, parent: QWidget | None = None) -> None:
        several = len(paths) > 1
        super().__init__(
            f"Import {counted(len(paths), 'file')}" if several else f"Import {paths[0].name}", parent
        )
        self.state = ViewsState.of(paths)
        self.datasets: list[Dataset] = []
        self.rows: list[FileRow] = []
        self._registry = registry
        self._typing = self.later(_QUIET, self._work)
        self._build()
        self.resize(1080, 780)
        self._work()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.messages = MessageBar()
        self.picture = PresencePicture(150)
        self.issues = IssueList()
        self._found = Chip("", "warn")
        self._bar.setRange(0, 0)
        self.issues.ticked.connect(self._ticked)
        self.lay_out(self.messages, (self._build_middle(), 1))

    def _build_middle(self) -> QWidget:
        inner = QWidget()
        card = Card()
        files = vertical(on=card, spacing=0, margins=1)
        for number, entry in enumerate(self.state.files):
            row = FileRow(entry, number == len(self.state.files) - 1)
            row.use_chosen.connect(self._use)
            row.name_edited.connect(self._name)
            row.options_wanted.connect(self.show_options)
            self.rows.append(row)
            files.addWidget(row)
        found = horizontal(Label("Found while joining", "strong"), self._found, STRETCH, spacing=space.S)
        self._together = QWidget()
        top = horizontal(Label("Samples by view", "strong"), STRETCH, PresenceLegend())
        vertical(top, self.picture, on=self._together, spacing=space.S)
        vertical(
            Label("Files", "strong"),
            card,
            space.S,
            found,
            self.issues,
            space.S,
            self._together,
            STRETCH,
            on=inner,
            spacing=space.S,
            margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L),
        )
        scroll = scrolled(inner)
        for widget in (inner, scroll.viewport()):
            widget.setBackgroundRole(self.palette().ColorRole.Base)
            widget.setAutoFillBackground(True)
        self._together.hide()
        self._found.hide()
        self._scroll = scroll
        return scroll

    # -- joining --------------------------------------------------------------------------------
    def _work(self) -> None:
        """Read and join again, off the GUI thread."""
        self._bar.show()
        self.import_button.setEnabled(False)
        self.say("Reading the files")
        state = self.state
        self.begin(JOINING, lambda task: state.work(task.check), self._show, self._failed)

    def _show(self, found: tuple[Joined, Overview | None]) -> None:
        self.state.joined, self.state.overview = found
        joined, overview = found
        self._bar.hide()
        for row in self.rows:
            row.show_parts(self.state.parts_of(row.entry), len(joined.views) < 2)
        several = overview is not None and len(overview.views) > 1
        self._together.setVisible(several)
        if several and overview is not None:
            self.picture.set_overview(overview)
            self._note.setText(
                f"{counted(len(overview.samples), 'sample')}, {format_count(overview.n_complete)} of them with values in "
                "every view. Joined by name; nothing is changed in your files."
            )
        else:
            self._note.setText("Files are joined by the names of their samples; nothing is changed in them.")
        shown = self.state.issues()
        self.issues.show_rows(shown, "the files")
        count = sum(row.issue.severity != "info" and not row.applied for row in shown)
        self._found.set(f"{count} to look at", "warn")
        self._found.setVisible(bool(count))
        obstacle = self.state.obstacle
        self.import_button.setEnabled(not obstacle)
        self.import_button.setToolTip(tr(obstacle))
        doubt = doubts(overview.views)[:1] if overview is not None else []
        self.say(obstacle or self.state.adds, "error" if obstacle else "muted")
        self._foot.setToolTip(tr(obstacle or (doubt[0] if doubt else "")))

    def _failed(self, error: BaseException, details: str) -> None:
        self._bar.hide()
        self.messages.post("error", *message_and_hint(error), key="joining")
        self._foot.setText("Nothing was added")

    # -- changes --------------------------------------------------------------------------------
    def _use(self, entry: FileEntry, use: str) -> None:
        self.state.use(entry, use)
        self._work()

    def _name(self, entry: FileEntry, names: list[str]) -> None:
        entry.names = names
        self._typing.start()

    def _ticked(self, row: Any, on: bool) -> None:
        self.state.tick(row.issue.fix[2], on)
        self._work()

    def show_options(self, entry: FileEntry) -> QDialog:
        """The dialog in which one file is looked at closely; what is chosen there is used here."""
        from plaidwork.gui.data.import_dialog import ImportDialog

        dialog = ImportDialog(entry.path, self._registry, self)
        dialog.import_button.setText(tr("Use it so"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def taken() -> None:
            self.state.give(entry, dialog.state.given)
            self._work()

        dialog.accepted.connect(taken)
        dialog.open()
        return dialog

    def start_import(self) -> None:
        """Take the views as they were joined."""
        if self._typing.isActive():
            self._typing.stop()
            self._work()
            return
        if not self.busy(JOINING) and self.state.joined is not None and not self.state.obstacle:
            self.datasets = list(self.state.joined.views)
            self.accept()
