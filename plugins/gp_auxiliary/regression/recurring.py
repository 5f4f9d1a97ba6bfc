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


def period_of(x: np.ndarray, y: np.ndarray) -> float:
    """After how much of x (n,) values y (n,) recur, in units of x; 0 where they do not, or x does not go in even steps.

    Steps may be left out. Of white noise, random walks and autoregressions 1 in 200 or fewer are said to recur, of smooth random curves 1 in 50.
    """
    order = np.argsort(x)
    step, places = _on_grid(x[order])
    if len(x) < LEAST or not len(places):
        return 0.0
    values = np.full(places[-1] + 1, np.nan)
    values[places] = _without_trend(x[order], y[order])
    return step * _lag(values)


def _on_grid(x: np.ndarray) -> tuple[float, np.ndarray]:
    """The step of a rising x (n,) and the numbers (n,) of its steps; none where they are uneven, come twice, or more are left out than are there."""
    step = float(np.median(np.diff(x))) if len(x) > 1 else 0.0
    if not step > 0.0:
        return 0.0, np.zeros(0, np.int64)
    exact = (x - x[0]) / step
    if exact[-1] >= 2 * len(x):
        return 0.0, np.zeros(0, np.int64)
    places = np.round(exact).astype(np.int64)
    even = np.abs(exact - places).max() <= 0.1 and (np.diff(places) > 0).all()
    return step, places if even else places[:0]


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
    return int(lags[clear & (own >= _AS_GOOD * own[clear].max())][0]) if clear.any() else 0


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
