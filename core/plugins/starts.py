"""Counts starts that ended before the window was ready, so that safe mode can be offered."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from plaidwork.core.config import config_folder, read_record, write_record

OFFER_AFTER = 2
HINT = "The last two starts ended before the window was ready. plaidwork --safe-mode starts without added plugins."


def starts_file() -> Path:
    return config_folder() / "starts.json"


def failed_starts() -> int:
    """How many starts in a row have ended before the window was ready."""
    found = read_record(starts_file()).get("unfinished", 0)
    return found if isinstance(found, int) and found > 0 else 0


def begin_start() -> bool:
    """Count this start; True when the ones before it failed often enough to offer safe mode."""
    before = failed_starts()
    with suppress(OSError):  # a folder that cannot be written costs the offer, not the start
        write_record(starts_file(), {"unfinished": before + 1})
    return before >= OFFER_AFTER


def start_succeeded() -> None:
    """The window is there and the plugins are loaded (or the user closed it): count from 0 again."""
    with suppress(OSError):
        starts_file().unlink(missing_ok=True)
