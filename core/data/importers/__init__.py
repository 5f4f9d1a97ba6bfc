"""Reading files into datasets: one reader per format, found by file name."""

from plaidwork.core.data.importers.base import ImportOptions, Issue, Preview, Reader
from plaidwork.core.data.importers.reading import find_reader, read_dataset, read_datasets

__all__ = ["ImportOptions", "Issue", "Preview", "Reader", "find_reader", "read_dataset", "read_datasets"]
