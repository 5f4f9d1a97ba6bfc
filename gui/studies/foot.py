"""The foot of the page of a search: what is selected, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.counting import counted
from plaidwork.core.study import StudyJob, StudyRecord
from plaidwork.gui.language import tr
from plaidwork.gui.studies.columns import fit_name
from plaidwork.gui.studies.detail import MOST
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import horizontal


class FitFoot(QWidget):
    """Words at the left, buttons at the right; a signal for each."""

    open_requested = Signal()
    pick_requested = Signal()
    compare_requested = Signal()
    remove_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.said = Label("", "body", "muted", elide=True)
        self.remove_button = button("Remove", self.remove_requested.emit, kind="quiet")
        self.compare_button = button("Compare…", self.compare_requested.emit)
        self.compare_button.setToolTip(tr(f"Select two to {MOST} fits"))
        self.open_button = button("Open fit", self.open_requested.emit)
        self.pick_button = button("Pick this fit", self.pick_requested.emit, icon_name="check")
        horizontal(
            (self.said, 1),
            self.remove_button,
            self.compare_button,
            self.open_button,
            self.pick_button,
            on=self,
            spacing=space.S,
        )

    def tell(self, record: StudyRecord, jobs: Sequence[StudyJob]) -> None:
        """Words and buttons for the selected fits."""
        one = jobs[0] if len(jobs) == 1 else None
        done = one is not None and one.status == "done"
        chosen = record.chosen
        picked = chosen is not None and one is not None and chosen.number == one.number
        self.open_button.setEnabled(done)
        self.pick_button.setEnabled(done and not picked)
        self.pick_button.setText(tr("Picked" if picked else "Pick this fit"))
        self.compare_button.setEnabled(1 < len(jobs) <= MOST)
        self.remove_button.setEnabled(bool(jobs) and all(job.status != "running" for job in jobs))
        if one is not None:
            failed = one.status == "failed" and one.message
            self.said.setText(f"Fit {one.number} failed: {one.message}" if failed else fit_name(record, one))
        elif jobs:
            self.said.setText(f"{counted(len(jobs), 'fit')} selected")
        else:
            note = f"Fit {chosen.number} is picked" if chosen is not None else "No fit is picked yet"
            self.said.setText(note)
