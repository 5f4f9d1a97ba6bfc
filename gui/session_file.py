"""The file of the open session: opened, saved, and kept up to date with what was looked at, in the background."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plaidwork.core.errors import ChangedError, LimitError
from plaidwork.core.session.holder import Holder
from plaidwork.core.session.session import Session
from plaidwork.gui.save_path import stamp_of
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.widgets import Message

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench

_IN_PASSING = 64 << 20
"""Bytes up to which a session file is written only to keep what was looked at."""


class SessionFile:
    """Reads and writes the session of a workbench; ``workbench.file``. All methods return at once."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._stamp: tuple[Path, int, int] | None = None
        self._saving: Task | None = None

    def open(self, path: Path, done: Callable[[], None] | None = None, *, any_size: bool = False) -> Task:
        """Read a session file in the background and show it; one that is too large is offered once more."""
        workbench = self._workbench

        def loaded(found: tuple[Session, Holder | None]) -> None:
            session, holder = found
            session.name = path.stem  # a file may have been given another name since
            workbench.set_session(session)
            workbench.guard.holder = holder
            self._stamp = stamp_of(path)
            if done is not None:
                done()

        def failed(error: BaseException, details: str) -> None:
            title = f"Could not open {path.name}"
            if not isinstance(error, LimitError) or any_size:
                workbench.faults.report(title)(error, details)
                return
            text = f"{error.message} Open it all the same if you know who made it and have memory for it."
            action = ("Open anyway", lambda: self.open(path, done, any_size=True))
            workbench.message_posted.emit(Message("warn", title, text, [action], f"open {path}"))

        return run_task(lambda task: workbench.guard.open(path, any_size), loaded, failed)

    def save(
        self, path: Path | None = None, done: Callable[[], None] | None = None, *, replace: bool = False
    ) -> Task | None:
        """Write the session in the background; runs under way are saved up to their last checkpoint.

        A file that somebody has changed since it was opened is only replaced with ``replace``; without it that is asked.
        """
        if self.saving:
            return None
        workbench, session = self._workbench, self._workbench.session
        workbench.studies.write()
        workbench.view_changed = False
        workbench.set_dirty(False)  # what changes while the file is written makes it dirty again

        def saved(written: Path) -> None:
            workbench.session.name = written.stem
            self._stamp = stamp_of(written)
            workbench.saved.emit(str(written))
            if workbench.active_runs() or workbench.studies.active():
                workbench.touch()
            if done is not None:
                done()

        def failed(error: BaseException, details: str) -> None:
            workbench.touch()
            if isinstance(error, ChangedError):
                workbench.guard.tell_changed(error)
            else:
                elsewhere = [("Save as…", workbench.guard.save_as_requested.emit)]
                workbench.faults.report("Could not save", elsewhere)(error, details)

        self._saving = run_task(lambda task: workbench.guard.save(session, path, replace), saved, failed)
        return self._saving

    @property
    def saving(self) -> bool:
        """Whether the session is being written."""
        return self._saving is not None and not self._saving.finished

    def keep_view(self) -> Task | None:
        """Write what was looked at, when nothing else has changed: nobody is asked, nor told when it cannot be.

        A file that another program has written since, or that is too large to be written in passing, is left alone.
        """
        workbench, session = self._workbench, self._workbench.session
        path = session.path
        if not workbench.view_changed or workbench.dirty or path is None or session.read_only:
            return None
        stamp = stamp_of(path)
        if stamp is None or stamp != self._stamp or stamp[1] > _IN_PASSING:
            return None
        workbench.view_changed = False
        return run_task(lambda task: session.save(path), failed=lambda error, details: None)
