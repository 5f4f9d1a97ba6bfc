"""Density of single cells given draws of weights and factor values from q, by which the host compares fits."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, log_ndtr

from plaidwork.core.api import ChainView, ModelData
from plaidwork.plugins.group_factor.imputation import last_of
from plaidwork.plugins.group_factor.inputs import (
    as_fitted,
    blocks_of,
    group_means,
    groups_of,
    likelihoods_of,
)
from plaidwork.plugins.group_factor.intercepts import drawn
from plaidwork.plugins.group_factor.reading import moments, units_of, usable_columns
from plaidwork.plugins.group_factor.state import Settings

N_DRAWS = 200
_LEAST_RATE = 1e-12
LEAST_LOG = -1e6
"""Where both ends of a count lie so far out that their difference is lost."""


def log_density_of_cells(
    chain: ChainView, data: ModelData, params: Settings, view: int, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """(200, cells) log densities of the cells (rows[i], columns[i]) of a view at draws from q; NaN of features left out.

    Noise precisions and the means of Gaussian views are as fitted: they rest on many cells.
    """
    blocks = blocks_of(data)
    words = likelihoods_of(blocks, params)
    counts = blocks[view]
    blocks, laws = zip(*map(as_fitted, blocks, words), strict=True)
    groups, group = groups_of(data)
    block, word, law = blocks[view], words[view], laws[view]
    usable = usable_columns(block, law, group)
    before = sum(
        len(usable_columns(one, kind, group)) for one, kind in zip(blocks[:view], laws[:view], strict=True)
    )
    index = np.minimum(np.searchsorted(usable, columns), max(len(usable) - 1, 0))
    fitted = usable[index] == columns if len(usable) else np.zeros(len(columns), bool)
    row, column, at = rows[fitted], columns[fitted], before + index[fitted]
    values = np.asarray((counts.values if counts.truth is None else counts.truth)[row, column], dtype=float)
    out = np.full((N_DRAWS, len(rows)), np.nan)
    draw = last_of(chain)
    if law == "gaussian":
        unit = units_of(moments(block, group), usable, params)[index[fitted]]
        known, seen = block.observed[:, column].T, np.asarray(block.values)[:, column].T
        means = group_means(seen, known, group, len(groups))
        centre = means[group[row], np.arange(len(row))] * params["centre_views"]
        noise = unit / np.sqrt(draw["tau"][group[row], at])
    for s in range(N_DRAWS):
        x = _linear(draw, at, row, group, np.random.default_rng(s))
        if word == "gaussian":
            gap = (values - centre - unit * x) / noise
            out[s, fitted] = -0.5 * gap**2 - np.log(noise) - 0.5 * np.log(2 * np.pi)
        elif word == "log":
            out[s, fitted] = log_share_of_counts(values, centre + unit * x, noise)
        elif word == "poisson":
            rate = np.maximum(np.logaddexp(0.0, x), _LEAST_RATE)
            out[s, fitted] = values * np.log(rate) - rate - gammaln(values + 1.0)
        else:
            out[s, fitted] = values * x - np.logaddexp(0.0, x)
    return out


def log_share_of_counts(counts: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Log probability of whole numbers from 0 on that are rounded values y with log(1 + y) Gaussian; of 0 all that is below one half."""
    low = np.where(counts > 0, (np.log(counts + 0.5) - mean) / sd, -np.inf)
    high = (np.log(counts + 1.5) - mean) / sd
    turned = low > 0  # the side on which the tails are not rounded to 1
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    most = log_ndtr(high)
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(log_ndtr(low) - most, 0.0)))
    return np.asarray(np.maximum(most + rest, LEAST_LOG))


def _linear(
    draw: dict[str, np.ndarray], at: np.ndarray, rows: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """x (cells,) of a draw of factor values, weights and intercepts from q; the same for the same generator."""
    z = draw["z"] + np.sqrt(draw["z_var"]) * rng.standard_normal(draw["z"].shape)
    share, mean = draw["inclusion"], draw["w"]
    on = rng.random(share.shape) < share
    safe = np.maximum(share, 1e-12)
    slab = mean / safe
    spread = np.sqrt(np.maximum((draw["w_var"] + mean**2) / safe - slab**2, 0.0))
    w = on * (slab + spread * rng.standard_normal(share.shape))
    centre, spread = drawn(draw), np.sqrt(drawn(draw, "intercept_var"))
    same = len(np.unique(centre, axis=0)) == 1
    noise = rng.standard_normal(centre[:1].shape if same else centre.shape)
    mu = centre + spread * noise
    return np.asarray(mu[group[rows], at] + (z[:, rows] * w[:, at]).sum(axis=0))
