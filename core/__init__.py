"""Plaidwork without a screen: ``from plaidwork.core import fit, open_session``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core import providers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plaidwork.core.data.dataset import Dataset
    from plaidwork.core.data.importers.base import Reader
    from plaidwork.core.draws.solutions import Solution
    from plaidwork.core.findings.predictive import Score
    from plaidwork.core.inference.run import Run
    from plaidwork.core.session.fitting import fit, resume
    from plaidwork.core.session.session import Session, open_session

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "BEST_EFFORT")
os.environ["HDF5_PLUGIN_PRELOAD"] = (
    "::"  # before h5py is imported: no filter plugin is loaded because a file asks
)
# Apple's Accelerate reads it when it is first used, and has no other way to be told; core/inference/linear_algebra.py has the others.
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

# Compiled kernels are found by their sources (core/kernel_cache.py). numba reads the variable when it is imported.
_CACHES = (
    "plaidwork.core.kernel_cache.SharedCache,UserProvidedCacheLocator,InTreeCacheLocator,UserWideCacheLocator,"
    "IPythonCacheLocator,ZipCacheLocator"
)
if "numba" not in sys.modules:
    os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", _CACHES)
elif not getattr(sys.modules["numba"].config, "CACHE_LOCATOR_CLASSES", ""):
    sys.modules["numba"].config.CACHE_LOCATOR_CLASSES = _CACHES

__version__ = "0.1.0"
__all__ = ["Session", "__version__", "fit", "open_session", "resume"]

_HOMES = {
    "fit": "plaidwork.core.session.fitting",
    "resume": "plaidwork.core.session.fitting",
    "open_session": "plaidwork.core.session.session",
    "Session": "plaidwork.core.session.session",
    # for the providers below
    "registry": "plaidwork.core.plugins.registry",
    "session_dataset": "plaidwork.core.session.session",
    "weigh_solutions": "plaidwork.core.session.solutions",
    "score_run": "plaidwork.core.session.solutions",
    "summarise_run": "plaidwork.core.session.solutions",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import plaidwork.core`` stays quick."""
    if name in _HOMES and name in __all__:
        return _found(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _found(name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def _plugin_readers() -> Sequence[Reader]:
    found: Sequence[Reader] = _found("registry")().readers
    return found


def _session_dataset(path: Path, title: str | None = None) -> Dataset:
    found: Dataset = _found("session_dataset")(path, title)
    return found


def _weigh_solutions(run: Run, found: tuple[Solution, ...]) -> tuple[tuple[Solution, ...], str]:
    weighed: tuple[tuple[Solution, ...], str] = _found("weigh_solutions")(run, found)
    return weighed


def _score_run(run: Run) -> Score | None:
    score: Score | None = _found("score_run")(run)
    return score


def _summarise_run(run: Run) -> None:
    _found("summarise_run")(run)


providers.plugin_readers = _plugin_readers
providers.session_dataset = _session_dataset
providers.weigh_solutions = _weigh_solutions
providers.score_run = _score_run
providers.summarise_run = _summarise_run
