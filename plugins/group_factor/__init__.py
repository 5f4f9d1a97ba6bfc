"""Group factor analysis with spike-and-slab weights over several views (see NOTES.md)."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork.plugins.group_factor.model:GroupFactor"]
