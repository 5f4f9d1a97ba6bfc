"""An outcome that is a column of the measured table is taken out of the measurements it is fitted with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import AXES, ColumnRef, columns_of
from plaidwork.core.data.dataset import Axis, Dataset, with_free_name
from plaidwork.core.data.measured import features_of, set_aside

_ADDRESS = re.compile(r"(.+?):(row|column):(.+)\Z", re.DOTALL)


def without_outcomes(
    items: Sequence[Input],
    given: Mapping[str, Sequence[Dataset]],
    taken: Mapping[str, Dataset] | None = None,
) -> dict[str, tuple[Dataset, ...]]:
    """The datasets by input; matrices of which a measurement is another input as well are there without it, as an annotation.

    A matrix that lost a measurement is a dataset of its own, under a name that is free among ``taken``. What was made of the
    same file, such as a standardised copy, loses it too.
    """
    columns = [one for item in items for one in given.get(item.name, ()) if column_of(one) is not None]
    found = {name: tuple(datasets) for name, datasets in given.items()}
    for item in items if columns else ():
        if item.kind == "matrix":
            found[item.name] = tuple(_without(one, columns, taken) for one in given.get(item.name, ()))
    return {name: datasets for name, datasets in found.items() if datasets}


def column_of(dataset: Dataset) -> ColumnRef | None:
    """The column that a dataset was taken from; None where it is none."""
    match = _ADDRESS.match(str(dataset.source.options.get("annotation") or ""))
    return ColumnRef(match[1], 0 if match[2] == AXES[0] else 1, match[3]) if match else None


def measured_of(dataset: Dataset, ref: ColumnRef) -> list[str]:
    """Titles of the named columns that are measurements of the dataset."""
    own = set(features_of(dataset, ref.axis)) - set(dataset.column_table if ref.axis else dataset.row_table)
    return [title for title in columns_of(dataset, ref) or [] if title in own]


def _without(matrix: Dataset, columns: Sequence[Dataset], taken: Mapping[str, Dataset] | None) -> Dataset:
    """The matrix without those of its measurements that are among the columns."""
    made = matrix
    for one in columns:
        ref = column_of(one)
        if ref is None or one is matrix or not _of_one_table(matrix, one, ref):
            continue
        axis = _axis_of(made, one, ref.axis)
        if mine := measured_of(made, ColumnRef(made.name, axis, ref.titles)):
            made = set_aside(made, axis, mine).with_(name=f"{made.name} without {', '.join(mine)}")
    return made if made is matrix or taken is None else with_free_name(made, taken)


def _of_one_table(matrix: Dataset, column: Dataset, ref: ColumnRef) -> bool:
    sums = matrix.source.sha256
    return matrix.name == ref.dataset or bool(sums and sums == column.source.sha256)


def _axis_of(matrix: Dataset, column: Dataset, axis: Axis) -> Axis:
    """The axis of the matrix whose items the column is about: it may have been turned since."""
    names = set((matrix.row_names, matrix.column_names)[axis])
    return axis if names.intersection(column.row_names) else 1 if axis == 0 else 0
