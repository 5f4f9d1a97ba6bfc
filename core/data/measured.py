"""Measurements of a matrix in the part of columns beside its samples: an outcome that was read as one of the measurements.

Such a column is named as any other beside the samples (``DATASET:row:TITLE``). What is fitted with it must not have it among its
measurements as well: :func:`without_outcomes` sees to that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from plaidwork.core.data.dataset import AXIS_WORDS, Axis, Dataset, Step
from plaidwork.core.data.levels import first_number, said_of, words_of
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.counting import agree

MOST_OFFERED = 500
"""Measurements of a matrix that are offered as columns beside its samples; of more only those with a usual title."""
MOST_CLASSES = 20
"""Different numbers of a measurement that may be classes, at most."""
_ENOUGH_EACH = 50
"""Items of each class, on average, from which labels of more than that many levels are still classes, as the letters of an alphabet are."""
_PARTED = 1.1
"""In how many runs of rows the members of a group stand, on average and at most, where a table is written group by group."""
OUTCOME_TITLES = frozenset(
    {
        "class",
        "classes",
        "label",
        "labels",
        "target",
        "outcome",
        "response",
        "diagnosis",
        "species",
        "y_true",
        "truth",
        "ground_truth",
    }
)
"""Titles, in lower case, that say that a column is what the others are to explain."""
_TIME_TITLES = frozenset(
    {
        "time", "year", "yr", "quarter", "month", "week", "day", "date", "hour",
        "zeit", "jahr", "quartal", "monat", "woche", "tag", "datum", "stunde",
    }
)  # fmt: skip
"""Titles, in lower case, of columns that say when."""
SPLIT_TITLES = frozenset({"set", "split", "partition", "part", "subset", "fold"})
"""Titles, in lower case, of a column that says which items are for a test."""
TEST_WORDS = frozenset({"test", "testing", "held out", "held-out", "holdout", "validation", "val"})
"""What such a column calls the items that are for the test, in lower case."""
_TRAINING_WORDS = frozenset(
    {"train", "training", "learn", "learning", "fit", "fitting", "calibration", "discovery", "derivation"}
)
"""What it calls those that are fitted. “Test” and “control” are arms of an experiment, and its test samples must not be left out of a fit."""
_OUTCOME_WORDS = OUTCOME_TITLES | {
    "y", "true", "group", "groups", "type", "types", "subtype", "category", "status", "variety", "cultivar", "disease", "condition", "phenotype",
    "histology", "tissue", "celltype", "klasse", "gruppe", "diagnose", "art", "kategorie", "typ", "ziel",
}  # fmt: skip
"""Last words of titles that are mostly such."""


def may_be_called_outcome(title: str) -> bool:
    """Whether a title is one that an outcome often has, as *Cell type* or *species*; only a guess."""
    words = re.findall(r"[a-z]+", title.strip().lower())
    return bool(words) and words[-1] in _OUTCOME_WORDS


def is_called_time(title: str) -> bool:
    """Whether a title says that a column tells when, as *Year* or *time*."""
    return title.strip().lower() in _TIME_TITLES


def are_times(titles: Sequence[str], unit: str) -> bool:
    """Whether a single column tells when: it is called so, or it holds dates that were read as numbers, in that unit."""
    return len(titles) == 1 and (unit in ("years", "days") or is_called_time(titles[0]))


def parts_items(title: str, values: Iterable[str]) -> bool:
    """Whether a column says which items are for a test: it is called so, and names items for training and items for the test.

    ``values`` are its entries or its levels, of whichever case.
    """
    words = _part_words(title, values)
    return bool(words & TEST_WORDS and words & _TRAINING_WORDS)


def held_levels(levels: Sequence[str]) -> list[int]:
    """Places of the levels of a split whose items are for the test: *Test*, *validation*, *holdout* and the like, of whichever case."""
    return [place for place, level in enumerate(levels) if level.strip().lower() in TEST_WORDS]


def may_part_items(title: str, values: Iterable[str]) -> bool:
    """Whether a column may be one of :func:`parts_items` by its first entries: of a sorted table they may all be of one part."""
    return not _part_words(title, values).isdisjoint(TEST_WORDS | _TRAINING_WORDS)


def _part_words(title: str, values: Iterable[str]) -> set[str]:
    """What a column that is called so says of the items, in lower case."""
    return {value.strip().lower() for value in values} if title.strip().lower() in SPLIT_TITLES else set()


class Beside(Mapping[str, np.ndarray]):
    """Columns beside an axis by title: the annotations of the axis, and then the measurements of its items."""

    def __init__(self, dataset: Dataset, axis: Axis) -> None:
        self.table = dataset.column_table if axis else dataset.row_table
        self._dataset, self._axis = dataset, axis
        self._places = {name: place for place, name in enumerate(features_of(dataset, axis))}

    def __getitem__(self, title: str) -> np.ndarray:
        if title in self.table:
            return np.asarray(self.table[title])
        place = self._places[title]
        column = _values_of(self._dataset, self._axis, place)
        return column if self._axis else _in_words(self._dataset, place, column)

    def __contains__(self, title: object) -> bool:
        return title in self.table or title in self._places

    def __iter__(self) -> Iterator[str]:
        yield from self.table
        yield from (title for title in self._places if title not in self.table)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def place(self, title: str) -> int:
        """Where a measurement stands among those of the matrix."""
        return self._places[title]

    def is_measured(self, title: str) -> bool:
        """Whether a column is one of the measurements."""
        return title in self._places and title not in self.table


def features_of(dataset: Dataset, axis: Axis) -> tuple[str, ...]:
    """Names of what is measured of the items of an axis; none for a vector."""
    if len(dataset.shape) != 2:
        return ()
    return dataset.row_names if axis else dataset.column_names


def _values_of(dataset: Dataset, axis: Axis, place: int) -> np.ndarray:
    """One measurement of all items of an axis: (n,) floats, NaN where missing."""
    values = dataset.values
    column = values[place] if axis else values[:, place]
    return np.asarray(column.toarray() if dataset.is_sparse else column, dtype=float).reshape(-1)


def _in_words(dataset: Dataset, place: int, column: np.ndarray) -> np.ndarray:
    """A measurement of the rows as it was read: words where its numbers stand for them."""
    words = words_of(dataset, place)
    if not words:
        return column
    at = np.where(np.isnan(column), -1, column - first_number(words)).astype(np.int64)
    return np.array([*words, ""], dtype=str)[at]


def may_be_outcomes(dataset: Dataset, axis: Axis, classes: bool) -> list[str]:
    """Titles of the measurements that may be an outcome of the items of an axis, those with a usual title first; an annotation of the
    same title hides one.

    ``classes`` asks for few whole numbers, none of them at one item only everywhere; values that are not in memory are not read
    for that. Of a matrix that stays in its file, and of one with too many measurements, only usual titles count.
    """
    titles = features_of(dataset, axis)
    usual = [title for title in titles if may_be_called_outcome(title)]
    others = [] if dataset.stays or len(titles) > MOST_OFFERED else [t for t in titles if t not in usual]
    beside = Beside(dataset, axis)
    found = [title for title in (*usual, *others) if beside.is_measured(title)]
    if len(titles) < 2:
        return []
    if not classes:
        return [title for title in found if axis or not said_of(dataset, beside.place(title))]
    if dataset.stays or isinstance(dataset.held, Deferred):
        return found
    return [title for title in found if may_be_classes(beside[title])]


def may_be_classes(column: np.ndarray) -> bool:
    """Whether numbers (n,) may stand for classes: two to 20 whole ones, several items of each on average. Words do."""
    if column.dtype.kind == "U":
        return True
    known = column[np.isfinite(column)]
    if not known.size or (known != np.floor(known)).any():
        return False
    levels = np.unique(known).size
    return 2 <= levels <= min(MOST_CLASSES, known.size // 2)


def may_be_groups(codes: np.ndarray) -> bool:
    """Whether labels (n,), -1 where missing, are rather names of items or of groups of them, such as of 133 school classes, than classes.

    Hardly two items have the same, or there are more than 20 and fewer than 50 items of each on average. Items without a label count,
    as there may be labels for few.
    """
    levels = np.unique(codes[codes >= 0]).size
    return levels > 1 and codes.size < levels * (2 if levels <= MOST_CLASSES else _ENOUGH_EACH)


def stand_together(codes: np.ndarray) -> bool:
    """Whether labels (n,) come back, and items with the same nearly always stand one after the other, as members of a group are written down."""
    runs = 1 + np.count_nonzero(codes[1:] != codes[:-1])
    return bool(runs <= min(_PARTED * np.unique(codes).size, codes.size / 2))


def set_aside(dataset: Dataset, axis: Axis, titles: Sequence[str]) -> Dataset:
    """The matrix with measurements of the items of an axis as annotations instead. Raises ``DataError``."""
    names = "".join(f"{title}\n" for title in titles)
    return apply_step(dataset, Step("set_aside", {"axis": AXIS_WORDS[1 - axis], "names": names}))


def outcome_sentence(titles: Sequence[str], data: str) -> str:
    """That measurements of a data set are no longer among the inputs, in a sentence."""
    number, shown = len(titles), ", ".join(f"“{title}”" for title in titles)
    return f"{shown} {agree(number, 'is', 'are')} taken out of the measurements of “{data}”, so that nothing is explained by itself."
