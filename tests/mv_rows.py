"""A few samples in three views with blocks, clusters and weights at will, and the sum over all that one of them can have, by brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from dp_tools import column_evidence
from mv_tools import GAP, MODEL, settings
from scipy.special import gammaln

from plaidwork.core.api import ModelData

GIVEN = {
    "a": np.array([[0.1, 1.0], [0.4, GAP], [2.1, 0.2], [2.4, -0.5], [GAP, GAP]]),
    "b": np.array([[0, 1], [0, 2], [1, 2], [GAP, GAP], [1, 0]]),
    "c": np.array([[3.0], [1.0], [GAP], [6.0], [2.0]]),
}
"""Each view is lacked by one sample."""
KINDS = "gaussian, categorical, poisson"
Labels = tuple[int, ...]
Views = Mapping[str, np.ndarray]


def plain(**changed: Any) -> Any:
    """Settings for these views."""
    return settings(likelihoods=KINDS, **changed)


@dataclass(frozen=True)
class Placed:
    """Blocks, clusters and weights of a draw; the cluster behind those of a view has what is left of its weights."""

    blocks: Labels = (0, 0, 1, 1, 0)
    clusters: tuple[Labels, ...] = ((0, 1, 1, 1, -1), (0, 0, 1, -1, 0), (0, 1, -1, 2, 0))
    """One of the first view and two of the third have a single sample"""
    beta: tuple[tuple[float, ...], ...] = ((0.5, 0.3), (0.25, 0.45), (0.3, 0.2, 0.4))
    a0: float = 0.9
    alpha: tuple[float, ...] = (1.2, 0.7, 2.0)

    def draw(self, data: ModelData, params: Any) -> dict[str, Any]:
        """As a chain keeps it."""
        state = MODEL.init(data, params, np.random.default_rng(1))
        return {
            **MODEL.draws(state, data, params),
            "block_of": np.array(self.blocks),
            "cluster_of": np.array(self.clusters),
            "n_clusters": np.array([len(one) for one in self.beta]),
            "weight": np.concatenate(self.beta),
            "concentrations": np.array([self.a0, *self.alpha, 1.0, 1.0, 1.0]),
        }

    def log_prior(self, blocks: list[int], clusters: list[list[int]]) -> float:
        """Log of the density of blocks and clusters of some samples given the weights (page, 6.2)."""
        t = np.array(blocks)
        sizes = np.bincount(t)
        sizes = sizes[sizes > 0]
        total = len(sizes) * math.log(self.a0) + gammaln(sizes).sum()
        total += math.lgamma(self.a0) - math.lgamma(self.a0 + len(t))
        for labels, beta, alpha in zip(np.array(clusters), self.beta, self.alpha, strict=True):
            weight = alpha * np.append(beta, 1.0 - sum(beta))
            for k in np.unique(t):
                inside = (t == k) & (labels >= 0)
                uses = np.bincount(labels[inside], minlength=len(weight))
                total += math.lgamma(alpha) - math.lgamma(alpha + inside.sum())
                total += (gammaln(weight + uses) - gammaln(weight)).sum()
        return float(total)

    def terms(
        self, given: Views, i: int, params: Any, clustered: tuple[int, ...] | None = None
    ) -> dict[Labels, float]:
        """Log of the density of everything by block and clusters of row i, new ones included; of ``clustered`` views it has a cluster, else of
        those that it has."""
        has = [not np.isnan(values[i]).all() for values in given.values()]
        if clustered is not None:
            has = [v in clustered for v in range(len(given))]
        found = {}
        for k, *own in self._places(has):
            t, z = list(self.blocks), [list(labels) for labels in self.clusters]
            if i == len(t):
                t.append(k)
                for labels in z:
                    labels.append(-1)
            t[i] = k
            for labels, one in zip(z, own, strict=True):
                labels[i] = one
            found[(k, *own)] = self.log_prior(t, z) + log_data(given, z, params)
        return found

    def _places(self, has: list[bool]) -> Iterator[Labels]:
        choices = [range(len(beta) + 1) if one else (-1,) for beta, one in zip(self.beta, has, strict=True)]
        return itertools.product(range(max(self.blocks) + 2), *choices)

    def summed(self, given: Views, i: int, params: Any) -> float:
        """Log of the sum over all blocks and clusters of row i of the density of everything."""
        return float(np.logaddexp.reduce(list(self.terms(given, i, params).values())))


def log_data(given: Views, clusters: list[list[int]], params: Any) -> float:
    """Log density of all known cells given the clusters, from scipy's formulas."""
    total = 0.0
    for (name, values), labels, kind in zip(given.items(), clusters, KINDS.split(", "), strict=True):
        for k, j in itertools.product(range(max(labels) + 1), range(values.shape[1])):
            inside = (np.array(labels) == k) & ~np.isnan(values[:, j])
            levels = int(np.nanmax(GIVEN[name][:, j])) + 1
            total += column_evidence(values[inside, j], levels, kind, params)
    return total
