"""Probability of single ratings given a draw, by which the host leaves ratings out and compares fits."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from plaidwork.core.api import ChainView, ModelData
from plaidwork.plugins.gp_auxiliary.classes.ordinal import edges
from plaidwork.plugins.gp_auxiliary.raters.data import place_ratings, read_table
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings


def log_probability_of_ratings(
    chain: ChainView,
    draws: np.ndarray,
    data: ModelData,
    params: RatedSettings,
    rows: np.ndarray,
    columns: np.ndarray,
) -> np.ndarray:
    """(draws, cells) log probabilities of the ratings in the cells (rows[i], columns[i]); NaN where no rater is named.

    Given f the ratings are independent: ``q ~ N(f + offset, 1 / precision)`` lies between the cut-points of the grade.
    """
    table = read_table(data)
    _frame, ratings = place_ratings(table, params)
    place = _places(data, len(table.code))[rows, columns]
    rated = place >= 0
    item, rater, code = (part[place[rated]] for part in (ratings.item, ratings.rater, ratings.code))
    out = np.full((len(draws), len(rows)), np.nan)
    for s, draw in enumerate(draws.tolist()):
        f, offset, precision, cuts = (chain.draw(n, draw) for n in ("f", "offset", "precision", "cuts"))
        low, high = edges(cuts, code)
        mean, root = f[item] + offset[rater], np.sqrt(precision[rater])
        out[s, rated] = log_between((low - mean) * root, (high - mean) * root)
    return out


def _places(data: ModelData, count: int) -> np.ndarray:
    """(n, columns) number of the rating in every cell, as in :class:`Ratings`; -1 where there is none."""
    block = data["ratings"]
    known = np.array(block.observed)
    if "rater" in data:
        known &= data["rater"].observed[:, None]
    found = np.full(known.shape, -1)
    found[known] = np.arange(count)
    return found


def log_between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Log probability (...) that a standard normal value lies between, low < high; right in both tails."""
    turned = low > 0
    a, b = np.where(turned, -high, low), np.where(turned, -low, high)
    top = log_ndtr(b)
    return np.asarray(top + np.log(-np.expm1(np.minimum(log_ndtr(a) - top, -1e-300))))
