"""What items are coloured by: classes or a scale, whichever an annotation is; as marks of pictures have it. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.numbers import format_number

MOST_CLASSES = 6
_FEW = 12
"""A column of texts may have as many classes in any case."""
HOLLOW, CROSS = -1, -2
"""Shapes of what is unknown: of a class, and on a scale, where pale dots look hollow."""
_OTHER, UNKNOWN = "other", "unknown"
#: Colours in the order of use: neighbours differ in lightness too.
_THREADS = (0, 4, 2, 3, 1, 5)


@dataclass(frozen=True)
class Colouring:
    """What the points are coloured by.

    ``codes`` are class numbers (-1 unknown) when there are ``classes``; else ``numbers`` on a scale with ``limits``.
    """

    title: str
    texts: tuple[str, ...]
    codes: np.ndarray
    classes: tuple[str, ...] = ()
    numbers: np.ndarray | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    has_other: bool = False

    def categories(self) -> list[int | str]:
        """Colour of every class by its role, as marks of pictures have it."""
        found: list[int | str] = [_THREADS[k % len(_THREADS)] for k in range(len(self.classes))]
        return [*found[:-1], "neutral"] if self.has_other else found


def class_category(k: int) -> int:
    """Category of a class by its number."""
    return _THREADS[k % len(_THREADS)]


def plain(n: int) -> Colouring:
    """All points alike."""
    return Colouring("", ("",) * n, np.zeros(n, dtype=np.intp), ("",))


def colouring(title: str, column: np.ndarray) -> Colouring | None:
    """Classes or a scale, whichever the column is; None when it says nothing (one value, or a name for each)."""
    column = np.asarray(column)
    texts = tuple(class_text(value) for value in column)
    known = [text for text in texts if text]
    names = sorted(set(known))  # as classes of a model are, so that a class has one colour in all pictures
    if len(names) < 2:
        return None
    numeric = column.dtype.kind in "iuf"
    if numeric and len(names) > MOST_CLASSES:
        numbers = column.astype(np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        limits = (float(np.nanmin(numbers)), float(np.nanmax(numbers)))
        shown = tuple(format_number(float(v)) if v == v else "" for v in numbers)
        return Colouring(title, shown, np.zeros(len(column), dtype=np.intp), (), numbers, limits)
    if len(names) > max(_FEW, len(column) // 4):
        return None
    if numeric:
        names.sort(key=float)
    other = len(names) > MOST_CLASSES
    if other:
        names.sort(key=lambda name: -known.count(name))
        names = [*names[: MOST_CLASSES - 1], _OTHER]
    index = {name: k for k, name in enumerate(names)}
    codes = np.array([index.get(text, len(names) - 1) if text else -1 for text in texts], dtype=np.intp)
    return Colouring(title, texts, codes, tuple(names), has_other=other)


def most_telling(scores: np.ndarray, known: Mapping[str, Colouring]) -> str:
    """Title of the colouring whose classes differ most along a column of the (n, K) scores; empty when there is none.

    Measured by the share of variance between the classes, adjusted for their number.
    """
    best, title = 0.0, ""
    for name, found in known.items():
        inside = found.codes >= 0
        k, n = len(found.classes), int(inside.sum())
        if not k or n <= k + 1:
            continue
        values = np.nan_to_num(scores[inside])
        members = np.eye(k)[found.codes[inside]]
        counts = np.maximum(members.sum(axis=0), 1)[:, None]
        centred = values - values.mean(axis=0)
        total = np.maximum((centred**2).sum(axis=0), 1e-300)
        between = ((members.T @ centred) ** 2 / counts).sum(axis=0)
        share = float((1 - (1 - between / total) * (n - 1) / (n - k)).max(initial=0.0))
        if share > best:
            best, title = share, name
    return title


def class_text(value: object) -> str:
    """Class of an item as text, empty when missing."""
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    return str(value).strip()
