"""All plugins of this process: found, loaded one by one, kept apart, turned on and off."""

from __future__ import annotations

import difflib
import importlib
import logging
import os
import pkgutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from plaidwork.core import __version__, hookspecs
from plaidwork.core.analysis import Analysis, AnalysisSpec
from plaidwork.core.errors import PluginError, SessionError, SettingError
from plaidwork.core.importers import Reader
from plaidwork.core.metric import Metric
from plaidwork.core.model import Model
from plaidwork.core.new_samples import SUFFIX, new_samples
from plaidwork.core.plugins import folder as folders
from plaidwork.core.plugins import switches
from plaidwork.core.plugins.brought import Brought, Incompatible, collect, incompatible_import
from plaidwork.core.plugins.fault import PluginFault
from plaidwork.core.plugins.info import PluginInfo, blamed, owner_of, plugin_error, set_owner
from plaidwork.core.samples import Sample, bundled_samples
from plaidwork.core.spec import ModelSpec
from plaidwork.core.views import ViewFactory

if TYPE_CHECKING:
    from plaidwork.core.run import Run

__all__ = ["PluginFault", "PluginInfo", "Registry", "registry"]

GROUP = folders.GROUP
LOAD_SECONDS = 10.0
"""Longest wait for the import of one plugin; it may still come later. ``PLAIDWORK_PLUGIN_SECONDS`` changes it."""

_log = logging.getLogger("plaidwork.plugins")

Told = Callable[[PluginInfo], None]
"""Called when a plugin has changed its state, in whatever thread that happens; must be quick and not raise."""


class Registry:
    """All plugins and what they bring.

    Built-in plugins are the packages in ``plaidwork.plugins``; others are entry points of the group ``plaidwork`` and
    what lies in plugin folders. All go through the same hooks. They are imported in a thread, one by one; one that
    takes longer than ``limit`` is left behind (state *loading*), and joins the others when it is done after all.

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
        self._models: dict[str, type[Model]] = {}
        self._analyses: dict[str, type[Analysis]] = {}
        self._views: dict[str, ViewFactory] = {}
        self._readers: dict[str, Reader] = {}
        self._samples: dict[str, Sample] = {}
        self._metrics: dict[str, Metric] = {}
        self._loaders: dict[str, Callable[[], Any]] = {}
        self._tickets: dict[str, object] = {}
        self._told: list[Told] = []
        self._lock = threading.RLock()
        self._loading: threading.Thread | None = None
        self._inside: set[int] = set()
        self._basics, self._settled = threading.Event(), threading.Event()
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)

    # -- loading --------------------------------------------------------------------------------
    def start(self) -> Registry:
        """Begin to load in a thread; later calls do nothing."""
        with self._lock:
            if self._loading is None:
                self._loading = threading.Thread(target=self._load_all, name="plugins", daemon=True)
                self._loading.start()
        return self

    def load(self) -> Registry:
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

    def ready(self) -> Registry:
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

    def _list_new(self, found: Iterator[tuple[PluginInfo, Callable[[], Any]]]) -> list[PluginInfo]:
        """Put what was found on the list; a name that is there already fails without being imported."""
        new: list[PluginInfo] = []
        for info, loader in _as_far_as_possible(found):
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

    def _found(self) -> Iterator[tuple[PluginInfo, Callable[[], Any]]]:
        from plaidwork import plugins

        for module in pkgutil.iter_modules(plugins.__path__):
            path = f"plaidwork.plugins.{module.name}"
            info = PluginInfo(module.name, path, "built-in", __version__, licence="BSD-3-Clause")
            info.path = Path(next(iter(plugins.__path__))) / module.name
            yield info, partial(importlib.import_module, path)
        if not self.safe_mode:
            yield from self._guests(plugins.__name__)

    def _guests(self, built_in: str) -> Iterator[tuple[PluginInfo, Callable[[], Any]]]:
        places = folders.plugin_folders()
        # asked for before the folders are on the path, or what is in them would be found twice
        try:
            installed = list(entry_points(group=GROUP))
        except Exception:  # one distribution with damaged metadata is enough
            installed = folders.each_installed()
        for point in sorted(installed, key=lambda point: point.name):
            if not (point.value.startswith(f"{built_in}.") or _lies_in(point, places)):
                yield folders.info_of(point, "installed"), point.load
        yield from folders.in_folders(places)

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
        brought: Brought | None = None
        failure: BaseException | None = None
        module: Any = None
        try:
            module = self._loaders[info.name]()
            if not info.version:
                info.version = _text(module, "__version__")
            info.licence = info.licence or _text(module, "__license__")
            info.path = info.path or _path_of(module)
            brought = collect(info, module)
        except (
            BaseException
        ) as error:  # SystemExit, KeyboardInterrupt and the like are the plugin's in this thread
            failure = error
        with self._lock:
            if self._tickets.get(info.name) is not ticket:
                return  # turned off, or loaded again, while the import went on
            info.load_seconds = time.perf_counter() - started
            try:
                if failure is None and brought is not None:
                    self._adopt(info, module, brought)
            except BaseException as error:
                failure = error
            if failure is not None:
                self._fail(info, failure)
        _log.info("plugin %s: %s after %.3f s %s", info.title, info.state, info.load_seconds, info.message)
        self._tell(info)

    def _adopt(self, info: PluginInfo, module: Any, brought: Brought) -> None:
        """All or nothing: a plugin that fails half-way leaves nothing behind."""
        for kind, hook, own, taken in (
            ("model", "plaidwork_models", brought.models, self._models),
            ("analysis", "plaidwork_analyses", brought.analyses, self._analyses),
            ("view factory", "plaidwork_views", brought.views, self._views),
            ("reader", "plaidwork_readers", brought.readers, self._readers),
            ("example", "plaidwork_samples", brought.samples, self._samples),
            ("metric", "plaidwork_metrics", brought.metrics, self._metrics),
        ):
            for id in own:
                if id in taken:
                    owner = self._owner(kind, id)
                    whose = f" by the plugin {owner.title}" if owner else ""
                    raise PluginError(
                        f"the {kind} id “{id}” is already taken{whose}", "Rename one of the two.", hook=hook
                    )
        self._manager.register(module, name=info.name)
        for thing in (*brought.models.values(), *brought.analyses.values(), *brought.views.values()):
            set_owner(thing, info)
        self._models.update(brought.models)
        self._analyses.update(brought.analyses)
        self._views.update(brought.views)
        self._readers.update(brought.readers)
        self._samples.update(brought.samples)
        self._metrics.update(brought.metrics)
        info.models, info.analyses, info.views = (
            list(brought.models),
            list(brought.analyses),
            list(brought.views),
        )
        info.readers, info.samples = list(brought.readers), list(brought.samples)
        info.metrics = list(brought.metrics)
        things: tuple[Any, ...] = (*brought.models.values(), *brought.analyses.values())
        info.version = info.version or next((thing.spec.version for thing in things), "")
        info.fail("", "ok")

    def _fail(self, info: PluginInfo, failure: BaseException) -> None:
        sentence = incompatible_import(failure)
        if sentence:
            failure = Incompatible(
                sentence, "Update Plaidwork, or use an older version of the plugin.", hook="import"
            )
        hook = getattr(failure, "plaidwork_hook", "") or "import"
        told = plugin_error(info, hook, failure)
        fault: PluginFault = told.fault
        called = {"import": "Could not be imported", "": "Failed"}.get(fault.hook, f"{fault.hook}() failed")
        if isinstance(failure, Incompatible):
            message = f"{failure.message}."
        else:
            message = f"{called}: {fault.error}{f' ({fault.frame})' if fault.frame else ''}."
        if isinstance(failure, PluginError) and failure.hint:
            message = f"{message} {failure.hint}"
        info.fail(message, "incompatible" if isinstance(failure, Incompatible) else "failed", fault.report)

    def listed(self) -> list[str]:
        """Names of all plugins there are, without importing one."""
        found = [info.name for info, _ in _as_far_as_possible(self._found())]
        return list(dict.fromkeys([*found, *(info.name for info in self.plugins)]))

    # -- news -----------------------------------------------------------------------------------
    def subscribe(self, told: Told) -> Callable[[], None]:
        """Be told whenever a plugin changes its state; the result ends it."""
        self._told.append(told)
        return lambda: self._told.remove(told) if told in self._told else None

    def _tell(self, info: PluginInfo) -> None:
        for told in list(self._told):
            try:
                told(info)
            except Exception:  # a listener that has gone (a window that was closed) must not end the loading
                _log.debug("a listener failed", exc_info=True)
                if told in self._told:
                    self._told.remove(told)

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
        _drop_modules(info)
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
        _drop_modules(info)

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
        known: dict[str, Any]
        for own, known in (
            (info.models, self._models),
            (info.analyses, self._analyses),
            (info.views, self._views),
            (info.readers, self._readers),
            (info.samples, self._samples),
            (info.metrics, self._metrics),
        ):
            for id in own:
                known.pop(id, None)
            own.clear()
        if self._manager.has_plugin(info.name):
            self._manager.unregister(name=info.name)

    # -- what plugins bring ---------------------------------------------------------------------
    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Everything that plugins did wrong in this process, by plugin."""
        return tuple(fault for info in self.plugins for fault in info.faults)

    def plugin_of(self, model: str | Model | type[Model]) -> PluginInfo | None:
        """The plugin that brings a model (its id, class or an instance); None when none does."""
        if isinstance(model, str):
            return next((info for info in self.plugins if model in info.models), None)
        info = owner_of(model)
        return info if info in self.plugins else None

    def _owner(self, kind: str, id: str) -> PluginInfo | None:
        field = {"model": "models", "analysis": "analyses", "view factory": "views", "reader": "readers",
                 "metric": "metrics"}  # fmt: skip
        return next((info for info in self.plugins if id in getattr(info, field.get(kind, "samples"))), None)

    @property
    def readers(self) -> tuple[Reader, ...]:
        """Readers that plugins bring (the built-in formats apart)."""
        return tuple(self.ready()._readers.values())

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics that plugins bring for ranking the fits of a study."""
        return tuple(self.ready()._metrics.values())

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Bundled examples and those of plugins."""
        return (*bundled_samples(), *self.ready()._samples.values())

    def specs(self) -> tuple[ModelSpec, ...]:
        """All models, by title."""
        models = list(self.ready()._models.values())
        return tuple(sorted((model.spec for model in models), key=lambda spec: spec.title))

    def model(self, model_id: str) -> Model:
        """An instance of the model.

        Raises ``SessionError`` when it is not installed, ``PluginError`` when it cannot be made.
        """
        found = self._lookup(self._models, model_id)
        if found is None:
            raise self._missing("model", model_id, self._models)
        with blamed(found, "__init__"):
            return found()

    def _lookup(self, known: dict[str, Any], id: str) -> Any:
        found = self.ready() and known.get(id)
        if found is None and threading.current_thread() is not threading.main_thread():
            self.load()  # a worker may wait for a plugin that is still being loaded
            found = known.get(id)
        return found

    def _missing(self, what: str, id: str, known: dict[str, Any]) -> SessionError:
        late = [info.name for info in self.plugins if info.state == "loading"]
        near = difflib.get_close_matches(id, known, n=1)
        if late:
            hint = f"Still being loaded: {', '.join(late)}."
        elif near:
            hint = f"Did you mean “{near[0]}”?"
        else:
            hint = f"Installed: {', '.join(sorted(known)) or 'none'}."
        left = [info.name for info in self.plugins if info.state in ("failed", "incompatible", "disabled")]
        if left:
            hint += f" Plugins that are not loaded: {', '.join(left)}."
        return SessionError(f"The {what} “{id}” is not installed.", hint)

    def has(self, model_id: str) -> bool:
        return model_id in self.ready()._models

    def analyses_for(self, run: Run) -> tuple[AnalysisSpec, ...]:
        """Analyses that the run has all for, by title."""
        specs = [analysis.spec for analysis in list(self.ready()._analyses.values())]
        model = self._models.get(run.spec.id)
        if model is not None and model.offers("predict") and run.n_draws:
            specs.append(new_samples(model).spec)
        return tuple(sorted((spec for spec in specs if not spec.missing(run)), key=lambda spec: spec.title))

    def analysis(self, analysis_id: str) -> Analysis:
        """An instance of the analysis.

        Raises ``SessionError`` when it is not installed, ``PluginError`` when it cannot be made.
        """
        found = self._lookup(self._analyses, analysis_id)
        if found is None and analysis_id.endswith(SUFFIX):
            model = self._lookup(self._models, analysis_id.removesuffix(SUFFIX))
            if model is not None and model.offers("predict"):
                found = new_samples(model)
                owner = self.plugin_of(model)
                if owner is not None:
                    set_owner(found, owner)
        if found is None:
            raise self._missing("analysis", analysis_id, self._analyses)
        with blamed(found, "__init__"):
            return found()

    def view_factory(self, factory_id: str) -> ViewFactory | None:
        """The custom view of that id; None when no plugin brings it."""
        return self.ready()._views.get(factory_id)


def _as_far_as_possible(found: Iterator[Any]) -> Iterator[Any]:
    """All that can be listed: a folder that cannot be read must not cost the plugins before it."""
    try:
        yield from found
    except Exception as error:
        _log.warning("Not all plugins could be listed: %s", error)


def _lies_in(point: Any, places: list[Path]) -> bool:
    """Whether an entry point belongs to a distribution in one of the plugin folders."""
    if point.dist is None or not places:
        return False
    return Path(str(point.dist.locate_file(""))).resolve() in places


def _drop_modules(info: PluginInfo) -> None:
    """Let the next import of a plugin read its files again; the built-in ones stay."""
    if info.source != "built-in":
        for module in [module for module in sys.modules if _belongs(module, info.prefixes)]:
            del sys.modules[module]
    importlib.invalidate_caches()


def _belongs(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def _text(module: Any, name: str) -> str:
    found = getattr(module, name, "")
    return found if isinstance(found, str) else ""


def _path_of(module: Any) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file) if isinstance(file, str) else None


_shared: Registry | None = None


def registry() -> Registry:
    """The registry of this process, with every plugin that is installed and not turned off."""
    global _shared
    if _shared is None:
        _shared = Registry()
    return _shared
