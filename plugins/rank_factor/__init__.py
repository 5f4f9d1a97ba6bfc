"""Max-margin rank-likelihood discriminative factor model (see NOTES.md)."""

from plaidwork.core.api import hookimpl


@hookimpl
def plaidwork_models() -> list[str]:
    return [
        "plaidwork.plugins.rank_factor.models:RankFactor",
        "plaidwork.plugins.rank_factor.models:RankFactorVB",
    ]
