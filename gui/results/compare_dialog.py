"""Runs beside each other, or the chains of one: what each found again, pair by pair, scores, settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStackedWidget, QWidget

from plaidwork.core.inference.run import Run
from plaidwork.core.pictures import Picture
from plaidwork.core.session.session import Session
from plaidwork.core.views.comparing import (
    MOST,
    agreement_picture,
    chains_of,
    pairs_picture,
    scores_of,
    settings_that_differ,
)
from plaidwork.gui.language import tr
from plaidwork.gui.pictures.canvas import PictureCanvas
from plaidwork.gui.pictures.paper_dialog import PaperDialog
from plaidwork.gui.save_path import proposed_name
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import DataTable, Label, SegmentedControl, StatePane, button, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

_RUN = Qt.ItemDataRole.UserRole
_WAIT = 250
AGREEMENT, PAIRS, SCORES, SETTINGS = "agreement", "pairs", "scores", "settings"
_PARTS = ((AGREEMENT, "What was found"), (PAIRS, "Pair by pair"), (SCORES, "Scores"), (SETTINGS, "Settings"))
_LEAST, _LIST = 180, 340
"""Pixels that the list of runs is wide."""
_PICTURES: dict[str, Callable[[Session, Sequence[Run]], Picture]] = {
    AGREEMENT: agreement_picture,
    PAIRS: pairs_picture,
    SCORES: lambda session, runs: scores_of(runs),
}


class CompareDialog(TaskDialog):
    """``chosen`` are ids of the runs that are compared at first; of a single one its chains are. ``table`` is what is known
    of them besides, as of fits of a search: it stands in place of the settings that differ, while nothing else is ticked.
    """

    def __init__(
        self,
        session: Session,
        chosen: Sequence[str],
        parent: QWidget | None = None,
        table: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__("Compare runs", parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(1020, 640)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._session, self._chains = session, dict[str, list[Run]]()
        self._table, self._table_of = table, {(run_id, -1) for run_id in chosen}
        self.picture: Picture | None = None
        self.runs = QListWidget()
        self.runs.setAccessibleName(tr("Runs to compare"))
        self.part = SegmentedControl(_PARTS)
        self.headline = Label("", "title", elide=True, lines=2)
        self.caption = Label("", "body", "muted", elide=True, lines=2)
        self.canvas, self.table = PictureCanvas(), DataTable()
        self.pane = StatePane("clock", "Comparing…")
        self.hint = Label("", "caption", "muted", elide=True)
        self.canvas.hovered.connect(self.hint.setText)
        self._stack = QStackedWidget()
        self._canvas_holder = scrolled(self.canvas)
        for page in (self.pane, self._canvas_holder, self.table):
            self._stack.addWidget(page)
        self.export_button = button("Export picture…", self.export)
        foot = horizontal((self.hint, 1), self.export_button, button("Close", self.reject), spacing=space.S)
        right = vertical(
            horizontal(self.part, STRETCH),
            self.headline,
            self.caption,
            (self._stack, 1),
            foot,
            spacing=space.S,
        )
        left = vertical(Label("Runs and chains", "strong"), (self.runs, 1), spacing=space.S)
        horizontal(left, (right, 1), on=self, spacing=space.XL, margins=space.DIALOG_EDGE)
        self._fill(chosen)
        wide = self.runs.sizeHintForColumn(0) + space.XL  # the number of a chain is at the end of its line
        self.runs.setFixedWidth(min(max(wide, _LEAST), _LIST))
        self._soon = self.later(_WAIT, self.compare)
        self.runs.itemChanged.connect(lambda item: self._soon.start())
        self.part.changed.connect(lambda part: self.compare())
        self.compare()

    def _fill(self, chosen: Sequence[str]) -> None:
        """Runs with results, then the chains of every run that has several."""
        runs = [run for run in self._session.runs.values() if run.results]
        single = len(chosen) == 1
        for run in runs:
            self._add(run.title, (run.id, -1), run.id in chosen and not single)
        for run in (run for run in runs if len(run.chains) > 1 and not run.active):
            for number, record in enumerate(run.chains[:MOST]):
                told = f"{run.title}, {run.chain_word} {record.chain + 1}"
                self._add(told, (run.id, number), single and run.id in chosen)

    def _add(self, text: str, key: tuple[str, int], on: bool) -> None:
        item = QListWidgetItem(text, self.runs)
        item.setData(_RUN, key)
        item.setToolTip(tr(text))
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    @property
    def chosen(self) -> list[tuple[str, int]]:
        """Ids of the runs that are ticked, with the number of a chain, or -1 for all."""
        items = [self.runs.item(row) for row in range(self.runs.count())]
        return [tuple(item.data(_RUN)) for item in items if item.checkState() == Qt.CheckState.Checked]

    # -- comparing ------------------------------------------------------------------------------
    def compare(self) -> None:
        """Compare what is ticked, in the background."""
        part, chosen = self.part.current, self.chosen
        if not 2 <= len(chosen) <= MOST:
            self.drop("compare")
            self._say("search", "Nothing to compare yet", f"Tick two runs or chains, {MOST} at most.")
            return
        self._say("clock", "Comparing…", "")
        self.begin(
            "compare",
            lambda task: self._made(part, chosen),
            self._show,
            lambda error, details: self._say("error", "They could not be compared", error_text(error)),
            minutes=True,
        )

    def _made(self, part: str, chosen: Sequence[tuple[str, int]]) -> Any:
        """In a thread: the runs, and the picture or table of them."""
        if part == SETTINGS and self._table is not None and set(chosen) == self._table_of:
            return self._table
        runs = [self._run(run_id, chain) for run_id, chain in chosen]
        if part == SETTINGS:
            return settings_that_differ(runs)
        return _PICTURES[part](self._session, runs)

    def _run(self, run_id: str, chain: int) -> Run:
        run = self._session.runs[run_id]
        if chain < 0:
            return run
        if run_id not in self._chains:
            self._chains[run_id] = chains_of(run)
        return self._chains[run_id][chain]

    def _show(self, found: Any) -> None:
        if not isinstance(found, Picture):
            self.picture = None
            self._head("What differs", "Settings, data and lengths that are the same for all are left out.")
            self.table.set_columns(found)
            self._stack.setCurrentWidget(self.table)
        elif found.panels:
            self.picture = found
            self._head(found.headline, found.caption)
            self.canvas.set_picture(found)
            self._stack.setCurrentWidget(self._canvas_holder)
        else:
            self._say("search", *found.empty)
        self.export_button.setEnabled(self.picture is not None)

    def _head(self, headline: str, caption: str) -> None:
        self.headline.setText(headline)
        self.caption.setText(caption)

    def _say(self, icon: str, title: str, text: str) -> None:
        self.picture = None
        self._head("", "")
        self.pane.set(icon, title, text)
        self._stack.setCurrentWidget(self.pane)
        self.export_button.setEnabled(False)

    def export(self) -> None:
        """Ask how the picture in front is to be written."""
        if self.picture is not None:
            proposed = proposed_name(self._session.name, "comparison", self.part.current, suffix="")
            PaperDialog(self.picture, Path(proposed), "", self).open()
