"""Factor values that are smooth along time or place: closed forms, the bound, recovery, new samples, what is refused."""

import group_factor_tools as tools
import numpy as np
import pytest
from sparing import every

from plaidwork.core.api import Clock, ModelError, passes
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import smooth
from plaidwork.plugins.group_factor.bound import elbo_of

WORDS = {"numbers": ("gaussian",) * 2, "bits": ("bernoulli",) * 2, "counts": ("poisson",) * 2, "mixed": tools.WORDS}


def along(places, rows=None, names=("day",)):
    n = len(places)
    values = np.asarray(places, dtype=float).reshape(n, -1)
    rows = rows or tuple(f"s{i}" for i in range(n))
    return Dataset("when", values, tuple(rows), tuple(names[: values.shape[1]]))


def planted(seed, n=60, d=70, noise=3.0):
    """A view whose first two factors follow the time and whose third does not; scores (n, 3) and times."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 10, n))
    z = np.stack([np.sin(2 * np.pi * t / 10), np.cos(2 * np.pi * t / 5), rng.standard_normal(n)], axis=1)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    w = rng.standard_normal((3, d)) * (rng.random((3, d)) < 0.5)
    y = z @ w + noise * rng.standard_normal((n, d))
    y[rng.random((n, d)) < 0.1] = np.nan
    return y, z, t


def begun(words, settings=None, seed=3, places=None, **more):
    model = registry().model("group_factor")
    arrays, _ = tools.views(seed, n=26, sizes=(9, 8, 7)[: len(words)], k=2, words=words, **more)
    where = np.random.default_rng(seed).uniform(0, 5, (26, 1)) if places is None else places
    inputs = {"views": tools.datasets(arrays), "along": [along(where, names=("x", "y"))]}
    params = {"n_factors": 3, "likelihoods": ",".join(words), "dtype": "float64", **(settings or {})}
    plan = make_plan(model, inputs, params)
    return model, plan, model.init(plan.data, plan.params, np.random.default_rng(seed))


def dense(C, gain, linear):
    S = np.linalg.inv(np.linalg.inv(C) + np.diag(gain))
    return S, S @ linear


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_the_best_law_is_the_closed_one(scale):
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 3, (15, 1))
    C = smooth.prior(smooth.squared_distances(x, x), 0.8, 0.95)
    gain, linear = scale * rng.gamma(1.0, size=15), rng.standard_normal(15)
    gain[2] = 0.0
    found, (S, mean) = smooth.fit(C, gain, linear), dense(C, gain, linear)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.variance, np.diag(S), rtol=1e-8)
    log_det = np.linalg.slogdet(np.eye(15) + C * gain)[1]
    assert found.gain == pytest.approx(0.5 * linear @ mean - 0.5 * log_det, rel=1e-9)
    inverse = np.linalg.inv(C)
    kl = 0.5 * (np.trace(inverse @ S) + mean @ inverse @ mean - 15 + np.linalg.slogdet(C)[1] - np.linalg.slogdet(S)[1])
    assert found.kl == pytest.approx(kl, rel=1e-8)
    weights, reduced = smooth.pulled(smooth.squared_distances(x, x), 0.8, 0.95, mean, gain)
    np.testing.assert_allclose(C @ weights, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(C - C @ reduced @ C, S, rtol=1e-7, atol=1e-10)


def test_without_a_smooth_share_samples_are_apart():
    rng = np.random.default_rng(2)
    x, gain, linear = rng.uniform(0, 3, (9, 1)), rng.gamma(1.0, size=9), rng.standard_normal(9)
    found = smooth.fit(smooth.prior(smooth.squared_distances(x, x), 1.0, 0.0), gain, linear)
    np.testing.assert_allclose(found.variance, 1 / (1 + gain), rtol=1e-12)
    np.testing.assert_allclose(found.mean, linear / (1 + gain), rtol=1e-12)
    assert found.kl == pytest.approx(0.5 * (found.variance + found.mean**2 - 1 - np.log(found.variance)).sum())


@pytest.mark.parametrize(
    ("words", "dtype", "gaps"),
    every([(w, t, g) for w in WORDS for t in ("float64", "float32") for g in (0.0, 0.2)], 5),
)
def test_no_stage_lowers_the_bound(words, dtype, gaps):
    model, plan, state = begun(WORDS[words], {"dtype": dtype}, missing=gaps, absent=3 if gaps else 0)
    falls, count = [], 0
    for t in range(12):
        before = copy_state(state)
        for stage in passes(model, state, plan.data, plan.params, None, Clock(t, 0)):
            if stage.name not in ("start", "weak factors"):
                old, new = elbo_of(before, plan.params), elbo_of(state, plan.params)
                falls.append((old - new) / abs(old))
                count += 1
            before = copy_state(state)
    assert count > 50
    assert max(falls) <= 1e-9


def test_the_terms_of_the_data_are_those_of_the_bound():
    """Moving q(z) of one factor changes the bound by h m - d (m^2 + v) / 2 less its KL."""
    model, plan, state = begun(tools.WORDS)
    tools.whole_sweeps(model, plan, state, 3)
    linear, gram = (np.zeros_like(state["smooth"][name]) for name in ("linear", "gram"))
    smooth.sum_weights(state, 0, 26, linear, gram)
    h, d = smooth.terms_of(linear, gram, state["z"], 1)
    plain = {**copy_state(state)}
    del plain["smooth"]

    def terms(z, v):
        own = {**copy_state(plain)}
        own["z"][1], own["v"][1], own["zz"][1] = z, v, z**2 + v
        # local parameters stay: the quadratic bound of the cells alone
        return sum(elbo_quadratic(own))

    rng = np.random.default_rng(0)
    z, v = state["z"][1], state["v"][1]
    other, spread = rng.standard_normal(26), rng.gamma(1.0, size=26)
    gain = (h @ other - 0.5 * d @ (other**2 + spread)) - (h @ z - 0.5 * d @ (z**2 + v))
    assert terms(other, spread) - terms(z, v) == pytest.approx(gain, rel=1e-7)


def elbo_quadratic(state):
    """By view, the sum of C + B x - T x^2 / 2 over cells, as the local parameters stand."""
    from plaidwork.plugins.group_factor.cells import across, level_of, tile, views_of

    for view in views_of(state):
        cells = tile(state, view, 0, view.size)
        T = np.repeat(level_of(state, view).T, 26, axis=1) if cells.T is None else cells.T
        here = view.features
        x = state["w"][:, here].T @ state["z"]
        square = x**2 + (state["ww"][:, here].T @ state["zz"] - (state["w"][:, here].T ** 2) @ state["z"] ** 2)
        yield float((cells.B * x - 0.5 * T * square).sum())


def test_smooth_factors_are_found_and_told_apart():
    y, z, t = planted(1)
    views = tools.datasets([y])
    plain = fit("group_factor", {"views": views}, {"n_factors": 6}, chains=1, executor="inline", seed=1)
    run = fit(
        "group_factor", {"views": views, "along": [along(t)]}, {"n_factors": 6}, chains=1, executor="inline", seed=1
    )
    scores = run.results["scores"].values
    assert tools.recovery(scores, z) > tools.recovery(plain.results["scores"].values, z) + 0.05
    share = run.results["smoothness"].columns["Smooth share"]
    match = np.abs(np.corrcoef(scores.T, z.T)[: scores.shape[1], scores.shape[1] :])
    assert (share[match[:, :2].argmax(axis=0)] > 0.8).all()
    assert share[match[:, 2].argmax()] < 0.4
    bound, factors = run.kept().chains[0].trace("elbo"), run.kept().chains[0].trace("n_factors")
    assert (np.diff(bound)[np.diff(factors) == 0] >= -1e-9 * abs(bound[0])).all()
    best = int(np.argmax(share))
    curve = np.interp(t, run.results["course_x"].values, run.results["course"].values[best])
    assert abs(np.corrcoef(curve, z[:, match[best].argmax()])[0, 1]) > 0.95
