"""Where plugins are looked for: the package's own, installed ones, plugin folders."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from plaidwork.core import __version__
from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.plugins import folder as folders

_log = logging.getLogger("plaidwork.plugins")

Found = tuple[PluginInfo, Callable[[], Any]]
"""A plugin and what imports it."""


def find_plugins(built_in_only: bool) -> Iterator[Found]:
    """All plugins there are, built-in ones first, none of them imported.

    A folder that cannot be read does not cost the plugins before it: the rest is logged as missing.
    """
    try:
        yield from _find(built_in_only)
    except Exception as error:
        _log.warning("Not all plugins could be listed: %s", error)


def _find(built_in_only: bool) -> Iterator[Found]:
    from plaidwork import plugins

    for module in pkgutil.iter_modules(plugins.__path__):
        path = f"plaidwork.plugins.{module.name}"
        info = PluginInfo(module.name, path, "built-in", __version__, licence="BSD-3-Clause")
        info.path = Path(next(iter(plugins.__path__))) / module.name
        yield info, partial(importlib.import_module, path)
    if not built_in_only:
        yield from _guests(plugins.__name__)


def _guests(built_in: str) -> Iterator[Found]:
    places = folders.plugin_folders()
    # asked for before the folders are on the path, or what is in them would be found twice
    try:
        installed = list(entry_points(group=folders.GROUP))
    except Exception:  # one distribution with damaged metadata is enough
        installed = folders.each_installed()
    for point in sorted(installed, key=lambda point: point.name):
        if not (point.value.startswith(f"{built_in}.") or _lies_in(point, places)):
            yield folders.info_of(point, "installed"), point.load
    yield from folders.in_folders(places)


def _lies_in(point: Any, places: list[Path]) -> bool:
    """Whether an entry point belongs to a distribution in one of the plugin folders."""
    if point.dist is None or not places:
        return False
    return Path(str(point.dist.locate_file(""))).resolve() in places


def complete(info: PluginInfo, module: Any) -> None:
    """Fill in what only the imported module tells: version, licence, file."""
    info.version = info.version or _text(module, "__version__")
    info.licence = info.licence or _text(module, "__license__")
    file = getattr(module, "__file__", None)
    info.path = info.path or (Path(file) if isinstance(file, str) else None)


def _text(module: Any, name: str) -> str:
    found = getattr(module, name, "")
    return found if isinstance(found, str) else ""


def drop_modules(info: PluginInfo) -> None:
    """Let the next import of a plugin read its files again; the built-in ones stay."""
    if info.source != "built-in":
        for module in [module for module in sys.modules if _belongs(module, info.prefixes)]:
            del sys.modules[module]
    importlib.invalidate_caches()


def _belongs(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)
