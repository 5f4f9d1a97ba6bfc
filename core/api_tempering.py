"""For samplers of laws with several modes: copies of a chain on a ladder of easier laws, which change places."""

from plaidwork.core.numerics.tempering import (
    Swaps,
    adapt,
    begin_counting,
    exchange,
    new_swaps,
    spaced,
    swap_rates,
)

__all__ = ["Swaps", "adapt", "begin_counting", "exchange", "new_swaps", "spaced", "swap_rates"]
