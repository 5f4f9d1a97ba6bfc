"""Factor values that are smooth along time or place: closed forms, the bound, recovery, new samples, what is refused."""

import group_factor_tools as tools
import numpy as np
import pytest
import resuming
from plaid_tools import with_fault
from sparing import every

from plaidwork.core.api import Clock, DataError, Schedule, passes
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import smooth
from plaidwork.plugins.group_factor.bound import elbo_of

WORDS = {
    "numbers": ("gaussian",) * 2,
    "bits": ("bernoulli",) * 2,
    "counts": ("poisson",) * 2,
    "mixed": tools.WORDS,
}


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


def begun(words, settings=None, seed=3, places=None, n_groups=1, **more):
    model = registry().model("group_factor")
    arrays, _ = tools.views(seed, n=26, sizes=(9, 8, 7)[: len(words)], k=2, words=words, **more)
    where = np.random.default_rng(seed).uniform(0, 5, (26, 1)) if places is None else places
    inputs = {"views": tools.datasets(arrays), "along": [along(where, names=("x", "y"))]}
    if n_groups > 1:
        inputs["groups"] = tools.groups(26, "abc"[:n_groups])
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
    found, (S, mean) = smooth.ahead(C, gain, linear), dense(C, gain, linear)
    variance = smooth.variances(found, gain)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(S), rtol=1e-8)
    log_det = np.linalg.slogdet(np.eye(15) + C * gain)[1]
    assert found.gain == pytest.approx(0.5 * linear @ mean - 0.5 * log_det, rel=1e-9)
    inverse = np.linalg.inv(C)
    kl = 0.5 * (
        np.trace(inverse @ S) + mean @ inverse @ mean - 15 + np.linalg.slogdet(C)[1] - np.linalg.slogdet(S)[1]
    )
    assert smooth.divergence(found, variance, gain, linear) == pytest.approx(kl, rel=1e-8)
    weights, reduced = smooth.pulled(smooth.squared_distances(x, x), 0.8, 0.95, mean, gain)
    np.testing.assert_allclose(C @ weights, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(C - C @ reduced @ C, S, rtol=1e-7, atol=1e-10)


def test_without_a_smooth_share_samples_are_apart():
    rng = np.random.default_rng(2)
    x, gain, linear = rng.uniform(0, 3, (9, 1)), rng.gamma(1.0, size=9), rng.standard_normal(9)
    found = smooth.ahead(smooth.prior(smooth.squared_distances(x, x), 1.0, 0.0), gain, linear)
    variance = smooth.variances(found, gain)
    np.testing.assert_allclose(variance, 1 / (1 + gain), rtol=1e-12)
    np.testing.assert_allclose(found.mean, linear / (1 + gain), rtol=1e-12)
    assert smooth.divergence(found, variance, gain, linear) == pytest.approx(
        0.5 * (variance + found.mean**2 - 1 - np.log(variance)).sum()
    )


@pytest.mark.parametrize(
    ("words", "dtype", "gaps", "n_groups"),
    every(
        [(w, t, g, n) for w in WORDS for t in ("float64", "float32") for g in (0.0, 0.2) for n in (1, 3)], 8
    ),
)
def test_no_stage_lowers_the_bound(words, dtype, gaps, n_groups):
    model, plan, state = begun(
        WORDS[words], {"dtype": dtype}, n_groups=n_groups, missing=gaps, absent=3 if gaps else 0
    )
    falls = [fall for t in range(12) for _, fall in falls_of(model, plan, state, t)]
    assert len(falls) > 50
    assert max(falls) <= 1e-9


def falls_of(model, plan, state, t):
    """Name of every stage of a sweep, in place, and by what share of itself the bound fell in it."""
    before = copy_state(state)
    for stage in passes(model, state, plan.data, plan.params, None, Clock(t, 0)):
        if stage.name not in ("start", "weak factors"):
            old, new = elbo_of(before, plan.params), elbo_of(state, plan.params)
            yield stage.name, (old - new) / abs(old)
        before = copy_state(state)


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
    from plaidwork.plugins.group_factor.cells import level_of, tile, views_of

    for view in views_of(state):
        cells = tile(state, view, 0, view.size)
        T = np.repeat(level_of(state, view).T, 26, axis=1) if cells.T is None else cells.T
        here = view.features
        x = state["w"][:, here].T @ state["z"]
        square = x**2 + (
            state["ww"][:, here].T @ state["zz"] - (state["w"][:, here].T ** 2) @ state["z"] ** 2
        )
        yield float((cells.B * x - 0.5 * T * square).sum())


def test_smooth_factors_are_found_and_told_apart():
    y, z, t = planted(1)
    views = tools.datasets([y])
    plain = fit("group_factor", {"views": views}, {"n_factors": 6}, chains=1, executor="inline", seed=1)
    run = fit(
        "group_factor",
        {"views": views, "along": [along(t)]},
        {"n_factors": 6},
        chains=1,
        executor="inline",
        seed=1,
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


def test_new_samples_are_told_by_their_time():
    y, _z, t = planted(2, n=80)
    out = np.arange(80) % 8 == 3
    names = tuple(f"s{i}" for i in range(80))
    kept = tuple(name for name, gone in zip(names, out, strict=True) if not gone)
    views = [Dataset("a", y[~out], kept, tuple(f"f{i}" for i in range(y.shape[1])))]
    run = fit(
        "group_factor",
        {"views": views, "along": [along(t[~out], kept)]},
        {"n_factors": 4},
        chains=1,
        executor="inline",
        seed=1,
    )
    few = y[out].copy()
    few[:, 3:] = np.nan  # three features alone say little
    gone = tuple(name for name, left_out in zip(names, out, strict=True) if left_out)
    new = Dataset("a", few, gone, tuple(f"f{i}" for i in range(y.shape[1])))
    model = registry().model("group_factor")
    made = make_plan(model, {"views": views, "along": [along(t[~out], kept)]}, {"n_factors": 4})
    with_time, without = (
        model.predict(run.kept(), made.data, make_plan(model, given, {"n_factors": 4}).data, made.params)
        for given in ({"views": [new], "along": [along(t[out], gone)]}, {"views": [new]})
    )
    best = int(np.argmax(run.results["smoothness"].columns["Smooth share"]))
    curve = np.interp(t[out], run.results["course_x"].values, run.results["course"].values[best])
    told, alone = (found["new_scores"].values[:, best] for found in (with_time, without))
    assert np.abs(told - curve).mean() < 0.3
    assert np.abs(told - curve).mean() < 0.5 * np.abs(alone - curve).mean()
    assert (with_time["new_scores_sd"].values[:, best] < without["new_scores_sd"].values[:, best]).all()


def test_draws_of_the_approximation_have_its_covariance():
    """Mean of (z - m)' S^-1 (z - m) over draws within 5 standard errors of N; draws apart, of the same variances, are far from it."""
    y, _z, t = planted(1, noise=5.0)
    model = registry().model("group_factor")
    plan = make_plan(model, {"views": tools.datasets([y]), "along": [along(t)]}, {"n_factors": 3})
    state = model.init(plan.data, plan.params, np.random.default_rng(0))
    tools.whole_sweeps(model, plan, state, 30)
    kept, n, draws = state["smooth"], len(t), 1500
    squares, span = smooth.squared_distances(kept["places"], kept["places"]), smooth.span_of(kept["places"])
    k = int(np.argmax(kept["share"]))
    assert smooth.SHARES[kept["share"][k]] > 0.8
    C = smooth.prior(squares, span * smooth.LENGTHS[kept["length"][k]], smooth.SHARES[kept["share"][k]])
    S, _ = dense(C, kept["gain"][k], np.zeros(n))
    np.testing.assert_allclose(np.diag(S), state["v"][k], rtol=1e-6)
    rng = np.random.default_rng(0)
    off = np.stack([one["z"][k] for one in model.sample(state, rng, draws)]) - state["z"][k]
    apart = np.sqrt(state["v"][k]) * rng.standard_normal((draws, n))
    found, wrong = (np.mean(np.sum(one @ np.linalg.inv(S) * one, axis=1)) for one in (off, apart))
    tolerance = 5 * np.sqrt(2 * n / draws)
    assert abs(found - n) < tolerance
    assert abs(wrong - n) > 5 * tolerance


@pytest.mark.parametrize(
    ("places", "settings", "message"),
    [
        (np.ones((26, 1)), {}, "the same time or place"),
        (None, {"grow": True}, "Factors cannot be added"),
        (None, {"steps": "stochastic"}, "once a sweep"),
    ],
)
def test_what_does_not_go_together_is_said(places, settings, message):
    arrays, _ = tools.views(3, n=26, sizes=(9,), k=2, words=("gaussian",))
    where = np.arange(26.0)[:, None] if places is None else places
    inputs = {"views": tools.datasets(arrays), "along": [along(where)]}
    with pytest.raises(DataError, match=message):
        fit("group_factor", inputs, settings, chains=1, executor="inline", max_sweeps=3)


def test_too_many_samples_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr("plaidwork.plugins.group_factor.problems.MOST", 20)
    with pytest.raises(DataError, match=r"take 20 samples at most\. Found 26"):
        begun(WORDS["numbers"])


def test_places_of_two_coordinates_and_a_paused_fit():
    """A fit that is cut into single steps and stored in between ends where one in one go does."""
    where = np.random.default_rng(4).uniform(0, 3, (26, 2))
    model, plan, state = begun(WORDS["mixed"], places=where)
    other = copy_state(state)
    for t in range(4):
        for _ in passes(model, state, plan.data, plan.params, None, Clock(t, 0)):
            pass
        for _ in passes(model, other, plan.data, plan.params, None, Clock(t, 0)):
            tools.as_from_a_checkpoint(other)
    np.testing.assert_array_equal(state["z"], other["z"])
    np.testing.assert_array_equal(state["smooth"]["share"], other["smooth"]["share"])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ahead", "mean = pull - C", "mean = pull - 0.9 * C"),
        ("ahead", "0.5 * float(linear @ mean) - half_log", "0.5 * float(linear @ mean)"),
        ("terms_of", "linear -= gram", "linear -= 0.9 * gram"),
        ("update", "np.argmax(", "np.argmin("),
    ],
)
def test_planted_errors_lower_the_bound(name, old, new, monkeypatch):
    y, _z, t = planted(1)
    model = registry().model("group_factor")
    plan = make_plan(model, {"views": tools.datasets([y]), "along": [along(t)]}, {"n_factors": 4})
    state = model.init(plan.data, plan.params, np.random.default_rng(0))
    for sweep in range(40):
        for _ in passes(model, state, plan.data, plan.params, None, Clock(sweep, 0)):
            pass
    monkeypatch.setattr(smooth, name, with_fault(getattr(smooth, name), old, new))
    falls = [fall for sweep in range(40, 60) for _, fall in falls_of(model, plan, state, sweep)]
    assert max(falls) > 1e-7


def test_a_stored_fit_goes_on_to_the_same_draws(tmp_path):
    y, _z, t = planted(1)
    model = registry().model("group_factor")
    inputs = {"views": tools.datasets([y]), "along": [along(t)]}
    schedule = Schedule(chains=1, max_sweeps=150, tolerance=0.0, window=5, relaxation=16.0)
    plan = make_plan(model, inputs, {"n_factors": 4}, schedule=schedule)
    whole = resuming.uninterrupted(plan)
    path = tmp_path / "stopped.plaidwork"
    assert 0 < resuming.stopped(plan, "inline", path) < 150
    assert not resuming.difference(resuming.resumed(path, "inline"), whole)
