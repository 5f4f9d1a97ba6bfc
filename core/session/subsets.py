"""What is selected in a run as names, and as data sets of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Axis, Dataset, Step
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.inference.run import Run

KINDS: tuple[str, str] = ("row", "column")
"""Kinds of a run's selection that stand for items of its data."""
MOST_VALUES = 40
"""Values of an annotation by which items are offered, at most."""


@dataclass(frozen=True)
class Items:
    """Items of the fitted data.

    Attributes
    ----------
    kind : as in the selection of a run, ``row`` or ``column``.
    names : of all items, in the order of the fit.
    word : what they are called, in the plural.
    found_in : the data sets that hold them, each with the axis.
    """

    kind: str
    names: tuple[str, ...]
    word: str
    found_in: tuple[tuple[Dataset, Axis], ...]

    def named(self, indices: Sequence[int]) -> tuple[str, ...]:
        """Names of some of them; what is out of range is left out."""
        return tuple(self.names[index] for index in indices if 0 <= index < len(self.names))

    def groups(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Items by the values of their annotations, by title: texts of up to 40 values."""
        found: dict[str, dict[str, tuple[int, ...]]] = {}
        for data, axis in self.found_in:
            own = (data.row_names, data.column_names)[axis]
            at = {name: index for index, name in enumerate(own)} if own != self.names else {}
            held = np.array(
                [index for index, name in enumerate(self.names) if not at or name in at], dtype=int
            )
            place = np.array([at[self.names[index]] for index in held], dtype=int) if at else held
            for title, column in (data.row_table, data.column_table)[axis].items():
                values = np.asarray(column)
                if title in found or values.dtype.kind not in "OUSb":
                    continue
                texts, which = np.unique(values[place].astype(str), return_inverse=True)
                if 1 < (texts != "").sum() <= MOST_VALUES:
                    found[title] = {
                        str(text): tuple(held[which == number].tolist())
                        for number, text in enumerate(texts)
                        if text
                    }
        return found

    def subsets(self, indices: Sequence[int]) -> list[Dataset]:
        """The data sets with these items alone, in the order of the fit, each with its history. Raises ``DataError``."""
        wanted = self.named(sorted(set(indices)))
        found = []
        for data, axis in self.found_in:
            own = set((data.row_names, data.column_names)[axis])
            names = [name for name in wanted if name in own]
            if names:
                wanted_lines = "".join(f"{name}\n" for name in names)
                step = Step("select", {"axis": ("rows", "columns")[axis], "names": wanted_lines})
                made = apply_step(data, step)
                found.append(made.with_(name=f"{data.name}, {len(names)} {self.word}"))
        return found


def items_of(run: Run, datasets: Mapping[str, Dataset], kind: str) -> Items | None:
    """What ``kind`` of a run's selection stands for; None where that is not one axis of the data, or the data are gone.

    Rows are those of the first input, as joined over all data sets that share them; columns are items of one data set only.
    """
    first = next(
        (item for item in run.spec.inputs if item.kind == "matrix" and run.inputs.get(item.name)), None
    )
    if first is None or kind not in KINDS:
        return None
    dim = first.dims[KINDS.index(kind)]
    if kind == "column" and len(run.inputs[first.name]) > 1:
        return None
    found = tuple(
        (datasets[name], _axis(item, dim))
        for item in run.spec.inputs
        if item.kind == "matrix" and dim in item.dims
        for name in run.inputs.get(item.name, ())
        if name in datasets
    )
    names = _fitted_names(run, datasets, dim, found)
    if not names:
        return None
    data, axis = found[0]
    return Items(kind, names, data.axis_words[axis], found)


def joined_names(run: Run, datasets: Mapping[str, Dataset], dim: str) -> tuple[str, ...]:
    """Names along a dim that several data sets share, as the fit has joined them."""
    joined: list[str] | None = None
    for item in run.spec.inputs:
        used = run.inputs.get(item.name, ())
        if dim not in item.dims or not used:
            continue
        axis = _axis(item, dim)
        held = [datasets.get(name) for name in used]
        entries = [() if one is None else (one.row_names, one.column_names)[axis] for one in held]
        if item.union and axis == 0:
            entries = [tuple(dict.fromkeys(name for entry in entries for name in entry))]
        for entry in entries:
            known = set(entry)
            joined = list(entry) if joined is None else [name for name in joined if name in known]
    return tuple(joined or ())


def _fitted_names(
    run: Run, datasets: Mapping[str, Dataset], dim: str, found: Sequence[tuple[Dataset, Axis]]
) -> tuple[str, ...]:
    """Names of the items of the fit: those of the first data set where results are as long, else the joined ones."""
    if not found:
        return ()
    lengths = {
        length
        for one in run.results.values()
        if isinstance(one, Result)
        for own, length in zip(one.dims, one.values.shape)
        if own == dim
    }
    data, axis = found[0]
    first = (data.row_names, data.column_names)[axis]
    return first if len(first) in lengths else joined_names(run, datasets, dim)


def _axis(item: Input, dim: str) -> Axis:
    return 0 if item.dims.index(dim) == 0 else 1
