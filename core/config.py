"""Folders of the user: settings, and what is added to the program. No Qt."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import platformdirs


def config_folder() -> Path:
    """Where settings live; ``PLAIDWORK_CONFIG`` moves it (tests, portable use)."""
    return Path(
        os.environ.get("PLAIDWORK_CONFIG") or platformdirs.user_config_dir("plaidwork", appauthor=False)
    )


def read_record(path: Path) -> dict[str, Any]:
    """A small JSON file as a dict; empty when it is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a small JSON file in one go. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)
