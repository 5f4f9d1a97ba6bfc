"""What the fit expects in single cells, on the scale of the data; computed for the columns that are asked for."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ChainView, Kept, ModelData
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


def best_chain(kept: Kept) -> ChainView | None:
    """The restart with the highest bound."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    return max(chains, key=lambda chain: float(chain.kept_trace("elbo")[-1]), default=None)


def last_of(chain: ChainView) -> dict[str, np.ndarray]:
    """The variables of the last draw."""
    return {v.name: chain.draw(v.name, chain.n_draws - 1) for v in chain._draws.variables}


def linear(draw: dict[str, np.ndarray], group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """<x> and Var x, (D, N); ``group`` (N,) of the samples."""
    z, w = draw["z"], draw["w"]
    mu, mu_var = drawn(draw), drawn(draw, "intercept_var")
    mean = mu.T[:, group] + w.T @ z
    second_z, second_w = z**2 + draw["z_var"], w**2 + draw["w_var"]
    spread = second_w.T @ second_z - (w**2).T @ z**2 + mu_var.T[:, group]
    return mean, np.maximum(spread, 0.0)


def on_data_scale(
    word: str, mean: np.ndarray, spread: np.ndarray, tau: np.ndarray, centre: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of cells, (D, N), noise included; from <x> and Var x, (D,) units, and noise precisions and
    centres (D, N) or (D, 1).

    Of counts as logarithms, <x> is of log(1 + count), whose exponential is log-normal. A 1 has the probability sigma(<x> / sqrt(1 + pi Var x / 8)). The variance of a count is that of its Poisson law and
    of its rate softplus(x), to first order.
    """
    if word in ("gaussian", "log"):
        mean, sd = mean * unit[:, None] + centre, np.sqrt(spread + 1 / tau) * unit[:, None]
        return (mean, sd) if word == "gaussian" else of_logarithms(mean, sd)
    if word == "poisson":
        rate, slope = np.logaddexp(0, mean), 1 / (1 + np.exp(-np.clip(mean, -700, 700)))
        return rate, np.sqrt(rate + slope**2 * spread)
    one = 1 / (1 + np.exp(-np.clip(mean / np.sqrt(1 + np.pi * spread / 8), -700, 700)))
    return one, np.sqrt(one * (1 - one))


def of_logarithms(mean: np.ndarray, sd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of y where log(1 + y) is Gaussian with these."""
    variance = np.minimum(sd**2, 300.0)  # beyond lie numbers that cannot be written
    whole = np.exp(np.minimum(mean + 0.5 * variance, 300.0))
    return whole - 1.0, whole * np.sqrt(np.expm1(variance))


def fitted_columns(
    kept: Kept, data: ModelData, params: Settings, view: int, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (N, len(columns)) of columns of a view, by the best restart.

    A feature that is not fitted, being constant, is expected to be so; what was never observed is NaN.
    """
    blocks = blocks_of(data)
    words = likelihoods_of(blocks, params)
    blocks, laws = zip(*map(as_fitted, blocks, words), strict=True)
    groups, group = groups_of(data)
    block, word = blocks[view], words[view]
    n = block.shape[0]
    known = block.observed[:, columns].T
    centre = group_means(block.values[:, columns].T, known, group, len(groups)).T[:, group]
    centre[~known.any(axis=1)] = np.nan
    mean, sd = (np.expm1(centre) if word == "log" else centre).T.copy(), np.full((n, len(columns)), np.nan)
    best = best_chain(kept)
    if best is None:
        return mean, sd
    before = sum(
        len(usable_columns(one, kind, group)) for one, kind in zip(blocks[:view], laws[:view], strict=True)
    )
    usable = usable_columns(block, laws[view], group)
    index = np.searchsorted(usable, columns)
    found = index < len(usable)
    found[found] = usable[index[found]] == columns[found]
    at = before + index[found]
    whole = last_of(best)
    draw = {name: whole[name] for name in ("z", "z_var")}
    draw |= {name: whole[name][:, at] for name in ("w", "w_var")}
    draw |= {f"group_{name}": drawn(whole, name)[:, at] for name in ("intercept", "intercept_var")}
    x, spread = linear(draw, group)
    unit = np.ones(len(at))
    if laws[view] == "gaussian":
        unit = units_of(moments(block, group), usable, params)[index[found]]
    shift = centre[found] * params["centre_views"]
    y, noise = on_data_scale(word, x, spread, whole["tau"][:, at].T[:, group], shift, unit)
    mean[:, found], sd[:, found] = y.T, noise.T
    return mean, sd
