"""Axis of the look: steps 1-2-5, equal decimals, true minus, no tick marks, no box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyqtgraph as pg

from plaidwork.core.pictures.scales import ratio_ticks
from plaidwork.core.quoting import markup
from plaidwork.gui.numbers import format_fixed, format_ticks, nice_ticks, step_decimals
from plaidwork.gui.theme import theme

_ACROSS = 84.0
_UP = 50.0
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class PlotAxis(pg.AxisItem):
    """Axis item with one level of ticks.

    `ratio` is the device pixel ratio of the screen, set by the owner before `restyle`.
    `set_names` replaces numbers by words (categories at 0, 1, 2 ...); `whole` asks for whole
    numbers only, as for counts and sweeps.
    """

    def __init__(self, orientation: str, *, whole: bool = False) -> None:
        super().__init__(orientation)
        self.whole = whole
        self.ratio = 1.0
        self._names: Sequence[str] | None = None
        self._word = ""
        self.setStyle(tickLength=0, autoExpandTextSpace=True, hideOverlappingLabels=9)
        self.enableAutoSIPrefix(False)
        self.restyle()

    def restyle(self) -> None:
        """Take colours and font from the theme; only the bottom axis has a line."""
        colors = theme()
        line = pg.mkPen(colors.color("axis"), width=self.ratio) if self.orientation == "bottom" else None
        self.setPen(pg.mkPen(line))
        self.setTextPen(colors.color("muted"))
        self.setTickFont(colors.font("caption"))
        self.setStyle(tickTextOffset=6)
        self.set_word(self._word)

    def set_word(self, word: str) -> None:
        """Name the axis, in lower case with its unit; after `restyle`, which recolours it."""
        self._word = word
        if not word:
            self.showLabel(False)
            return
        font = theme().font("caption")
        self.setLabel(markup(word), color=theme().hex("muted"))
        self.label.setFont(font)
        self.showLabel(True)

    @property
    def word(self) -> str:
        """Name of the axis."""
        return self._word

    def set_names(self, names: Sequence[str] | None) -> None:
        """Label the places 0, 1, 2 ... with words, None for numbers."""
        self._names = names
        self.picture = None
        self.update()

    def drawPicture(self, p: Any, axisSpec: Any, tickSpecs: Any, textSpecs: Any) -> None:
        """Draw without tick marks: even those of length 0 leave dots."""
        super().drawPicture(p, axisSpec, [], textSpecs)

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        """One level of ticks, about one per 84 px across and 50 px up."""
        low, high = sorted((minVal, maxVal))
        if self._names is not None:
            first, last = max(0, math.ceil(low)), min(len(self._names) - 1, math.floor(high))
            return [(1.0, [float(k) for k in range(first, last + 1)])]
        if self.logMode:
            return self._log_ticks(low, high, size)
        each = _ACROSS if self.orientation in ("bottom", "top") else _UP
        ticks = nice_ticks(low, high, max(3, round(size / each)))
        if self.whole:
            ticks = [t for t in ticks if abs(t - round(t)) < 1e-9]
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        return [(step, ticks)]

    def _log_ticks(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        each = _ACROSS if self.orientation in ("bottom", "top") else _UP
        if len(powers) >= 2:
            skip = max(1, math.ceil(len(powers) / max(3.0, size / each)))
            return [(float(skip), [float(p) for p in powers if p % skip == 0])]
        ends = (low * math.log(10), high * math.log(10))
        ticks = [math.log10(ratio) for ratio in ratio_ticks(*ends, round(size / each)) if ratio > 0]
        return [(0.1, ticks)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Numbers with the decimals of the step, or names."""
        if self._names is not None:
            return [self._names[round(v)] if 0 <= round(v) < len(self._names) else "" for v in values]
        if self.logMode:
            return _log_texts(values)
        if values and max(abs(v) for v in values) >= 1e9:
            return [_short(v) for v in values]
        decimals = step_decimals(spacing)
        if decimals > 6:
            return [_short(v) for v in values]
        return format_ticks(values, decimals)


def _log_texts(values: Sequence[float]) -> list[str]:
    """Powers of ten; what lies between them has the decimals that tell it apart."""
    if all(abs(value - round(value)) < 1e-6 for value in values):
        return [_power(round(value)) for value in values]
    numbers = [10.0**value for value in values]
    steps = [after - before for before, after in pairwise(numbers)]
    if not steps:
        return [_short(number) for number in numbers]
    return [format_fixed(number, step_decimals(min(steps))) for number in numbers]


def _power(whole: int) -> str:
    if -3 <= whole <= 4:
        return format_fixed(10.0**whole, max(0, -whole))
    return "10" + str(whole).translate(_SUPERSCRIPT)


def _short(value: float) -> str:
    from plaidwork.gui.numbers import format_number

    return format_number(value, 3)
