"""Python objects as datasets that keep their names: frames, annotated data, labelled arrays, sparse matrices, plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.data.importers._matrix import finished as finished_table
from plaidwork.core.data.importers.annotated import DENSE_BELOW
from plaidwork.core.data.importers.base import RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.object_columns import Column, Names, in_common_levels, titles_of
from plaidwork.core.data.object_parts import FRAME_OPTIONS, Parts, annotations_of, is_multimodal, parts_of
from plaidwork.core.data.value_kinds import infer_kind
from plaidwork.core.errors import DataError, SettingError

MATRIX_OPTIONS = (
    "kind",
    "rename_duplicates",
    "infinite",
    "transpose",
    "log",
    "drop_empty_rows",
    "drop_empty_columns",
    "drop_constant_rows",
    "drop_constant_columns",
)
ANNOTATED_OPTIONS = ("layer", "modality")
OBJECT_OPTIONS = frozenset((*MATRIX_OPTIONS, *FRAME_OPTIONS, *ANNOTATED_OPTIONS))
"""Reading options that mean for an object what they mean for a file."""


@dataclass(frozen=True)
class Made:
    """A dataset made of an object. ``numbered`` says of each axis whether a table's own count stands for its names."""

    dataset: Dataset
    numbered: tuple[bool, ...] = (False, False)
    spare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectInput:
    """An object in memory as input of a model: how to read it, and what to do with the values, as of a file."""

    value: Any
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def load(self, item: Input) -> list[Made]:
        """As datasets for ``item``: one, or as many as an object of several modalities has. Raises ``DataError``."""
        from plaidwork.core.data.transforms import apply_steps

        found = []
        for made in _made(self, item):
            dataset = apply_steps(made.dataset, self.steps)
            found.append(replace(made, dataset=dataset.with_(**self.fields)))
        return found


def as_dataset(name: str, value: Any) -> Dataset:
    """A dataset from a dataset, a file name, or an object that holds one matrix or vector. Raises ``DataError``."""
    if isinstance(value, Dataset):
        return value
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        from plaidwork.core.data.importers import read_dataset

        return read_dataset(value)
    return finished(name, parts_of(name, value, {}), {}).dataset


def _made(given: ObjectInput, item: Input) -> list[Made]:
    value, options = given.value, given.options
    if is_multimodal(value):
        return _modalities(given, item)
    name = given.name or item.name
    if isinstance(value, Dataset):
        if options:
            raise SettingError(
                f"{value.name} has been read already. Found the reading option “{next(iter(options))}”."
            )
        return [Made(value.with_(name=given.name) if given.name else value)]
    parts = parts_of(name, value, options)
    name = given.name or parts.name or item.name
    several = item.several and not isinstance(parts.values, Column) and parts.values.shape[1] > 1
    if item.kind != "matrix" and not several:
        return [_one_column(name, parts, item)]
    if item.dtype == "ordinal" and parts.row_table and not parts.values.shape[1]:
        return [_ordinal(name, parts)]
    if isinstance(parts.values, Column):
        parts = _as_matrix(name, parts, item)
    if not parts.values.shape[1] and parts.row_table:
        titles = ", ".join(f"“{title}”" for title in parts.row_table)
        raise DataError(
            f"{name} has no column of numbers.", f"Its columns of text: {titles}. Make numbers of them first."
        )
    if hasattr(parts.values, "tocsr") and not item.sparse and np.prod(parts.values.shape) <= DENSE_BELOW:
        parts = replace(parts, values=parts.values.toarray())
    return [finished(name, parts, options)]


def _modalities(given: ObjectInput, item: Input) -> list[Made]:
    """Every modality, or the chosen one, with what the whole knows of its samples."""
    found, options = dict(given.value.mod), dict(given.options)
    chosen = options.pop("modality", None)
    if chosen is not None and chosen not in found:
        raise DataError(f"{item.name} has no modality “{chosen}”.", f"It has: {', '.join(found)}.")
    made = []
    for name, data in found.items():
        if chosen in (None, name):
            (one,) = _made(ObjectInput(data, str(name), options), item)
            made.append(Made(_beside(one.dataset, given.value.obs), one.numbered))
    return made


def _beside(dataset: Dataset, frame: Any) -> Dataset:
    """The dataset with the columns of a table of more samples, those that it has not already."""
    names = titles_of(frame.index)
    index_of = {name: number for number, name in enumerate(names)}
    index = np.array([index_of.get(name, -1) for name in dataset.row_names])
    table = dict(dataset.row_table)
    for title, column in annotations_of(dataset.name, frame, Names(names)).items():
        if title not in table and (index >= 0).any():
            spread = np.array(column.values)[index]
            spread[index < 0] = np.nan if column.is_number else ""
            table[title] = spread
    return dataset.with_(row_table=table)


def _one_column(name: str, parts: Parts, item: Input) -> Made:
    """The only column of an object, for labels or a vector."""
    from plaidwork.core.data.annotation_inputs import codes_of

    column = parts.values
    if not isinstance(column, Column):
        columns = [Column(values) for values in _columns_of(parts.values)] + [*parts.row_table.values()]
        if len(columns) != 1:
            raise DataError(
                f"“{item.title}” needs one column. {name} has {len(columns)}.",
                "Give one of them, for example frame[title].",
            )
        column = columns[0]
    size = len(column.values)
    rows = parts.rows.texts or default_names("row", size)
    common: dict[str, Any] = {"unit": parts.unit, "source": Source()}
    numbered = (parts.rows.numbered, False)
    if item.kind == "labels":
        codes, categories = codes_of(column.values, column.levels)
        return Made(Dataset(name, codes, rows, (), "categorical", categories, **common), numbered)
    if not column.is_number:
        first = next((text for text in column.values if text), "")
        raise DataError(
            f"“{item.title}” needs numbers. {name} holds texts, the first is “{first}”.",
            "Make it 1 where it is the value that counts, and 0 elsewhere.",
        )
    return Made(Dataset(name, column.values, rows, (), infer_kind(column.values), **common), numbered)


def _columns_of(values: Any) -> list[np.ndarray]:
    dense = values.toarray() if hasattr(values, "tocsr") else values
    return [np.ascontiguousarray(column) for column in dense.T]


def _ordinal(name: str, parts: Parts) -> Made:
    """Columns of texts as grades: in the order of their categories where all share it, else of the alphabet."""
    from plaidwork.core.data.annotation_inputs import codes_of

    columns = list(parts.row_table.values())
    stacked = np.concatenate([column.values for column in columns])
    codes, categories = codes_of(stacked, in_common_levels(columns))
    values = np.where(codes < 0, np.nan, codes).reshape(len(columns), -1).T
    rows = parts.rows.texts or default_names("row", len(values))
    made = Dataset(name, values, rows, tuple(parts.row_table), "ordinal", categories)
    return Made(made, (parts.rows.numbered, False))


def _as_matrix(name: str, parts: Parts, item: Input) -> Parts:
    """A column as a matrix of one column, under its own name; a bare list of numbers is none."""
    column: Column = parts.values
    if not column.is_number or not parts.rows.texts:
        found = "numbers" if column.is_number else "texts"
        raise DataError(
            f"“{item.title}” needs a matrix. Found {len(column.values)} {found} in one line as {name}."
        )
    return replace(parts, values=column.values[:, None], columns=Names((parts.name or name,)))


def finished(name: str, parts: Parts, options: Mapping[str, Any]) -> Made:
    """The dataset, with kind, checked names and steps by the rules for files."""
    values = parts.values.values if isinstance(parts.values, Column) else parts.values
    if values.dtype.kind == "U":
        raise DataError(f"{name} holds texts, such as “{values[0]}”; numbers are needed.")
    if options.get("infinite") == "missing" and not hasattr(values, "tocsr"):
        values = np.where(np.isinf(values), np.nan, values)
    images = bool(parts.image_shape)
    rows = parts.rows.texts or default_names("image" if images else "row", values.shape[0])
    columns = parts.columns.texts or default_names("column", values.shape[-1])
    raw = RawTable(
        Path(),
        name,
        values,
        rows,
        columns,
        _values(parts.row_table),
        _values(parts.column_table),
        parts.words,
        image_shape=parts.image_shape,
        source=Source(),
        file=name,
    )
    made = finished_table(raw, options)
    numbered = (parts.rows.numbered, parts.columns.numbered)
    if options.get("transpose"):
        numbered = numbered[::-1]
    return Made(made.with_(unit=parts.unit), numbered, parts.spare)


def _values(table: Mapping[str, Column]) -> dict[str, np.ndarray]:
    return {title: column.values for title, column in table.items()}
