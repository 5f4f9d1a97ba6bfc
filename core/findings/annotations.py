"""Annotation columns as an analysis asks for them, as they are named, and as it gets them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SettingError

if TYPE_CHECKING:
    from plaidwork.core.inference.run import Run

AxisName = Literal["row", "column"]
AXES: tuple[AxisName, AxisName] = ("row", "column")
ALL = "all"
"""What stands for every column on offer, where many may be chosen."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Annotations:
    """A choice of annotation columns: one, or with ``many`` any number.

    ``axis`` limits it to the columns that describe rows or columns; ``values`` to text or numbers. ``of`` is a role
    of the analysis' needs, whose result has a dim that the columns have to describe, or an input of the analysis,
    whose data they come with; without it they come with any of the fitted data. Unless told otherwise, ``many``
    takes every column on offer, those of one dim and title once. ``likely`` are words, the likeliest first: a form begins
    with a column whose title has one of them.
    """

    name: str
    axis: Literal["", "row", "column"] = ""
    values: Literal["", "text", "number"] = ""
    required: bool = True
    label: str = ""
    doc: str = ""
    many: bool = False
    of: str = ""
    likely: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise DeclarationError(f"annotation name {self.name!r} is not an identifier")

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True, order=True)
class AnnotationRef:
    """One annotation column: of which input (of the run or the analysis), which axis, which title."""

    input: str
    axis: AxisName
    title: str

    def __str__(self) -> str:
        return f"{self.input}:{self.axis}:{self.title}"

    @classmethod
    def parse(cls, text: str) -> AnnotationRef:
        """``X:row:title`` back. Raises ``SettingError``."""
        parts = text.split(":", 2)
        if len(parts) != 3 or parts[1] not in AXES or not parts[2]:
            raise SettingError(
                f"An annotation is named INPUT:row:TITLE or INPUT:column:TITLE. Found “{text}”."
            )
        return cls(parts[0], AXES[parts[1] == "column"], parts[2])


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation column in the order of the fitted data.

    Attributes
    ----------
    values : (n,) float64 with NaN where missing, or text (object array) with "" where missing.
    dim : the fitted dim that it describes, such as ``row``.
    axis_label : what the items are called, in the plural ("genes").
    """

    title: str
    values: np.ndarray
    axis: AxisName
    dim: str
    axis_label: str

    @property
    def is_number(self) -> bool:
        return self.values.dtype.kind == "f"

    @property
    def known(self) -> np.ndarray:
        """(n,) bool, False where missing."""
        if self.is_number:
            return ~np.isnan(self.values)
        return np.array([value != "" for value in self.values], dtype=bool)


def available_annotations(
    declared: Annotations,
    run: Run,
    datasets: Mapping[str, Dataset],
    needs: Mapping[str, str] | None = None,
    chosen: Mapping[str, Sequence[Dataset]] | None = None,
) -> list[AnnotationRef]:
    """The columns to choose from, in the order of inputs, rows before columns; each dataset once.

    ``needs`` are those of the analysis, ``chosen`` the datasets of its own inputs, for ``Annotations.of``. Of an
    input that takes many matrices the rows are described by all of them, the columns by the first.
    """
    chosen = chosen or {}
    if declared.of in chosen:
        return _columns(declared, declared.of, chosen[declared.of], AXES)
    dims = _dims_of(declared, run, needs or {})
    found: list[AnnotationRef] = []
    seen: set[tuple[str, ...]] = set()
    described: set[tuple[str, str]] = set()
    for item in run.spec.inputs:
        names = tuple(name for name in run.inputs.get(item.name, ()) if name in datasets)
        if not names or names in seen:
            continue
        seen.add(names)
        axes = [axis for axis, dim in zip(AXES, item.dims) if dims is None or dim in dims]
        for ref in _columns(declared, item.name, [datasets[name] for name in names], axes):
            what = (item.dims[AXES.index(ref.axis)], ref.title)
            if not (declared.many and what in described):
                found.append(ref)
            described.add(what)
    return found


def _dims_of(declared: Annotations, run: Run, needs: Mapping[str, str]) -> tuple[str, ...] | None:
    """Dims that the columns may describe; None for any."""
    if not declared.of:
        return None
    return tuple(getattr(run.results.get(needs.get(declared.of, "")), "dims", ()))


def _columns(
    declared: Annotations, name: str, datasets: Sequence[Dataset], axes: Sequence[AxisName]
) -> list[AnnotationRef]:
    found: dict[AnnotationRef, None] = {}
    for axis in axes:
        if declared.axis not in ("", axis):
            continue
        for dataset in datasets if axis == "row" else datasets[:1]:
            for title, column in annotation_table(dataset, axis).items():
                kind = "number" if is_number_column(np.asarray(column)) else "text"
                if declared.values in ("", kind):
                    found.setdefault(AnnotationRef(name, axis, title))
    return list(found)


def annotation_table(dataset: Dataset, axis: AxisName) -> Mapping[str, np.ndarray]:
    """The columns that describe an axis; none for the columns of a vector."""
    if axis == "row":
        return dataset.row_table
    return dataset.column_table if len(dataset.shape) == 2 else {}


def is_number_column(column: np.ndarray) -> bool:
    """Whether an annotation column holds numbers (missing ones apart)."""
    if column.dtype.kind in "iuf":
        return True
    if column.dtype.kind != "O":
        return False
    numbers = [isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in column]
    known = [not is_missing_value(v) for v in column]
    return any(known) and all(n for n, k in zip(numbers, known, strict=True) if k)


def is_missing_value(value: Any) -> bool:
    """None, empty text and NaN."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def annotation_values(column: np.ndarray) -> np.ndarray:
    """Numbers as float64 with NaN, anything else as text with "" where missing."""
    if is_number_column(column):
        if column.dtype.kind == "O":
            return np.array([np.nan if is_missing_value(v) else float(v) for v in column])
        return column.astype(np.float64)
    if column.dtype.kind == "b":
        return np.array(["yes" if value else "no" for value in column], dtype=object)
    return np.array(["" if is_missing_value(value) else str(value) for value in column], dtype=object)
