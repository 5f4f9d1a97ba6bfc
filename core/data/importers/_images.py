"""From stacks of images to a raw table: what the readers of images share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Source
from plaidwork.core.data.importers._reader import HEAD
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers.base import Issue, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

WORDS = ("images", "pixels")
CHANNELS = ("red", "green", "blue")
PICTURES = 12
"""Images of a preview that are shown as pictures."""


def check_size(what: str, count: int, shape: Sequence[int]) -> None:
    """Raise ``DataError`` when so many images are too large to be read."""
    cells = count * int(np.prod([max(int(side), 0) for side in shape], dtype=object))
    if cells > MAX_CELLS:
        raise DataError(
            f"{what} holds {counted(cells, 'number')}; {MAX_CELLS} can be read.", "Import a part of it."
        )


def pixel_names(shape: Sequence[int]) -> tuple[str, ...]:
    """``row 3, column 7`` for each pixel, line by line."""
    height, width = shape
    return tuple(f"row {i + 1}, column {j + 1}" for i in range(height) for j in range(width))


def image_table(
    path: Path,
    name: str,
    images: np.ndarray,
    row_names: Sequence[str],
    row_table: Mapping[str, np.ndarray],
    in_force: Mapping[str, Any],
    source: Source | None = None,
) -> RawTable:
    """The table of (n, h, w) images: a row each, the pixels line by line, with the image shape.

    Of images in colour, (n, h, w, 3), every pixel has three columns, which an annotation names.
    """
    shape = images.shape[1:]
    names, channels = pixel_names(shape[:2]), {}
    if len(shape) == 3:
        names = tuple(f"{name}, {channel}" for name in names for channel in CHANNELS)
        channels = {"channel": np.tile(CHANNELS, shape[0] * shape[1])}
    values = np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float64)
    infinite = np.isinf(values).any(axis=1)
    if infinite.any():
        first = row_names[int(infinite.argmax())]
        raise DataError(f"{path.name}, {first}: expected finite numbers, found infinity.")
    return RawTable(
        path,
        name,
        values,
        tuple(row_names),
        names,
        dict(row_table),
        channels,
        WORDS,
        "rows",
        image_shape=tuple(int(side) for side in shape) if len(shape) == 2 else (),
        in_force=in_force,
        source=source,
    )


def image_head(
    path: Path,
    images: np.ndarray,
    count: int,
    row_names: Sequence[str],
    row_table: Mapping[str, np.ndarray],
    in_force: Mapping[str, Any],
) -> RawTable:
    """The same for a preview, of the first of ``count`` images; colours are shown as grey."""
    grey = images.mean(axis=3) if images.ndim == 4 else images
    shape, pixels = grey.shape[1:], grey.shape[1] * grey.shape[2]
    issue = Issue(
        "info",
        f"{counted(count, 'image')} of {shape[0]} × {counted(shape[1], 'pixel')}",
        "Each becomes a row.",
    )
    return RawTable(
        path,
        "",
        grey.reshape(len(grey), -1).astype(np.float64),
        row_names,
        pixel_names(shape) if pixels <= 10_000 else default_names("pixel", pixels),
        {title: column[:HEAD] for title, column in row_table.items()},
        words=WORDS,
        in_force=in_force,
        doubts=[issue],
        n_rows=count,
        n_columns=int(np.prod(images.shape[1:])),
        pictures=grey[:PICTURES].astype(np.float64),
    )
