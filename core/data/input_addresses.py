"""Which input an option or a transformation is for: ``KEY`` is for all inputs, ``INPUT.KEY`` for one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plaidwork.core.data.dataset import Step
from plaidwork.core.data.reading_options import options_of, reading_option
from plaidwork.core.errors import DataError, SettingError


def options_by_input(
    given: Iterable[tuple[str, Any]], inputs: Mapping[str, Sequence[Path]]
) -> dict[str, dict[str, Any]]:
    """Reading options by input, whose files are given: ``INPUT.KEY`` goes to one, ``KEY`` to all whose format knows it.

    What no format knows goes to all, and is refused where it is read. Raises ``SettingError``.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in inputs}
    for key, value in given:
        fitting = [name for name, files in inputs.items() if _is_read_with(files, key)]
        for name, rest in addressed(key, found, fitting or None):
            found[name][rest] = value
    return found


def _is_read_with(files: Sequence[Path], option: str) -> bool:
    """Whether one of the files is of a format that has the option, or of one whose options are not declared."""
    from plaidwork.core.data.importers import find_reader

    if reading_option(option) is None:
        return True
    for file in files:
        try:
            known = options_of(find_reader(file).id)
        except DataError:  # a session, or a format of a plugin
            return True
        if not known or any(entry.name == option for entry in known):
            return True
    return not files  # objects in memory take their own


def steps_by_input(
    given: Iterable[str | Step | Mapping[str, Any]],
    inputs: Iterable[str],
    common: Sequence[str] | None = None,
) -> dict[str, list[Mapping[str, Any]]]:
    """Steps by input, each ``{"name": ..., "options": {...}}``, from those, or from ``[INPUT.]NAME[:KEY=VALUE,…]``.

    Without an address they are for the inputs in ``common``, by default for all. Raises ``SettingError``.
    """
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in inputs}
    for one in given:
        if isinstance(one, str):
            key, options = parsed_step(one)
        elif isinstance(one, Step):
            key, options = one.name, dict(one.options)
        else:
            key, options = str(one.get("name", "")), dict(one.get("options", {}))
        for name, title in addressed(key, found, common):
            found[name].append({"name": title, "options": options})
    return found


def parsed_step(text: str) -> tuple[str, dict[str, Any]]:
    """``NAME:KEY=VALUE,KEY=VALUE`` as name and options. Raises ``SettingError``."""
    key, _, rest = text.partition(":")
    options = {}
    for part in filter(None, rest.split(",")):
        name, sign, value = part.partition("=")
        if not sign or not name.strip():
            raise SettingError(f"A transformation is written NAME:KEY=VALUE,…. Found “{part}” in “{text}”.")
        options[name.strip()] = plain_value(value)
    return key, options


def plain_value(text: str) -> Any:
    """``true``, numbers, lists and quoted text as JSON reads them; anything else is the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def addressed(key: str, inputs: Iterable[str], common: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """(input, rest of the key) of those that a key is for; without an address those in ``common``. Raises ``SettingError``."""
    names = list(inputs)
    name, dot, rest = key.partition(".")
    if not dot:
        return [(one, key) for one in (names if common is None else common)]
    if name not in names:
        raise SettingError(
            f"“{key}” is for the input {name}, which is not given.", f"Given: {', '.join(names)}."
        )
    return [(name, rest)]
