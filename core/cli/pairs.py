"""What is typed as ``NAME=VALUE`` on the command line, and checks of output paths."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plaidwork.core.annotation_inputs import parse_column
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.reading_options import options_of, reading_option


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
    found: dict[str, dict[str, Any]] = {name: {} for name in inputs}
    for text in texts:
        key, value = pair(text, "--import-option")
        addressed = _addressed(key, found)
        if len(addressed) > 1 and reading_option(key) is not None:
            fitting = [(name, rest) for name, rest in addressed if _is_read_with(inputs[name], rest)]
            addressed = fitting or addressed  # what fits no format is refused where it is read
        for name, rest in addressed:
            found[name][rest] = plain_value(value)
    return found


def _is_read_with(files: Sequence[Path], option: str) -> bool:
    """Whether a file of an input is of a format that has the option, or one whose options are not declared."""
    from plaidwork.core.importers import find_reader

    for file in files:
        try:
            known = options_of(find_reader(file).id)
        except DataError:  # a session, or a format of a plugin
            return True
        if not known or any(entry.name == option for entry in known):
            return True
    return False


def transformations(texts: Iterable[str], inputs: Iterable[str]) -> dict[str, list[Mapping[str, Any]]]:
    """Steps by input name, each ``{"name": ..., "options": {...}}``, from ``[INPUT.]NAME[:KEY=VALUE,…]``."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in inputs}
    for text in texts:
        key, _, rest = text.partition(":")
        options = dict(pair(part, "--transform") for part in rest.split(",") if part)
        step = {name: plain_value(value) for name, value in options.items()}
        for name, title in _addressed(key, found):
            found[name].append({"name": title, "options": step})
    return found


def _addressed(key: str, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    name, dot, rest = key.partition(".")
    if not dot:
        return [(name, key) for name in inputs]
    if name not in inputs:
        raise SettingError(
            f"“{key}” is for the input {name}, which is not given.", f"Given: {', '.join(inputs)}."
        )
    return [(name, rest)]


def plain_value(text: str) -> Any:
    """``true``, numbers, lists and quoted text as JSON reads them; anything else is the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


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
