"""Whether an array lies in a file, and whether two fits are the same."""

import mmap
from typing import Any

import numpy as np


def is_mapped(array: object) -> bool:
    """Whether the numbers of an array are mapped from a file, and so no memory of the process."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array.obj if isinstance(array, memoryview) else array, mmap.mmap)


def check_same(one: Any, other: Any) -> None:
    """Whether two fits have the same traces and results, bit for bit; ``AssertionError`` names what differs."""
    assert one.data_hash == other.data_hash
    for here, there in zip(one.chains, other.chains, strict=True):
        assert here.trace.rows().tobytes() == there.trace.rows().tobytes()
    assert one.results.keys() == other.results.keys()
    for name, value in one.results.items():
        _check_alike(value, other.results[name], name)


def _check_alike(one: Any, other: Any, name: str) -> None:
    if hasattr(one, "columns"):
        assert one.columns.keys() == other.columns.keys(), name
        for title, column in one.columns.items():
            _check_alike(column, other.columns[title], f"{name}, {title}")
        return
    here, there = (np.asarray(getattr(found, "values", found)) for found in (one, other))
    assert here.dtype == there.dtype, name
    assert here.tolist() == there.tolist() if here.dtype == object else here.tobytes() == there.tobytes(), (
        name
    )
