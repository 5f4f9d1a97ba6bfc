"""Arrays of an npz file that belong together: training and test halves, and labels beside the data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

LABEL, SPLIT = "label", "split"
"""Titles of the columns beside the rows."""
JOINED = " + "
"""Between the names of the halves in the option ``array``."""
_HALVES = {
    "train": "train", "training": "train", "tr": "train",
    "valid": "validation", "validation": "validation", "val": "validation", "dev": "validation",
    "test": "test", "testing": "test", "te": "test",
}  # fmt: skip
_DATA = {"x", "data", "images", "image", "features", "values", "matrix", "pixels"}
_LABELS = {"y", "label", "labels", "class", "classes", "target", "targets", "digit", "digits"}
_ORDER = ("train", "validation", "test")
_MOST_CLASSES = 1000

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Halves:
    """Matrices that are parts of one, first the training samples: name of the half, of its data and of its labels ("")."""

    parts: tuple[tuple[str, str, str], ...]

    @property
    def array(self) -> str:
        """What stands for all of them in the option ``array``: ``X_train + X_test``."""
        return JOINED.join(data for _, data, _ in self.parts)


def _half(name: str) -> tuple[str, str]:
    """Half and rest of a name: ``("train", "x")`` of ``X_train``; no half where there is no such word, or two."""
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    halves = [word for word in words if word in _HALVES]
    if len(halves) != 1:
        return "", " ".join(words)
    words.remove(halves[0])
    return _HALVES[halves[0]], " ".join(words)


def find_halves(shapes: Shapes) -> Halves | None:
    """Training and test arrays among arrays with numbers or texts; None where there is no such pair."""
    data: dict[str, str] = {}
    labels: dict[str, str] = {}
    for name, shape in shapes.items():
        half, rest = _half(name)
        if half and rest in _DATA and len(shape) >= 2:
            if half in data:
                return None
            data[half] = name
        elif half and rest in _LABELS and _is_column(shape):
            labels.setdefault(half, name)
    if len(data) < 2 or "train" not in data:
        return None
    return Halves(tuple((half, data[half], labels.get(half, "")) for half in _ORDER if half in data))


def label_array(shapes: Shapes, array: str) -> str:
    """The array that holds the class of each row of ``array``, by its name and length; empty where there is none."""
    half, _ = _half(array)
    for name, shape in shapes.items():
        its_half, rest = _half(name)
        fits = name != array and _is_column(shape) and shape[0] == shapes[array][0]
        if fits and rest in _LABELS and its_half in ("", half):
            return name
    return ""


def _is_column(shape: tuple[int, ...]) -> bool:
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def check_halves(file: str, halves: Halves, shapes: Shapes) -> None:
    """Raise ``DataError`` when the halves do not fit each other, or labels their half."""
    _, first, _ = halves.parts[0]
    for _, data, labels in halves.parts:
        if shapes[data][1:] != shapes[first][1:]:
            raise DataError(
                f"{file}: {data} has {_columns(shapes[data])}, {first} has {_columns(shapes[first])}.",
                "Both have to have the same columns. Choose one of them with “array”.",
            )
        if labels and shapes[labels][0] != shapes[data][0]:
            raise DataError(
                f"{file}: {labels} has {counted(shapes[labels][0], 'entry')}; {data} has {counted(shapes[data][0], 'row')}.",
                "A label is needed for each row. Choose one of the arrays with “array”.",
            )


def _columns(shape: tuple[int, ...]) -> str:
    return (
        f"images of {shape[1]} × {counted(shape[2], 'pixel')}"
        if len(shape) == 3
        else f"{counted(shape[1], 'column')}"
    )


def label_column(values: np.ndarray) -> np.ndarray:
    """Classes as texts (whole numbers and texts), or the numbers where they are measurements."""
    column = np.asarray(values).ravel()
    if column.dtype.kind not in "biuf":
        return column.astype(str)
    if column.dtype.kind == "f":
        known = column[~np.isnan(column)]
        if (known != np.round(known)).any() or len(np.unique(known)) > _MOST_CLASSES:
            return column.astype(np.float64)
        return np.array(["" if np.isnan(value) else str(int(value)) for value in column])
    return column.astype(np.int64).astype(str)


def split_column(counts: Sequence[int], halves: Halves) -> np.ndarray:
    """The half of each row."""
    return np.repeat([half for half, _, _ in halves.parts], counts)
