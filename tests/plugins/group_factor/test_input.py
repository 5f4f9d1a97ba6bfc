"""Bad and odd input: clear words, never NaN; likelihoods by name; joining."""

import group_factor_tools as tools
import numpy as np
import pytest

from plaidwork.core.data.column_scales import unlike_scales
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.suitability import Choices, suggestion
from plaidwork.plugins.group_factor.reading import moments, units_of

RNG = np.random.default_rng(0)
GOOD = RNG.standard_normal((20, 6))
BITS = (RNG.random((20, 5)) < 0.4).astype(float)
COUNTS = RNG.poisson(3.0, (20, 4)).astype(float)


def plan(arrays, **settings):
    given = tools.datasets(arrays) if isinstance(arrays[0], np.ndarray) else arrays
    return make_plan(registry().model("group_factor"), {"views": given}, settings)


def changed(array, row, column, value):
    out = array.copy()
    out[row, column] = value
    return out


@pytest.mark.parametrize(
    ("array", "word", "says"),
    [
        (changed(BITS, 3, 2, 2.0), "bernoulli", "“b” is Bernoulli and needs 0 or 1. Found 2 at sample “s3”, feature “b2”"),
        (changed(COUNTS, 1, 0, 0.5), "poisson", "needs whole numbers from 0 on. Found 0.5 at sample “s1”, feature “b0”"),
        (changed(COUNTS, 1, 0, -1.0), "poisson", "Found -1"),
    ],
)  # fmt: skip
def test_values_that_a_likelihood_does_not_take(array, word, says):
    with pytest.raises(DataError, match="“b” is " + word.capitalize()) as error:
        plan([GOOD, array], likelihoods=f"b = {word}")
    assert says in error.value.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("normal", "knows guess, gaussian"),
        ("x = poisson", "names the view “x”"),
        ("gaussian, poisson", "2 words for 3 views"),
    ],
)
def test_likelihoods_that_are_not_understood(text, says):
    with pytest.raises((DataError, SettingError), match=says):
        plan([GOOD, BITS, COUNTS], likelihoods=text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("gaussian", "bernoulli", "poisson")),
        ("b = poisson", ("gaussian", "poisson", "poisson")),
        ("gaussian", ("gaussian",) * 3),
        ("guess, gaussian, guess", ("gaussian", "gaussian", "poisson")),
    ],
)
def test_likelihoods_given_or_guessed(text, words):
    run = tools.run([GOOD, BITS, COUNTS], {"likelihoods": text, "n_factors": 2}, max_sweeps=3)
    assert tuple(run.results["likelihoods"].values) == words


def test_constant_and_empty_features_are_left_out_by_name():
    odd = GOOD.copy()
    odd[:, 1], odd[:, 4] = 7.0, np.nan
    found = plan([odd, BITS]).warnings
    assert "a: 2 features (“a1”, “a4”) left out" in found[0].message
    run = tools.run([odd, BITS], {"n_factors": 2}, max_sweeps=5)
    assert run.results["loadings"].values.shape[1] == 4 + 5
    assert run.results["totals"].columns["Left out"].tolist() == [2, 0]


def test_events_that_never_or_always_happen_do_no_harm():
    bits = BITS.copy()
    bits[:, 0], bits[:, 1] = 0, 1
    run = tools.run([GOOD, bits], {"n_factors": 2}, max_sweeps=30)
    assert np.isfinite(run.results["scores"].values).all()
    assert np.isfinite(run.chains[0].trace.snapshot()["elbo"]).all()


def test_a_sample_without_any_view_is_named():
    one, two = GOOD.copy(), BITS.copy()
    one[5], two[5] = np.nan, np.nan
    assert any("1 sample (“s5”) without a known cell" in p.message for p in plan([one, two]).warnings)
    run = tools.run([one, two], {"n_factors": 2}, max_sweeps=20)
    assert np.abs(run.results["scores"].values[5]).max() < 1e-6
    assert run.results["scores_sd"].values[5] == pytest.approx(1.0)


def test_views_without_a_common_sample():
    one, two = tools.dataset("a", GOOD), tools.dataset("b", BITS, start=100)
    with pytest.raises(DataError, match="no row name in common"):
        plan([one, two])


def test_nothing_to_explain():
    with pytest.raises(DataError, match="No feature varies"):
        plan([np.ones((10, 3)) * 0.5])
    with pytest.raises(DataError, match="At least two samples"):
        plan([GOOD[:1]])


def test_unusual_scale_is_said_and_can_be_switched():
    (told,) = plan([GOOD * 1e6]).warnings
    assert (told.where, told.message.split(", ")[1]) == (
        "scale_features",
        "so all its values are divided by that.",
    )
    (told,) = plan([GOOD * 1e6], scale_features="none").warnings
    assert told.where == "scale_views"
    assert not plan([GOOD * 1e6], scale_views=True).warnings
    small = tools.run([GOOD * 1e-6, BITS], {"scale_views": True, "n_factors": 2}, max_sweeps=20)
    plain = tools.run([GOOD / GOOD.std(), BITS], {"scale_views": True, "n_factors": 2}, max_sweeps=20)
    np.testing.assert_allclose(
        small.results["variance_explained"].values, plain.results["variance_explained"].values, atol=1e-6
    )


def test_a_feature_name_that_occurs_twice_is_named():
    with pytest.raises(DataError, match="a: the column name “a0” occurs more than once"):
        Dataset("a", GOOD, tuple(f"s{i}" for i in range(20)), ("a0", "a1", "a2", "a3", "a4", "a0"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_odd_things_at_once_never_give_nan(dtype):
    """A sample without any view, constant, empty and never happening features, a view with a single known cell."""
    one, two, three, four = GOOD.copy(), BITS.copy(), COUNTS.copy(), np.full((20, 2), np.nan)
    one[:, 0], one[:, 1], two[:, 0], two[:, 1], three[:, 0], three[:, 1] = 3.0, np.nan, 0, np.nan, 0, np.nan
    four[3, 0] = 1.5
    for view in (one, two, three):
        view[5] = np.nan
    settings = {"n_factors": 5, "dtype": dtype, "likelihoods": "gaussian, bernoulli, poisson, gaussian"}
    run = tools.run([one, two, three, four], settings, max_sweeps=40)
    assert np.isfinite(run.chains[0].trace.snapshot()["elbo"]).all()
    for name in ("scores", "scores_sd", "loadings", "inclusion", "variance_explained", "total_explained"):
        assert np.isfinite(run.results[name].values).all(), name


def test_views_can_be_taken_as_they_are():
    """A mean that stays in the data is a factor of its own, and comes back in fitted values."""
    rng = np.random.default_rng(3)
    y = 5.0 + rng.standard_normal((60, 20))
    centred, given = (tools.run([y], {"n_factors": 2, "centre_views": on}) for on in (True, False))
    assert centred.results["total_explained"].values[0] < 0.2
    assert given.results["total_explained"].values[0] > 0.9
    for run in (centred, given):
        plan = run.session.plan_of(run, registry())
        mean, _ = (
            registry()
            .model("group_factor")
            .fitted(run.kept(), plan.data, plan.params, "views", 0, np.arange(20))
        )
        assert mean.mean() == pytest.approx(5.0, abs=0.1)


def test_intercepts_may_start_at_zero():
    """Where they end does not depend on it; the state before the first sweep does."""
    arrays, _ = tools.views(2, words=("bernoulli",) * 3)
    settings = {"n_factors": 2, "likelihoods": "bernoulli"}
    plan = make_plan(registry().model("group_factor"), {"views": tools.datasets(arrays)}, settings)
    for start, zero in (("zero", True), ("rates", False)):
        params = {**plan.params, "intercept_start": start}
        state = plan.model.init(plan.data, params, np.random.default_rng(0))
        assert (state["mu"] == 0).all() == zero
    ends = [
        tools.run(arrays, {**settings, "intercept_start": start}).traces["elbo"][0][-1]
        for start in ("zero", "rates")
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1.0)


def test_features_of_unlike_units_are_divided_by_their_standard_deviations():
    """As of wines: millilitres beside milligrams. What is fitted is what standardised columns give; of like units nothing changes."""
    units = np.array([0.8, 1.1, 0.3, 3.3, 14.0, 315.0])
    (told,) = plan([GOOD * units]).warnings
    assert (told.where, told.transform) == ("scale_features", "")
    assert told.message.startswith("> 99 % of the variance of a is that of “a5”, so every feature is divided")
    assert (
        plan([GOOD * units], scale_features="none")
        .warnings[0]
        .message.endswith("would describe little else.")
    )
    assert not plan([GOOD * units], scale_features="all").warnings
    assert not plan([GOOD * np.linspace(1, 2, 6)]).warnings
    (told,) = plan([COUNTS * [1, 1, 1, 40]], likelihoods="poisson").warnings
    assert told.where == "likelihoods"

    settings = {"n_factors": 2, "dtype": "float64", "min_r2": 0}
    fitted = tools.run([GOOD * units], settings, max_sweeps=20).kept().chains[0]
    plain = (
        tools.run([GOOD / GOOD.std(axis=0)], settings | {"scale_features": "none"}, max_sweeps=20)
        .kept()
        .chains[0]
    )
    np.testing.assert_allclose(fitted.trace("elbo"), plain.trace("elbo"), rtol=1e-9)
    like, before = (
        tools.run([GOOD], {"n_factors": 2, "scale_features": choice}, max_sweeps=20).kept().chains[0]
        for choice in ("unlike", "none")
    )
    np.testing.assert_array_equal(like.trace("elbo"), before.trace("elbo"))
    data = tools.dataset("a", GOOD * units)

    model, names = suggestion(registry(), Choices({"a": data}))
    found = make_plan(registry().model(model), {key: [data] for key in names})
    assert not any(problem.transform for problem in found.warnings)


@pytest.mark.parametrize("groups", [False, True])
def test_one_outlier_does_not_decide_whether_units_are_unlike(groups):
    """A lost decimal point in a standardised table is no other unit, and hides none: neither do levels of sample groups."""
    rng = np.random.default_rng(5)
    like = rng.standard_normal((178, 13))
    unlike = like * np.r_[np.ones(12), 300.0]
    group = np.arange(178) % 2 * int(groups)
    like[:, 0] += 50 * group  # groups are centred
    for values, hidden, told in (
        (like, 0.0, False),
        (like, 1e4, False),
        (unlike, 0.0, True),
        (unlike, 1e7, True),
    ):
        table = values.copy()
        table[3, [1, 2]] += hidden
        found = moments(plan([table]).data["views"][0], group)
        assert unlike_scales(found.usual) == told, hidden
        unit = units_of(
            found, np.arange(13), {"scale_features": "unlike", "scale_views": False, "centre_views": True}
        )
        assert (unit != 1).all() == told
    plain = like.copy()
    plain[3, 1] += 1e4
    assert unlike_scales(plain.var(axis=0)), "which variances would have said"
