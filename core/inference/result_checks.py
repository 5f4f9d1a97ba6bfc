"""Whether results that a model or an analysis returned are such as views can take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PluginError


def checked_results(found: Any) -> dict[str, Any]:
    """Results as a model or an analysis returned them. Raises ``PluginError`` for what no view could take."""
    if not isinstance(found, Mapping):
        raise PluginError(f"it returned {type(found).__name__}, not results by name")
    for name, result in found.items():
        if not isinstance(name, str) or not name.isidentifier():  # no session with another would open
            raise PluginError(f"it calls a result {name!r}, which is not an identifier")
        if not isinstance(result, (Result, Table, str)):
            raise PluginError(
                f"the result “{name}” is a {type(result).__name__}, not a Result, Table or text"
            )
        if isinstance(result, Result) and result.dims and len(result.dims) != result.values.ndim:
            raise PluginError(
                f"the result “{name}” has {counted(result.values.ndim, 'axis')} and the dims {', '.join(result.dims)}"
            )
        if isinstance(result, Result) and not _plain(result.values):
            raise PluginError(f"the result “{name}” is an array of objects, not of numbers or texts")
    return dict(found)


def _plain(values: np.ndarray) -> bool:
    """Whether an array holds numbers, flags or texts."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "biufUS"
    return all(isinstance(value, str) for value in values.flat)
