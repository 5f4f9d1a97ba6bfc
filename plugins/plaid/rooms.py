"""Arrays of the size of the data that the slices of a sweep use one after the other.

Arrays so large come from the system anew each time, which clears every page of them: that takes longer than to fill them.
"""

from __future__ import annotations

import threading

import numpy as np

from plaidwork.plugins.plaid.fields import Floats


class Rooms(threading.local):
    """The arrays of each thread by name; what stands in them is that of the last use."""

    def __init__(self) -> None:
        self._kept: dict[str, Floats] = {}

    def of(self, name: str, shape: tuple[int, ...]) -> Floats:
        """An array of this shape for one use, which ends when the next one of the name begins."""
        if name not in self._kept or self._kept[name].shape != shape:
            self._kept[name] = np.empty(shape)
        return self._kept[name]

    def clear(self) -> None:
        """Give the memory back, at the end of a sweep."""
        self._kept = {}


ROOMS = Rooms()
