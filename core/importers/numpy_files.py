"""NumPy files: one array (npy) or several (npz). Pickled objects are never loaded."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.importers._column import encode
from plaidwork.core.importers._findings import infer_kind, line_issues, skew_issue
from plaidwork.core.importers._matrix import checked_names, default_source, finish
from plaidwork.core.importers._table import MAX_CELLS
from plaidwork.core.importers._text import count_text, file_stem
from plaidwork.core.importers.base import ImportOptions, Issue, Preview, Progress
from plaidwork.core.joining import default_names

_USUAL = ("X", "x", "data", "values", "matrix")
_NAMES = {0: ("row_names", "rownames", "rows"), 1: ("column_names", "columnnames", "colnames", "columns")}
_SHAPE = "image_shape"
"""Name of the array that says height and width of the images which the rows of the matrices are."""
_PREVIEW = (200, 100)


@dataclass(frozen=True, slots=True)
class _Header:
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def described(self) -> str:
        return f"{' × '.join(map(str, self.shape)) or 'one number'}, {self.dtype}"


class NumpyReader:
    """Arrays of numbers. Options: ``array`` (which one of an npz), ``transpose``, ``rename_duplicates``,
    ``infinite`` (missing), ``kind``, ``row_word`` and ``column_word`` (what nameless lines are called: memberships of
    columns have ``row_word="column"``), and the dropping and log options of delimited files."""

    id = "numpy"
    title = "NumPy array"
    suffixes: tuple[str, ...] = (".npy", ".npz")

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """Head of the chosen array; ``choices["array"]`` lists what else the file holds."""
        path = Path(path)
        try:
            return self._preview(path, options)
        except DataError as error:
            issue = Issue("error", error.message, error.hint)
            return Preview(path, (), (), (), dict(options), frozenset(), issues=(issue,))

    def _preview(self, path: Path, options: ImportOptions) -> Preview:
        headers = _headers(path)
        array, unclear = _choose(path, headers, options)
        choices = [(name, f"{name}  {header.described}") for name, header in _candidates(headers).items()]
        found = dict(options)
        if unclear:
            issue = Issue("error", "Several arrays could be the data", unclear)
            return Preview(
                path, (), (), (), found, frozenset(), {"array": unclear}, 0, 0, (issue,), {"array": choices}
            )
        detected = frozenset() if options.get("array") or not array else frozenset({"array"})
        if array:
            found["array"] = array
        values, rows, columns, note, shape = _load(path, headers, array, options)
        issues = [Issue("info", "Images were laid out as rows", note)] if note else []
        if values.dtype.kind == "f":
            issues += _value_issues(values, rows, columns, options)
        head = values[: _PREVIEW[0]] if values.ndim == 1 else values[: _PREVIEW[0], : _PREVIEW[1]]
        cells = tuple(
            (name, *(_text(cell) for cell in np.atleast_1d(line))) for name, line in zip(rows, head)
        )
        header = ("", *(columns[: _PREVIEW[1]] if values.ndim == 2 else (array or file_stem(path),)))
        return Preview(
            path=path,
            header=header,
            cells=cells,
            roles=("name", *["value"] * (len(header) - 1)),
            options=found,
            detected=detected,
            n_rows=len(values),
            n_columns=values.shape[1] if values.ndim == 2 else 1,
            issues=tuple(issues),
            choices={"array": choices} if array else {},
            words=("images", "pixels") if shape else ("", ""),
        )

    def read_all(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> list[Dataset]:
        """The one array that is the data, or every matrix where that cannot be told."""
        headers = _headers(Path(path))
        _, unclear = _choose(Path(path), headers, options)
        large = [name for name, header in _candidates(headers).items() if len(header.shape) >= 2]
        if not unclear or not large:
            return [self.read(path, options, progress)]
        return [self.read(path, {**options, "array": name}, progress) for name in large]

    def read(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
        """One array as a matrix, vector or labels. Raises ``DataError`` for objects, text matrices, infinities."""
        path = Path(path)
        headers = _headers(path)
        array, unclear = _choose(path, headers, options)
        if unclear:
            raise DataError(f"{path.name}: {unclear}", "Choose one with the option “array”.")
        if progress is not None:
            progress(0.0)
        values, rows, columns, note, shape = _load(path, headers, array, options)
        if progress is not None:
            progress(0.8)
        source = default_source(path, {**options, **({"array": array} if array else {})})
        name = file_stem(path) if not array or array in _USUAL else array
        if values.dtype.kind == "U":
            codes, categories = encode([str(text) for text in values], ("",))
            names = checked_names(path.name, rows, "row", options)
            return Dataset(name, codes, names, kind="categorical", categories=categories, source=source)
        infinite = np.isinf(values)
        if infinite.any():
            if options.get("infinite") != "missing":
                raise DataError(
                    f"{path.name}, {_place(infinite)}: expected a finite number, found infinity.",
                    "Mend the array, or read infinite values as missing.",
                )
            values = np.where(infinite, np.nan, values)
        notes = [note] if note else []
        words = ("images", "pixels") if shape else ("", "")
        dataset = finish(
            path.name, name, values, rows, columns, {}, words, options, source, notes, image_shape=shape
        )
        if progress is not None:
            progress(1.0)
        return dataset


def _headers(path: Path) -> dict[str, _Header]:
    """Shape and type of every array, read before anything is allocated; checked against the file's size."""
    try:
        if path.name.lower().endswith(".npy"):
            with open(path, "rb") as file:
                return {"": _header(file, path.stat().st_size, path.name)}
        with zipfile.ZipFile(path) as archive:
            found = {}
            for info in archive.infolist():
                if info.filename.endswith(".npy"):
                    with archive.open(info) as member:
                        name = info.filename[:-4]
                        found[name] = _header(member, info.file_size, f"{path.name}, array {name}")
            return found
    except DataError:
        raise
    except Exception as error:  # a damaged head makes numpy's parser raise almost anything
        raise DataError(
            f"{path.name} is no NumPy file, or is damaged: {error}.",
            "Write it once more with numpy.save or savez.",
        ) from error


def _header(file: IO[bytes], size: int, where: str) -> _Header:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    cells = 1
    for length in shape:
        cells *= int(length)
    if cells > MAX_CELLS:
        raise DataError(f"{where} announces {cells} cells; {MAX_CELLS} can be read.", "Save a part of it.")
    if not dtype.hasobject and cells * dtype.itemsize > size:
        raise DataError(
            f"{where} announces {cells * dtype.itemsize} bytes of numbers, but holds {size}.",
            "The file is cut off. Write or copy it once more.",
        )
    return _Header(tuple(int(length) for length in shape), dtype)


def _candidates(headers: Mapping[str, _Header]) -> dict[str, _Header]:
    """The arrays that can be imported: numbers with 1 to 3 axes, or a list of texts."""
    companions = {_SHAPE, *(name for group in _NAMES.values() for name in group)}
    return {
        name: header
        for name, header in headers.items()
        if (header.dtype.kind in "biuf" and 1 <= len(header.shape) <= 3 and name != _SHAPE)
        or (header.dtype.kind == "U" and len(header.shape) == 1 and name not in companions)
    }


def _choose(path: Path, headers: Mapping[str, _Header], options: ImportOptions) -> tuple[str, str]:
    """The array to read, and why it cannot be told."""
    candidates = _candidates(headers)
    wanted = options.get("array")
    if wanted and "" not in headers:
        if wanted not in headers:
            raise DataError(f"{path.name} has no array “{wanted}”.", f"It has: {', '.join(headers)}.")
        if wanted not in candidates:
            raise _unfit(path, wanted, headers[wanted])
        return str(wanted), ""
    if not candidates:
        if not headers:
            raise DataError(f"{path.name} holds no arrays.", "Write it with numpy.savez.")
        name, header = next(iter(headers.items()))
        raise _unfit(path, name, header)
    for usual in _USUAL:
        if usual in candidates:
            return usual, ""
    large = [name for name, header in candidates.items() if len(header.shape) >= 2]
    if len(large) == 1:
        return large[0], ""
    if len(candidates) == 1:
        return next(iter(candidates)), ""
    listed = ", ".join(f"{name} ({header.described})" for name, header in candidates.items())
    return "", f"Which array holds the data cannot be told: {listed}."


def _unfit(path: Path, name: str, header: _Header) -> DataError:
    what = f"{path.name}, array {name}," if name else path.name
    if header.dtype.hasobject:
        return DataError(
            f"{what} holds Python objects, which can run programs when they are read.",
            "Save plain numbers: array.astype(float).",
        )
    kinds = "numbers with 1 to 3 axes"
    return DataError(f"{what} holds {header.described}; expected {kinds}.", "Save the numbers as a matrix.")


def _load(
    path: Path, headers: Mapping[str, _Header], array: str, options: ImportOptions
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...], str, tuple[int, ...]]:
    """Values (float64, or texts), names of rows and columns, a note on reshaping, and the shape of images."""
    try:
        if not array:
            values, others, shape = np.load(path, allow_pickle=False), {}, None
        else:
            with np.load(path, allow_pickle=False) as archive:
                values = archive[array]
                shape = archive[_SHAPE] if _SHAPE in headers and array != _SHAPE else None
                others = {
                    name: archive[name]
                    for group in _NAMES.values()
                    for stem in group
                    for name in (f"{array}_{stem}", stem)
                    if name in headers and headers[name].dtype.kind in "US" and len(headers[name].shape) == 1
                }
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or write it once more.") from error
    note, image_shape = "", _image_shape(shape, values)
    if values.ndim == 3:
        number, height, width = values.shape
        image_shape = (height, width)
        values = values.reshape(number, height * width)
        note = f"{number} images of {height} × {width} became rows of {height * width} values."
    if values.dtype.kind in "iu" and values.itemsize == 8 and values.size:
        exact = (values <= 2**53) & (values >= -(2**53)) if values.dtype.kind == "i" else values <= 2**53
        if not exact.all():
            raise DataError(
                f"{path.name}, {_place(~exact)}: expected at most 2^53, found {values[~exact][0]}.",
                "A whole number of this size would be altered. Use it as a name instead.",
            )
    if (
        values.dtype.kind == "f"
        and values.itemsize > 8
        and (values.astype(np.float64) != values)[~np.isnan(values)].any()
    ):
        note = f"{note} Numbers of more than double precision were rounded.".strip()
    if values.dtype.kind != "U":
        values = values.astype(np.float64)
    rows = _names_of(others, array, 0, values.shape[0], options)
    columns = _names_of(others, array, 1, values.shape[1], options) if values.ndim == 2 else ()
    return values, rows, columns, note, image_shape


def _image_shape(shape: np.ndarray | None, values: np.ndarray) -> tuple[int, ...]:
    """Height and width that the file gives beside a matrix; empty when they do not fit it."""
    if shape is None or values.ndim != 2 or shape.shape != (2,) or shape.dtype.kind not in "iu":
        return ()
    height, width = (int(side) for side in shape)
    return (height, width) if min(height, width) > 0 and height * width == values.shape[1] else ()


def _names_of(
    others: Mapping[str, np.ndarray], array: str, axis: int, size: int, options: ImportOptions
) -> tuple[str, ...]:
    for stem in _NAMES[axis]:
        for name in (f"{array}_{stem}", stem):
            if name in others and len(others[name]) == size:
                return tuple(str(text) for text in others[name].astype(str))
    what = ("row", "column")[axis]
    return default_names(str(options.get(f"{what}_word", what)), size)


def _value_issues(
    values: np.ndarray, rows: tuple[str, ...], columns: tuple[str, ...], options: ImportOptions
) -> list[Issue]:
    found: list[Issue] = []
    infinite = np.isinf(values)
    if infinite.any():
        found.append(
            Issue(
                "error",
                f"{count_text(int(infinite.sum()), 'value')} {'is' if infinite.sum() == 1 else 'are'} infinite",
                f"First: {_place(infinite)}",
                fix=("Read infinite values as missing", "infinite", "missing"),
                changes_numbers=True,
            )
        )
    if values.ndim == 2 and values.size:
        found += [*line_issues(values, rows, 0), *line_issues(values, columns, 1)]
    skewed = skew_issue(values, options.get("kind") or infer_kind(values))
    return [*found, skewed] if skewed and not options.get("log") else found


def _place(mask: np.ndarray) -> str:
    place = np.argwhere(mask)[0] + 1
    return f"row {place[0]}, column {place[1]}" if len(place) > 1 else f"entry {place[0]}"


def _text(cell: Any) -> str:
    return "" if isinstance(cell, float) and np.isnan(cell) else str(cell)
