"""Joining datasets that share an axis: by name, or by position where nobody named anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plaidwork.core.data.dataset import Axis, Dataset, Step
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_NUMBERED = re.compile(r"(row|column|document) ([1-9]\d*)\Z")


def default_names(what: str, size: int) -> tuple[str, ...]:
    """``row 1``, ``row 2``, … for an axis without names; ``what`` is ``row``, ``column`` or ``document``."""
    return tuple(f"{what} {number}" for number in range(1, size + 1))


def has_default_names(names: Sequence[str]) -> bool:
    """Whether the names are those of :func:`default_names`, none left out and in order."""
    if not names:
        return False
    match = _NUMBERED.match(names[0])
    return match is not None and tuple(names) == default_names(match[1], len(names))


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What a join did: items kept, and the names that each dataset had to leave out."""

    n_matched: int
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_position: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return not any(self.left_out.values())

    @property
    def text(self) -> str:
        """One sentence for the set-up page and the log."""
        if self.by_position:
            return f"{self.n_matched} joined by position (no names given)."
        if self.complete:
            return f"{self.n_matched} of {self.n_matched} names match."
        parts = [f"{title} leaves out {_listed(names)}" for title, names in self.left_out.items() if names]
        return f"{self.n_matched} names match; {'; '.join(parts)}."


def align(
    datasets: Mapping[str, tuple[Dataset, Axis]],
) -> tuple[dict[str, np.ndarray | None], JoinReport]:
    """Find the items that all datasets have, in the order of the first one.

    Parameters
    ----------
    datasets : by title (the input's name): the dataset, and which of its axes is shared.

    Returns
    -------
    index per title into that axis (int64), ``None`` where the axis is right as it is; and the report.

    Raises
    ------
    DataError : no name in common, or axes without names that differ in length.
    """
    names = {
        title: (data.column_names if axis else data.row_names) for title, (data, axis) in datasets.items()
    }
    if len(names) < 2:
        return dict.fromkeys(names), JoinReport(n_matched=len(next(iter(names.values()), ())))
    sizes = {title: len(entry) for title, entry in names.items()}
    if all(map(has_default_names, names.values())):
        if len(set(sizes.values())) > 1:
            raise DataError(
                f"Without names, shared axes must have equal length. Found {_sizes(sizes)}.",
                "Import the data with names, or select the same items in each.",
            )
        return dict.fromkeys(names), JoinReport(n_matched=next(iter(sizes.values())), by_position=True)
    common = set.intersection(*(set(entry) for entry in names.values()))
    if not common:
        shown = "; ".join(f"{title}: “{entry[0]}”, …" for title, entry in names.items() if entry)
        raise DataError(f"No name occurs in {_titles(names)}. First names: {shown}.", _hint(names))
    first = next(iter(names.values()))
    wanted = [name for name in first if name in common]
    index: dict[str, np.ndarray | None] = {}
    for title, entry in names.items():
        index_of = {name: position for position, name in enumerate(entry)}
        found = np.fromiter((index_of[name] for name in wanted), dtype=np.int64, count=len(wanted))
        same = len(found) == len(entry) and bool(np.array_equal(found, np.arange(len(entry))))
        index[title] = None if same else found
    left_out = {title: tuple(name for name in entry if name not in common) for title, entry in names.items()}
    return index, JoinReport(n_matched=len(wanted), left_out=left_out)


def unite(datasets: Sequence[Dataset]) -> list[Dataset]:
    """Give all datasets the rows that any of them has, in order of appearance; absent rows are missing cells.

    Raises
    ------
    DataError : a dataset shares no row name with the others, or rows without names differ in number.
    """
    names = {f"{data.name} ({index + 1})": data.row_names for index, data in enumerate(datasets)}
    if len(datasets) < 2 or len({data.row_names for data in datasets}) == 1:
        return list(datasets)
    if all(map(has_default_names, names.values())):
        sizes = {title: len(entry) for title, entry in names.items()}
        raise DataError(
            f"Without names, shared rows must be equal in number. Found {_sizes(sizes)}.",
            "Import the data with names, or select the same rows in each.",
        )
    for title, entry in names.items():
        others = {name for other, entries in names.items() if other != title for name in entries}
        if others.isdisjoint(entry):
            raise DataError(
                f"“{title}” has no row name in common with the others. Its first name: “{entry[0]}”.",
                _hint(names),
            )
    union = tuple(dict.fromkeys(name for entry in names.values() for name in entry))
    return [_widened(data, union) for data in datasets]


def _widened(data: Dataset, names: tuple[str, ...]) -> Dataset:
    if data.row_names == names:
        return data
    index_of = {name: position for position, name in enumerate(data.row_names)}
    index = np.array([index_of.get(name, -1) for name in names])
    absent = index < 0
    values = np.array(data.values[index])
    values[absent] = np.nan
    table = {}
    for title, column in data.row_table.items():
        column = np.array(np.asarray(column)[index])
        if column.dtype.kind in "biu":
            column = column.astype(float)
        column[absent] = np.nan if column.dtype.kind == "f" else ""
        table[title] = column
    step = Step(
        "joined", {"text": f"joined by name, {counted(int(absent.sum()), 'row')} without values added"}
    )
    return data.with_(values=values, row_names=names, row_table=table, steps=(*data.steps, step))


def _hint(names: Mapping[str, Sequence[str]]) -> str:
    unnamed = [title for title, entry in names.items() if has_default_names(entry)]
    if unnamed:
        return f"{_titles(unnamed)} was imported without names. Import it with names, or all of them without."
    return "Check which axis holds the names, and whether they are spelled alike."


def _titles(titles: Mapping[str, object] | Sequence[str]) -> str:
    quoted = [f"“{title}”" for title in titles]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]


def _sizes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{size} in “{title}”" for title, size in sizes.items())


def _listed(names: Sequence[str], limit: int = 3) -> str:
    shown = ", ".join(names[:limit])
    return f"{len(names)} ({shown}{', …' if len(names) > limit else ''})"
