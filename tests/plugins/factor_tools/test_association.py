"""Association of factors with covariates: against SciPy, values worked out by hand, and coverage of the intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.analysing import run_analysis
from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.assessment import newcombe
from plaidwork.core.errors import DataError, ModelError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session
from plaidwork.plugins.factor_tools import association
from plaidwork.plugins.factor_tools.covariates import FactorsAndCovariates
from tests.gui.factor_runs import FactorModel

RNG = np.random.default_rng(20)


def test_correlations_equal_scipy():
    x = RNG.normal(size=40)
    y = np.round(x + RNG.normal(size=40), 1)  # ties
    pearson, spearman = stats.pearsonr(x, y), stats.spearmanr(x, y)
    found = association.correlation(x, y, ranks=False, interval=0.9)
    assert (found.effect, found.p) == pytest.approx((pearson.statistic, pearson.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(pearson.confidence_interval(0.9)))
    assert found.spearman == pytest.approx(spearman.statistic)
    ranks = association.correlation(x, y, ranks=True, interval=0.9)
    assert (ranks.effect, ranks.p, ranks.pearson) == pytest.approx(
        (spearman.statistic, spearman.pvalue, pearson.statistic)
    )
    half = stats.norm.ppf(0.95) * math.sqrt((1 + ranks.effect**2 / 2) / 37)
    assert ranks.low == pytest.approx(math.tanh(math.atanh(ranks.effect) - half))
    assert ranks.high == pytest.approx(math.tanh(math.atanh(ranks.effect) + half))
    assert math.isnan(association.correlation(x, np.ones(40), True, 0.95).p)
    assert math.isnan(association.correlation(x[:3], y[:3], True, 0.95).p)
    perfect = association.correlation(x, 2 * x, ranks=False, interval=0.95)
    assert perfect.low <= perfect.effect == pytest.approx(1)


def test_auc_is_that_of_mann_and_whitney():
    first, second = np.array([1.0, 2, 3, 4]), np.array([3.0, 5, 6])
    found = association.two_classes(first, second, 0.95)
    # of the 12 pairs the second is larger in 10, and equal in one
    assert found.effect == pytest.approx(10.5 / 12)
    assert found.signed == pytest.approx(2 * 10.5 / 12 - 1)
    assert found.p == pytest.approx(stats.mannwhitneyu(second, first, alternative="two-sided").pvalue)
    # means 2.5 and 14/3, squares 5 and 14/3, 5 degrees of freedom
    assert found.difference == pytest.approx((14 / 3 - 2.5) / math.sqrt((5 + 14 / 3) / 5))
    turned = association.two_classes(second, first, 0.95)
    assert (turned.effect, turned.low, turned.high) == pytest.approx((found.effect, found.low, found.high))
    assert turned.signed == pytest.approx(-found.signed)
    assert math.isnan(association.two_classes(first, second[:0], 0.95).p)


def test_auc_interval_solves_its_equation():
    n1, n2, auc, z = 30, 50, 0.8, stats.norm.ppf(0.975)
    for bound in newcombe(auc, n1, n2, 0.95):
        more = (n1 + n2) / 2 - 1
        variance = bound * (1 - bound) / (n1 * n2)
        variance *= 1 + more * ((1 - bound) / (2 - bound) + bound / (1 + bound))
        assert abs(auc - bound) == pytest.approx(z * math.sqrt(variance), rel=1e-6)
    low, high = newcombe(1.0, 8, 9, 0.95)
    assert 0.5 < low < 1
    assert high == 1


def test_auc_interval_covers():
    """Normal scores one sd apart, 15 against 25: nominal 95 %; 600 draws give a standard error of 0.9 %."""
    rng = np.random.default_rng(7)
    truth, hits, n = stats.norm.cdf(1 / math.sqrt(2)), 0, 600
    for _ in range(n):
        second, first = rng.normal(1, 1, 25), rng.normal(0, 1, 15)
        auc = np.mean(second[:, None] > first)
        low, high = newcombe(float(auc), 15, 25, 0.95)
        hits += low <= truth <= high
    assert 0.92 <= hits / n <= 0.985


def test_classes_equal_scipy_and_hand():
    groups = [np.array([1.0, 2, 3]), np.array([2.0, 4]), np.array([6.0, 7, 8, 9])]
    found = association.several_classes(groups)
    values = np.concatenate(groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups)
    assert found.effect == pytest.approx(1 - within / ((values - values.mean()) ** 2).sum())
    assert found.signed == pytest.approx(math.sqrt(found.effect))
    assert found.p == pytest.approx(stats.kruskal(*groups).pvalue)
    assert math.isnan(association.several_classes([np.ones(3), np.ones(2), np.ones(4)]).p)


# the analysis --------------------------------------------------------------------------------------------------------


def made(scores, table, names=None):
    """A finished run with these scores of rows, and annotations of the rows."""
    n = len(scores)
    data = Dataset(
        "X",
        np.random.default_rng(1).normal(size=(n, 3)),
        tuple(f"p{i}" for i in range(n)),
        ("a", "b", "c"),
        row_table=table,
        column_table={"weight": np.arange(3.0)},
        row_label="patients",
    )
    run = Session().add_run(make_plan(FactorModel(), {"X": data}))
    run.status = "done"
    run.results = {"scores": Result(scores, ("patient", "factor"))}
    if names:
        run.results["factor"] = Result(np.array(names), ("factor",))
    return run


@pytest.fixture
def run():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(60, 3))
    half = np.where(np.arange(60) % 2, "U", "M").astype(object)
    scores[:, 1] += 2.5 * (half == "U")
    half[:4] = ""
    age = scores[:, 0] + 0.4 * rng.normal(size=60)
    age[5] = np.nan
    table = {
        "IGHV": half,
        "age": age,
        "noise": rng.normal(size=60),
        "site": np.array([f"site {i % 4}" for i in range(60)], dtype=object),
        "name": np.array([f"n{i}" for i in range(60)], dtype=object),
        "constant": np.array(["x"] * 60, dtype=object),
        "gain": np.where(np.arange(60) < 20, 1, 0),
    }
    return made(scores, table, ("First", "Second", "Third"))


def rows(record):
    columns = record.results["associations"].columns
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def test_all_covariates_are_tested_and_adjusted_together(run):
    record = run_analysis(run, FactorsAndCovariates())
    found = {(row["Factor"], row["Covariate"]): row for row in rows(record)}
    assert len(found) == 3 * 5  # age, noise, IGHV, site, gain; “name” and “constant” are left out
    p = np.array([row["p"] for row in found.values()])
    np.testing.assert_allclose(
        [row["Adjusted p"] for row in found.values()], stats.false_discovery_control(p)
    )
    assert [row["Adjusted p"] for row in rows(record)] == sorted(row["Adjusted p"] for row in rows(record))
    scores, table = run.results["scores"].values, run.session.datasets["X"].row_table
    known = ~np.isnan(table["age"])
    age = found["First", "age"]
    assert (age["n"], age["Measure"], age["Type"]) == (59, "Spearman", "number")
    assert age["Effect"] == pytest.approx(stats.spearmanr(scores[known, 0], table["age"][known]).statistic)
    ighv = found["Second", "IGHV"]
    u, m = (scores[table["IGHV"] == label, 1] for label in ("U", "M"))
    assert (ighv["n"], ighv["Higher in"], ighv["Measure"]) == (56, "U", "AUC")
    assert ighv["Effect"] == pytest.approx(stats.mannwhitneyu(u, m).statistic / (len(u) * len(m)))
    assert found["Third", "site"]["Type"] == "4 classes"
    assert found["Third", "gain"]["Type"] == "2 classes"  # a number with two values
    assert "“name” (60 labels)" in record.text("caption")
    assert "“constant” (one value only)" in record.text("caption")


def test_what_it_says_and_draws(run):
    record = run_analysis(run, FactorsAndCovariates(), {"covariates": ["IGHV", "noise"]})
    assert record.text("headline").startswith("Second separates IGHV: AUC 0.9")
    results = record.results
    assert results["signed"].values.shape == results["significant"].values.shape == (2, 3)
    assert list(results["covariate"].values) == ["IGHV: U", "noise"]
    assert list(results["factor"].values) == ["First", "Second", "Third"]
    assert results["significant"].values[0, 1] == 1
    assert results["signed"].values[0, 1] > 0.8
    nothing = run_analysis(run, FactorsAndCovariates(), {"covariates": ["noise"]}, {"significance": 1e-6})
    assert nothing.text("headline").startswith("None of 3 associations stands out")
    pearson = run_analysis(run, FactorsAndCovariates(), {"covariates": "age"}, {"correlation": "pearson"})
    assert "follows age: Pearson correlation" in pearson.text("headline")


def test_p_is_uniform_without_association():
    """400 p of unrelated covariates of every type: Kolmogorov-Smirnov at 1e-3."""
    rng = np.random.default_rng(11)
    n = 80
    table = {f"x{j}": rng.normal(size=n) for j in range(20)}
    table |= {f"g{j}": rng.choice(["a", "b"], n).astype(object) for j in range(10)}
    table |= {f"c{j}": rng.choice(["a", "b", "c"], n).astype(object) for j in range(10)}
    record = run_analysis(made(rng.normal(size=(n, 10)), table), FactorsAndCovariates())
    p = np.array([row["p"] for row in rows(record)])
    assert len(p) == 400
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_scores_may_lie_the_other_way_and_have_gaps(run):
    scores = run.results["scores"].values.copy()
    scores[7] = np.nan
    run.results["scores"] = Result(scores.T, ("factor", "patient"))
    record = run_analysis(run, FactorsAndCovariates(), {"covariates": ["noise"]})
    assert {row["n"] for row in rows(record)} == {59}


def test_what_cannot_be_compared_is_told(run):
    with pytest.raises(ModelError, match=r"None of the covariates.*“name” \(60 labels\)"):
        run_analysis(run, FactorsAndCovariates(), {"covariates": ["name", "constant"]})
    with pytest.raises(DataError, match="no such annotation"):
        run_analysis(run, FactorsAndCovariates(), {"covariates": ["X:column:weight"]})
    run.results["scores"] = Result(np.zeros((60, 0)), ("patient", "factor"))
    with pytest.raises(ModelError, match="no factor"):
        run_analysis(run, FactorsAndCovariates(), {"covariates": ["noise"]})
