"""What every command does. Each method is the command of that key in ``actions.py``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.run import Run, now
from plaidwork.core.samples import Sample
from plaidwork.core.session import Session
from plaidwork.gui import dialogs
from plaidwork.gui.numbers import format_bytes, format_count, format_duration
from plaidwork.gui.run_pages import first_view_key
from plaidwork.gui.session_tree import NEW, RUN
from plaidwork.gui.tasks import run_task
from plaidwork.gui.theme import theme

if TYPE_CHECKING:
    from plaidwork.core.plan import FitPlan
    from plaidwork.gui.main_window import MainWindow
    from plaidwork.gui.workbench import Workbench

SESSION_SUFFIX = ".plaidwork"
_SESSION_FILTER = f"Plaidwork sessions (*{SESSION_SUFFIX})"
_CLOSE_WAIT = 5000


class Commands:
    """The window's commands; they only use the workbench and what the window shows."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._told_results: set[str] = set()

    @property
    def _workbench(self) -> Workbench:
        return self._window.workbench

    # -- file -----------------------------------------------------------------------------------
    def welcome(self) -> None:
        self._window.show_welcome()

    def new_session(self) -> None:
        if self.may_close():
            self._workbench.set_session(Session())

    def import_data(self) -> None:
        window = self._window
        folder = window.settings.folder("import")
        name, _ = QFileDialog.getOpenFileName(window, "Import data", folder, self._import_filter())
        if name:
            self.import_path(Path(name))

    def _import_filter(self) -> str:
        from plaidwork.core.importers.base import builtin_readers

        readers = builtin_readers()
        patterns = " ".join(f"*{suffix}" for reader in readers for suffix in reader.suffixes)
        each = [f"{r.title} ({' '.join('*' + s for s in r.suffixes)})" for r in readers]
        return ";;".join([f"All that can be read ({patterns})", *each, "All files (*)"])

    def import_path(self, path: Path) -> None:
        """Show the import dialog for a file; what is read is added to the session."""
        from plaidwork.gui.data.import_dialog import ImportDialog

        window = self._window
        window.settings.set_folder("import", path)
        dialog = ImportDialog(path, self._workbench.registry, window)
        if dialog.exec() and dialog.dataset is not None:
            added = self._workbench.add_dataset(dialog.dataset)
            window.show_workspace()
            self.set_up_fit(focus=added.name)

    def open_file(self) -> None:
        window = self._window
        name, _ = QFileDialog.getOpenFileName(
            window, "Open a session", window.settings.folder("open"), _SESSION_FILTER
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
                f"It was last in {path.parent}.",
                [("Take off the list", lambda: self._forget(path)), ("Locate…", self.open_file)],
            )
            return
        if not path.name.lower().endswith(SESSION_SUFFIX):
            self.import_path(path)
        elif self.may_close():
            window.settings.set_folder("open", path)
            self._workbench.open(path, lambda: self._opened(path))

    def _forget(self, path: Path) -> None:
        self._window.settings.remove_recent(str(path))
        self._window.welcome.set_recent(self._window.settings.recent())

    def _opened(self, path: Path) -> None:
        session = self._workbench.session
        self._window.settings.add_recent(path, session_line(session), now())
        if session.read_only:
            self._window.messages.post("info", "Opened for reading only", session.read_only)
        self._window.status.say(f"Opened {path.name}")

    def save(self) -> bool:
        session = self._workbench.session
        if session.path is None or session.read_only:
            return self.save_as()
        self._workbench.save()
        return True

    def save_as(self) -> bool:
        window, session = self._window, self._workbench.session
        proposed = Path(window.settings.folder("open")) / f"{session.name}{SESSION_SUFFIX}"
        name, _ = QFileDialog.getSaveFileName(window, "Save the session", str(proposed), _SESSION_FILTER)
        if not name:
            return False
        path = Path(name if name.lower().endswith(SESSION_SUFFIX) else name + SESSION_SUFFIX)
        window.settings.set_folder("open", path)
        self._workbench.save(path)
        return True

    def on_saved(self, name: str) -> None:
        """Told by the workbench when the file is written."""
        path = Path(name)
        self._window.settings.add_recent(path, session_line(self._workbench.session), now())
        self._window.refresh_head()
        self._window.status.say(f"Saved to {path.name}, {format_bytes(path.stat().st_size)}, data included")
        run_task(lambda task: _discard_recovery(self._workbench.session.uuid))

    def autosave(self) -> None:
        """Write the recovery file when something is not saved."""
        if self._workbench.dirty and (self._workbench.session.runs or self._workbench.session.datasets):
            from plaidwork.core.recovery import write_recovery

            session = self._workbench.session
            run_task(lambda task: write_recovery(session), failed=self._autosave_failed)

    def _autosave_failed(self, error: BaseException, details: str) -> None:
        self._window.messages.post(
            "warn", "The recovery file could not be written", str(error), key="recovery"
        )

    def offer_recovery(self, found: list) -> None:
        """A message for the newest work that a crash left behind."""
        if not found:
            return
        item = found[0]
        self._window.messages.post(
            "warn",
            f"Recovered work from {dt.datetime.fromisoformat(item.time).astimezone():%H:%M}",
            f"Plaidwork closed before “{item.name}” was saved. Two minutes were lost at most.",
            [
                ("Recover", lambda: self._recover(item)),
                ("Later", lambda: None),
                ("Discard", lambda: _discard_recovery(item.uuid)),
            ],
        )

    def _recover(self, item: Any) -> None:
        def recovered(session: Session) -> None:
            self._workbench.set_session(session, dirty=True)

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
        if workbench.dirty and (workbench.session.datasets or workbench.session.runs):
            answer = dialogs.ask_to_save(window, workbench.session.name, len(running))
            if answer == "cancel":
                return False
            if not self._stop_all(running):
                return False
            if answer == "save" and not self._save_and_wait():
                return False
            _discard_recovery(workbench.session.uuid)
        return self._stop_all(running)

    def _stop_all(self, running: list[Run]) -> bool:
        for run in running:
            self._workbench.stop(run)
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
        from plaidwork.gui.tasks import wait_for_tasks

        if not self.save():
            return False
        while not wait_for_tasks(100):
            QApplication.processEvents()
        QApplication.processEvents()
        return not self._workbench.dirty

    def export_picture(self) -> None:
        page = self._window.workspace.current_page()
        name = self._save_name("Export picture", "picture.png", "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)")
        if name is None or page is None:
            return
        try:
            page.export_picture(name)  # type: ignore[attr-defined]
        except (OSError, ValueError) as error:
            self._window.messages.post("error", f"Could not write {name.name}", str(error))
            return
        self._window.status.say(f"Picture saved to {name.name}")

    def _save_name(self, title: str, proposed: str, kinds: str) -> Path | None:
        window = self._window
        start = str(Path(window.settings.folder("export")) / proposed)
        name, _ = QFileDialog.getSaveFileName(window, title, start, kinds)
        if not name:
            return None
        window.settings.set_folder("export", Path(name))
        return Path(name)

    def export_run(self) -> None:
        from plaidwork.core.exporting import export_run

        run, window = self._window.current_run(), self._window
        folder = QFileDialog.getExistingDirectory(
            window, "Export results to", window.settings.folder("export")
        )
        if not folder or run is None:
            return
        target = Path(folder) / f"{window.workbench.session.name} {run.title}".strip()
        session = self._workbench.session
        run_task(
            lambda task: export_run(run, target, session),
            lambda _: window.status.say(f"Results exported to {target}"),
            lambda error, details: window.messages.post("error", "Could not export the results", str(error)),
        )

    def export_script(self) -> None:
        self._export_text("Export as Python script", "run.py", "Python (*.py)", "python_script")

    def export_job(self) -> None:
        self._export_text("Export as job", "job.toml", "Job (*.toml)", "job_toml")

    def _export_text(self, title: str, proposed: str, kinds: str, function: str) -> None:
        from plaidwork.core import exporting

        run = self._window.current_run()
        path = self._save_name(title, proposed, kinds) if run is not None else None
        if path is None:
            return
        session = self._workbench.session
        run_task(
            lambda task: getattr(exporting, function)(run, session, path),
            lambda _: self._window.status.say(f"Saved to {path.name}"),
            lambda error, details: self._window.messages.post(
                "error", f"Could not write {path.name}", str(error)
            ),
        )

    # -- edit -----------------------------------------------------------------------------------
    def rename(self) -> None:
        run = self._window.current_run()
        if run is not None:
            title = dialogs.ask_text(self._window, "Rename the run", "", run.title, "Rename")
            if title:
                self._workbench.rename_run(run, title)
            return
        page = self._window.workspace.current_page()
        if hasattr(page, "rename"):
            page.rename()

    def remove(self) -> None:
        window, run, name = self._window, self._window.current_run(), self._window.current_dataset()
        title = run.title if run is not None else name
        if not title:
            return
        what = (
            "Its draws and results are lost when you save."
            if run is not None
            else "The file it came from stays."
        )
        choices = (("cancel", "Cancel"), ("remove", "Remove"))
        if dialogs.ask(window, f"Remove “{title}”?", what, choices, "remove") != "remove":
            return
        if run is not None:
            self._workbench.remove_run(run)
        else:
            self._workbench.remove_dataset(name)
        self._window._show_session()

    def find(self) -> None:
        page = self._window.workspace.current_page()
        if hasattr(page, "find"):
            page.find()  # type: ignore[call-arg]

    # -- fit ------------------------------------------------------------------------------------
    def new_fit(self) -> None:
        name = self._window.current_dataset()
        run = self._window.current_run()
        if run is not None:
            name = next((names[0] for names in run.inputs.values() if names), "")
        self.set_up_fit(focus=name)

    def set_up_fit(self, fill: Callable[[Any], None] | None = None, focus: str = "") -> None:
        """Show the set-up page; ``fill`` gets the page, ``focus`` is the dataset to begin with."""

        def ready(_: object) -> None:
            from plaidwork.gui.setup.setup_page import SetupPage

            page = SetupPage(self._workbench)
            if fill is not None:
                fill(page)
            elif focus and page.spec is not None:
                page.fill({page.spec.inputs[0].name: [focus]})
            self._show_setup(page)

        run_task(lambda task: self._workbench.registry.ready(), ready)

    def _show_setup(self, page: QWidget) -> None:
        window = self._window
        page.start_requested.connect(self._start_plan)  # type: ignore[attr-defined]
        window.workspace.clear()
        window.setup_page = page
        window.tree.set_new_fit(True)
        window.show_workspace()
        window.tree.select(NEW, "")
        window._chosen(NEW, "")

    def _start_plan(self, plan: FitPlan, title: str) -> None:
        window = self._window
        run = self._workbench.start(plan, title)
        window.setup_page = None
        window.tree.set_new_fit(False)
        window.tree.select(RUN, run.id)
        window._chosen(RUN, run.id)

    def start(self) -> None:
        window, run = self._window, self._window.current_run()
        if window.tree.current()[0] == NEW and window.setup_page is not None:
            window.setup_page.start()  # type: ignore[attr-defined]
        elif run is not None and run.resumable:
            self._workbench.resume(run)
        elif run is not None and not run.active:
            more = dialogs.ask_draws(window, run.title, run.schedule.draws)
            if more:
                self._workbench.resume(run, more)

    def pause(self) -> None:
        run = self._window.current_run()
        if run is not None:
            if run.status == "paused":
                self._workbench.unpause(run)
            else:
                self._workbench.pause(run)

    def stop(self) -> None:
        run = self._window.current_run()
        if run is not None:
            self._workbench.stop(run)
            self._window.refresh_buttons()
            self._window.status.refresh()

    def fit_again(self) -> None:
        run = self._window.current_run()
        if run is not None:
            self.set_up_fit(lambda page: page.from_run(run))

    def on_results(self, run_id: str) -> None:
        """Told when results are new; at the end of a fit a message leads to them."""
        run = self._workbench.session.runs.get(run_id)
        if run is None or run.active or not run.results:
            return
        window = self._window
        key = f"{run.id} {run.n_draws}"
        if key in self._told_results:
            return
        self._told_results.add(key)
        headline = next((v.headline for v in run.spec.views if v.headline), "")
        found = run.results.get(headline, "") if headline else ""
        words = {"done": "finished", "stopped": "stopped", "failed": "failed"}[run.status]
        kind = {"done": "ok", "stopped": "info", "failed": "warn"}[run.status]
        text = f"{found}. " if isinstance(found, str) and found else ""
        text += f"{format_count(run.n_draws)} draws in {format_duration(run.cpu_seconds)} of CPU time."
        actions = (
            [("Show results", lambda: self.show_run(run, first_view_key(run)))] if run.spec.views else []
        )
        window.messages.post(kind, f"{run.title} {words}", text, actions, key=f"end {run.id}")

    def on_verdict(self, run_id: str) -> None:
        """Told when a run changed: the message of its end does not stay green when its chains disagree."""
        run = self._workbench.session.runs.get(run_id)
        verdict = self._workbench.verdict(run) if run is not None and run.status == "done" else None
        if run is not None and verdict is not None and verdict.kind != "ok":
            doubt = f"{verdict.title[:1].lower()}{verdict.title[1:]}"
            self._window.messages.amend(f"end {run.id}", "warn", f"{run.title} finished, but {doubt}")

    def show_run(self, run: Run, key: str) -> None:
        """Bring a run and one of its tabs to the front."""
        self._window.show_workspace()
        self._window.tree.select(RUN, run.id)
        self._window.workspace.go_to(key)

    def open_example(self, sample: Sample) -> None:
        """Load an example and show its set-up, ready to start."""
        if not self.may_close():
            return
        window = self._window

        def loaded(datasets: dict) -> None:
            session = Session(name=sample.title)
            names: dict[str, list[str]] = {}
            for key, dataset in datasets.items():
                names[key] = [session.add_dataset(dataset).name]
            self._workbench.set_session(session)

            def fill(page: Any) -> None:
                page.set_model(sample.model)
                page.fill(names, sample.params, sample.schedule, sample.seed)

            self.set_up_fit(fill)

        def failed(error: BaseException, details: str) -> None:
            window.messages.post("error", f"Could not open the example “{sample.title}”", str(error))

        run_task(lambda task: (self._workbench.registry.ready(), sample.load())[1], loaded, failed)

    # -- views, window, help --------------------------------------------------------------------
    def hold(self) -> None:
        page = self._window.workspace.current_page()
        if hasattr(page, "set_held"):
            page.set_held(self._window.actions_by_key["hold"].isChecked())

    def show_data(self) -> None:
        page = self._window.workspace.current_page()
        if hasattr(page, "show_data"):
            page.show_data()

    def next_tab(self) -> None:
        self._window.workspace.step(1)

    def previous_tab(self) -> None:
        self._window.workspace.step(-1)

    def next_pane(self) -> None:
        self._step_pane(1)

    def previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, by: int) -> None:
        window = self._window
        panes = [window.tree, window.workspace.tabs, window.workspace.stack, window.side_stack, window.log]
        panes = [pane for pane in panes if pane.isVisible()]
        if not panes:
            return
        focus = QApplication.focusWidget()
        at = next((i for i, pane in enumerate(panes) if focus is not None and pane.isAncestorOf(focus)), None)
        if at is None:
            at = next((i for i, pane in enumerate(panes) if pane is focus), -1 if by > 0 else 0)
        pane = panes[(at + by) % len(panes)]
        target = _first_focusable(pane)
        target.setFocus()

    def show_session(self) -> None:
        self._window.session_dock.setVisible(self._window.actions_by_key["show_session"].isChecked())

    def show_side(self) -> None:
        self._window.side_dock.setVisible(self._window.actions_by_key["show_side"].isChecked())

    def show_log(self) -> None:
        self._window.log_dock.setVisible(self._window.actions_by_key["show_log"].isChecked())

    def reset_layout(self) -> None:
        self._window.reset_layout()

    def plugins(self) -> None:
        self.show_plugin("")

    def show_plugin(self, name: str) -> None:
        """The window of plugins, on one of them when a name is given; there is one such window at most."""
        from plaidwork.gui.plugins import PluginsDialog

        window = self._window
        shown = next((d for d in window.findChildren(PluginsDialog) if d.isVisible()), None)
        if shown is None:
            shown = PluginsDialog(self._workbench, window, window.settings)
            shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            shown.show()
        if name:
            shown.choose(name)
        shown.raise_()
        shown.activateWindow()

    def light(self) -> None:
        self._set_mode("light")

    def dark(self) -> None:
        self._set_mode("dark")

    def follow_system(self) -> None:
        self._set_mode("system")

    def _set_mode(self, mode: str) -> None:
        theme().set_mode(mode)
        self._window.settings.set("theme", mode)

    def commands(self) -> None:
        from plaidwork.gui.command_palette import CommandPalette

        CommandPalette(list(self._window.actions_by_key.values()), self._window).exec()

    def shortcuts(self) -> None:
        dialogs.show_shortcuts(self._window)

    def system_information(self) -> None:
        dialogs.show_text(self._window, "System information", system_information(self._window))

    def about(self) -> None:
        from plaidwork.core import __version__

        text = (
            "A desktop workbench for Bayesian latent-structure models.\n"
            "BSD 3-clause licence. Qt is used under the LGPL. The font Inter is under the OFL 1.1."
        )
        dialogs.show_text(self._window, f"Plaidwork {__version__}", text)

    def show_details(self, title: str, text: str, details: str) -> None:
        """The traceback behind a message."""
        dialogs.show_text(self._window, title, details, text)


def _first_focusable(pane: QWidget) -> QWidget:
    from PySide6.QtCore import Qt

    if pane.focusPolicy() & Qt.FocusPolicy.TabFocus:
        return pane
    for child in pane.findChildren(QWidget):
        if child.isVisible() and child.isEnabled() and child.focusPolicy() & Qt.FocusPolicy.TabFocus:
            return child
    return pane


def _discard_recovery(session_uuid: str) -> None:
    from plaidwork.core.recovery import discard

    try:
        discard(session_uuid)
    except (OSError, PlaidworkError):
        return  # a recovery file too many is offered again; nothing is lost


def session_line(session: Session) -> str:
    """What is in a session, for the list of recent ones."""
    run = next(reversed(session.runs.values()), None)
    if run is not None:
        return f"{run.title}, {run.schedule.chains} chains, {run.status}"
    dataset = next(iter(session.datasets.values()), None)
    return dataset.described if dataset is not None else "empty"


def system_information(window: MainWindow) -> str:
    """Versions, plugins and screens as text."""
    import PySide6

    from plaidwork.core.fitting import environment

    lines = [f"{name}: {value}" for name, value in environment().items()]
    lines.append(f"PySide6: {PySide6.__version__}")
    for screen in QApplication.screens():
        size = screen.size()
        lines.append(f"screen: {size.width()} x {size.height()} at {screen.devicePixelRatio():g}")
    for plugin in window.workbench.registry.plugins:
        lines.append(
            f"plugin: {plugin.name} {plugin.version} ({plugin.source}) {plugin.state} {plugin.message}"
        )
    return "\n".join(lines)
