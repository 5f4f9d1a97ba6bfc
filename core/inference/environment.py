"""Where a run was made: versions, machine, processor and BLAS."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_info import owner_of
from plaidwork.core.inference.linear_algebra import arithmetic


def environment(model: Model | None = None) -> dict[str, str]:
    """Versions, machine, processor and BLAS, for the provenance; with a model also the plugin that it comes from."""
    found = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
    }
    for package in ("plaidwork", "numpy", "scipy", "numba", "h5py"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    if model is not None:
        found["plugin"] = owner_of(model).title
    return found | arithmetic()
