"""Edits of the session in the window: made, taken back and made again, with the signals of the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.findings.notes import note_item
from plaidwork.core.inference.run import Run
from plaidwork.core.session.edits import Edit, Edits, Setting, Step
from plaidwork.gui.widgets import Message

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session
    from plaidwork.core.study import StudyRecord
    from plaidwork.gui.workbench import Workbench

REMOVED = "removed"
"""Key of the message that offers to undo a removal; it goes with the next step."""


class Editing(QObject):
    """What of the open session can be taken back. Fits, and what was found by them, are not edits."""

    changed = Signal()
    """Another step would be taken back, or made again, now."""
    stepped = Signal(object, bool)
    """An edit was taken back (True) or made again; all signals of what it changed came before."""

    set_again = Signal(object, bool)
    """A setting of a fit that is being set up was taken back (True) or made again."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench)
        self._workbench = workbench
        self._edits = Edits(self._edited, self._searching)

    @property
    def undo_name(self) -> str:
        """What would be taken back; empty for nothing."""
        return self._edits.undo_name

    @property
    def redo_name(self) -> str:
        """What would be made again; empty for nothing."""
        return self._edits.redo_name

    def made(self, step: Setting) -> None:
        """A setting of a fit that is being set up was changed."""
        self._edits.made(step)

    def forget(self, owner: object) -> None:
        """What was set up is gone, and with it the steps of its settings."""
        if self._edits.forget(owner):
            self.changed.emit()

    def clear(self) -> None:
        """Forget all: another session is shown."""
        self._edits.clear()
        self.changed.emit()

    @contextmanager
    def step(self, name: str, key: str = "", renamed: tuple[str, str] | None = None) -> Iterator[None]:
        """What is done to the session meanwhile is one step; see :meth:`Edits.making`."""
        self._workbench.studies.write()
        with self._edits.making(self._workbench.session, name, key, renamed):
            yield

    def note_session(self, text: str) -> None:
        """Keep what somebody writes about the session."""
        with self.step("Notes on the session", "notes"):
            self._workbench.session.notes = text

    def note_dataset(self, name: str, text: str) -> None:
        """Keep what somebody writes about a dataset."""
        datasets = self._workbench.session.datasets
        with self.step(f"Notes on “{name}”", f"notes of data {name}"):
            datasets[name] = datasets[name].with_(notes=text)

    def note_run(self, run: Run, text: str) -> None:
        """Keep what somebody writes about a run."""
        with self.step(f"Notes on “{run.title}”", f"notes of run {run.id}"):
            run.notes = text

    def note_item(self, run: Run, dim: str, number: int, name: str, text: str) -> None:
        """Keep what somebody writes about a block, factor or topic, which is shown under this name."""
        with self.step(f"Notes on “{name}”", f"notes of {dim} {number} of run {run.id}"):
            note_item(run, dim, number, text)

    def remove(
        self, runs: Sequence[Run] = (), names: Sequence[str] = (), studies: Sequence[StudyRecord] = ()
    ) -> bool:
        """Take out runs, searches, and data with what uses them. A message offers to undo it, or says why it cannot be."""
        workbench, session = self._workbench, self._workbench.session
        users = [run for run in session.runs.values() if run not in runs and _uses(run.inputs, names)]
        searches = [
            one for one in workbench.studies.records() if one not in studies and _uses(one.input_names, names)
        ]
        what = listed([study.title for study in studies] + [run.title for run in runs] + list(names))
        try:
            with self.step(f"Remove {what}"):
                for study in (*studies, *searches):
                    if study.id in self._searching():
                        raise SessionError(f"{study.title} is under way.", "Stop it first.")
                    session.remove_study(study.id)
                for run in (*runs, *users):
                    session.remove_run(run.id)
                for name in names:
                    session.remove_dataset(name)
        except PlaidworkError as error:
            workbench.notified.emit("warn", f"Could not remove {what}", str(error), "")
            return False
        if studies or searches:
            workbench.studies.follow([study.id for study in (*studies, *searches)])
        for name in names:
            workbench.data_changed.emit(name)
        if runs or users:
            workbench.runs_changed.emit()
        text = "Fits that were opened stay among the runs." if studies and not names else ""
        if users or searches:
            text = _with_them([run.title for run in users], [one.title for one in searches], len(names))
        self.offer_undo(what, text)
        return True

    def offer_undo(self, what: str, text: str = "") -> None:
        """Say that something was removed just now, with a button to undo it."""
        message = Message("info", f"Removed {what}", text, [("Undo", self.undo)], REMOVED)
        self._workbench.message_posted.emit(message)

    def _searching(self) -> list[str]:
        """Ids of searches under way."""
        return [study.id for study in self._workbench.studies.active()]

    def undo(self) -> None:
        """Take the last step back; a message says why when it cannot be."""
        self._step(self._edits.undo, "undo", self._edits.undo_name)

    def redo(self) -> None:
        """Make the step that was taken back last again; a message says why when it cannot be."""
        self._step(self._edits.redo, "redo", self._edits.redo_name)

    def _step(self, way: Callable[[Session], str], word: str, name: str) -> None:
        self._workbench.studies.write()
        try:
            way(self._workbench.session)
        except PlaidworkError as error:
            self._workbench.notified.emit("warn", f"Could not {word}: {name}", str(error), "")

    def _edited(self, step: Step, back: bool | None) -> None:
        if isinstance(step, Edit):
            self._workbench.touch()
            if back is not None:
                self._tell(step, back)
                self.stepped.emit(step, back)
        elif back is not None:
            self.set_again.emit(step, back)
        self.changed.emit()

    def _tell(self, edit: Edit, back: bool) -> None:
        """The signals of what an edit has changed."""
        workbench, runs = self._workbench, self._workbench.session.runs
        if edit.renamed is not None:
            old, new = edit.renamed
            workbench.tell_renamed(*((new, old) if back else (old, new)))
            return
        if edit.studies_changed:
            workbench.studies.follow(edit.studies_changed)
        changed = edit.datasets_changed
        for name in changed:
            workbench.data_changed.emit(name)
        if list(edit.before.runs) != list(edit.after.runs):
            workbench.runs_changed.emit()
        for key in edit.runs_changed:
            if key in runs:
                workbench.reread_named(runs[key])
                workbench.run_changed.emit(key)
        for run in list(runs.values()):
            if run.id in edit.runs_changed or any(
                n in changed for names in run.inputs.values() for n in names
            ):
                workbench.names_changed.emit(run.id)


def _uses(inputs: Mapping[str, Sequence[str]], names: Sequence[str]) -> bool:
    return any(name in names for used in inputs.values() for name in used)


def _with_them(runs: Sequence[str], searches: Sequence[str], data: int) -> str:
    """Which runs and searches were removed with the data that they used."""
    it = agree(data, "it", "them")
    parts = [_of_kind(titles, word) for titles, word in ((runs, "run"), (searches, "search")) if titles]
    who = " and ".join(parts)
    return f"{who[:1].upper()}{who[1:]} used {it} and went with {it}."


def _of_kind(titles: Sequence[str], word: str) -> str:
    """``the run “a”``, ``the runs “a” and “b”``, or ``12 runs``."""
    several = word + ("es" if word.endswith("h") else "s")
    if len(titles) > 3:
        return f"{len(titles)} {several}"
    return f"the {agree(len(titles), word, several)} {listed(titles)}"


def listed(names: Sequence[str]) -> str:
    """``“a”``, ``“a” and “b”``, or how many there are."""
    if len(names) > 3:
        return f"{counted(len(names), 'item')}"
    quoted = [f"“{name}”" for name in names]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1] if quoted else "")))
