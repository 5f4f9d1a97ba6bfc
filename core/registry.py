"""Finds the plugins, loads each on its own, and keeps the reason when one fails."""

from __future__ import annotations

import importlib
import pkgutil
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

import pluggy

from plaidwork.core import hookspecs
from plaidwork.core.analysis import Analysis, AnalysisSpec
from plaidwork.core.errors import PluginError, SessionError
from plaidwork.core.importers import Reader
from plaidwork.core.model import Model
from plaidwork.core.samples import Sample, bundled_samples
from plaidwork.core.spec import API_VERSION, ModelSpec

if TYPE_CHECKING:
    from plaidwork.core.run import Run

GROUP = "plaidwork"
_HOOKS = tuple(sorted(name for name in dir(hookspecs) if name.startswith("plaidwork_")))


@dataclass
class PluginInfo:
    """A plugin as found: ``state`` is ok, disabled, failed or incompatible; ``message`` says why."""

    name: str
    module: str
    source: str
    version: str = ""
    state: str = "ok"
    message: str = ""
    details: str = ""
    load_seconds: float = 0.0
    models: list[str] = field(default_factory=list)

    def fail(self, message: str, state: str = "failed") -> None:
        """Mark as not usable, with the traceback of the exception being handled, if any."""
        self.state, self.message = state, message
        self.details = traceback.format_exc() if _in_exception() else ""


def _in_exception() -> bool:
    import sys

    return sys.exc_info()[0] is not None


class Registry:
    """All plugins and what they bring. Loading takes a second (Numba); the window does it in a thread.

    Built-in plugins are the packages in ``plaidwork.plugins``; guests are found by entry points of the group
    ``plaidwork``. Both go through the same hooks.
    """

    def __init__(self, disabled: frozenset[str] = frozenset(), safe_mode: bool = False) -> None:
        self.plugins: list[PluginInfo] = []
        self._models: dict[str, type[Model]] = {}
        self._analyses: dict[str, type[Analysis]] = {}
        self._readers: list[Reader] = []
        self._samples: list[Sample] = []
        self._disabled = disabled
        self._safe_mode = safe_mode
        self._loaded = False
        self._lock = threading.Lock()
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)

    def load(self) -> Registry:
        """Load everything once; later calls return at once."""
        with self._lock:
            if not self._loaded:
                for info, loader in self._found():
                    self._load_plugin(info, loader)
                self._loaded = True
        return self

    def _found(self) -> Iterator[tuple[PluginInfo, Any]]:
        from plaidwork import plugins

        for module in pkgutil.iter_modules(plugins.__path__):
            path = f"plaidwork.plugins.{module.name}"
            yield PluginInfo(module.name, path, "built-in"), lambda path=path: importlib.import_module(path)
        if self._safe_mode:
            return
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
            if point.value.startswith(f"{plugins.__name__}."):
                continue  # a built-in, found above; its entry point is there for other tools
            yield _guest(point), point.load

    def _load_plugin(self, info: PluginInfo, loader: Any) -> None:
        self.plugins.append(info)
        if info.name in self._disabled:
            info.state, info.message = "disabled", "Turned off in the settings."
            return
        started = time.perf_counter()
        try:
            module = loader()
            self._check_hook_names(module)
            found = {name: _call(module, name) for name in _HOOKS if hasattr(module, name)}
            models = self._checked_models(found.get("plaidwork_models", []))
            analyses = self._checked_analyses(found.get("plaidwork_analyses", []))
            self._manager.register(module, name=info.name)
        except _Incompatible as error:
            info.fail(str(error), "incompatible")
        except PluginError as error:
            info.fail(str(error))
        except (Exception, SystemExit) as error:  # whatever a guest does, the program goes on
            info.fail(f"{type(error).__name__}: {error}")
        else:  # all or nothing: a plugin that failed half-way leaves nothing behind
            self._models.update(models)
            self._analyses.update(analyses)
            self._readers.extend(found.get("plaidwork_readers", []))
            self._samples.extend(found.get("plaidwork_samples", []))
            info.models = list(models)
            brought: tuple[Any, ...] = (*models.values(), *analyses.values())
            info.version = info.version or next((thing.spec.version for thing in brought), "")
        info.load_seconds = time.perf_counter() - started

    def _check_hook_names(self, module: Any) -> None:
        unknown = [name for name in dir(module) if name.startswith("plaidwork_") and name not in _HOOKS]
        if unknown:
            raise PluginError(f"Unknown hook {unknown[0]}.", f"Known hooks: {', '.join(_HOOKS)}.")

    def _checked_models(self, found: list[Any]) -> dict[str, type[Model]]:
        models: dict[str, type[Model]] = {}
        for item in found:
            model = _import_class(item) if isinstance(item, str) else item
            spec = getattr(model, "spec", None)
            if not (isinstance(spec, ModelSpec) and isinstance(model, type) and issubclass(model, Model)):
                raise PluginError(f"{model!r} is not a Model with a ModelSpec.")
            _check_api(spec)
            if spec.id in self._models or spec.id in models:
                raise PluginError(
                    f"The model id “{spec.id}” is already taken.", "Rename one of the two models."
                )
            if missing := getattr(model, "__abstractmethods__", ()):
                raise PluginError(f"{spec.title} has no method {', '.join(sorted(missing))}.")
            models[spec.id] = model
        return models

    def _checked_analyses(self, found: list[Any]) -> dict[str, type[Analysis]]:
        analyses: dict[str, type[Analysis]] = {}
        for item in found:
            analysis: Any = _import_class(item) if isinstance(item, str) else item
            spec = getattr(analysis, "spec", None)
            fits = isinstance(analysis, type) and issubclass(analysis, Analysis)
            if not (fits and isinstance(spec, AnalysisSpec)):
                raise PluginError(f"{analysis!r} is not an Analysis with an AnalysisSpec.")
            _check_api(spec)
            if spec.id in self._analyses or spec.id in analyses:
                raise PluginError(
                    f"The analysis id “{spec.id}” is already taken.", "Rename one of the two analyses."
                )
            if getattr(analysis, "__abstractmethods__", ()):
                raise PluginError(f"{spec.title} has no method run.")
            analyses[spec.id] = analysis
        return analyses

    @property
    def readers(self) -> tuple[Reader, ...]:
        """Readers that plugins bring (the built-in formats apart)."""
        return tuple(self.load()._readers)

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Bundled examples and those of plugins."""
        return (*bundled_samples(), *self.load()._samples)

    def specs(self) -> tuple[ModelSpec, ...]:
        """All models, by title."""
        return tuple(sorted((m.spec for m in self.load()._models.values()), key=lambda spec: spec.title))

    def model(self, model_id: str) -> Model:
        """An instance of the model. Raises ``SessionError`` when it is not installed."""
        found = self.load()._models.get(model_id)
        if found is None:
            import difflib

            near = difflib.get_close_matches(model_id, self._models, n=1)
            hint = f"Did you mean “{near[0]}”?" if near else f"Installed: {', '.join(sorted(self._models))}."
            raise SessionError(f"The model “{model_id}” is not installed.", hint)
        return found()

    def has(self, model_id: str) -> bool:
        return model_id in self.load()._models

    def analyses_for(self, run: Run) -> tuple[AnalysisSpec, ...]:
        """Analyses that the run has all for, by title."""
        specs = (analysis.spec for analysis in self.load()._analyses.values())
        return tuple(sorted((spec for spec in specs if not spec.missing(run)), key=lambda spec: spec.title))

    def analysis(self, analysis_id: str) -> Analysis:
        """An instance of the analysis. Raises ``SessionError`` when it is not installed."""
        found = self.load()._analyses.get(analysis_id)
        if found is None:
            known = ", ".join(sorted(self._analyses)) or "none"
            raise SessionError(f"The analysis “{analysis_id}” is not installed.", f"Installed: {known}.")
        return found()


class _Incompatible(PluginError):
    """A plugin for another version of the plugin interface."""


def _check_api(spec: ModelSpec | AnalysisSpec) -> None:
    if spec.api[0] != API_VERSION[0] or spec.api[1] > API_VERSION[1]:
        raise _Incompatible(
            f"{spec.title} was made for plugin API {spec.api[0]}.{spec.api[1]}, "
            f"this is API {API_VERSION[0]}.{API_VERSION[1]}."
        )


def _call(module: Any, name: str) -> list[Any]:
    """What a hook returns. Raises ``PluginError`` naming the hook."""
    found = getattr(module, name)()
    if not isinstance(found, (list, tuple)):
        raise PluginError(f"{name} returned {type(found).__name__}.", "It must return a list.")
    return list(found)


def _guest(point: EntryPoint) -> PluginInfo:
    version = point.dist.version if point.dist else ""
    return PluginInfo(point.name, point.value, point.dist.name if point.dist else "installed", version)


def _import_class(path: str) -> Any:
    module, _, name = path.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        raise PluginError(f"{module} has no class {name}.")
    return found


_shared: Registry | None = None


def registry() -> Registry:
    """The registry of this process, with every plugin that is installed and not turned off."""
    global _shared
    if _shared is None:
        _shared = Registry()
    return _shared
