"""NumPy files: one array (npy) or several (npz). Pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from plaidwork.core.data.dataset import Dataset, SamplesIn
from plaidwork.core.data.importers._column import encode
from plaidwork.core.data.importers._findings import infer_kind, line_issues, skew_issue
from plaidwork.core.data.importers._images import PICTURES
from plaidwork.core.data.importers._matrix import checked_names, default_source, finish, samples_found
from plaidwork.core.data.importers._npz_load import (
    NO_IMAGES,
    Header,
    Loaded,
    candidates_of,
    halves_of,
    load,
    place_of,
)
from plaidwork.core.data.importers._npz_parts import find_halves
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers._text import count_text, file_stem
from plaidwork.core.data.importers.base import ImportOptions, Issue, Preview, Progress
from plaidwork.core.data.reading_options import declared_choices
from plaidwork.core.errors import DataError

_USUAL = ("X", "x", "data", "values", "matrix")
_PREVIEW = (200, 100)


class NumpyReader:
    """Arrays of numbers. Options: ``array`` (which one of an npz), ``transpose``, ``rename_duplicates``,
    ``infinite`` (missing), ``kind``, ``row_word`` and ``column_word`` (what nameless lines are called: memberships of
    columns have ``row_word="column"``), ``image_shape`` (``none``: do not take the rows for images), and the dropping and
    log options of delimited files. ``X_train`` and ``X_test`` of an npz become one matrix with a column ``split``
    (``array="X_train + X_test"``); ``y_train``, or ``y`` beside ``X``, becomes the column ``label``."""

    id = "numpy"
    title = "NumPy array"
    suffixes: tuple[str, ...] = (".npy", ".npz")

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """Head of the chosen array; ``choices["array"]`` lists what else the file holds."""
        path = Path(path)
        try:
            return self._preview(path, options)
        except DataError as error:
            # only that the rows are images is given up, and only when the user says so
            fix = (
                ("Read the rows as plain numbers", "image_shape", "none") if error.hint == NO_IMAGES else None
            )
            issue = Issue("error", error.message.removesuffix("."), error.hint, fix=fix)
            return Preview(path, (), (), (), dict(options), frozenset(), issues=(issue,))

    def _preview(self, path: Path, options: ImportOptions) -> Preview:
        headers = _headers(path)
        array, unclear = _choose(path, headers, options)
        choices = _choices(headers)
        found = dict(options)
        if unclear:
            issue = Issue("error", "Several arrays could be the data", unclear)
            return Preview(
                path, (), (), (), found, frozenset(), {"array": unclear}, 0, 0, (issue,), {"array": choices}
            )
        detected = frozenset() if options.get("array") or not array else frozenset({"array"})
        if array:
            found["array"] = array
        loaded = load(path, headers, array, options)
        values = loaded.values
        issues = [Issue("info", *loaded.told)] if loaded.told else []
        if values.dtype.kind == "f":
            issues += _value_issues(values, loaded.rows, loaded.columns, options)
        head = values[: _PREVIEW[0]] if values.ndim == 1 else values[: _PREVIEW[0], : _PREVIEW[1]]
        cells = tuple(
            (name, *(str(column[i]) for column in loaded.table.values()), *map(_text, np.atleast_1d(line)))
            for i, (name, line) in enumerate(zip(loaded.rows, head))
        )
        where = {}
        if values.ndim == 2:
            told = loaded.words, loaded.rows, loaded.columns, _known_samples(loaded)
            where = {"samples_in": samples_found(options, *told)}
        shown = loaded.columns[: _PREVIEW[1]] if values.ndim == 2 else (array or file_stem(path),)
        return Preview(
            path=path,
            header=("", *loaded.table, *shown),
            cells=cells,
            roles=("name", *["label"] * len(loaded.table), *["value"] * len(shown)),
            options={**found, **where},
            detected=detected | frozenset(where.keys() - options.keys()),
            n_rows=len(values),
            n_columns=values.shape[1] if values.ndim == 2 else 1,
            issues=tuple(issues),
            choices={
                **({"array": choices} if array else {}),
                **({"samples_in": declared_choices("samples_in")} if where else {}),
            },
            words=loaded.words,
            pictures=values[:PICTURES].reshape(-1, *loaded.image_shape) if loaded.image_shape else None,
        )

    def read_all(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> list[Dataset]:
        """The one array that is the data, or every matrix where that cannot be told."""
        headers = _headers(Path(path))
        _, unclear = _choose(Path(path), headers, options)
        large = [name for name, header in candidates_of(headers).items() if len(header.shape) >= 2]
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
        loaded = load(path, headers, array, options)
        values = loaded.values
        if progress is not None:
            progress(0.8)
        source = default_source(path, {**options, **({"array": array} if array else {})})
        joined = halves_of(headers, array) is not None
        name = file_stem(path) if not array or array in _USUAL or joined else array
        if values.dtype.kind == "U":
            codes, categories = encode([str(text) for text in values], ("",))
            names = checked_names(path.name, loaded.rows, "row", options)
            return Dataset(name, codes, names, kind="categorical", categories=categories, source=source)
        infinite = np.isinf(values)
        if infinite.any():
            if options.get("infinite") != "missing":
                raise DataError(
                    f"{path.name}, {place_of(infinite)}: expected a finite number, found infinity.",
                    "Mend the array, or read infinite values as missing.",
                )
            values = np.where(infinite, np.nan, values)
        dataset = finish(
            path.name,
            name,
            values,
            loaded.rows,
            loaded.columns,
            loaded.table,
            loaded.words,
            options,
            source,
            loaded.notes,
            image_shape=loaded.image_shape,
            samples_in=_known_samples(loaded),
        )
        if progress is not None:
            progress(1.0)
        return dataset


def _headers(path: Path) -> dict[str, Header]:
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


def _header(file: IO[bytes], size: int, where: str) -> Header:
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
    return Header(tuple(int(length) for length in shape), dtype)


def _choose(path: Path, headers: Mapping[str, Header], options: ImportOptions) -> tuple[str, str]:
    """The array to read, and why it cannot be told."""
    candidates = candidates_of(headers)
    wanted = options.get("array")
    halves = find_halves({name: header.shape for name, header in candidates.items()})
    if wanted and "" not in headers:
        if halves is not None and wanted == halves.array:
            return halves.array, ""
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
    if halves is not None:
        return halves.array, ""
    large = [name for name, header in candidates.items() if len(header.shape) >= 2]
    if len(large) == 1:
        return large[0], ""
    if len(candidates) == 1:
        return next(iter(candidates)), ""
    listed = ", ".join(f"{name} ({header.described})" for name, header in candidates.items())
    return "", f"Which array holds the data cannot be told: {listed}."


def _choices(headers: Mapping[str, Header]) -> list[tuple[str, str]]:
    """Arrays that can be chosen, both halves together first."""
    candidates = candidates_of(headers)
    choices = [(name, f"{name}  {header.described}") for name, header in candidates.items()]
    halves = find_halves({name: header.shape for name, header in candidates.items()})
    return [*([(halves.array, f"{halves.array}, with the split")] if halves else []), *choices]


def _unfit(path: Path, name: str, header: Header) -> DataError:
    what = f"{path.name}, array {name}," if name else path.name
    if header.dtype.hasobject:
        return DataError(
            f"{what} holds Python objects, which can run programs when they are read.",
            "Save plain numbers: array.astype(float).",
        )
    kinds = "numbers with 1 to 3 axes"
    return DataError(f"{what} holds {header.described}; expected {kinds}.", "Save the numbers as a matrix.")


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
                f"First: {place_of(infinite)}",
                fix=("Read infinite values as missing", "infinite", "missing"),
            )
        )
    if values.ndim == 2 and values.size:
        found += [*line_issues(values, rows, 0), *line_issues(values, columns, 1)]
    skewed = skew_issue(values, options.get("kind") or infer_kind(values))
    return [*found, skewed] if skewed and not options.get("log") else found


def _text(cell: Any) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return "" if np.isnan(cell) else f"{cell:.7g}"


def _known_samples(loaded: Loaded) -> SamplesIn | None:
    """Images, and what has labels or a split beside its rows, are samples in rows."""
    return "rows" if loaded.image_shape or loaded.table else None
