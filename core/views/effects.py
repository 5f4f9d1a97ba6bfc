"""Effects on an outcome: estimates with intervals in rows with names, groups below each other, from a line at zero."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.draws.numbers import format_count, format_number, format_p
from plaidwork.core.pictures import (
    Axis,
    Color,
    Column,
    Items,
    Key,
    Links,
    Mark,
    Panel,
    Picture,
    Points,
    Rule,
    Texts,
    ViewChoices,
)
from plaidwork.core.pictures.scales import step_decimals
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.colouring import class_category
from plaidwork.core.views.sources import SourceError, Sources, role_names

_LOST = "not estimable"
_ORDERS = (("given", "As given"), ("value", "By effect"))
_LEAST, _STEP, _AROUND = 28.0, 18.0, 70.0
"""Pixels of a row, of each group in it, and above and below the rows, at least."""
_SPREAD = 0.72
"""Share of a row over which its groups stand."""


@dataclass(frozen=True)
class _Effects:
    """(S, R) estimates of R names in S groups, NaN where there is none.

    Attributes
    ----------
    names, groups : R and S texts; one empty group without groups.
    values : (S, R). intervals : (S, R, 2) or None. counts, p : (S, R) or None. reasons : why there is no estimate.
    entry : (S, R) number of the entry in the results, -1 where there is none.
    ratio : whether estimates were logarithms of ratios, which are what is held here; the line is then at 1.
    """

    names: tuple[str, ...]
    groups: tuple[str, ...]
    values: np.ndarray
    intervals: np.ndarray | None
    counts: np.ndarray | None
    p: np.ndarray | None
    reasons: tuple[tuple[str, ...], ...]
    entry: np.ndarray
    axis: Axis
    count_name: str
    p_name: str
    word: str
    doc: str
    ratio: bool

    @property
    def line(self) -> float:
        """What estimates are compared with."""
        return 1.0 if self.ratio else 0.0

    @property
    def middle(self) -> str:
        """That in words."""
        return "1" if self.ratio else "zero"

    @cached_property
    def decimals(self) -> int:
        """Decimals of estimates: two digits more than the axis has steps for."""
        parts = [self.values.ravel(), np.array([self.line])]
        if self.intervals is not None:
            parts.append(self.intervals.ravel())
        scale = Axis(margin=0.04).scaling(np.concatenate(parts))
        return min(step_decimals((scale.high - scale.low) / 100), 6)

    def clear(self, g: int, r: int) -> bool:
        """Whether the interval of an estimate lies on one side of the line."""
        if self.intervals is None or not np.isfinite(self.intervals[g, r]).all():
            return False
        return not bool(self.intervals[g, r, 0] <= self.line <= self.intervals[g, r, 1])

    def color(self, g: int, r: int) -> Color:
        """By the side where there is one group (neutral when the interval holds the line), else by the group."""
        if len(self.groups) > 1:
            return class_category(g)
        if self.intervals is not None and not self.clear(g, r):
            return "neutral"
        return 0 if self.values[g, r] > self.line else 4

    def number(self, value: float) -> str:
        """An estimate, or an end of an interval."""
        return format_number(value, 3) if self.ratio else format_number(round(value, self.decimals), 6)

    def lost(self, g: int, r: int) -> str:
        """Why there is no estimate."""
        return f"{_LOST}: {self.reasons[g][r]}".removesuffix(": ")

    def count_text(self, g: int, r: int) -> str:
        """How many items an estimate rests on; empty when that is not known."""
        return (
            format_count(float(self.counts[g, r]))
            if self.counts is not None and self.counts[g, r] >= 0
            else ""
        )

    def p_text(self, g: int, r: int) -> str:
        """Its p-value in two digits, ``< 0.001`` below; empty when there is none."""
        if self.p is None or not np.isfinite(self.p[g, r]):
            return ""
        return format_p(float(self.p[g, r]))

    def text(self, r: int) -> str:
        """A row in words: estimate, interval, count and p of every group."""
        there = [g for g in range(len(self.groups)) if self.entry[g, r] >= 0]
        return f"{self.names[r]}: " + "; ".join(self._group_text(g, r) for g in there)

    def _group_text(self, g: int, r: int) -> str:
        value = float(self.values[g, r])
        words = f"{self.groups[g]}: " if self.groups[g] else ""
        words += self.number(value) if np.isfinite(value) else self.lost(g, r)
        if self.intervals is not None and np.isfinite([value, *self.intervals[g, r]]).all():
            words += " ({} to {})".format(*(self.number(float(end)) for end in self.intervals[g, r]))
        for name, text in ((self.count_name, self.count_text(g, r)), (self.p_name, self.p_text(g, r))):
            words += f", {name} {text}" if text else ""
        return words


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (m,), with ``interval`` (m, 2), ``names``, ``group``, ``reason`` (m,) texts, ``count`` and ``p`` (m,).

    Entries of one name and several groups share a row. NaN stands for no estimate, a count below 0 for none.
    Options: ``order`` "given" or "value", ``dim`` (what a name is), ``count_label``, ``p_label``, ``layer`` (whether the
    rows are the factors, so that a click chooses one in all views), ``ratio`` (estimates are logarithms of ratios).
    """
    data, options = _read(sources), sources.view.options
    if not data.names:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    order = np.arange(len(data.names))
    if choices.pick("order", "Order", _ORDERS, str(options.get("order", "given"))) == "value":
        known = np.isfinite(data.values)
        mean = np.where(known, data.values, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        order = np.lexsort((-mean, ~known.any(axis=0)))
    dim = (sources.dims("values") or ("effect",))[0]
    is_layer = bool(options.get("layer", False))
    row = max(_LEAST, _STEP * len(data.groups) + 8)
    return Picture(
        _headline(data),
        data.doc,
        (_panel(data, order, "layer" if is_layer else dim, row),),
        _notes(data),
        _legend(data),
        _table(data, order),
        formats={data.p_name: format_p} if data.p is not None else {},
        grid=(300.0, _AROUND + row * len(order)),
        layers=dim if is_layer else "",
    )


def _read(sources: Sources) -> _Effects:
    result, options = sources.result("values", 1), sources.view.options
    values = np.asarray(result.values, dtype=np.float64)
    m, ratio = len(values), bool(options.get("ratio", False))
    dim = result.dims[0] if result.dims else "effect"
    names, group = role_names(sources, "names", dim, m), _texts(sources, "group", m)
    rows, groups = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(group))
    entry = np.full((len(groups), len(rows)), -1, dtype=np.intp)
    for i, (name, of) in enumerate(zip(names, group, strict=True)):
        at = groups.index(of), rows.index(name)
        if entry[at] >= 0:
            raise SourceError(f"“{name}” has two estimates{f' in {of}' if of else ''}; it needs one.")
        entry[at] = i
    reason = _texts(sources, "reason", m)
    interval = sources.array("interval", (m, 2)) if sources.has("interval") else None
    optional = {name: sources.array(name, (m,)) for name in ("count", "p") if sources.has(name)}
    count, p = optional.get("count"), optional.get("p")
    shown = np.exp if ratio else np.asarray
    return _Effects(
        rows,
        groups,
        shown(_placed(values, entry)),
        None if interval is None else shown(_placed(interval, entry)),
        None if count is None else np.nan_to_num(_placed(count, entry), nan=-1),
        None if p is None else _placed(p, entry),
        tuple(tuple(reason[i] if i >= 0 else "" for i in line) for line in entry),
        entry,
        Axis(result.label or "effect", result.unit, "log" if ratio else "linear", margin=0.04),
        str(options.get("count_label", "n")),
        str(options.get("p_label", "p")),
        str(options.get("dim", dim)).replace("_", " "),
        result.doc,
        ratio,
    )


def _texts(sources: Sources, role: str, m: int) -> list[str]:
    found = sources.texts(role) if sources.has(role) else [""] * m
    if len(found) != m:
        raise SourceError(
            f"The {role} has {counted(len(found), 'entry')}; there are {counted(m, 'estimate')}."
        )
    return found


def _placed(values: np.ndarray, entry: np.ndarray) -> np.ndarray:
    """The entries at their places, NaN where there is none."""
    found = values[np.maximum(entry, 0)].astype(np.float64)
    found[entry < 0] = np.nan
    return found


def _panel(data: _Effects, order: np.ndarray, kind: str, row: float) -> Panel:
    """A row for every name; dots with whiskers, or why there is none, and numbers at the right."""
    line = Points([data.line], [np.nan], held=True)
    marks: list[Mark] = [line, Rule([data.line], width=1.4, dashed=False, color="axis")]
    cells = [
        (g, int(r), _height(data, g, int(r), place))
        for place, r in enumerate(order)
        for g in range(len(data.groups))
    ]
    cells = [cell for cell in cells if data.entry[cell[0], cell[1]] >= 0]
    for g in range(len(data.groups)):
        mine = [(r, y) for of, r, y in cells if of == g]
        marks += _group(data, g, mine, kind)
    lost = [(g, r, y) for g, r, y in cells if not np.isfinite(data.values[g, r])]
    if lost:
        named = [f"{data.groups[g]}: " if len(data.groups) > 1 else "" for g, _, _ in lost]
        words = tuple(name + data.lost(g, r) for name, (g, r, _) in zip(named, lost, strict=True))
        heights = [y for _, _, y in lost]
        known = [data.values, data.line if data.intervals is None else data.intervals]
        left = float(np.nanmin([data.line, *(np.nanmin(np.append(part, data.line)) for part in known)]))
        marks.append(Texts([left] * len(lost), heights, words, tagged=True, held=False))
    columns = [
        Column(title, [y for _, _, y in cells], tuple(text(g, r) for g, r, _ in cells))
        for title, text, held in (
            (data.count_name, data.count_text, data.counts),
            (data.p_name, data.p_text, data.p),
        )
        if held is not None
    ]
    return Panel(
        tuple(marks),
        data.axis,
        Axis(scale="category", names=tuple(data.names[r] for r in order), down=True),
        columns=tuple(columns),
        reads="row",
        zoom="",
        highest=52.0 if len(data.groups) == 1 else row + 12,
    )


def _height(data: _Effects, g: int, r: int, place: int) -> float:
    """Where a group stands in its row."""
    there = np.flatnonzero(data.entry[:, r] >= 0)
    if g not in there:
        return float("nan")
    return place + (int(np.searchsorted(there, g)) - (len(there) - 1) / 2) * _SPREAD / len(data.groups)


def _group(data: _Effects, g: int, cells: list[tuple[int, float]], kind: str) -> list[Mark]:
    """Whiskers and dots of one group."""
    rows, heights = [r for r, _ in cells], [y for _, y in cells]
    colors = tuple(data.color(g, r) for r in rows)
    found: list[Mark] = []
    if data.intervals is not None:
        low, high = data.intervals[g, rows].T
        found.append(Links(low, heights, high, heights, [2.0] * len(rows), color=colors))
    shape = g if len(data.groups) > 1 else 0
    dots = Points(
        data.values[g, rows],
        heights,
        9.0,
        [shape] * len(rows),
        name=data.groups[g],
        color=colors,
        read=tuple(data.text(r) for r in rows),
        called=tuple(data.names[r] for r in rows),
        of=Items(kind, np.array(rows, dtype=np.intp)),
    )
    return [*found, dots]


def _notes(data: _Effects) -> str:
    there = data.entry >= 0
    known = np.isfinite(data.values) & there
    count, lost = int(known.sum()), int((there & ~known).sum())
    text = counted(count, "estimate")
    return text + (f", {format_count(lost)} {_LOST}" if lost else "")


def _legend(data: _Effects) -> tuple[Key, ...]:
    if len(data.groups) > 1:
        return tuple(Key(name, class_category(g), "point", g) for g, name in enumerate(data.groups))
    words = {0: f"above {data.middle}", 4: f"below {data.middle}", "neutral": f"interval holds {data.middle}"}
    found = {data.color(0, r) for r in np.flatnonzero(np.isfinite(data.values[0])).tolist()}
    return tuple(
        Key(text, color)
        for color, text in words.items()
        if color in found and (len(found) > 1 or color == "neutral")
    )


def _headline(data: _Effects) -> str:
    known = np.isfinite(data.values)
    if data.intervals is None:
        return f"{int(known.sum())} {plural(data.word)}"
    clear = sum(data.clear(g, r) for g, r in zip(*np.nonzero(known), strict=True))
    return f"{clear} of {counted(int(known.sum()), 'effect')} {agree(clear, 'has', 'have')} an interval without {data.middle}"


def _table(data: _Effects, order: np.ndarray) -> dict[str, Any]:
    cells = [(g, int(r)) for r in order for g in range(len(data.groups)) if data.entry[g, r] >= 0]
    at = tuple(np.array(cells).T)
    columns: dict[str, Any] = {capital(data.word): np.array([data.names[r] for _, r in cells], dtype=object)}
    if len(data.groups) > 1:
        columns["Group"] = np.array([data.groups[g] for g, _ in cells], dtype=object)
    unit = f", {data.axis.unit}" if data.axis.unit else ""
    columns[capital(data.axis.label) + unit] = data.values[at]
    if data.intervals is not None:
        columns["Low"], columns["High"] = data.intervals[at].T
    if data.counts is not None:
        columns[data.count_name] = np.where(data.counts[at] < 0, np.nan, data.counts[at])
    if data.p is not None:
        columns[data.p_name] = data.p[at]
    lost = ["" if np.isfinite(data.values[g, r]) else data.lost(g, r) for g, r in cells]
    if any(lost):
        columns["Note"] = np.array(lost, dtype=object)
    return columns
