"""Lists of values of a setting: typed, and proposed. No Qt."""

from __future__ import annotations

import re
from typing import Any

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.setup.entry import parse, write

_RANGE = re.compile(r"([+-]?\d+)\s*(?:\.\.|…)\s*([+-]?\d+)\Z")
_COMMA = re.compile(r"\d,\d")
MOST_VALUES = 1000


def parse_values(parameter: Hyperparameter, text: str) -> list[Any]:
    """The values typed, each once: ``2 3 4``, ``2, 3, 4`` or, of whole numbers, ``2..6``; texts and lists of numbers
    with semicolons between. Raises ``SettingError`` with the rule and what was found."""
    found: list[Any] = []
    for part in _parts(parameter, text):
        limits = _RANGE.match(part) if parameter.kind == "int" else None
        if limits is None:
            found.append(parse(parameter, part))
            continue
        low, high = int(limits[1]), int(limits[2])
        if high < low or high - low >= MOST_VALUES:
            raise SettingError(f"A range goes from the smaller to the larger number. Found “{part}”.")
        found += [parse(parameter, str(number)) for number in range(low, high + 1)]
    if not found:
        raise SettingError("Needs a value at least. Found nothing.")
    return list(dict.fromkeys(found))


def _parts(parameter: Hyperparameter, text: str) -> list[str]:
    text = text.replace("\u2212", "-")
    if parameter.kind in ("array", "text"):
        return [part.strip() for part in text.split(";") if part.strip()]
    if parameter.kind == "float" and _COMMA.search(text):
        raise SettingError(f"Needs numbers with a decimal point, a space between them. Found “{text}”.")
    text = re.sub(r"\s*(\.\.|…)\s*", r"\1", text)
    return [part for part in re.split(r"[\s,;]+", text) if part]


def write_values(parameter: Hyperparameter, values: list[Any]) -> str:
    """The text that :func:`parse_values` reads."""
    mark = " ; " if parameter.kind in ("array", "text") else "  "
    return mark.join(write(value) for value in values)


def proposed(parameter: Hyperparameter, value: Any) -> list[Any]:
    """A few values around the one set, as a beginning: half and double, or the neighbours of a small whole number.

    Of choices and texts only the one set: another may need data that are not there.
    """
    if parameter.kind == "bool":
        return [value, not value]
    if parameter.kind not in ("int", "float"):
        return [value]
    small = parameter.kind == "int" and abs(value) <= 10 and not parameter.log
    tried = (value - 1, value, value + 1) if small else (value / 2, value, value * 2)
    found: list[Any] = []
    for item in tried:
        try:
            found.append(parameter.check(round(item) if parameter.kind == "int" else float(f"{item:.6g}")))
        except SettingError:
            continue
    return list(dict.fromkeys(found)) or [value]
