"""Where recovery files lie."""

from __future__ import annotations

import os
import re
import secrets
import uuid as uuids
from pathlib import Path

from plaidwork.core.errors import SessionError

_KEY = re.compile(r"[0-9A-Za-z-]{1,80}\Z")


def recovery_folder() -> Path:
    """Where recovery files are kept (not created); ``PLAIDWORK_STATE`` moves it (tests, portable use)."""
    import platformdirs

    state = os.environ.get("PLAIDWORK_STATE") or platformdirs.user_state_dir("plaidwork", appauthor=False)
    return Path(state) / "recovery"


_PROGRAM = secrets.token_hex(4)


def stored_uuid(found: object) -> str:
    """The ``uuid`` of a file, or a new one where unsaved work cannot be called by it: it becomes a part of the name of a file."""
    text = str(found)
    return text if text and _KEY.match(recovery_key(text)) else str(uuids.uuid4())


def recovery_key(uuid: str) -> str:
    """The name of unsaved work of a session in this program; another window on the same session has another one."""
    return f"{uuid}-{_PROGRAM}"


def recovery_file(key: str, folder: Path | None = None) -> Path:
    """The recovery file of a key (see :func:`recovery_key`). Raises ``SessionError`` for a text that is none."""
    if not _KEY.match(key):
        raise SessionError(f"“{key}” is not the name of unsaved work.")
    return (folder or recovery_folder()) / f"{key}.plaidwork"
