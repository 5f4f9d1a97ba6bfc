"""Whether values at times in even steps recur, as with the seasons: by the autocorrelation of what a curved trend leaves."""

from __future__ import annotations

import numpy as np

LEAST = 24
"""Samples from which a season is looked for."""
_PERIODS = 4
"""How often a season is seen at least."""
_CLEAR, _AGAIN = 0.5, 0.5
"""Autocorrelation after one period at least, and how much of it is left after two."""
_AS_GOOD = 0.85
"""Of lags whose autocorrelation is so near to the highest the shortest is the period: a season recurs after two as well."""


_UNEVEN, _ASTRAY = 0.1, 0.25
"""By how much of a step the gap between two times may differ from whole steps, and how far from its place on a grid, in periods, a time may be."""
_ROUNDS = 3
"""How often the mean step is found: with one too short by a tenth, long gaps are taken for too many steps at first."""


def period_of(x: np.ndarray, y: np.ndarray) -> float:
    """After how much of x (n,) values y (n,) recur, in units of x; 0 where they do not, or x does not go in even steps.

    Steps may be left out, and may be as unlike as months and years are. Of white noise, random walks and autoregressions 1 in 200 or fewer
    are said to recur (of 24 values 1 in 80, of 60 steps of which two in five are left out 1 in 35), of smooth random curves 1 in 50.
    """
    order = np.argsort(x)
    places = _on_grid(x[order])
    if len(x) < LEAST or not len(places):
        return 0.0
    values = np.full(places[-1] + 1, np.nan)
    values[places] = _without_trend(x[order], y[order])
    step, first = np.polyfit(places, x[order], 1)
    lag = _lag(values)
    # as calendars do: the hours of common and of leap years have other places in these
    astray = np.abs(x[order] - first - step * places).max() > _ASTRAY * lag * step
    return 0.0 if astray else float(step * lag)


def _on_grid(x: np.ndarray) -> np.ndarray:
    """The numbers (n,) of the steps of a rising x (n,); none where they are uneven, come twice, or more are left out than are there.

    The gaps are compared with the mean step, not the places with a grid: where months of 28 to 31 days are the steps, a step that is a
    little too long would add up.
    """
    gaps = np.diff(x)
    step = float(np.median(gaps)) if len(gaps) else 0.0
    for _ in range(_ROUNDS):
        steps = np.round(gaps / step) if step > 0.0 else np.zeros(0)
        total = float(steps.sum())
        if not 0.0 < total < 2 * len(x) or steps.min() < 1.0:
            return np.zeros(0, np.int64)
        step = float(x[-1] - x[0]) / total
    even = np.abs(gaps / step - steps).max() <= _UNEVEN
    return np.concatenate([[0], np.cumsum(steps)]).astype(np.int64) if even else np.zeros(0, np.int64)


def _without_trend(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What a parabola leaves of y (n,)."""
    at = (x - x.mean()) / x.std()
    return np.asarray(y - np.polyval(np.polyfit(at, y, 2), at))


def _lag(values: np.ndarray) -> int:
    """The period of values (m,) in steps, NaN where one is missing; 0 without one."""
    longest = len(values) // _PERIODS
    lags = np.arange(3, longest + 1)
    if not len(lags):
        return 0
    found = autocorrelation(values, 2 * longest)
    own = found[lags]
    peak = (own >= found[lags - 1]) & (own >= found[lags + 1])
    fell = np.minimum.accumulate(found)[lags] < 0.0
    clear = peak & fell & (own > _CLEAR) & (found[2 * lags] > _AGAIN * own)
    if not clear.any():
        return 0
    first = int(lags[clear & (own >= _AS_GOOD * own[clear].max())][0])
    # the first may be a peak that noise made on the slope of a broad one, as of the 52 weeks of a year
    return first + int(np.argmax(found[first : first + first // 2]))


def autocorrelation(values: np.ndarray, most: int) -> np.ndarray:
    """Of values (m,), NaN where one is missing, at the lags from 0 to ``most`` (most + 1,); all 0 where nothing varies."""
    known = np.isfinite(values)
    products = _at_lags(np.where(known, values, 0.0), most)
    pairs = np.maximum(np.round(_at_lags(known.astype(float), most)), 1.0)
    level = products / pairs
    return level / level[0] if level[0] > 0.0 else np.zeros(most + 1)


def _at_lags(values: np.ndarray, most: int) -> np.ndarray:
    """Sums of products of values (m,) so many steps apart (most + 1,)."""
    size = 1 << (len(values) + most).bit_length()
    spectrum = np.fft.rfft(values, size)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj(), size)[: most + 1])
