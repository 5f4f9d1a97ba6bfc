"""What is found does not depend on the unit of a view, nor on how large counts are; and what is said where nothing is found."""

import group_factor_tools as tools
import numpy as np
import pytest

from plaidwork.core.errors import ModelError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.group_factor.density import log_share_of_counts
from plaidwork.plugins.group_factor.imputation import of_logarithms
from plaidwork.plugins.group_factor.inputs import likelihoods_of
from plaidwork.plugins.group_factor.settings import SMALL_COUNTS

SETTINGS = {"n_factors": 5, "dtype": "float64"}


def planted(n=80, d=24, k=2, seed=0):
    """(N, D) means of k sparse factors with some noise, and their values (N, k)."""
    rng = np.random.default_rng(seed)
    z, w = rng.standard_normal((n, k)), rng.standard_normal((d, k)) * (rng.random((d, k)) < 0.6)
    return z, z @ w.T


def recovered(run, z):
    """Share of the variance of the planted factors that those found explain."""
    found = np.column_stack([np.ones(len(z)), run.results["scores"].values])
    left = z - found @ np.linalg.lstsq(found, z, rcond=None)[0]
    return 1 - (left**2).sum() / ((z - z.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("unit", [1e6, 40.0, 0.02, 1e-5])
def test_the_unit_of_a_view_changes_nothing(unit):
    """Without (scale_features = none) nothing at all is found at a unit of a million."""
    z, mean = planted()
    values = mean + 0.5 * np.random.default_rng(1).standard_normal(mean.shape)
    plain = tools.run([values / values.std(axis=0).mean()], SETTINGS, max_sweeps=300)
    other = tools.run([unit * values], SETTINGS, max_sweeps=300)
    assert recovered(other, z) > 0.9
    assert other.results["scores"].values.shape == plain.results["scores"].values.shape
    np.testing.assert_allclose(
        other.results["total_explained"].values, plain.results["total_explained"].values, atol=2e-3
    )
    assert "divided by its standard deviation" in other.results["caption"]
    if unit == 1e6:
        as_given = tools.run([unit * values], SETTINGS | {"scale_features": "none"}, max_sweeps=300)
        said = "No factor was found: nothing is seen that features of a have in common"
        assert as_given.results["headline"] == said


@pytest.mark.parametrize("level", [10.0, 50.0, 400.0])
def test_large_counts_are_fitted_as_logarithms(level):
    """Of which a Poisson likelihood finds little or nothing, its bound being loose."""
    z, mean = planted()
    counts = np.random.default_rng(1).poisson(level * np.exp(0.5 * mean)).astype(float)
    run = tools.run([counts], SETTINGS, max_sweeps=300)
    assert run.results["likelihoods"].values.tolist() == ["log"]
    assert recovered(run, z) > 0.9
    assert recovered(tools.run([counts], SETTINGS | {"likelihoods": "poisson"}, max_sweeps=300), z) < 0.6
    assert "Gaussian of log(1 + count)" in run.results["caption"]
    (told,) = (p for p in planned(counts, SETTINGS).warnings if p.where == "likelihoods")
    assert told.message.endswith("so log(1 + count) is fitted.")


def words(values, **settings):
    made = planned(values, settings)
    return likelihoods_of(made.data["views"], made.params)


def planned(values, settings):
    return make_plan(registry().model("group_factor"), {"views": tools.datasets([values])}, settings)


def test_small_counts_are_poisson_and_what_is_said_holds():
    rng = np.random.default_rng(0)
    small, large = (rng.poisson(mean, (40, 6)).astype(float) for mean in (1.0, 20.0))
    large[::9] = 0  # else they are taken for grades
    assert small.mean() < SMALL_COUNTS < large.mean()
    assert (words(small), words(large)) == (("poisson",), ("log",))
    assert words(large, likelihoods="poisson") == ("poisson",)
    assert words(large, log_above=0) == ("poisson",), "as runs stored before"
    assert words(small, likelihoods="a = log") == ("log",)


def test_counts_as_logarithms_come_back_as_counts():
    """Imputed cells, scores of held-out cells and of new samples are on the scale of the data."""
    _, mean = planted(n=120)
    counts = np.random.default_rng(1).poisson(30 * np.exp(0.5 * mean)).astype(float)
    counts[3, 0] = 0
    run = tools.run([counts], SETTINGS, max_sweeps=300, holdout=0.1)
    made = make_plan(
        registry().model("group_factor"),
        {"views": tools.datasets([counts])},
        SETTINGS,
        seed=run.seed,
        holdout=0.1,
    )
    model, columns = registry().model("group_factor"), np.arange(counts.shape[1])
    cells, sd = model.fitted(run.kept(), made.data, made.params, "views", 0, columns)
    out = made.data["views"][0].held_out
    assert out.any()
    far = np.abs(cells - counts)[out] / sd[out]
    assert 0.8 < (far < 1.96).mean() <= 1, "of 95 %"
    scored = run.results["held_out"].columns
    assert scored["Log likelihood"][0] > scored["Constant"][0] + 0.3
    rows, at = np.nonzero(out)
    density = model.log_likelihood(run.kept().chains[0], np.arange(1), made.data, made.params, 0, rows, at)
    assert density.mean() == pytest.approx(scored["Log likelihood"][0], abs=0.3)

    found = model.predict(run.kept(), made.data, made.data, made.params)
    scores = run.results["scores"].values
    for k in range(scores.shape[1]):
        assert np.corrcoef(found["new_scores"].values[:, k], scores[:, k])[0, 1] > 0.99
    assert np.median(found["new_expected"].values / (cells + 1)) == pytest.approx(1, abs=0.2)
    half = planned(counts + 0.5, {}).data
    with pytest.raises(ModelError, match="other values"):
        model.predict(run.kept(), made.data, half, made.params)


def test_the_probabilities_of_counts_sum_to_one():
    counts = np.arange(4000.0)
    for mean, sd in ((0.1, 0.3), (1.5, 0.6), (4.0, 1.0), (6.0, 0.05)):
        share = np.exp(log_share_of_counts(counts, np.full(4000, mean), np.full(4000, sd)))
        assert share.sum() == pytest.approx(1.0, abs=1e-4)
        if sd < 1:
            whole, spread = of_logarithms(np.array([mean]), np.array([sd]))
            assert (share * counts).sum() == pytest.approx(whole[0], rel=0.2, abs=0.1)
            assert spread[0] > 0
    assert np.isfinite(
        log_share_of_counts(np.array([0.0, 1e6]), np.array([20.0, 0.0]), np.array([0.1, 0.1]))
    ).all()
