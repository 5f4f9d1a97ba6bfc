"""The posterior of blocks and clusters of a few samples in several views by enumeration; planted views; chains run by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from dp_tools import Chain, Chains, adjusted_rand, column_evidence, matrices, p_value, partitions
from hdp_tools import canonical
from hdp_tools import log_prior as log_franchise
from scipy.special import gammaln

from plaidwork.core.api import Clock, ModelData
from plaidwork.plugins.dirichlet_processes.multi_view.model import MultiViewClusters

MODEL = MultiViewClusters()
FIXED = {
    "learn": False, "block_alpha": 0.9, "alpha": 1.2, "gamma": 1.4, "standardise": False, "learn_base": False, "moves": 0,
    "block_moves": 0,
}  # fmt: skip
GAP = np.nan
FEW = {"a": [[0.1], [0.4], [2.1], [2.4]], "b": [[0, 1], [0, 1], [1, 1], [0, 0]]}
LACKING = {"a": [[0.1], [GAP], [2.1], [2.4]], "b": [[0, 1], [0, GAP], [1, 1], [GAP, GAP]]}
"""The second sample lacks the first view, the fourth the second."""


def settings(**changed: Any) -> Any:
    """All settings, concentrations and bases fixed and no moves unless told otherwise."""
    return MODEL.spec.check_params({**FIXED, "likelihoods": "gaussian, categorical", **changed})


def view_weights(data: ModelData, params: Any, v: int) -> dict[tuple[int, ...], float]:
    """Log density of the data of a view by the partition of the samples that have it."""
    block = data["views"][v]
    kind = params["likelihoods"].split(", ")[v]
    here = np.flatnonzero(block.observed.any(axis=1))
    found = {}
    for labels in partitions(len(here)):
        codes, total = np.array(labels), 0.0
        for k, j in itertools.product(range(codes.max() + 1), range(block.shape[1])):
            rows = here[codes == k]
            known = rows[block.observed[rows, j]]
            total += column_evidence(block.values[known, j], int(block.values[:, j].max()) + 1, kind, params)
        found[labels] = total
    return found


def posterior(data: ModelData, params: Any) -> tuple[list[tuple[tuple[int, ...], ...]], np.ndarray]:
    """Partitions (blocks, clusters of the first view, of the second) and their log densities."""
    n, views = data["views"][0].shape[0], range(len(data["views"]))
    has = [np.flatnonzero(block.observed.any(axis=1)) for block in data["views"]]
    evidence = [view_weights(data, params, v) for v in views]
    found, density = [], []
    for blocks in partitions(n):
        t = np.array(blocks)
        sizes = np.bincount(t)
        a0 = params["block_alpha"]
        prior = (
            len(sizes) * math.log(a0) + float(gammaln(sizes).sum()) + math.lgamma(a0) - math.lgamma(a0 + n)
        )
        parts: list[list[tuple[tuple[int, ...], float]]] = []
        for v in views:
            parts.append([])
            for labels, weight in evidence[v].items():
                own = np.zeros((len(sizes), max(labels) + 1), int)
                np.add.at(own, (t[has[v]], labels), 1)
                parts[-1].append((labels, weight + log_franchise(own, params["alpha"], params["gamma"])))
        for chosen in itertools.product(*parts):
            found.append((blocks, *(labels for labels, _ in chosen)))
            density.append(prior + sum(weight for _, weight in chosen))
    return found, np.array(density)


def sweep(
    state: Any, data: ModelData, params: Any, rng: np.random.Generator, number: int, warmup: int = 0
) -> Any:
    """One sweep; its traces."""
    while (traces := MODEL.step(state, data, params, rng, Clock(number, warmup))) is None:
        pass
    return traces


def smallest_p(data: ModelData, params: Any, sweeps: int, seed: int = 1) -> float:
    """The smallest p value of all triples of partitions of probability .004 and more, of each partition alone, of pairs of blocks
    and clusters, and of the numbers of blocks and clusters; Bonferroni."""
    found, density = posterior(data, params)
    probability = np.exp(density - density.max())
    probability /= probability.sum()
    place = {one: i for i, one in enumerate(found)}
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state, seen = MODEL.init(data, params, rng), np.empty(sweeps, np.int64)
    for number in range(sweeps):
        sweep(state, data, params, rng, number)
        parts = [state["block"], *(one[one >= 0] for one in state["cluster"])]
        seen[number] = place[tuple(canonical(one) for one in parts)]
    values = [
        (probability >= 0.004) & (np.arange(len(found)) == i) for i in np.flatnonzero(probability >= 0.004)
    ]
    for part in range(len(found[0])):
        alone = [one[part] for one in found]
        for labels in set(alone):
            mask = np.array([one == labels for one in alone])
            if 0.01 < probability[mask].sum() < 0.99:
                values.append(mask)
        values.append(np.array([max(one) + 1.0 for one in alone]))
    p = [p_value(np.asarray(value, float)[seen], float(probability @ value)) for value in values]
    return min(1.0, min(p) * len(p))


CENTRES = np.array([[1, 1, 1, 1], [1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, -1]]) / np.sqrt(8)


def planted(kind: str, n: int = 300, apart: float = 6.0, seed: int = 3) -> tuple[ModelData, np.ndarray]:
    """Two views of four clusters, 10 % of the samples lacking each and 5 % of the cells missing; and the clusters (2, n).

    ``identical``: one clustering; ``block``: two halves share two clusters each; ``independent``.
    """
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    second = {
        "identical": first,
        "block": 2 * (first // 2) + rng.integers(0, 2, n),
        "independent": rng.integers(0, 4, n),
    }[kind]
    views = {}
    for name, truth in (("a", first), ("b", second)):
        values = apart * CENTRES[truth] + rng.normal(size=(n, 4))
        values[rng.random(values.shape) < 0.05] = np.nan
        values[rng.random(n) < 0.1] = np.nan
        views[name] = values
    return matrices(**views), np.array([first, second])


def true_information(data: ModelData, truth: np.ndarray) -> float:
    """Mutual information of the planted clusters among samples that have both views, in nats."""
    both = np.all([block.observed.any(axis=1) for block in data["views"]], axis=0)
    table = np.zeros((4, 4))
    np.add.at(table, (truth[0][both], truth[1][both]), 1 / both.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    inside = table > 0
    return float((table[inside] * np.log(table[inside] / expected[inside])).sum())


def keep(data: ModelData, params: Any, chains: int, warmup: int, draws: int) -> Any:
    """What chains keep that are run here, without the host."""
    kept = []
    for number in range(chains):
        rng = np.random.Generator(np.random.PCG64DXSM([7, number]))
        state, found = MODEL.init(data, params, rng), []
        for at in range(warmup + draws):
            sweep(state, data, params, rng, at, warmup)
            if at >= warmup:
                found.append(dict(MODEL.draws(state, data, params)))
        kept.append(Chain(found))
    return Chains(kept)


__all__ = [
    "FEW",
    "LACKING",
    "MODEL",
    "adjusted_rand",
    "keep",
    "matrices",
    "planted",
    "posterior",
    "settings",
    "smallest_p",
    "sweep",
    "true_information",
]
