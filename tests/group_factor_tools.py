"""Simulated views and whole fits for the tests of group factor analysis."""

from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from plaidwork.core.api import Clock, passes
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import updates
from plaidwork.plugins.group_factor.bound import elbo_of

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
    """Largest relative fall over all stages and single updates, and how many there were."""
    steps = [step for t in range(sweeps) for step in sweep_steps(model, plan, state, t)]
    assert np.isfinite(steps).all()
    return max(0.0, *((before - after) / abs(before) for before, after in steps)), len(steps)


def sweep_steps(model, plan, state, t):
    """The bound (before, after) every stage of one sweep and every single update that a stage is made of.

    Single updates move in a copy, as one factor at a time rounds otherwise than the whole stage. The stages after which
    there are other factors are left out.
    """
    found, before = [], copy_state(state)
    for stage in passes(model, state, plan.data, plan.params, None, Clock(t, 0)):
        if stage.name not in ("start", "weak factors"):
            last = elbo_of(before, plan.params)
            found.append((last, elbo_of(state, plan.params)))
            for update in single_updates(stage.name, before, plan.params):
                update()
                found.append((last, elbo_of(before, plan.params)))
                last = found[-1][1]
        before = copy_state(state)
    return found


def single_updates(stage, state, params):
    """The parts of a stage, each to be called on its own."""
    (k, n), d = state["z"].shape, len(state["mu"])
    if stage == "weights":
        return [partial(updates.update_weights, state, params, 0, d, only) for only in range(k)]
    if stage == "scores":
        return [partial(updates.update_scores, state, 0, n, only) for only in range(k)]
    return [partial(updates.update_zeta, state)] if stage == "local" else []


def as_from_a_checkpoint(state):
    """Leave nothing but a copy of the state, in place."""
    kept = copy_state(state)
    state.clear()
    state.update(kept)


def whole_sweeps(model, plan, state, sweeps):
    """Sweeps in place; traces of the last one."""
    for t in range(sweeps):
        for _ in passes(model, state, plan.data, plan.params, None, Clock(t, 0)):
            pass
    return model.traces(state, plan.data, plan.params)


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
