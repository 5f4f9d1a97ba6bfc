"""The posterior of a few samples by enumeration of all partitions, with formulas of its own."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import gammaln, multigammaln

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.dirichlet_processes.model import DirichletProcessMixture

MODEL = DirichletProcessMixture()
PLAIN = {"standardise": False, "learn_base": False, "learn_alpha": False, "learn_discount": False}
LEARNED = {"learn_base": True, "learn_alpha": True, "standardise": True}


def matrices(**values: Any) -> ModelData:
    """Data as a model gets them, matrices by name; NaN is missing."""
    blocks = []
    for name, given in values.items():
        array = np.asarray(given, float)
        known = ~np.isnan(array)
        array = np.where(known, array, 0.0)
        for one in (array, known):
            one.setflags(write=False)
        names = (
            tuple(f"s{i + 1}" for i in range(len(array))),
            tuple(f"{name}{j + 1}" for j in range(array.shape[1])),
        )
        blocks.append(Block(name, array, known, None, names))
    return ModelData({"views": tuple(blocks)})


def settings(**changed: Any) -> Any:
    """All settings, with plain fixed priors unless told otherwise."""
    return MODEL.spec.check_params({**PLAIN, **changed})


def partitions(n: int) -> list[tuple[int, ...]]:
    """All partitions of n samples, labels by first appearance: Bell(n) of them."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*labels, k) for labels in found for k in range(max(labels, default=-1) + 2)]
    return found


def prior_weight(labels: tuple[int, ...], prior: str, alpha: float, discount: float) -> float:
    """Log probability of a partition but for a constant, from its sizes."""
    sizes, n = np.bincount(labels), len(labels)
    k = len(sizes)
    if prior == "dirichlet":
        return float(k * math.log(alpha) + gammaln(sizes).sum())
    if prior == "pitman_yor":
        new = sum(math.log(alpha + i * discount) for i in range(1, k))
        return float(new + (gammaln(sizes - discount) - gammaln(1.0 - discount)).sum())
    components = np.arange(k, 400_000, dtype=float)  # V_n(k), term by term
    terms = (
        gammaln(components + 1) - gammaln(components - k + 1) + gammaln(components) - gammaln(components + n)
    )
    terms -= np.log(components * (components + 1))
    return float(np.log(np.exp(terms - terms.max()).sum()) + terms.max() + gammaln(sizes + 1.0).sum())


def column_evidence(x: np.ndarray, levels: int, kind: str, params: Any) -> float:
    """Log marginal of the known cells of one column in one cluster, as a chain of predictive laws."""
    total = 0.0
    for i in range(len(x)):
        seen = x[:i]
        if kind == "gaussian":
            k0, a0 = params["mean_weight"], params["within_shape"]
            b0, m = params["within"] * (a0 - 1.0), len(seen)
            mean = seen.mean() if m else 0.0
            b = b0 + 0.5 * ((seen - mean) ** 2).sum() + 0.5 * k0 * m * mean**2 / (k0 + m)
            a, k = a0 + m / 2, k0 + m
            total += stats.t.logpdf(x[i], 2 * a, m * mean / k, math.sqrt(b * (k + 1) / (a * k)))
        elif kind == "poisson":
            shape, rate = params["rate_shape"] + seen.sum(), params["rate_shape"] + len(seen)
            total += stats.nbinom.logpmf(x[i], shape, rate / (rate + 1))
        else:
            weight = params["level_weight"]
            total += math.log((weight + (seen == x[i]).sum()) / (weight * levels + len(seen)))
    return float(total)


def joint_evidence(x: np.ndarray, params: Any) -> np.ndarray:
    """Log marginal of the rows of x (…, c, d) in one cluster with correlated columns, in closed form, for each of the leading indices."""
    *_, c, d = x.shape
    k0, nu0 = params["mean_weight"], d - 1 + 2 * params["within_shape"]
    prior = 2 * params["within"] * (params["within_shape"] - 1) * np.eye(d)
    mean = x.mean(axis=-2)
    gap = x - mean[..., None, :]
    psi = prior + np.swapaxes(gap, -1, -2) @ gap + k0 * c / (k0 + c) * mean[..., :, None] * mean[..., None, :]
    out = multigammaln((nu0 + c) / 2, d) - multigammaln(nu0 / 2, d) + nu0 / 2 * np.linalg.slogdet(prior)[1]
    out = out - (nu0 + c) / 2 * np.linalg.slogdet(psi)[1]
    return np.asarray(out + d / 2 * math.log(k0 / (k0 + c)) - c * d / 2 * math.log(math.pi))


def rows_evidence(codes: np.ndarray, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Log probability of rows of counts x (c, W) given their totals and clusters ``codes`` (c,), for each Dirichlet weight of a share."""
    out = np.full(weight.shape, (gammaln(x.sum(axis=1) + 1) - gammaln(x + 1).sum(axis=1)).sum())
    for k in np.unique(codes):
        total, every = x[codes == k].sum(axis=0), weight * x.shape[1]
        out = out + gammaln(every) - gammaln(every + total.sum())
        out = out + (gammaln(weight[..., None] + total) - gammaln(weight)[..., None]).sum(axis=-1)
    return np.asarray(out)


LOG_WEIGHTS = np.linspace(-16.0, 4.0, 401)
"""Of a share, where its prior, an exponential law, has anything."""


def rows_weight(codes: np.ndarray, x: np.ndarray, params: Any) -> float:
    """The same at the weight of the settings, or summed over it where it is learned."""
    mean = params["share_weight"]
    if not params["learn_base"]:
        return float(rows_evidence(codes, x, np.array(mean)))
    prior = (
        LOG_WEIGHTS - np.exp(LOG_WEIGHTS) / mean - math.log(mean) + math.log(LOG_WEIGHTS[1] - LOG_WEIGHTS[0])
    )
    return float(np.logaddexp.reduce(rows_evidence(codes, x, np.exp(LOG_WEIGHTS)) + prior))


NODES = 90


def evidence_with_gaps(x: np.ndarray, params: Any) -> float:
    """Log marginal of the known cells of x (c, d), NaN where missing: a sum over a grid of the missing ones, two at most."""
    if not len(x):
        return 0.0
    missing = np.argwhere(np.isnan(x))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    values = 2 * np.tan(nodes * np.pi / 2)  # the whole line
    weights = weights * np.pi / 2 * 2 / np.cos(nodes * np.pi / 2) ** 2
    grid = np.meshgrid(*[values] * len(missing), indexing="ij")
    chance = np.meshgrid(*[np.log(weights)] * len(missing), indexing="ij")
    filled = np.broadcast_to(x, (*np.shape(grid[0] if grid else 0.0), *x.shape)).copy()
    for (i, j), one in zip(missing, grid, strict=True):
        filled[..., i, j] = one
    return float(np.logaddexp.reduce((joint_evidence(filled, params) + sum(chance)).ravel()))


def log_weights(labels: tuple[int, ...], data: ModelData, params: Any, of: int) -> float:
    """Log density of a partition and of the known cells of its first ``of`` samples, at fixed concentration and base."""
    total = prior_weight(labels, params["prior"], params["alpha"], params["discount"])
    codes, kinds = np.array(labels), params["likelihoods"].split(", ")
    for kind, block in zip(kinds, data["views"], strict=True):
        if kind == "gaussian_full":
            values = np.where(block.observed, block.values, np.nan)[: len(codes)]
            rows = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]
            total += sum(evidence_with_gaps(values[here[here < of]], params) for here in rows)
            continue
        if kind == "multinomial":
            here = np.flatnonzero(block.observed[: min(of, len(codes))].all(axis=1))
            total += rows_weight(codes[here], block.values[here], params)
            continue
        for k, j in itertools.product(range(codes.max() + 1), range(block.shape[1])):
            here = np.flatnonzero((codes == k) & block.observed[: len(codes), j])
            levels = int(block.values[:, j].max()) + 1
            total += column_evidence(block.values[here[here < of], j], levels, kind, params)
    return total


def posterior(data: ModelData, params: Any) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """All partitions and their probabilities."""
    n = data["views"][0].shape[0]
    found = partitions(n)
    weight = np.array([log_weights(one, data, params, n) for one in found])
    weight = np.exp(weight - weight.max())
    return found, weight / weight.sum()


def chain(
    model: DirichletProcessMixture, data: ModelData, params: Any, sweeps: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (sweeps, n) and log joint density (sweeps,) of a long chain."""
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state = model.init(data, params, rng)
    found, joint = np.empty((sweeps, len(state["labels"])), np.int64), np.empty(sweeps)
    for sweep in range(sweeps):
        while (traces := model.step(state, data, params, rng, Clock(sweep, 0))) is None:
            pass
        found[sweep], joint[sweep] = state["labels"], traces["log_joint"]
    return found, joint


BATCHES = 40


def p_value(series: np.ndarray, expected: float) -> float:
    """Two-sided p value that a correlated series has this mean: t test over the means of 40 batches."""
    means = series[: len(series) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    error = means.std(ddof=1) / math.sqrt(BATCHES)
    if error == 0.0:
        return 1.0 if abs(means.mean() - expected) < 1e-9 else 0.0
    return float(2 * stats.t.sf(abs(means.mean() - expected) / error, BATCHES - 1))


def smallest_p(
    model: DirichletProcessMixture,
    data: ModelData,
    params: Any,
    sweeps: int,
    seed: int = 1,
    least: float = 0.004,
) -> float:
    """The smallest p value of all partitions of probability ``least`` and more, and of the rest; Bonferroni.

    A batch (a fortieth of the sweeps) should see each of these a few times, else its means are too skewed for the t test.
    """
    labels, probability = posterior(data, params)
    place = {one: i for i, one in enumerate(labels)}
    seen = np.array([place[tuple(one)] for one in chain(model, data, params, sweeps, seed)[0].tolist()])
    common = np.flatnonzero(probability >= least)
    found = [p_value((seen == i).astype(float), probability[i]) for i in common]
    rare = ~np.isin(seen, common)
    found.append(p_value(rare.astype(float), probability.sum() - probability[common].sum()))
    return min(1.0, min(found) * len(found))


class Chain:
    """What one chain kept, as ``summarise`` reads it."""

    def __init__(self, found: list[dict[str, Any]], chain: int = 0) -> None:
        self.found, self.n_draws, self.chain = found, len(found), chain

    def draw(self, name: str, i: int) -> np.ndarray:
        return np.asarray(self.found[i][name])

    def stack(self, name: str) -> np.ndarray:
        return np.array([draws[name] for draws in self.found])


class Chains:
    """What all chains kept."""

    under_way = False

    def __init__(self, chains: list[Chain]) -> None:
        self.chains = tuple(chains)
        self.n_draws = sum(chain.n_draws for chain in chains)

    def __len__(self) -> int:
        return len(self.chains)


def keep(data: ModelData, params: Any, chains: int, warmup: int, draws: int) -> Any:
    """What chains keep that are run here, without the host."""
    kept = []
    for number in range(chains):
        rng = np.random.Generator(np.random.PCG64DXSM([7, number]))
        state, found = MODEL.init(data, params, rng), []
        for sweep in range(warmup + draws):
            while MODEL.step(state, data, params, rng, Clock(sweep, warmup)) is None:
                pass
            if sweep >= warmup:
                found.append(dict(MODEL.draws(state, data, params)))
        kept.append(Chain(found, number))
    return Chains(kept)


def fit_by_hand(data: ModelData, params: Any, chains: int, warmup: int, draws: int) -> Any:
    """Results of such chains."""
    return MODEL.summarise(keep(data, params, chains, warmup, draws), data, params)


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    """Adjusted Rand index of two partitions (Hubert and Arabie 1985)."""
    both = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(both, (one, other), 1.0)

    def pairs(counts: np.ndarray) -> float:
        return float((counts * (counts - 1) / 2).sum())

    rows, columns, cells = pairs(both.sum(axis=1)), pairs(both.sum(axis=0)), pairs(both)
    expected = rows * columns / (len(one) * (len(one) - 1) / 2)
    return (cells - expected) / ((rows + columns) / 2 - expected)


def planted(n: int = 300, seed: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters of unit variance in four columns, the nearest centres six standard deviations apart, 5 % missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    centres = np.array([[1, 1, 1, 1], [1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, -1]]) * 6 / np.sqrt(8)
    values = centres[truth] + rng.normal(size=(n, 4))
    values[rng.random(values.shape) < 0.05] = np.nan
    return 10 * values + 50, truth
