"""Features with alike loadings: a bounded heat map, and the links of a network with their confidence."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Result, Results, Table
from plaidwork.plugins.rank_factor.posterior import Posterior
from plaidwork.plugins.rank_factor.state import Settings

MOST_NODES, MOST_LINKS, STRONGEST, SHOWN = 5000, 20_000, 10, 60
CHUNK = 500
"""Rows of the cosines that are held at a time."""


def unit_rows(a: np.ndarray) -> np.ndarray:
    """The rows of (n, K) with length 1; rows of zeros stay."""
    return np.asarray(a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-300))


def cosines(a: np.ndarray) -> np.ndarray:
    """(n, n) cosine of the rows of (n, K)."""
    unit = unit_rows(a)
    return np.clip(unit @ unit.T, -1.0, 1.0)


def top_places(loadings: np.ndarray, n_top: int) -> np.ndarray:
    """(K, n_top) places of the strongest loadings of each factor (K, D), strongest first."""
    n_top = min(n_top, loadings.shape[1])
    return np.argsort(-np.abs(loadings), axis=1, kind="stable")[:, :n_top]


def network(posterior: Posterior, rows: np.ndarray, names: np.ndarray, params: Settings) -> Results:
    """Links between the strongest features of all factors.

    A link joins two features whose cosine is at least ``similarity`` in size and among the ten strongest of one of them.
    Its confidence is the share of draws in which the cosine is so large (of q too).
    """
    strength = np.abs(posterior.loadings).max(axis=0)
    nodes = np.unique(top_places(posterior.loadings, params["n_top"]))
    nodes = nodes[np.isin(nodes, rows)]
    nodes = nodes[np.argsort(-strength[nodes], kind="stable")][:MOST_NODES]
    links, weight = _strongest(unit_rows(posterior.loadings[:, nodes].T), params["similarity"])
    share, same = _shares_of_draws(posterior, nodes, links, params["similarity"])
    shown = cosines(posterior.loadings[:, nodes[:SHOWN]].T)
    label = names[nodes]
    return {
        "similar_feature": Result(
            label[:SHOWN], ("similar_feature",), label="Feature", doc="those with the strongest loadings"
        ),
        "similarity": Result(
            shown,
            ("similar_feature", "similar_feature"),
            label="Cosine of the loadings",
        ),
        "network_node": Result(label, ("strong_feature",), label="Feature"),
        "network_strength": Result(strength[nodes], ("strong_feature",), label="Strongest loading"),
        "network_factor": Result(
            np.array([f"Factor {k + 1}" for k in np.abs(posterior.loadings[:, nodes]).argmax(axis=0)]),
            ("strong_feature",),
            label="Strongest factor",
        ),
        "top_loadings": Result(
            posterior.loadings[:, nodes],
            ("factor", "strong_feature"),
            label="Loading",
            doc="Of the strongest features of all factors.",
        ),
        "top_confidence": Result(
            same,
            ("factor", "strong_feature"),
            label="Share of draws",
            doc="In which the loading has the sign of its mean.",
        ),
        "network_edge": Result(links, ("network_link", "side"), label="Places of the two features"),
        "network_weight": Result(weight, ("network_link",), label="Cosine"),
        "network_confidence": Result(share, ("network_link",), label="Share of draws"),
        "links": Table(
            {
                "Feature": label[links[:, 0]],
                "Other": label[links[:, 1]],
                "Cosine": weight,
                "Share of draws": share,
            },
            label="Links",
        ),
    }


def _shares_of_draws(
    posterior: Posterior, nodes: np.ndarray, links: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of draws in which the cosine of a link (L,) is large enough, and a loading (K, n) has the sign of its mean."""
    share, sign = np.zeros(len(links)), np.sign(posterior.loadings[:, nodes])
    same = np.zeros(sign.shape)
    for draw in posterior.some_loadings:
        same += np.sign(draw[nodes].T) == sign
        unit = unit_rows(draw[nodes])
        value = (unit[links[:, 0]] * unit[links[:, 1]]).sum(axis=1)
        share += np.abs(value) >= least
    count = len(posterior.some_loadings)
    return share / count, same / count


def _strongest(unit: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Links (e, 2) and their cosines (e,), strongest first, of unit vectors (n, K); some rows of the cosines at a time."""
    n = len(unit)
    kept = min(STRONGEST, n - 1)
    if kept < 1:
        return np.empty((0, 2), np.int64), np.empty(0)
    found = []
    for begin in range(0, n, CHUNK):
        rows = np.arange(begin, min(begin + CHUNK, n))
        size = np.abs(unit[rows] @ unit.T)
        size[np.arange(len(rows)), rows] = 0.0
        near = np.argpartition(-size, kept - 1, axis=1)[:, :kept]
        strong = np.take_along_axis(size, near, axis=1) >= least
        found.append(np.column_stack([np.repeat(rows, strong.sum(axis=1)), near[strong]]))
    pairs = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    value = np.clip((unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1), -1.0, 1.0)
    order = np.argsort(-np.abs(value), kind="stable")[:MOST_LINKS]
    return pairs[order], value[order]
