"""Plaidwork without a screen: ``from plaidwork.core import fit, open_session``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaidwork.core.fitting import fit, resume
    from plaidwork.core.session import Session, open_session

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "BEST_EFFORT")
os.environ["HDF5_PLUGIN_PRELOAD"] = (
    "::"  # before h5py is imported: no filter plugin is loaded because a file asks
)
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    # Before numpy is imported. A chain is one thread: several chains whose linear algebra starts threads of its own wait
    # for each other, up to a hundred times longer than one thread takes. Whoever sets the variable keeps the setting.
    os.environ.setdefault(_name, "1")

__version__ = "0.1.0"
__all__ = ["Session", "__version__", "fit", "open_session", "resume"]

_HOMES = {
    "fit": "plaidwork.core.fitting",
    "resume": "plaidwork.core.fitting",
    "open_session": "plaidwork.core.session",
    "Session": "plaidwork.core.session",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``import plaidwork.core`` stays quick."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
