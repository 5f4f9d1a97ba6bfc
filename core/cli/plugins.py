"""The command ``plugin``: list what is installed, and check a model against the contract.

``new``, ``install`` and ``uninstall`` are in ``plugin_folder``.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from plaidwork.core.cli.printing import tell, tell_json, warn
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import ModelError, SettingError
from plaidwork.core.plugins import switches, trial
from plaidwork.core.plugins.registry import registry

DONE, FAILED = 0, 3


def plugin(options: argparse.Namespace) -> int:
    """``plaidwork plugin list|check|enable|disable|new|install|uninstall``."""
    from plaidwork.core.cli import plugin_folder as folder

    actions = {
        "list": list_plugins,
        "check": check_plugin,
        "enable": enable_plugin,
        "disable": disable_plugin,
        "new": folder.new,
        "install": folder.install,
        "uninstall": folder.uninstall,
    }
    return actions[options.action](options)


def list_plugins(options: argparse.Namespace) -> int:
    """``plaidwork plugin list [--json]``."""
    found = registry().load().plugins
    if options.json:
        tell_json(
            [
                {
                    "name": info.name,
                    "module": info.module,
                    "version": info.version,
                    "source": info.source,
                    "state": info.state,
                    "message": info.message,
                    "api": None if info.api is None else list(info.api),
                    "licence": info.licence,
                    "path": None if info.path is None else str(info.path),
                    "load_seconds": round(info.load_seconds, 3),
                    "models": info.models,
                }
                for info in found
            ],
            1,
        )
        return DONE
    for info in found:
        models = ", ".join(info.models) or "-"
        tell(
            f"{info.name:<16}{info.version or '-':<9}{info.source:<12}{info.state:<13}"
            f"{info.load_seconds:>6.2f} s  {models}"
        )
        if info.message:
            tell(f"{'':<16}{info.message}")
    return DONE


def enable_plugin(options: argparse.Namespace) -> int:
    """``plaidwork plugin enable NAME``."""
    return _switch(options.name, on=True)


def disable_plugin(options: argparse.Namespace) -> int:
    """``plaidwork plugin disable NAME``."""
    return _switch(options.name, on=False)


def _switch(name: str, on: bool) -> int:
    """Nothing is imported for it: a plugin that stops the program can be turned off too."""
    found = registry()
    known = found.listed()
    if name not in known and name not in switches.from_settings():
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean “{near[0]}”?" if near else f"There are: {', '.join(known)}."
        raise SettingError(f"There is no plugin “{name}”.", hint)
    switches.remember(name, on)
    if on:
        trial.forget(name)
    tell(f"The plugin {name} is turned {'on' if on else 'off'}.")
    if on and name in switches.from_environment():
        warn(f"It stays off as long as {switches.VARIABLE} names it.")
    return DONE


def check_plugin(options: argparse.Namespace) -> int:
    """``plaidwork plugin check MODEL [--full] [--json]``: 0 when all checks pass, 3 when one fails."""
    from plaidwork.core.checks import CheckFailed, Row, check_model
    from plaidwork.core.checks._report import row_text

    def progress(row: Row) -> None:
        tell(row_text(row), flush=True)

    reports = []
    for model in find_models(options.model):
        try:
            if not options.json:
                tell(title_of(model), flush=True)
            report = check_model(
                model,
                only=options.only or None,
                skip=options.skip or None,
                level="full" if options.full else "quick",
                seed=options.seed,
                progress=None if options.json else progress,
            )
        except CheckFailed as error:
            raise ModelError(error.message, error.hint) from error
        reports.append(report)
        if not options.json:
            tell(report.summary)
    if options.json:
        tell_json([report.json() for report in reports], 1)
    return DONE if all(report.ok for report in reports) else FAILED


def title_of(model: str | type[Model]) -> str:
    if isinstance(model, str):
        return model
    spec = getattr(model, "spec", None)
    return spec.id if isinstance(spec, ModelSpec) else model.__qualname__


def find_models(word: str) -> list[str | type[Model]]:
    """The models that a word names: a ``.py`` file, a model id, a plugin, a module, or ``module:Class``."""
    if word.endswith(".py"):
        return _models_in(_load_file(Path(word)), word)
    found = registry().load()
    if found.has(word):
        return [word]
    for info in found.plugins:
        if info.name == word and info.state not in ("ok", "disabled"):
            raise ModelError(f"The plugin {info.name} is {info.state}: {info.message}", info.details)
        if info.name == word and info.models:
            return list(info.models)
    path, _, name = word.partition(":")
    module = _import(path, word)
    if name:
        if not hasattr(module, name):
            raise SettingError(f"{path} has no class {name}.")
        return [getattr(module, name)]
    return _models_in(module, word)


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise SettingError(f"{path} does not exist.", "Check the name and the folder.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SettingError(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # so that its classes can be found by name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if before is None:
            del sys.modules[path.stem]
        else:
            sys.modules[path.stem] = before
        raise _cannot_import(str(path), error) from error
    return module


def _import(path: str, word: str) -> ModuleType:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name and (path == error.name or path.startswith(f"{error.name}.")):
            raise SettingError(
                f"“{word}” is neither an installed model or plugin, nor a module, nor a .py file.",
                f"Installed models: {', '.join(spec.id for spec in registry().specs())}.",
            ) from None
        raise _cannot_import(path, error) from error
    except (ValueError, TypeError):
        raise SettingError(f"“{word}” is not the name of a module.") from None
    except (Exception, SystemExit) as error:
        raise _cannot_import(path, error) from error
    finally:
        if here in sys.path:
            sys.path.remove(here)


def _cannot_import(name: str, error: BaseException) -> ModelError:
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    where = f"At {Path(frame[0].filename).name}:{frame[0].lineno} in {frame[0].name}." if frame else ""
    return ModelError(f"{name} cannot be imported: {type(error).__name__}: {error}.", where)


def _models_in(module: ModuleType, word: str) -> list[str | type[Model]]:
    """What the hook brings; without the hook every model class that the module defines."""
    hook: Any = getattr(module, "plaidwork_models", None)
    if hook is None:
        found = [
            thing
            for _name, thing in inspect.getmembers(module, inspect.isclass)
            if issubclass(thing, Model) and thing.__module__ == module.__name__ and hasattr(thing, "spec")
        ]
    else:
        try:
            models = hook()
        except Exception as error:
            raise ModelError(
                f"plaidwork_models() of {word} raised {type(error).__name__}: {error}."
            ) from error
        found = [_resolve(item) if isinstance(item, str) else item for item in models]
    if not found:
        raise SettingError(f"{word} has no model.", "It needs the hook plaidwork_models() or a Model class.")
    return list(found)


def _resolve(path: str) -> type[Model]:
    module, _, name = path.partition(":")
    return getattr(_import(module, path), name)
