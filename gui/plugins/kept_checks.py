"""Results of the conformance suite, remembered per plugin and version in the settings folder."""

from __future__ import annotations

import datetime as dt
from typing import Any

from plaidwork.core.config import config_folder, read_record, write_record
from plaidwork.core.plugins.registry import PluginInfo

FILE = "conformance.json"
_NEEDED = {"ok": bool, "passed": int, "failed": int, "skipped": int, "failures": list}


def kept_check(info: PluginInfo) -> dict[str, Any] | None:
    """The result for this version of the plugin; None when the checks never ran on it."""
    found = read_record(config_folder() / FILE).get(info.name)
    if not isinstance(found, dict) or found.get("version") != info.version:
        return None
    return found if all(isinstance(found.get(key), kind) for key, kind in _NEEDED.items()) else None


def keep_check(info: PluginInfo, result: dict[str, Any]) -> None:
    """Remember a result, with the version and the time. Raises ``OSError``."""
    path = config_folder() / FILE
    record = read_record(path)
    now = dt.datetime.now().isoformat(timespec="seconds")
    record[info.name] = {**result, "version": info.version, "when": now}
    write_record(path, record)


def forget_check(name: str) -> None:
    """The plugin has changed or gone."""
    path = config_folder() / FILE
    record = read_record(path)
    if record.pop(name, None) is not None:
        write_record(path, record)
