"""MATLAB files up to version 7.2 (mat): one matrix, or images, with labels that stand beside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import SamplesIn
from plaidwork.core.data.importers._damage import NAME_BYTES, check_growth
from plaidwork.core.data.importers._images import check_size, image_head, image_table
from plaidwork.core.data.importers._matlab_tags import check_tags
from plaidwork.core.data.importers._npz_parts import (
    LABEL,
    SPLIT,
    Halves,
    check_halves,
    find_halves,
    label_column,
    split_column,
)
from plaidwork.core.data.importers._reader import HEAD, TableReader, several_arrays
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.errors import DataError

_NUMBERS = (
    "double",
    "single",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "logical",
    "sparse",
)
_USUAL = ("X", "x", "data", "images")
_MOST_LABELS = 20
_TOGETHER = "Training and test rows were put together"


@dataclass(frozen=True)
class _Found:
    """What was read: (n, m) values or (n, h, w) images, the array's name, and labels of the rows."""

    values: Any
    array: str
    labels: dict[str, np.ndarray]


class MatlabReader(TableReader):
    """Matrices and stacks of images. Options: ``array`` (which variable), ``images_along`` (``last`` or ``first``: the axis that
    counts the images, for three axes), ``transpose``, ``kind``, and the dropping and log options of delimited files. Variables
    with one number for each row are joined as labels. Files of version 7.3 are HDF5 and are refused."""

    id = "matlab"
    title = "MATLAB 4 to 7.2"
    suffixes: tuple[str, ...] = (".mat",)

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """One variable as a matrix or as images. Raises ``DataError`` for texts, structs, version 7.3 and damage."""
        held = _held(path)
        array, unclear = _choose(path, held, options)
        choices = {"array": _choices(held)}
        if unclear and head:
            return several_arrays(path, "Several variables could be the data", unclear, options, choices)
        if unclear:
            raise DataError(f"{path.name}: {unclear}", "Choose one with the option “array”.")
        found = _load(path, held, array, options)
        if progress is not None:
            progress(0.8)
        in_force, values = {**options, "array": array}, found.values
        raw = _images(path, found, options, in_force, head) if values.ndim == 3 else None
        if raw is None:
            numbers = values.data if hasattr(values, "tocsr") else values
            if np.isinf(numbers).any() and not head:
                raise DataError(f"{path.name}, {array}: expected finite numbers, found infinity.")
            rows, columns = (default_names(what, n) for what, n in zip(("row", "column"), values.shape))
            known: SamplesIn | None = "rows" if found.labels else None
            raw = RawTable(path, _name(path, found), values, rows, columns, found.labels, samples_in=known)
            raw.in_force, raw.asks_samples = in_force, True
            if SPLIT in found.labels:
                raw.doubts.append(Issue("info", _TOGETHER, "Column “split” says which is which."))
        else:
            choices["images_along"] = [("last", "Last axis counts the images"), ("first", "First axis does")]
        raw.choices, raw.detected = choices, frozenset({"array"} - set(options))
        return raw


def _images(
    path: Path, found: _Found, options: ImportOptions, in_force: dict[str, Any], head: bool
) -> RawTable:
    images = found.values
    names = default_names("image", len(images))
    if not head:
        return image_table(path, _name(path, found), images, names, found.labels, in_force)
    along = {"images_along": options.get("images_along", "last")}
    return image_head(path, images[:HEAD], len(images), names[:HEAD], found.labels, {**in_force, **along})


def _name(path: Path, found: _Found) -> str:
    return file_stem(path) if found.array in _USUAL or SPLIT in found.labels else found.array


def _choices(held: Mapping[str, tuple[int, ...]]) -> list[tuple[str, str]]:
    """Variables that can be chosen, both halves together first."""
    halves = _halves(held)
    first = [(halves.array, f"{halves.array}, with the split")] if halves is not None else []
    return [*first, *((name, f"{name}  {_text(shape)}") for name, shape in held.items())]


def _text(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _held(path: Path) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the variables that hold numbers, without reading them."""
    from scipy.io import whosmat

    try:
        with open(path, "rb") as file:
            head = file.read(128)
            if b"MATLAB 7.3" in head or head.startswith(b"\x89HDF"):
                raise DataError(
                    f"{path.name} is a MATLAB file of version 7.3, which cannot be read.",
                    "Save it in MATLAB with save(name, 'X', '-v7').",
                )
        check_tags(path)
        listed = whosmat(str(path))
    except DataError:
        raise
    except Exception as error:  # a damaged file makes SciPy's reader raise almost anything
        raise DataError(
            f"{path.name} is no MATLAB file, or is damaged: {error}.", "Copy or save it once more."
        ) from error
    held = {
        name: tuple(map(int, shape)) for name, shape, kind in listed if kind in _NUMBERS and len(shape) <= 3
    }
    if not held:
        kinds = ", ".join(f"{name} ({kind})" for name, _, kind in listed) or "nothing"
        raise DataError(f"{path.name} holds no matrix of numbers. It has: {kinds}.")
    return held


def _sparse(path: Path) -> set[str]:
    """Names of the variables that are stored sparse."""
    from scipy.io import whosmat

    return {name for name, _, kind in whosmat(str(path)) if kind == "sparse"}


def _choose(path: Path, held: Mapping[str, tuple[int, ...]], options: ImportOptions) -> tuple[str, str]:
    """The variable to read, and why it cannot be told."""
    wanted, halves = options.get("array"), _halves(held)
    if wanted:
        if halves is not None and wanted == halves.array:
            return halves.array, ""
        if wanted not in held:
            raise DataError(f"{path.name} has no numbers named “{wanted}”.", f"It has: {', '.join(held)}.")
        return str(wanted), ""
    for usual in _USUAL:
        if usual in held and min(held[usual]) > 1:
            return usual, ""
    if halves is not None:
        return halves.array, ""
    large = [name for name, shape in held.items() if min(shape) > 1]
    if len(large) == 1 or len(held) == 1:
        return (large or list(held))[0], ""
    listed = ", ".join(f"{name} ({_text(shape)})" for name, shape in held.items())
    return "", f"Which variable holds the data cannot be told: {listed}."


def _halves(held: Mapping[str, tuple[int, ...]]) -> Halves | None:
    """Training and test matrices, and the labels of each; None where there is no such pair."""
    shapes = _shapes(held)
    found = find_halves(shapes)
    return found if found is not None and all(len(shapes[data]) == 2 for _, data, _ in found.parts) else None


def _shapes(held: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Shapes in which a row of numbers is a column, as labels are."""
    return {name: shape[1:] if shape[0] == 1 and len(shape) == 2 else shape for name, shape in held.items()}


def _load_halves(path: Path, held: Mapping[str, tuple[int, ...]], halves: Halves) -> _Found:
    """Both halves as one matrix, with labels and split. Raises ``DataError`` when they do not fit each other."""
    check_halves(path.name, halves, _shapes(held))
    parts = [_load(path, held, data, {}) for _, data, _ in halves.parts]
    dense = [part.values.toarray() if hasattr(part.values, "tocsr") else part.values for part in parts]
    labels: dict[str, np.ndarray] = {}
    if any(y for _, _, y in halves.parts):
        columns = [
            label_column(part.labels[y]) if y in part.labels else np.full(len(values), "")
            for part, values, (_, _, y) in zip(parts, dense, halves.parts, strict=True)
        ]
        labels[LABEL] = label_column(np.concatenate(columns))
    labels[SPLIT] = split_column([len(values) for values in dense], halves)
    return _Found(np.concatenate(dense), halves.array, labels)


def _load(path: Path, held: Mapping[str, tuple[int, ...]], array: str, options: ImportOptions) -> _Found:
    from scipy.io import loadmat
    from scipy.sparse import csr_matrix, issparse

    halves = _halves(held)
    if halves is not None and array == halves.array:
        return _load_halves(path, held, halves)
    shape = held[array]
    check_size(f"{path.name}, {array},", 1, shape)
    check_growth(path, 8 * math.prod(shape) if array not in _sparse(path) else NAME_BYTES * sum(shape))
    along = str(options.get("images_along", "last"))
    if along not in ("last", "first"):
        raise DataError(f"images_along has to be “last” or “first”. Found “{along}”.")
    count = shape[0] if len(shape) < 3 or along == "first" else shape[-1]
    beside = [
        name for name, size in held.items() if name != array and sorted(size) == [1, count] and count > 1
    ]
    try:
        content = loadmat(str(path), variable_names=[array, *beside[:_MOST_LABELS]])
        values = content[array]
        if issparse(values):
            values.check_format(full_check=True)  # SciPy has not looked at the indices
    except Exception as error:  # a damaged file makes SciPy's reader raise almost anything
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or save it once more.") from error
    if issparse(values):
        return _Found(csr_matrix(values, dtype=np.float64), array, _labels(content, beside))
    if values.dtype.kind not in "biuf":
        raise DataError(f"{path.name}, {array}: expected real numbers, found {values.dtype}.")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 3 and along == "last":
        values = np.moveaxis(values, -1, 0)
    return _Found(np.ascontiguousarray(values), array, _labels(content, beside))


def _labels(content: Mapping[str, Any], names: list[str]) -> dict[str, np.ndarray]:
    """Variables with a number for each row: whole numbers as texts (classes), others as they are."""
    found = {}
    for name in names[:_MOST_LABELS]:
        column = np.asarray(content[name]).ravel()
        if column.dtype.kind not in "biuf":
            continue
        whole = column.dtype.kind in "biu" or bool(np.all(column == np.round(column)))
        found[name] = column.astype(np.int64).astype(str) if whole else column.astype(np.float64)
    return found
