"""Loading of plugins: one by one, kept apart, turned on and off."""

from __future__ import annotations

import difflib
import importlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pluggy

from plaidwork.core.contract import hookspecs
from plaidwork.core.contract.plugin_fault import PluginFault
from plaidwork.core.contract.plugin_info import PluginInfo, plugin_error
from plaidwork.core.errors import PluginError, SettingError
from plaidwork.core.plugins import folder as folders
from plaidwork.core.plugins import switches, trial
from plaidwork.core.plugins.catalogue import Catalogue
from plaidwork.core.plugins.contributions import Contributions, Incompatible, collect, incompatible_import
from plaidwork.core.plugins.finding import Found, complete, drop_modules, find_plugins

GROUP = folders.GROUP
LOAD_SECONDS = 10.0
"""Longest wait for the import of one plugin; it may still come later. ``PLAIDWORK_PLUGIN_SECONDS`` changes it."""

_log = logging.getLogger("plaidwork.plugins")

Listener = Callable[[PluginInfo], None]
"""Called when a plugin has changed its state, in whatever thread that happens; must be quick and not raise."""


class Loader:
    """All plugins, loaded into a shelf.

    Built-in plugins are the packages in ``plaidwork.plugins``; others are entry points of the group ``plaidwork`` and
    what lies in plugin folders. All go through the same hooks. They are imported in a thread, one by one, added ones after a
    trial in a process of its own (``trial``); one that takes longer than ``limit`` is left behind (state *loading*), and
    joins the others when it is done after all.

    Parameters
    ----------
    disabled : names not to load; default what the settings and ``PLAIDWORK_DISABLE`` say.
    safe_mode : built-in plugins only.
    limit : seconds for one import; default ``LOAD_SECONDS``.
    patient : whether lookups wait for all plugins. The window does not: it waits for the built-in ones, and
        ``subscribe`` tells about the rest.
    """

    def __init__(
        self,
        disabled: frozenset[str] | None = None,
        safe_mode: bool = False,
        *,
        limit: float | None = None,
        patient: bool = True,
    ) -> None:
        self.plugins: list[PluginInfo] = []
        self.safe_mode = safe_mode
        self.patient = patient
        self._disabled = switches.disabled() if disabled is None else disabled
        self._limit = limit or float(os.environ.get("PLAIDWORK_PLUGIN_SECONDS") or LOAD_SECONDS)
        self._catalogue = Catalogue()
        self._loaders: dict[str, Callable[[], Any]] = {}
        self._tickets: dict[str, object] = {}
        self._listeners: list[Listener] = []
        self._lock = threading.RLock()
        self._loading: threading.Thread | None = None
        self._inside: set[int] = set()
        self._basics, self._settled = threading.Event(), threading.Event()
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)

    # -- loading --------------------------------------------------------------------------------
    def start(self) -> Self:
        """Begin to load in a thread; later calls do nothing."""
        with self._lock:
            if self._loading is None:
                self._loading = threading.Thread(target=self._load_all, name="plugins", daemon=True)
                self._loading.start()
        return self

    def load(self) -> Self:
        """Load everything once and wait for it, but for no plugin longer than the limit."""
        self.start()
        if (
            threading.get_ident() not in self._inside
        ):  # a plugin that asks during its import gets what is there
            self._settled.wait()
        return self

    @property
    def settled(self) -> bool:
        """Whether every plugin was loaded or given up."""
        return self._settled.is_set()

    def ready(self) -> Self:
        """Wait until there is something to choose from: for all plugins, or for the built-in ones when not patient."""
        if self.patient:
            return self.load()
        self.start()
        if threading.get_ident() not in self._inside:
            self._basics.wait()
        return self

    def _load_all(self) -> None:
        self._inside.add(threading.get_ident())
        try:
            for info in self._list_new(self._found()):
                if info.source != "built-in":
                    self._basics.set()
                self._load_one(info)
        finally:
            self._basics.set()
            self._settled.set()
            self._inside.discard(threading.get_ident())

    def _list_new(self, found: Iterator[Found]) -> list[PluginInfo]:
        """Put what was found on the list; a name that is there already fails without being imported."""
        new: list[PluginInfo] = []
        for info, loader in found:
            with self._lock:
                other = next((known for known in self.plugins if known.name == info.name), None)
                if other is not None:
                    info.name = self._free_name(info)
                    self.plugins.append(info)
                    self._fail(info, PluginError(
                        f"there is another plugin called “{other.name}” ({other.title}, {other.source})",
                        "Rename or remove one of the two.", hook="import",
                    ))  # fmt: skip
                    continue
                self.plugins.append(info)
                self._loaders[info.name] = loader
                new.append(info)
        return new

    def _free_name(self, info: PluginInfo) -> str:
        taken = {known.name for known in self.plugins}
        return next(name for n in range(2, 1000) if (name := f"{info.name} ({n})") not in taken)

    def _found(self) -> Iterator[Found]:
        return find_plugins(self.safe_mode)

    def _load_one(self, info: PluginInfo) -> None:
        """Import one plugin; a guest in a thread of its own, for which we wait up to the limit."""
        if info.name in self._disabled:
            info.fail("Turned off in the settings.", "disabled")
            self._tell(info)
            return
        ticket = self._tickets[info.name] = object()
        info.fail("Loading.", "loading")
        self._tell(info)
        if info.source == "built-in":
            self._import(info, ticket)
            return
        done = threading.Event()

        def work() -> None:
            self._inside.add(threading.get_ident())
            try:
                self._import(info, ticket)
            finally:
                self._inside.discard(threading.get_ident())
                done.set()

        threading.Thread(target=work, name=f"plugin {info.name}", daemon=True).start()
        if not done.wait(self._limit):
            with self._lock:
                if info.state == "loading":
                    info.message = f"Still loading after {self._limit:g} s. Plaidwork goes on without it."
                    info.load_seconds = self._limit
                    _log.warning("The plugin %s: %s", info.title, info.message)
            self._tell(info)

    def _import(self, info: PluginInfo, ticket: object) -> None:
        started = time.perf_counter()
        contributions: Contributions | None = None
        failure: BaseException | None = None
        module: Any = None
        try:
            if info.source != "built-in":
                trial.survive(info, self._limit)
            module = self._loaders[info.name]()
            complete(info, module)
            contributions = collect(info, module)
        except (
            BaseException
        ) as error:  # SystemExit, KeyboardInterrupt and the like are the plugin's in this thread
            failure = error
        with self._lock:
            if self._tickets.get(info.name) is not ticket:
                return  # turned off, or loaded again, while the import went on
            info.load_seconds = time.perf_counter() - started
            try:
                if failure is None and contributions is not None:
                    self._adopt(info, module, contributions)
            except BaseException as error:
                failure = error
            if failure is not None:
                self._fail(info, failure)
        _log.info("plugin %s: %s after %.3f s %s", info.title, info.state, info.load_seconds, info.message)
        self._tell(info)

    def _adopt(self, info: PluginInfo, module: Any, contributions: Contributions) -> None:
        """All or nothing: a plugin that fails half-way leaves nothing behind."""
        self._catalogue.check(contributions, self.plugins)
        self._manager.register(module, name=info.name)
        self._catalogue.put(info, contributions)
        things: tuple[Any, ...] = (*contributions.models.values(), *contributions.analyses.values())
        info.version = info.version or next((thing.spec.version for thing in things), "")
        info.fail("", "ok")

    def _fail(self, info: PluginInfo, failure: BaseException) -> None:
        sentence = incompatible_import(failure)
        if sentence:
            failure = Incompatible(
                sentence, "Update Plaidwork, or use an older version of the plugin.", hook="import"
            )
        hook = getattr(failure, "plaidwork_hook", "") or "import"
        wrapped = plugin_error(info, hook, failure)
        fault: PluginFault = wrapped.fault
        called = {"import": "Could not be imported", "": "Failed"}.get(fault.hook, f"{fault.hook}() failed")
        if isinstance(failure, Incompatible):
            message = f"{failure.message}."
        else:
            message = f"{called}: {fault.error}{f' ({fault.frame})' if fault.frame else ''}."
        if isinstance(failure, PluginError) and failure.hint:
            message = f"{message} {failure.hint}"
        report = f"{fault.report}\n\n{failure.report}" if isinstance(failure, trial.Deadly) else fault.report
        info.fail(message, "incompatible" if isinstance(failure, Incompatible) else "failed", report.strip())

    def listed(self) -> list[str]:
        """Names of all plugins there are, without importing one."""
        found = [info.name for info, _ in self._found()]
        return list(dict.fromkeys([*found, *(info.name for info in self.plugins)]))

    # -- news -----------------------------------------------------------------------------------
    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener whenever a plugin changes its state; the result ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _tell(self, info: PluginInfo) -> None:
        for listener in list(self._listeners):
            try:
                listener(info)
            except Exception:  # a listener that has gone (a window that was closed) must not end the loading
                _log.debug("a listener failed", exc_info=True)
                if listener in self._listeners:
                    self._listeners.remove(listener)

    # -- switches -------------------------------------------------------------------------------
    def plugin(self, name: str) -> PluginInfo:
        """The plugin of that name. Raises ``SettingError`` when there is none."""
        self.load()
        for info in self.plugins:
            if info.name == name:
                return info
        known = [info.name for info in self.plugins]
        near = difflib.get_close_matches(name, known, n=1)
        raise SettingError(
            f"There is no plugin “{name}”.",
            f"Did you mean “{near[0]}”?" if near else f"There are: {', '.join(known) or 'none'}.",
        )

    def disable(self, name: str) -> PluginInfo:
        """Turn a plugin off, now and for the next starts. Runs under way keep their model; sessions stay readable.

        Raises ``SettingError`` when the choice cannot be written (it holds for this process then).
        """
        info = self._listed(name)
        with self._lock:
            self._disabled |= {name}
            self._tickets.pop(name, None)
            self._take_out(info)
            info.fail("Turned off in the settings.", "disabled", info.details)
        self._tell(info)
        switches.remember(name, on=False)
        return info

    def enable(self, name: str) -> PluginInfo:
        """Turn a plugin on and load it; returns when that is done or the limit is over, so not on the GUI thread.

        Raises ``SettingError`` when the choice cannot be written.
        """
        info = self._listed(name)
        self._disabled -= {name}
        trial.forget(name)
        if info.state not in ("ok", "loading"):
            self._load_again(info)
        switches.remember(name, on=True)
        return info

    def reload(self, name: str) -> PluginInfo:
        """Import a plugin afresh (for who writes it); returns when that is done or the limit is over."""
        info = self._listed(name)
        with self._lock:
            self._tickets.pop(name, None)
            self._take_out(info)
        drop_modules(info)
        trial.forget(name)
        self._load_again(info)
        return info

    def forget(self, name: str) -> None:
        """Take a plugin off the list, because it was uninstalled or replaced; ``rescan`` finds what came instead."""
        info = self._listed(name)
        with self._lock:
            self._tickets.pop(name, None)
            self._take_out(info)
            self._loaders.pop(name, None)
            self.plugins.remove(info)
        drop_modules(info)

    def rescan(self) -> list[PluginInfo]:
        """Look for plugins that were added since; loads and returns them. Not on the GUI thread."""
        self.load()
        importlib.invalidate_caches()
        known = {(info.name, info.module) for info in self.plugins}
        fresh = [pair for pair in self._found() if (pair[0].name, pair[0].module) not in known]
        new = self._list_new(iter(fresh))
        for info in new:
            self._load_one(info)
        return new

    def leave_safe_mode(self) -> list[PluginInfo]:
        """Load the added plugins after all. Not on the GUI thread."""
        self.safe_mode = False
        return self.rescan()

    def plugin_folder(self) -> Path:
        """The user's plugin folder (not created)."""
        return folders.plugin_folder()

    def _listed(self, name: str) -> PluginInfo:
        info = next((info for info in self.plugins if info.name == name), None)
        return info or self.plugin(name)

    def _load_again(self, info: PluginInfo) -> None:
        if info.name not in self._loaders:
            return  # its name is taken by another one
        was_inside = threading.get_ident() in self._inside
        self._inside.add(threading.get_ident())
        try:
            self._load_one(info)
        finally:
            if not was_inside:
                self._inside.discard(threading.get_ident())

    def _take_out(self, info: PluginInfo) -> None:
        self._catalogue.take_out(info)
        if self._manager.has_plugin(info.name):
            self._manager.unregister(name=info.name)
