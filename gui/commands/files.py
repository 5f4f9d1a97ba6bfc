"""Commands on files: open, save, import, recovery, closing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFileDialog

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.run import Run, now
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.places import recovery_key
from plaidwork.gui import dialogs
from plaidwork.gui.commands.base import SESSION_FILTER, SESSION_SUFFIX
from plaidwork.gui.commands.copies import CopyCommands
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_bytes
from plaidwork.gui.save_path import ask_save_path, proposed_name
from plaidwork.gui.tasks import Task, run_task, wait_for_tasks

if TYPE_CHECKING:
    from plaidwork.core.session.recovery import Recovery
    from plaidwork.gui.setup.setup_page import SetupPage

SEVERAL = (".h5mu",)
"""Files that hold several matrices by their nature."""
_CLOSE_WAIT = 5000
_MOST_OFFERED = 5
"""Pieces of recovered work that are offered at once."""


class FileCommands(CopyCommands):
    """What the File menu does, and everything that may lose work."""

    def welcome(self) -> None:
        self._window.show_welcome()

    def leave_welcome(self) -> None:
        """Back to what was in front of the session that is open."""
        window = self._window
        window.show_workspace()
        window.follow_page()
        window.status.set_run(window.current_run())

    def new_session(self) -> None:
        if self.may_close():
            self._workbench.set_session(Session())

    def import_data(self) -> None:
        window = self._window
        folder = window.settings.folder("import")
        names, _ = QFileDialog.getOpenFileNames(window, tr("Import data"), folder, self._import_filter())
        if names:
            self.import_paths([Path(name) for name in names])

    def _import_filter(self) -> str:
        from plaidwork.core.data.importers.reading import builtin_readers

        readers = builtin_readers()
        patterns = " ".join(f"*{suffix}" for reader in readers for suffix in reader.suffixes)
        each = [f"{r.title} ({' '.join('*' + s for s in r.suffixes)})" for r in readers if r.suffixes]
        return ";;".join([f"All that can be read ({patterns})", *each, "All files (*)"])

    def import_paths(self, paths: Sequence[Path]) -> None:
        """Import one file, or several as views that are joined by sample name."""
        if len(paths) == 1 and not paths[0].name.lower().endswith(SEVERAL):
            self.import_path(paths[0])
            return
        from plaidwork.gui.data.views_dialog import ViewsDialog

        self._window.settings.set_folder("import", paths[0])
        dialog = ViewsDialog(paths, self._workbench.registry, self._window)
        if dialog.exec():
            self._add(dialog.datasets)
        dialog.deleteLater()

    def import_path(self, path: Path) -> None:
        """Show the import dialog for a file; what is read is added to the session."""
        from plaidwork.gui.data.import_file import datasets_of_file

        window = self._window
        window.settings.set_folder("import", path)
        self._add(datasets_of_file(path, self._workbench.registry, window))

    def import_into(self, page: SetupPage) -> None:
        """Import data for the set-up page that asks for them."""
        self._asking = page
        try:
            self.import_data()
        finally:
            self._asking = None

    def _add(self, datasets: Sequence[Dataset]) -> None:
        """Add what was imported, and show the set-up of a fit of it; or put it into the set-up that asked for it."""
        from plaidwork.gui.data.label_choice import propose_labels

        added = [dataset.name for dataset in self._workbench.add_datasets(datasets)] if datasets else []
        for name in added:
            propose_labels(self._workbench, self._workbench.session.datasets[name])
        if added and self._asking is not None:
            self._asking.take(added)
        elif added:
            self._window.show_workspace()
            self._window.commands.set_up_fit(focus=added)

    def import_text(self) -> None:
        window = self._window
        kinds = (
            "Tables and counts (*.csv *.csv.gz *.tsv *.tsv.gz *.txt *.txt.gz *.xlsx *.xls *.ods *.mtx *.mtx.gz);;"
            "All files (*)"
        )
        name, _ = QFileDialog.getOpenFileName(
            window, tr("Import texts"), window.settings.folder("import"), kinds
        )
        if name:
            self.import_text_path(Path(name))

    def import_text_folder(self) -> None:
        window = self._window
        name = QFileDialog.getExistingDirectory(
            window, tr("Import a folder of texts"), window.settings.folder("import")
        )
        if name:
            self.import_text_path(Path(name))

    def import_image_folder(self) -> None:
        window = self._window
        folder = window.settings.folder("import")
        name = QFileDialog.getExistingDirectory(window, tr("Import a folder of images"), folder)
        if name:
            self.import_path(Path(name))

    def import_text_path(self, path: Path, column: str = "") -> None:
        """Show the window for texts; what is counted is added to the session."""
        from plaidwork.gui.data.import_file import datasets_of_texts

        self._window.settings.set_folder("import", path)
        self._add(datasets_of_texts(path, column, self._window))

    def open_file(self) -> None:
        window = self._window
        name, _ = QFileDialog.getOpenFileName(
            window, tr("Open a session"), window.settings.folder("open"), SESSION_FILTER
        )
        if name:
            self.open_path(Path(name))

    def open_path(self, path: Path) -> None:
        """Open a session, or import any other file."""
        window = self._window
        if not path.exists():
            window.messages.post(
                "warn",
                f"{path.name} was not found",
                f"It was last in {path.resolve().parent}.",
                [("Take off the list", lambda: self._forget(path)), ("Locate…", self.open_file)],
            )
            return
        if path.is_dir():
            from plaidwork.core.data.importers.image_folder import holds_images

            (self.import_path if holds_images(path) else self.import_text_path)(path)
        elif not path.name.lower().endswith(SESSION_SUFFIX):
            self.import_paths([path])
        elif self.may_close():
            window.settings.set_folder("open", path)
            self._workbench.file.open(path, lambda: self._opened(path))

    def _forget(self, path: Path) -> None:
        self._window.settings.remove_recent(str(path))
        self._window.welcome.set_recent(self._window.settings.recent())

    def _opened(self, path: Path) -> None:
        session = self._workbench.session
        self._window.settings.add_recent(path, session_line(session), now())
        if session.read_only:
            self._tell_read_only("Opened for reading only")
        self._window.status.say(f"Opened {path.name}")
        self.tell_links()

    def _tell_read_only(self, title: str) -> None:
        """Why the session cannot be saved in its file, and what to do where somebody else has that open."""
        text, holder = self._workbench.session.read_only, self._workbench.guard.holder
        actions: list[tuple[str, Callable[[], object]]] = []
        if holder is not None:
            # of another computer nobody here can tell whether it still runs
            rule = "Close it there first, then take it over to save here."
            other = "Take it over only when nobody works on it there any more."
            text = f"{text} {rule if holder.runs else other}"
            actions = [("Take over", self._take_over)]
        self._window.messages.post("info", title, text, actions, key="reading only")

    def _take_over(self) -> None:
        window, holder = self._window, self._workbench.guard.holder
        if holder is not None and holder.runs:
            self._tell_read_only("It is still open elsewhere")
            return

        def done() -> None:
            window.refresh_head()
            window.status.say("The session can be saved now")

        self._workbench.guard.take_over(done)

    def save(self) -> bool:
        session = self._workbench.session
        if session.path is None or session.read_only:
            return self.save_as()
        self._workbench.file.save()
        return True

    def compare_sessions(self) -> None:
        """Ask for a session file, and say what differs."""
        window = self._window
        name, _ = QFileDialog.getOpenFileName(
            window, tr("Compare with a session"), window.settings.folder("open"), SESSION_FILTER
        )
        if name:
            self._workbench.guard.compare(Path(name))

    def save_as(self) -> bool:
        window, session = self._window, self._workbench.session
        name = proposed_name(session.name, suffix=SESSION_SUFFIX)
        proposed = Path(window.settings.folder("open")) / name
        path = ask_save_path(window, "Save the session", proposed, SESSION_FILTER)
        if path is None:
            return False
        window.settings.set_folder("open", path)
        self._workbench.file.save(path)
        return True

    def on_saved(self, name: str) -> None:
        """Called by the workbench when the file is written."""
        path = Path(name)
        self._window.settings.add_recent(path, session_line(self._workbench.session), now())
        self._window.refresh_head()
        self._window.status.say(f"Saved to {path.name}, {format_bytes(path.stat().st_size)}, data included")
        run_task(lambda task: _discard_recovery(recovery_key(self._workbench.session.uuid)))

    def autosave(self) -> None:
        """Write the recovery file when something is not saved."""
        if self._workbench.dirty and (self._workbench.session.runs or self._workbench.session.datasets):
            from plaidwork.core.session.recovery import write_recovery

            session, studies = self._workbench.session, self._workbench.studies
            run_task(lambda task: write_recovery(studies.so_far(session)), failed=self._autosave_failed)

    def _autosave_failed(self, error: BaseException, details: str) -> None:
        self._window.messages.post(
            "warn", "The recovery file could not be written", str(error), key="recovery"
        )

    def offer_recovery(self, found: list[Recovery]) -> None:
        """A message for each piece of work that a crash left behind, the newest in front."""
        for item in reversed(found[:_MOST_OFFERED]):
            moment = dt.datetime.fromisoformat(item.time).astimezone()
            self._window.messages.post(
                "warn",
                f"Recovered work from {moment:%d %B, %H:%M}",
                _recovery_text(item),
                [
                    ("Recover", partial(self._recover, item)),
                    ("Later", lambda: None),
                    ("Discard", partial(_discard_recovery, item.key)),
                ],
                lasting=True,
            )

    def _recover(self, item: Recovery) -> None:
        def recovered(session: Session) -> None:
            self._workbench.set_session(session, dirty=True)
            self.tell_links()

        def failed(error: BaseException, details: str) -> None:
            self._window.messages.post("error", "The recovery file could not be read", str(error))

        if self.may_close():
            run_task(lambda task: item.open(), recovered, failed)

    def quit(self) -> None:
        self._window.close()

    def may_close(self) -> bool:
        """Ask to save what is not saved and stop what runs; False when the user wants to stay."""
        workbench, window = self._workbench, self._window
        running = workbench.active_runs()
        under_way = len(running) + len(workbench.studies.active())
        if workbench.dirty and (workbench.session.datasets or workbench.session.runs):
            staying = workbench.left.can_stay()
            answer = dialogs.ask_to_save(window, workbench.session.name, under_way, len(staying))
            if answer == "cancel":
                return False
            if not self._stop_all(running):
                return False
            if answer in ("save", "leave") and not self._save_and_wait():
                return False
            if answer == "leave" and not self._leave(staying):
                return False
            _discard_recovery(recovery_key(workbench.session.uuid))
        if not self._stop_all(running):
            return False
        _wait_for(workbench.file.keep_view())
        workbench.left.stop_asking()
        return True

    def _leave(self, runs: list[Run]) -> bool:
        """Leave fits on their cluster; False when one could not be, which a message tells."""
        handed: list[bool] = []
        _wait_for(self._workbench.left.leave(runs, lambda: handed.append(True)))
        return bool(handed)

    def _stop_all(self, running: list[Run]) -> bool:
        for run in running:
            self._workbench.stop(run)
        self._workbench.studies.stop_all()
        while not self._workbench.wait(_CLOSE_WAIT):
            answer = dialogs.ask(
                self._window,
                "The chains have not stopped yet",
                "A step of the model takes longer than five seconds.",
                (("cancel", "Stay"), ("wait", "Wait")),
                "wait",
            )
            if answer != "wait":
                return False
        QApplication.processEvents()  # delivers the last events of the chains
        return True

    def _save_and_wait(self) -> bool:
        workbench = self._workbench
        _wait_while(lambda: workbench.ending)  # results of what was stopped belong into the file
        if not self.save():
            return False
        _wait_while(lambda: workbench.file.saving)
        return not workbench.dirty


def _wait_for(task: Task | None) -> None:
    """Let the window live until a task has ended and its outcome was told."""
    _wait_while(lambda: task is not None and not task.finished)


def _wait_while(busy: Callable[[], bool]) -> None:
    """Let the window live meanwhile."""
    while busy():
        wait_for_tasks(20)
        QApplication.processEvents()


def _discard_recovery(key: str) -> None:
    from plaidwork.core.session.recovery import discard

    try:
        discard(key)
    except (OSError, PlaidworkError):
        return  # a recovery file too many is offered again; nothing is lost


def _recovery_text(item: Recovery) -> str:
    """Which session it is, what is in it, and what may be missing."""
    where = "It has no file yet" if item.origin is None else f"Its file is {item.origin.name}"
    if item.holds is not None:
        datasets, runs = item.holds
        sets = counted(datasets, "data set")
        where += f"; what was kept has {sets} and {counted(runs, 'run')}"
    return f"Plaidwork closed before “{item.name}” was saved. {where}. Two minutes of work were lost at most."


def session_line(session: Session) -> str:
    """What is in a session, for the list of recent ones."""
    run = next(reversed(session.runs.values()), None)
    if run is not None:
        return f"{run.title}, {counted(run.schedule.chains, 'chain')}, {run.status}"
    dataset = next(iter(session.datasets.values()), None)
    return dataset.described if dataset is not None else "empty"
