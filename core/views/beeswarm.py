"""Items by one factor, class beside class, coloured by what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_count, format_fixed
from plaidwork.core.pictures import Axis, Line, Mark, Panel, Picture, Swarm, Texts, ViewChoices
from plaidwork.core.pictures.words import capital, headed
from plaidwork.core.views.colouring import UNKNOWN, Colouring, plain
from plaidwork.core.views.scores import (
    NOTHING,
    Scores,
    choose_colour,
    colours_of,
    legend_of,
    load_scores,
    points_of,
    told,
)
from plaidwork.core.views.sources import Sources

_AS_SPLIT = "the classes"
_HALVES = (0.22, 0.34)
"""Shares of its room that the bar of a class reaches to either side, of few classes and of many."""


@dataclass(frozen=True)
class _Classes:
    """(n,) number of the class of each item among ``names``, the unknown ones last, and the middle of each."""

    codes: np.ndarray
    names: tuple[str, ...]
    title: str
    counts: tuple[int, ...]
    centres: np.ndarray


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles and options of :func:`load_scores`. Options besides: ``split_by`` (title of a column with classes), ``centre``
    "median" or "mean"."""
    data, options = load_scores(sources), sources.view.options
    if not data.values.size:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    factor = choices.among("factor", "Show", data.factors, of="layer")
    sections = data.sections(NOTHING)
    split = NOTHING
    if sum(map(len, sections.values())) > 1:
        wanted = str(options.get("split_by", ""))
        default = wanted if data.colouring(wanted) is not None else data.telling()
        split = choices.find("split", "Split by", sections, default or NOTHING)
    asked = choose_colour(data, choices, data.first or _AS_SPLIT, _AS_SPLIT, NOTHING)
    centre = choices.pick("centre", "Bar at", (("median", "Median"), ("mean", "Mean")), _centre(options))
    found = None if split == NOTHING else data.colouring(split)
    by = found if found is not None and found.classes else plain(len(data.values))
    shown = by if asked == _AS_SPLIT else colours_of(data, asked)
    y = data.values[:, factor]
    classes = _classes(by, y, centre)
    panel = _panel(data, data.axis(factor), y, classes, shown)
    return Picture(
        f"{headed(data.factors[factor])} of the {plural(data.word)}{f' by {split}' if by.title else ''}",
        _caption(classes, centre) or data.doc,
        (panel,),
        data.counted(y, shown, NOTHING if asked == _AS_SPLIT else asked),
        () if asked == _AS_SPLIT else legend_of(shown),
        data.table(asked),
        layers=data.dim,
    )


def _centre(options: Mapping[str, object]) -> str:
    return "mean" if options.get("centre") == "mean" else "median"


def _classes(by: Colouring, y: np.ndarray, centre: str) -> _Classes:
    names = list(by.classes)
    codes = by.codes.astype(np.float64)
    if (codes < 0).any():
        codes[codes < 0] = len(names)
        names.append(UNKNOWN)
    middle = np.mean if centre == "mean" else np.median
    groups = [y[(codes == k) & np.isfinite(y)] for k in range(len(names))]
    centres = np.array([middle(group) if len(group) else np.nan for group in groups])
    return _Classes(codes, tuple(names), by.title, tuple(map(len, groups)), centres)


def _caption(classes: _Classes, centre: str) -> str:
    """``Median: healthy (0.31), ill (-0.52)``: a class may be called by a number."""
    if not classes.title or len(classes.names) < 2:
        return ""
    pairs = zip(classes.names, classes.centres.tolist(), strict=True)
    parts = [
        f"{name} ({format_fixed(value, 2)})" for name, value in pairs if name != UNKNOWN and value == value
    ]
    return f"{capital(centre)}: {', '.join(parts)}"


def _panel(data: Scores, y_name: str, y: np.ndarray, classes: _Classes, shown: Colouring) -> Panel:
    def read(i: int) -> str:
        own = shown if shown.title != classes.title else plain(len(y))
        text = told(data.names, i, plain(len(y)), (y_name, y[i]))
        text += f", {classes.title} {classes.names[int(classes.codes[i])]}" if classes.title else ""
        return text + (f", {own.title} {own.texts[i] or UNKNOWN}" if own.title else "")

    marks: list[Mark] = [points_of(classes.codes, y, data.names, data.kind, shown, read, Swarm)]
    places = np.arange(len(classes.names))
    known = [k for k in places if np.isfinite(classes.centres[k])]
    half = _HALVES[len(places) > 3]
    for width, color in ((3.6, "surface"), (2.0, "text")):
        for k in known:
            ends = [k - half, k + half]
            marks.append(Line(ends, [classes.centres[k]] * 2, width, color=color))
    words = tuple(format_fixed(float(classes.centres[k]), 2) for k in known)
    right = places[known] + half
    marks.append(Texts(right, classes.centres[known], words, tagged=True, color="text"))
    counted = tuple(f"n = {format_count(count)}" for count in classes.counts)
    named = bool(classes.title)
    names = classes.names if named else counted
    return Panel(
        tuple(marks),
        Axis(classes.title, scale="category", names=names, below=counted if named else ()),
        Axis(y_name),
        zoom="y",
    )
