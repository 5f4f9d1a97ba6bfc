"""The window: docks around the views. What the commands do stands in ``commands/``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QResizeEvent,
)
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QToolBar, QWidget

from plaidwork.core.inference.run import Run
from plaidwork.core.study import StudyRecord
from plaidwork.gui.commands import Commands
from plaidwork.gui.commands.files import SESSION_SUFFIX
from plaidwork.gui.editing import REMOVED
from plaidwork.gui.header import Header
from plaidwork.gui.language import tr
from plaidwork.gui.log_panel import LogPanel
from plaidwork.gui.page import Page
from plaidwork.gui.plugin_watch import PluginWatch, missing_plugin_text
from plaidwork.gui.priority import PRIORITY
from plaidwork.gui.run_pages import TRACES, data_pages, first_view_key, notes_pages, run_pages, study_pages
from plaidwork.gui.session_tree import DATA, NEW, NOTES, RUN, STUDY, SessionTree
from plaidwork.gui.settings import Settings
from plaidwork.gui.status_line import StatusLine
from plaidwork.gui.welcome import WelcomePage
from plaidwork.gui.widgets import Message, MessageBar
from plaidwork.gui.window_bars import make_actions, make_bars, room_on
from plaidwork.gui.window_commands import refresh_commands
from plaidwork.gui.window_docks import WindowDocks
from plaidwork.gui.window_state import WindowState
from plaidwork.gui.workbench import Workbench
from plaidwork.gui.workspace import PageInfo, Workspace

if TYPE_CHECKING:
    from plaidwork.gui.setup.setup_page import SetupPage

HEADER_BUTTONS = (
    ("pause", "normal"),
    ("stop", "normal"),
    ("start", "primary"),
    ("fit_again", "primary"),
    ("new_fit", "primary"),
)
_TICK, _TICK_HIDDEN, _TICK_SLOWEST = 100, 400, 1000
_AUTOSAVE = 60_000  # milliseconds; with the 20 s between checkpoints, and what a busy computer takes to write, less than two minutes are lost


class MainWindow(QMainWindow):
    """Left the session, centre the views, right the side panel of the view, bottom log and jobs."""

    header: Header
    header_bar: QToolBar
    messages: MessageBar
    welcome: WelcomePage
    workspace: Workspace
    _furnished = False

    def __init__(self, workbench: Workbench, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workbench = workbench
        self.settings = settings
        self.actions_by_key: dict[str, QAction] = {}
        self.setup_page: SetupPage | None = None
        self.setMinimumSize(1024, 640)
        self.resize(self.sizeHint())
        if QGuiApplication.platformName() != "offscreen":  # there the screen is small and nobody sees it
            self.resize(self.size().boundedTo(room_on(self.screen().availableSize(), self.style())))
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.commands = Commands(self)
        make_actions(self)
        make_bars(self, HEADER_BUTTONS)
        self._make_centre()
        self.tree, self.log = self._make_tree(), LogPanel(workbench)
        self.docks = WindowDocks(self)
        self._furnished = True
        self.status = StatusLine(workbench)
        self.setStatusBar(self.status)
        self._connect()
        self.plugin_watch = PluginWatch(self)
        self._restore_layout()
        self.show_session()
        self.refresh_steps()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK)
        self._autosave = QTimer(self)
        self._autosave.timeout.connect(self.commands.autosave)
        self._autosave.start(_AUTOSAVE)

    # -- parts ----------------------------------------------------------------------------------
    def _make_centre(self) -> None:
        self.welcome = WelcomePage(
            self.actions_by_key["import_data"].trigger, self.actions_by_key["open_file"].trigger
        )
        self.workspace = Workspace()
        self.state = WindowState(self.workbench, self.workspace)
        self.centre = QStackedWidget()
        self.centre.addWidget(self.welcome)
        self.centre.addWidget(self.workspace)
        self.setCentralWidget(self.centre)

    def _make_tree(self) -> SessionTree:
        tree = SessionTree(self.workbench)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        keys = ("new_fit", "fit_again", "verify", "rename", "remove")
        tree.addActions([self.actions_by_key[key] for key in keys])
        return tree

    def _connect(self) -> None:
        workbench = self.workbench
        workbench.session_replaced.connect(self.messages.leave_session)
        workbench.session_replaced.connect(self.show_session)
        workbench.dirty_changed.connect(lambda *_: self.refresh_head())
        workbench.saved.connect(self.commands.on_saved)
        workbench.notified.connect(self._notify)
        workbench.message_posted.connect(self.post)
        workbench.guard.save_as_requested.connect(self.commands.save_as)
        workbench.guard.find_requested.connect(self.commands.find_linked)
        workbench.editing.changed.connect(self.refresh_steps)
        workbench.editing.stepped.connect(self.commands.on_step)
        workbench.editing.set_again.connect(self.commands.on_set_again)
        workbench.run_changed.connect(self._run_changed)
        workbench.page_requested.connect(self.commands.show_tab)
        workbench.results_changed.connect(self._results_changed)
        workbench.runs_changed.connect(lambda: self._run_changed(""))
        workbench.studies.changed.connect(self._study_changed)
        workbench.studies.ended.connect(self.commands.on_study_ended)
        self.tree.chosen.connect(self.show_item)
        self.workspace.page_made.connect(self._adopt_page)
        self.workspace.page_changed.connect(self.follow_page)
        self.workspace.menu_requested.connect(self.commands.tab_menu)
        self.workspace.panel_requested.connect(lambda: self.docks.ask_side(True))
        self.welcome.left.connect(self.commands.leave_welcome)
        self.welcome.example_chosen.connect(self.commands.open_example)
        self.welcome.recent_chosen.connect(lambda path: self.commands.open_path(Path(path)))

    # -- layout ---------------------------------------------------------------------------------
    @property
    def is_working(self) -> bool:
        """Whether the views are in front, not the welcome page."""
        return self.centre.currentWidget() is self.workspace

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._furnished:  # Qt resizes before everything is made
            self.docks.adapt()

    def _restore_layout(self) -> None:
        geometry = self.settings.bytes("window/geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        self.docks.reset()

    def sizeHint(self) -> QSize:
        return QSize(1440, 900)

    # -- session --------------------------------------------------------------------------------
    def show_session(self) -> None:
        """Another session: what was in front when it was saved, its last run or first data, or the welcome page when it is
        empty."""
        self.set_up(None)
        self.show_front(self.state.chosen())

    def show_front(self, item: tuple[str, str] = ("", "")) -> None:
        """Show an item of the list that is there; else the last run or the first data, or the welcome page."""
        session = self.workbench.session
        self.state.forget()
        self.workspace.clear()
        self.refresh_head()
        if not session.runs and not session.datasets:
            self.show_welcome()
            return
        self.show_workspace()
        if self.tree.has(*item):
            self.tree.select(*item)
        elif session.runs:
            self.tree.select(RUN, next(reversed(session.runs)))
        elif self.workbench.studies.records():
            self.tree.select(STUDY, self.workbench.studies.records()[-1].id)
        else:
            self.tree.select(DATA, next(iter(session.datasets)))
        self.show_item(*self.tree.current())

    def set_up(self, page: SetupPage | None) -> None:
        """Have this set-up of a new fit beside the runs, or none; the one before goes."""
        before, self.setup_page = self.setup_page, page
        self.tree.set_new_fit(page is not None)
        if before is not None:
            self.workbench.editing.forget(before)
            before.deleteLater()

    def show_welcome(self) -> None:
        """The first page; docks are hidden."""
        self.welcome.set_recent(self.settings.recent())
        session = self.workbench.session
        self.welcome.set_open(session.name if session.runs or session.datasets else "")
        self.centre.setCurrentWidget(self.welcome)
        self.docks.hide()
        self.header_bar.hide()
        self.status.set_run(None)
        self.refresh_buttons()

    def show_workspace(self) -> None:
        """Tabs and docks."""
        if not self.is_working:
            self.centre.setCurrentWidget(self.workspace)
            self.header_bar.show()
            self.docks.session.show()

    def refresh_head(self) -> None:
        """Session name, title of the window, saved or not."""
        session = self.workbench.session
        dirty = self.workbench.dirty
        self.header.set_session(session.name, dirty, session.path is not None, bool(session.read_only))
        safe = " (safe mode)" if self.workbench.registry.safe_mode else ""
        self.setWindowTitle(tr(f"{session.name}[*] – Plaidwork{safe}"))
        self.setWindowModified(dirty)

    # -- what is in front -----------------------------------------------------------------------
    def current_run(self) -> Run | None:
        """The run chosen in the tree, or None."""
        kind, key = self.tree.current()
        return self.workbench.session.runs.get(key) if kind == RUN else None

    def current_study(self) -> StudyRecord | None:
        """The search chosen in the tree, or None."""
        kind, key = self.tree.current()
        return self.workbench.studies.get(key) if kind == STUDY else None

    def current_dataset(self) -> str:
        """Name of the dataset chosen in the tree, or empty."""
        kind, key = self.tree.current()
        return key if kind == DATA else ""

    def show_item(self, kind: str, key: str) -> None:
        """The pages of an item of the tree: a dataset, a run, a search or the new fit."""
        if not kind:
            return
        self.show_workspace()
        run = self.current_run()
        self.show_missing(run)
        if kind == DATA:
            self.state.show((kind, key), data_pages(self.workbench, key))
        elif kind == STUDY:
            self.state.show((kind, key), study_pages(self.workbench, key))
        elif kind == NOTES:
            self.state.show((kind, key), notes_pages(self.workbench))
        elif kind == NEW and self.setup_page is not None:
            page = self.setup_page
            self.state.forget()
            self.workspace.set_pages([PageInfo("setup", "Set-up", "sliders", lambda: page, kept=True)])
        elif run is not None:
            self.state.show((kind, key), run_pages(self.workbench, run))
        self.log.set_run(run)
        self.status.set_run(run)
        self.refresh_buttons()

    def _adopt_page(self, page: Page) -> None:
        page.hovered.connect(self.status.read_out)
        page.panel_changed.connect(self.follow_page)
        page.run_opened.connect(self.commands.show_fit)
        page.methods_asked.connect(self.commands.methods_of)

    def follow_page(self) -> None:
        """Side panel and commands are those of the page in front."""
        self.docks.follow(self.workspace.current_page())
        self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """Enable the commands that make sense now, and put the right ones into the header."""
        refresh_commands(self)

    def refresh_steps(self) -> None:
        """Name in the menu what would be taken back, or made again."""
        editing = self.workbench.editing
        self.messages.dismiss(REMOVED)  # its button would undo another step from now on
        for key, word, name in (("undo", "Undo", editing.undo_name), ("redo", "Redo", editing.redo_name)):
            self.actions_by_key[key].setText(tr(f"{word}: {name}".replace("&", "&&") if name else word))
            self.actions_by_key[key].setEnabled(bool(name))

    def show_missing(self, run: Run | None) -> None:
        """Say above the tabs that the plugin of a run is not there, for as long as it is not."""
        lost = run is not None and self.workbench.is_missing(run.spec.id)
        self.workspace.banner.clear()
        if run is not None and lost:
            self.workspace.banner.post(
                "warn", *missing_plugin_text(run), [("Plugins…", self.commands.plugins)]
            )

    def _run_changed(self, run_id: str) -> None:
        run = self.current_run()
        if run is not None and run.id == run_id:
            if not run.active:
                self.workspace.rename(f"{run.id}/{TRACES}", "Traces")
            self.status.refresh()
            page = self.workspace.current_page()
            if page is not None:
                page.tick()
        self.commands.on_verdict(run_id)
        self.refresh_buttons()

    def _study_changed(self, study_id: str) -> None:
        if self.tree.current() == (STUDY, study_id):
            self.refresh_buttons()

    def _results_changed(self, run_id: str) -> None:
        run = self.current_run()
        if run is not None and run.id == run_id:
            key = first_view_key(self.workbench, run)
            if self.workspace.current_key() != key:
                self.workspace.mark(key, True)
            self.refresh_buttons()  # they come after the end of the run was told, and there is more to do with them
        self.commands.on_results(run_id)

    # -- messages -------------------------------------------------------------------------------
    def _notify(self, kind: str, title: str, text: str, details: str) -> None:
        actions = [("Details", lambda: self.commands.show_details(title, text, details))] if details else []
        self.messages.post(kind, title, text, actions, key=title)

    def post(self, message: Message) -> None:
        """Show a message that brings its own buttons."""
        told = (message.kind, message.title, message.text, message.actions)
        self.messages.post(*told, key=message.key, on_close=message.on_close, lasting=message.lasting)

    # -- time -----------------------------------------------------------------------------------
    def _tick(self) -> None:
        active = self.workbench.active_runs()
        visible = self.isVisible() and not self.isMinimized()
        # where redraws are slow they have a third of the time
        slowed = min(max(_TICK, round(3000 * PRIORITY.redraw)), _TICK_SLOWEST)
        self._timer.setInterval(slowed if visible else _TICK_HIDDEN)
        if not active:
            return
        PRIORITY.hold()
        looking = "/view" in self.workspace.current_key()
        for run in active:
            if self.workbench.phase(run) == "running":
                self.workbench.pace(run).add(run.sweeps_done)
                if looking and run is self.current_run():  # provisional, for who looks at them
                    self.workbench.summarise(run)
            self.tree.update_run(run.id)
        shown = self.current_run()
        page = self.workspace.current_page()
        if shown in active:
            self.status.refresh()
            if page is not None:
                page.tick()

    # -- files dropped, closing -----------------------------------------------------------------
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        # the dialog opens after the drop has ended, or the file manager hangs until it is closed
        others = [path for path in paths if path.name.lower().endswith(SESSION_SUFFIX) or not path.is_file()]
        data = [path for path in paths if path not in others]
        if data:
            QTimer.singleShot(0, self, partial(self.commands.import_paths, data))
        for path in others:
            QTimer.singleShot(0, self, partial(self.commands.open_path, path))

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.commands.may_close():
            event.ignore()
            return
        self._timer.stop()
        self._autosave.stop()
        self.workbench.guard.let_go()
        self.settings.set("window/geometry", self.saveGeometry())
        self.settings.sync()
        event.accept()
