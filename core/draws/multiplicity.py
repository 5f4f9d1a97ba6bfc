"""Many tests at once: p adjusted for how many there are."""

from __future__ import annotations

import numpy as np


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """P adjusted for the false discovery rate, in the shape of ``p``: one family of tests.

    NaN (not tested) stays NaN and does not count. Source: Benjamini and Hochberg (1995), Journal of the Royal
    Statistical Society B 57, 289-300.
    """
    from scipy.stats import false_discovery_control

    known = ~np.isnan(p)
    out: np.ndarray = np.full(p.shape, np.nan)
    out[known] = false_discovery_control(p[known])
    return out


def holm(p: np.ndarray) -> np.ndarray:
    """P adjusted for the chance of any false finding, in the shape of ``p``: one family of tests.

    NaN (not tested) stays NaN and does not count. Source: Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    flat = p.ravel()
    known = np.flatnonzero(~np.isnan(flat))
    out: np.ndarray = np.full(flat.shape, np.nan)
    order = known[np.argsort(flat[known], kind="stable")]
    out[order] = np.minimum(1.0, np.maximum.accumulate(flat[order] * np.arange(len(order), 0, -1)))
    return out.reshape(p.shape)
