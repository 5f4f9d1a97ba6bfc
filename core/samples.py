"""Bundled examples: a folder with an ``example.json`` that names data, model and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.importers import read_dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """An example ready to fit.

    ``files`` maps an input of the model to ``{"file": ..., "options": {...}, "fields": {...}}``: where the
    numbers are, how to read them, and dataset fields to set (name, row_label, unit). ``picture`` is a PNG shown
    on the welcome card; ``size`` the line under the title ("100 × 200 matrix").
    """

    id: str
    title: str
    line: str
    model: str
    size: str
    folder: Path
    files: Mapping[str, Mapping[str, Any]]
    params: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, int] = field(default_factory=dict)
    seed: int = 1
    licence: str = ""
    source: str = ""
    picture: str = ""
    order: int = 100

    def load(self) -> dict[str, Dataset]:
        """The datasets by input name, transformations included."""
        from plaidwork.core.transforms import apply_steps

        found = {}
        for name, entry in self.files.items():
            dataset = read_dataset(self.folder / entry["file"], entry.get("options"))
            dataset = apply_steps(dataset, entry.get("steps", ()))
            found[name] = dataset.with_(**entry.get("fields", {}))
        return found

    @property
    def picture_path(self) -> Path | None:
        return self.folder / self.picture if self.picture else None


def load_sample(folder: Path) -> Sample:
    """The example in a folder. Raises ``DataError`` when its ``example.json`` is wrong."""
    try:
        record = json.loads((folder / "example.json").read_text(encoding="utf-8"))
        return Sample(folder=folder, **record)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"The example in {folder} cannot be read: {error}.") from error


def bundled_samples() -> tuple[Sample, ...]:
    """The examples that come with Plaidwork, in the order of the welcome page."""
    root = Path(__file__).resolve().parent.parent / "resources" / "examples"
    folders = sorted(path.parent for path in root.glob("*/example.json"))
    return tuple(
        sorted((load_sample(folder) for folder in folders), key=lambda sample: (sample.order, sample.id))
    )
