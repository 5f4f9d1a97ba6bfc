"""Plugins that lie in folders: single ``.py`` files, packages, and distributions unpacked beside their dist-info.

The user's plugin folder is ``PLAIDWORK_PLUGINS``, or ``plugins`` in the user's data folder; ``--plugin-dir`` adds
others for one start, which child processes find in ``PLAIDWORK_PLUGIN_DIRS``. Folders go to the end of ``sys.path``:
nothing in them can take the place of a package of the host.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import (
    Distribution,
    DistributionFinder,
    EntryPoint,
    MetadataPathFinder,
    distributions,
)
from pathlib import Path
from typing import Any

import platformdirs

from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.errors import PluginError, SettingError

GROUP = "plaidwork"
VARIABLE, EXTRA = "PLAIDWORK_PLUGINS", "PLAIDWORK_PLUGIN_DIRS"
Loader = Callable[[], Any]


def plugin_folder() -> Path:
    """The user's plugin folder (not created)."""
    named = os.environ.get(VARIABLE)
    return (
        Path(named) if named else Path(platformdirs.user_data_dir("plaidwork", appauthor=False)) / "plugins"
    )


def add_plugin_folder(folder: Path) -> None:
    """Look for plugins in another folder too, in this process and its children. Raises ``SettingError``."""
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise SettingError(f"The plugin folder {folder} does not exist.", "Check --plugin-dir.")
    known = [part for part in os.environ.get(EXTRA, "").split(os.pathsep) if part]
    if str(folder) not in known:
        os.environ[EXTRA] = os.pathsep.join([*known, str(folder)])


def plugin_folders() -> list[Path]:
    """All folders that exist; a sub-folder with a dist-info and no ``__init__.py`` counts as one of its own."""
    extra = [Path(part) for part in os.environ.get(EXTRA, "").split(os.pathsep) if part]
    found: dict[Path, None] = {}
    for folder in (plugin_folder(), *extra):
        if not folder.is_dir():
            continue
        found[folder.resolve()] = None
        for inner in sorted(folder.iterdir()):
            if inner.is_dir() and not (inner / "__init__.py").exists() and any(inner.glob("*.dist-info")):
                found[inner.resolve()] = None
    return list(found)


def in_folders(folders: Iterable[Path]) -> Iterator[tuple[PluginInfo, Loader]]:
    """The plugins in these folders, each with what imports it."""
    for folder in folders:
        owned: set[str] = set()
        for dist in _distributions(folder):
            try:
                owned |= _top_level(dist)
                points = [point for point in dist.entry_points if point.group == GROUP]
                found = [(point, info_of(point, "folder", dist)) for point in points]
            except Exception as error:  # damaged metadata
                name = Path(str(getattr(dist, "_path", "unknown"))).stem
                yield PluginInfo(name, "", "folder", path=folder), partial(_raise, error)
                continue
            for point, info in found:
                info.path = folder
                yield info, _later(folder, point.value.partition(":")[0], point.load)
        for path in sorted(folder.iterdir()):
            name = path.stem if path.suffix == ".py" and path.is_file() else path.name
            package = path.is_dir() and (path / "__init__.py").is_file()
            if (path.suffix != ".py" and not package) or name.startswith(("_", ".")) or name in owned:
                continue
            info = PluginInfo(name, name, "folder", path=path)
            yield info, _later(folder, name, partial(_with_hooks, name))


def info_of(point: EntryPoint, source: str, dist: Distribution | None = None) -> PluginInfo:
    """What an entry point and the metadata of its distribution tell without an import."""
    dist = dist or point.dist
    if dist is None:
        return PluginInfo(point.name, point.value, source)
    return PluginInfo(point.name, point.value, source, dist.version or "", licence=_licence(dist))


def _licence(dist: Distribution) -> str:
    """A short licence name, or empty."""
    data: Any = dist.metadata
    for key in ("License-Expression", "License"):
        text = str(data.get(key, "") or "").strip()
        if text and len(text) < 40 and "\n" not in text:
            return text
    for line in data.get_all("Classifier") or ():
        if str(line).startswith("License :: "):
            return str(line).rsplit(" :: ", 1)[-1]
    return ""


def _distributions(folder: Path) -> list[Distribution]:
    context = DistributionFinder.Context(path=[str(folder)])
    found = MetadataPathFinder.find_distributions(context)
    return sorted(found, key=lambda dist: str(getattr(dist, "_path", "")))


def each_installed() -> list[EntryPoint]:
    """Entry points of our group, distribution by distribution: a damaged one costs its own plugins only."""
    points = []
    for dist in distributions():
        try:
            points += [point for point in dist.entry_points if point.group == GROUP]
        except Exception:
            continue
    return points


def _raise(error: Exception) -> None:
    raise PluginError(f"its metadata cannot be read: {error}", hook="import") from error


def _top_level(dist: Distribution) -> set[str]:
    """Names of the modules and packages that belong to a distribution."""
    found = set()
    for file in dist.files or ():
        first = file.parts[0]
        if not first.endswith((".dist-info", ".data")):
            found.add(first.removesuffix(".py"))
    return found


def _later(folder: Path, module: str, load: Loader) -> Loader:
    def loader() -> Any:
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        importlib.invalidate_caches()
        _check_not_hidden(folder, module)
        return load()

    return loader


def _check_not_hidden(folder: Path, module: str) -> None:
    """A module of the host or of another plugin with that name would be loaded instead."""
    top = module.split(".")[0]
    spec = importlib.util.find_spec(top)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    if spec and not any(location and Path(location).resolve().is_relative_to(folder) for location in places):
        raise PluginError(
            f"Another module is called “{top}”: {spec.origin or 'built into Python'}",
            "Rename the plugin's file.",
        )


def _with_hooks(name: str) -> Any:
    module = importlib.import_module(name)
    if not any(attribute.startswith("plaidwork_") for attribute in dir(module)):
        raise PluginError(f"{name} has no hook", "A plugin has a function such as plaidwork_models().")
    return module
