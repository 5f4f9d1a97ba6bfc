"""Where recovery files lie."""

from __future__ import annotations

import re
from pathlib import Path

from plaidwork.core.errors import SessionError

_UUID = re.compile(r"[0-9A-Za-z-]{1,64}\Z")


def recovery_folder() -> Path:
    """Where recovery files are kept (not created)."""
    import platformdirs

    return Path(platformdirs.user_state_dir("plaidwork", appauthor=False)) / "recovery"


def recovery_file(uuid: str, folder: Path | None = None) -> Path:
    """The recovery file of a session. Raises ``SessionError`` for a text that is no session id."""
    if not _UUID.match(uuid):
        raise SessionError(f"“{uuid}” is not the id of a session.")
    return (folder or recovery_folder()) / f"{uuid}.plaidwork"
