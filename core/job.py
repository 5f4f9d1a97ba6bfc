"""A fit as a text file: model, inputs, settings and schedule in TOML; read and written."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.schedule import SCHEDULE_WORDS
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.file_inputs import ColumnInput, FileInput
from plaidwork.core.data.fit_inputs import Given, entries_of, load_inputs, warn_user
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.inference.executor import EXECUTORS
from plaidwork.core.quoting import toml, toml_key

if TYPE_CHECKING:
    from plaidwork.core.data.importers.several import Joined


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that decides the numbers of a fit, by name; plain data.

    ``inputs`` may also be anything that ``fit`` takes, such as a DataFrame; such a job cannot be written to a file.
    """

    model: str
    inputs: Mapping[str, tuple[FileInput | ColumnInput, ...] | Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    holdout: float = 0.0
    executor: str = "auto"
    title: str = ""

    def __post_init__(self) -> None:
        if self.executor not in EXECUTORS:
            raise SettingError(f"executor must be one of {', '.join(EXECUTORS)}. Found “{self.executor}”.")
        for name in self.schedule:
            if name not in SCHEDULE_WORDS:
                raise SettingError(f"The schedule has no “{name}”.", f"Known: {', '.join(SCHEDULE_WORDS)}.")

    def load(self, spec: ModelSpec) -> dict[str, list[Dataset]]:
        """The datasets by input of ``spec``, their names made unique. Raises ``DataError``.

        What may not be meant is said as a Python warning.
        """
        given = self.read(spec)
        warn_user(given.messages)
        return given.data

    def read(self, spec: ModelSpec, tell: Callable[[str, Joined], object] | None = None) -> Given:
        """The datasets by input, and what is to be said of them. Raises ``DataError``.

        Several files of one input are joined by sample name; ``tell`` gets the input and the report.
        """
        return load_inputs(spec, entries_of(spec, self.inputs), tell)

    @property
    def files(self) -> dict[str, list[Path]]:
        """The files by input name."""
        found = {
            name: [item.file for item in items if isinstance(item, FileInput)]
            for name, items in self.inputs.items()
            if isinstance(items, tuple)
        }
        return {name: files for name, files in found.items() if files}


def read_job(path: Path) -> Job:
    """A job file. File names in it are relative to its folder. Raises ``SettingError`` naming what is wrong."""
    return job_from(path, read_toml(path))


def read_toml(path: Path) -> dict[str, Any]:
    """What a job file holds. Raises ``DataError`` or ``SettingError``."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path} does not exist.", "Check the name and the folder.") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{path} is not a job file: {error}.") from error


def job_from(path: Path, record: dict[str, Any]) -> Job:
    """The job that a file at ``path`` holds."""
    known = {"model", "inputs", "settings", "schedule", "seed", "holdout", "executor", "title"}
    if unknown := sorted(set(record) - known):
        raise SettingError(f"{path}: unknown key “{unknown[0]}”.", f"Known: {', '.join(sorted(known))}.")
    if not isinstance(record.get("model"), str) or not isinstance(record.get("inputs"), dict):
        raise SettingError(f"{path} needs a model and a table [inputs].")
    inputs = {
        name: tuple(_file_input(path, name, item) for item in (value if isinstance(value, list) else [value]))
        for name, value in record["inputs"].items()
    }
    return Job(**{**record, "inputs": inputs})


def _file_input(path: Path, name: str, item: Any) -> FileInput | ColumnInput:
    entry = {"file": item} if isinstance(item, str) else item
    if isinstance(entry, dict) and set(entry) == {"column"} and isinstance(entry["column"], str):
        return ColumnInput(entry["column"])
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise SettingError(f"{path}: input {name} needs a file name.", 'For example X = "matrix.csv".')
    if unknown := sorted(set(entry) - {"file", "options", "steps", "fields"}):
        raise SettingError(f"{path}: input {name} has an unknown key “{unknown[0]}”.")
    return FileInput(
        path.parent / entry["file"], *(entry.get(key, {}) for key in ("options", "steps", "fields"))
    )


def job_text(job: Job, folder: Path | None = None) -> str:
    """The job as TOML that :func:`read_job` reads back; file names relative to ``folder`` where possible."""
    lines = [f"model = {toml(job.model)}"]
    if job.title:
        lines.append(f"title = {toml(job.title)}")
    lines += [
        f"seed = {toml(job.seed)}",
        f"holdout = {toml(job.holdout)}",
        f"executor = {toml(job.executor)}",
        "",
        "[inputs]",
    ]
    for name, files in job.inputs.items():
        if not isinstance(files, tuple) or not all(isinstance(f, (FileInput, ColumnInput)) for f in files):
            raise SettingError(f"The input {name} is no file.", "Save it as a file, and give its name.")
        entries = [_entry(item, folder) for item in files]
        lines.append(f"{toml_key(name)} = {toml(entries[0] if len(entries) == 1 else entries)}")
    for title, values in (("settings", job.settings), ("schedule", job.schedule)):
        lines += ["", f"[{title}]", *(f"{toml_key(name)} = {toml(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _entry(item: FileInput | ColumnInput, folder: Path | None) -> dict[str, Any]:
    if isinstance(item, ColumnInput):
        return {"column": item.column}
    file = item.file
    if folder is not None and file.is_relative_to(folder):
        file = file.relative_to(folder)
    entry = {
        "file": file.as_posix(),
        "options": item.options,
        "steps": list(item.steps),
        "fields": item.fields,
    }
    return {key: value for key, value in entry.items() if value}
