"""Which files a process that reads a case may open."""

from __future__ import annotations

import os
import sys

_SHARED = ("/proc/self", "/proc/meminfo", "/usr/share", "/sys", "/usr/lib")


def _own() -> tuple[str, ...]:
    places = (os.environ.get("PLAIDWORK_CONFIG"), sys.prefix, sys.base_prefix, *sys.path)
    return tuple(os.path.realpath(place) for place in places if place)


_OWN = _own()


def is_own(name: str, *folders: str) -> bool:
    """Whether a real path is in one of the case's folders, of Python with all that is installed, or of the system's shared files."""
    return name.startswith((*folders, *_OWN, *_SHARED))
