"""Where recovery files lie."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from plaidwork.core.errors import SessionError

_KEY = re.compile(r"[0-9A-Za-z-]{1,80}\Z")


def recovery_folder() -> Path:
    """Where recovery files are kept (not created); ``PLAIDWORK_STATE`` moves it (tests, portable use)."""
    import platformdirs

    state = os.environ.get("PLAIDWORK_STATE") or platformdirs.user_state_dir("plaidwork", appauthor=False)
    return Path(state) / "recovery"


_PROGRAM = secrets.token_hex(4)


def recovery_key(uuid: str) -> str:
    """The name of unsaved work of a session in this program; another window on the same session has another one."""
    return f"{uuid}-{_PROGRAM}"


def recovery_file(key: str, folder: Path | None = None) -> Path:
    """The recovery file of a key (see :func:`recovery_key`). Raises ``SessionError`` for a text that is none."""
    if not _KEY.match(key):
        raise SessionError(f"“{key}” is not the name of unsaved work.")
    return (folder or recovery_folder()) / f"{key}.plaidwork"
