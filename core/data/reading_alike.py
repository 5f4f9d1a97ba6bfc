"""A file of new samples, read as the file of the fitted ones was: same separators, same way round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError

_OWN = ("labels", "annotation")
"""Options that name columns of one file, which another need not have."""


def read_alike(path: str | Path, fitted: Sequence[Dataset]) -> Dataset:
    """The matrix of a file, read with the options of the fitted file of its kind that it has most features in common with.

    Where that cannot be, or gives no feature of the fit, the file is read by itself. Raises ``DataError``.
    """
    from plaidwork.core.data.importers import read_dataset

    path = Path(path)
    best, shared = None, 0
    for data in fitted:
        if not data.source.options or Path(data.source.file).suffix.lower() != path.suffix.lower():
            continue
        options = {name: value for name, value in data.source.options.items() if name not in _OWN}
        try:
            found = read_dataset(path, options)
        except DataError:
            continue
        features = set(data.column_names)
        common = max(len(features & set(names)) for names in (found.row_names, found.column_names))
        if common > shared:
            best, shared = found, common
    return best if best is not None else read_dataset(path)
