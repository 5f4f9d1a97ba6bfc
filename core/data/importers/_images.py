"""From stacks of images to a checked dataset and a preview: what the readers of images share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.data.importers._findings import line_issues
from plaidwork.core.data.importers._matrix import finish
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers.base import ImportOptions, Issue, Preview
from plaidwork.core.data.joining import default_names
from plaidwork.core.errors import DataError

HEAD, WIDE = 200, 100
"""Images and pixels of a preview."""
CHANNELS = ("red", "green", "blue")
PICTURES = 12
"""Images of a preview that are shown as pictures."""


def check_size(what: str, count: int, shape: Sequence[int]) -> None:
    """Raise ``DataError`` when so many images are too large to be read."""
    cells = count * int(np.prod([max(int(side), 0) for side in shape], dtype=object))
    if cells > MAX_CELLS:
        raise DataError(f"{what} holds {cells} numbers; {MAX_CELLS} can be read.", "Import a part of it.")


def pixel_names(shape: Sequence[int]) -> tuple[str, ...]:
    """``row 3, column 7`` for each pixel, line by line."""
    height, width = shape
    return tuple(f"row {i + 1}, column {j + 1}" for i in range(height) for j in range(width))


def image_dataset(
    path: Path,
    name: str,
    images: np.ndarray,
    row_names: Sequence[str],
    row_table: Mapping[str, np.ndarray],
    options: ImportOptions,
    source: Source,
    notes: Sequence[str] = (),
) -> Dataset:
    """The dataset of (n, h, w) images: a row each, the pixels line by line, with the image shape.

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
    return finish(
        path.name,
        name,
        values,
        tuple(row_names),
        names,
        dict(row_table),
        ("images", "pixels"),
        options,
        source,
        list(notes),
        column_table=channels,
        image_shape=tuple(int(side) for side in shape) if len(shape) == 2 else (),
        samples_in="rows",
    )


def image_preview(
    path: Path,
    images: np.ndarray,
    count: int,
    row_names: Sequence[str],
    labels: Mapping[str, np.ndarray],
    options: ImportOptions,
    issues: Sequence[Issue] = (),
    detected: frozenset[str] = frozenset(),
    choices: Mapping[str, Sequence[tuple[Any, str]]] | None = None,
) -> Preview:
    """A preview from the first (k, h, w) of ``count`` images, with their names and labels."""
    shape = images.shape[1:]
    values = images.reshape(len(images), -1).astype(np.float64)
    columns = (
        pixel_names(shape) if shape[0] * shape[1] <= 10_000 else default_names("pixel", shape[0] * shape[1])
    )
    cells = tuple(
        (name, *(str(labels[title][i]) for title in labels), *(f"{value:g}" for value in line[:WIDE]))
        for i, (name, line) in enumerate(zip(row_names, values))
    )
    told = Issue("info", f"{count} images of {shape[0]} × {shape[1]} pixels", "Each becomes a row.")
    found = [told, *issues]
    if len(images) == count and values.size:
        found += [*line_issues(values, tuple(row_names), 0), *line_issues(values, columns, 1)]
    return Preview(
        path=path,
        header=("", *labels, *columns[:WIDE]),
        cells=cells,
        roles=("name", *["label"] * len(labels), *["value"] * len(columns[:WIDE])),
        options=dict(options),
        detected=detected,
        n_rows=count,
        n_columns=int(shape[0] * shape[1]),
        issues=tuple(found),
        choices=dict(choices or {}),
        words=("images", "pixels"),
        pictures=images[:PICTURES].astype(np.float64),
    )


def refused(path: Path, options: ImportOptions, error: DataError) -> Preview:
    """The preview of a file that cannot be read."""
    issue = Issue("error", error.message.removesuffix("."), error.hint)
    return Preview(path, (), (), (), dict(options), frozenset(), issues=(issue,))
