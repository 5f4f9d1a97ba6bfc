"""One array of a NumPy file, or its training and test halves together, with what belongs to it."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._images import pixel_names
from plaidwork.core.data.importers._npz_parts import (
    LABEL,
    SPLIT,
    Halves,
    check_halves,
    find_halves,
    label_array,
    label_column,
    split_column,
)
from plaidwork.core.data.importers._staying import can_stay, stays
from plaidwork.core.data.importers.base import ImportOptions
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.joining import default_names
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_NAMES = {0: ("row_names", "rownames", "rows"), 1: ("column_names", "columnnames", "colnames", "columns")}
_SHAPE = "image_shape"
"""Name of the array that says height and width of the images which the rows of the matrices are."""
NO_IMAGES = "Correct image_shape in the file, or read the rows as plain numbers (image_shape=none)."
"""Hint of an error that goes away when the rows are not taken for images."""


@dataclass(frozen=True, slots=True)
class Header:
    """Shape and type of an array, where in its file its numbers begin, and whether column follows column."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int = 0
    by_columns: bool = False

    @property
    def described(self) -> str:
        return f"{' × '.join(map(str, self.shape)) or 'one number'}, {self.dtype}"


def candidates_of(headers: Mapping[str, Header]) -> dict[str, Header]:
    """The arrays that can be imported: numbers with 1 to 3 axes, or a list of texts."""
    companions = {_SHAPE, *(name for group in _NAMES.values() for name in group)}
    return {
        name: header
        for name, header in headers.items()
        if (header.dtype.kind in "biuf" and 1 <= len(header.shape) <= 3 and name != _SHAPE)
        or (header.dtype.kind == "U" and len(header.shape) == 1 and name not in companions)
    }


def halves_of(headers: Mapping[str, Header], array: str) -> Halves | None:
    """The training and test parts that ``array`` stands for."""
    found = find_halves({name: header.shape for name, header in candidates_of(headers).items()})
    return found if found is not None and found.array == array else None


def staying(path: Path, header: Header, options: ImportOptions) -> InFile | None:
    """The matrix of an npy file where it stays there: large, or so requested; None otherwise. Raises ``DataError``."""
    fits = can_stay(header.dtype) and header.dtype.isnative
    if not stays(path.name, header.shape, fits, header.described, options):
        return None
    return InFile(path, header.begin, header.shape, header.dtype, turned=header.by_columns)


@dataclass(frozen=True)
class Loaded:
    """Values (float64, or texts), names of rows and columns, columns beside the rows, notes, and the shape of images."""

    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    table: dict[str, np.ndarray]
    message: tuple[str, str] | None
    """A message and its detail for the preview."""
    notes: tuple[str, ...]
    image_shape: tuple[int, ...]

    @property
    def words(self) -> tuple[str, str]:
        return ("images", "pixels") if self.image_shape else ("", "")


def load(path: Path, headers: Mapping[str, Header], array: str, options: ImportOptions) -> Loaded:
    """Read an array, or both halves. Raises ``DataError`` for damage, for parts that do not fit, and for numbers too large."""
    halves = halves_of(headers, array) if array else None
    shapes = {name: header.shape for name, header in candidates_of(headers).items()}
    if halves is not None:
        check_halves(path.name, halves, shapes)
    beside = label_array(shapes, array) if array in shapes and len(shapes[array]) >= 2 else ""
    wanted = [array] if halves is None else [name for part in halves.parts for name in part[1:] if name]
    held = _arrays(path, headers, [*wanted, beside] if beside else wanted)
    table: dict[str, np.ndarray] = {}
    if halves is None:
        values = held[array]
        if beside:
            table[LABEL] = label_column(held[beside])
    else:
        values = np.concatenate([held[data] for _, data, _ in halves.parts])
        counts = [len(held[data]) for _, data, _ in halves.parts]
        if any(labels for _, _, labels in halves.parts):
            found = [held[y] if y else np.full(n, "") for (_, _, y), n in zip(halves.parts, counts)]
            table[LABEL] = label_column(np.concatenate([label_column(column) for column in found]))
        table[SPLIT] = split_column(counts, halves)
    message, notes, shape = None, [], _image_shape(path.name, held.get(_SHAPE), values, array, options)
    if values.ndim == 3:
        number, height, width = values.shape
        values = values.reshape(number, height * width)
        note = f"{counted(number, 'image')} of {height} × {width} became rows of {counted(height * width, 'value')}."
        message, notes = ("Images were laid out as rows", note), [note]
    elif halves is not None:
        parts = " and ".join(f"{count} {half}" for (half, _, _), count in zip(halves.parts, counts))
        message = f"{parts} rows were put together", "Column “split” says which is which."
    elif shape:
        message = (
            f"{counted(len(values), 'image')} of {shape[0]} × {counted(shape[1], 'pixel')}",
            "Each is a row.",
        )
    numbers, note = exact(path, values)
    rows = _names_of(held, array, 0, numbers.shape[0], options)
    columns = _names_of(held, array, 1, numbers.shape[1], options) if numbers.ndim == 2 else ()
    if shape and columns[:1] == ("column 1",) and "column_word" not in options:
        columns = pixel_names(shape)
    if shape and rows[:1] == ("row 1",) and "row_word" not in options:
        rows = default_names("image", len(numbers))
    return Loaded(numbers, rows, columns, table, message, (*notes, note) if note else tuple(notes), shape)


def _arrays(path: Path, headers: Mapping[str, Header], wanted: list[str]) -> dict[str, np.ndarray]:
    """Arrays by name with what tells names and image shape; of an npy file the one under its empty name."""
    try:
        if "" in headers:
            return {"": _sound(np.load(path, allow_pickle=False))}
        known = {
            _SHAPE,
            *(f"{name}_{stem}" for name in wanted for group in _NAMES.values() for stem in group),
        }
        known |= {stem for group in _NAMES.values() for stem in group}
        with np.load(path, allow_pickle=False) as archive:
            named = {name for name in known & set(headers) if not headers[name].dtype.hasobject}
            return {name: _sound(archive[name]) for name in {*wanted, *named}}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or write it once more.") from error


def _sound(values: np.ndarray) -> np.ndarray:
    """The array, if its texts are texts. Raises ``ValueError`` for letters that there are not."""
    if values.dtype.kind == "U" and values.size and values.dtype.itemsize:
        letters = np.ascontiguousarray(values.ravel()).view(values.dtype.byteorder.replace("|", "=") + "u4")
        if letters.max() > 0x10FFFF or ((letters >= 0xD800) & (letters < 0xE000)).any():
            raise ValueError("a text holds letters that there are not")
    return values


def exact(path: Path, values: np.ndarray) -> tuple[np.ndarray, str]:
    """Numbers in double precision, and a note where that has rounded them; texts as they are."""
    note = ""
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size:
        fits = (values <= 2**53) & (values >= -(2**53)) if values.dtype.kind == "i" else values <= 2**53
        if not fits.all():
            raise DataError(
                f"{path.name}, {location_of(~fits)}: expected at most 2^53, found {values[~fits][0]}.",
                "A whole number of this size would be altered. Use it as a name instead.",
            )
    if (
        values.dtype.kind == "f"
        and values.itemsize > 8
        and (values.astype(np.float64) != values)[~np.isnan(values)].any()
    ):
        note = "Numbers of more than double precision were rounded."
    return (values if values.dtype.kind == "U" else values.astype(np.float64)), note


def _image_shape(
    file: str, shape: np.ndarray | None, values: np.ndarray, array: str, options: ImportOptions
) -> tuple[int, ...]:
    """Height and width of the images that the rows are. Raises ``DataError`` when they do not fit the matrix."""
    if options.get("image_shape") == "none":
        return ()
    if values.ndim == 3:
        return tuple(int(side) for side in values.shape[1:])
    if shape is None or values.ndim != 2 or array == _SHAPE:
        return ()
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape) < 1:
        raise DataError(
            f"{file}: image_shape has to hold height and width. Found {shape.tolist()}.", NO_IMAGES
        )
    height, width = (int(side) for side in shape)
    if height * width != values.shape[1]:
        raise DataError(
            f"{file}: image_shape says {height} × {width} = {counted(height * width, 'pixel')}; "
            f"{array} has {counted(values.shape[1], 'column')}.",
            NO_IMAGES,
        )
    return height, width


def _names_of(
    others: Mapping[str, np.ndarray], array: str, axis: int, size: int, options: ImportOptions
) -> tuple[str, ...]:
    for stem in _NAMES[axis]:
        for name in (f"{array}_{stem}", stem):
            if name in others and others[name].dtype.kind in "US" and others[name].shape == (size,):
                return tuple(str(text) for text in others[name].astype(str))
    what = ("row", "column")[axis]
    return default_names(str(options.get(f"{what}_word", what)), size)


def location_of(mask: np.ndarray) -> str:
    position = np.argwhere(mask)[0] + 1
    return f"row {position[0]}, column {position[1]}" if len(position) > 1 else f"entry {position[0]}"
