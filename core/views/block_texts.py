"""What is said of blocks in words: headline, caption, foot, and what is under the pointer."""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.counting import agree
from plaidwork.core.draws.numbers import format_count, format_fixed, format_percent, format_probability
from plaidwork.core.views.blocks import BlockData, BlockSet


def headline(blocks: BlockSet) -> str:
    """How many blocks cover how much."""
    count = len(blocks.visible())
    if not count:
        return "No block found" if not len(blocks) else "No block at this threshold"
    word = agree(count, "block covers", "blocks cover")
    return f"{count} {word} {format_percent(blocks.covered())} of the matrix"


def caption(blocks: BlockSet) -> str:
    """The largest block."""
    data = blocks.data
    if data is None or not len(data):
        return "The model explains the matrix by its background alone." if data is not None else ""
    if not blocks.visible():
        return ""
    largest = max(blocks.visible(), key=lambda block: np.prod(blocks.size(block)))
    rows, columns = blocks.size(largest)
    return (
        f"The largest is “{blocks.name(largest)}”: {format_count(rows)} {data.row_label} × "
        f"{format_count(columns)} {data.column_label}."
    )


def part_text(data: BlockData, view: tuple[tuple[float, float], tuple[float, float]]) -> str:
    """How much of the matrix is in view."""
    (a, b), (c, d) = view
    return (
        f"{format_count(min(round((b - a) * data.step), data.shape[0]))} of {format_count(data.shape[0])} {data.row_label}, "
        f"{format_count(round(d - c))} of {format_count(data.shape[1])} {data.column_label}"
    )


def whole_text(blocks: BlockSet, data: BlockData, by_block: bool, narrow: bool) -> str:
    """Size and order of the matrix; ``narrow`` drops words."""
    n, m = data.shape
    order = "in the order of the data"
    if by_block and len(data):
        chosen = blocks.selected
        order = "ordered by block" if chosen is None else f"ordered around {blocks.name(chosen)}"
    across, down = ("", "") if narrow else (f" {data.column_label}", f" {data.row_label}")
    part = (
        "" if data.step == 1 else f"; {format_count(len(data.values))} are shown, the others are being read"
    )
    return f"{format_count(n)}{down} × {format_count(m)}{across}, {order}{part}"


def cell_text(blocks: BlockSet, mode: str, row: int, column: int) -> str:
    """Names, value and blocks of a cell; empty when the row is -1."""
    data = blocks.data
    if row < 0 or data is None:
        return ""
    value = data.lines(mode, np.array([row]))[0, column]
    if value != value:
        shown = "missing"
    else:
        shown = format_probability(value) if mode == "coverage" else format_fixed(value, 2, sign=True)
    inside = ", ".join(blocks.name(block) for block in blocks.blocks_at(row, column)[:3])
    note = f" ({data.row_notes[row][:60]})" if data.row_notes and data.row_notes[row] else ""
    where = f", in {inside}" if inside else ""
    return f"{data.row_names[row]}{note}, {data.column_names[column]}: {shown}{where}"
