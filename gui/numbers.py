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
    format_duration,
    format_fixed,
    format_interval,
    format_limits,
    format_loss,
    format_number,
    format_percent,
    format_probability,
    format_rate,
    format_ticks,
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
    "format_ticks",
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
