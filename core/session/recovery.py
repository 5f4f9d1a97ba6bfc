"""Unsaved work on disk: one recovery file for each session and program, found again after a crash.

Beside ``<key>.plaidwork`` lies ``<key>.json`` that says which process wrote it, for which file and when; it is written first. A
session whose process still runs is not offered for recovery.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.atomic import replace_file, sweep_temporaries
from plaidwork.core.refusals import why
from plaidwork.core.session.holder import Holder
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store.mark import FileMark
from plaidwork.core.session.store.places import recovery_file, recovery_folder, recovery_key


@dataclass(frozen=True, slots=True)
class Recovery:
    """Unsaved work of a session that ended without a save or a choice."""

    key: str
    name: str
    path: Path
    """The recovery file."""
    origin: Path | None
    """The session file it belongs to; None when it was never saved."""
    time: str
    """When it was written: UTC in ISO form."""
    mark: FileMark | None = None
    """What the session file was when the work on it began."""
    holds: tuple[int, int] | None = None
    """Number of datasets and of runs; None where it was written by an earlier version."""

    def open(self) -> Session:
        """The session as it was, with ``path`` of its own file. Raises ``SessionError``."""
        session = open_session(self.path)
        session.path, session.mark, session.left_behind = self.origin, self.mark, self.key
        return session


def write_recovery(session: Session, folder: Path | None = None, *, origin: Path | None = None) -> Path:
    """Write the session's recovery file; the session and its own file are not touched. Raises ``SessionError``.

    ``origin`` is the file that the session is going to have, when it has none yet.
    """
    from plaidwork.core.session.store.session_saving import write

    path = recovery_file(recovery_key(session.uuid), folder)
    origin = session.path or origin
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        note = {
            "uuid": session.uuid,
            "name": session.name,
            "origin": str(origin.absolute()) if origin else "",
            "datasets": len(session.datasets),
            "runs": len(session.runs),
            "mark": None if session.mark is None or session.path is None else session.mark.record,
            **Holder.me().record,
        }
        replace_file(
            path.with_suffix(".json"),
            lambda temporary: _write_text(temporary, json.dumps(note)),
            backup=False,
        )  # before the work: whoever finds that knows then which file it is for, even when this program dies in between
        write(session, path, backup=False)
    except OSError as error:
        raise SessionError(
            f"The recovery file cannot be written: {why(error)}.", "Save the session."
        ) from error
    finally:
        if not path.exists():
            path.with_suffix(".json").unlink(missing_ok=True)
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
    if Holder.of(note).runs:
        return None
    origin = str(note.get("origin") or "")
    written = str(note.get("time") or "")
    if not written:
        from datetime import datetime

        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    if origin and _older(path, Path(origin)):
        return None
    return Recovery(
        path.stem,
        str(note.get("name") or "Untitled"),
        path,
        Path(origin) if origin else None,
        written,
        FileMark.from_record(note.get("mark")),
        _counts(note),
    )


def _counts(note: Mapping[str, object]) -> tuple[int, int] | None:
    datasets, runs = note.get("datasets"), note.get("runs")
    return (datasets, runs) if isinstance(datasets, int) and isinstance(runs, int) else None


def _older(path: Path, origin: Path) -> bool:
    """Whether the file was saved after the unsaved work was written."""
    with suppress(OSError):
        return origin.stat().st_mtime_ns > path.stat().st_mtime_ns
    return False


def discard(key: str, folder: Path | None = None) -> None:
    """Remove unsaved work (after a save, or when the user does not want it)."""
    path = recovery_file(key, folder)
    path.unlink(missing_ok=True)
    path.with_suffix(".json").unlink(missing_ok=True)
