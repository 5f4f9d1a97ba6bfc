"""What stands beside blocks: their list, what is known of the chosen one and its members, or all at a glance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.draws.numbers import format_count, format_fixed, format_percent, format_probability
from plaidwork.core.pictures import (
    Axis,
    Color,
    Facts,
    Inset,
    Intervals,
    Items,
    Key,
    Line,
    Listing,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Texts,
)
from plaidwork.core.quoting import CsvWriter
from plaidwork.core.views.block_profile import Profile, column_means, profile_of
from plaidwork.core.views.blocks import BlockData, BlockSet
from plaidwork.core.views.sources import SourceError

_ROW, _AROUND, _HIGH = 24.0, 34.0, 170.0
"""Pixels of a row of the shifts, of what stands around them, and of the profile of a block."""
Parts = tuple[Listing | Facts | Inset, ...]


def parts_of(blocks: BlockSet, strip: str = "") -> Parts:
    """The list of blocks, then the chosen one, or all at a glance; ``strip`` names the annotation that groups columns."""
    data, chosen = blocks.data, blocks.selected
    if data is None:
        return ()
    if chosen is None or chosen >= len(data):
        return (_list(blocks, data), *_glance(blocks, data)) if len(data) else ()
    if data.step > 1:  # its means are of all of its rows
        return (_list(blocks, data),)
    return (_list(blocks, data), *_details(blocks, data, chosen, strip))


def _list(blocks: BlockSet, data: BlockData) -> Listing:
    sizes = [blocks.size(block) for block in range(len(data))]
    # sorted by cells, shown as rows × columns: a fraction of a cell tells equal products apart
    keys = np.array([a * b + k * 1e-4 for k, (a, b) in enumerate(sizes)])
    texts = {
        key: f"{format_count(a)} × {format_count(b)}"
        for key, (a, b) in zip(keys.tolist(), sizes, strict=True)
    }
    columns: dict[str, Any] = {
        "Block": np.array([blocks.name(block) for block in range(len(data))], dtype=object),
        "Size": keys,
    }
    formats: dict[str, Callable[[Any], str]] = {"Size": lambda key: texts.get(float(key), "–")}
    if data.shift is not None:
        columns["Shift"], formats["Shift"] = data.shift, _signed
    if data.present is not None:
        columns["Present"], formats["Present"] = data.present, format_percent
    swatch = tuple(blocks.swatch(block) for block in range(len(data)))
    return Listing("Blocks", columns, Items("layer", np.arange(len(data))), None, formats, swatch)


def _signed(value: float) -> str:
    return format_fixed(float(value), 2, sign=True)


# -- all of them --------------------------------------------------------------------------------
def _glance(blocks: BlockSet, data: BlockData) -> Parts:
    once, several = blocks.cover_shares()
    shares = (("In a block", once), ("In several", several), ("In none", 1 - once))
    facts = Facts(tuple((label, format_percent(share), "of the cells") for label, share in shares))
    return (facts, *_shifts(blocks, data))


def _shifts(blocks: BlockSet, data: BlockData) -> Parts:
    """The shift of every block with its interval."""
    if data.shift is None or not np.isfinite(data.shift).any():
        return ()
    shown = np.flatnonzero(np.isfinite(data.shift))
    inks = [blocks.swatch(block) for block in shown.tolist()]
    marks: list[Mark] = [Rule([0.0], dashed=False, color="axis")]
    told = [f"{blocks.name(block)}: shift {_signed(data.shift[block])}" for block in shown.tolist()]
    if data.interval is not None:
        for row, block in enumerate(shown.tolist()):
            if np.isfinite(data.interval[block]).all():
                marks.append(Line(data.interval[block], [row, row], 2.0, color=inks[row]))
                told[row] += f", {_interval(data, block)}"
    rows = np.arange(len(shown))
    marks.append(
        Points(data.shift[shown], rows, 9.0, color=tuple(inks), of=Items("layer", shown), read=tuple(told))
    )
    names = tuple(blocks.name(block) for block in shown.tolist())
    across = Axis(zero=True, unit=data.shift_unit)
    panel = Panel(
        tuple(marks),
        across,
        Axis(scale="category", names=names, down=True),
        reads="row",
        zoom="",
        highest=_ROW,
    )
    unit = f", in {data.shift_unit}" if data.shift_unit else ""
    title = f"Shift of each block{unit}"
    picture = Picture(title, panels=(panel,))
    return (Inset(picture, _AROUND + _ROW * len(shown)),)


def _interval(data: BlockData, block: int) -> str:
    assert data.interval is not None
    low, high = data.interval[block]
    return f"{_signed(low)} to {_signed(high)}"


# -- one of them --------------------------------------------------------------------------------
def _details(blocks: BlockSet, data: BlockData, block: int, strip: str) -> Parts:
    rows, columns = (mask[block] for mask in blocks.masks)
    profile = profile_of(data, rows, columns, strip)
    shown = (_profile(blocks, data, block, profile),) if profile is not None else ()
    return (
        _facts(blocks, data, block, strip),
        *shown,
        _members(data, block, rows, columns, True),
        _members(data, block, rows, columns, False),
    )


def _facts(blocks: BlockSet, data: BlockData, block: int, strip: str) -> Facts:
    rows, columns = blocks.size(block)
    found = [
        (data.row_label.capitalize(), format_count(rows), ""),
        (data.column_label.capitalize(), format_count(columns), _purity(blocks, data, block, strip)),
    ]
    if data.shift is not None:
        unit = f" {data.shift_unit}" if data.shift_unit else ""
        known = data.interval is not None and bool(np.isfinite(data.interval[block]).all())
        found.append(("Shift", _signed(data.shift[block]) + unit, _interval(data, block) if known else ""))
    if data.present is not None:
        found.append(("Present", format_percent(data.present[block]), "of the draws"))
    return Facts(tuple(found), blocks.name(block))


def _purity(blocks: BlockSet, data: BlockData, block: int, strip: str) -> str:
    """``all EWS`` when the columns of the block are of one class."""
    if strip not in data.strips:
        return ""
    classes = set(data.strips[strip].classes[blocks.masks[1][block]])
    return f"all {next(iter(classes))}" if len(classes) == 1 and "" not in classes else ""


def _profile(blocks: BlockSet, data: BlockData, block: int, profile: Profile) -> Inset:
    """Mean and quartiles of the rows of a block in every column, and below them what the columns are."""
    count, ink = len(profile.mean), blocks.swatch(block)
    places = np.arange(count)
    inks: tuple[Color, ...] = tuple(ink if inside else "neutral" for inside in profile.inside.tolist())

    def read(i: int) -> str:
        quartiles = f"{_signed(profile.low[i])} to {_signed(profile.high[i])}"
        return f"{profile.names[i]}: mean {_signed(profile.mean[i])}, quartiles {quartiles}"

    across = Axis(ticks=False, low=-0.5, high=count - 0.5)
    means = Points(places, profile.mean, 5.0 if count <= 60 else 3.0, color=inks, read=read)
    bars = Intervals(places, profile.low, profile.high, 1.0, color=inks)
    lines = [Rule([start - 0.5 for start, _, _ in profile.groups if start], color="axis")]
    panel = Panel(
        (Rule([0.0], "y", dashed=False, color="axis"), *lines, bars, means),
        across,
        Axis(),
        reads="across",
        zoom="",
    )
    middles = [(start + stop - 1) / 2 for start, stop, _ in profile.groups]
    words = tuple(name for _, _, name in profile.groups)
    named = Texts(middles, [0.5] * len(words), words, "free")
    bare = Axis(ticks=False, line=False, low=-0.5, high=count - 0.5)
    below = Panel((named,), bare, Axis(ticks=False, low=0, high=1), height=1.2, zoom="", lines=False)
    title = f"Mean of its {data.row_label}, by {singular(data.column_label)}"
    keys = (Key("in the block", ink), Key("not in it", "neutral"))
    return Inset(Picture(title, panels=(panel, below), legend=keys), _HIGH)


def _members(data: BlockData, block: int, rows: np.ndarray, columns: np.ndarray, on_rows: bool) -> Listing:
    """The rows or the columns of a block, the surest first, then by how far they are off."""
    part = data.values[np.ix_(rows, columns)]
    mean = column_means(part.T if on_rows else part)
    names, chance = (data.row_titles, data.rows) if on_rows else (data.column_names, data.columns)
    label = data.row_label if on_rows else data.column_label
    members = np.flatnonzero(rows if on_rows else columns)
    sign = -1.0 if np.nansum(part - data.centre) < 0 else 1.0
    order = np.lexsort((-sign * np.nan_to_num(mean), -chance[block][members]))
    members = members[order]
    shown: dict[str, Any] = {
        singular(label).capitalize(): np.array([names[i] for i in members], dtype=object),
        "Prob.": chance[block][members],
        "Mean": mean[order],
    }
    formats: dict[str, Callable[[Any], str]] = {"Prob.": format_probability, "Mean": _signed}
    title = f"{format_count(len(members))} {label}"
    return Listing(title, shown, Items("row" if on_rows else "column", members), None, formats)


def singular(label: str) -> str:
    """``gene`` of ``genes``."""
    return label[:-1] if label.endswith("s") and not label.endswith("ss") else label


def write_block(blocks: BlockSet, block: int, path: Path) -> int:
    """Write the values of a block as CSV: its rows × its columns, strongest members first. How many cells were written."""
    data = blocks.data
    assert data is not None
    if data.step > 1:
        raise SourceError("The matrix is still being read. Try again in a moment.")
    rows, columns = (np.flatnonzero(mask[block]) for mask in blocks.masks)
    rows = rows[np.argsort(-data.rows[block][rows], kind="stable")]
    columns = columns[np.argsort(-data.columns[block][columns], kind="stable")]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = CsvWriter(file)
        writer.row([singular(data.row_label), *(data.column_names[i] for i in columns)])
        for row in rows:
            values = data.values[row, columns]
            writer.row([data.row_names[row], *("" if v != v else repr(float(v)) for v in values)])
    return len(rows) * len(columns)
