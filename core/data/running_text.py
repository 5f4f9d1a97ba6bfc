"""Which column of a table is running text: sentences, and no names or classes."""

from __future__ import annotations

from collections.abc import Sequence

LONG_TEXT = 30
"""Letters of a cell from which on a column of a table is taken for running text."""
_WORDS = 4
"""Words of a cell, as above."""


def mean_length(cells: Sequence[str]) -> float:
    """Letters of a cell on average; 0 where the filled cells of a column are no running text, as most come back or are short."""
    if len(cells) < 2 or len(set(cells)) <= len(cells) / 2:
        return 0.0
    length = sum(map(len, cells)) / len(cells)
    long = length > LONG_TEXT and sum(len(cell.split()) for cell in cells) >= _WORDS * len(cells)
    return length if long else 0.0
