"""What an object of Python holds: values, names, and columns beside both axes.

An object is recognised by what it has, so that none of the packages that make such objects is needed or imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._images import pixel_names
from plaidwork.core.data.object_columns import (
    Column,
    Mixed,
    Names,
    column_of,
    exact,
    is_missing,
    names_of,
    titles_of,
)
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SettingError

FRAME_OPTIONS = ("names", "labels", "skip")
"""Reading options for the columns of a table."""
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
        found = f"a {type(value).__name__} with {counted(array.ndim, 'axis')} of {array.dtype}"
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
    index_of = {title: number for number, title in enumerate(titles)}
    named, labels, skip = (_chosen(what, index_of, options, key) for key in FRAME_OPTIONS)
    if named:
        rows = Names(_texts(_column(what, _of_frame(frame, index_of[named[0]]), Names(), named[0])))
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
        annotations_of(what, data.obs, rows),
        annotations_of(what, owner.var, columns),
        words=("samples", "features"),
    )


def annotations_of(what: str, frame: Any, names: Names) -> dict[str, Column]:
    """The columns of an annotation table; flags read “yes” and “no”, as from a file."""
    found = {}
    for number, title in enumerate(titles_of(frame.columns)):
        given = _of_frame(frame, number)
        column = _column(what, given, names, title, mixed_as_text=True)
        if column.is_number and getattr(getattr(given, "dtype", None), "kind", "") == "b":
            texts = np.where(column.values > 0, "yes", "no")
            column = Column(np.where(np.isnan(column.values), "", texts))
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
        row = names.texts[mixed.index] if names.texts else f"row {mixed.index + 1}"
        where = f"row “{row}”, column “{title}”" if title else f"entry {mixed.index + 1}"
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
            raise DataError(f"{what} is sparse with {counted(len(values.shape), 'axis')}; a matrix has 2.")
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
    for index in range(array.shape[1]):
        title = columns.texts[index] if columns.texts else f"column {index + 1}"
        column = _column(what, array[:, index], rows, title)
        if not column.is_number:
            raise DataError(
                f"{what}, column “{title}”: numbers are needed. Found “{column.values[0]}”.", _KNOWN
            )
        made[:, index] = column.values
    return made


def _numbers(what: str, array: np.ndarray) -> np.ndarray:
    try:
        return exact(array)
    except DataError as error:
        raise DataError(f"{what}: {error.message}", error.hint) from None


def _texts(column: Column) -> tuple[str, ...]:
    from plaidwork.core.data.annotation_inputs import number_text

    if not column.is_number:
        return tuple(map(str, column.values))
    return tuple("" if np.isnan(value) else number_text(value) for value in column.values)
