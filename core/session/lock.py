"""A lock beside a session file: who works on it, so that a second program opens it for reading only.

``.NAME.lock`` beside ``NAME`` is JSON: process, computer, user and time. It keeps nobody out who does not ask for it; what
keeps work from being overwritten is the comparison before every save (:mod:`plaidwork.core.session.store.mark`).
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from plaidwork.core.hdf5.atomic import replace_file
from plaidwork.core.quoting import line
from plaidwork.core.session.holder import Holder

_LARGEST = 4096


def lock_file(path: Path) -> Path:
    """Where the lock of a session file lies."""
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.name}.lock")


def holder_of(path: Path) -> Holder | None:
    """Who holds a file; None when nobody does, or only a program of this computer that has ended."""
    try:
        with lock_file(path).open("rb") as file:
            record = json.loads(file.read(_LARGEST))
    except (OSError, ValueError):
        return None
    holder = Holder.of(record if isinstance(record, dict) else {})
    if not holder.pid or (holder.here and not holder.runs):
        return None
    return holder


def acquire(path: Path) -> Holder | None:
    """Hold a file; None when it is ours now, else who holds it.

    Where the folder cannot be written to nobody can hold it, and nobody could save.
    """
    for _ in range(3):
        try:
            handle = os.open(lock_file(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            found = holder_of(path)
            if found is not None:
                return None if found.mine else found
            with suppress(OSError):
                lock_file(path).unlink()
            continue
        except OSError:
            return None
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(Holder.me().record, file)
        return None
    return holder_of(path)


def take_over(path: Path) -> None:
    """Hold a file whoever held it before. Raises ``OSError``."""
    text = json.dumps(Holder.me().record)
    replace_file(lock_file(path), lambda temporary: _write(temporary, text), backup=False)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def release(path: Path) -> None:
    """Let go of a file that this process holds; others' locks stay."""
    found = holder_of(path)
    if found is not None and found.mine:
        with suppress(OSError):
            lock_file(path).unlink()


def held_text(path: Path, holder: Holder) -> str:
    """Why a file is open for reading only, as a sentence."""
    who = holder.user or "somebody"
    where = (
        "in another window or command on this computer" if holder.here else f"on the computer {holder.host}"
    )
    since = holder.time[:16].replace("T", " ")
    return line(f"{who} has “{path.name}” open {where} since {since} (UTC).")
