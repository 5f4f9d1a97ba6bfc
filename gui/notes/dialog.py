"""Notes on one block, factor or topic, in a window of their own beside what is shown of it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from plaidwork.core.findings.notes import item_note
from plaidwork.core.inference.run import Run
from plaidwork.gui.language import tr
from plaidwork.gui.notes.field import NotesField
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench


class ItemNotes(QDialog):
    """Keeps every change at once; it goes with its run."""

    def __init__(
        self, workbench: Workbench, run: Run, dim: str, number: int, name: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._workbench, self._run = workbench, run
        self.item = (run.id, dim, number)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr(f"Notes on {name}"))
        self.resize(440, 340)
        self.notes = NotesField(self.windowTitle(), "What it seems to be, and why")
        self.notes.edited.connect(lambda text: workbench.editing.note_item(run, dim, number, name, text))
        close = button("Close", self.close)
        vertical(
            Label(name, "title", elide=True),
            Label(run.title, "caption", "muted", elide=True),
            (self.notes, 1),
            horizontal(STRETCH, close),
            on=self,
            spacing=space.S,
            margins=space.L,
        )
        workbench.editing.changed.connect(self._follow)
        workbench.session_replaced.connect(self.close)
        workbench.runs_changed.connect(self._follow)
        self._follow()
        if not self.notes.text:
            self.notes.write()

    def _follow(self) -> None:
        """What is written may have been taken back, or brought again, and the run may be gone."""
        if self._workbench.session.runs.get(self._run.id) is not self._run:
            self.close()
            return
        _, dim, number = self.item
        self.notes.set_text(item_note(self._run, dim, number))


def show_item_notes(
    workbench: Workbench, run: Run, dim: str, number: int, name: str, window: QWidget
) -> ItemNotes:
    """The notes on a found thing in front of the window; there is one such window for each."""
    shown = next(
        (one for one in window.findChildren(ItemNotes) if one.item == (run.id, dim, number)),
        None,
    ) or ItemNotes(workbench, run, dim, number, name, window)
    shown.show()
    shown.raise_()
    shown.activateWindow()
    return shown
