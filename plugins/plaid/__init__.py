"""Plaid models: overlapping blocks of a matrix, their number inferred or fixed, of numbers, counts and links (see NOTES.md)."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return [
        "plaidwork.plugins.plaid.models:InfinitePlaid",
        "plaidwork.plugins.plaid.models:BayesianPlaid",
        "plaidwork.plugins.plaid.counts.model:PlaidCounts",
    ]


@hookimpl
def plaidwork_analyses() -> list[str]:
    path = "plaidwork.plugins.plaid.analyses"
    return [f"{path}:BlocksAndAnnotations", f"{path}:KnownBlocks"]
