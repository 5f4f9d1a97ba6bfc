"""After how much of a single input values recur, as calendars have it, and in words."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import agree, format_number
from plaidwork.plugins.gp_auxiliary.regression.recurring import period_of

_YEARS = frozenset({"years", "year", "yr", "jahr", "jahre"})
"""Units, and titles of inputs in lower case, that say that an input is counted in years."""
_PARTS, _NEAR = (1.0, 0.5, 0.25), 0.04
"""Seasons of a calendar, in years, and how near to one a period is that: 51 to 54 weeks are one year."""
_DAYS = 365.2425
"""Of a year, on average."""


def first_season(x: np.ndarray, values: np.ndarray, unit: str, title: str) -> tuple[float, int]:
    """The period of the first output of (n, P) that recurs along x (n,), in units of x, and its number; 0 and 0 where none does.

    Values that are not known, or not fitted, are NaN. ``unit`` and ``title`` are those of x.
    """
    for number, column in enumerate(values.T):
        known = np.isfinite(column)
        period = period_of(x[known], column[known])
        if period:
            year = {"years": 1.0, "days": _DAYS}.get(_unit_of(unit, title), 0.0)
            seasons = [part * year for part in _PARTS]
            near = [season for season in seasons if abs(period - season) < _NEAR * season]
            return (near[0] if near else period), number
    return 0.0, 0


def _unit_of(unit: str, title: str) -> str:
    """In what an input is counted, where that is known: years or days; else empty."""
    if unit in _YEARS or title.strip().lower() in _YEARS:
        return "years"
    return "days" if unit == "days" else ""


def recurs_text(name: str, period: float, unit: str, title: str) -> str:
    """That values of this name recur, as a sentence, in the largest unit of time of which the period is one or more."""
    unit = _unit_of(unit, title)
    if not unit:
        return f"“{name}” seems to recur after about {format_number(period, 3)} in units of “{title}”."
    spans = period if unit == "years" else period / _DAYS
    years, months, days, hours = (_rounded(spans * parts) for parts in (1.0, 12.0, _DAYS, 24.0 * _DAYS))
    if years >= 1.0:
        return f"“{name}” seems to recur after about {format_number(years)} {agree(years, 'year', 'years')}."
    if months >= 1.0:
        return (
            f"“{name}” seems to recur after about {format_number(months)} {agree(months, 'month', 'months')}."
        )
    if days >= 1.0:
        return f"“{name}” seems to recur after about {format_number(days)} {agree(days, 'day', 'days')}."
    return f"“{name}” seems to recur after about {format_number(hours)} {agree(hours, 'hour', 'hours')}."


def _rounded(span: float) -> float:
    """To two digits: it is not known better."""
    return float(f"{span:.2g}")
