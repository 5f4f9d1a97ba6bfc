"""The file of the session among others who want it: the lock beside it, and what to do when somebody has changed it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plaidwork.core.errors import ChangedError
from plaidwork.core.session import lock
from plaidwork.core.session.differing import Difference, differences
from plaidwork.core.session.holder import Holder
from plaidwork.core.session.merging import merge
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.widgets import Message

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench


class FileGuard(QObject):
    """Of one workbench. ``open`` and ``save`` are called in the threads of tasks, all else on the GUI thread."""

    save_as_requested = Signal()
    """The session needs another file name."""
    find_requested = Signal(str)
    """The file of these linked data, by their name in the session, is to be found."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench)
        self._workbench = workbench
        self.holder: Holder | None = None
        """Who else has the file of the session open, so that it is open for reading only here."""

    def open(self, path: Path, any_size: bool) -> tuple[Session, Holder | None]:
        """Read a session and hold its file; who holds it when somebody else does."""
        session = open_session(path, any_size=any_size)
        holder = None if session.read_only else lock.acquire(path)
        if holder is not None:
            session.read_only = lock.held_text(path, holder)
        return session, holder

    def save(self, session: Session, path: Path | None, replace: bool) -> Path:
        """Save a session and hold its file, in place of the one that it had."""
        before = session.path
        written = session.save(path, replace=replace)
        if before is not None and before != written:
            lock.release(before)
        lock.acquire(written)
        return written

    def let_go(self) -> None:
        """Let others write the file of the session."""
        path = self._workbench.session.path
        if path is not None:
            lock.release(path)

    def take_over(self, done: Callable[[], object]) -> Task | None:
        """Make the file of the session ours; before they save, those who had it are asked."""
        session, path = self._workbench.session, self._workbench.session.path
        if path is None or self.holder is None:
            return None

        def taken(_: object) -> None:
            session.read_only, self.holder = "", None
            done()

        failed = self._workbench.faults.report("Could not take over the session")
        return run_task(lambda task: lock.take_over(path), taken, failed)

    def tell_changed(self, error: ChangedError) -> None:
        """Say that the file on the disk is not the one that was opened, and ask what to do."""
        workbench = self._workbench
        path = workbench.session.path
        assert path is not None  # else nobody can have changed it
        actions: list[tuple[str, Callable[[], object]]] = [
            ("Save as…", self.save_as_requested.emit),
            ("Merge runs", self.merge),
            ("What differs", lambda: self.compare(path)),
            ("Replace", lambda: workbench.file.save(replace=True)),
        ]
        text = f"{error.message} Merging adds its runs and data to yours. Replacing keeps that file with “.bak” at the end of its name."
        title = "The session file has changed"
        workbench.message_posted.emit(Message("warn", title, text, actions, "changed file"))

    def merge(self) -> Task | None:
        """Add what the file of the session has by now and the session has not, and save both."""
        workbench, session, path = self._workbench, self._workbench.session, self._workbench.session.path
        if path is None:
            return None

        def read(task: Task) -> tuple[Session, dict[int, str]]:
            other = open_session(path)
            data = (*list(session.datasets.values()), *other.datasets.values())
            return other, {id(dataset): dataset.digest() for dataset in data}

        def merged(found: tuple[Session, dict[int, str]]) -> None:
            if workbench.session is not session:
                return
            other, digests = found
            known = set(session.datasets)
            merge(session, other, lambda dataset: digests.get(id(dataset)) or dataset.digest())
            session.mark = other.mark
            for name in [name for name in session.datasets if name not in known]:
                workbench.data_changed.emit(name)
            workbench.touch()
            workbench.runs_changed.emit()
            for run_id in other.runs:
                workbench.judge(session.runs[run_id])
            workbench.file.save()

        return run_task(read, merged, workbench.faults.report("Could not merge the runs"))

    def compare(self, path: Path) -> Task:
        """Say what differs between the session and a file."""
        workbench, session = self._workbench, self._workbench.session

        def read(task: Task) -> list[Difference]:
            return differences(session, open_session(path), ("this session", path.name))

        def told(found: list[Difference]) -> None:
            lines = [f"{item.name}: {item.text}" for item in found] or ["Both hold the same."]
            workbench.details_requested.emit(f"Compared with {path.name}", "", "\n".join(lines))

        return run_task(read, told, workbench.faults.report(f"Could not compare with {path.name}"))
