"""Coefficients (weights, loadings, effects) of factors: the strongest by name, with what is known of their doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_interval, format_number, format_probability
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
    ViewChoices,
)
from plaidwork.core.pictures.choices import LIST
from plaidwork.core.pictures.words import capital, headed
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names

_MOST_TOP = 200
_MOST_PANELS, _MOST_LAYERS = 3, 9
"""Groups, and factors, that are shown side by side at most."""
_ALL = "all"
_WIDE, _NARROW, _ROW, _LOW, _AROUND = 300.0, 200.0, 20.0, 18.0, 80.0
"""Least pixels: width of a list, of one of several factors, height of a row of each, and above and below the rows."""
_SURE = 0.5
"""Inclusion probability from which a dot is filled."""
_UNLIKE = 4.0
"""How many times as wide as another a scale is from which groups have scales of their own."""
_ABOVE, _BELOW = 0, 4
"""Colours of both sides of zero."""
_ORDERS = (("size", "By size"), ("value", "By value"))


@dataclass(frozen=True)
class _Coefficients:
    """(K, m) values with what goes along; K is 1 for a single list.

    Attributes
    ----------
    groups : names of the groups of items, in order; one empty name without groups. group : (m,) number of that of each.
    kind : of the items in the selection. dim : that of the factors, empty for a single list. signed : whether the sides of
    zero differ.
    """

    values: np.ndarray
    intervals: np.ndarray | None
    probability: np.ndarray | None
    names: tuple[str, ...]
    layers: tuple[str, ...]
    groups: tuple[str, ...]
    group: np.ndarray
    axis: str
    word: str
    doc: str
    kind: str
    dim: str
    signed: bool

    def doubtful(self, layer: int, i: int) -> bool:
        """Whether the interval of a coefficient holds zero."""
        if self.intervals is None:
            return False
        return bool(self.intervals[layer, i, 0] <= 0 <= self.intervals[layer, i, 1])

    def color(self, layer: int, i: int) -> Color:
        """By the sign; neutral when the interval holds zero. Where zero means nothing all are alike."""
        value = self.values[layer, i]
        if not self.signed:
            return _ABOVE
        if self.doubtful(layer, i) or value == 0:
            return "neutral"
        return _ABOVE if value > 0 else _BELOW

    def text(self, layer: int, i: int) -> str:
        """Name, value, interval and probability in words."""
        parts = f"{self.names[i]}: {format_number(float(self.values[layer, i]), 3)}"
        if self.intervals is not None:
            low, high = (float(end) for end in self.intervals[layer, i])
            decimals = 2 if max(abs(low), abs(high)) >= 0.1 else 4
            parts += f", interval {format_interval(low, high, decimals)}"
        if self.probability is not None:
            parts += f", probability {format_probability(float(self.probability[layer, i]))}"
        return parts

    def ranked(self, layer: int, items: np.ndarray) -> np.ndarray:
        """Items that have a coefficient, the strongest first; what is exactly zero has no place among them, unless all are."""
        values = self.values[layer]
        items = items[np.isfinite(values[items])]
        size = np.abs(values[items])
        if self.intervals is None and (size > 0).any():
            items, size = items[size > 0], size[size > 0]
        return np.asarray(items[np.argsort(-size, kind="stable")])


@dataclass(frozen=True)
class _List:
    """One panel: the items of a factor, ranked, under a title."""

    title: str
    layer: int
    items: np.ndarray


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (m,) or (K, m), with ``interval`` (…, 2), ``probability`` of the shape of the values, ``names``
    (m,) and ``group`` (m,), text or numbers that part the items into lists side by side.

    Options: ``top`` (rows per list, 15), ``order`` "size" or "value", ``dim`` (name of the items), ``probability_label``,
    ``together`` (begin with the lists of all factors side by side, where there are few), ``signed`` (false: zero means nothing).
    """
    data, options = _read(sources), sources.view.options
    if not data.values.size:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    layer = _choose_layer(data, choices, bool(options.get("together", False)))
    shown = _choose_group(data, choices)
    lists = _lists(data, layer, shown)
    most = min(max(len(one.items) for one in lists), _MOST_TOP)
    top = max(1, int(options.get("top", 15)))
    if most > 1:
        top = int(choices.number("top", "Strongest", 1, most, min(top, most)))
    order = choices.pick("order", "Order", _ORDERS, str(options.get("order", "size")))
    drawn = [_first(data, one, top, order) for one in lists]
    limits = _scales(data, drawn, layer < 0)
    rows = max(len(one.items) for one in drawn)
    together = layer < 0
    row, wide = (_LOW, _NARROW) if together else (_ROW, _WIDE)
    notes = _notes(data, lists, drawn, order, together, str(options.get("probability_label", "being used")))
    return Picture(
        _headline(data, layer, lists, len(set(limits)) > 1, sources.view.title),
        data.doc,
        tuple(
            _panel(data, one, ends, "" if together else data.axis)
            for one, ends in zip(drawn, limits, strict=True)
        ),
        "; ".join(filter(None, (notes, "each list has its own scale" if len(set(limits)) > 1 else ""))),
        _legend(data),
        _table(data, layer),
        grid=(wide, _AROUND + row * rows),
        layers=data.dim,
        more=("top", _numbers(data, lists) if not together else {}),
    )


def _read(sources: Sources) -> _Coefficients:
    result = sources.result("values", (1, 2))
    shape = result.values.shape
    values = np.atleast_2d(np.asarray(result.values, dtype=np.float64))
    count, m = values.shape
    dims = result.dims if len(result.dims) == len(shape) else ("factor", "item")[-len(shape) :]
    intervals = probability = None
    if sources.has("interval"):
        intervals = sources.array("interval", (*shape, 2)).reshape(count, m, 2)
    if sources.has("probability"):
        probability = sources.array("probability", shape).reshape(count, m)
    groups: tuple[str, ...] = ("",)
    group = np.zeros(m, dtype=np.intp)
    if sources.has("group"):
        texts = sources.texts("group")
        if len(texts) != m:
            raise SourceError(f"The group has {counted(len(texts), 'item')}; there are {m} coefficients.")
        groups = tuple(dict.fromkeys(texts))
        group = np.array([groups.index(text) for text in texts], dtype=np.intp)
    unit = f", {result.unit}" if result.unit else ""
    several = len(shape) == 2
    return _Coefficients(
        values,
        intervals,
        probability,
        role_names(sources, "names", dims[-1], m),
        sources.dim_names(dims[0], count) if several else (sources.view.title,),
        groups,
        group,
        (result.label or "value") + unit,
        str(sources.view.options.get("dim", dims[-1])).replace("_", " "),
        result.doc,
        data_axis(sources, dims[-1], m) or dims[-1],
        dims[0] if several else "",
        bool(sources.view.options.get("signed", True)),
    )


def _choose_layer(data: _Coefficients, choices: ViewChoices, together: bool) -> int:
    """The factor that is shown; -1 for all of them side by side."""
    count = len(data.layers)
    if count < 2:
        return 0
    options = [(str(k), name) for k, name in enumerate(data.layers)]
    if len(data.groups) == 1 and count <= _MOST_LAYERS:
        options.insert(0, (_ALL, _ALL))
    default = _ALL if together else "0"
    chosen = choices.pick("factor", "Show", options, default, kind=LIST, searched=False, of="layer")
    return -1 if chosen == _ALL else int(chosen)


def _choose_group(data: _Coefficients, choices: ViewChoices) -> int:
    """The group that is shown; -1 for all."""
    return (
        choices.among("group", "Of", (_ALL, *data.groups), each="group") - 1 if len(data.groups) > 1 else -1
    )


def _lists(data: _Coefficients, layer: int, group: int) -> list[_List]:
    everything = np.arange(data.values.shape[1])
    if layer < 0:
        return [_List(headed(name), k, data.ranked(k, everything)) for k, name in enumerate(data.layers)]
    name, several = headed(data.layers[layer]), len(data.layers) > 1
    shown = [group] if group >= 0 else range(len(data.groups)) if 1 < len(data.groups) <= _MOST_PANELS else []
    if shown:
        return [
            _List(f"{name}: {data.groups[g]}", layer, data.ranked(layer, np.flatnonzero(data.group == g)))
            for g in shown
        ]
    title = f"{name}: {plural(data.word)}" if several else name
    return [_List(title, layer, data.ranked(layer, everything))]


def _first(data: _Coefficients, one: _List, top: int, order: str) -> _List:
    items = one.items[:top]
    if order == "value":
        items = items[np.argsort(-data.values[one.layer, items], kind="stable")]
    return _List(one.title, one.layer, items)


def _numbers(data: _Coefficients, lists: list[_List]) -> dict[str, int]:
    """From which number of rows on each item is shown, the strongest first."""
    ranks = [
        (rank + 1, data.names[i]) for one in lists for rank, i in enumerate(one.items[:_MOST_TOP].tolist())
    ]
    return {name: rank for rank, name in sorted(ranks, key=lambda pair: pair[0], reverse=False)}


def _scales(data: _Coefficients, lists: list[_List], together: bool) -> list[tuple[float, float]]:
    """The axis of each list: the same for all factors, and for groups unless one of them would be too small on it to be read, as that of
    data in another unit is."""
    one = _limits(data, lists)
    own = [_limits(data, [each]) for each in lists]
    wide = [high - low for low, high in own]
    return own if not together and max(wide) > _UNLIKE * min(wide) else [one] * len(lists)


def _limits(data: _Coefficients, lists: list[_List]) -> tuple[float, float]:
    """Of one axis that holds all lists and zero."""
    parts = [data.values[one.layer, one.items] for one in lists]
    if data.intervals is not None:
        parts += [data.intervals[one.layer, one.items].ravel() for one in lists]
    known = np.concatenate([*parts, [0.0]])
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    margin = 0.04 * (high - low) or 0.5
    return low - margin * (low < 0), high + margin * (high > 0 or low == 0)


def _panel(data: _Coefficients, one: _List, limits: tuple[float, float], axis: str) -> Panel:
    """Dots in rows with names, from a line at zero; stems, or intervals, and probabilities at the right."""
    k, items = one.layer, one.items
    names = tuple(data.names[i] for i in items)
    values, rows = data.values[k, items], np.arange(len(items))
    colors = tuple(data.color(k, i) for i in items)
    if data.intervals is None:
        lines = Links(
            0 * values, rows, values, rows, np.full(len(rows), 1.6), np.full(len(rows), 0.6), color=colors
        )
    else:
        low, high = data.intervals[k, items].T
        lines = Links(low, rows, high, rows, np.full(len(rows), 2.0), color=colors)
    chance = None if data.probability is None else data.probability[k, items]
    sure = np.ones(len(items), dtype=bool) if chance is None else chance >= _SURE
    dots = Points(
        values,
        rows,
        8.0,
        np.where(sure, 0, -3),
        color=colors,
        read=tuple(data.text(k, i) for i in items),
        called=names,
        of=Items(data.kind, items),
    )
    columns: tuple[Column, ...] = ()
    if chance is not None:
        inks = tuple("text" if p >= _SURE else "muted" for p in chance)
        columns = (
            Column("probability", rows.tolist(), tuple(format_probability(float(p)) for p in chance), inks),
        )
    marks: list[Mark] = [Rule([0.0], dashed=False, color="axis"), lines, dots]
    return Panel(
        tuple(marks),
        Axis(axis, low=limits[0], high=limits[1]),
        Axis(scale="category", names=names or ("",), down=True),
        title=one.title,
        columns=columns,
        reads="row",
        zoom="",
        lines=False,
        highest=36.0,
    )


def _legend(data: _Coefficients) -> tuple[Key, ...]:
    if not data.signed:
        return ()
    values = data.values[np.isfinite(data.values)]
    keys = (Key("above zero", _ABOVE), *((Key("below zero", _BELOW),) if (values < 0).any() else ()))
    if data.intervals is None or not ((data.intervals[..., 0] <= 0) & (data.intervals[..., 1] >= 0)).any():
        return keys if len(keys) > 1 else ()  # all alike
    return (*keys, Key("interval holds zero", "neutral"))


def _notes(
    data: _Coefficients, lists: list[_List], drawn: list[_List], order: str, together: bool, label: str
) -> str:
    """``12 of 40 drugs, strongest first``."""
    shown, total = sum(len(one.items) for one in drawn), data.values.shape[1]
    if len(lists) == 1 and lists[0].title and len(data.groups) > 1:
        group = data.group[lists[0].items[0]] if len(lists[0].items) else 0
        of_group = lists[0].title.endswith(f": {data.groups[group]}")
        total = int((data.group == group).sum()) if of_group else total
    if together:
        shown //= len(drawn)
    if total == 1:
        return ""
    text = f"{format_count(shown)} of {format_count(total)} {plural(data.word)}"
    text += f" each by {data.axis.split(',')[0].casefold()}" if together else ""
    text += ", largest first" if order == "value" else ", strongest first"
    if data.probability is not None:
        text += f"; hollow where the probability of {label} is below 0.5"
    return text


def _headline(data: _Coefficients, layer: int, lists: list[_List], apart: bool, title: str) -> str:
    """The strongest of what is shown; of each list where these stand ``apart``, on scales of their own."""
    if layer < 0:
        words = {str(name).rstrip(" 0123456789").casefold() for name in data.layers}
        word = words.pop() if len(words) == 1 and "" not in words else data.dim.replace("_", " ")
        return f"{len(data.layers)} {plural(word)} by their strongest {plural(data.word)}"
    values, name = data.values[layer], headed(data.layers[layer])
    first = [int(one.items[0]) for one in lists if len(one.items)]
    if not first:
        return title
    told = [f"{data.names[i]} ({format_number(float(values[i]), 3)})" for i in first if values[i]]
    if apart and len(told) > 1:
        return f"{name}: strongest in their lists are {', '.join(told)}"
    top = max(first, key=lambda i: abs(values[i]))
    if not values[top]:
        return f"{name}: all {plural(data.word)} are 0"
    return f"{name}: {data.names[top]} is strongest ({format_number(float(values[top]), 3)})"


def _table(data: _Coefficients, layer: int) -> dict[str, Any]:
    names, word = np.array(data.names, dtype=object), capital(data.word)
    if layer < 0:
        return {word: names} | {headed(name): data.values[k] for k, name in enumerate(data.layers)}
    order = np.argsort(-np.nan_to_num(np.abs(data.values[layer]), nan=-1.0), kind="stable")
    columns: dict[str, Any] = {word: names[order]}
    if len(data.groups) > 1:
        columns["Group"] = np.array(data.groups, dtype=object)[data.group[order]]
    columns[capital(data.axis)] = data.values[layer][order]
    if data.intervals is not None:
        columns["Low"], columns["High"] = data.intervals[layer][order].T
    if data.probability is not None:
        columns["Probability"] = data.probability[layer][order]
    return columns
