"""The posterior of the topics of a few tokens by enumeration, with formulas of its own; planted topics; chains run by hand."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
from dp_tools import p_value, partitions
from scipy.special import gammaln

from plaidwork.core.api import Clock, ModelData
from plaidwork.plugins.dirichlet_processes.topics.model import HdpTopics
from plaidwork.plugins.dirichlet_processes.topics.simulate import as_data

MODEL = HdpTopics()
FIXED = {"learn": False, "alpha": 1.1, "gamma": 1.3, "eta": 0.4, "left_out": 0.0, "start_topics": 2}
FEW = np.array([[2, 0, 1], [1, 2, 0]])
"""Six tokens of two documents and three words."""


def settings(**changed: Any) -> Any:
    """All settings, concentrations fixed and no word left out unless told otherwise."""
    return MODEL.spec.check_params({**FIXED, **changed})


@cache
def stirling(n: int, m: int) -> int:
    """Unsigned Stirling numbers of the first kind: permutations of n with m cycles."""
    if n == 0:
        return int(m == 0)
    return (n - 1) * stirling(n - 1, m) + stirling(n - 1, m - 1) if m > 0 else 0


def log_prior(own: np.ndarray, alpha: float, gamma: float) -> float:
    """Log probability of a partition of tokens with counts (D, K) by document, weights integrated out: a sum over all tables.

    ``prod_d Gamma(alpha) / Gamma(alpha + n_d) sum_m prod s(n_dk, m_dk) alpha^m_dk  gamma^K Gamma(gamma) / Gamma(gamma + m..)
    prod_k Gamma(m_.k)``.
    """
    cells = [(d, k) for d, k in itertools.product(*map(range, own.shape)) if own[d, k]]
    total = 0.0
    for tables in itertools.product(*(range(1, own[cell] + 1) for cell in cells)):
        seats = np.zeros(own.shape[1])
        weight = 1.0
        for (d, k), m in zip(cells, tables, strict=True):
            weight *= stirling(int(own[d, k]), m) * alpha**m
            seats[k] += m
        weight *= gamma ** own.shape[1] * math.gamma(gamma) / math.gamma(gamma + seats.sum())
        total += weight * np.prod([math.gamma(m) for m in seats])
    sizes = own.sum(axis=1)
    return math.log(total) + float((gammaln(alpha) - gammaln(alpha + sizes)).sum())


def log_topics(seen: np.ndarray, eta: float) -> float:
    """Log probability of the words of topics with counts (K, V)."""
    every = eta * seen.shape[1]
    found = (
        gammaln(every) - gammaln(every + seen.sum(axis=1)) + (gammaln(eta + seen) - gammaln(eta)).sum(axis=1)
    )
    return float(found.sum())


def tokens_of(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Documents and words of all tokens."""
    docs, words = np.nonzero(counts)
    times = counts[docs, words].astype(int)
    return np.repeat(docs, times), np.repeat(words, times)


def posterior(counts: np.ndarray, params: Any) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """All partitions of the tokens, their probabilities, and the log joint density of each."""
    docs, words = tokens_of(counts)
    found, density = partitions(len(docs)), []
    for labels in found:
        own = np.zeros((len(counts), max(labels) + 1), int)
        seen = np.zeros((max(labels) + 1, counts.shape[1]))
        np.add.at(own, (docs, labels), 1)
        np.add.at(seen, (labels, words), 1)
        density.append(log_prior(own, params["alpha"], params["gamma"]) + log_topics(seen, params["eta"]))
    log = np.array(density)
    weight = np.exp(log - log.max())
    return found, weight / weight.sum(), log


def canonical(labels: np.ndarray) -> tuple[int, ...]:
    """Labels by first appearance."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return tuple(np.argsort(np.argsort(first))[codes].tolist())


def sweep(
    state: Any, data: ModelData, params: Any, rng: np.random.Generator, number: int, warmup: int = 0
) -> Any:
    """One sweep; its traces."""
    while (traces := MODEL.step(state, data, params, rng, Clock(number, warmup))) is None:
        pass
    return traces


def smallest_p(params: Any, sweeps: int, seed: int = 1, counts: np.ndarray = FEW) -> float:
    """The smallest p value of all partitions of probability .004 and more, of the rest, and of the number of topics; Bonferroni."""
    labels, probability, _ = posterior(counts, params)
    place = {one: i for i, one in enumerate(labels)}
    data, rng = as_data(counts), np.random.Generator(np.random.PCG64DXSM(seed))
    state, seen = MODEL.init(data, params, rng), np.empty(sweeps, np.int64)
    for number in range(sweeps):
        sweep(state, data, params, rng, number)
        seen[number] = place[canonical(state["topic"])]
    common = np.flatnonzero(probability >= 0.004)
    found = [p_value((seen == i).astype(float), probability[i]) for i in common]
    rare = ~np.isin(seen, common)
    found.append(p_value(rare.astype(float), probability.sum() - probability[common].sum()))
    number_of = np.array([max(one) + 1.0 for one in labels])
    found.append(p_value(number_of[seen], float(probability @ number_of)))
    return min(1.0, min(found) * len(found))


def planted(
    documents: int = 300, length: int = 100, words: int = 500, topics: int = 10, seed: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts (D, V), words of topics (K, V) from Dirichlet(.05) and shares (D, K) from Dirichlet(.2)."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(words, 0.05), topics)
    theta = rng.dirichlet(np.full(topics, 0.2), documents)
    counts = np.array([rng.multinomial(length, one / one.sum()) for one in theta @ phi])
    return counts, phi, theta
