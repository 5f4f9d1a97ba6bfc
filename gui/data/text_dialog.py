"""The window for texts: from raw text, or counts of words, to a sparse matrix of documents by words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QWidget,
)

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.text import Counter, SourceLook, load_documents, look_at, make_dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError, SettingError
from plaidwork.gui.data.import_state import FixRow
from plaidwork.gui.data.issue_list import IssueList
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.data.reading_dialog import ReadingDialog
from plaidwork.gui.data.text_options import TextOptionsPanel
from plaidwork.gui.data.text_preview import TextPreviewPane
from plaidwork.gui.data.text_roles import TextRoles
from plaidwork.gui.data.text_state import TextPreview, TextState, make_preview
from plaidwork.gui.data.text_stop_words import StopWordsDialog
from plaidwork.gui.numbers import format_percent
from plaidwork.gui.task_dialog import message_and_hint
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, StatePane, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

LEFT = 304
READING, MAKING = "reading", "making"
"""Names of the tasks: reading and counting, of which the last counts, and making the matrix."""
QUIET = 200
"""Milliseconds without a change until words are counted again."""
REPORT_EVERY = 0.1
"""Seconds between two reports of progress."""
_ISSUE_ROW = 36


class TextImportDialog(ReadingDialog):
    """Shows what becomes of the texts in a file or folder; after ``accept`` the matrix is in ``dataset``.

    Parameters
    ----------
    path : a table, a folder of .txt files, or counts
    given : options to begin with, such as ``text_column``
    """

    def __init__(
        self, path: str | Path, given: Mapping[str, Any] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(f"Import texts from {Path(path).name}", parent)
        self.path = Path(path)
        self.dataset: Dataset | None = None
        self.state = TextState(self.path, dict(given or {}))
        self._begun = False
        self._quiet = self.later(QUIET, self._count)
        self._build()
        self.resize(1180, 780)
        self._load()

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.options = TextOptionsPanel()
        self.preview = TextPreviewPane()
        self.roles = TextRoles()
        self.issues = IssueList()
        self._bar.hide()
        self.import_button.setObjectName("import_texts")
        self._refusal = StatePane("warning", "", icon_color="error")
        self._refusal.hide()
        self._left, self._right = self._build_left(), self._build_right()
        self.lay_out((horizontal(self._left, (self._right, 1), (self._refusal, 1), spacing=0), 1))
        self.options.source_changed.connect(self._source_changed)
        self.options.setting_changed.connect(self._setting_changed)
        self.options.edit_stop_list.connect(self.edit_stop_words)
        self.options.name_edit.setText(self.path.name if self.path.is_dir() else file_stem(self.path))
        self.preview.word_toggled.connect(self._word_toggled)
        self.roles.chosen.connect(self._role_chosen)
        self.issues.ticked.connect(self._ticked)

    def _build_left(self) -> QWidget:
        pane = Pane("sunken", "right")
        inner = Pane("sunken")
        vertical(self.options, STRETCH, on=inner, margins=(space.DIALOG_EDGE, space.L, space.L, space.L))
        vertical(scrolled(inner), on=pane, margins=(0, 0, 1, 0))
        pane.setFixedWidth(LEFT)
        return pane

    def _build_right(self) -> QWidget:
        pane = Pane("surface")
        self._roles_title = Label("What the other columns are", "strong")
        self._issue_scroll = scrolled(self.issues)
        for part in (self._issue_scroll, self._issue_scroll.viewport()):
            part.setBackgroundRole(self.palette().ColorRole.Base)
        vertical(
            (self.preview, 1),
            space.XS,
            self._roles_title,
            self.roles,
            space.XS,
            Label("Found while reading", "strong"),
            self._issue_scroll,
            on=pane,
            spacing=space.S,
            margins=(space.XL, space.L, space.DIALOG_EDGE, space.L),
        )
        return pane

    # -- reading --------------------------------------------------------------------------------
    def _load(self) -> None:
        """Read the documents, then count; off the GUI thread."""
        path, given = self.path, dict(self.state.given)
        state = self.state
        state.counter = None
        if not self._begun:
            self._left.hide()
            self._right.hide()

        def work(task: Task) -> tuple[SourceLook, Counter | None, BaseException | None]:
            look = look_at(path, given)
            options = {**given, "text_source": look.kind}
            try:
                return look, Counter(load_documents(path, options, _now_and_then(task))), None
            except PlaidworkError as error:
                return look, None, error

        self._start(work, self._loaded, f"Reading {path.name}")

    def _start(self, work: Callable[[Task], Any], done: Callable[[Any], object], words: str) -> None:
        self.import_button.setEnabled(False)
        self._bar.setValue(0)

        def ended(found: Any) -> None:
            self._bar.hide()
            done(found)

        def progress(share: float) -> None:
            self._bar.show()
            self._bar.setValue(round(1000 * share))
            self.say(f"{words}, {format_percent(share)}")

        self.say(words)
        self.begin(READING, work, ended, self._load_failed, progress)

    def _loaded(self, found: tuple[SourceLook, Counter | None, BaseException | None]) -> None:
        look, counter, error = found
        state = self.state
        before, state.look, state.counter = state.look, look, counter
        if before is None or (before.kind in ("texts", "folder")) != (look.kind in ("texts", "folder")):
            self.options.begin(look)
        self.options.show_source(state)
        self._left.show()
        if error is not None:
            self._refuse(error)
            return
        self._refusal.hide()
        self._right.show()
        self._begun = True
        self._setting_changed()
        self._count()

    def _load_failed(self, error: BaseException, details: str) -> None:
        self._bar.hide()
        self._refuse(error)

    def _refuse(self, error: BaseException) -> None:
        known = isinstance(error, PlaidworkError)
        message, hint = message_and_hint(error)
        actions: list[tuple[str, Callable[[], object]]] = []
        if known and " is not UTF-" in message and not self.state.given.get("encoding"):
            for name, title in (("windows-1252", "Windows-1252"), ("latin-1", "Latin-1")):
                actions.append((f"Read as {title}", partial(self._source_changed, "encoding", name)))
            hint = "Windows-1252 has curly quotes and the euro sign where Latin-1 has none."
        if "fields found" in message:
            actions.append(("Leave out such rows", lambda: self._source_changed("ragged", "drop")))
        title = message.rstrip(".") if known else f"{self.path.name} could not be read"
        self._refusal.set("warning", title, hint if known else message, actions, icon_color="error")
        self._refusal.show()
        self._right.hide()
        self.import_button.setEnabled(False)
        self._note.setText("The texts were not read; nothing is changed in your file.")
        self.say("Nothing was added")

    # -- counting -------------------------------------------------------------------------------
    def _setting_changed(self) -> None:
        self.state.settings = self.options.settings()
        if self.state.counter is not None:
            self.import_button.setEnabled(False)
            self._quiet.start()

    def _count(self) -> None:
        """Count again with the options as they are."""
        self._quiet.stop()
        state = self.state
        if state.counter is None:
            return
        self.state.settings = self.options.settings()
        try:
            if self.options.problem:
                raise SettingError(self.options.problem)
            options = state.options()
        except SettingError as error:
            self.import_button.setEnabled(False)
            self.say(error.message, "error")
            return
        self.options.show_stop_words(len(options.stop_list))
        counter, given = state.counter, dict(state.given)
        self._start(
            lambda task: make_preview(counter, options, given, _now_and_then(task)),
            self._counted,
            "Counting words",
        )

    def _counted(self, preview: TextPreview) -> None:
        state = self.state
        state.take(preview)
        documents = state.documents
        assert documents is not None
        self.preview.show_preview(preview)
        self.roles.show_state(state)
        self._roles_title.setVisible(not self.roles.isHidden())
        self.issues.show_rows(state.rows, "all documents")
        self._issue_scroll.setFixedHeight(min(max(1, len(self.issues.rows)), 3) * _ISSUE_ROW + 4)
        total = int(preview.counts.count.sum())
        self._note.setText(
            f"{counted(documents.size, 'document')}, {counted(total, 'word')}. Choose which words count; "
            "nothing is changed in your file."
        )
        first = not self.import_button.isEnabled() and self.focusWidget() in (None, self.cancel_button)
        self._set_ready()
        if first and self.import_button.isEnabled():
            self.import_button.setFocus()

    def _set_ready(self) -> None:
        obstacle = self.state.obstacle
        self.import_button.setEnabled(not obstacle)
        self.say(obstacle or self.state.adds(), "error" if obstacle else "muted")

    # -- changes --------------------------------------------------------------------------------
    def _source_changed(self, name: str, value: Any) -> None:
        given = self.state.given
        given[name] = value
        if name == "text_source":  # the columns have another meaning now
            for key in ("text_column", "names", "roles", "triplet_columns"):
                given.pop(key, None)
        if name == "text_column":
            given.pop("names", None)
            self.state.set_role("", [str(value)])
        self._load()

    def _word_toggled(self, word: str) -> None:
        self.state.toggle_word(word)
        self._count()

    def edit_stop_words(self) -> None:
        """Show the list of stop words, to be changed."""
        dialog = StopWordsDialog(self.state.options().stop_list, self)
        if dialog.exec():
            self.state.set_stop_list(dialog.words)
            self._count()
        dialog.deleteLater()

    def _role_chosen(self, role: str, keys: list[str]) -> None:
        self.state.set_role(role, keys)
        documents = self.state.documents
        if documents is not None and documents.kind == "table":
            self._load()
        else:
            self._count()

    def _ticked(self, row: FixRow, on: bool) -> None:
        self.state.tick(row, on)
        self._count()

    # -- importing ------------------------------------------------------------------------------
    def start_import(self) -> None:
        """Make the dataset in the background, then accept."""
        state = self.state
        if state.preview is None or state.counter is None or not self.import_button.isEnabled():
            return
        documents, counts = state.counter.documents, state.preview.counts
        options, given = state.options(), dict(state.given)
        name = self.options.name_edit.text().strip()

        def done(dataset: Dataset) -> None:
            self.dataset = dataset.with_(name=name) if name else dataset
            self.accept()

        def failed(error: BaseException, details: str) -> None:
            self.say(str(error), "error")

        self.import_button.setEnabled(False)
        self.begin(MAKING, lambda task: make_dataset(documents, counts, options, given), done, failed)


def _now_and_then(task: Task) -> Callable[[float], None]:
    """Reports of a task, a few each second: each of them is drawn."""
    last = 0.0

    def report(share: float) -> None:
        nonlocal last
        task.check()
        now = time.monotonic()
        if now - last > REPORT_EVERY:
            last = now
            task.report(share)

    return report
