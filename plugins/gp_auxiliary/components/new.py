"""New samples of binary principal components: their scores, and the probabilities of their cells."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from plaidwork.core.api import Kept, ModelData, ModelError, Result, Results, counted
from plaidwork.core.numerics.used_draws import ByChain, draws_text, spread, standard_error
from plaidwork.plugins.gp_auxiliary.components.axes import affordable, turned_draws
from plaidwork.plugins.gp_auxiliary.kernels import binary

_WARMUP, _ROUNDS = 10, 4
_SEED = 20140510


def predict_rows(kept: Kept, data: ModelData, new_data: ModelData) -> Results:
    """Scores (m, K) in the axes of the fit and probabilities of a 1 (m, features). Raises ``ModelError`` for other features.

    For draws of means and loadings (all, or as many as the work allows, spread over the chains) the scores are drawn given the known cells, by a short chain
    each. Features are found by name; those that the new samples lack are missing cells, further ones are passed over.
    """
    y, known = _in_order(data, new_data)
    rng = np.random.Generator(np.random.PCG64DXSM(_SEED))
    draws = turned_draws(kept)
    size = draws[0].scores.shape[1]
    most = affordable((_WARMUP + 2 * _ROUNDS) * 30.0 * y.size * size)
    if most < len(draws):
        draws = [draws[i] for i in np.sort(spread(len(draws))[:most])]
    scores, squares = np.zeros((len(y), size)), np.zeros((len(y), size))
    share, z = ByChain([chain.n_draws for chain in kept.chains]), np.zeros(y.shape)
    for draw in draws:
        x, w = np.zeros((len(y), size)), np.ascontiguousarray(draw.loadings)
        binary.draw_rows(rng, 0, len(y), _WARMUP, y, known, x, w, draw.mean, z)
        for _ in range(_ROUNDS):
            binary.draw_rows(rng, 0, len(y), 2, y, known, x, w, draw.mean, z)
            scores += x
            squares += x**2
            share.add(*draw.place, ndtr(draw.mean + x @ w.T))
    count = len(draws) * _ROUNDS
    scores = scores / count
    error = float(standard_error(share.chains(), share.batches()).max(initial=0.0))
    reached = f"; the largest Monte Carlo error of a probability is {error:.3f}" if np.isfinite(error) else ""
    return {
        "caption": f"Averaged over {draws_text(len(draws), kept.n_draws)}{reached}.",
        "scores": Result(scores, ("sample", "component"), label="scores"),
        "scores_sd": Result(
            np.sqrt(np.maximum(squares / count - scores**2, 0.0)),
            ("sample", "component"),
            label="sd of the scores",
        ),
        "probability": Result(share.mean(), ("sample", "feature"), label="probability of a 1"),
    }


def _in_order(data: ModelData, new_data: ModelData) -> tuple[np.ndarray, np.ndarray]:
    """Cells and known ones (m, features) of the new samples in the order of the fit."""
    old, new = data["Y"], new_data["Y"]
    names = {name: j for j, name in enumerate(new.names[1])}
    shared = [(j, names[name]) for j, name in enumerate(old.names[1]) if name in names]
    if not shared:
        raise ModelError(
            f"The new samples have none of the {counted(len(old.names[1]), 'feature')} of the fit.",
            "Features are found by name.",
        )
    values, observed = np.asarray(new.values), np.asarray(new.observed)
    known = np.zeros((len(values), len(old.names[1])), dtype=bool)
    y = np.zeros(known.shape, dtype=bool)
    for j, k in shared:
        known[:, j] = observed[:, k]
        y[:, j] = values[:, k] > 0.5
    return y, known
