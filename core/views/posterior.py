"""Posterior densities of a few quantities with their priors: what the data have said of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.counting import agree, plural
from plaidwork.core.draws.numbers import format_count, format_number
from plaidwork.core.pictures import Axis, Bands, Key, Line, Mark, Panel, Picture, Points, ViewChoices
from plaidwork.core.pictures.densities import densities
from plaidwork.core.views.sources import NotYet, SourceError, Sources, role_names

_MOST, _MOST_CHAINS = 200, 8
"""Quantities shown, and chains drawn by themselves."""
_NARROW = 0.5
"""An interval is much narrower than the prior's when its length is below this share of it."""
_GRID = (250.0, 136.0)
"""Least width and height of a panel in pixels."""

Curve = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Posterior:
    """One quantity: its density, those of the chains, and its prior, all as (x, y), x of the draws.

    Attributes
    ----------
    low, median, high : quantiles 5, 50 and 95 % of the draws. prior_low, prior_high : those of the prior, or NaN.
    log : whether the draws are natural logarithms.
    """

    name: str
    density: Curve
    chains: tuple[Curve, ...]
    prior: Curve | None
    low: float
    median: float
    high: float
    prior_low: float
    prior_high: float
    log: bool

    def values(self, places: np.ndarray) -> np.ndarray:
        """Places of the draws as values of the quantity."""
        return np.exp(np.clip(places, -600, 600)) if self.log else places

    def number(self, place: float) -> str:
        """A place of the draws as the value there."""
        return format_number(math.exp(place) if self.log else place, 3)

    @property
    def text(self) -> str:
        """``0.16 (0.06 to 0.66)``."""
        return f"{self.number(self.median)} ({self.number(self.low)} to {self.number(self.high)})"

    @property
    def told(self) -> str:
        """The quantity in words."""
        words = f"{self.name}: median {self.number(self.median)}, 90 % from {self.number(self.low)} to {self.number(self.high)}"
        if self.prior_low == self.prior_low:
            words += f"; prior {self.number(self.prior_low)} to {self.number(self.prior_high)}"
        return words

    @property
    def limits(self) -> tuple[float, float]:
        """The part of the draws' axis shown: where the posterior is, and most of the prior."""
        x = self.density[0]
        low, high = float(x[0]), float(x[-1])
        if self.prior is not None:
            where = self.prior[0][self.prior[1] > 0.02 * self.prior[1].max()]
            low, high = min(low, float(where[0])), max(high, float(where[-1]))
        return low, high


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Role ``values`` (c, n, P) draws by chain, or (n, P), usually ``draws:``; ``prior`` (P, t) densities at the places
    ``x`` (P, t), ``names`` (P,).

    Options: ``log`` (the draws are natural logarithms; the axis tells the values themselves) and ``dim``.
    """
    log = bool(sources.view.options.get("log", False))
    found = _read(sources, log)
    if not found:
        why = "These quantities were given, so every draw has the same value."
        return Picture(sources.view.title, empty=("Nothing was inferred here", why))
    with_prior = [one.prior is not None for one in found]
    legend = (Key("posterior", 0), Key("prior", "text", "dashed")) if any(with_prior) else ()
    notes = "Dot and bar: median and 90 % interval"
    if any(one.chains for one in found):
        notes += "; thin lines: single chains"
    return Picture(
        _headline(found, sources),
        "Much better: an interval less than half as long as that of the prior, on the axes as drawn."
        if all(with_prior)
        else "",
        tuple(map(_panel, found)),
        notes + ("; logarithmic axes" if log else ""),
        legend,
        _table(found),
        grid=_GRID,
    )


def _read(sources: Sources, log: bool) -> tuple[Posterior, ...]:
    """The quantities that move."""
    result = sources.result("values", (2, 3))
    draws = np.asarray(result.values, dtype=np.float64)
    draws = draws if draws.ndim == 3 else draws[None]
    count = draws.shape[2]
    if not draws.shape[1]:
        raise NotYet
    if count > _MOST:
        raise SourceError(f"Up to {_MOST} quantities are shown. Found {count}.")
    prior = None
    if sources.has("prior"):
        prior = (sources.array("x", (count, None)), sources.array("prior", (count, None)))
    names = role_names(sources, "names", (result.dims or ("quantity",))[-1], count)
    found = (
        posterior(names[k], draws[:, :, k], None if prior is None else (prior[0][k], prior[1][k]), log)
        for k in range(count)
    )
    return tuple(one for one in found if one is not None)


def posterior(name: str, draws: np.ndarray, prior: Curve | None, log: bool) -> Posterior | None:
    """A quantity of draws (c, n); None when they are all alike."""
    known = draws[np.isfinite(draws)]
    if not len(known) or np.ptp(known) == 0:
        return None
    chains = len(draws)
    flat, of = draws.ravel(), np.repeat(np.arange(chains), draws.shape[1])
    (whole,) = densities(flat, np.zeros(len(flat), dtype=np.intp), ("",))
    single = densities(flat, of, ("",) * chains) if 1 < chains <= _MOST_CHAINS else ()
    low, median, high = (float(q) for q in np.quantile(known, [0.05, 0.5, 0.95]))
    ends = (np.nan, np.nan) if prior is None else _central(*prior)
    curves = tuple((one.x, one.y) for one in single)
    return Posterior(name, (whole.x, whole.y), curves, prior, low, median, high, *ends, log)


def _central(x: np.ndarray, density: np.ndarray) -> tuple[float, float]:
    """Central interval of 90 % of a density at places x, by the trapezoidal rule."""
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    low, high = np.interp([0.05 * mass[-1], 0.95 * mass[-1]], mass, x)
    return float(low), float(high)


def _panel(one: Posterior) -> Panel:
    """Density over the prior, and on the axis the median and the interval."""
    low, high = one.limits
    x, y = one.values(one.density[0]), one.density[1]
    marks: list[Mark] = [Bands(x, 0 * y, y, opacity=0.22)]
    marks += [Line(one.values(place), height, 1.0, opacity=0.5) for place, height in one.chains]
    marks.append(Line(x, y, 1.8))
    if one.prior is not None:
        inside = (one.prior[0] >= low) & (one.prior[0] <= high)
        places, heights = one.values(one.prior[0][inside]), one.prior[1][inside]
        marks.append(Line(places, heights, 1.4, dashed=True, color="text"))
    ends = one.values(np.array([low, one.low, one.median, one.high, high]))
    marks.append(Line(ends[[1, 3]], [0, 0], 3.0))
    marks.append(Points(ends[[2]], [0], 9.0, name=one.name, read=(one.told,)))
    top = max(float(np.nanmax(mark.extent("y"))) for mark in marks[:-2]) or 1.0
    across = Axis(scale="log" if one.log else "linear", low=float(ends[0]), high=float(ends[4]))
    return Panel(
        tuple(marks),
        across,
        Axis(low=0, high=top, ticks=False),
        title=one.name,
        values=(one.text, one.number(one.median)),
        reads="whole",
        zoom="",
        lines=False,
    )


def _headline(found: tuple[Posterior, ...], sources: Sources) -> str:
    word = str(sources.view.options.get("dim", "quantity"))
    if len(found) == 1 or any(one.prior is None for one in found):
        return sources.view.title if len(found) > 1 else f"{found[0].name}: {found[0].text}"
    narrow = sum((one.high - one.low) < _NARROW * (one.prior_high - one.prior_low) for one in found)
    if not narrow:
        return f"None of {format_count(len(found))} {plural(word)} is known much better than beforehand"
    are = agree(narrow, "is", "are")
    return f"{format_count(narrow)} of {format_count(len(found))} {plural(word)} {are} known much better than beforehand"


def _table(found: tuple[Posterior, ...]) -> dict[str, np.ndarray]:
    table: dict[str, np.ndarray] = {"Quantity": np.array([one.name for one in found], dtype=object)}
    for title, places in (
        ("Median", [one.median for one in found]),
        ("5 %", [one.low for one in found]),
        ("95 %", [one.high for one in found]),
        ("Prior 5 %", [one.prior_low for one in found]),
        ("Prior 95 %", [one.prior_high for one in found]),
    ):
        pairs = zip(found, places, strict=True)
        table[title] = np.array([float(one.values(np.array(place))) for one, place in pairs])
    return table
