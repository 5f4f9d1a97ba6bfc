"""Where compiled kernels are kept: found by what the sources say that they were compiled from.

numba keeps compiled kernels beside their module and compiles anew when that one file has changed. A kernel has other
kernels compiled into it, so that an update of these alone (of the program or a plugin) would go on with the old ones, and
draws would depend on what was run before. This locator names the folder by the contents of the module and all that it
imports of its own package, which also spares a fresh checkout or a copy of a plugin from compiling again. Versions of
numba that do not know ``NUMBA_CACHE_LOCATOR_CLASSES`` cache as ever, and so does the code of other packages in the process.

The folder is ``PLAIDWORK_KERNELS``, else ``plaidwork/kernels`` in the user's cache folder; it may be deleted at any time.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import InTreeCacheLocator
from platformdirs import user_cache_path

_OURS = "plaidwork"
_DAYS = 30
"""Kernels that were not used for so long go."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M
)
_NAME = re.compile(r"[\w.]+")


class SharedCache(InTreeCacheLocator):
    """In a folder named by the module and the sources that it may call."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(_place(py_func.__module__, Path(py_file)))

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> SharedCache | None:
        """``None``, for the next locator, where a cache folder was asked for, for code of other packages, and where the
        user's cache folder cannot be written."""
        if config.CACHE_DIR or not os.path.exists(py_file) or not _is_ours(py_func.__module__, py_file):
            return None
        try:
            found: SharedCache | None = super().from_function(py_func, py_file)
        except OSError:
            return None
        return found


def cache_folder() -> Path:
    """Where the kernels of all checkouts lie."""
    return Path(os.environ.get("PLAIDWORK_KERNELS") or user_cache_path(_OURS) / "kernels")


def _is_ours(module: str, file: str) -> bool:
    """Whether a module belongs to the program or to a plugin: some source of its package knows the program, or its own where
    it is a module alone (beside it may lie whatever else is installed)."""
    path = Path(file)
    depth = module.count(".") + (path.name == "__init__.py")
    known = 0 < depth <= len(path.parents)
    return module.partition(".")[0] == _OURS or _knows_us(path.parents[depth - 1] if known else path)


@cache
def _knows_us(place: Path) -> bool:
    """Whether a file, or one below a folder, names the program."""
    files = place.rglob("*.py") if place.is_dir() else (place,)
    return any(_OURS.encode() in path.read_bytes() for path in files)


@cache
def _place(module: str, file: Path) -> Path:
    hasher = sha256(module.encode())
    for name, source in sorted(_sources(module, file).items()):
        hasher.update(name.encode() + b"\0" + source + b"\0")
    place = cache_folder() / f"{module}-{hasher.hexdigest()[:20]}"
    if not place.exists():
        _drop_unused()
        place.mkdir(parents=True, exist_ok=True)
    os.utime(place)
    return place


def _sources(module: str, file: Path) -> dict[str, bytes]:
    """Contents of a module, by its name, and of all modules of its package and of the program that it has imported."""
    found: dict[str, bytes] = {}
    waiting = [(module, file)]
    roots = {module.partition(".")[0], _OURS}
    while waiting:
        name, path = waiting.pop()
        if name in found:
            continue
        with suppress(OSError):  # as in a bundle: what has no source does not change alone
            found[name] = path.read_bytes()
            for other in _imported(name, path, found[name]):
                known = getattr(sys.modules.get(other), "__file__", None)
                if known and known.endswith(".py") and other.partition(".")[0] in roots:
                    waiting.append((other, Path(known)))
    return found


def _imported(module: str, file: Path, source: bytes) -> Iterator[str]:
    """Full names of what a module imports: modules, and what may be modules."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for match in _IMPORT.finditer(source):
        origin, names, plain = (part.decode() if part else "" for part in match.groups())
        if plain:
            yield from _NAME.findall(plain)
            continue
        with suppress(ImportError, ValueError):  # beyond the package: not ours
            origin = resolve_name(origin, package)
            yield origin
            yield from (f"{origin}.{name}" for name in _NAME.findall(names))


def _drop_unused() -> None:
    for place in cache_folder().glob("*-*"):
        with suppress(OSError):  # another process was quicker
            if place.stat().st_mtime < time.time() - _DAYS * 86_400:
                shutil.rmtree(place)
