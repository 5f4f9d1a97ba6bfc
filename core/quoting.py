"""Text from a file, quoted for the place where it is put: code, TOML, markup, tables, shells, terminals.

Names and titles in a session or a table come from anybody. What they are put into must take them for text and nothing
else. There is one function for each place, and no other way.
"""

from __future__ import annotations

import csv
import html
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from plaidwork.core.config import config_folder, read_record, write_record
from plaidwork.core.errors import SettingError

GUARD = "'"
"""What stands before a cell of text that a spreadsheet would compute."""

_CHOICES = "exports.json"
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_SYMBOLS = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "␦"),
    **dict.fromkeys((0x2028, 0x2029), "␤"),
    **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "�"),
}
_IN_LINES = {code: symbol for code, symbol in _SYMBOLS.items() if code not in (0x09, 0x0A)}
_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def literal(value: Any) -> str:
    """Python source that gives the value back: text, numbers, None, and tuples, lists and dicts of them.

    Raises ``SettingError`` for anything else, so that nobody's ``repr`` becomes code.
    """
    value = _without_numpy(value)
    match value:
        case None | bool():
            return repr(value)
        case str():
            return str.__repr__(value)  # escapes all that is not printed
        case int():
            return int.__repr__(value)
        case float():
            return float.__repr__(value) if math.isfinite(value) else f'float("{float.__repr__(value)}")'
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case tuple():
            return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
        case Mapping():
            return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    raise SettingError(f"A {type(value).__name__} cannot be written into a script.")


def toml(value: Any) -> str:
    """A value of TOML: text, numbers, lists and tables in one line."""
    value = _without_numpy(value)
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json_text(value)
        case Mapping():
            return "{ " + ", ".join(f"{toml_key(key)} = {toml(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(toml, value)) + "]"
        case int():
            return int.__repr__(value)
        case float():
            return float.__repr__(value)
    raise SettingError(f"A {type(value).__name__} cannot be written into a job file.")


def toml_key(name: str) -> str:
    """A key of TOML, bare where it can be."""
    return name if _BARE.fullmatch(name) else json_text(name)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON in which letters stay as they are and everything that steers a screen is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def markup(text: str) -> str:
    """Text inside HTML or XML, also in an attribute; control characters as symbols."""
    return html.escape(lines(text))


def shell(text: str) -> str:
    """One word of a command that somebody may copy into a shell."""
    return shlex.quote(line(text))


def menu(text: str) -> str:
    """Text of a menu, tab or button, in which ``&`` is no sign for a key."""
    return line(text).replace("&", "&&")


def line(text: str) -> str:
    """Text in one line: control characters, line breaks and marks that turn the direction of writing as symbols."""
    return text.translate(_SYMBOLS)


def lines(text: str) -> str:
    """Text on a terminal or screen: as :func:`line`, but it may have several lines and tabs."""
    return text.translate(_IN_LINES)


def computed(cell: Any) -> bool:
    """Whether a spreadsheet might compute the cell instead of showing it; numbers are not meant."""
    return isinstance(cell, str) and cell.startswith(_FORMULA) and not _is_number(cell)


def _without_numpy(value: Any) -> Any:
    """Scalars and arrays as numbers and lists; numpy itself is not loaded for that."""
    return value.tolist() if type(value).__module__ == "numpy" else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text and "_" not in text


def guards_tables() -> bool:
    """Whether the user wants exported tables guarded against spreadsheets; so it is until somebody says otherwise."""
    return read_record(config_folder() / _CHOICES).get("guard_tables") is not False


def guard_tables(on: bool) -> None:
    """Remember what :func:`guards_tables` says. Raises ``OSError``."""
    path = config_folder() / _CHOICES
    write_record(path, {**read_record(path), "guard_tables": on})


class CsvWriter:
    """Rows of CSV. With ``guard``, text that a spreadsheet would compute gets an apostrophe before it.

    Without a word on it, ``guard`` is what the user has chosen. ``guarded`` counts these cells. Numbers, also those
    written as text, stay as they are.
    """

    def __init__(self, file: TextIO, guard: bool | None = None) -> None:
        self._out, self.guarded = csv.writer(file), 0
        self._guard = guards_tables() if guard is None else guard

    def row(self, cells: Iterable[Any]) -> None:
        """Write one row."""
        self._out.writerow([self._cell(cell) for cell in cells])

    def _cell(self, cell: Any) -> Any:
        if self._guard and computed(cell):
            self.guarded += 1
            return GUARD + cell
        return cell


def guarded_text(count: int) -> str:
    """What is said after a file with guarded cells was written; empty for none."""
    if not count:
        return ""
    cells = "One cell of text begins" if count == 1 else f"{count} cells of text begin"
    return f"{cells} with =, +, - or @ and got an apostrophe in front, so that no spreadsheet computes them."
