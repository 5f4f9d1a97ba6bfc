"""Whether a model left its data alone: arrays are handed out read-only, but what runs in this process can write to them."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.errors import PluginError

LEAST_SECONDS, COST = 20.0, 100.0
"""Data are looked at again after this long, and after this many times as long as a look takes."""
_PIECE = 1 << 24
_PARTS = ("values", "observed", "held_out", "truth")

Sums = dict[tuple[str, int, str], int]


def sums_of(data: ModelData) -> Sums:
    """CRC-32 of every array, by input, number of the block and part; about half a second for each GB."""
    return {
        (name, number, part): _sum(getattr(block, part))
        for name in data
        for number, block in enumerate(_blocks(data[name]))
        for part in _PARTS
        if getattr(block, part) is not None and not block.stays  # which nobody can write to
    }


def _blocks(entry: Any) -> tuple[Block, ...]:
    return (entry,) if isinstance(entry, Block) else tuple(entry)


def _sum(values: Any) -> int:
    total = 0
    for array in (
        (values,) if isinstance(values, np.ndarray) else (values.data, values.indices, values.indptr)
    ):
        for piece in _pieces(array):
            total = zlib.crc32(piece, total)
    return total


def _pieces(array: np.ndarray) -> Iterator[Any]:
    """Its bytes; an array that lies scattered is copied some rows at a time."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    if array.flags.c_contiguous:
        yield array.reshape(-1).view(np.uint8)
        return
    rows = max(1, _PIECE // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        yield np.ascontiguousarray(array[start : start + rows]).reshape(-1).view(np.uint8)


class Untouched:
    """Compares the data of a fit with what they were; ``sums`` are those of ``sums_of`` before the model had them."""

    def __init__(self, data: ModelData, sums: Sums) -> None:
        self._data, self._sums = data, sums
        self._next = 0.0

    def look(self, where: str, at_once: bool = False) -> None:
        """Raises ``PluginError`` when a part of the data has changed; looks at once, or when it is time again."""
        started = time.monotonic()
        if started < self._next and not at_once:
            return
        found = sums_of(self._data)
        changed = next((key for key, value in found.items() if self._sums.get(key) != value), None)
        if changed is not None:
            name, number, part = changed
            which = f" (matrix {number + 1})" if number else ""
            raise PluginError(
                f"it changed its input “{name}”{which}, {part}, which is read-only; noticed {where}",
                "The data of this session are damaged: open it again before you go on.",
                hook="step",
            )
        ended = time.monotonic()
        self._next = ended + max(LEAST_SECONDS, COST * (ended - started))
