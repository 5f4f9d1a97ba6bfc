"""Edits of the session in the window: made, taken back and made again, with the signals of the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.run import Run
from plaidwork.core.session.edits import Edit, Edits
from plaidwork.gui.widgets import Message

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session
    from plaidwork.gui.workbench import Workbench

REMOVED = "removed"
"""Key of the message that offers to undo a removal; it goes with the next step."""


class Editing(QObject):
    """What of the open session can be taken back. Fits, and what was found by them, are not edits."""

    changed = Signal()
    """Another step would be taken back, or made again, now."""
    stepped = Signal(object, bool)
    """An edit was taken back (True) or made again; all signals of what it changed came before."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench)
        self._workbench = workbench
        self._edits = Edits(self._edited)

    @property
    def undo_name(self) -> str:
        """What would be taken back; empty for nothing."""
        return self._edits.undo_name

    @property
    def redo_name(self) -> str:
        """What would be made again; empty for nothing."""
        return self._edits.redo_name

    def clear(self) -> None:
        """Forget all: another session is shown."""
        self._edits.clear()
        self.changed.emit()

    @contextmanager
    def step(self, name: str, key: str = "", renamed: tuple[str, str] | None = None) -> Iterator[None]:
        """What is done to the session meanwhile is one step; see :meth:`Edits.making`."""
        with self._edits.making(self._workbench.session, name, key, renamed):
            yield

    def remove(self, runs: Sequence[Run], names: Sequence[str] = ()) -> bool:
        """Take out runs, and data with the runs that use them. A message offers to undo it, or says why it cannot be."""
        workbench, session = self._workbench, self._workbench.session
        users = [
            run
            for run in session.runs.values()
            if run not in runs and any(name in names for used in run.inputs.values() for name in used)
        ]
        what = _listed([run.title for run in runs] + list(names))
        try:
            with self.step(f"Remove {what}"):
                for run in (*runs, *users):
                    session.remove_run(run.id)
                for name in names:
                    session.remove_dataset(name)
        except PlaidworkError as error:
            workbench.notified.emit("warn", f"Could not remove {what}", str(error), "")
            return False
        for name in names:
            workbench.data_changed.emit(name)
        if runs or users:
            workbench.runs_changed.emit()
        text = _with_them([run.title for run in users], len(names)) if users else ""
        undo = ("Undo", self.undo)
        workbench.message_posted.emit(Message("info", f"Removed {what}", text, [undo], REMOVED))
        return True

    def undo(self) -> None:
        """Take the last step back; a message says why when it cannot be."""
        self._step(self._edits.undo, "undo", self._edits.undo_name)

    def redo(self) -> None:
        """Make the step that was taken back last again; a message says why when it cannot be."""
        self._step(self._edits.redo, "redo", self._edits.redo_name)

    def _step(self, way: Callable[[Session], str], word: str, name: str) -> None:
        try:
            way(self._workbench.session)
        except PlaidworkError as error:
            self._workbench.notified.emit("warn", f"Could not {word}: {name}", str(error), "")

    def _edited(self, edit: Edit, back: bool | None) -> None:
        workbench = self._workbench
        workbench.touch()
        if back is not None:
            self._tell(edit, back)
            self.stepped.emit(edit, back)
        self.changed.emit()

    def _tell(self, edit: Edit, back: bool) -> None:
        """The signals of what an edit has changed."""
        workbench, runs = self._workbench, self._workbench.session.runs
        if edit.renamed is not None:
            old, new = edit.renamed
            workbench.tell_renamed(*((new, old) if back else (old, new)))
            return
        changed = edit.datasets_changed
        for name in changed:
            workbench.data_changed.emit(name)
        if list(edit.before.runs) != list(edit.after.runs):
            workbench.runs_changed.emit()
        for key in edit.runs_changed:
            if key in runs:
                workbench.run_changed.emit(key)
        for run in list(runs.values()):
            if run.id in edit.runs_changed or any(
                n in changed for names in run.inputs.values() for n in names
            ):
                workbench.names_changed.emit(run.id)


def _with_them(titles: Sequence[str], data: int) -> str:
    """Which runs were removed with the data that they used."""
    it = "it" if data == 1 else "them"
    which = "The run" if len(titles) == 1 else "The runs"
    runs = f"{len(titles)} runs" if len(titles) > 3 else f"{which} {_listed(titles)}"
    return f"{runs} used {it} and went with {it}."


def _listed(names: Sequence[str]) -> str:
    """``“a”``, ``“a” and “b”``, or how many there are."""
    if len(names) > 3:
        return f"{len(names)} items"
    quoted = [f"“{name}”" for name in names]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1] if quoted else "")))
