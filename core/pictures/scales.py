"""Axes and scales: where a value stands between the two ends of an axis, and the ticks. All ticks are made here."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.numbers import format_number, format_ticks
from plaidwork.core.errors import PictureError

SCALES = ("linear", "log", "sqrt", "category")
_HUGE, _FAR = 1e7, 30.0
"""Ticks from here on are written in powers of ten; ends of a logarithmic axis from so large a ratio on have these first."""


def nice_step(span: float, parts: float) -> float:
    """Smallest step of the 1-2-5 series that cuts `span` in at most `parts` pieces."""
    raw = span / max(parts, 1e-9)
    if not math.isfinite(raw) or raw <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    for factor in (1, 2, 5):
        if factor * power >= raw * (1 - 1e-9):
            return factor * power
    return 10 * power


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Ticks in steps 1-2-5 within [low, high]: about `count`, at least three if the span allows."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    parts = float(max(count, 3))
    for _ in range(4):
        step = nice_step(high - low, parts)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first >= 2:
            break
        parts *= 1.6
    return [k * step if step >= 1 else round(k * step, 15) for k in range(first, last + 1)]


_RATIOS = ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Leading digits of ratios, the densest first."""


def ratio_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round ratios whose natural logarithms lie within [low, high], at most `count` where there are more than three."""
    if high - low < math.log(2):  # so near to each other, ratios are as good as differences
        return nice_ticks(math.exp(low), math.exp(high), count)
    first, last = (math.floor(end / math.log(10)) for end in (low, high))
    for every in (1, 2, 3, 6, 12):
        for digits in _RATIOS if every == 1 else _RATIOS[-1:]:
            powers = range(first - first % every, last + 1, every)
            found = [digit * 10.0**power for power in powers for digit in digits]
            found = [ratio for ratio in found if low <= math.log(ratio) <= high]
            if len(found) <= max(count, 3):
                return found
    return found


def step_decimals(step: float) -> int:
    """Decimals that all ticks of a step share."""
    if not math.isfinite(step) or step <= 0:
        return 0
    return max(0, -math.floor(math.log10(step) + 1e-9))


@dataclass(frozen=True)
class Tick:
    """A value of an axis and how it is written."""

    value: float
    text: str


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Attributes
    ----------
    label : what is shown along it, in lower case. unit : of its values.
    scale : one of `SCALES`. low, high : its ends; None takes them from the marks.
    names : of the places 0, 1, … of the scale "category"; ``short`` ones stand there when those of x have no room.
    below : a second line below each of the names of x.
    margin : share of the span that is added on both sides of ends taken from the marks.
    zero : ends taken from the marks take 0 in.
    ticks : whether tick texts are written. line : whether a line marks the lower axis. above : whether texts and label of x stand above the marks.
    down : of y, whether its values grow downwards, as the rows of a matrix do.
    turned : of x, whether names of places are written upright where they have no room beside each other.
    """

    label: str = ""
    unit: str = ""
    scale: str = "linear"
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    margin: float = 0.05
    zero: bool = False
    ticks: bool = True
    line: bool = True
    above: bool = False
    short: tuple[str, ...] = ()
    down: bool = False
    turned: bool = False

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise PictureError(f"The scale of an axis is one of {', '.join(SCALES)}. Found “{self.scale}”.")
        ends = [end for end in (self.low, self.high) if end is not None]
        if not all(math.isfinite(end) for end in ends) or (len(ends) == 2 and ends[0] >= ends[1]):
            raise PictureError(f"The ends of an axis are two numbers, the lower first. Found {ends}.")
        if self.scale == "log" and any(end <= 0 for end in ends):
            raise PictureError(f"A logarithmic axis begins above 0. Found {ends}.")
        if self.scale == "sqrt" and any(end < 0 for end in ends):
            raise PictureError(f"A square-root axis begins at 0 or above. Found {ends}.")
        if self.scale == "category" and not self.names:
            raise PictureError("An axis of categories needs the names of its places.")

    @property
    def title(self) -> str:
        """The label with unit; a scale that is not even is named."""
        named = {"log": "logarithmic scale", "sqrt": "square-root scale"}.get(self.scale, "")
        words = [self.label, self.unit, named] if self.label else []
        return ", ".join(filter(None, words))

    def scaling(self, values: np.ndarray) -> Scaling:
        """The scale that holds these values of the marks (not finite ones are left out)."""
        if self.scale == "category":
            return Scaling("category", -0.5, len(self.names) - 0.5, self.names)
        known = values[np.isfinite(values)]
        if self.scale == "log":
            known = known[known > 0]
        empty = (1.0, 10.0) if self.scale == "log" else (0.0, 1.0)
        low, high = (float(known.min()), float(known.max())) if len(known) else empty
        if len(known):
            low, high = self._widened(low, high)
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        return Scaling(self.scale, low, high if high > low else low + (abs(low) or 1.0))

    def _widened(self, low: float, high: float) -> tuple[float, float]:
        if self.scale == "log":
            factor = (high / low) ** self.margin if high > low else 2.0
            return low / factor, high * factor
        pad = self.margin * (high - low) if high > low else 0.5 * abs(high) or 0.5
        lower, upper = low - pad, high + pad
        if low >= 0 > lower and (self.zero or self.scale == "sqrt"):
            lower = 0.0
        if self.zero:
            lower, upper = (0.0 if low >= 0 else lower), (0.0 if high <= 0 else upper)
        return lower, upper


@dataclass(frozen=True)
class Scaling:
    """Values from ``low`` to ``high`` as shares from 0 to 1 of the length of an axis."""

    kind: str
    low: float
    high: float
    names: tuple[str, ...] = ()

    def _even(self, values: np.ndarray) -> np.ndarray:
        if self.kind == "log":
            return np.log10(np.maximum(values, 1e-300))
        return np.sqrt(np.maximum(values, 0)) if self.kind == "sqrt" else np.asarray(values, dtype=float)

    def shares(self, values: np.ndarray) -> np.ndarray:
        """Where the values stand between the ends; below 0 and above 1 outside of them."""
        low, high = self._even(np.array([self.low, self.high]))
        return (self._even(np.asarray(values, dtype=float)) - low) / (high - low)

    def value(self, share: float) -> float:
        """The value at a share of the length."""
        low, high = self._even(np.array([self.low, self.high]))
        even = float(low + share * (high - low))
        if self.kind == "log":
            return float(10.0**even)
        return max(even, 0.0) ** 2 if self.kind == "sqrt" else even

    def part(self, start: float, end: float) -> Scaling:
        """The scale between two shares of this one, as when it is zoomed."""
        return Scaling(self.kind, self.value(start), self.value(end), self.names)

    def ticks(self, count: int) -> tuple[Tick, ...]:
        """About ``count`` ticks with their texts: steps of 1, 2 or 5 with the same decimals; names of categories."""
        if self.kind == "category":
            first, last = max(0, math.ceil(self.low)), min(len(self.names) - 1, math.floor(self.high))
            return tuple(Tick(float(k), self.names[k]) for k in range(first, last + 1))
        if self.kind != "linear":
            return self._uneven_ticks(count)
        values = nice_ticks(self.low, self.high, max(count, 3))
        decimals = step_decimals(values[1] - values[0]) if len(values) > 1 else 2
        huge = max((abs(value) for value in values), default=0.0) >= _HUGE
        texts = [format_number(v, 3) for v in values] if huge else format_ticks(values, decimals)
        return tuple(map(Tick, values, texts))

    def _uneven_ticks(self, count: int) -> tuple[Tick, ...]:
        """Powers of ten first, then 5 and 2 times those, as many as stand apart."""
        if self.kind == "log" and self.high < _FAR * self.low:
            ratios = ratio_ticks(math.log(self.low), math.log(self.high), count)
            return tuple(Tick(value, format_number(value, 3)) for value in ratios)
        powers = range(math.floor(math.log10(self.high)) - 12, math.ceil(math.log10(self.high)) + 1)
        if self.kind == "log":
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [0.0] if self.kind == "sqrt" and self.low == 0 else []
        for factor in (1, 5, 2):
            for power in reversed(powers):
                value = factor * 10.0**power
                inside = self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)
                places = self.shares(np.array([*found, value]))
                if inside and (len(places) == 1 or np.abs(places[:-1] - places[-1]).min() >= 0.5 / count):
                    found.append(value)
        return tuple(Tick(value, format_number(value, 3)) for value in sorted(found))
