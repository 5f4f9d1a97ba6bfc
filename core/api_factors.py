"""For models of factors that have no fixed order and sign: which factor of one fit is which of another."""

from plaidwork.core.draws.summaries import correlate_rows, match_factors

__all__ = ["correlate_rows", "match_factors"]
