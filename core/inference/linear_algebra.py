"""One thread for linear algebra while a model computes, and which libraries and processor do it.

A chain is one thread. A BLAS library that takes threads of its own adds sums in an order that depends on how many it got,
and chains whose libraries do that wait for each other. Environment variables are read when a library is loaded, which may
be long before Plaidwork is; so the libraries are limited, for as long as a model computes, and get back what they had.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")


class _Limit:
    """Counts who needs one thread. Settings belong to the process: the first to come sets, the last to go sets back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._before: dict[str, tuple[Any, int]] = {}

    def enter(self) -> list[tuple[Any, int]]:
        """Set every library that is loaded by now; returns those whose setting belongs to this thread alone."""
        with self._lock:
            own = []
            for library in _libraries():
                threads = library.get_num_threads()
                if threads in (None, 1):
                    continue
                _set(library, 1)
                if _of_thread(library):
                    own.append((library, threads))
                else:
                    self._before[library.filepath] = (library, threads)
            self._holders += 1
            return own

    def leave(self, own: list[tuple[Any, int]]) -> None:
        """Set back what this thread had, and what the process had once nobody needs one thread."""
        with self._lock:
            self._holders -= 1
            done = list(own)
            if not self._holders:
                done += self._before.values()
                self._before.clear()
            for library, threads in done:
                if library.get_num_threads() == 1:  # else somebody has chosen otherwise in the meantime
                    _set(library, threads)


_limit = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and OpenMP libraries loaded by now use one thread inside; may be nested, and overlap in several threads.

    Those that are loaded inside are reached by the next to enter.
    """
    own = _limit.enter()
    try:
        yield
    finally:
        _limit.leave(own)


def one_thread_here() -> None:
    """For good, for a thread that only ever works for chains: libraries whose setting belongs to the thread use one. Those of the process
    are limited by whoever it works for.
    """
    for library in _libraries():
        if _of_thread(library) and library.get_num_threads() not in (None, 1):
            _set(library, 1)


def _libraries() -> list[Any]:
    """The libraries of this process that have threads; scipy's own BLAS, which compiled kernels call, among them."""
    import scipy.linalg  # noqa: F401 - else loaded in the middle of a sweep
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().lib_controllers)


def _set(library: Any, threads: int) -> None:
    """From whichever thread: threadpoolctl 3.8 hears only the first that set a library, until that one is forgotten."""
    forget = getattr(library, "clear_controlling_thread", None)
    if forget is not None:
        forget(force=True)
    library.set_num_threads(threads)
    if forget is not None:
        forget(force=True)


def _of_thread(library: Any) -> bool:
    """Whether the number of threads is a setting of the calling thread: OpenMP has it so."""
    return library.user_api == "openmp" or getattr(library, "threading_layer", "") == "openmp"


_starting = threading.Lock()


@contextmanager
def one_thread_in_children() -> Iterator[None]:
    """Processes started inside load their libraries with one thread, and so do not start threads that never work."""
    with _starting:
        before = {name: os.environ.get(name) for name in _VARIABLES}
        os.environ.update(dict.fromkeys(_VARIABLES, "1"))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def arithmetic() -> dict[str, str]:
    """What the last digits of a fit depend on besides versions: the processor and the instructions that kernels are
    compiled for (a virtual machine may give another processor's name), and the BLAS libraries, each with the processor
    whose kernels it picked."""
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    found = {
        f"{lib['internal_api']} {lib.get('version') or 'of unknown version'}"
        + (f" for {lib['architecture']}" if lib.get("architecture") else "")
        for lib in (library.info() for library in _libraries())
        if lib["user_api"] == "blas"
    }
    return {
        "processor": os.environ.get("NUMBA_CPU_NAME") or get_host_cpu_name(),
        "instructions": _in_short(os.environ.get("NUMBA_CPU_FEATURES") or get_host_cpu_features().flatten()),
        "BLAS": ", ".join(sorted(found)) or "not told",
    }


def _in_short(features: str) -> str:
    """The widest instructions for numbers among "+avx2,-avx512f,…", how many others there are, and a digest of all."""
    there = sorted(name[1:] for name in features.split(",") if name.startswith("+"))
    wide = next(
        (name for name in ("avx512f", "avx2", "avx", "neon", "sse2", *there) if name in there), "none"
    )
    return f"{wide} and {len(there) - 1} more ({sha256(','.join(there).encode()).hexdigest()[:8]})"
