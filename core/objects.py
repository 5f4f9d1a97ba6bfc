"""Python objects as datasets that keep their names: frames, annotated data, labelled arrays, sparse matrices, plain arrays.

An object is recognised by what it has, so that none of the packages that make such objects is needed or imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.dataset import Dataset, Source, Step
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.importers._findings import infer_kind
from plaidwork.core.importers._images import pixel_names
from plaidwork.core.importers._matrix import finish
from plaidwork.core.importers.annotated import DENSE_BELOW
from plaidwork.core.joining import default_names
from plaidwork.core.object_columns import (
    Column,
    Mixed,
    Names,
    column_of,
    exact,
    in_common_levels,
    is_missing,
    names_of,
    titles_of,
)
from plaidwork.core.spec import Input

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
FRAME_OPTIONS = ("names", "labels", "skip")
ANNOTATED_OPTIONS = ("layer", "modality")
OBJECT_OPTIONS = frozenset((*MATRIX_OPTIONS, *FRAME_OPTIONS, *ANNOTATED_OPTIONS))
"""Reading options that mean for an object what they mean for a file."""


NO_NAMES = Names()


@dataclass(frozen=True)
class Parts:
    """What an object holds: values (n, m), sparse or float64, or one column; names, and columns beside the axes.

    ``spare`` are columns of text of a table, which became annotations because they are no numbers.
    """

    values: Any
    rows: Names = field(default_factory=Names)
    columns: Names = field(default_factory=Names)
    row_table: Mapping[str, Column] = field(default_factory=dict)
    column_table: Mapping[str, Column] = field(default_factory=dict)
    name: str = ""
    words: tuple[str, str] = ("", "")
    unit: str = ""
    image_shape: tuple[int, ...] = ()
    spare: tuple[str, ...] = ()


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
    steps: Sequence[Mapping[str, Any] | Step] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def load(self, item: Input) -> list[Made]:
        """As datasets for ``item``: one, or as many as an object of several modalities has. Raises ``DataError``."""
        from plaidwork.core.transforms import apply_steps

        found = []
        for made in _made(self, item):
            changed = apply_steps(made.dataset, [s if isinstance(s, Step) else dict(s) for s in self.steps])
            found.append(Made(changed.with_(**self.fields), made.numbered, made.spare))
        return found


def as_dataset(name: str, value: Any) -> Dataset:
    """A dataset from a dataset, a file name, or an object that holds one matrix or vector. Raises ``DataError``."""
    if isinstance(value, Dataset):
        return value
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        from plaidwork.core.importers import read_dataset

        return read_dataset(value)
    return finished(name, parts_of(name, value, {}), {}).dataset


def is_frame(value: Any) -> bool:
    """Whether it is a table with titles above its columns (pandas, polars)."""
    return hasattr(value, "columns") and (hasattr(value, "iloc") or hasattr(value, "get_column"))


def is_annotated(value: Any) -> bool:
    """Whether it is one matrix with tables beside both axes (AnnData)."""
    return all(hasattr(value, word) for word in ("X", "obs", "var", "obs_names", "var_names"))


def is_multimodal(value: Any) -> bool:
    """Whether it is several annotated matrices of the same samples (MuData)."""
    return isinstance(getattr(value, "mod", None), Mapping) and hasattr(value, "obs")


def titles_in(value: Any) -> tuple[str, ...]:
    """Titles of what can be taken from beside the rows: columns of a table, of ``obs``, of a dataset's row table."""
    if isinstance(value, Dataset):
        return tuple(value.row_table)
    if is_annotated(value) or is_multimodal(value):
        return titles_of(value.obs.columns)
    return titles_of(value.columns) if is_frame(value) else ()


def parts_of(what: str, value: Any, options: Mapping[str, Any]) -> Parts:
    """Values, names and annotations of an object; ``what`` is what messages call it. Raises ``DataError``."""
    if is_annotated(value):
        return _annotated(what, value, options)
    if is_frame(value):
        return _frame(what, value, options)
    if hasattr(value, "dims") and hasattr(value, "coords"):
        return _labelled(what, value)
    if hasattr(value, "tocsr"):
        return Parts(_matrix(what, value))
    index = getattr(value, "index", None)
    if hasattr(value, "iloc") and index is not None:  # one column of a table
        name = value.name if isinstance(value.name, str) else ""
        rows = names_of(index, len(value))
        column = _column(what, value, rows, name or "value")
        return Parts(column, rows, name=name)
    return _plain(what, value)


# -- kinds of objects -----------------------------------------------------------------------------------
def _plain(what: str, value: Any) -> Parts:
    if isinstance(value, (list, tuple)) and not any(isinstance(one, (list, tuple)) for one in value):
        return Parts(_column(what, value))
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{what} cannot be made an array: {error}.", _KNOWN) from error
    if array.ndim == 1:
        return Parts(_column(what, value))
    if array.ndim not in (2, 3) or (array.dtype.kind not in "biuf" and array.dtype.kind != "O"):
        found = f"a {type(value).__name__} with {array.ndim} axes of {array.dtype}"
        raise DataError(f"{what} has to be a matrix or a vector of numbers. Found {found}.", _KNOWN)
    if array.ndim == 3:
        count, *shape = array.shape
        names = Names(pixel_names(shape))
        flat = _matrix(what, array.reshape(count, -1))
        return Parts(flat, columns=names, words=("images", "pixels"), image_shape=tuple(shape))
    return Parts(_matrix(what, value))


_KNOWN = "Give an array, a pandas DataFrame or Series, AnnData, MuData, a DataArray, a sparse matrix, or a file name."


def _frame(what: str, frame: Any, options: Mapping[str, Any]) -> Parts:
    titles = titles_of(frame.columns)
    if len(set(titles)) < len(titles) and not options.get("rename_duplicates"):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise DataError(f"{what}: the column name “{twice}” occurs more than once.", "Choose other names.")
    place = {title: number for number, title in enumerate(titles)}
    named, labels, skip = (_chosen(what, place, options, key) for key in FRAME_OPTIONS)
    if named:
        rows = Names(_texts(_column(what, _of_frame(frame, place[named[0]]), Names(), named[0])))
    else:
        rows = names_of(getattr(frame, "index", None), len(frame))
    if not (named or labels or skip) and (whole := _all_numbers(frame)) is not None:
        columns = names_of(frame.columns, len(titles))
        return Parts(_matrix(what, whole, rows, columns), rows, columns)
    numbers: list[int] = []
    values: list[np.ndarray] = []
    table: dict[str, Column] = {}
    for number, title in enumerate(titles):
        if title in skip or title in named:
            continue
        column = _column(what, _of_frame(frame, number), rows, title)
        if column.is_number and title not in labels:
            numbers.append(number)
            values.append(column.values)
        else:
            table[title] = column
    spare = tuple(title for title in table if title not in labels)
    columns = Names(tuple(titles[number] for number in numbers))
    if len(numbers) == len(titles):
        columns = names_of(frame.columns, len(titles))
    matrix = np.column_stack(values) if values else np.empty((len(frame), 0))
    return Parts(matrix, rows, columns, table, spare=spare)


def _all_numbers(frame: Any) -> np.ndarray | None:
    """The values of a table whose columns are all plain numbers, at once; None for any other."""
    kinds = [getattr(dtype, "kind", "") for dtype in frame.dtypes if isinstance(dtype, np.dtype)]
    if not kinds or len(kinds) < len(frame.columns) or not set(kinds) <= set("iuf"):
        return None
    return np.asarray(frame.to_numpy())


def _chosen(what: str, titles: Mapping[str, int], options: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Columns that an option names, by title. Raises ``SettingError`` for one that is not there."""
    given = options.get(key)
    wanted = () if given is None else titles_of([given] if isinstance(given, str) else given)
    for title in wanted:
        if title not in titles:
            raise SettingError(f"{key}: {what} has no column “{title}”.", f"It has: {', '.join(titles)}.")
    return wanted


def _of_frame(frame: Any, number: int) -> Any:
    """A column of a table by its place, so that titles may be of any type."""
    return frame.iloc[:, number] if hasattr(frame, "iloc") else frame.get_column(frame.columns[number])


def _annotated(what: str, data: Any, options: Mapping[str, Any]) -> Parts:
    data = data.to_memory() if getattr(data, "isbacked", False) else data
    wanted = str(options.get("layer") or "X").removeprefix("layers/")
    values, owner = (data.X, data) if wanted == "X" else (None, data)
    if wanted == "raw/X" and data.raw is not None:
        values, owner = data.raw.X, data.raw
    elif wanted in data.layers:
        values = data.layers[wanted]
    if values is None:
        layers = ["X"] * (data.X is not None) + [*data.layers] + ["raw/X"] * (data.raw is not None)
        raise DataError(f"{what} has no matrix “{wanted}”.", f"It has: {', '.join(layers) or 'none'}.")
    rows, columns = Names(titles_of(data.obs_names)), Names(titles_of(owner.var_names))
    matrix = _matrix(what, values, rows, columns)
    return Parts(
        matrix,
        rows,
        columns,
        _table(what, data.obs, rows),
        _table(what, owner.var, columns),
        words=("samples", "features"),
    )


def _table(what: str, frame: Any, names: Names) -> dict[str, Column]:
    """The columns of an annotation table; flags read “yes” and “no”, as from a file."""
    found = {}
    for number, title in enumerate(titles_of(frame.columns)):
        given = _of_frame(frame, number)
        column = _column(what, given, names, title, mixed_as_text=True)
        if column.is_number and getattr(getattr(given, "dtype", None), "kind", "") == "b":
            words = np.where(column.values > 0, "yes", "no")
            column = Column(np.where(np.isnan(column.values), "", words))
        found[title] = column
    return found


def _labelled(what: str, array: Any) -> Parts:
    """An array with named axes and coordinates along them (xarray)."""
    dims = tuple(array.dims)
    if len(dims) not in (1, 2):
        raise DataError(f"{what} has the axes {', '.join(map(str, dims))}; a matrix has 2, a vector 1.")
    names = [Names(), Names()]
    tables: list[dict[str, Column]] = [{}, {}]
    for axis, dim in enumerate(dims):
        if dim in array.coords:
            names[axis] = Names(titles_of(array.coords[dim].values))
    for title, coordinate in array.coords.items():
        if title not in dims and len(coordinate.dims) == 1:
            axis = dims.index(coordinate.dims[0])
            tables[axis][str(title)] = _column(what, coordinate.values, names[axis], str(title))
    name = array.name if isinstance(array.name, str) else ""
    unit = str(array.attrs.get("units", ""))
    if len(dims) == 1:
        return Parts(_column(what, array.values, names[0], name or "value"), names[0], name=name, unit=unit)
    matrix = _matrix(what, array.values, *names)
    return Parts(matrix, names[0], names[1], tables[0], tables[1], name, unit=unit)


# -- values ---------------------------------------------------------------------------------------------
def _column(
    what: str, values: Any, names: Names = NO_NAMES, title: str = "", mixed_as_text: bool = False
) -> Column:
    try:
        return column_of(values)
    except Mixed as mixed:
        if mixed_as_text:
            return Column(np.array(["" if is_missing(v) else str(v) for v in values], dtype=str))
        row = names.texts[mixed.place] if names.texts else f"row {mixed.place + 1}"
        where = f"row “{row}”, column “{title}”" if title else f"entry {mixed.place + 1}"
        raise DataError(
            f"{what}, {where}: found “{mixed.found}” among numbers.",
            "Make it missing (None or NaN), or make all entries texts.",
        ) from None
    except DataError as error:
        raise DataError(
            f"{what}{f', column “{title}”' if title else ''}: {error.message}", error.hint
        ) from None


def _matrix(what: str, values: Any, rows: Names = NO_NAMES, columns: Names = NO_NAMES) -> Any:
    """Values with two axes as float64, or CSR of them; masked cells are missing. Raises ``DataError``."""
    if hasattr(values, "tocsr"):
        if len(values.shape) != 2:
            raise DataError(f"{what} is sparse with {len(values.shape)} axes; a matrix has 2.")
        from scipy import sparse

        made = sparse.csr_matrix(values, copy=True)
        made.data = _numbers(what, made.data)
        made.sum_duplicates()
        return made
    if hasattr(values, "filled") and hasattr(values, "mask"):
        return np.where(np.ma.getmaskarray(values), np.nan, _numbers(what, np.ma.getdata(values)))
    array = np.asarray(values)
    if array.dtype.kind != "O":
        return _numbers(what, array)
    made = np.empty(array.shape)
    for place in range(array.shape[1]):
        title = columns.texts[place] if columns.texts else f"column {place + 1}"
        column = _column(what, array[:, place], rows, title)
        if not column.is_number:
            raise DataError(
                f"{what}, column “{title}”: numbers are needed. Found “{column.values[0]}”.", _KNOWN
            )
        made[:, place] = column.values
    return made


def _numbers(what: str, array: np.ndarray) -> np.ndarray:
    try:
        return exact(array)
    except DataError as error:
        raise DataError(f"{what}: {error.message}", error.hint) from None


# -- datasets -------------------------------------------------------------------------------------------
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
    if item.kind != "matrix":
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
        parts = _with(parts, values=parts.values.toarray())
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
    place = {name: number for number, name in enumerate(names)}
    index = np.array([place.get(name, -1) for name in dataset.row_names])
    table = dict(dataset.row_table)
    for title, column in _table(dataset.name, frame, Names(names)).items():
        if title not in table and (index >= 0).any():
            spread = np.array(column.values)[index]
            spread[index < 0] = np.nan if column.is_number else ""
            table[title] = spread
    return dataset.with_(row_table=table)


def _one_column(name: str, parts: Parts, item: Input) -> Made:
    """The only column of an object, for labels or a vector."""
    from plaidwork.core.annotation_inputs import codes_of

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
    from plaidwork.core.annotation_inputs import codes_of

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
    return _with(parts, values=column.values[:, None], columns=Names((parts.name or name,)))


def _with(parts: Parts, **changes: Any) -> Parts:
    return Parts(**{**{key: getattr(parts, key) for key in parts.__dataclass_fields__}, **changes})


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
    made = finish(
        name,
        name,
        values,
        rows,
        columns,
        _values(parts.row_table),
        parts.words,
        options,
        Source(),
        column_table=_values(parts.column_table),
        image_shape=parts.image_shape,
    )
    numbered = (parts.rows.numbered, parts.columns.numbered)
    if options.get("transpose"):
        numbered = numbered[::-1]
    return Made(made.with_(unit=parts.unit), numbered, parts.spare)


def _values(table: Mapping[str, Column]) -> dict[str, np.ndarray]:
    return {title: column.values for title, column in table.items()}


def _texts(column: Column) -> tuple[str, ...]:
    from plaidwork.core.annotation_inputs import number_text

    if not column.is_number:
        return tuple(map(str, column.values))
    return tuple("" if np.isnan(value) else number_text(value) for value in column.values)
