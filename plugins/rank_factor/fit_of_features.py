"""How well single features are met: fitted values by the order of the data, by value, and over all features."""

from __future__ import annotations

import itertools

import numpy as np

from plaidwork.core.api import Block, Result, Results, Table, format_rate
from plaidwork.core.api_scores import rank_correlation
from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Settings

MOST_CURVES, BINS, LEAST_IN_BIN = 200, 20, 5


def shown_feature(posterior: Posterior, setup: Setup, block: Block, params: Settings) -> int:
    """Place of the feature of the rank fit: the one of the settings, else the one with the strongest loading."""
    name = params["shown_feature"].strip()
    if name in block.names[1] and block.names[1].index(name) in setup.rows:
        return block.names[1].index(name)
    return int(np.abs(posterior.loadings).max(axis=0).argmax())


def order_fit(posterior: Posterior, setup: Setup, block: Block, first: int) -> Results:
    """Fitted w of features by the order of their values: mean and central 80 % of the samples in bins of like size.

    The feature ``first`` comes first, then those with the strongest loadings, ``MOST_CURVES`` at most. A bin that
    lies within a run of ties shows all samples with that value.
    """
    strength = np.abs(posterior.loadings).max(axis=0)
    rest = setup.rows[np.argsort(-strength[setup.rows], kind="stable")]
    features = np.append(first, rest[rest != first])[:MOST_CURVES]
    bins = int(np.clip(block.shape[0] // LEAST_IN_BIN, 2, BINS))
    mean, band = np.full((len(features), bins), np.nan), np.full((len(features), bins, 2), np.nan)
    fitted = posterior.scores @ posterior.loadings[:, features]
    rising = 0
    for i, feature in enumerate(features):
        known = np.flatnonzero(block.observed[:, feature])
        x = block.values[known, feature]
        rising += rank_correlation(x, fitted[known, i]).low > 0
        ordered = np.sort(x)
        ends = np.minimum(np.arange(bins + 1) * len(x) // bins, len(x) - 1)
        for b, (low, high) in enumerate(itertools.pairwise(ordered[ends])):
            inside = (x >= low) & ((x < high) | (x == low))
            w = fitted[known[inside], i]
            mean[i, b], band[i, b] = w.mean(), np.quantile(w, (0.1, 0.9))
    return {
        "order_fit_title": f"Fitted values rise with the order of the data in {format_rate(rising, len(features))} features",
        "shown_features": Result(
            np.array(block.names[1])[features], ("shown_features",), label="Feature"
        ),
        "order": Result((np.arange(bins) + 0.5) / bins, ("order",), label="Share of samples below"),
        "order_fit": Result(
            mean, ("shown_features", "order"), label="Fitted value",
            doc="Mean over the samples of a bin, with the middle 80 % of them. A steady rise means that the order is met; "
            "counted are features whose rank correlation with the data has a 95 % interval above 0.",
        ),
        "order_fit_interval": Result(band, ("shown_features", "order", "side")),
    }  # fmt: skip


def cell_fit(posterior: Posterior, setup: Setup, block: Block, feature: int) -> Results:
    """Which cells are in order at the mean scores and loadings, and the thresholds of every feature.

    With thresholds a cell is in order when its fitted w lies between those of its level; test samples are judged too. In pairs
    it is when none of its comparisons is the wrong way round.
    """
    found: Results = {
        "shown_feature": Result(np.array([feature]), ("shown",), label="Feature shown first"),
        "feature_thresholds": Result(posterior.thresholds, ("feature", "threshold"), label="Threshold"),
    }
    count = np.zeros(block.shape[1], np.int64)
    order = np.full(block.shape, -1, np.int8)
    levels = setup.levels
    if levels is not None:
        count[setup.rows] = levels.count
        for row, j in enumerate(setup.rows):
            if setup.likelihood == "pairs":
                order[setup.train, j] = _violated(posterior, setup, int(j), row)
                continue
            known = np.flatnonzero(block.observed[:, j])
            level = np.searchsorted(levels.edges[row], block.values[known, j], side="right")
            c = posterior.thresholds[j, : levels.top[row]]
            w = posterior.scores[known] @ posterior.loadings[:, j]
            inside = (np.append(-np.inf, c)[level] <= w) & (w <= np.append(c, np.inf)[level])
            order[known, j] = ~inside
    return {
        **found,
        "feature_levels": Result(count, ("feature",), label="Levels", doc="0 for features left out."),
        "cell_order": Result(
            order, ("sample", "feature"), label="Order", doc="0 in order, 1 out of order, -1 not compared."
        ),
    }


def _violated(posterior: Posterior, setup: Setup, feature: int, row: int) -> np.ndarray:
    """(N,) of the training samples: 1 in a pair of the wrong order, 0 in right ones only, -1 in none."""
    pairs = setup.pairs
    assert pairs is not None
    w = posterior.scores[setup.train] @ posterior.loadings[:, feature]
    here = slice(int(pairs.start[row]), int(pairs.start[row + 1]))
    low, high = pairs.low[here], pairs.high[here]
    found = np.full(len(w), -1, np.int8)
    for ends, code in ((slice(None), 0), (w[low] > w[high], 1)):
        found[low[ends]] = found[high[ends]] = code
    return found


def agreement(posterior: Posterior, setup: Setup, block: Block, params: Settings) -> Table:
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
