"""What is typed as ``NAME=VALUE`` on the command line, and checks of output paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plaidwork.core.data.annotation_inputs import parse_column
from plaidwork.core.data.dataset import AXIS_WORDS
from plaidwork.core.data.input_addresses import options_by_input, plain_value
from plaidwork.core.errors import SettingError


def pair(text: str, option: str) -> tuple[str, str]:
    """``NAME=VALUE`` split at the first ``=``."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise SettingError(f"{option} needs NAME=VALUE. Found “{text}”.")
    return name.strip(), value


def input_files(texts: Iterable[str]) -> tuple[dict[str, list[Path]], dict[str, str]]:
    """Files by input name (the same name twice gives several), and columns ``INPUT:row:TITLE`` of other inputs."""
    given = [pair(text, "--input") for text in texts]
    names = {name for name, _ in given}
    files: dict[str, list[Path]] = {}
    columns: dict[str, str] = {}
    for name, value in given:
        path = Path(value).expanduser()
        if parse_column(value, names - {name}) and not path.exists():
            if name in columns:
                raise SettingError(f"--input {name} is given twice: “{columns[name]}” and “{value}”.")
            columns[name] = value
        else:
            files.setdefault(name, []).append(path)
    return files, columns


def settings(texts: Iterable[str]) -> dict[str, str]:
    """Settings as typed; the model's declaration turns them into values."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = pair(text, "--set")
        if name in found:
            raise SettingError(f"--set {name} is given twice: “{found[name]}” and “{value}”.")
        found[name] = value
    return found


def import_options(texts: Iterable[str], inputs: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, Any]]:
    """Reader options by input name; ``INPUT.KEY=VALUE`` goes to one input, ``KEY=VALUE`` to all whose format knows it."""
    given = (pair(text, "--import-option") for text in texts)
    return options_by_input(((key, plain_value(value)) for key, value in given), inputs)


def samples_in(texts: Iterable[str], inputs: Iterable[str]) -> dict[str, str]:
    """The axis of the samples by input name; ``rows`` or ``columns`` alone goes to all inputs."""
    known = list(inputs)
    found: dict[str, str] = {}
    for text in texts:
        name, sign, word = text.rpartition("=")
        if word not in AXIS_WORDS:
            raise SettingError(f"--samples-in needs “rows” or “columns”. Found “{word}”.")
        if sign and name not in known:
            raise SettingError(
                f"--samples-in names the input “{name}”, which is not given from a file.",
                f"Given: {', '.join(known)}.",
            )
        found |= {name: word} if sign else dict.fromkeys(known, word)
    return found


def check_output(path: Path, force: bool) -> Path:
    """The path, once it is sure that a file can be written there. Raises ``SettingError``."""
    path = path.expanduser()
    if path.is_dir():
        raise SettingError(f"{path} is a folder.", "Give the name of the file to write.")
    if path.exists() and not force:
        raise SettingError(f"{path} exists already.", "Choose another name, or add --force to replace it.")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise SettingError(f"The folder {folder} does not exist.", "Create it first.")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"The folder {folder} cannot be written to.", "Choose another folder.")
    return path


def check_inputs(files: Mapping[str, Sequence[Path]]) -> None:
    """Raises ``SettingError`` for the first file that is not there."""
    for name, paths in files.items():
        for path in paths:
            if not path.exists():
                raise SettingError(
                    f"The file {path} for the input {name} does not exist.", "Check name and folder."
                )
