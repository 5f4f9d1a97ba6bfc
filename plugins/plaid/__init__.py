"""Plaid models: overlapping blocks of a matrix, their number inferred or fixed (see NOTES.md)."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return ["plaidwork.plugins.plaid.models:InfinitePlaid", "plaidwork.plugins.plaid.models:BayesianPlaid"]


@hookimpl
def plaidwork_analyses() -> list[str]:
    path = "plaidwork.plugins.plaid.analyses"
    return [f"{path}:BlocksAndAnnotations", f"{path}:KnownBlocks"]
