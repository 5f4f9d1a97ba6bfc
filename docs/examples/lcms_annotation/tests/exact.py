"""The posterior of a few peaks by listing all backgrounds, partitions, formulas and ions, with formulas of its own."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy import stats
from scipy.special import gammaln, ndtr

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork_lcms_annotation.state import terms_of

BATCHES = 40


def model_data(values, texts, titles=("mz", "rt", "intensity"), weights=None) -> ModelData:
    """Data as a model gets them; NaN is missing."""
    values = np.asarray(values, float)
    known = ~np.isnan(values)
    peaks = tuple(f"p{i + 1}" for i in range(len(values)))
    cats = tuple(dict.fromkeys(texts))
    codes = np.array([cats.index(text) for text in texts])
    names = (tuple(f"c{i + 1}" for i in range(len(codes))),)
    blocks = {
        "peaks": Block("peaks", np.where(known, values, 0.0), known, None, (peaks, tuple(titles))),
        "formulas": Block("formulas", codes, np.ones(len(codes), bool), None, names, cats),
    }
    if weights is not None:
        blocks["weights"] = Block(
            "weights", np.asarray(weights, float), np.ones(len(codes), bool), None, names
        )
    return ModelData(blocks)


def configurations(data: ModelData, params):
    """All (clusters, formulas, positions): tuples (N,) with -1 for background; labels by first appearance."""
    near = terms_of(data, params).lists.candidates
    found = [((), (), ())]
    for n in range(len(near.first) - 1):
        longer = []
        for labels, formulas, positions in found:
            longer.append(((*labels, -1), (*formulas, -1), (*positions, -1)))
            for c in range(near.first[n], near.first[n + 1]):
                f, p = int(near.formula[c]), int(near.position[c])
                joined = {k for k, g in zip(labels, formulas) if k >= 0 and g == f}
                for k in sorted(joined | {max(labels, default=-1) + 1}):
                    longer.append(((*labels, k), (*formulas, f), (*positions, p)))
        found = longer
    return found


def log_density(one, data: ModelData, params, scales=None) -> float:
    """Log joint of a configuration: dense normal densities, no sums."""
    terms = terms_of(data, params)
    lists, place = terms.lists, terms.lists.positions
    labels, formulas, positions = one
    ppm, rt_sd, ratio_sd, bias = (
        scales if scales is not None else (params["ppm"], params["rt_sd"], params["ratio_sd"], 0)
    )
    start, end = (
        terms.middle - 2 * math.sqrt(terms.time_prior),
        terms.middle + 2 * math.sqrt(terms.time_prior),
    )
    eps, alpha, total = params["background"], params["alpha"], 0.0
    window = lists.window * 1e6
    inside = math.log(ndtr((window - bias) / ppm) - ndtr((-window - bias) / ppm))
    peaks, v = lists.peaks, terms.height_prior
    for n, k in enumerate(labels):
        total += math.log(eps if k < 0 else 1 - eps)
        for r in np.flatnonzero(peaks.seen[n]):
            if k < 0:
                total -= math.log(math.log(params["mz_high"] / params["mz_low"])) + math.log(end - start)
                wide = math.sqrt(v + ratio_sd**2)
                total += _log_normal((peaks.height[n, r] - terms.level) / wide) - math.log(wide)
            else:
                off = 1e6 * (peaks.log_mz[n, r] - place.log_mz[positions[n]])
                total += _log_normal((off - bias) / ppm) - math.log(ppm * 1e-6) - inside
    total += gammaln(alpha) - gammaln(alpha + sum(k >= 0 for k in labels))
    for k in {k for k in labels if k >= 0}:
        mine = [n for n, label in enumerate(labels) if label == k]
        f = formulas[mine[0]]
        total += math.log(alpha) + gammaln(len(mine)) + lists.theory.log_weight[f]
        total -= len(mine) * math.log(place.number[f])
        for r in range(peaks.seen.shape[1]):
            there = [n for n in mine if peaks.seen[n, r]]
            total += _normal([peaks.rt[n, r] - terms.middle for n in there], terms.time_prior, rt_sd**2)
            for a in {int(place.adduct[positions[n]]) for n in there}:
                own = [n for n in there if place.adduct[positions[n]] == a]
                heights = [peaks.height[n, r] - terms.level - place.log_beta[positions[n]] for n in own]
                total += _normal(heights, v, ratio_sd**2)
    return float(total)


def _normal(x, prior, noise) -> float:
    """Log density of values that share a mean N(0, prior)."""
    if not x:
        return 0.0
    root = np.linalg.cholesky(noise * np.eye(len(x)) + prior)
    return sum(_log_normal(z) for z in np.linalg.solve(root, x)) - float(np.log(np.diag(root)).sum())


def _log_normal(z: float) -> float:
    return -0.5 * (z * z + math.log(2 * math.pi))


def quantities(one) -> Counter:
    """What is compared: ions of the peaks, pairs that are together, number of clusters, levels of the formulas."""
    labels, formulas, positions = one
    found = Counter({f"peak {n} is {p}": 1 for n, p in enumerate(positions)})
    together = [
        (i, j) for i in range(len(labels)) for j in range(i) if labels[i] >= 0 and labels[i] == labels[j]
    ]
    found.update({f"{i} with {j}": 1 for i, j in together})
    found["clusters"] = len({k for k in labels if k >= 0})
    for k in {k for k in labels if k >= 0}:
        ions = {p for label, p in zip(labels, positions) if label == k}
        f = next(f for label, f in zip(labels, formulas) if label == k)
        for j in range(1, len(ions) + 1):
            found[f"formula {f} at level {j}"] = 1
    return found


def expected(data: ModelData, params) -> tuple[dict[str, float], int]:
    """Posterior means of the quantities, and the number of configurations."""
    every = configurations(data, params)
    density = np.array([log_density(one, data, params) for one in every])
    weight = np.exp(density - density.max())
    weight /= weight.sum()
    means: Counter = Counter()
    for one, w in zip(every, weight):
        for name, value in quantities(one).items():
            means[name] += value * w
    return dict(means), len(every)


def sample(model, data, params, sweeps, seed=1, only=()):
    """Configurations of a long chain; of some of the stages where ``only`` names them."""
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state, terms = model.init(data, params, rng), terms_of(data, params)
    formula = np.append(terms.lists.positions.formula, -1)
    for sweep in range(sweeps):
        for number, stage in enumerate(model.stages(state, data, params, rng, Clock(sweep, 0))):
            if number == 0 or not only or stage.name in (*only, "rates and scales"):
                if stage.begin:
                    stage.begin()
                size = stage.size() if callable(stage.size) else stage.size
                stage.work(0, size)
        drawn = model.draws(state, data, params)
        labels, positions = np.full(len(state["cluster"]), -1), state["position"]
        labels[drawn["assigned_peak"]] = drawn["assigned_cluster"]
        yield tuple(labels.tolist()), tuple(formula[positions].tolist()), tuple(positions.tolist())


def p_value(series: np.ndarray, mean: float) -> float:
    """Two-sided p value that a correlated series has this mean: t test over the means of 40 batches."""
    means = series[: len(series) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    error = means.std(ddof=1) / math.sqrt(BATCHES)
    if error == 0.0:
        return 1.0 if abs(means.mean() - mean) < 2e-3 else 0.0
    return float(2 * stats.t.sf(abs(means.mean() - mean) / error, BATCHES - 1))


def smallest_p(model, data, params, sweeps, seed=1, only=(), least=0.02) -> float:
    """The smallest p value of all quantities whose mean is not next to 0 or to its most; Bonferroni."""
    means, _ = expected(data, params)
    names = [name for name, mean in means.items() if name == "clusters" or least <= mean <= 1 - least]
    series = np.zeros((len(names), sweeps))
    for s, one in enumerate(sample(model, data, params, sweeps, seed, only)):
        found = quantities(one)
        series[:, s] = [found.get(name, 0) for name in names]
    return min(1.0, min(p_value(row, means[name]) for name, row in zip(names, series)) * len(names))
