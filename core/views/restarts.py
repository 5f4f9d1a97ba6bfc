"""Factors of two restarts of a fit, paired by their correlation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.draws.numbers import format_correlation, format_probability
from plaidwork.core.draws.summaries import match_factors
from plaidwork.core.pictures import Axis, Cells, Items, Outlines, Panel, Picture, Ramp, ViewChoices
from plaidwork.core.views.sources import SourceError, Sources, role_names

_FOUND = 0.9
"""Absolute correlation from which a factor is said to be found again."""
_MOST_NUMBERED = 40
"""Longer matrices have no numbers in their cells."""
_HIGHEST, _WIDEST = 110.0, 220.0
"""Pixels of a cell at most."""
_LEGEND = (Ramp("absolute correlation", "tide", ("0", "0.5", "1")),)


@dataclass(frozen=True)
class _Pair:
    """Factors of the restarts ``one`` (rows) and ``other`` (columns): signed correlations (K, J) and the partner of each
    row, -1 for none. ``order`` puts the columns below their partners."""

    one: int
    other: int
    signed: np.ndarray
    partner: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    order: np.ndarray

    @property
    def matched(self) -> np.ndarray:
        """(K,) absolute correlation with the partner, 0 without one."""
        found = np.zeros(len(self.rows))
        rows = np.flatnonzero(self.partner >= 0)
        found[rows] = np.abs(self.signed[rows, self.partner[rows]])
        return found

    def text(self, piece: int) -> str:
        """A cell in words."""
        row, place = divmod(piece, len(self.columns))
        column = int(self.order[place])
        words = f"{self.rows[row]} of restart {self.one}, {self.columns[column]} of restart {self.other}: "
        words += f"correlation {format_correlation(float(self.signed[row, column]))}"
        return words + (", partners" if self.partner[row] == column else "")


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles ``values`` (F, F), correlations of the factors of all restarts, and ``restart`` (F,), the number of the
    restart of each; optional ``names`` (F,) and ``shown`` (1,), the restart that the other views show."""
    found = sources.result("values", 2)
    count = len(found.values)
    values = sources.array("values", (count, count))
    restart = sources.array("restart", (count,)).astype(np.intp)
    numbers = tuple(int(n) for n in np.unique(restart))
    shown = int(sources.array("shown", (1,))[0]) if sources.has("shown") else numbers[0] if numbers else 0
    if shown not in numbers and numbers:
        raise SourceError(f"The restart shown is {shown}; there are {numbers[0]} to {numbers[-1]}.")
    if len(numbers) < 2:
        why = (
            "Set “Restarts” to 2 or more and fit again: factors that come back from another start do not hang on where "
            "the fit began."
        )
        return Picture(sources.view.title, empty=("One restart alone cannot be compared", why))
    names = role_names(sources, "names", (found.dims or ("factor",))[0], count)
    texts = [f"Restart {n}, shown in all views" if n == shown else f"Restart {n}" for n in numbers]
    first = numbers.index(shown)
    one = numbers[choices.among("one", "Down", texts, first, each="restart down the side")]
    other = numbers[choices.among("other", "Across", texts, 0 if first else 1, each="restart across")]
    pair = _pair(values, restart, names, one, other)
    matched = pair.matched
    caption = (
        f"Each factor has one partner. Absolute correlation of partners: mean {format_probability(float(matched.mean()))}, "
        f"least {format_probability(float(matched.min()))}; come back: {_FOUND:.2f} or more."
    )
    return Picture(
        _headline(pair),
        caption,
        (_panel(pair, one == shown),),
        f"{len(pair.rows)} × {counted(len(pair.columns), 'factor')}, partners on the diagonal",
        _LEGEND,
        _table(pair),
    )


def _pair(values: np.ndarray, restart: np.ndarray, names: tuple[str, ...], one: int, other: int) -> _Pair:
    rows, columns = np.flatnonzero(restart == one), np.flatnonzero(restart == other)
    signed = values[np.ix_(rows, columns)]
    partner, _ = match_factors(signed)
    partners = partner[partner >= 0]
    order = np.append(partners, np.setdiff1d(np.arange(len(columns)), partners))
    return _Pair(
        one, other, signed, partner, tuple(names[i] for i in rows), tuple(names[i] for i in columns), order
    )


def _headline(pair: _Pair) -> str:
    if pair.one == pair.other:
        return f"Restart {pair.one} beside itself"
    back = int((pair.matched >= _FOUND).sum())
    number = len(pair.rows)
    return f"{back} of {counted(number, 'factor')} of restart {pair.one} {agree(number, 'comes', 'come')} back in restart {pair.other}"


def _panel(pair: _Pair, is_shown: bool) -> Panel:
    """Absolute correlations with partners below each other, those that come back in frames; the rows of the restart that
    is shown are the factors of the other views."""
    values = np.abs(pair.signed[:, pair.order])
    n, m = values.shape
    labels = (
        tuple(format_probability(float(v)) for v in values.ravel()) if max(n, m) <= _MOST_NUMBERED else ()
    )
    cells = Cells(
        values,
        -0.5,
        m - 0.5,
        -0.5,
        n - 0.5,
        labels=labels,
        rows=Items("layer", np.arange(n)) if is_shown else None,
        name="correlation",
        read=pair.text,
    )
    row = np.flatnonzero(pair.matched >= _FOUND)
    place = np.argsort(pair.order)[pair.partner[row]] if len(row) else row
    frames = Outlines(place - 0.5, row - 0.5, place + 0.5, row + 0.5, 1.4, name="come back", color="text")
    return Panel(
        (cells, frames),
        Axis(
            f"restart {pair.other}",
            scale="category",
            names=tuple(pair.columns[j] for j in pair.order),
            turned=True,
        ),
        Axis(f"restart {pair.one}", scale="category", names=pair.rows, down=True),
        highest=_HIGHEST,
        most=_WIDEST,
        reads="inside",
        lines=False,
    )


def _table(pair: _Pair) -> dict[str, np.ndarray]:
    partner = [pair.columns[j] if j >= 0 else "" for j in pair.partner]
    signed = [pair.signed[i, j] if j >= 0 else np.nan for i, j in enumerate(pair.partner)]
    return {
        "Factor": np.array(pair.rows, dtype=object),
        "Partner": np.array(partner, dtype=object),
        "Correlation": np.array(signed),
    }
