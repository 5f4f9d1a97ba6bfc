"""What the hooks of one plugin return, checked before any of it is used."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from plaidwork.core.contract import hookspecs
from plaidwork.core.contract.metric import Metric
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_info import PluginInfo, passes, plugin_error
from plaidwork.core.contract.spec import API_VERSION, ModelSpec
from plaidwork.core.contract.views import PictureFactory, ViewFactory
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import Preview, Reader
from plaidwork.core.data.samples import Sample
from plaidwork.core.errors import PluginError
from plaidwork.core.findings.analysis import Analysis, AnalysisSpec

HOOKS = tuple(sorted(name for name in dir(hookspecs) if name.startswith("plaidwork_")))


class Incompatible(PluginError):
    """A plugin for another version of the plugin interface."""


@dataclass
class Contributions:
    """What one plugin brings, by id."""

    models: dict[str, type[Model]] = field(default_factory=dict)
    analyses: dict[str, type[Analysis]] = field(default_factory=dict)
    views: dict[str, PictureFactory | ViewFactory] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)


def collect(info: PluginInfo, module: Any) -> Contributions:
    """Call all hooks of a plugin. Raises ``PluginError`` with ``hook`` set, ``Incompatible``, or what a hook raises."""
    _check_hook_names(module)
    found = {name: _call(module, name) for name in HOOKS if hasattr(module, name)}
    contributions = Contributions()
    _models(info, found.get("plaidwork_models", []), contributions)
    _analyses(info, found.get("plaidwork_analyses", []), contributions)
    for item in found.get("plaidwork_views", []):
        if not isinstance(item, PictureFactory | ViewFactory):
            _wrong("plaidwork_views", f"{_shown(item)} is neither a PictureFactory nor a ViewFactory")
        _add(contributions.views, item.id, item, "view factory", "plaidwork_views")
    for item in found.get("plaidwork_readers", []):
        _check_reader(item)
        _add(contributions.readers, item.id, GuardedReader(info, item), "reader", "plaidwork_readers")
    for item in found.get("plaidwork_samples", []):
        if not isinstance(item, Sample):
            _wrong("plaidwork_samples", f"{_shown(item)} is not a Sample")
        _add(contributions.samples, item.id, item, "example", "plaidwork_samples")
    for item in found.get("plaidwork_metrics", []):
        if not isinstance(item, Metric):
            _wrong("plaidwork_metrics", f"{_shown(item)} is not a Metric")
        _add(contributions.metrics, item.key, item, "metric", "plaidwork_metrics")
    return contributions


def _check_hook_names(module: Any) -> None:
    for name in dir(module):
        if name.startswith("plaidwork_") and name not in HOOKS:
            near = difflib.get_close_matches(name, HOOKS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known hooks: {', '.join(HOOKS)}."
            raise PluginError(f"Unknown hook {name}. {hint}", hook=name)
        if name in HOOKS and not callable(getattr(module, name)):
            _wrong(name, "it is not a function")


def _call(module: Any, name: str) -> list[Any]:
    """What a hook returns. Raises ``PluginError`` when that is no list."""
    try:
        found = getattr(module, name)()
        if not isinstance(found, (list, tuple)):
            _wrong(name, f"it returned {type(found).__name__}", "A hook returns a list.")
        return list(found)
    except PluginError:
        raise
    except BaseException as error:
        _in_hook(error, name)
        raise


def _in_hook(error: BaseException, hook: str) -> None:
    """Note at which hook an exception came."""
    try:
        error.plaidwork_hook = hook  # type: ignore[attr-defined]
    except Exception:
        return


def _models(info: PluginInfo, found: list[Any], contributions: Contributions) -> None:
    hook = "plaidwork_models"
    for item in found:
        model = _imported(item, hook)
        spec = getattr(model, "spec", None)
        if not (isinstance(spec, ModelSpec) and isinstance(model, type) and issubclass(model, Model)):
            _wrong(hook, f"{_shown(model)} is not a Model with a ModelSpec")
        _check_api(info, spec)
        if missing := model.lacks():
            _wrong(hook, f"{spec.title} has no method {', '.join(missing)}")
        _add(contributions.models, spec.id, model, "model", hook)


def _analyses(info: PluginInfo, found: list[Any], contributions: Contributions) -> None:
    hook = "plaidwork_analyses"
    for item in found:
        analysis = _imported(item, hook)
        spec = getattr(analysis, "spec", None)
        fits = isinstance(analysis, type) and issubclass(analysis, Analysis)
        if not (fits and isinstance(spec, AnalysisSpec)):
            _wrong(hook, f"{_shown(analysis)} is not an Analysis with an AnalysisSpec")
        _check_api(info, spec)
        if getattr(analysis, "__abstractmethods__", ()):
            _wrong(hook, f"{spec.title} has no method run")
        _add(contributions.analyses, spec.id, analysis, "analysis", hook)


def _add(into: dict[str, Any], id: str, thing: Any, what: str, hook: str) -> None:
    if id in into:
        _wrong(hook, f"the {what} id “{id}” is already taken", "It is there twice. Rename one of the two.")
    into[id] = thing


def _check_api(info: PluginInfo, spec: ModelSpec | AnalysisSpec) -> None:
    info.api = max(info.api or spec.api, spec.api)
    if spec.api[0] != API_VERSION[0] or spec.api[1] > API_VERSION[1]:
        info.api = spec.api
        raise Incompatible(
            f"{spec.title} was made for plugin API {spec.api[0]}.{spec.api[1]}, "
            f"this is API {API_VERSION[0]}.{API_VERSION[1]}"
        )


def incompatible_import(error: BaseException) -> str:
    """The sentence for an import that fails because our interface lacks a name or an extension; else empty."""
    module = (error.name or "") if isinstance(error, ImportError) else ""
    if not re.fullmatch(r"plaidwork\.core\.api(_\w+)?", module):
        return ""
    version = f"API {API_VERSION[0]}.{API_VERSION[1]}"
    if isinstance(error, ModuleNotFoundError):
        return f"It needs {module}, which {version} does not have"
    named = re.search(r"cannot import name '(\w+)'", str(error))
    missing = f"“{named[1]}”" if named else "a name"
    return f"It needs {missing} of {module}, which {version} does not have"


def _imported(item: Any, hook: str) -> Any:
    if not isinstance(item, str):
        return item
    module, _, name = item.partition(":")
    try:
        found = getattr(importlib.import_module(module), name, None) if name else None
    except BaseException as error:
        _in_hook(error, hook)
        raise
    if found is None:
        _wrong(hook, f"{module} has no class {name}" if name else f"“{item}” is not “module:Class”")
    return found


def _check_reader(item: Any) -> None:
    hook = "plaidwork_readers"
    for name in ("preview", "read"):
        if not callable(getattr(item, name, None)):
            _wrong(hook, f"{_shown(item)} has no method {name}, so it is not a Reader")
    suffixes = getattr(item, "suffixes", None)
    texts = (getattr(item, "id", None), getattr(item, "title", None))
    if not (
        all(isinstance(text, str) and text for text in texts) and isinstance(suffixes, tuple) and suffixes
    ):
        _wrong(hook, f"{_shown(item)} needs an id, a title and a tuple of suffixes")
    if not all(isinstance(suffix, str) and suffix.startswith(".") for suffix in suffixes):
        _wrong(hook, f"the suffixes of {item.title} must be texts that start with a dot")


class GuardedReader:
    """A reader of a plugin: what it raises besides ``DataError`` names the plugin."""

    def __init__(self, info: PluginInfo, reader: Reader) -> None:
        self._info, self._reader = info, reader
        self.id, self.title, self.suffixes = reader.id, reader.title, reader.suffixes

    def preview(self, path: Any, options: Mapping[str, Any]) -> Preview:
        return self._do("preview", Preview, path, options)

    def read(self, path: Any, options: Mapping[str, Any], progress: Any = None) -> Dataset:
        if progress is None:
            return self._do("read", Dataset, path, options, None)
        ours: list[BaseException] = []

        def watched(*share: Any) -> Any:
            try:
                return progress(*share)
            except BaseException as error:  # the user cancelled: not the plugin's doing
                ours.append(error)
                raise

        try:
            return self._do("read", Dataset, path, options, watched, ours=ours)
        except BaseException as error:
            raise (ours[0] if ours else error) from None if ours else error.__cause__

    def _do(self, method: str, kind: type, *arguments: Any, ours: Sequence[BaseException] = ()) -> Any:
        try:
            found = getattr(self._reader, method)(*arguments)
            if not isinstance(found, kind):
                _wrong(method, f"it returned {type(found).__name__}, not a {kind.__name__}")
        except BaseException as error:
            if ours or passes(error):
                raise
            hint = "This is an error in the plugin; the file may be sound."
            raise plugin_error(self._info, method, error, hint) from error
        return found


def _wrong(hook: str, message: str, hint: str = "") -> NoReturn:
    raise PluginError(message, hint, hook=hook)


def _shown(thing: Any) -> str:
    """A value in a message; never raises."""
    try:
        return repr(thing)[:120]
    except BaseException:
        return f"a {type(thing).__name__}"
