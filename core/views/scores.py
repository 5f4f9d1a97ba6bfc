"""Scores of items on factors: what the items can be coloured by, and their points. Shared by the views that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_limits, format_number
from plaidwork.core.pictures import Items, Key, Mark, Points, Ramp, Rule, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.colouring import CROSS, HOLLOW, UNKNOWN, Colouring, colouring, most_telling, plain
from plaidwork.core.views.columns import ItemColumns
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names

NOTHING = "nothing"
_SMALLER = 2000
"""Points from here on are smaller."""


@dataclass(frozen=True)
class Scores:
    """(n, K) scores with names and what the items can be coloured by.

    Attributes
    ----------
    annotations : those that say something, as colours. kind : of the items in the selection. dim : that of the factors.
    first : what to colour by at first.
    """

    values: np.ndarray
    names: tuple[str, ...]
    factors: tuple[str, ...]
    columns: ItemColumns
    annotations: Mapping[str, Colouring]
    word: str
    unit: str
    doc: str
    kind: str
    dim: str
    first: str

    def colouring(self, title: str) -> Colouring | None:
        """The colours of an annotation or a feature; None when it says nothing, or is not there."""
        if title in self.annotations:
            return self.annotations[title]
        column = self.columns.column(title)
        return None if column is None else colouring(title, column)

    def telling(self) -> str:
        """The annotation with classes that differ most along one of the factors; empty when there is none."""
        return most_telling(self.values, self.annotations)

    def sections(self, *first: str) -> dict[str, list[str]]:
        """Sections of what can be coloured by, after some words; annotations that say nothing are left out."""
        known, found = self.columns.annotations, {"": [*first]}
        for head, titles in self.columns.sections.items():
            found[head] = [title for title in titles if title not in known or title in self.annotations]
        return found

    def axis(self, factor: int) -> str:
        """A factor with the unit of the scores."""
        return self.factors[factor] + (f", {self.unit}" if self.unit else "")

    def counted(self, values: np.ndarray, shown: Colouring, asked: str) -> str:
        """``180 patients, 5 without a score``, and whether what was asked for tells them apart."""
        text = f"{format_count(len(self.values))} {plural(self.word)}"
        missing = int((~np.isfinite(values)).reshape(len(values), -1).any(axis=1).sum())
        if missing:
            text += f", {format_count(missing)} without a score"
        if not shown.title and asked not in (NOTHING, ""):
            text += f"; {asked} does not tell them apart"
        return text

    def table(self, asked: str) -> dict[str, Any]:
        """Names, scores, annotations, and the feature that was asked for."""
        columns: dict[str, Any] = {capital(self.word): np.array(self.names, dtype=object)}
        for k, name in enumerate(self.factors):
            columns[capital(name)] = self.values[:, k]
        shown = {title: self.columns.annotations[title] for title in self.annotations}
        if asked not in shown and (column := self.columns.column(asked)) is not None:
            shown[asked] = column
        for title, column in shown.items():
            columns[title if title not in columns else f"{title} (data)"] = column
        return columns


def load_scores(sources: Sources) -> Scores:
    """Role ``values`` (n, K); optional ``names`` (n,) and ``colour`` (n,), a number or class of each item.

    Every annotation column of the data along the dim of the items, and every feature of data with that dim, can be the
    colour too. Options: ``dim`` (dim of the input that the items are of, where they are some of it), ``colour_by`` (title
    of a column; else the annotation whose classes differ most).
    """
    result, options = sources.result("values", 2), sources.view.options
    values = np.asarray(result.values, dtype=np.float64)
    n, count = values.shape
    dims = result.dims if len(result.dims) == 2 else ("item", "factor")
    names = role_names(sources, "names", dims[0], n)
    first, given = str(options.get("colour_by", "")), {}
    if sources.has("colour"):
        found = sources.get("colour")
        title = found.label or "value"
        if found.values.shape != (n,):
            raise SourceError(
                f"The colour has the shape {found.values.shape}; there are {counted(n, 'item')}."
            )
        given[title] = found.values
        first = first or title
    dim = str(options.get("dim", dims[0]))
    columns = ItemColumns(sources, dim, names, given)
    made = {title: colouring(title, column) for title, column in columns.annotations.items()}
    return Scores(
        values,
        names,
        sources.dim_names(dims[1], count),
        columns,
        {title: found for title, found in made.items() if found is not None},
        dims[0].replace("_", " "),
        result.unit,
        result.doc,
        data_axis(sources, dims[0], n) or ("row" if dim == dims[0] else dims[0]),
        result.dims[1] if len(result.dims) == 2 else "",
        first,
    )


def choose_colour(data: Scores, choices: ViewChoices, default: str, *first: str) -> str:
    """What the points are coloured by: one of some words, or the title of a column."""
    sections = data.sections(*first)
    if sum(map(len, sections.values())) <= len(first):
        return first[-1]
    return choices.find("colour", "Colour by", sections, default or first[-1])


def colours_of(data: Scores, title: str) -> Colouring:
    """The colours of a column; all alike where it says nothing."""
    found = None if title == NOTHING else data.colouring(title)
    return found or plain(len(data.values))


def points_of(
    x: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    items: str,
    shown: Colouring,
    read: Callable[[int], str],
    kind: type[Points] = Points,
) -> Points:
    """Points of all items of a kind, the unknown ones below the others, named and coloured."""
    known = shown.codes >= 0 if shown.numbers is None else np.isfinite(shown.numbers)
    order = np.argsort(known, kind="stable")
    more: dict[str, Any] = {}
    if shown.numbers is not None:
        low, high = shown.limits
        more = {"levels": shown.numbers[order], "limits": (low, high)}
    else:
        colors = [*shown.categories(), "control"]
        codes = shown.codes[order]
        more = {"color": tuple(colors[code] for code in codes.tolist()), "shapes": codes}
        if len(shown.classes) == 1:
            more = {"color": colors[0]}
    numbers = order.tolist()
    return kind(
        x[order],
        y[order],
        8.0 if len(order) <= _SMALLER else 6.0,
        read=lambda piece: read(numbers[piece]),
        called=lambda piece: names[numbers[piece]],
        of=Items(items, order),
        **more,
    )


def told(names: Sequence[str], i: int, shown: Colouring, *parts: tuple[str, float]) -> str:
    """Name of an item, its numbers, and its class in words."""
    text = f"{names[i]}: " + ", ".join(f"{name} {format_number(float(v), 3)}" for name, v in parts)
    return f"{text}, {shown.title} {shown.texts[i] or UNKNOWN}" if shown.title else text


def zeros_of(points: Points) -> list[Mark]:
    """A line up at zero, where that is among the points; the axes draw the one across."""
    known = points.x[np.isfinite(points.x)]
    if len(known) and known.min() < 0 < known.max():
        return [Rule([0.0], dashed=False, color="axis")]
    return []


def legend_of(shown: Colouring) -> tuple[Key | Ramp, ...]:
    """Sign and name of every class and of what is unknown, or the ends of a scale."""
    if not shown.title:
        return ()
    if shown.numbers is None:
        colors = shown.categories()
        keys = [Key(name, colors[k], "point", k) for k, name in enumerate(shown.classes)]
        hollow = [Key(UNKNOWN, "control", "point", HOLLOW)] if (shown.codes < 0).any() else []
        return (*keys, *hollow)
    low, high = shown.limits
    texts = format_limits((low, (low + high) / 2, high))
    cross = [Key(UNKNOWN, "control", "point", CROSS)] if np.isnan(shown.numbers).any() else []
    return (*cross, Ramp(shown.title, "tide", (texts[0], texts[1], texts[2])))
