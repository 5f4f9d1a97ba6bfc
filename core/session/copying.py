"""A session to give away: its runs without the data that they were fitted to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plaidwork.core.errors import SessionError
from plaidwork.core.session.session import Session

_NOTE = "copied without data"


def save_without_data(session: Session, path: Path) -> Path:
    """Write a copy of a session without its data, their names of rows and columns, and the files that analyses have read.

    Runs keep settings, traces, draws, results and checkpoints, and the fingerprint of their data: beside the same data, under the
    same names, they go on. What results and draws tell of the data stays. The session is not changed. Raises ``SessionError``.
    """
    if session.path is not None and path.resolve() == session.path.resolve():
        raise SessionError("The copy without data would replace the session.", "Give it another name.")
    copy = Session(
        name=path.stem,
        created=session.created,
        notes=session.notes,
        studies=list(session.studies),
        history=list(session.history),
    )
    for run in list(session.runs.values()):
        analyses = [replace(record, files={}) for record in list(run.analyses)]
        copy.runs[run.id] = replace(run, analyses=analyses)
    copy.note(_NOTE, datasets=list(session.datasets))
    return copy.save(path)
