"""One column of the data against what the factors make of it, with thresholds and the order that is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted, plural
from plaidwork.core.draws.numbers import format_count, format_percent
from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.pictures import Axis, Panel, Picture, Rule, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.colouring import Colouring
from plaidwork.core.views.scores import (
    NOTHING,
    Scores,
    choose_colour,
    colours_of,
    legend_of,
    load_scores,
    points_of,
    told,
    zeros_of,
)
from plaidwork.core.views.sources import SourceError, Sources, role_names

_ORDER = "Order"
_WORDS = ("in order", "out of order")


@dataclass(frozen=True)
class _Fit:
    """Weights (K, m) of the columns of a matrix, of scores (n, K).

    ``order`` (n, m) is 0 where a cell is in order, 1 where not, below 0 where it was not compared; ``thresholds`` (m, c),
    the first ``levels - 1`` of each column.
    """

    weights: np.ndarray
    features: tuple[str, ...]
    fitted: FittedInput
    order: np.ndarray | None
    thresholds: np.ndarray | None
    levels: np.ndarray | None

    def value(self, j: int) -> np.ndarray:
        """(n,) data of a column."""
        return self.fitted.known(0, np.array([j]))[:, 0]

    def lines(self, j: int) -> np.ndarray:
        """Thresholds of a column."""
        if self.thresholds is None:
            return np.zeros(0)
        count = self.thresholds.shape[1] if self.levels is None else int(self.levels[j]) - 1
        return self.thresholds[j, : max(count, 0)]

    def colouring(self, j: int) -> Colouring:
        """The order of a column, which there has to be, as colours."""
        assert self.order is not None
        codes = np.asarray(self.order[:, j], dtype=np.intp)
        return Colouring(_ORDER, tuple("" if c < 0 else _WORDS[c] for c in codes), codes, _WORDS)


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (n, K) scores, ``weights`` (K, m) and ``matrix`` (data:X), the matrix with the columns; optional
    ``order`` (n, m), ``thresholds`` (m, c) with ``levels`` (m,), ``names`` (m,) and ``first`` (1,), the column shown
    first; colours as of :func:`load_scores`. A column that is selected in another view is shown here too."""
    data = load_scores(sources)
    found = _read(sources, data)
    if not data.values.size or not found.features:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    m = len(found.features)
    first = int(sources.result("first").values[0]) if sources.has("first") else -1
    start = first if 0 <= first < m else int(np.abs(found.weights).max(axis=0).argmax())
    j = int(choices.find("feature", "Show", {"": found.features}, str(start), of="column"))
    words = (_ORDER, NOTHING) if found.order is not None else (NOTHING,)
    ordered = found.order is not None and not sources.view.options.get("colour_by")
    asked = choose_colour(data, choices, _ORDER if ordered else data.first or data.telling(), *words)
    shown = found.colouring(j) if asked == _ORDER and found.order is not None else colours_of(data, asked)
    x, y, name = found.value(j), data.values @ found.weights[:, j], found.features[j]
    y_name, lines = f"fitted value of {name}", found.lines(j)
    points = points_of(
        x, y, data.names, data.kind, shown, lambda i: told(data.names, i, shown, (name, x[i]), (y_name, y[i]))
    )
    notes = data.counted(np.zeros((len(y), 0)), shown, asked)
    if len(lines):
        notes += f"; {counted(len(lines), 'dashed line')}: thresholds between the levels"
    return Picture(
        _headline(found, j, data),
        _caption(found),
        (Panel((*zeros_of(points), Rule(lines, "y"), points), Axis(name), Axis(y_name)),),
        notes,
        legend_of(shown),
        _table(found, j, data, x, y),
    )


def _read(sources: Sources, data: Scores) -> _Fit:
    weights = sources.array("weights", (len(data.factors), None))
    n, m = len(data.values), weights.shape[1]
    fitted = sources.fitted("matrix")
    if fitted is None or [block.shape for block in fitted.blocks] != [(n, m)]:
        raise SourceError(f"The data are not a matrix of {counted(n, 'item')} by {m}.")
    dims = sources.result("weights").dims
    order = sources.result("order").values if sources.has("order") else None
    if order is not None and order.shape != (n, m):
        raise SourceError(f"The order has the shape {order.shape}; {(n, m)} is needed.")
    return _Fit(
        weights,
        role_names(sources, "names", dims[-1] if dims else "column", m),
        fitted,
        order,
        sources.array("thresholds", (m, None)) if sources.has("thresholds") else None,
        sources.array("levels", (m,)) if sources.has("levels") else None,
    )


def _headline(found: _Fit, j: int, data: Scores) -> str:
    name = found.features[j]
    if found.order is None:
        return f"Fitted values of {name}"
    known = found.order[:, j]
    known = known[known >= 0]
    if not len(known):
        return f"{name} was left out of the fit"
    share = format_percent(float((known == 0).mean()))
    return f"{name}: {share} of {format_count(len(known))} {plural(data.word)} in order"


def _caption(found: _Fit) -> str:
    if found.order is None:
        return ""
    if found.thresholds is not None:
        return "In order: the fitted value lies between the thresholds of its level."
    return "In order: no comparison with a neighbour in the order of the data is the wrong way round."


def _table(found: _Fit, j: int, data: Scores, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    columns: dict[str, Any] = {
        capital(data.word): np.array(data.names, dtype=object),
        found.features[j]: x,
        "Fitted value": y,
    }
    if found.order is not None:
        columns[_ORDER] = np.array(found.colouring(j).texts, dtype=object)
    return columns
