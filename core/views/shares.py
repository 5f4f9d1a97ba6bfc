"""Class probabilities item by item, stacked to one, with the known class below where there is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_percent, format_probability
from plaidwork.core.pictures import Axis, Bars, Key, Panel, Picture, ViewChoices
from plaidwork.core.pictures.marks import area_categories
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.assessed import Judged, choose_part, judged, nothing_known
from plaidwork.core.views.sources import Sources

ORDERS = (("expected", "By expected class"), ("known", "By known class"))
_WIDEST = 28.0
"""Pixels of the widest bar."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Option ``order``: "expected" (mean number of the class), or "known" for that within the known class."""
    everything = judged(sources, unlabelled=True)
    if not len(everything.codes):
        return nothing_known(sources.view.title)
    part = choose_part(everything, choices)
    data = everything.of(part)
    known = bool((data.codes >= 0).all())
    order = str(sources.view.options.get("order", "expected"))
    order = choices.pick("order", "Order", ORDERS, order) if known else "expected"
    places = ordered(data, order)
    colors = area_categories(len(data.classes))
    return Picture(
        _headline(data, known),
        everything.doc,
        _panels(data, places, known),
        everything.counted(part),
        tuple(Key(name, color) for name, color in zip(data.classes, colors, strict=True)),
        _table(data, places, known),
    )


def _headline(data: Judged, known: bool) -> str:
    if known:
        own = float(data.probability[np.arange(len(data.codes)), data.codes].mean())
        return f"The known class has a probability of {format_percent(own)} on average"
    most = float(data.probability.max(axis=1).mean())
    return f"The most probable class has a probability of {format_percent(most)} on average"


def _table(data: Judged, places: np.ndarray, known: bool) -> dict[str, np.ndarray]:
    codes = data.codes if known else data.probability.argmax(axis=1)
    title = "Known class" if known else "Most probable class"
    table = {title: np.array(data.classes, dtype=object)[codes[places]]}
    return table | {name: data.probability[places, k] for k, name in enumerate(data.classes)}


def ordered(data: Judged, order: str) -> np.ndarray:
    """Numbers of the items from left to right: by the mean number of the class, within the known class if asked for."""
    expected = data.probability @ np.arange(len(data.classes))
    first = data.codes if order == "known" else np.zeros(len(data.codes))
    return np.lexsort((expected, first))


def _panels(data: Judged, order: np.ndarray, known: bool) -> tuple[Panel, ...]:
    """A bar for each item from 0 to 1, parted by the classes; a strip below has the known ones."""
    n, colors = len(order), area_categories(len(data.classes))
    edges = np.hstack([np.zeros((n, 1)), np.cumsum(data.probability[order], axis=1)])
    edges[:, -1] = 1.0
    read, linked, x = _reader(data, order), data.linked(order), np.arange(n)
    stack = [
        Bars(x, edges[:, k], edges[:, k + 1], 1.0, _WIDEST, name=name, color=colors[k], read=read, of=linked)
        for k, name in enumerate(data.classes)
    ]
    level = Axis("probability", low=0, high=1)
    items = Axis("" if known else plural(data.word), ticks=False, low=-0.5, high=n - 0.5)
    shares = Panel(tuple(stack), items, level, most=_WIDEST, reads="inside", zoom="x")
    if not known:
        return (shares,)
    own = tuple(colors[code] for code in data.codes[order])
    strip = Bars(x, 0 * x, 0 * x + 1, 1.0, _WIDEST, name="known class", color=own, read=read, of=linked)
    below = Axis(f"{plural(data.word)}; strip: known class", ticks=False, low=-0.5, high=n - 0.5)
    return shares, Panel(
        (strip,), below, Axis(ticks=False, low=0, high=1), height=1, reads="inside", zoom="x", lines=False
    )


def _reader(data: Judged, order: np.ndarray) -> Callable[[int], str]:
    """An item in words."""

    def read(place: int) -> str:
        i = int(order[place])
        shares = ", ".join(
            f"{name} {format_probability(float(p))}"
            for name, p in zip(data.classes, data.probability[i], strict=True)
        )
        if data.codes[i] < 0:
            return f"{capital(data.word)} without a known class: {shares}"
        return f"{capital(data.word)} of class {data.classes[data.codes[i]]}: {shares}"

    return read
