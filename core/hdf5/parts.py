"""The parts of a file, each with its digest, so that any of them can be compared when it is read, without the others.

A part is 256 KiB, the last one what is left.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PART = 1 << 18
DIGEST = 32
_TASK = 256 * PART


@dataclass(frozen=True, slots=True)
class Parts:
    """What the first ``length`` bytes of a file are: a SHA-256 of each part, laid end to end."""

    length: int
    table: bytes

    @staticmethod
    def of(path: Path, length: int) -> Parts:
        """Read the file once, by as many threads as there are processors. Raises ``OSError``."""
        ends = [min(start + _TASK, length) for start in range(0, length, _TASK)]
        if len(ends) < 2:
            return Parts(length, b"".join(_digests(path, 0, end) for end in ends))
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            starts = range(0, length, _TASK)
            return Parts(
                length, b"".join(pool.map(lambda start, end: _digests(path, start, end), starts, ends))
            )

    @property
    def count(self) -> int:
        return -(-self.length // PART)

    @property
    def digest(self) -> bytes:
        """SHA-256 of length and table: one number for all the bytes."""
        return hashlib.sha256(self.length.to_bytes(8, "little") + self.table).digest()


def _digests(path: Path, start: int, end: int) -> bytes:
    found = []
    with path.open("rb") as file:
        file.seek(start)
        for position in range(start, end, PART):
            found.append(hashlib.sha256(file.read(min(PART, end - position))).digest())
    return b"".join(found)
