"""True against predicted classes: counts with their shares of the row."""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.assessment import confusion, score, wilson
from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_count, format_percent
from plaidwork.core.pictures import Axis, Cells, End, Items, Panel, Picture, Ramp, ViewChoices
from plaidwork.core.views.assessed import Judged, choose_part, judged, nothing_known
from plaidwork.core.views.sources import Sources

_WIDEST, _HIGHEST, _GAP = 150.0, 96.0, 2.0
"""Pixels of the largest cell, and between two."""
_MANY = 10
"""Classes beyond which a cell without items stays empty."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles of :func:`judged`; the most probable class is the predicted one. A cell stands for its items."""
    everything = judged(sources)
    if not len(everything.codes):
        return nothing_known(sources.view.title)
    part = choose_part(everything, choices)
    data, name = everything.of(part), everything.parts[part]
    counts = confusion(data.codes, data.probability)
    columns = {f"Predicted {label}": counts[:, k] for k, label in enumerate(data.classes)}
    return Picture(
        score(data.codes, data.probability).text(f"{name + ' ' if name else ''}{plural(data.word)}"),
        data.doc,
        (_panel(data, counts),),
        everything.counted(part),
        (Ramp("share of the true class", ends=("0", "50 %", "100 %")),),
        {"True class": np.array(data.classes, dtype=object), **columns},
    )


def _panel(data: Judged, counts: np.ndarray) -> Panel:
    """Cells coloured by the share of their row, the first class at the top; at the right how many are of the class."""
    size, total = len(data.classes), counts.sum(axis=1)
    shares = np.where(total[:, None] > 0, counts / np.maximum(total[:, None], 1), np.nan)
    upwards = range(size - 1, -1, -1)
    cells = [(row, column) for row in upwards for column in range(size)]
    predicted = data.probability.argmax(axis=1)
    piece = (size - 1 - data.codes) * size + predicted
    mark = Cells(
        shares[::-1],
        -0.5,
        size - 0.5,
        -0.5,
        size - 0.5,
        labels=tuple(_label(int(counts[cell]), float(shares[cell]), size) for cell in cells),
        gap=_GAP,
        name="shares of the true classes",
        read=tuple(_text(data.classes, counts, *cell) for cell in cells),
        of=Items(data.kind, data.items, piece) if data.kind else None,
    )
    ends = (End(size - 1 - row, f"of {format_count(int(total[row]))}", "muted") for row in range(size))
    return Panel(
        (mark,),
        Axis("predicted class", scale="category", names=data.classes, above=True),
        Axis("true class", scale="category", names=data.classes[::-1]),
        ends=tuple(ends),
        aside=_aside(data, counts),
        most=_WIDEST,
        highest=_HIGHEST,
        reads="inside",
        zoom="",
    )


def _aside(data: Judged, counts: np.ndarray) -> tuple[str, ...]:
    """How many of each class were found, with Wilson intervals, where there is room."""
    if len(data.classes) > _MANY:
        return ()
    lines = ["Found of each class"]
    for k, name in enumerate(data.classes):
        if total := int(counts[k].sum()):
            share, low, high = (format_percent(value) for value in wilson(int(counts[k, k]), total))
            lines.append(f"{name}: {share} ({low} to {high})")
    return (*lines, "Wilson intervals, 95 %")


def _label(count: int, share: float, size: int) -> str:
    """Count, and below it the share of the row; nothing where many classes leave most cells empty."""
    if not count and size > _MANY:
        return ""
    return f"{format_count(count)}\n{format_percent(share)}" if share == share else format_count(count)


def _text(names: tuple[str, ...], counts: np.ndarray, row: int, column: int) -> str:
    """A cell in words."""
    count, total = int(counts[row, column]), int(counts[row].sum())
    what = f"{names[row]} found" if row == column else f"{names[row]} taken for {names[column]}"
    text = f"{what}: {format_count(count)} of {format_count(total)}"
    if total:
        share, low, high = (format_percent(value, 1) for value in wilson(count, total))
        text += f", {share} ({low} to {high})"
    return text
