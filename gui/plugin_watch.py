"""Says in the window how the plugins are doing: which one is being loaded, which one failed, and what can be done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import PluginInfo
from plaidwork.gui.tasks import run_task
from plaidwork.gui.widgets import Message

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow

SHOW_AFTER = 400
"""Milliseconds of loading before the status line says so."""


class PluginWatch(QObject):
    """Turns the news of the registry into words of the window. Lives on the GUI thread."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._workbench = window.workbench
        self._waits: dict[str, float] = {}
        self._said: dict[str, str] = {}
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._say_loading)
        self._workbench.plugin_changed.connect(self._changed)
        self._workbench.session_replaced.connect(self._look_for_models)
        self._workbench.details_requested.connect(window.commands.show_details)

    def _changed(self, name: str) -> None:
        info = next((info for info in self._workbench.registry.plugins if info.name == name), None)
        if info is None:
            self._window.messages.dismiss(_key(name))
            return
        if not self._workbench.registry.safe_mode:
            self._window.messages.dismiss("safe mode")
            self._window.refresh_head()
        news = f"{info.state} {info.message}"
        if self._said.get(name) == news:
            return
        before, self._said[name] = self._said.get(name, ""), news
        if info.state == "loading" and info.message.startswith("Loading"):
            self._waits[name] = time.monotonic()
            self._timer.start(SHOW_AFTER)
            return
        self._waits.pop(name, None)
        if info.state == "loading":
            self._say_late(info)
        elif info.state in ("failed", "incompatible"):
            self._say_failed(info)
        else:
            self._window.messages.dismiss(_key(name))
            if info.state == "ok" and before.startswith("loading Still"):
                self._window.status.say(f"The plugin {info.title} is loaded")
        self._tell_missing()

    def _look_for_models(self) -> None:
        """A model may only be missing because its plugin is still being loaded: say so when that is over."""
        registry = self._workbench.registry
        if self._workbench.session.runs and not registry.settled:
            run_task(lambda task: registry.load(), lambda _: self._tell_missing())

    def _tell_missing(self) -> None:
        if not isValid(self._window):  # it was closed while plugins were being loaded
            return
        self._window.show_missing(self._window.current_run())
        self._window.refresh_buttons()

    def _say_loading(self) -> None:
        for name in self._waits:
            self._window.status.tell(f"Loading the plugin {name}…", "clock")

    def _say_late(self, info: PluginInfo) -> None:
        title = f"The plugin {info.title} takes long to load"
        text = f"{info.message} Its models are offered as soon as it is ready."
        self._post("warn", info, title, text)

    def _say_failed(self, info: PluginInfo) -> None:
        word = "is not compatible" if info.state == "incompatible" else "could not be loaded"
        title = f"The plugin {info.title} {word}"
        text = f"{info.message} The other plugins are not affected; sessions made with it open."
        self._post("warn" if info.state == "incompatible" else "error", info, title, text)

    def _post(self, kind: str, info: PluginInfo, title: str, text: str) -> None:
        name = info.name
        actions = [
            ("Plugins…", lambda: self._window.commands.show_plugin(name)),
            ("Disable plugin", lambda: self._workbench.faults.disable_plugin(name)),
        ]
        if info.details:
            details = info.details
            actions.insert(0, ("Details", lambda: self._window.commands.show_details(title, text, details)))
        self._window.post(Message(kind, title, text, actions, _key(name), lasting=True))

    def offer_safe_mode(self, asked: bool = False) -> None:
        """The added plugins are held back until the user says what to do: because that was asked for, or after starts that
        ended early."""
        registry = self._workbench.registry
        title, text = (
            (
                "Safe mode: only the built-in models are loaded",
                "Plugins that were added are left out of this start.",
            )
            if asked
            else (
                "Safe mode: the last two starts ended before the window was ready",
                "Added plugins have not been loaded, in case one of them is the reason.",
            )
        )
        self._window.post(
            Message(
                "info" if asked else "warn",
                title,
                text,
                [("Load plugins", lambda: run_task(lambda task: registry.leave_safe_mode(), lambda _: self._window.refresh_head())),
                 ("Plugins…", lambda: self._window.commands.show_plugin("")), ("Stay in safe mode", lambda: None)],
                "safe mode",
                lasting=True,
            )
        )  # fmt: skip


def missing_plugin_text(run: Run) -> tuple[str, str]:
    """Title and text for a run whose model is not there: which plugin is meant, and what still works."""
    plugin = run.environment.get("plugin", "")
    who = f"the plugin {plugin}" if plugin else "a plugin"
    model = f"“{run.spec.title}” {run.spec.version} ({run.spec.id})"
    text = (
        f"It was fitted with {model}, which comes with {who}. Pictures, tables and export work as before. "
        "Install or enable the plugin to go on with the fit, to fit again or to run its own analyses."
    )
    return "Results only: the model of this run is not installed", text


def _key(name: str) -> str:
    return f"plugin {name}"
