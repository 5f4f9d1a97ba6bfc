"""Numbers as text on the screen: those of ``core/draws/numbers.py``, sizes, times and the ticks of axes.

Fields and files never use this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from plaidwork.core.draws.numbers import (
    MINUS,
    MISSING,
    THIN,
    format_correlation,
    format_count,
    format_fixed,
    format_loss,
    format_number,
    format_percent,
    format_probability,
    format_rate,
    special,
    tidy,
)

__all__ = [
    "MINUS",
    "MISSING",
    "THIN",
    "decimals_by_error",
    "format_by_error",
    "format_bytes",
    "format_correlation",
    "format_count",
    "format_duration",
    "format_fixed",
    "format_interval",
    "format_limits",
    "format_loss",
    "format_number",
    "format_percent",
    "format_probability",
    "format_rate",
    "nice_step",
    "nice_ticks",
    "ratio_ticks",
    "step_decimals",
    "tidy",
]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def format_limits(values: Sequence[float], digits: int = 3) -> list[str]:
    """Show the ends of a scale with the same decimals, as many as the largest needs for `digits` digits; 0 is "0"."""
    sizes = [abs(float(value)) for value in values if value and math.isfinite(value)]
    largest = max(sizes, default=1.0)
    power = math.floor(math.log10(largest))
    if power < -4 or power >= 9:
        return [format_number(value, digits) for value in values]
    decimals = max(digits - 1 - power, 0)
    while decimals and all(abs(round(size, decimals - 1) - size) < 1e-12 * largest for size in sizes):
        decimals -= 1
    return [format_fixed(value, decimals) if value else "0" for value in values]


def format_bytes(count: float) -> str:
    """Show a size in B, kB, MB ... (powers of 1 000)."""
    size = float(count)
    for unit in _UNITS:
        decimals = 1 if unit != "B" and abs(size) < 9.95 else 0
        if round(abs(size), decimals) < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    text = format_fixed(size, decimals)
    return f"{text} {unit}"


def format_duration(seconds: float, *, rough: bool = False) -> str:
    """Show a time: 0.4 s, 40 s, 1 min 12 s, 2 h 5 min, 3 d 4 h.

    `rough` is for time left: whole seconds, above 30 s rounded to 5 s.
    """
    if not math.isfinite(seconds):
        return MISSING
    seconds = max(0.0, float(seconds))
    if seconds < 0.0995 and not rough:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95 and not rough:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if rough and whole > 30:
        whole = 5 * round(seconds / 5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _pair(whole, 60, "min", 1, "s")
    minutes = round(whole / 60)
    if minutes < 24 * 60:
        return _pair(minutes, 60, "h", 1, "min")
    return _pair(round(minutes / 60), 24, "d", 1, "h")


def decimals_by_error(mcse: float) -> int:
    """Decimals that show two digits of a Monte Carlo error; negative before the point."""
    if not math.isfinite(mcse) or mcse <= 0:
        return 2
    return -Decimal(f"{mcse:.1e}").adjusted() + 1


def format_by_error(value: float, mcse: float) -> str:
    """Show an estimate to the last digit that its Monte Carlo error supports.

    Two digits of `mcse` decide: 1.23456 with 0.012 is "1.235", 1234.5 with 25 is "1 234".
    Without a usable error the value has four digits.
    """
    value = float(value)
    if not math.isfinite(value):
        return special(value)
    if not math.isfinite(mcse) or mcse <= 0:
        return format_number(value)
    decimals = decimals_by_error(mcse)
    return format_fixed(round(value, decimals), max(0, min(decimals, 12)))


def format_interval(low: float, high: float, decimals: int = 2) -> str:
    """Show an interval as "0.12 to 0.40"."""
    return f"{format_fixed(low, decimals)} to {format_fixed(high, decimals)}"


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


def _pair(value: int, base: int, big: str, _unit: int, small: str) -> str:
    whole, rest = divmod(value, base)
    return f"{tidy(str(whole))} {big} {rest} {small}" if rest else f"{tidy(str(whole))} {big}"
