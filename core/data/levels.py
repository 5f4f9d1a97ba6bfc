"""Measured columns whose numbers stand for words, as sex or region: an annotation of the columns says which.

Categories have no order. Of two words the numbers are 0 and 1, of more they begin with 1, as those of answers in order do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.data.dataset import Dataset

LEVELS = "Categories"
"""Title of the annotation."""
COUNTED = "Counted allele"
"""Title of the annotation that says of which allele a column holds the copies; other columns have none."""
BETWEEN = " | "
"""What stands between the words of a column; a word with it is none."""


def level_text(words: Sequence[str]) -> str:
    """The entry of the annotation for a column with these words, the one with the lowest number first."""
    return BETWEEN.join(words)


def first_number(words: Sequence[str]) -> int:
    """The number of the first word."""
    return 0 if len(words) == 2 else 1


def levels_of(dataset: Dataset) -> tuple[tuple[str, ...], ...]:
    """The words of each column, by their numbers; none of a column that is measured, or holds other numbers by now.

    Empty where no column has any.
    """
    found = tuple(words_of(dataset, place) for place in range(dataset.shape[1])) if _has(dataset) else ()
    return found if any(found) else ()


def said_of(dataset: Dataset, place: int) -> tuple[str, ...]:
    """The words that the annotation gives for one column; none of a column that is measured."""
    words = tuple(str(dataset.column_table[LEVELS][place]).split(BETWEEN)) if _has(dataset) else ()
    return words if len(words) > 1 else ()


def words_of(dataset: Dataset, place: int) -> tuple[str, ...]:
    """The words of one column, by their numbers; none of a column that is measured, or holds other numbers by now."""
    words = said_of(dataset, place)
    if not words:
        return ()
    values = dataset.values[:, place]
    known = np.isin(values[~np.isnan(values)] - first_number(words), np.arange(len(words)))
    return words if known.all() else ()


def _has(dataset: Dataset) -> bool:
    matrix = len(dataset.shape) == 2 and not (dataset.is_sparse or dataset.stays)
    return matrix and LEVELS in dataset.column_table
