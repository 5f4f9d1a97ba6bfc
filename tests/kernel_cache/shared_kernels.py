"""One cache of compiled kernels for all checkouts of a machine, found by what the sources say, not by where they lie.

numba keeps compiled kernels beside their module, so that a fresh clone, or a guest that a test installs into a new
folder, compiles all of them again: minutes. The tests (``tests/conftest.py``) name this locator in
``NUMBA_CACHE_LOCATOR_CLASSES``; versions of numba that do not know the variable cache as ever. The folder is
``PLAIDWORK_KERNELS``, else ``plaidwork/kernels`` in the user's cache folder; it may be deleted at any time.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from numba.core import config
from numba.core.caching import InTreeCacheLocator
from platformdirs import user_cache_path

_DAYS = 30
"""Kernels that were not used for so long go."""


class SharedCache(InTreeCacheLocator):
    """In a folder named by the module and all sources with kernels in its folder and below, which it may call."""

    def __init__(self, py_func, py_file):
        super().__init__(py_func, py_file)
        self._cache_path = str(_place(py_func.__module__, Path(py_file).parent))

    @classmethod
    def from_function(cls, py_func, py_file):
        """``None``, for the next locator, where a cache folder was asked for."""
        return None if config.CACHE_DIR else super().from_function(py_func, py_file)


def cache_folder() -> Path:
    """Where the kernels of all checkouts lie."""
    return Path(os.environ.get("PLAIDWORK_KERNELS") or user_cache_path("plaidwork") / "kernels")


@cache
def _place(module: str, folder: Path) -> Path:
    hasher = sha256(module.encode())
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source:
            hasher.update(str(path.relative_to(folder)).encode() + b"\0" + source + b"\0")
    place = cache_folder() / f"{module}-{hasher.hexdigest()[:20]}"
    if not place.exists():
        _drop_unused()
        place.mkdir(parents=True, exist_ok=True)
    os.utime(place)
    return place


def _drop_unused() -> None:
    for place in cache_folder().glob("*-*"):
        with suppress(OSError):  # another process was quicker
            if place.stat().st_mtime < time.time() - _DAYS * 86_400:
                shutil.rmtree(place)
