"""What is known about the items of an axis of a dataset, as a table."""

from __future__ import annotations

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.language import tr
from plaidwork.gui.widgets import DataTable


def annotation_table(dataset: Dataset, axis: int) -> DataTable:
    """The names of an axis with the annotations beside them."""
    label = (dataset.row_label, dataset.column_label)[axis]
    names = (dataset.row_names, dataset.column_names)[axis]
    table = (dataset.row_table, dataset.column_table)[axis]
    title = label if label not in table else f"{label} (name)"
    columns = {title: list(names), **{key: np.asarray(column) for key, column in table.items()}}
    found = DataTable(columns, filter_line=True)
    found.setAccessibleName(tr(f"Known about {label}"))
    return found
