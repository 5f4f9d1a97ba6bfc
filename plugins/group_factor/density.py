"""Density of single cells given draws of weights and factor values from q, by which the host compares fits."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from plaidwork.core.api import ChainView, ModelData
from plaidwork.plugins.group_factor.imputation import last_of, unit_of
from plaidwork.plugins.group_factor.state import Settings
from plaidwork.plugins.group_factor.views import (
    blocks_of,
    group_means,
    groups_of,
    likelihoods_of,
    usable_columns,
)

N_DRAWS = 200
_LEAST_RATE = 1e-12


def log_density_of_cells(
    chain: ChainView, data: ModelData, params: Settings, place: int, rows: np.ndarray
) -> np.ndarray:
    """(200, rows, m) log densities of the cells of a view at draws from q; NaN of missing cells and of features left out.

    Noise precisions and the means of Gaussian views are as fitted: they rest on many cells. Constant of the seed.
    """
    blocks = blocks_of(data)
    words = likelihoods_of(blocks, params["likelihoods"])
    groups, group = groups_of(data)
    block, word = blocks[place], words[place]
    usable = usable_columns(block, word, group)
    before = sum(
        len(usable_columns(one, kind, group)) for one, kind in zip(blocks[:place], words[:place], strict=True)
    )
    at = np.arange(before, before + len(usable))
    values = np.asarray(block.values if block.truth is None else block.truth, dtype=float)[
        np.ix_(rows, usable)
    ]
    known = block.observed if block.held_out is None else block.observed | block.held_out
    out = np.full((N_DRAWS, len(rows), block.shape[1]), np.nan)
    draw = last_of(chain)
    if word == "gaussian":
        unit = unit_of(block, usable, group, len(groups)) if params["scale_views"] else 1.0
        seen, fitted = block.observed[:, usable].T, np.asarray(block.values)[:, usable].T
        centre = group_means(fitted, seen, group, len(groups))[group[rows]]
        noise = unit / np.sqrt(draw["tau"][group[rows]][:, at])
    for s in range(N_DRAWS):
        x = _linear(draw, at, rows, np.random.default_rng(s))
        if word == "gaussian":
            gap = (values - centre - unit * x) / noise
            density = -0.5 * gap**2 - np.log(noise) - 0.5 * np.log(2 * np.pi)
        elif word == "poisson":
            rate = np.maximum(np.logaddexp(0.0, x), _LEAST_RATE)
            density = values * np.log(rate) - rate - gammaln(values + 1.0)
        else:
            density = values * x - np.logaddexp(0.0, x)
        out[s][:, usable] = density
    out[:, ~known[rows]] = np.nan
    return out


def _linear(
    draw: dict[str, np.ndarray], at: np.ndarray, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """x (rows, m) of a draw of factor values, weights and intercepts from q; the same for the same generator."""
    z = draw["z"] + np.sqrt(draw["z_var"]) * rng.standard_normal(draw["z"].shape)
    share, mean = draw["inclusion"], draw["w"]
    on = rng.random(share.shape) < share
    safe = np.maximum(share, 1e-12)
    slab = mean / safe
    spread = np.sqrt(np.maximum((draw["w_var"] + mean**2) / safe - slab**2, 0.0))
    w = on * (slab + spread * rng.standard_normal(share.shape))
    mu = draw["intercept"] + np.sqrt(draw["intercept_var"]) * rng.standard_normal(draw["intercept"].shape)
    return np.asarray(mu[at] + z[:, rows].T @ w[:, at])
