"""Whether a file is exactly as we wrote it; any other is first read by a process of its own.

The last bytes of a session file, behind what HDF5 looks at, are a SHA-256 of all bytes before them. A damaged file
can make the HDF5 library loop for ever, take all memory or end the program; so a file whose seal does not hold
(damaged, or changed by another program, which is allowed) is read once in a process with limits.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from plaidwork.core.errors import SessionError

_MARK = b"\nplaidwork-sha256:"
_LENGTH = len(_MARK) + 64
_SECONDS, _BYTES_PER_SECOND = 30, 10_000_000


def seal(path: Path) -> None:
    """Append the digest of the bytes of a file that was just written and closed."""
    with path.open("r+b") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0, os.SEEK_END)
        file.write(_MARK + digest.encode())


def seal_holds(path: Path) -> bool:
    """Whether the file ends with the digest of its bytes."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size - _LENGTH
        if size <= 0:
            return False
        file.seek(size)
        stored = file.read(_LENGTH)
        if not stored.startswith(_MARK):
            return False
        file.seek(0)
        hasher, left = hashlib.sha256(), size
        while left and (part := file.read(min(left, 1 << 20))):
            hasher.update(part)
            left -= len(part)
    return stored[len(_MARK) :] == hasher.hexdigest().encode()


def probe(path: Path) -> None:
    """Read the file in another process. Raises ``SessionError`` with its words, or when it did not come back."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return  # no interpreter to start
    seconds = _SECONDS + path.stat().st_size / _BYTES_PER_SECOND
    command = [sys.executable, "-m", "plaidwork.core.session.store.probe", str(path.absolute())]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=seconds, check=False, env={**os.environ, "PYTHONUTF8": "1"}
        )
    except subprocess.TimeoutExpired:
        raise SessionError(f"“{path.name}” is damaged: reading it does not come to an end.") from None
    if done.returncode == 3:
        record = json.loads(done.stdout.decode().splitlines()[-1])
        raise SessionError(record["message"], record["hint"])
    if done.returncode:
        raise SessionError(
            f"“{path.name}” is damaged: the program that read it ended with code {done.returncode}."
        )
