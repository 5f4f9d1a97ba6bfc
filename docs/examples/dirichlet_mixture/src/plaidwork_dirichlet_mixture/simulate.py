"""Draws from the prior: a partition, and data given it."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Params


def draw_partition(rng: np.random.Generator, n: int, alpha: float) -> np.ndarray:
    """Chinese restaurant process: (n,) labels, numbered by first appearance."""
    labels = np.zeros(n, np.int64)
    sizes: list[int] = []
    for i in range(n):
        weights = np.array([*sizes, alpha])
        k = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
        k = min(k, len(sizes))
        if k == len(sizes):
            sizes.append(0)
        sizes[k] += 1
        labels[i] = k
    return labels


def draw_covariance(rng: np.random.Generator, d: int, params: Params) -> np.ndarray:
    """A matrix A with covariance A A': inverse Wishart, or independent inverse gammas, of prior mean ``within``."""
    weight = params["within_weight"]
    scatter = weight * params["within"]
    if params["covariance"] == "diagonal":
        return np.diag(np.sqrt(0.5 * scatter / rng.standard_gamma(1.0 + 0.5 * weight, size=d)))
    lower = np.tril(rng.standard_normal((d, d)), -1)  # Bartlett: a Wishart of d + 1 + weight degrees is B B'
    lower[np.diag_indices(d)] = np.sqrt(2.0 * rng.standard_gamma(0.5 * (d + 1.0 + weight - np.arange(d))))
    return np.asarray(np.sqrt(scatter) * np.linalg.inv(lower).T)


def draw_values(
    rng: np.random.Generator, labels: np.ndarray, d: int, params: Params
) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, d) given the labels, and the means (K, d) of the clusters."""
    k = int(labels.max()) + 1
    roots = [draw_covariance(rng, d, params) for _ in range(k)]
    means = np.array([root @ rng.standard_normal(d) for root in roots]) / np.sqrt(params["mean_weight"])
    noise = np.array([roots[label] @ rng.standard_normal(d) for label in labels])
    return means[labels] + noise, means
