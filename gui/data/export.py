"""A dataset as CSV: every number so that reading it back gives the same value. No Qt."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.quoting import CsvWriter, guarded_text
from plaidwork.core.refusals import why

MISSING = "NA"


def write_csv(dataset: Dataset, path: Path, progress: Callable[[float], None] | None = None) -> str:
    """Row names, row annotations and values; written beside the file first. What was done to cells for spreadsheets, or nothing.

    Raises ``DataError``.
    """
    titles = list(dataset.row_table)
    notes = [np.asarray(column) for column in dataset.row_table.values()]
    columns = list(dataset.column_names) or [dataset.name]
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "w", newline="", encoding="utf-8") as file:
            writer = CsvWriter(file)
            writer.row([dataset.row_label, *titles, *columns])
            for row, name in enumerate(dataset.row_names):
                writer.row([name, *(_text(note[row]) for note in notes), *_values(dataset, row)])
                if progress is not None and row % 64 == 0:
                    progress(row / len(dataset.row_names))
        os.replace(part, path)
        return guarded_text(writer.guarded)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DataError(f"Could not write {path.name}: {why(error)}.", "Choose another place.") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _values(dataset: Dataset, row: int) -> list[str]:
    if dataset.kind == "categorical":
        code = int(dataset.values[row])
        return [dataset.categories[code] if code >= 0 else MISSING]
    line = dataset.values[row]
    if dataset.is_sparse:
        line = line.toarray().ravel()
    return [_text(value) for value in np.atleast_1d(line)]


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return MISSING
        number = float(value)
        return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)
    return str(value)
