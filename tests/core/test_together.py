"""Whether columns go together within groups of similar rows (core/data/together.py)."""

import math

import numpy as np
import pytest
from scipy import stats
from together_tools import apart, oblique

from plaidwork.core.data import together
from plaidwork.core.data.together import gain_of_covariances, go_together


def gain(values):
    """Fresh, as what was found is kept by table."""
    together._gain.cache_clear()
    return gain_of_covariances(values, ~np.isnan(values))


def chain_of_predictives(rows, usual, shape):
    """Log evidence of the rows of one group, row by row by scipy's Student law."""
    d, total = rows.shape[1], 0.0
    for i, row in enumerate(rows):
        seen = rows[:i]
        mean = seen.mean(axis=0) if i else np.zeros(d)
        gap, k, freedom = seen - mean, 0.01 + i, d - 1.0 + 2.0 * shape + i
        psi = 2.0 * (shape - 1.0) * usual + gap.T @ gap + 0.01 * i / k * np.outer(mean, mean)
        df = freedom - d + 1.0
        total += stats.multivariate_t.logpdf(row, i * mean / k, psi * (k + 1.0) / (k * df), df)
    return total


def evidence_error():
    rng = np.random.default_rng(3)
    rows, group = (
        rng.normal(size=(11, 3)) @ rng.normal(size=(3, 3)),
        np.array([0, 1, 1, 0, 0, 2, 1, 0, 2, 2, 2]),
    )
    means = np.array([rows[group == k].mean(axis=0) for k in range(3)])
    usual = ((rows - means[group]) ** 2).mean(axis=0) + 1e-3
    found = together._evidences(rows, group)
    sizes = sum(math.lgamma(n) for n in (4, 3, 4))
    full = sum(chain_of_predictives(rows[group == k], np.diag(usual), 15.0) for k in range(3))
    each = sum(
        chain_of_predictives(rows[group == k][:, [j]], usual[[j]][:, None], 15.0)
        for k in range(3)
        for j in range(3)
    )
    return max(abs(found[0] - full - sizes), abs(found[1] - each - sizes))


def test_both_evidences_are_chains_of_students_laws():
    assert evidence_error() < 1e-9


@pytest.mark.parametrize("fault", ["freedom", "centre", "weight of the centre"])
def test_faults_of_the_evidence_are_found(fault, monkeypatch):
    right = together._log_evidence

    def wrong(size, scatter, usual):
        if fault == "freedom":  # as if a covariance had no more freedom than a variance
            return right(size, scatter, usual) + (len(usual) > 1) * 0.5 * float(np.log(size).sum())
        if fault == "centre":
            return right(size, scatter, usual) + 0.5 * len(usual) * float(np.log1p(100.0 * size).sum())
        return right(size, 0.9 * scatter, usual)

    monkeypatch.setattr(together, "_log_evidence", wrong)
    assert evidence_error() > 0.1


PLANTED = [(60, 12), (200, 10), (100, 30), (400, 40), (1500, 6), (200, 4)]


@pytest.mark.parametrize(("n", "d"), PLANTED)
@pytest.mark.parametrize("seed", [1, 2])
def test_groups_that_differ_do_not_make_columns_go_together(n, d, seed):
    rng = np.random.default_rng(seed)
    for values, wanted in ((apart(rng, n, d), False), (oblique(rng, n, d), True)):
        assert go_together(values, np.ones(values.shape, bool)) == wanted


def test_without_groups_columns_would_go_together(monkeypatch):
    """The fault that the groups are for: all columns of groups far apart are correlated."""
    monkeypatch.setattr(together, "_GROUPS", (1,))
    assert all(gain(apart(np.random.default_rng(seed), 400, 10)) > 100.0 for seed in (1, 2))


def test_groups_of_free_spread_never_speak_for_covariances_of_many_columns(monkeypatch):
    """The fault that a large shape is for."""
    rng = np.random.default_rng(4)
    mix = rng.normal(size=(3, 30, 30)) / math.sqrt(30)
    group = rng.integers(0, 3, 160)
    values = 1.1 * rng.normal(size=(3, 30))[group] + 0.3 * rng.normal(size=(160, 30))
    values += np.einsum("nij,nj->ni", mix[group], rng.normal(size=(160, 30)))
    assert gain(values) > 80.0
    monkeypatch.setattr(together, "_SHAPE", 2.5)
    assert gain(values) < 0.0


def test_units_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(5)
    values = oblique(rng, 80, 6)
    found = gain(values)
    assert gain(values[rng.permutation(80)]) == pytest.approx(found, rel=1e-9)
    assert gain(1e6 + 1e3 * values * np.geomspace(1e-3, 1e3, 6)) == pytest.approx(found, rel=1e-5)


def test_gaps_and_columns_of_one_value_are_passed_over():
    rng = np.random.default_rng(6)
    values = oblique(rng, 200, 6)
    found = gain(values)
    assert gain(np.column_stack([values, np.full(200, 7.0)])) == found
    assert gain(np.vstack([values, np.full((3, 6), np.nan)])) == found
    values[rng.random(values.shape) < 0.05] = np.nan
    assert gain(values) > 0.0
    gaps = apart(rng, 200, 6)
    gaps[rng.random(gaps.shape) < 0.05] = np.nan
    assert gain(gaps) < 0.0


@pytest.mark.parametrize("shape", [(1, 4), (50, 1), (0, 3), (3, 0)])
def test_where_there_is_nothing_to_compare(shape):
    assert gain(np.random.default_rng(1).normal(size=shape)) == 0.0
    assert gain(np.zeros(shape)) == 0.0


def test_odd_tables_have_a_number():
    rng = np.random.default_rng(7)
    same = np.repeat(rng.normal(size=(1, 3)), 40, axis=0)
    same[0, 0] += 1.0
    for values in (
        same,
        rng.normal(size=(2, 3)),
        rng.normal(size=(3, 100)),
        np.repeat(rng.normal(size=(40, 1)), 5, axis=1),
    ):
        assert math.isfinite(gain(values))
    assert gain(rng.normal(size=(5, 201))) == math.inf
