"""The posterior of a few items by enumeration of all partitions, with formulas of its own."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats
from scipy.special import gammaln, multigammaln

from plaidwork.core.api import Block, Clock, ModelData


def block(values) -> ModelData:
    """Data as a model gets them; NaN is missing."""
    values = np.asarray(values, float)
    known = ~np.isnan(values)
    values = np.where(known, values, 0.0)
    for array in (values, known):
        array.setflags(write=False)
    names = tuple(f"i{i + 1}" for i in range(len(values))), tuple(f"f{j + 1}" for j in range(values.shape[1]))
    return ModelData({"X": Block("X", values, known, None, names)})


def partitions(n: int) -> list[tuple[int, ...]]:
    """All partitions of n items, labels by first appearance: Bell(n) of them."""
    found = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(max(labels, default=-1) + 2)]
    return found


def log_marginal(x: np.ndarray, params) -> float:
    """Normal-inverse-Wishart evidence of the rows x, all known; from the sums, not by updates."""
    m, d = x.shape
    k0, nu0 = params["mean_weight"], params["within_weight"] + d + 1
    psi0 = params["within_weight"] * params["within"] * np.eye(d)
    mean = x.mean(axis=0)
    psi = psi0 + (x - mean).T @ (x - mean) + k0 * m / (k0 + m) * np.outer(mean, mean)
    out = -0.5 * m * d * math.log(math.pi) + multigammaln(0.5 * (nu0 + m), d) - multigammaln(0.5 * nu0, d)
    out += 0.5 * nu0 * np.linalg.slogdet(psi0)[1] - 0.5 * (nu0 + m) * np.linalg.slogdet(psi)[1]
    return float(out + 0.5 * d * math.log(k0 / (k0 + m)))


def log_evidence(labels, data: ModelData, params) -> float:
    """Log density of the data given a partition; columns apart in the diagonal form, known cells only."""
    x, known, labels = data["X"].values, data["X"].observed, np.array(labels)
    total = 0.0
    for k in range(labels.max() + 1):
        if params["covariance"] == "full":
            total += log_marginal(x[labels == k], params)
            continue
        for j in range(x.shape[1]):
            column = x[(labels == k) & known[:, j], j]
            if column.size:
                total += log_marginal(column[:, None], params)
    return total


def log_partition(labels, alpha) -> np.ndarray:
    """Log prior of a partition at one or many alphas."""
    sizes = np.bincount(labels)
    return len(sizes) * np.log(alpha) + gammaln(sizes).sum() + gammaln(alpha) - gammaln(alpha + len(labels))


def posterior(data: ModelData, params) -> tuple[list[tuple[int, ...]], np.ndarray, float]:
    """Partitions, their probabilities and the mean of alpha."""
    labels = partitions(data["X"].shape[0])
    evidence = np.array([log_evidence(one, data, params) for one in labels])
    if not params["learn_alpha"]:
        log_weight = evidence + np.array([log_partition(one, params["alpha"]) for one in labels])
        weight = np.exp(log_weight - log_weight.max())
        return labels, weight / weight.sum(), params["alpha"]
    prior = stats.gamma(params["alpha_shape"], scale=1 / params["alpha_rate"])
    grid = prior.ppf((np.arange(4000) + 0.5) / 4000)
    joint = np.array([log_partition(one, grid) for one in labels]) + evidence[:, None]
    weight = np.exp(joint - joint.max())
    weight /= weight.sum()
    return labels, weight.sum(axis=1), float(weight.sum(axis=0) @ grid)


def sample(
    model, data: ModelData, params, sweeps: int, seed: int
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Partitions and alphas of a long chain."""
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state = model.init(data, params, rng)
    found, alphas = [], np.empty(sweeps)
    for sweep in range(sweeps):
        while model.step(state, data, params, rng, Clock(sweep, 0)) is None:
            pass
        found.append(tuple(state["labels"].tolist()))
        alphas[sweep] = state["alpha"]
    return found, alphas


BATCHES = 40


def p_value(series: np.ndarray, expected: float) -> float:
    """Two-sided p value that a correlated series has this mean: t test over the means of 40 batches."""
    means = series[: len(series) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    error = means.std(ddof=1) / math.sqrt(BATCHES)
    if error == 0.0:
        return 1.0 if abs(means.mean() - expected) < 1e-9 else 0.0
    return float(2 * stats.t.sf(abs(means.mean() - expected) / error, BATCHES - 1))


def smallest_p(model, data: ModelData, params, sweeps: int, seed: int = 1) -> float:
    """The smallest p value of all partitions of probability 0.004 and more, of the rest, and of alpha; Bonferroni."""
    labels, probability, alpha = posterior(data, params)
    found, alphas = sample(model, data, params, sweeps, seed)
    place = {one: i for i, one in enumerate(labels)}
    seen = np.array([place[one] for one in found])
    common = np.flatnonzero(probability >= 0.004)
    p_values = [p_value((seen == i).astype(float), probability[i]) for i in common]
    rare = ~np.isin(seen, common)
    p_values.append(p_value(rare.astype(float), probability.sum() - probability[common].sum()))
    if params["learn_alpha"]:
        p_values.append(p_value(alphas, alpha))
    return min(1.0, min(p_values) * len(p_values))
