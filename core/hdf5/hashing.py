"""Hashing in threads beside the writing: each takes about as long, and none needs the interpreter for long."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from plaidwork.core.hdf5.limits import MIB
from plaidwork.core.hdf5.parts import PART, digests_within

_WAITING = 64 * MIB
"""What may wait to be hashed while the next is written already."""


class Hashing:
    """Feeds hashers in the order in which it is asked to, and fills ``parts``, if given, with the digests of a file's parts.

    What it is given must stay as it is until :meth:`settle`.
    """

    def __init__(self, parts: dict[int, bytes] | None = None) -> None:
        self._parts = parts
        self._arrays, self._file = _Line(), _Line()

    def update(self, hasher: Any, part: np.ndarray) -> None:
        """Feed the bytes of a part (C order), now or soon."""
        self._arrays.do(lambda: hasher.update(_bytes(part)), part.nbytes)

    def written(self, position: int, part: np.ndarray) -> None:
        """These bytes (C order) stand in the file from that position on, and stay there."""
        parts = self._parts
        if parts is not None and part.nbytes >= PART:
            self._file.do(lambda: parts.update(digests_within(_bytes(part), position)), part.nbytes)

    def settle(self) -> None:
        """Wait until all is done."""
        self._arrays.settle()
        self._file.settle()


class _Line:
    """Work that is done one after the other in a thread; small work at once when none waits."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._waiting: deque[tuple[Future[None], int]] = deque()

    def do(self, work: Callable[[], None], size: int) -> None:
        self.settle(_WAITING)
        if size < MIB and not self._waiting:
            work()
        else:
            self._waiting.append((self._pool.submit(work), size))

    def settle(self, most: int = 0) -> None:
        """Wait until less than so many bytes are left, or nothing."""
        while self._waiting and (
            self._waiting[0][0].done() or sum(size for _, size in self._waiting) >= most
        ):
            self._waiting.popleft()[0].result()


def _bytes(part: np.ndarray) -> memoryview:
    if part.ndim == 0 or not part.size:
        return memoryview(part.tobytes())
    return part.data.cast("B")
