"""Equal values, copies of columns and rows on a plane: a density without bound where spreads are learned, unless they have a least value."""

import numpy as np
import pytest
from dp_tools import LEARNED, MODEL, adjusted_rand, chain, fit_by_hand, keep, matrices, settings
from plaid_tools import with_fault
from scipy import stats
from scipy.special import gammaln

from plaidwork.core.api import Clock
from plaidwork.plugins.dirichlet_processes.joint import log_share_above
from plaidwork.plugins.dirichlet_processes.joint_layout import pieces
from plaidwork.plugins.dirichlet_processes.kernels import scatter
from plaidwork.plugins.dirichlet_processes.kernels.scatter import gamma_above, lower_root, wishart_above
from plaidwork.plugins.dirichlet_processes.model import table_of
from plaidwork.plugins.dirichlet_processes.reading import read
from plaidwork.plugins.dirichlet_processes.results import _agreement

N = 60


def tables():
    """Tables as they come, by what is odd of them."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=N), rng.normal(size=N)
    zeros = np.where(rng.random(N) < 0.7, 0.0, a)
    half = np.where(np.arange(N) < 45, a, 200.0 * a)
    rows = np.column_stack([a, b])[rng.integers(0, 8, N)]
    return {
        "one column of ties": zeros[:, None],
        "ties beside": np.column_stack([zeros, b]),
        "duplicate rows": rows,
        "a column twice": np.column_stack([a, a, b]),
        "equal in most rows": np.column_stack([b, a, half]),
        "a sum": np.column_stack([a, b, a + b]),
        "zeros and ones": np.column_stack([a, (b > 0).astype(float), b]),
        "whole numbers": np.round(3.0 * np.column_stack([a, b])),
        "large numbers": 1e9 * np.column_stack([np.exp(3.0 * a), b]),
        "one value": np.full((N, 1), 3.0),
        "few rows": np.column_stack([a, b, a - b])[:3],
        "gaps": np.where(rng.random((N, 3)) < 0.2, np.nan, np.column_stack([a, a, zeros])),
    }


def swept(values, seed, sweeps=60, **changed):
    """The state of a chain after some sweeps, with its traces."""
    data, params = (
        matrices(X=values),
        settings(likelihoods="", **{**LEARNED, "judge_columns": False, **changed}),
    )
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    state = MODEL.init(data, params, rng)
    for sweep in range(sweeps):
        while (found := MODEL.step(state, data, params, rng, Clock(sweep, sweeps // 2))) is None:
            pass
    return state, found, table_of(data, params)


def least_pivots(state, table):
    """The variance in Psi0 of each correlated column given those before it."""
    found = [
        np.diag(lower_root(state["base"]["psi"][square].reshape(d, d))) ** 2
        for d, _, square in pieces(table.joint_first)
    ]
    return np.concatenate([np.zeros(0), *found])


@pytest.mark.parametrize("columns", [8, 0], ids=["correlated", "independent"])
@pytest.mark.parametrize("name", tables())
def test_no_table_ends_with_an_error(name, columns):
    values = tables()[name]
    for start in ("together", "means"):
        state, traces, table = swept(values, 3, start=start, correlated_columns=columns)
        assert np.isfinite(traces["log_joint"])
        assert (least_pivots(state, table) >= 0.999 * 3.0 * table.joint_least).all()
        assert (state["base"]["b0"] >= 1.5 * table.least).all()


def test_without_a_least_spread_rows_on_a_plane_end_it():
    """The fault that the bound is for: the matrix runs to a singular one."""
    with np.errstate(all="ignore"), pytest.raises(ZeroDivisionError):
        swept(tables()["equal in most rows"], 0, 400, least_within=0.0)


def test_draws_of_measurements_are_those_without_the_bound():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.normal(size=(30, 3)), 5.0 + rng.normal(size=(30, 3))])
    values[rng.random(values.shape) < 0.1] = np.nan
    for columns in (8, 0):
        one, other = (
            chain(
                MODEL,
                matrices(X=values),
                settings(
                    likelihoods="gaussian_full" if columns else "gaussian", least_within=least, **LEARNED
                ),
                60,
                4,
            )
            for least in (0.0, 1e-8)
        )
        assert np.array_equal(one[0], other[0])
        assert one[1] == pytest.approx(other[1], rel=1e-12)


@pytest.mark.parametrize(("shape", "least"), [(2.5, 1.0), (6.0, 9.0), (40.0, 300.0), (3.0, 1e-6)])
def test_gamma_numbers_from_a_least_one_on(shape, least):
    rng = np.random.default_rng(7)
    drawn = np.array([gamma_above(rng, shape, least) for _ in range(5000)])
    assert drawn.min() >= least
    share = stats.gamma.sf(drawn, shape) / stats.gamma.sf(least, shape)
    assert stats.kstest(share, "uniform").pvalue > 0.001


def test_a_fault_in_gamma_numbers_is_found():
    wrong = with_fault(
        gamma_above, "math.log1p(-rng.random()) <= (shape - 1.0)", "math.log1p(-rng.random()) <= shape"
    )
    rng = np.random.default_rng(7)
    drawn = np.array([wrong(rng, 6.0, 9.0) for _ in range(5000)])
    share = stats.gamma.sf(drawn, 6.0) / stats.gamma.sf(9.0, 6.0)
    assert stats.kstest(share, "uniform").pvalue < 1e-6


INVERSE = np.array([[2.0, -0.9, 0.3], [-0.9, 1.5, 0.2], [0.3, 0.2, 1.0]])
BOUNDS = np.array([5.0, 4.0, 6.0])


def bounded_draws(draw, count=4000):
    """Entries of Psi0 of many draws, to compare; (count, 4)"""
    rng, found = np.random.default_rng(11), []
    for _ in range(count):
        psi = draw(rng)
        found.append([psi[0, 0], psi[1, 2], psi[2, 2], np.linalg.det(psi)])
    return np.array(found)


def by_rejection(rng):
    law = stats.wishart(7.5, np.linalg.inv(INVERSE))
    while True:
        psi = law.rvs(random_state=rng)
        if (np.diag(np.linalg.cholesky(psi)) ** 2 >= BOUNDS).all():
            return psi


@pytest.mark.slow
def test_bounded_wishart_matrices():
    """Against rejection, 4000 draws each; a fault (degrees of the rows in the wrong order) is found."""
    expected = bounded_draws(by_rejection)
    found = bounded_draws(lambda rng: wishart_above(rng, 7.5, INVERSE, BOUNDS))
    assert min(stats.ks_2samp(a, b).pvalue for a, b in zip(expected.T, found.T, strict=True)) > 0.001
    wrong = with_fault(scatter.wishart_above, "0.5 * (df - i)", "0.5 * (df - d + i)")
    found = bounded_draws(lambda rng: wrong(rng, 7.5, INVERSE, BOUNDS))
    assert min(stats.ks_2samp(a, b).pvalue for a, b in zip(expected.T, found.T, strict=True)) < 1e-6


def test_columns_that_follow_from_others_are_left_out():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=N), rng.normal(size=N)
    values = np.column_stack([a, np.full(N, 2.0), 1e6 - 32.0 * a, b, a + b, np.round(a, 2)])
    data, params = matrices(X=values), settings(likelihoods="", judge_columns=False, **LEARNED)
    assert read(data, params).joint_of[:, 1].tolist() == [0, 3, 5]
    assert read(data, {**params, "least_within": 0.0}).joint_of[:, 1].tolist() == list(range(6))
    independent = read(data, {**params, "correlated_columns": 0})
    assert independent.number_of[:, 1].tolist() == [0, 2, 3, 4, 5]
    assert read(matrices(X=np.full((N, 2), 2.5)), params).joint_of[:, 1].tolist() == [0]
    few = read(matrices(X=values[:4, [0, 3, 4]]), params)
    assert few.joint_of[:, 1].tolist() == [0, 1, 2], "four rows agree with a plane by themselves"


def test_results_and_new_samples_without_what_follows():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 30)
    a = 8.0 * truth + rng.normal(size=N)
    b = rng.normal(size=N)
    data = matrices(X=np.column_stack([a, 2.54 * a, b, a - b]))
    params = settings(likelihoods="gaussian_full", **LEARNED)
    kept = keep(data, params, 2, 40, 40)
    found = MODEL.summarise(kept, data, params)
    assert adjusted_rand(np.asarray(found["labels"].values), truth) >= 0.95
    assert list(found["column_names"].values) == ["X1", "X3"]
    new = MODEL.predict(kept, data, data, params)
    assert np.isfinite(new["probability"].values).all()


def test_the_step_of_rounded_values():
    whole = np.random.default_rng(3).integers(20, 60, N).astype(float)
    params = settings(likelihoods="gaussian_full", **{**LEARNED, "standardise": True})
    table = read(matrices(X=np.column_stack([whole / 10.0, np.random.default_rng(4).normal(size=N)])), params)
    assert table.joint_least[0] == pytest.approx(0.01 / 12.0 / (whole / 10.0).var())
    assert table.joint_least[1] == 1e-8


@pytest.mark.parametrize(("least", "bounded"), [(1e-8, True), (0.0, False)])
def test_the_spread_of_whole_numbers_stays_that_of_rounding(least, bounded):
    """Scores of one cloud, 300 of them at ten values: without a bound the clusters are single values, without any width."""
    cloud = np.round(np.random.default_rng(6).normal(50.0, 1.5, 300))
    params = settings(
        likelihoods="gaussian_full",
        **{**LEARNED, "start": "together", "least_within": least, "learn_shape": False},
    )
    spread = keep(matrices(X=cloud[:, None]), params, 1, 60, 30).chains[0].stack("base_spread")
    assert (spread.min() >= 0.999 * 3.0 / 12.0 / cloud.var()) == bounded
    assert (spread.max() < 1e-9) != bounded


def test_two_clouds_of_whole_numbers():
    rng, truth = np.random.default_rng(6), np.repeat([0, 1], 100)
    cloud = np.round(rng.normal(50.0, 4.0, 200)) + 40.0 * truth
    columns = np.column_stack([cloud, cloud < 70.0, rng.normal(size=200)])
    found = fit_by_hand(matrices(X=columns), settings(likelihoods="", **LEARNED), 4, 80, 40)
    assert adjusted_rand(np.asarray(found["labels"].values), truth) >= 0.95


def said(values, **changed):
    return [p.message for p in MODEL.validate(matrices(X=values), settings(likelihoods="", **changed))]


def test_what_is_degenerate_is_said_before_the_start():
    found = tables()
    follows = "Column “X2” of “X” follows from other columns by a linear formula."
    assert said(found["a column twice"]) == [follows]
    assert said(found["a column twice"], correlated_columns=0) == [follows]
    assert said(found["a sum"]) == ["Column “X3” of “X” follows from other columns by a linear formula."]
    most = "Column “X1” of “X” has the same value in more than half of the rows."
    assert said(found["ties beside"]) == [most]
    equal = "2 columns, “X2”, “X3” of “X” are equal in more than half of the rows."
    assert said(found["equal in most rows"]) == [equal]
    assert said(np.random.default_rng(1).normal(size=(N, 3))) == []


def test_headlines_do_not_contradict_themselves():
    assert _agreement(1, 38, 0, 1.0, "no sample uncertain") == "no sample uncertain"
    assert _agreement(1, 38, 3, 0.6, "3 of 38 samples uncertain") == "3 of them often apart from the others"
    many = "but only in 34 % of the draws; the others part them in different ways"
    assert _agreement(1, 38, 38, 0.34, "38 of 38 samples uncertain") == many
    several = "one of many groupings that are about as probable: 30 of 38 samples uncertain"
    assert _agreement(3, 38, 30, 0.0, "30 of 38 samples uncertain") == several
    assert _agreement(3, 38, 5, 0.0, "5 of 38 samples uncertain") == "5 of 38 samples uncertain"


@pytest.mark.parametrize("shape", [0.5, 2.0, 4.5])
def test_share_of_a_law_beyond_a_bound_too_far_for_a_number(shape):
    """Against scipy's where it has one; beyond, against two terms of its expansion."""
    near = np.array([0.0, 0.3, 5.0, 80.0])
    assert log_share_above(shape, near) == pytest.approx(stats.gamma.logsf(near, shape), abs=1e-9)
    far = np.array([900.0, 1e6])
    found = log_share_above(shape, far)
    more = np.log1p((shape - 1) / far)
    assert found == pytest.approx((shape - 1) * np.log(far) - far - gammaln(shape) + more, abs=0.01, rel=0)
