"""Columns that are correlated within a cluster: their laws against scipy's, and missing cells against the law they are drawn from."""

import numpy as np
import pytest
from dp_tools import MODEL, matrices, settings, smallest_p
from plaid_tools import with_fault
from scipy import stats

from plaidwork.plugins.dirichlet_processes.base import first_base, log_prior
from plaidwork.plugins.dirichlet_processes.kernels import clusters, joint, scan
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law, empty_clusters
from plaidwork.plugins.dirichlet_processes.kernels.joint import fill_row
from plaidwork.plugins.dirichlet_processes.partitions import log_new
from plaidwork.plugins.dirichlet_processes.reading import read
from plaidwork.plugins.dirichlet_processes.state import law_of

GAP = np.nan
NUMBERS = [[0.1, 1.0], [0.5, 0.2], [2.0, GAP], [2.2, -1.0], [GAP, 0.3]]
ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""


def correlated(values, **changed):
    """Rows of correlated columns, the law at another centre and scatter than usual, and a free slot."""
    params = settings(likelihoods="gaussian_full", mean_weight=0.4, **changed)
    table = read(matrices(a=values), params)
    base = first_base(params, 1, 0, 0, table.joint_widths)
    d = table.joint_widths[0]
    base["joint_m0"][:] = np.linspace(-0.5, 0.7, d)
    base["psi"][:] = (0.3 * np.eye(d) + 0.1).ravel()
    law = law_of(table, base, params, log_new(params, len(values), 0.8, 0.3), 0.3)
    c = Clusters(**empty_clusters(1, *table.widths, table.joint_widths))
    clusters.reset(c, 0, law, True)
    return table, base, law, c, params


def student(seen, base, params):
    """The predictive law of the next row by sums over the rows seen (c, d): centre, shape matrix, degrees of freedom."""
    c, d = seen.shape
    k0, m0, psi = params["mean_weight"], base["joint_m0"], base["psi"].reshape(d, d)
    k_c, df = k0 + c, 2 * params["within_shape"] + c
    mean = seen.mean(axis=0) if c else m0
    psi = psi + (seen - mean).T @ (seen - mean) + k0 * c / k_c * np.outer(mean - m0, mean - m0)
    return (k0 * m0 + c * mean) / k_c, psi * (k_c + 1) / (k_c * df), df


def test_correlated_columns_are_predicted_by_students_law():
    """Ratio of evidence, scipy's density, and that of the known cells alone; rows leave again without a trace."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(9, 3)) @ rng.normal(size=(3, 3))
    x[8, 1] = GAP
    table, base, law, c, params = correlated(x)
    total = 0.0
    for i in range(8):
        centre, shape, df = student(x[:i], base, params)
        expected = stats.multivariate_t.logpdf(x[i], centre, shape, df)
        assert clusters.log_predictive(c, 0, table.items, i, law) == pytest.approx(expected, abs=1e-9)
        before = clusters.log_marginal(c, 0, law)
        clusters.add(c, 0, table.items, i, law)
        total += expected
        assert clusters.log_marginal(c, 0, law) - before == pytest.approx(expected, abs=1e-9)
        assert clusters.log_marginal(c, 0, law) == pytest.approx(total, abs=1e-9)
    centre, shape, df = student(x[:8], base, params)
    expected = stats.multivariate_t.logpdf(x[8, [0, 2]], centre[[0, 2]], shape[np.ix_([0, 2], [0, 2])], df)
    assert clusters.log_known(c, 0, table.items, 8, law) == pytest.approx(expected, abs=1e-9)
    kept = [array[0].copy() for array in c]
    order = rng.permutation(8)[:7]
    for i in order:
        clusters.remove(c, 0, table.items, i, law)
    for i in order[::-1]:
        clusters.add(c, 0, table.items, i, law)
    for name, old, new in zip(c._fields, kept, c, strict=True):
        assert name == "joint_work" or new[0] == pytest.approx(old, abs=1e-10)


def rank_of(value, known, seen, base, params):
    """Distribution function at the missing second cell of a row given its first and the rows seen, by quadrature of the joint density."""
    centre, shape, df = student(seen, base, params)
    grid = np.linspace(-60, 60, 40_001)
    density = stats.multivariate_t.pdf(np.stack([np.full(grid.size, known), grid], axis=1), centre, shape, df)
    return np.interp(value, grid, np.cumsum(density) / density.sum())


def test_missing_cells_are_drawn_from_their_law_given_the_known_ones():
    """Ranks of the drawn cells under scipy's conditional law are even."""
    x = np.array([[0.3, 1.0], [0.9, 1.8], [-0.5, 0.2], [0.1, 0.9], [0.8, GAP]])
    table, base, law, c, params = correlated(x)
    for i in range(4):
        clusters.add(c, 0, table.items, i, law)
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    drawn = np.empty(2000)
    for t in range(2000):
        fill_row(rng, c, 0, table.items, 4, law)
        drawn[t] = table.items.joint[4, 1]
    assert stats.kstest(rank_of(drawn, 0.8, x[:4], base, params), "uniform").pvalue > ENOUGH


FAR = np.array([[0.2, 5.0], [-0.4, 6.0], [0.1, 5.5], [0.3, -5.0], [-0.2, -6.0], [0.0, -5.5], [0.1, GAP]])
"""Two clusters that are apart in the second column alone, and a row that lacks it: it may be in either."""


def p_of_cells_drawn_with_labels(draw_labels):
    """The p value of the missing cell's ranks under its law given the row's new cluster, over many labels of one row."""
    table, base, law, _, params = correlated(FAR)
    c = Clusters(**empty_clusters(4, *table.widths, table.joint_widths))
    for k in range(4):
        clusters.reset(c, k, law, True)
    z = np.array([0, 0, 0, 1, 1, 1, 0])
    for i, k in enumerate(z):
        clusters.add(c, k, table.items, i, law)
    at = np.array([2, 2, 0, 0, 0])
    c_new = Clusters(**empty_clusters(1, *table.widths, table.joint_widths))
    clusters.reset(c_new, 0, law, True)
    fresh = np.full(7, clusters.log_known(c_new, 0, table.items, 6, law))
    rng, order = np.random.Generator(np.random.PCG64DXSM(5)), np.array([6])
    found = np.empty((2000, 2))
    for t in range(len(found)):
        assert draw_labels(rng, table.items, order, z, c, law, fresh, at, 0, 1) == 1
        found[t] = z[6], table.items.joint[6, 1]
    seen = (FAR[:3], FAR[3:6], FAR[:0])
    ranks = [
        rank_of(found[here, 1], 0.1, rows, base, params)
        for k, rows in enumerate(seen)
        if (here := np.minimum(found[:, 0], 2) == k).any()
    ]
    assert np.bincount(np.minimum(found[:, 0], 2).astype(int)).min() > 50
    return stats.kstest(np.concatenate(ranks), "uniform").pvalue


def test_missing_cells_are_drawn_from_the_new_cluster():
    assert p_of_cells_drawn_with_labels(scan.draw_labels) > ENOUGH


@pytest.mark.slow
def test_missing_cells_of_the_old_cluster_are_found():
    old = "fill_row(rng, c, k, items, i, law)"
    wrong = with_fault(scan.draw_labels, old, "fill_row(rng, c, old, items, i, law)")
    assert p_of_cells_drawn_with_labels(wrong) < FOUND


def test_one_column_has_the_same_law_either_way():
    x = np.random.default_rng(1).normal(size=(6, 1))
    found = []
    for kind in ("gaussian", "gaussian_full"):
        params = settings(likelihoods=kind)
        table = read(matrices(a=x), params)
        base = first_base(params, 1, *table.widths[::3], table.joint_widths)
        law = law_of(table, base, params, log_new(params, 6, 0.8, 0.3), 0.3)
        c = Clusters(**empty_clusters(1, *table.widths, table.joint_widths))
        clusters.reset(c, 0, law, True)
        for i in range(5):
            clusters.add(c, 0, table.items, i, law)
        found.append([clusters.log_marginal(c, 0, law), clusters.log_predictive(c, 0, table.items, 5, law)])
        found[-1].append(log_prior(base, {**params, "learn_base": True}, table))
    assert found[0][:2] == pytest.approx(found[1][:2], abs=1e-12)
    # of b0 = Psi0 / 2 the density per unit of b0 is twice that of Psi0
    assert found[0][2] == pytest.approx(found[1][2] + np.log(2.0), abs=1e-12)


JOINT_FAULTS = {
    "a row leaves as if it had the weight of one that comes": (
        joint.remove_joint, "scale = math.sqrt(left / (left + 1.0))", "scale = math.sqrt((left + 1.0) / left)",
    ),
    "missing cells drawn without the known ones": (
        joint.fill_row, "for m in range(a + 1)", "for m in range(count, a + 1)",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", JOINT_FAULTS)
def test_faults_of_correlated_columns_are_found(fault, monkeypatch):
    function, old, new = JOINT_FAULTS[fault]
    wrong = with_fault(function, old, new, Clusters=Clusters, Items=Items, Law=Law)
    name = function.py_func.__name__
    if name == "remove_joint":
        remove = with_fault(clusters.remove, remove_joint=wrong)
        draw = with_fault(scan.draw_labels, remove=remove)
    else:
        draw = with_fault(scan.draw_labels, fill_row=wrong)
    monkeypatch.setattr(scan, "draw_labels", draw)
    data = matrices(a=NUMBERS)
    params = settings(likelihoods="gaussian_full", alpha=0.8, moves=0, cluster_moves=0)
    assert smallest_p(MODEL, data, params, 12_000) < FOUND
