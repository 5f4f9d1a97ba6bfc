"""Which plugins are turned off: a JSON file in the settings folder, and ``PLAIDWORK_DISABLE``."""

from __future__ import annotations

import os
from pathlib import Path

from plaidwork.core.config import config_folder, read_record, write_record
from plaidwork.core.errors import SettingError

VARIABLE = "PLAIDWORK_DISABLE"


def switches_file() -> Path:
    return config_folder() / "plugins.json"


def from_environment() -> frozenset[str]:
    """Names in ``PLAIDWORK_DISABLE``, separated by commas."""
    return frozenset(name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip())


def from_settings() -> frozenset[str]:
    """Names turned off in the settings; a damaged file turns nothing off."""
    found = read_record(switches_file()).get("disabled")
    return frozenset(str(name) for name in found) if isinstance(found, list) else frozenset()


def disabled() -> frozenset[str]:
    """All that are turned off."""
    return from_settings() | from_environment()


def remember(name: str, on: bool) -> None:
    """Turn a plugin on or off for the next starts. Raises ``SettingError`` when that cannot be written."""
    record = read_record(switches_file())
    names = set(from_settings())
    (names.discard if on else names.add)(name)
    record["disabled"] = sorted(names)
    try:
        write_record(switches_file(), record)
    except OSError as error:
        raise SettingError(
            f"The settings cannot be written: {error.strerror or error}.",
            f"For one start, {VARIABLE}={name} does the same.",
        ) from error
