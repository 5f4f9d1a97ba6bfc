"""Numbers as text on the screen: those of ``core/draws/numbers.py``, the ticks of ``core/pictures/scales.py``, sizes and times.

Fields and files never use this module.
"""

from __future__ import annotations

import math
from decimal import Decimal

from plaidwork.core.draws.numbers import (
    MINUS,
    MISSING,
    THIN,
    format_correlation,
    format_count,
    format_fixed,
    format_limits,
    format_loss,
    format_number,
    format_percent,
    format_probability,
    format_rate,
    special,
    tidy,
)
from plaidwork.core.pictures.scales import nice_step, nice_ticks, ratio_ticks, step_decimals

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


def _pair(value: int, base: int, big: str, _unit: int, small: str) -> str:
    whole, rest = divmod(value, base)
    return f"{tidy(str(whole))} {big} {rest} {small}" if rest else f"{tidy(str(whole))} {big}"
