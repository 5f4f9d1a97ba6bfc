"""Factor values of new samples, with the fitted weights, intercepts and noise as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaidwork.core.api import Block, Kept, ModelData, ModelError, Result, Results
from plaidwork.plugins.group_factor.along import prior_of_new
from plaidwork.plugins.group_factor.deviance import deviance_of, sums_of
from plaidwork.plugins.group_factor.imputation import best_chain, last_of
from plaidwork.plugins.group_factor.inputs import NAMES, blocks_of, groups_of, places_of, view_names
from plaidwork.plugins.group_factor.intercepts import drawn
from plaidwork.plugins.group_factor.kernels import BERNOULLI, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.results import expected, oriented
from plaidwork.plugins.group_factor.smooth import update_new
from plaidwork.plugins.group_factor.state import Cells, Predictor, Settings
from plaidwork.plugins.group_factor.updates import update_scores, update_zeta
from plaidwork.plugins.group_factor.views import Views, read_views
from plaidwork.plugins.group_factor.weak import explained

PASSES = 20
Draw = dict[str, np.ndarray]


def new_values(views: Views, blocks: tuple[Block, ...], group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D, n) values and observed of the new samples of these groups, features found by name; absent ones are missing."""
    n = blocks[0].shape[0]
    raw, known = np.zeros((len(views.view), n)), np.zeros((len(views.view), n))
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
                raw[d] = block.values[:, i] * known[d]
        word, values = views.likelihoods[m], raw[here][known[here] > 0]
        bad = (word == "bernoulli" and not np.isin(values, (0, 1)).all()) or (
            word in ("poisson", "log") and ((values < 0) | (values % 1 != 0)).any()
        )
        if bad:
            raise ModelError(
                f"The view “{name}” was fitted as {NAMES[word]}; the new data have other values."
            )
        cells = np.log1p(raw[here]) if word == "log" else raw[here]
        raw[here] = (cells - views.mean[:, here].T[:, group]) / views.unit[here, None] * known[here]
    if not known.any():
        raise ModelError(
            "The new data share no known feature with the fitted views.",
            "Features are found by view and name.",
        )
    return raw, known


def new_groups(views: Views, new_data: ModelData, n: int) -> np.ndarray:
    """(n,) the groups of the new samples among those of the fit. Raises ``ModelError`` for one that is not known."""
    if len(views.groups) == 1:
        return np.zeros(n, np.int64)
    if "groups" not in new_data:
        raise ModelError(
            "The fit has sample groups; the new samples need theirs.", f"Groups: {', '.join(views.groups)}."
        )
    names, group = groups_of(new_data)
    for name in names:
        if name not in views.groups:
            raise ModelError(
                f"The fit knows no sample group “{name}”.", f"Groups: {', '.join(views.groups)}."
            )
    return np.array([views.groups.index(name) for name in names])[group]


def _state_of(views: Views, draw: Draw, raw: np.ndarray, known: np.ndarray, group: np.ndarray) -> Predictor:
    """What the updates of z and zeta read, for new samples; weights, intercepts and noise as fitted."""
    k, n = len(draw["z"]), raw.shape[1]
    kinds = [
        int(views.kind[views.place(m)][0]) if (views.view == m).any() else GAUSSIAN
        for m in range(len(views.names))
    ]
    sizes = [int((views.view == m).sum()) for m in range(len(views.names))]
    mu, mu_var = (drawn(draw, name).copy() for name in ("intercept", "intercept_var"))
    if len(mu) == 1:
        mu, mu_var = mu[0], mu_var[0]
    cells: dict[str, Cells] = {}
    for m, kind in enumerate(kinds):
        here = views.place(m)
        cells[str(m)] = {"y": raw[here].copy(), "known": known[here].astype(np.uint8)}
        if kind != GAUSSIAN:
            y = np.where(known[here] > 0, raw[here], -1)
            cells[str(m)] = {"y": y if kind == POISSON else y.astype(np.int8)}
            cells[str(m)]["T" if kind == BERNOULLI else "B"] = np.zeros(raw[here].shape)
    return {
        "kinds": np.array(kinds), "level": np.zeros(len(kinds), bool), "first": np.concatenate([[0], np.cumsum(sizes)]),
        "cells": cells, "single": 0, "float": np.zeros(0), "group": group, "scale": draw["tau"],
        "z": np.zeros((k, n)), "v": np.ones((k, n)), "zz": np.ones((k, n)), "w": np.ascontiguousarray(draw["w"]),
        "ww": draw["w"] ** 2 + draw["w_var"], "mu": mu, "mu_var": mu_var,
        "const": np.zeros(len(raw)), "lik": np.zeros(len(raw)),
        "score_shape": draw["score_precision"], "score_rate": np.ones_like(draw["score_precision"]),
    }  # fmt: skip


def project(kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
    """Means and standard deviations of the new samples' factors, and imputed values."""
    best = best_chain(kept)
    if best is None:
        raise ModelError("The fit has kept nothing yet.", "Wait for the first restart to end.")
    views = read_views(data, params)
    draw = last_of(best)
    draw, _ = oriented(draw, explained(deviance_of(views, draw, sums_of(views, draw))))
    blocks = blocks_of(new_data)
    group = new_groups(views, new_data, blocks[0].shape[0])
    raw, known = new_values(views, blocks, group)
    state = _state_of(views, draw, raw, known, group)
    places = places_of(data)
    if places is not None:
        before = prior_of_new(draw, places, places_of(new_data), raw.shape[1])
    for _ in range(PASSES if (views.kind != GAUSSIAN).any() else 5):
        update_zeta(state)
        if places is None:
            update_scores(state, 0, raw.shape[1])
        else:
            update_new(state, *before)
    z, v = state["z"], state["v"]
    mean, sd = expected(replace(views, group=group), {**draw, "z": z, "z_var": v})
    return {
        "new_scores": Result(z.T, ("new_sample", "factor"), label="Factor value"),
        "new_scores_sd": Result(np.sqrt(v).T, ("new_sample", "factor"), label="SD of factor value"),
        "new_expected": Result(mean.T, ("new_sample", "variable"), label="Expected"),
        "new_expected_sd": Result(sd.T, ("new_sample", "variable"), label="SD"),
    }
