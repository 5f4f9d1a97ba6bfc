"""The Plugins window: a table of all plugins, the card of the one selected, and what may be done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QWidget

from plaidwork.core.checks.background import check_in_process, kept_result
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.plugins import plugin_install
from plaidwork.core.plugins.registry import PluginInfo
from plaidwork.gui import dialogs
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.language import tr
from plaidwork.gui.plugins import facts, questions
from plaidwork.gui.plugins.detail import DetailCard
from plaidwork.gui.plugins.head import Head
from plaidwork.gui.plugins.install_dialog import InstallDialog
from plaidwork.gui.plugins.kept_checks import forget_check, keep_check, kept_check
from plaidwork.gui.plugins.table import PluginTable
from plaidwork.gui.settings import Settings
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, MessageBar, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.workbench import Workbench

SIZE = (960, 720)
DEVELOPER = "plugins/developer"
ACTION = "action"
"""Name of the task that does something with a plugin."""


class PluginsDialog(TaskDialog):
    """Everything about plugins. What takes long happens in threads; a check in a process of its own.

    Parameters
    ----------
    workbench : the registry it holds is shown
    settings : remembers the developer mode; by default the user's
    """

    _plugin_changed = Signal()

    def __init__(
        self, workbench: Workbench, parent: QWidget | None = None, settings: Settings | None = None
    ) -> None:
        super().__init__("Plugins", parent)
        self.registry = workbench.registry
        self.workbench = workbench
        self._settings = settings or Settings()
        self._removable: dict[str, str] = {}
        self._wanted = ""
        self._busy: tuple[str, str] | None = None
        self._build()
        self.resize(*SIZE)
        self._plugin_changed.connect(self._refresh)
        self._unsubscribe = self.registry.subscribe(lambda info: self._say())
        if parent is not None:
            parent.installEventFilter(self)
        self._refresh()
        registry = self.registry
        self.begin(
            "load",
            lambda task: (registry.load(), _removable())[1],
            self._loaded,
            self._could_not("load the plugins"),
            minutes=True,
        )

    # -- layout ---------------------------------------------------------------------------------
    def _build(self) -> None:
        self.messages = MessageBar()
        self.table = PluginTable(kept_check)
        self.table.chosen.connect(self._show_detail)
        self.card = DetailCard()
        self.card.action_requested.connect(self._act)
        head = Head()
        self.counted, self.search = head.counted, head.search
        self.search.textChanged.connect(self._search)
        vertical(
            head,
            self.messages,
            (self._build_middle(), 1),
            self._build_foot(),
            on=self,
            spacing=0,
        )

    def _build_middle(self) -> QWidget:
        pane = Pane("surface")
        frame = Card()
        vertical(self.table, on=frame, margins=(4, 3, 4, 3))
        vertical(
            (frame, 1),
            self.card,
            on=pane,
            spacing=space.M,
            margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L),
        )
        return pane

    def _build_foot(self) -> QWidget:
        foot = Pane("window", "top")
        self.folder_button = button(
            "Open plugin folder", self._open_plugin_folder, kind="quiet", icon_name="folder"
        )
        self.write_button = button("Write your own…", lambda: questions.show_new_command(self), kind="quiet")
        self.developer = QCheckBox(tr("Developer mode"))
        self.developer.setToolTip(tr("Offers to load plugins again while the program runs"))
        self.developer.setChecked(self._settings.flag(DEVELOPER))
        self.developer.toggled.connect(self._set_developer)
        self.install_button = button("Install…", self._install)
        self.close_button = button("Close", self.accept, kind="primary")
        self.close_button.setDefault(True)
        horizontal(
            self.folder_button,
            self.write_button,
            self.developer,
            STRETCH,
            self.install_button,
            self.close_button,
            on=foot,
            spacing=space.S,
            margins=(space.L, space.M, space.DIALOG_EDGE, space.M),
        )
        return foot

    def _say(self) -> None:
        """In any thread: something has changed."""
        with suppress(RuntimeError):  # the window was deleted meanwhile
            self._plugin_changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close with the window that it belongs to."""
        if event.type() == QEvent.Type.Hide and not event.spontaneous():
            self.close()
        return super().eventFilter(watched, event)

    # -- what is shown --------------------------------------------------------------------------
    def _loaded(self, removable: dict[str, str]) -> None:
        self._removable = removable
        self._refresh()
        if self.registry.safe_mode:
            text = "Plugins that were added are left out of this start."
            self.messages.post("info", "Safe mode", text, [("Load them", self._leave_safe_mode)], key="safe")
        if not self.table.chosen_name:
            self.table.choose(facts.first_broken(self.registry.plugins))

    def _refresh(self) -> None:
        plugins = list(self.registry.plugins)
        self.counted.setText(facts.plugins_line(plugins, self.registry.safe_mode))
        self.table.set_plugins(plugins)
        if self._wanted and self.table.choose(self._wanted):
            self._wanted = ""
        self._show_detail()

    def _search(self, text: str) -> None:
        self.table.set_words(text)
        self._show_detail()

    def choose(self, name: str) -> None:
        """Select a plugin, for who opens the window because of it."""
        self.search.clear()
        self._wanted = "" if self.table.choose(name) else name

    @property
    def info(self) -> PluginInfo | None:
        """The selected plugin."""
        name = self.table.chosen_name
        return next((info for info in self.registry.plugins if info.name == name), None)

    def _show_detail(self, _name: str = "") -> None:
        info = self.info
        if info is None:
            self._show_no_detail()
            return
        models = facts.brings(info, self.registry) if info.state == "ok" else []
        busy = self._busy[1] if self._busy is not None else ""
        self.card.show_plugin(
            info,
            models,
            kept_check(info),
            developer=self.developer.isChecked(),
            removable=info.name in self._removable,
            busy=busy,
        )

    def _show_no_detail(self) -> None:
        guests = any(info.source != "built-in" for info in self.registry.plugins)
        if not self.table.shown_names and self.search.text():
            title, text = facts.none_found(self.search.text())
            self.card.show_nothing(title, text, (("Show all", self.search.clear),))
        elif guests or not self.registry.settled or self.registry.safe_mode:
            self.card.show_nothing(*facts.NONE_SELECTED, ())
        else:
            self.card.show_nothing(*facts.NONE_ADDED, (("Write your own…", self.write_button.click),))

    # -- actions --------------------------------------------------------------------------------
    def _act(self, what: str) -> None:
        info = self.info
        if what == "cancel_check":
            if self.busy(ACTION):
                self.drop(ACTION)
                self._end()
        elif info is not None and what == "show_folder" and info.path is not None:
            _open(info.path if info.path.is_dir() else info.path.parent)
        elif info is not None and self._busy is None:
            {
                "enable": partial(self._switch, info, True),
                "disable": partial(self._switch, info, False),
                "check": partial(self._check, info),
                "reload": partial(self._reload, info),
                "uninstall": partial(self._uninstall, info),
            }[what]()

    def _act_on(
        self,
        name: str,
        text: str,
        call: Callable[[Task], Any],
        done: Callable[[Any], None],
        doing: str,
    ) -> None:
        """Do something with a plugin in a thread; ``doing`` completes "could not …" when it fails."""

        def ended(value: Any) -> None:
            self._end()
            done(value)

        failed = self._could_not(doing)

        def broke(error: BaseException, details: str) -> None:
            self._end()
            failed(error, details)

        self._busy = (name, text)
        self._show_detail()
        self.begin(ACTION, call, ended, broke, self._show_progress, minutes=True)

    def _end(self) -> None:
        self._busy = None
        self._refresh()

    def _could_not(self, doing: str) -> Callable[[BaseException, str], None]:
        def tell(error: BaseException, details: str) -> None:
            title = f"Could not {doing}"
            text = error_text(error)
            actions = [] if isinstance(error, PlaidworkError) else [
                ("Details", lambda: dialogs.show_text(self, title, details, text))
            ]  # fmt: skip
            self.messages.post("error", title, text, actions, key="action")

        return tell

    def _switch(self, info: PluginInfo, on: bool) -> None:
        registry, name = self.registry, info.name
        word = "enable" if on else "disable"

        def work(task: Task) -> Any:
            return registry.enable(name) if on else registry.disable(name)

        self.messages.dismiss("action")
        self._act_on(name, f"{word.capitalize()[:-1]}ing {name}", work, lambda _: None, f"{word} {name}")

    def _reload(self, info: PluginInfo) -> None:
        registry, name = self.registry, info.name

        def work(task: Task) -> Any:
            with suppress(OSError):  # an old result kept is no reason to stop
                forget_check(name)
            return registry.reload(name)

        self.messages.dismiss("action")
        self._act_on(name, f"Loading {name} again", work, lambda _: None, f"load {name} again")

    def _leave_safe_mode(self) -> None:
        registry = self.registry
        work = lambda task: (registry.leave_safe_mode(), _removable())[1]  # noqa: E731
        self._act_on("", "Loading the added plugins", work, self._loaded, "load the added plugins")

    def _set_developer(self, on: bool) -> None:
        self._settings.set(DEVELOPER, on)
        self._show_detail()

    # -- conformance ----------------------------------------------------------------------------
    def _check(self, info: PluginInfo) -> None:
        level = questions.ask_level(self, info)
        if level == "cancel":
            return
        models = list(info.models)

        def work(task: Task) -> Any:
            return kept_result(check_in_process(models, level, task.report))

        def done(result: dict[str, Any]) -> None:
            try:
                keep_check(info, result)
            except OSError as error:
                self.messages.post("warn", "The result could not be kept", f"{error}.", key="action")
            self._refresh()

        self.messages.dismiss("action")
        self._act_on(info.name, f"Checking {info.name}", work, done, f"check {info.name}")

    def _show_progress(self, done: int, total: int, title: str) -> None:
        if self._busy is None or self.card.info is None:
            return
        share = done / total if total else 0.0
        text = f"{self._busy[1]}: {done} of {total}" + (f", {title}" if title else "")
        self.card.set_progress(share, text if total else f"{self._busy[1]}: starting")

    # -- install and uninstall ------------------------------------------------------------------
    def _install(self) -> None:
        dialog = InstallDialog(self)
        dialog.exec()
        installed = dialog.installed
        dialog.deleteLater()
        if installed is None:
            return
        registry = self.registry

        def work(task: Task) -> dict[str, str]:
            known = {info.name for info in registry.plugins}
            for name in installed.points:
                if name in known:
                    registry.forget(name)
            registry.rescan()
            return _removable()

        def done(removable: dict[str, str]) -> None:
            self._removable = removable
            self._refresh()
            self.choose(next(iter(installed.points), ""))
            self.messages.post("ok", f"{installed} is installed", key="action", seconds=6)

        self._act_on("", f"Loading {installed.name}", work, done, f"load {installed.name}")

    def _uninstall(self, info: PluginInfo) -> None:
        name, registry = info.name, self.registry
        distribution = self._removable.get(name, name)
        try:
            gone = plugin_install.would_remove(distribution)
        except PlaidworkError as error:
            self._could_not(f"uninstall {name}")(error, "")
            return
        if not questions.ask_uninstall(self, info, gone):
            return
        mates = [point for point, owner in self._removable.items() if owner == distribution]

        def work(task: Task) -> dict[str, str]:
            plugin_install.uninstall(distribution)
            for point in mates:
                if any(known.name == point for known in registry.plugins):
                    registry.forget(point)
                with suppress(OSError):  # a result of something that is gone does no harm
                    forget_check(point)
            return _removable()

        def done(removable: dict[str, str]) -> None:
            self._removable = removable
            self._refresh()
            self.messages.post("ok", f"{info.title} is uninstalled", key="action", seconds=6)

        self.messages.dismiss("action")
        self._act_on(name, f"Uninstalling {name}", work, done, f"uninstall {name}")

    # -- folders --------------------------------------------------------------------------------
    def _open_plugin_folder(self) -> None:
        folder = self.registry.plugin_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.messages.post(
                "error", "The plugin folder cannot be made", f"{folder}: {error}.", key="action"
            )
            return
        _open(folder)

    # -- leaving --------------------------------------------------------------------------------
    def leave(self) -> None:
        """Stop a check and hear no more news."""
        self._unsubscribe()
        super().leave()


def _removable() -> dict[str, str]:
    """Plugins that were installed from here, each with its distribution."""
    return {point: item.name for item in plugin_install.installed() for point in item.points}


def _open(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
