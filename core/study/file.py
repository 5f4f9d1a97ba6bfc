"""A study as a text file: a job file with a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaidwork.core.errors import SettingError
from plaidwork.core.job import Job, job_from, read_toml

_OWN = {"grid": dict, "seeds": list, "metric": str, "goal": str}


@dataclass(frozen=True, slots=True)
class StudyFile:
    """The fit that all have in common, and what differs."""

    job: Job
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    metric: str = ""
    goal: str = ""


def read_study(path: Path) -> StudyFile:
    """A job file with ``[grid]``, ``seeds``, ``metric`` and ``goal``. Raises ``SettingError`` or ``DataError``."""
    record = read_toml(path)
    own = {key: record.pop(key) for key in _OWN if key in record}
    for key, value in own.items():
        if not isinstance(value, _OWN[key]):
            word = {dict: "a table", list: "a list", str: "a text"}[_OWN[key]]
            raise SettingError(f"{path}: {key} must be {word}. Found “{value}”.")
    for name, values in own.get("grid", {}).items():
        if not isinstance(values, list):
            raise SettingError(
                f"{path}: {name} in the grid needs a list of values. Found “{values}”.",
                f"{name} = [{values}]",
            )
    seeds = own.pop("seeds", [])
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
        raise SettingError(f"{path}: seeds must be whole numbers. Found “{seeds}”.")
    if own.get("goal", "") not in ("", "up", "down"):
        raise SettingError(f"{path}: goal must be up or down. Found “{own['goal']}”.")
    return StudyFile(job_from(path, record), seeds=tuple(seeds), **own)
