"""A picture in words: what it says, what it shows along which axes, and the table behind it."""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_number
from plaidwork.core.pictures.picture import Matrix, Panel, Picture

_ROWS, _COLUMNS = 20, 10


def describe(picture: Picture, rows: int = _ROWS) -> str:
    """A few sentences, then the first rows of the table, a line each with tabs between the columns."""
    if not picture.panels:
        return " ".join(_sentence(text) for text in (picture.headline, *picture.empty) if text)
    above, below = (picture.headline, picture.doubt, picture.caption), (picture.notes, picture.origin)
    words = [*above, *(_panel(panel) for panel in picture.panels), *below]
    lines = [" ".join(_sentence(text) for text in words if text)]
    columns = list(picture.table.values())
    told = [picture.formats.get(title, _cell) for title in picture.table]
    if picture.matrix is not None:
        lines += _matrix(picture.matrix, rows)
    elif columns:
        count = len(columns[0])
        lines.append("\t".join(picture.table))
        lines += [
            "\t".join(tell(column[i]) for tell, column in zip(told, columns, strict=True))
            for i in range(min(count, rows))
        ]
        if count > rows:
            lines.append(f"and {counted(count - rows, 'more row')}")
    return "\n".join(lines)


def _matrix(matrix: Matrix, rows: int) -> list[str]:
    """The first rows, of the first columns, and how many there are."""
    n, m = matrix.values.shape
    lines = ["\t".join((matrix.corner, *matrix.columns[:_COLUMNS]))]
    for name, values in zip(matrix.rows[:rows], matrix.values[:, :_COLUMNS], strict=False):
        lines.append("\t".join((name, *map(_cell, values))))
    if n > rows or m > _COLUMNS:
        lines.append(f"{counted(n, 'row')} and {counted(m, 'column')} in all")
    return lines


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _panel(panel: Panel) -> str:
    """``y along x, from 0 to 1: 3 lines (a, b, c)``."""
    kinds: dict[str, list[str]] = {}
    for mark in panel.marks:
        if mark.read is not None:
            kinds.setdefault(type(mark).__name__.lower(), []).append(mark.name)
    y, x = panel.y.title, panel.x.title
    told = f"{y} along {x}" if y and x else y or x
    shown = []
    for kind, names in kinds.items():
        named = ", ".join(filter(None, names))
        shown.append(f"{kind}{f' ({named})' if named else ''}")
    return f"{told}: {', '.join(shown)}" if told and shown else ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    return format_number(float(value)) if number else str(value)  # type: ignore[arg-type]
