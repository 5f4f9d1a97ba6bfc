"""Factor values of new samples, with the fitted weights, intercepts and noise as they are."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, Kept, ModelData, ModelError, Params, Result, Results
from plaidwork.plugins.group_factor import kernels
from plaidwork.plugins.group_factor.imputation import best_chain, last_of
from plaidwork.plugins.group_factor.results import deviance_of, expected, oriented
from plaidwork.plugins.group_factor.sweep import explained
from plaidwork.plugins.group_factor.views import Views, blocks_of, read_views, view_names

PASSES = 20


def new_values(views: Views, blocks: tuple[Block, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(D, n) values and observed of the new samples, features found by name; absent ones are missing."""
    n = blocks[0].shape[0]
    raw, known = np.zeros((len(views.raw), n)), np.zeros((len(views.raw), n))
    names = view_names(blocks)
    for m, name in enumerate(views.names):
        if name in names:
            block = blocks[names.index(name)]
        elif len(names) == len(views.names):
            block = blocks[m]
        else:
            continue
        column = {feature: i for i, feature in enumerate(block.names[1])}
        here = views.place(m)
        for d in range(here.start, here.stop):
            feature = views.features[d].removesuffix(f" ({name})")
            i = column.get(views.features[d], column.get(feature))
            if i is not None:
                known[d] = block.observed[:, i]
                raw[d] = (block.values[:, i] - views.mean[d]) / views.unit[d] * known[d]
        word, values = views.likelihoods[m], raw[here][known[here] > 0]
        bad = (word == "bernoulli" and not np.isin(values, (0, 1)).all()) or (
            word == "poisson" and ((values < 0) | (values % 1 != 0)).any()
        )
        if bad:
            raise ModelError(f"The view “{name}” was fitted as {word}; the new data have other values.")
    if not known.any():
        raise ModelError(
            "The new data share no known feature with the fitted views.",
            "Features are found by view and name.",
        )
    return raw, known


def project(kept: Kept, data: ModelData, new_data: ModelData, params: Params) -> Results:
    """Means and standard deviations of the new samples' factors, and imputed values."""
    best = best_chain(kept)
    if best is None:
        raise ModelError("The fit has kept nothing yet.", "Wait for the first restart to end.")
    views = read_views(data, params)
    draw = last_of(best)
    draw, _ = oriented(draw, explained(deviance_of(views, draw)))
    blocks = blocks_of(new_data)
    raw, known = new_values(views, blocks)
    k, n, d = len(draw["z"]), raw.shape[1], len(raw)
    z, v = np.zeros((k, n)), np.ones((k, n))
    zz = z**2 + v
    w, ww = np.ascontiguousarray(draw["w"]), draw["w"] ** 2 + draw["w_var"]
    kind, mu, mu_var = views.kind.astype(np.int64), draw["intercept"].copy(), draw["intercept_var"].copy()
    soft = kind != kernels.GAUSSIAN
    A, Y, scale = known.copy(), raw.copy(), draw["tau"].copy()
    spare, const = np.ones(d), np.zeros(d)
    index = np.flatnonzero(soft)
    for _ in range(PASSES if soft.any() else 5):
        for row in index:
            kernels.update_local(
                row, row + 1, raw, kind, spare, 1.0, z, zz, w, ww, mu, mu_var, A, Y, scale, spare, const
            )
        for start in range(0, n, 16):
            kernels.update_scores(start, min(n, start + 16), A, Y, scale, mu, w, ww, z, v, zz, -1)
    mean, sd = expected(views, {**draw, "z": z, "z_var": v})
    return {
        "new_scores": Result(z.T, ("new_sample", "factor"), label="Factor value"),
        "new_scores_sd": Result(np.sqrt(v).T, ("new_sample", "factor"), label="SD of factor value"),
        "new_expected": Result(mean.T, ("new_sample", "variable"), label="Expected"),
        "new_expected_sd": Result(sd.T, ("new_sample", "variable"), label="SD"),
    }
