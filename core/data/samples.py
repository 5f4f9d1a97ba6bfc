"""Bundled examples: a folder with an ``example.json`` that names data, model and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.file_inputs import ColumnInput
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.errors import DataError
from plaidwork.core.resources import RESOURCES

_ENTRY = {"file", "options", "steps", "fields"}
_FIELDS = {"name", "kind", "row_label", "column_label", "unit", "notes", "samples_in"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """An example ready to fit.

    ``files`` maps an input of the model to ``{"file": ..., "options": {...}, "steps": [...], "fields": {...}}``:
    where the numbers are, how to read them (``annotations`` among the options joins label tables), which
    transformations to apply, and dataset fields to set (name, row_label, unit). A list of such entries goes to an
    input that takes several matrices. ``{"column": "X:row:positive", "kind": "vector"}`` takes an annotation column of
    another input (``kind`` is that of the input: vector, labels or matrix; ``dtype`` too, unless it is real). Files are relative to the folder. ``picture`` is a PNG shown on the welcome
    card; ``size`` the line under the title ("100 × 200 matrix").
    """

    id: str
    title: str
    line: str
    model: str
    size: str
    folder: Path
    files: Mapping[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
    params: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    licence: str = ""
    source: str = ""
    picture: str = ""
    order: int = 100

    def __post_init__(self) -> None:
        for name, entries in self.entries().items():
            for entry in entries:
                if {"column", "kind"} <= set(entry) <= {"column", "kind", "dtype"}:
                    continue
                unknown = set(entry) - _ENTRY | set(entry.get("fields", {})) - _FIELDS
                if unknown or not isinstance(entry.get("file"), str):
                    what = f"unknown: {', '.join(sorted(unknown))}" if unknown else "no file is named"
                    raise DataError(f"Example “{self.id}”, input {name}: {what}.")

    def entries(self) -> dict[str, list[Mapping[str, Any]]]:
        """The file entries by input name, always as lists."""
        return {
            name: [entry] if isinstance(entry, Mapping) else list(entry) for name, entry in self.files.items()
        }

    def load(self) -> dict[str, Dataset | list[Dataset]]:
        """The datasets by input name, annotations and transformations included; lists where the example has lists."""
        found: dict[str, Dataset | list[Dataset]] = {}
        columns = {}
        for name, entries in self.entries().items():
            if "column" in entries[0]:
                columns[name] = entries[0]
                continue
            datasets = [self._load(entry) for entry in entries]
            found[name] = datasets[0] if isinstance(self.files[name], Mapping) else datasets
        data = {name: item if isinstance(item, list) else [item] for name, item in found.items()}
        for name, entry in columns.items():
            dims = ("row", "column") if entry["kind"] == "matrix" else ("row",)
            several = "column" if entry["kind"] == "vector" else ""
            item = Input(name, entry["kind"], entry.get("dtype", "real"), dims=dims, several=several)
            found[name] = ColumnInput(entry["column"]).load(item, data)
        return found

    def _load(self, entry: Mapping[str, Any]) -> Dataset:
        from plaidwork.core.data.transforms import apply_steps

        dataset = read_dataset(self.folder / entry["file"], entry.get("options"))
        return apply_steps(dataset, entry.get("steps", ())).with_(**entry.get("fields", {}))

    @property
    def picture_path(self) -> Path | None:
        return self.folder / self.picture if self.picture else None


def load_sample(folder: Path) -> Sample:
    """The example in a folder. Raises ``DataError`` when its ``example.json`` is wrong."""
    try:
        record = json.loads((folder / "example.json").read_text(encoding="utf-8"))
        return Sample(folder=folder, **record)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"The example in {folder} cannot be read: {error}.") from error


def bundled_samples() -> tuple[Sample, ...]:
    """The examples that come with Plaidwork, in the order of the welcome page."""
    root = RESOURCES / "examples"
    folders = sorted(path.parent for path in root.glob("*/example.json"))
    return tuple(
        sorted((load_sample(folder) for folder in folders), key=lambda sample: (sample.order, sample.id))
    )
