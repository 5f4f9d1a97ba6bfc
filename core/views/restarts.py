"""Factors of two restarts of a fit, paired by their correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.numbers import format_correlation, format_probability
from plaidwork.core.draws.summaries import match_factors
from plaidwork.core.pictures import Axis, Cells, Items, Panel, Picture, ViewChoices
from plaidwork.core.views.matrices import Shades
from plaidwork.core.views.sources import SourceError, Sources, role_names

FOUND = 0.9
"""Absolute correlation from which a factor is said to be found again."""
_ALONE = (
    "One restart alone cannot be compared",
    "Set “Restarts” to 2 or more and fit again: factors that come back from another start do not hang on where the fit began.",
)
_SHADES, _LARGEST, _NUMBERED = Shades("tide", (0.0, 1.0)), 90.0, 40


@dataclass(frozen=True)
class _Pair:
    """Factors of two restarts: ``signed`` correlations (K, J) and the partner of each row (-1: none)."""

    numbers: tuple[int, int]
    signed: np.ndarray
    partner: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def order(self) -> np.ndarray:
        """Columns with the partners of the rows first, so that these are on the diagonal."""
        partners = self.partner[self.partner >= 0]
        return np.append(partners, np.setdiff1d(np.arange(len(self.columns)), partners))

    @property
    def matched(self) -> np.ndarray:
        """Absolute correlation of each row with its partner, 0 where it has none."""
        rows = np.flatnonzero(self.partner >= 0)
        found = np.zeros(len(self.rows))
        found[rows] = np.abs(self.signed[rows, self.partner[rows]])
        return found


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles ``values`` (F, F), correlations of the factors of all restarts, and ``restart`` (F,), the number of the
    restart of each; optional ``names`` (F,) and ``shown`` (1,), the restart that the other views show."""
    found = sources.result("values", 2)
    count = len(found.values)
    values = sources.array("values", (count, count))
    restart = sources.array("restart", (count,)).astype(np.intp)
    numbers = tuple(int(n) for n in np.unique(restart))
    if len(numbers) < 2:
        return Picture(sources.view.title, empty=_ALONE)
    shown = int(sources.array("shown", (1,))[0]) if sources.has("shown") else numbers[0]
    if shown not in numbers:
        raise SourceError(f"The restart shown is {shown}; there are {numbers[0]} to {numbers[-1]}.")
    texts = [f"Restart {n}, shown in all views" if n == shown else f"Restart {n}" for n in numbers]
    first = numbers.index(shown)
    one = numbers[choices.among("one", "Down", texts, first)]
    other = numbers[choices.among("other", "Across", texts, 0 if first else 1)]
    rows, columns = np.flatnonzero(restart == one), np.flatnonzero(restart == other)
    names = role_names(sources, "names", (found.dims or ("factor",))[0], count)
    signed = values[np.ix_(rows, columns)]
    row_names, column_names = (tuple(names[i] for i in items) for items in (rows, columns))
    pair = _Pair((one, other), signed, match_factors(signed)[0], row_names, column_names)
    return Picture(
        _headline(pair),
        _caption(pair),
        (_panel(pair, one == shown),),
        f"{len(rows)} × {len(columns)} factors, partners on the diagonal",
        _SHADES.keys("absolute correlation"),
        _table(pair),
    )


def _panel(pair: _Pair, shown: bool) -> Panel:
    """Absolute correlations; a row chooses its factor where the other views show that restart."""
    order = pair.order
    values = np.abs(pair.signed[:, order])
    n, m = values.shape
    few = max(n, m) <= _NUMBERED
    names = tuple(pair.columns[j] for j in order)

    def read(piece: int) -> str:
        row, column = piece // m, int(order[piece % m])
        one, other = pair.numbers
        text = f"{pair.rows[row]} of restart {one}, {pair.columns[column]} of restart {other}: "
        text += f"correlation {format_correlation(float(pair.signed[row, column]))}"
        return text + (", partners" if pair.partner[row] == column else "")

    cells = Cells(
        values,
        -0.5,
        m - 0.5,
        -0.5,
        n - 0.5,
        labels=tuple(format_probability(float(v)) for v in values.ravel()) if few else (),
        rows=Items("layer", np.arange(n)) if shown else None,
        name="absolute correlation",
        read=read,
    )
    down, across = (f"factors of restart {number}" for number in pair.numbers)
    return Panel(
        (cells,),
        Axis(across, scale="category", names=names, turned=True),
        Axis(down, scale="category", names=pair.rows, down=True),
        highest=_LARGEST,
        most=_LARGEST,
        reads="inside",
        lines=False,
    )


def _headline(pair: _Pair) -> str:
    one, other = pair.numbers
    if one == other:
        return f"Restart {one} beside itself"
    matched = pair.matched
    return f"{int((matched >= FOUND).sum())} of {len(matched)} factors of restart {one} come back in restart {other}"


def _caption(pair: _Pair) -> str:
    mean, least = (format_probability(float(value)) for value in (pair.matched.mean(), pair.matched.min()))
    return (
        f"Each factor has one partner. Absolute correlation of partners: mean {mean}, least {least}; "
        f"come back: {FOUND:.2f} or more."
    )


def _table(pair: _Pair) -> dict[str, np.ndarray]:
    paired = list(enumerate(pair.partner))
    return {
        "Factor": np.array(pair.rows, dtype=object),
        "Partner": np.array([pair.columns[j] if j >= 0 else "" for _, j in paired], dtype=object),
        "Correlation": np.array([pair.signed[i, j] if j >= 0 else np.nan for i, j in paired]),
    }
