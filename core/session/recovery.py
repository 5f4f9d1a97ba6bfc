"""Unsaved work on disk: one recovery file per session, found again after a crash.

Beside ``<uuid>.plaidwork`` lies ``<uuid>.json`` that says which process wrote it, for which file and when. A
session whose process still runs is not offered for recovery.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.atomic import process_runs, replace_file, sweep_temporaries
from plaidwork.core.inference.run import now
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store.places import recovery_file, recovery_folder


@dataclass(frozen=True, slots=True)
class Recovery:
    """Unsaved work of a session that ended without a save or a choice."""

    uuid: str
    name: str
    path: Path
    """The recovery file."""
    origin: Path | None
    """The session file it belongs to; None when it was never saved."""
    time: str
    """When it was written: UTC in ISO form."""

    def open(self) -> Session:
        """The session as it was, with ``path`` of its own file. Raises ``SessionError``."""
        session = open_session(self.path)
        session.path = self.origin
        return session


def write_recovery(session: Session, folder: Path | None = None) -> Path:
    """Write the session's recovery file; the session and its own file are not touched. Raises ``SessionError``."""
    from plaidwork.core.session.store.session_file import write

    path = recovery_file(session.uuid, folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(session, path, backup=False)
        note = {
            "uuid": session.uuid,
            "name": session.name,
            "origin": str(session.path.absolute()) if session.path else "",
            "time": now(),
            "pid": os.getpid(),
            "started": _started(os.getpid()),
            "host": socket.gethostname(),
        }
        replace_file(
            path.with_suffix(".json"),
            lambda temporary: _write_text(temporary, json.dumps(note)),
            backup=False,
        )
    except OSError as error:
        raise SessionError(f"The recovery file cannot be written: {error}.", "Save the session.") from error
    return path


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def find_recoveries(folder: Path | None = None) -> list[Recovery]:
    """Unsaved work of sessions that no running program holds, newest first. Also sweeps stray temporaries."""
    folder = folder or recovery_folder()
    if not folder.is_dir():
        return []
    sweep_temporaries(folder)
    found = [_look(path) for path in folder.glob("*.plaidwork")]
    return sorted((entry for entry in found if entry), key=lambda entry: entry.time, reverse=True)


def _look(path: Path) -> Recovery | None:
    """The entry of one recovery file, or None when its program still runs."""
    note: dict[str, object] = {}
    with suppress(OSError, ValueError):
        read = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        note = read if isinstance(read, dict) else {}
    if _held(note):
        return None
    origin = str(note.get("origin") or "")
    written = str(note.get("time") or "")
    if not written:
        from datetime import datetime

        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    return Recovery(
        path.stem, str(note.get("name") or "Untitled"), path, Path(origin) if origin else None, written
    )


def _held(note: dict[str, object]) -> bool:
    pid = note.get("pid")
    if not isinstance(pid, int) or pid <= 0 or note.get("host") != socket.gethostname():
        return False
    if pid == os.getpid():
        return True
    started = _started(pid)
    return process_runs(pid) and (not started or not note.get("started") or started == note["started"])


def _started(pid: int) -> str:
    """When a process started, as the system counts it; empty where that is not known."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    return ""


def discard(uuid: str, folder: Path | None = None) -> None:
    """Remove the recovery file of a session (after a save, or when the user does not want it)."""
    path = recovery_file(uuid, folder)
    path.unlink(missing_ok=True)
    path.with_suffix(".json").unlink(missing_ok=True)
