"""Numbers as text for people: in headlines, captions, reports, on the screen and on the command line; never in files.

True minus (U+2212), thin spaces between thousands from 1 000 on (along an axis from 10 000 on), a space before units. What is not exactly 0 or 1 never
reads so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MINUS = "\u2212"
THIN = "\u202f"
"""The thin space at which no line is broken."""
MISSING = "–"
ROUNDING = 1e-12
"""What stands nearer to one than this is one: sums of shares and products of unit vectors differ in their last digits from
processor to processor."""


def tidy(text: str) -> str:
    """Turn Python's ``-12345.6`` into what is shown: true minus and thin spaces."""
    sign = text[:1] if text[:1] in "+-" else ""
    whole, dot, rest = text[len(sign) :].partition(".")
    if whole.isdigit() and len(whole) > 3:
        whole = f"{int(whole):,}".replace(",", THIN)
    return sign.replace("-", MINUS) + whole + dot + rest


def format_fixed(value: float, decimals: int, *, sign: bool = False) -> str:
    """Show with a fixed number of decimals; `sign` also writes a plus."""
    if not math.isfinite(value):
        return special(value)
    text = f"{value:{'+' if sign else ''}.{max(decimals, 0)}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return tidy(text)


def format_ticks(values: Sequence[float], decimals: int) -> list[str]:
    """Show the ticks of one axis with the same decimals; without thin spaces where no tick has more than four digits, as years have."""
    texts = [format_fixed(float(value), decimals) for value in values]
    few = all(abs(value) < 9999.5 for value in values)
    return [text.replace(THIN, "") for text in texts] if few else texts


def format_number(value: float, digits: int = 4) -> str:
    """Show with about `digits` significant digits, without trailing zeros."""
    value = float(value)
    if not math.isfinite(value):
        return special(value)
    if value == 0:
        return "0"
    power = math.floor(math.log10(abs(value)))
    if power < -4 or power >= 9:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return tidy(f"{mantissa}e") + tidy(str(int(exponent)))
    text = f"{value:.{max(digits - 1 - power, 0)}f}"
    return tidy(text.rstrip("0").rstrip(".") if "." in text else text)


def format_count(value: float) -> str:
    """Show a whole number."""
    return special(value) if not math.isfinite(value) else tidy(str(round(value)))


def format_amount(value: float) -> str:
    """Show a size inside a sentence: three digits, from 100 on a whole number."""
    return format_number(value, 3) if abs(value) < 100 else format_count(value)


def format_percent(share: float, decimals: int = 0) -> str:
    """Show a share of 1 as per cent; shares that are not quite none or all never read so."""
    if not math.isfinite(share):
        return special(share)
    step = 10.0**-decimals
    if share > 0 and round(share * 100, decimals) == 0:  # a half is rounded to the even 0
        return f"< {step:.{decimals}f} %"
    if 100 - step / 2 <= share * 100 < 100 and 1 - share >= ROUNDING:
        return f"> {100 - step:.{decimals}f} %"
    return format_fixed(share * 100, decimals) + " %"


def format_p(value: float) -> str:
    """Show a p-value in two digits; below 0.001 so."""
    if not math.isfinite(value):
        return special(value)
    return "< 0.001" if value < 0.001 else format_fixed(value, 3 if value < 0.1 else 2)


def format_probability(value: float, decimals: int = 2) -> str:
    """Show a probability, a share or a score from 0 to 1; what is exactly 0 or 1, but for rounding, has no decimals, and nothing else reads so."""
    if not math.isfinite(value):
        return special(value)
    if value == 0 or abs(1 - value) < ROUNDING:
        return f"{value:.0f}"
    step = 10.0**-decimals
    if value > 0 and round(value, decimals) == 0:
        return f"< {step:.{decimals}f}"
    if 1 - step / 2 <= value < 1:
        return f"> {1 - step:.{decimals}f}"
    return format_fixed(value, decimals)


def format_correlation(value: float, decimals: int = 2) -> str:
    """Show a correlation; what is exactly -1 or 1, but for rounding, has no decimals, and nothing else reads so."""
    size = abs(value)
    if abs(1 - size) < ROUNDING:
        return format_count(value)
    step = 10.0**-decimals
    if 1 - step / 2 <= size < 1:
        return f"{'>' if value > 0 else '<'} {format_fixed(math.copysign(1 - step, value), decimals)}"
    return format_fixed(value, decimals)


def format_loss(value: float, decimals: int = 3) -> str:
    """Show what is 0 at best, such as a log loss; what is exactly 0 has no decimals, and nothing else reads so."""
    if value == 0:
        return "0"
    step = 10.0**-decimals
    return f"< {step:.{decimals}f}" if 0 < value < step / 2 else format_fixed(value, decimals)


def format_interval(low: float, high: float, decimals: int = 2) -> str:
    """Show an interval as "0.12 to 0.40"."""
    return f"{format_fixed(low, decimals)} to {format_fixed(high, decimals)}"


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


def column_format(values: np.ndarray, digits: int = 4) -> Callable[[Any], str]:
    """How the values (n,) of a column are written: counts, or numbers that share as many decimals as the largest needs for
    so many digits. None reads 0 that is not, and where all are from 0 to 1, as probabilities are, none reads 1 that is not, and what has
    no digit among the decimals is below the last of them."""
    if values.dtype.kind not in "iuf":
        return str
    finite = values[np.isfinite(values)]
    if values.dtype.kind in "iu" or not finite.size or not np.any(finite % 1):
        return format_count
    sizes = np.abs(finite[finite != 0])
    if sizes.max() >= 1e9 or sizes.max() < 1e-4:
        return format_number
    decimals = int(np.clip(digits - 1 - np.floor(np.log10(sizes.max())), 0, 7))
    while decimals > 0 and np.allclose(np.round(finite, decimals - 1), finite, rtol=0, atol=1e-12):
        decimals -= 1
    least = 0.5 * 10.0**-decimals
    shares = bool(((finite >= 0) & (finite <= 1)).all())

    def shown(value: float) -> str:
        if value == 0 or (shares and not least <= value < 1 - least):
            return format_probability(float(value), decimals)
        small = 0 < abs(value) < least  # which would read as zero
        return format_number(float(value), 2) if small else format_fixed(float(value), decimals)

    return shown


def format_rate(hits: int, count: int, decimals: int = 0) -> str:
    """Show a share with its counts: "5 of 84 (6 %)"; of nothing there is no share."""
    text = f"{format_count(hits)} of {format_count(count)}"
    return f"{text} ({format_percent(hits / count, decimals)})" if count else text


def special(value: float) -> str:
    """Show what is not finite: a missing number as a dash."""
    if math.isnan(value):
        return MISSING
    return "∞" if value > 0 else f"{MINUS}∞"


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


def _pair(value: int, base: int, big: str, _unit: int, small: str) -> str:
    whole, rest = divmod(value, base)
    return f"{tidy(str(whole))} {big} {rest} {small}" if rest else f"{tidy(str(whole))} {big}"
