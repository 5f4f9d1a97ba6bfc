"""What the reader of spreadsheets leaves out: cells with an error, and merged cells of OpenDocument files."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

Position = tuple[int, int]
Span = tuple[Position, Position]

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_ERROR = re.compile(
    rb'<c\b(?=[^>]*\bt="e")[^>]*\br="([A-Z]+)(\d+)"[^>]*>(?:<f\b[^>]*/>|<f\b[^>]*>[^<]*</f>)?<v>([^<]*)</v>'
)
_ERROR_TEXT = re.compile(r"(#[A-Z/0-9]+[!?]?|Err:\d+)\Z")


def error_cells(path: Path, sheet: str) -> dict[Position, str] | None:
    """Cells (row, column from 0) with an error such as ``#DIV/0!``; ``None`` where the format does not let them be seen."""
    name = path.name.lower()
    if name.endswith((".xlsx", ".xlsm")):
        return _excel_errors(path, sheet)
    if name.endswith(".ods"):
        return {position: text for position, text, _ in _ods_cells(path, sheet) if _ERROR_TEXT.match(text)}
    return None


def merged_cells(path: Path, sheet: str) -> list[Span]:
    """First and last cell of every group of merged cells of an OpenDocument sheet; empty for other files."""
    if not path.name.lower().endswith(".ods"):
        return []
    found = []
    for (row, column), _, (rows, columns) in _ods_cells(path, sheet):
        if rows > 1 or columns > 1:
            found.append(((row, column), (row + rows - 1, column + columns - 1)))
    return found


def _excel_errors(path: Path, sheet: str) -> dict[Position, str]:
    with zipfile.ZipFile(path) as archive:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = {
            item.get("Id"): item.get("Target", "")
            for item in ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
        }
        target = next(
            (
                links.get(item.get(_LINK), "")
                for item in book.iter(f"{_MAIN}sheet")
                if item.get("name") == sheet
            ),
            "",
        )
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if part not in archive.namelist():
            return {}
        content = archive.read(part)
    found = {}
    for letters, row, text in _ERROR.findall(content):
        column = 0
        for letter in letters:
            column = 26 * column + letter - 64
        found[int(row) - 1, column - 1] = text.decode()
    return found


def _ods_cells(path: Path, sheet: str) -> Generator[tuple[Position, str, tuple[int, int]], None, None]:
    """Place, text and span (rows, columns) of the cells that hold a formula or are merged."""
    with zipfile.ZipFile(path) as archive, archive.open("content.xml") as content:
        row = column = 0
        inside = False
        for event, item in _events(content):
            if event == "start":
                if item.tag == f"{_TABLE}table":
                    inside, row = item.get(f"{_TABLE}name") == sheet, 0
                elif item.tag == f"{_TABLE}table-row":
                    column = 0
                continue
            if item.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                span = tuple(
                    int(item.get(f"{_TABLE}number-{what}-spanned", 1)) for what in ("rows", "columns")
                )
                formula = item.get(f"{_TABLE}formula") is not None
                if inside and (formula or span != (1, 1)):
                    yield (
                        (row, column),
                        "".join(item.itertext()).strip() if formula else "",
                        (span[0], span[1]),
                    )
                column += int(item.get(f"{_TABLE}number-columns-repeated", 1))
            elif item.tag == f"{_TABLE}table-row":
                row += int(item.get(f"{_TABLE}number-rows-repeated", 1))
                item.clear()


def _events(content: IO[bytes]) -> Generator[tuple[str, ElementTree.Element], None, None]:
    yield from ElementTree.iterparse(content, events=("start", "end"))
