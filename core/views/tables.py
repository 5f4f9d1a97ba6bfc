"""The table of a view: a table of the results, or an array beside the names along its axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from plaidwork.core.contract.model import SHARE, Table
from plaidwork.core.draws.numbers import format_fixed, format_p, format_percent
from plaidwork.core.views.sources import SourceError, Sources

_MOST, _P_VALUES = 200, ("p", "q", "p-value", "q-value")


def formats_of(
    titles: Iterable[str], units: Mapping[str, str] | None = None, decimals: Mapping[str, int] | None = None
) -> dict[str, Callable[[Any], str]]:
    """How columns are written that their titles or units tell: p-values in two digits, shares of 1 in per cent, and those
    for which ``decimals`` are given."""
    found: dict[str, Callable[[Any], str]] = {
        title: format_p for title in titles if title.split(" ")[-1].casefold() in _P_VALUES
    }
    found |= {title: partial(_fixed, decimals=count) for title, count in (decimals or {}).items()}
    return found | {title: _percent for title, unit in (units or {}).items() if unit == SHARE}


def heads_of(table: Table) -> dict[str, str]:
    """What stands above each column: its title, and its unit where the values do not tell it."""
    told = {title: unit for title, unit in table.units.items() if unit and unit != SHARE}
    return {title: f"{title} ({told[title]})" if title in told else title for title in table.columns}


def _fixed(value: Any, decimals: int) -> str:
    return format_fixed(float(value), decimals)


def _percent(share: float) -> str:
    return format_percent(float(share), 1)


def table_of(sources: Sources) -> Table:
    """What the role ``values`` (or the only one) names as a table. Raises ``SourceError`` and ``NotYet``."""
    role = "values" if "values" in sources.view.source else next(iter(sources.view.source), "values")
    found = sources.get(role)
    if isinstance(found, Table):
        return found
    result = sources.result(role, (1, 2))
    dims = result.dims or ("item",)
    title = result.label or role
    names = np.array(sources.dim_names(dims[0], len(result.values)), dtype=object)
    columns: dict[str, Any] = {dims[0].replace("_", " ").capitalize(): names}
    if result.values.ndim == 1:
        columns[title.capitalize()] = result.values
    else:
        across = sources.dim_names(dims[1] if len(dims) > 1 else "column", result.values.shape[1])
        if len(across) > _MOST:
            raise SourceError(f"A table shows up to {_MOST} columns. Found {len(across)}.")
        columns.update(zip(across, result.values.T))
    return Table(columns)
