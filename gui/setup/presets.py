"""Settings kept by name, one file per model, and as files to pass on. No Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import SettingError
from plaidwork.core.refusals import why

FORMAT = "plaidwork-settings"
VERSION = 1


def to_record(
    spec: ModelSpec, params: Mapping[str, Any], schedule: Mapping[str, Any], name: str = ""
) -> dict[str, Any]:
    """Settings as a JSON-ready dict; ``schedule`` also holds seed and share held out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": spec.id,
        "model_version": spec.version,
        "name": name,
        "params": {key: list(value) if isinstance(value, tuple) else value for key, value in params.items()},
        "schedule": dict(schedule),
    }


def check_record(spec: ModelSpec, record: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """(params, schedule, names of settings this version does not know). Raises ``SettingError``."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise SettingError(
            "This is not a file of Plaidwork settings.", "Choose a file made by “Export settings”."
        )
    if record.get("model") != spec.id:
        raise SettingError(
            f"These settings are for the model “{record.get('model')}”, not for {spec.title}.",
            "Choose that model first.",
        )
    params, schedule = record.get("params"), record.get("schedule")
    if not isinstance(params, dict) or not isinstance(schedule, dict):
        raise SettingError("The file of settings is damaged: params or schedule is missing.")
    known = {parameter.name: parameter for parameter in spec.hyperparameters}
    unknown = [name for name in params if name not in known]
    checked = {name: known[name].check(value) for name, value in params.items() if name in known}
    return checked, schedule, unknown


def read_file(spec: ModelSpec, path: Path) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Settings from a file. Raises ``SettingError``."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"{path.name} cannot be read: {error}.") from error
    return check_record(spec, record)


def write_file(path: Path, record: Mapping[str, Any]) -> None:
    """Write settings as JSON. Raises ``SettingError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingError(f"Could not write {path.name}: {why(error)}.", "Choose another place.") from error


class PresetStore:
    """Presets of all models in one folder: ``presets/<model id>.json`` holds records by name."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            from plaidwork.gui.settings import config_folder

            folder = config_folder() / "presets"
        self._folder = folder

    def _path(self, spec: ModelSpec) -> Path:
        return self._folder / f"{spec.id}.json"

    def _load(self, spec: ModelSpec) -> dict[str, Any]:
        try:
            found = json.loads(self._path(spec).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # none yet, or damaged: begin anew, presets are a convenience
        return found if isinstance(found, dict) else {}

    def names(self, spec: ModelSpec) -> list[str]:
        """Names of the presets of a model."""
        return sorted(self._load(spec), key=str.casefold)

    def get(self, spec: ModelSpec, name: str) -> Any:
        """The record of a preset."""
        return self._load(spec).get(name)

    def save(self, spec: ModelSpec, name: str, record: Mapping[str, Any]) -> None:
        """Keep under a name, in place of one of the same name. Raises ``SettingError``."""
        write_file(self._path(spec), {**self._load(spec), name: dict(record)})

    def remove(self, spec: ModelSpec, name: str) -> None:
        """Forget a preset. Raises ``SettingError``."""
        write_file(self._path(spec), {key: value for key, value in self._load(spec).items() if key != name})
