"""Memory that a sweep has used stays with the process for the next one.

The C library of Linux gives arrays from some hundred kilobytes on back to the system as soon as they are freed, and the system clears
every page when it is asked for again: up to a third of a sweep of models whose stages make such arrays. Other systems are left as they are.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

KEPT = 64 * 2**20
"""Bytes of freed memory that a process keeps at most at the end of its heap."""
LARGE = 32 * 2**20
"""Arrays of so many bytes, and larger ones, still come from the system and go back to it: the most that the library takes."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@cache
def keep_freed_memory() -> bool:
    """Tell the C library so, once a process; whether it has been told."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        tell = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # a library without it
        return False
    return bool(tell(_TRIM_THRESHOLD, KEPT)) and bool(tell(_MMAP_THRESHOLD, LARGE))
