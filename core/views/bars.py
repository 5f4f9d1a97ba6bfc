"""A discrete distribution, or any few numbers by category, as bars with their values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_fixed, format_number, format_probability
from plaidwork.core.pictures import Axis, Bars, Intervals, Items, Panel, Picture, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.sources import SourceError, Sources, data_axis

_MOST = 400
_UNLIKE = 2000.0
"""Ratio of the highest to the lowest bar from which on they have decimals of their own."""


@dataclass(frozen=True)
class _Heights:
    """Labels, heights and the names of the axes; ``intervals`` (n, 2) or None; ``kind`` of the items."""

    labels: tuple[str, ...]
    values: np.ndarray
    x_name: str
    y_name: str
    doc: str
    intervals: np.ndarray | None = None
    kind: str = ""

    @property
    def shares(self) -> bool:
        """Whether the heights are probabilities of one distribution."""
        known = self.values[np.isfinite(self.values)]
        return bool(len(known) and known.min() >= 0 and abs(known.sum() - 1) < 1e-6)

    def text(self, i: int) -> str:
        """A height as shown."""
        value = float(self.values[i])
        return format_probability(value) if self.shares else self.told[i]

    @cached_property
    def told(self) -> list[str]:
        """All heights with the same decimals: as the lowest needs for two digits, or for one where the highest had more
        than three; unlike sizes as they are."""
        known = np.abs(self.values[np.isfinite(self.values) & (self.values != 0)])
        low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 1.0)
        if high >= _UNLIKE * low or (known == np.round(known)).all():
            return [format_number(float(value), 3) for value in self.values]
        of_low, of_high = -math.floor(math.log10(low)), 2 - math.floor(math.log10(high))
        decimals = max(0, min(of_low + 1, max(of_low, of_high)))
        return [format_fixed(float(value), decimals) if value else "0" for value in self.values]


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (n,) with optional ``x`` (n,) and ``interval`` (n, 2), or a Table whose first two columns are
    label and height. Options ``x_label`` and ``y_label`` name the axes. Bars begin at 0."""
    found = _read(sources)
    if not len(found.values):
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    table = {
        found.x_name or "label": np.array(found.labels, dtype=object),
        found.y_name or "value": found.values,
    }
    if found.intervals is not None:
        table["low"], table["high"] = found.intervals.T
    return Picture(_headline(found, sources.view.title), found.doc, (_panel(found),), table=table)


def _read(sources: Sources) -> _Heights:
    given, intervals, kind = sources.get("values"), None, ""
    if isinstance(given, Table):
        titles = list(given.columns)
        if len(titles) < 2:
            raise SourceError("Bars need two columns, labels and heights.")
        labels, values = given.columns[titles[0]], given.columns[titles[1]]
        x_name, y_name, doc = titles[0], titles[1], given.doc
    else:
        result = sources.result("values", 1)
        values, doc, dim = result.values, result.doc, (result.dims or ("",))[0]
        y_name, x_name = result.label or "value", dim.replace("_", " ")
        labels = np.array(sources.dim_names(dim, len(values)), dtype=object)
        kind = data_axis(sources, dim, len(values))
        if sources.has("x"):
            labels = sources.result("x", 1).values
            x_name = sources.result("x").label or x_name
        if sources.has("interval"):
            intervals = sources.array("interval", (len(values), 2))
    if len(labels) != len(values):
        raise SourceError(f"There are {counted(len(labels), 'label')} for {len(values)} bars.")
    if len(values) > _MOST:
        raise SourceError(
            f"Bars show up to {_MOST} values. Found {len(values)}; see the data behind the picture."
        )
    if np.asarray(values).dtype.kind not in "biuf":
        raise SourceError("The heights of bars are numbers. Found text.")
    numbers = int | float | np.number
    texts = tuple(format_number(float(v)) if isinstance(v, numbers) else str(v) for v in labels)
    x_label, y_label = (
        str(sources.view.options.get(key, name)) for key, name in (("x_label", x_name), ("y_label", y_name))
    )
    return _Heights(texts, np.asarray(values, dtype=np.float64), x_label, y_label, doc, intervals, kind)


def _headline(found: _Heights, title: str) -> str:
    if not found.shares:
        return title
    top = int(np.nanargmax(found.values))
    value, name = float(found.values[top]), capital(found.x_name)
    if value == 1.0:
        return f"{name}: always {found.labels[top]}"
    return f"{name}: most probably {found.labels[top]} (probability {format_probability(value)})"


def _panel(found: _Heights) -> Panel:
    """Bars from zero, the highest in the main colour and with its value in any case when they are a distribution."""
    count = len(found.values)
    top = int(np.nanargmax(found.values)) if np.isfinite(found.values).any() else -1
    main = [i == top or not found.shares for i in range(count)]
    texts = [found.text(i) for i in range(count)]
    read = [
        capital(f"{found.x_name} {label}: {text}".strip())
        for label, text in zip(found.labels, texts, strict=True)
    ]
    x = np.arange(count)
    marks: list[Bars | Intervals] = [
        Bars(
            x,
            0 * found.values,
            found.values,
            name=found.y_name,
            labels=tuple(texts),
            strongest=top if found.shares else -1,
            color=tuple(0 if strong else "neutral" for strong in main),
            read=tuple(read),
            of=Items(found.kind, x) if found.kind else None,
        )
    ]
    if found.intervals is not None:
        marks.append(
            Intervals(x, found.intervals[:, 0], found.intervals[:, 1], width=1.4, halo=True, color="text")
        )
    return Panel(
        tuple(marks),
        Axis(found.x_name, scale="category", names=found.labels),
        Axis(found.y_name, zero=True),
        reads="inside",
        zoom="x",
    )
