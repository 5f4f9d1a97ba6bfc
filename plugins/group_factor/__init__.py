"""Group factor analysis with spike-and-slab weights over several views (see NOTES.md)."""

from __future__ import annotations

from typing import Any

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork.plugins.group_factor.model:GroupFactor"]


@hookimpl
def plaidwork_views() -> list[Any]:
    from plaidwork.plugins.group_factor.factories import FACTORIES

    return list(FACTORIES)
