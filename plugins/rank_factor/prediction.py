"""New samples: placed among the training values, everything else as in the fit."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ChainView, Kept, ModelData, ModelError, Result, Results
from plaidwork.core.numerics.used_draws import ByChain, draws_text, rounds, standard_error
from plaidwork.plugins.rank_factor.boundary import boundary_of, is_process
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.newcomers import draw_new, new_terms
from plaidwork.plugins.rank_factor.posterior import align, class_probabilities, class_share, display_order
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import NewCells, Setup, new_cells
from plaidwork.plugins.rank_factor.state import Draw, SamplerSettings, Settings
from plaidwork.plugins.rank_factor.vb_posterior import best_chain, factors_of, predict_cells

FIRST_UPDATES, MORE_UPDATES = 15, 3
FIRST_DRAWS, WANTED, MOST_WORK = 200, 0.005, 1e11
PART_CELLS = 200_000
SEED = 0
"""Of the generator: predictions are repeatable, and a fit is over when they are made."""


def cells_by_name(setup: Setup, block: Block, new: Block) -> NewCells:
    """Cells (d, M) of the fitted features, found by name; those the new data lack are missing."""
    column = {name: i for i, name in enumerate(new.names[1])}
    wanted = [block.names[1][row] for row in setup.rows]
    there = [i for i, name in enumerate(wanted) if name in column]
    if not there:
        raise ModelError(
            "The new data share no feature with the fitted ones.",
            f"Features are found by name, such as “{wanted[0]}”.",
        )
    x, known = np.zeros((len(wanted), new.shape[0])), np.zeros((len(wanted), new.shape[0]), bool)
    position = [column[wanted[i]] for i in there]
    x[there], known[there] = new.values[:, position].T, new.observed[:, position].T
    return new_cells(setup, x * known, known)


def _results(setup: Setup, z: np.ndarray, f: np.ndarray, probability: np.ndarray) -> Results:
    return {
        "new_scores": Result(z, ("new_sample", "factor"), label="Factor score"),
        "new_decision": Result(f, ("new_sample", "classifier"), label="Value of the classifier"),
        "new_probability": Result(probability, ("new_sample", "class"), label="Probability"),
        "new_class": Result(
            np.array(setup.classes)[probability.argmax(axis=1)], ("new_sample",), label="Predicted class"
        ),
    }


def predict_by_draws(
    kept: Kept, data: ModelData, new_data: ModelData, setup: Setup, params: SamplerSettings
) -> Results:
    """Mean scores over draws; probabilities as in the fit.

    ``FIRST_DRAWS``, and as many more as bring the largest Monte Carlo error of a probability below ``WANTED``, while that is
    not too much work.
    """
    if not kept.n_draws:
        raise ModelError("The fit has kept no draw yet.", "Wait for the end of the warm-up.")
    cells = cells_by_name(setup, data["X"], new_data["X"])
    rng = np.random.Generator(np.random.PCG64DXSM(SEED))
    eps, chains = step_margin(setup, params), [chain for chain in kept.chains if chain.n_draws]
    counts = [chain.n_draws for chain in chains]
    reference = chains[0].draw("loadings", 0)
    shares, values, scores = ByChain(counts), ByChain(counts, 1), ByChain(counts, 1)
    z = [np.zeros((cells.size, reference.shape[1])) for _ in chains]
    cost, fresh, error = MORE_UPDATES * 30.0 * cells.size * reference.size, True, np.inf
    for part in rounds(counts, FIRST_DRAWS):
        for c, index in ((c, int(index)) for c, draws in enumerate(part) for index in draws):
            draw = _draw_of(chains[c], index, setup, params)
            for _ in range(FIRST_UPDATES if fresh and index == part[c][0] else MORE_UPDATES):
                f = _update(draw, setup, cells, z[c], eps, rng)
            order, signs = align(chains[c].draw("loadings", index), reference)
            shares.add(c, index, class_share(f))
            values.add(c, index, f)
            scores.add(c, index, z[c][:, order] * signs)
        fresh, error = False, float(standard_error(shares.chains(), shares.batches()).max(initial=0.0))
        if error <= WANTED or 2 * shares.taken * cost > MOST_WORK:
            break
    order, signs = display_order(reference)
    reached = f"; the largest Monte Carlo error of a probability is {error:.3f}" if np.isfinite(error) else ""
    caption = f"Averaged over {draws_text(shares.taken, sum(counts))}{reached}."
    return _results(setup, scores.mean()[:, order] * signs, values.mean(), shares.mean()) | {
        "caption": caption
    }


def _draw_of(chain: ChainView, index: int, setup: Setup, params: SamplerSettings) -> Draw:
    rows, train = setup.rows, setup.train
    draw: Draw = {
        "a": np.ascontiguousarray(chain.draw("loadings", index)[rows]),
        "z": np.ascontiguousarray(chain.draw("scores", index)[train]),
        "c": np.ascontiguousarray(chain.draw("thresholds", index)[rows]),
        "gamma": chain.draw("noise", index)[rows],
        "beta": chain.draw("beta", index),
        "mu": chain.draw("group_mean", index),
        "psi": chain.draw("group_precision", index),
        "log_weight": chain.draw("log_weight", index),
    }
    if is_process(params):
        draw["boundary"] = boundary_of(draw["z"], draw["beta"][0], setup, params)
    return draw


def _update(
    draw: Draw, setup: Setup, cells: NewCells, z: np.ndarray, eps: float, rng: np.random.Generator
) -> np.ndarray:
    """One update of kappa, t and z of all new samples; the values of the classifiers."""
    d, k = draw["a"].shape
    precision, linear = np.zeros((len(z), packed_size(k))), np.zeros((len(z), k))
    step = max(1, PART_CELLS // len(z))
    for lo in range(0, d, step):
        p, h = new_terms(draw, setup, cells, z, eps, lo, min(d, lo + step), rng)
        precision += p
        linear += h
    return draw_new(draw, setup, z, precision, linear, rng)


def predict_by_q(kept: Kept, data: ModelData, new_data: ModelData, setup: Setup, params: Settings) -> Results:
    """Means under q; probabilities as if the values of the classifiers were normal."""
    chain = best_chain(kept)
    if chain is None:
        raise ModelError("The fit has kept nothing yet.", "Wait for the first restart to end.")
    cells = cells_by_name(setup, data["X"], new_data["X"])
    z, _, f, sd = predict_cells(factors_of(chain, setup), setup, cells, params)
    order, signs = display_order(chain.draw("loadings", chain.n_draws - 1))
    return _results(setup, z[:, order] * signs, f, class_probabilities(f, sd))
