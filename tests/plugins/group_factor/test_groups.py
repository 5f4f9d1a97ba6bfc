"""Sample groups: centring, noise and size of factor values by group; what is explained in each; new samples."""

import group_factor_tools as tools
import numpy as np
import pytest
from sparing import every

from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.errors import DataError, ModelError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor.weak import explained

N = 240


@pytest.fixture(scope="module")
def fitted():
    """Two groups: the second factor is silent in “b”, whose noise is three times as large and whose means are shifted."""
    rng = np.random.default_rng(4)
    group = np.arange(N) % 2
    z = rng.standard_normal((N, 2))
    z[group == 1, 1] = 0
    noise = np.where(group == 1, 1.5, 0.5)[:, None]
    one = z @ rng.standard_normal((2, 40)) + noise * rng.standard_normal((N, 40)) + 4.0 * group[:, None]
    two = (rng.random((N, 50)) < 1 / (1 + np.exp(-z @ (2 * rng.standard_normal((2, 50)))))).astype(float)
    inputs = {"views": tools.datasets([one, two]), "groups": tools.groups(N, "ab")}
    run = fit("group_factor", inputs, {"n_factors": 4}, chains=1)
    return run, inputs, z, one, group


def test_noise_and_size_are_each_groups_own(fitted):
    run, _, z, _, _ = fitted
    assert tools.recovery(run.results["scores"].values, z) > 0.97
    chain = run.kept().chains[0]
    tau = chain.draw("tau", chain.n_draws - 1)[:, :40]
    assert np.median(1 / np.sqrt(tau), axis=1) == pytest.approx([0.5, 1.5], rel=0.1)
    precision = chain.draw("score_precision", chain.n_draws - 1)
    assert (precision.max(axis=0) / precision.min(axis=0)).max() > 20


def test_a_shift_between_groups_is_no_factor(fitted):
    run, inputs, _, one, group = fitted
    assert run.results["scores"].values.shape[1] == 2
    alone = fit("group_factor", {"views": inputs["views"]}, {"n_factors": 4}, chains=1)
    assert alone.results["scores"].values.shape[1] > 2  # without groups the shift is one
    model, plan = registry().model("group_factor"), make_plan(registry().model("group_factor"), inputs)
    mean, sd = model.fitted(run.kept(), plan.data, plan.params, "views", 0, np.arange(40))
    for g, spread in ((0, 0.5), (1, 1.5)):
        assert mean[group == g].mean(axis=0) == pytest.approx(one[group == g].mean(axis=0), abs=0.15)
        assert np.median(sd[group == g]) == pytest.approx(spread, rel=0.25)


def test_variance_is_explained_by_group(fitted):
    run, _, _, _, _ = fitted
    share = run.results["variance_by_group"].values  # (group, view, factor)
    assert share.shape == (2, 2, 2)
    silent = share[1, 0].argmin()
    assert share[0, 0, silent] > 0.2
    assert abs(share[1, 0, silent]) < 0.03
    assert run.results["sample_group"].values.tolist() == ["a", "b"]
    whole = explained(np.array([[90.0], [80.0], [110.0], [100.0]]))
    assert whole[:, 0] == pytest.approx([0.2, 0.2])


def test_without_groups_none_is_shown():
    arrays, _ = tools.views(1)
    results = tools.run(arrays, {"n_factors": 2}, max_sweeps=5).results
    assert results["sample_group"].values.shape == (0,)
    assert results["variance_by_group"].values.shape == (0, *results["variance_explained"].values.shape)


def test_new_samples_need_a_known_group(fitted):
    run, inputs, _, _, _ = fitted
    model, plan = registry().model("group_factor"), make_plan(registry().model("group_factor"), inputs)
    views = plan.data["views"]

    def new(categories):
        part = tuple(
            Block(v.name, v.values[:60], v.observed[:60], None, (v.names[0][:60], v.names[1])) for v in views
        )
        codes = np.arange(60) % 2
        labels = Block("g", codes, codes >= 0, None, (views[0].names[0][:60],), categories)
        return ModelData({"views": part, **({"groups": labels} if categories else {})})

    found = model.predict(run.kept(), plan.data, new(("a", "b")), plan.params)
    assert np.abs(found["new_scores"].values - run.results["scores"].values[:60]).max() < 0.1
    assert found["new_expected"].values[1::2, :40].mean() > 3
    with pytest.raises(ModelError, match="knows no sample group “c”"):
        model.predict(run.kept(), plan.data, new(("a", "c")), plan.params)
    with pytest.raises(ModelError, match="need theirs"):
        model.predict(run.kept(), plan.data, new(()), plan.params)


def test_a_feature_that_varies_only_between_groups_is_left_out():
    rng = np.random.default_rng(0)
    views = rng.standard_normal((20, 6))
    views[:, 2] = np.arange(20) % 2
    inputs = {"views": tools.datasets([views]), "groups": tools.groups(20, "ab")}
    plan = make_plan(registry().model("group_factor"), inputs, {"n_factors": 2})
    assert "“a2”) left out, constant in every sample group" in plan.warnings[0].message
    run = fit("group_factor", inputs, {"n_factors": 2}, chains=1, max_sweeps=10)
    assert run.results["loadings"].values.shape[1] == 5
    assert np.isfinite(run.chains[0].trace.snapshot()["elbo"]).all()


def test_names_that_occur_twice_are_named():
    with pytest.raises(DataError, match="“s1” occurs more than once"):
        tools.dataset("a", np.eye(3), rows=("s1", "s2", "s1"))


@pytest.mark.parametrize("word", every(["bernoulli", "poisson"], 2))
def test_groups_that_differ_in_base_rates_alone_get_no_factor_for_it(word):
    """A factor common to both groups, and rates of their own: without the intercepts by group a factor tells them apart."""
    rng = np.random.default_rng(8)
    group, z = np.arange(N) % 2, rng.standard_normal((N, 1))
    rates = np.where(group[:, None] == 1, 1.0, -1.0) * rng.standard_normal(60)
    x = rates + 1.5 * z @ (rng.standard_normal((1, 60)) * (rng.random(60) < 0.5))
    y = rng.random((N, 60)) < 1 / (1 + np.exp(-x)) if word == "bernoulli" else rng.poisson(np.logaddexp(0, x))
    y = y.astype(float)
    y[rng.random(y.shape) < 0.1] = np.nan
    views = tools.datasets([y])
    inputs = {"views": views, "groups": tools.groups(N, "ab", rows=views[0].row_names)}
    found = {}
    for own in (True, False):
        run = fit("group_factor", inputs, {"n_factors": 4, "group_intercepts": own}, chains=1, holdout=0.05)
        scores = run.results["scores"].values
        found[own] = max(tools.auc(scores[:, k], group == 1) for k in range(scores.shape[1]))
        assert tools.recovery(scores, z) > 0.8
    assert found[False] > 0.95
    assert found[True] < 0.65
    chain = run.kept().chains[0]
    assert chain.draw("group_intercept", 0).shape == (2, 60)


def test_expected_rates_are_each_groups_own():
    """Of cells kept from the fit, of fitted values and of new samples."""
    rng = np.random.default_rng(9)
    group = np.arange(N) % 2
    rates = np.where(group[:, None] == 1, 0.8, 0.2)
    y = (rng.random((N, 30)) < rates).astype(float)
    views = tools.datasets([y])
    inputs = {"views": views, "groups": tools.groups(N, "ab", rows=views[0].row_names)}
    run = fit("group_factor", inputs, {"n_factors": 2}, chains=1)
    model, plan = registry().model("group_factor"), make_plan(registry().model("group_factor"), inputs)
    mean, _ = model.fitted(run.kept(), plan.data, plan.params, "views", 0, np.arange(30))
    new = model.predict(run.kept(), plan.data, plan.data, plan.params)["new_expected"].values
    for g, rate in ((0, 0.2), (1, 0.8)):
        assert mean[group == g].mean() == pytest.approx(rate, abs=0.02)
        assert new[group == g].mean() == pytest.approx(rate, abs=0.02)
    share = run.results["total_explained"].values[0]
    assert abs(share) < 0.12  # beside the rates of the groups there is nothing
    scored = fit("group_factor", inputs, {"n_factors": 2}, chains=1, holdout=0.1).results["held_out"].columns
    entropy = -(0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    assert scored["Constant"][0] == pytest.approx(-entropy, abs=0.06)  # 720 cells: three standard errors
