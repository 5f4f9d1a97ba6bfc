"""All results of a fit, from the one form that both algorithms give (``posterior``)."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData, Params, Result, Results, Table
from plaidwork.plugins.rank_factor.classification import classification
from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.similarity import network, top_places

IN_USE = 0.05
"""Share of the strongest factor's size from which a factor counts as in use."""
MOST_LISTED = 20_000


def summarise_posterior(posterior: Posterior, data: ModelData, setup: Setup, params: Params) -> Results:
    """Results by name; see ``spec`` for the views that show them."""
    block: Block = data["X"]
    names = np.array(block.names[1])
    size = np.sqrt((posterior.loadings**2).mean(axis=1))
    labels = np.array([f"Factor {k + 1}" for k in range(len(size))])
    results: Results = {
        **classification(posterior, setup, block),
        "caption": _caption(posterior, setup, params, size),
        "factor": Result(labels, ("factor",), label="Factor"),
        "feature": Result(names, ("feature",), label="Feature"),
        "sample": Result(np.array(block.names[0]), ("sample",), label="Sample"),
        "loadings": Result(posterior.loadings, ("factor", "feature"), label="Loading"),
        "loading_interval": Result(
            posterior.loading_interval, ("factor", "feature", "side"), label="95 % interval"
        ),
        "top_features": _top_features(posterior, labels, names, params),
        "scores": Result(posterior.scores, ("sample", "factor"), label="Factor score"),
        "scores_sd": Result(posterior.scores_sd, ("sample", "factor"), label="SD of factor score"),
        "sample_class": Result(
            np.array([*setup.classes, "no label"])[setup.codes], ("sample",), label="Class"
        ),
        "factors": _factor_table(posterior, setup, labels, size),
        **_classifiers(posterior, setup),
        **network(posterior, setup.rows, names, params),
        **_rank_fit(posterior, setup, block, params),
        "agreement": _agreement(posterior, setup, block, params),
    }
    if params["image_shape"]:
        height, width = (int(side) for side in params["image_shape"])
        images = posterior.loadings.reshape(-1, height, width)
        results["loading_images"] = Result(images, ("factor", "image_row", "image_column"), label="Loading")
    return results


def _caption(posterior: Posterior, setup: Setup, params: Params, size: np.ndarray) -> str:
    kind = {"gaussian": "values", "levels": "ranks with thresholds", "pairs": "ranks between samples"}
    used = int((size > IN_USE * max(size.max(), 1e-300)).sum())
    text = f"From {kind[setup.likelihood]}; {used} of {len(size)} factors in use"
    if len(posterior.group_size) > 1:
        text += f"; {int((posterior.group_size > 0.01).sum())} groups of samples"
    if not len(setup.test):
        text += "; no test samples, so the errors are those of the fitted ones"
    return text + "."


def _top_features(posterior: Posterior, labels: np.ndarray, names: np.ndarray, params: Params) -> Table:
    n_top = max(1, min(params["n_top"], MOST_LISTED // len(labels)))
    places = top_places(posterior.loadings, n_top)
    factor = np.repeat(np.arange(len(labels)), places.shape[1])
    at = factor, places.ravel()
    return Table(
        {
            "Factor": labels[factor],
            "Rank": np.tile(np.arange(1, places.shape[1] + 1), len(labels)),
            "Feature": names[at[1]],
            "Loading": posterior.loadings[at],
            "Low": posterior.loading_interval[at][:, 0],
            "High": posterior.loading_interval[at][:, 1],
            "Shrinkage": posterior.shrinkage[at],
        },
        label="Strongest loadings",
        doc="Mean, 95 % interval; shrinkage near 1 means that the loading is held at 0.",
    )


def _factor_table(posterior: Posterior, setup: Setup, labels: np.ndarray, size: np.ndarray) -> Table:
    columns = {"Factor": labels, "Size of loadings": size}
    titles = _classifier_names(setup)
    columns |= {f"Coefficient, {title}": posterior.coefficients[g] for g, title in enumerate(titles)}
    columns["Strongest coefficient"] = np.abs(posterior.coefficients).max(axis=0)
    return Table(columns, label="Factors")


def _classifier_names(setup: Setup) -> list[str]:
    return [setup.classes[1]] if len(setup.classes) == 2 else list(setup.classes)


def _classifiers(posterior: Posterior, setup: Setup) -> Results:
    """Coefficients by class, and by group of samples and class."""
    titles = _classifier_names(setup)
    groups, g, k = posterior.beta.shape
    several = groups > 1
    both = [f"{title}, group {t + 1}" if several else title for t in range(groups) for title in titles]
    group_names = [f"Group {t + 1}" if several else "All samples" for t in range(groups)]
    used = int((posterior.group_size > 0.01).sum())
    return {
        "groups_title": f"{used} groups of samples, each with a plane of its own"
        if several
        else "One plane for all samples",
        "classifier": Result(np.array(titles), ("classifier",), label="Class against the rest"),
        "coefficients": Result(posterior.coefficients, ("classifier", "factor"), label="Coefficient"),
        "coefficient_interval": Result(
            posterior.coefficient_interval, ("classifier", "factor", "side"), label="95 % interval"
        ),
        "group_classifier": Result(np.array(both), ("group_classifier",), label="Group and class"),
        "group_coefficients": Result(
            posterior.beta.reshape(groups * g, k), ("group_classifier", "factor"), label="Coefficient"
        ),
        "group_coefficient_interval": Result(
            posterior.beta_interval.reshape(groups * g, k, 2),
            ("group_classifier", "factor", "side"),
            label="95 % interval",
        ),
        "offsets": Result(posterior.offsets, ("group", "classifier"), label="Offset"),
        "group": Result(np.array(group_names), ("group",), label="Group"),
        "group_size": Result(posterior.group_size, ("group",), label="Share of samples"),
        "group_mean": Result(posterior.group_mean, ("group", "factor"), label="Centre of the group"),
        "group_sd": Result(1.0 / np.sqrt(posterior.group_precision), ("group",), label="SD of the group"),
    }


def _shown_feature(posterior: Posterior, setup: Setup, block: Block, params: Params) -> int:
    name = params["shown_feature"].strip()
    if name in block.names[1] and block.names[1].index(name) in setup.rows:
        return block.names[1].index(name)
    return int(np.abs(posterior.loadings).max(axis=0).argmax())


def _rank_fit(posterior: Posterior, setup: Setup, block: Block, params: Params) -> Results:
    """Fitted w of one feature against its values, with the thresholds; the estimated inverse of g_i."""
    feature = _shown_feature(posterior, setup, block, params)
    known = np.flatnonzero(block.observed[:, feature])
    x, w = block.values[known, feature], posterior.scores[known] @ posterior.loadings[:, feature]
    row = int(np.searchsorted(setup.rows, feature))
    order = np.full(len(known), "fitted")
    cuts = np.empty(0)
    if setup.likelihood == "levels" and setup.levels is not None:
        cuts = posterior.thresholds[feature, : setup.levels.top[row]]
        level = np.searchsorted(setup.levels.edges[row], x, side="right")
        inside = (np.append(-np.inf, cuts)[level] <= w) & (w <= np.append(cuts, np.inf)[level])
        order = np.where(inside, "in order", "out of order")
    elif setup.pairs is not None:
        training = np.zeros(block.shape[0], bool)
        bad = _violated(posterior, setup, feature, row)
        training[setup.train[bad]] = True
        order = np.where(training[known], "out of order", "in order")
    return {
        "rank_fit_title": f"Fitted values of “{block.names[1][feature]}”",
        "rank_fit": Result(np.column_stack([x, w]), ("known_sample", "rank_fit_axis"), label="Fit"),
        "rank_fit_axis": Result(np.array(["Value", "Fitted"]), ("rank_fit_axis",), label="Axis"),
        "known_sample": Result(np.array(block.names[0])[known], ("known_sample",), label="Sample"),
        "rank_fit_order": Result(order, ("known_sample",), label="Comparisons"),
        "rank_fit_thresholds": Result(cuts, ("rank_fit_threshold",), label="Threshold"),
    }


def _violated(posterior: Posterior, setup: Setup, feature: int, row: int) -> np.ndarray:
    """Training samples in a pair of the wrong order."""
    pairs = setup.pairs
    assert pairs is not None
    w = posterior.scores[setup.train] @ posterior.loadings[:, feature]
    here = slice(int(pairs.start[row]), int(pairs.start[row + 1]))
    wrong = w[pairs.low[here]] > w[pairs.high[here]]
    return np.unique(np.concatenate([pairs.low[here][wrong], pairs.high[here][wrong]]))


def _agreement(posterior: Posterior, setup: Setup, block: Block, params: Params) -> Table:
    """Per fitted feature: how well its order (or its values) are met at the mean loadings and scores."""
    names = np.array(block.names[1])[setup.rows]
    a, z = posterior.loadings[:, setup.rows].T, posterior.scores[setup.train]
    columns: dict[str, np.ndarray] = {"Feature": names}
    if setup.levels is None:
        square, total = np.empty(len(a)), (setup.x**2).sum(axis=1)
        for i, row in enumerate(a):
            square[i] = (setup.known[i] * (setup.x[i] - z @ row) ** 2).sum()
        columns["Explained"] = 1.0 - square / total
        return Table(columns, label="Fit of the features", doc="Share of the variance.")
    eps, found = step_margin(setup, params), np.empty((len(a), 4))
    for i, row in enumerate(a):
        w = np.ascontiguousarray(row @ z.T)[None]
        if setup.pairs is None:
            c = np.ascontiguousarray(posterior.thresholds[setup.rows[i]])[None]
            level = setup.levels.values[i : i + 1]
            level_kernels.measure(level, setup.levels.top[i : i + 1], w, c, eps, found[i : i + 1])
        else:
            p = setup.pairs
            pair_kernels.measure(i, i + 1, p.start, p.low, p.high, w, eps, found[i : i + 1])
    count = np.maximum(found[:, 0], 1)
    columns |= {
        "Levels": setup.levels.count,
        "Comparisons": found[:, 0].astype(np.int64),
        "In order": found[:, 2] / count,
        "With margin": found[:, 3] / count,
    }
    return Table(
        columns, label="Fit of the features", doc="Shares of the comparisons at the mean loadings and scores."
    )
