"""The session file: HDF5 that other programs read, written as a whole or not at all.

``save_session`` and ``load_session`` are what the rest of Plaidwork uses; ``docs/session-format.md`` describes the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plaidwork.core.hdf5.atomic import sweep_temporaries

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session

__all__ = ["load_session", "save_session", "sweep_temporaries"]


def save_session(session: Session, path: str | Path | None = None) -> Path:
    """Write the session to ``path`` (default: where it came from) and return that path, now ``session.path``.

    Raises ``SessionError``; the old file is then as it was.
    """
    from plaidwork.core.session.store.session_file import save

    return save(session, path)


def load_session(path: str | Path) -> Session:
    """Read a session file. Raises ``SessionError`` naming file, what was found and what was expected."""
    from plaidwork.core.session.session import open_session

    return open_session(path)
