"""For models of blocks that have no fixed order and number: blocks followed through the draws, and groupings compared.

A draw is ``(rows (K, n) bool, columns (K, m) bool, values (K,))`` with K of its own.
"""

from plaidwork.core.draws.summaries import (
    MatchedBlocks,
    comembership,
    coverage,
    match_blocks,
    nmi_overlap_ishiguro,
    pick_items,
)

__all__ = [
    "MatchedBlocks",
    "comembership",
    "coverage",
    "match_blocks",
    "nmi_overlap_ishiguro",
    "pick_items",
]
