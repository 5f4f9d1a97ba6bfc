"""Simulated views and whole fits for the tests of group factor analysis."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from plaidwork.core.api import Clock
from plaidwork.core.dataset import Dataset
from plaidwork.core.one_call import fit
from plaidwork.core.plan import make_plan
from plaidwork.core.registry import registry

WORDS = ("gaussian", "bernoulli", "poisson")


def views(
    seed, n=40, sizes=(14, 17, 12), k=3, words=WORDS, active=0.5, size=1.5, noise=0.7, missing=0.15, absent=3
):
    """Views (one array each, NaN where missing, the first samples without view 1), and the true scores (n, k)."""
    rng = np.random.default_rng(seed)
    z, found = rng.standard_normal((n, k)), []
    for place, (word, d) in enumerate(zip(words, sizes, strict=True)):
        w = size * rng.standard_normal((k, d)) * (rng.random((k, d)) < active)
        x = z @ w + 0.5 * rng.standard_normal(d)
        if word == "gaussian":
            y = x + noise * rng.standard_normal((n, d))
        elif word == "bernoulli":
            y = (rng.random((n, d)) < 1 / (1 + np.exp(-x))).astype(float)
        else:
            y = rng.poisson(np.logaddexp(0, x)).astype(float)
        y[rng.random((n, d)) < missing] = np.nan
        if place == 0 and absent:
            y[:absent] = np.nan
        found.append(y)
    return found, z


def dataset(name, values, rows=None, start=0):
    n, d = values.shape
    rows = rows or tuple(f"s{i + start}" for i in range(n))
    return Dataset(name, values, tuple(rows), tuple(f"{name}{i}" for i in range(d)))


def datasets(arrays, names="abcdef"):
    return [dataset(name, array) for name, array in zip(names, arrays)]


def groups(n, names="abc", rows=None, start=0):
    """Labels of samples in turn."""
    rows = rows or tuple(f"s{i + start}" for i in range(n))
    codes = np.arange(n) % len(names)
    return Dataset("groups", codes, tuple(rows), (), kind="categorical", categories=tuple(names))


def run(arrays, settings=None, **schedule):
    given = arrays if isinstance(arrays[0], Dataset) else datasets(arrays)
    return fit("group_factor", {"views": given}, settings or {}, **{"chains": 1, **schedule})


def start(settings, seed=0, n_groups=1, **more):
    """Model, plan and state of a fit of simulated views before the first sweep."""
    model = registry().model("group_factor")
    arrays, _ = views(seed, **more)
    inputs = {"views": datasets(arrays)}
    if n_groups > 1:
        inputs["groups"] = groups(len(arrays[0]), "abc"[:n_groups])
    params = {"n_factors": 4, "likelihoods": ",".join(more.get("words", WORDS)), **settings}
    plan = make_plan(model, inputs, params)
    model.prepare()
    return model, plan, model.init(plan.data, plan.params, np.random.default_rng(seed))


def climb(model, plan, state, sweeps):
    """Largest relative fall over all blocks, and how many blocks there were."""
    worst, count = 0.0, 0
    for t in range(sweeps):
        last = None  # a factor may have left before the sweep
        for _, value in model.sweep_blocks(state, plan.data, plan.params, None, Clock(t, 0)):
            assert np.isfinite(value)
            if last is not None:
                worst = max(worst, (last - value) / abs(last))
            last, count = value, count + 1
    return worst, count


def recovery(scores, truth):
    """Mean absolute correlation of the true factors with those found, matched one to one."""
    k = truth.shape[1]
    found = np.zeros((max(k, scores.shape[1]), k))
    found[: scores.shape[1]] = np.abs(np.corrcoef(scores.T, truth.T)[: scores.shape[1], scores.shape[1] :])
    rows, columns = linear_sum_assignment(-found)
    return found[rows, columns].sum() / k


def auc(score, positive):
    """Area under the ROC curve, of either sign."""
    from scipy.stats import rankdata

    ranks, m = rankdata(score), positive.sum()
    area = (ranks[positive].sum() - m * (m + 1) / 2) / (m * (len(score) - m))
    return max(area, 1 - area)
