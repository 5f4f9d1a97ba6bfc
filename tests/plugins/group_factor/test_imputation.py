"""Imputed values by column, and the comparison of restarts."""

import csv

import numpy as np
import pytest

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.fitted import FittedInput
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.exporting import export_run
from plaidwork.plugins.group_factor.deviance import deviance_of, sums_of
from plaidwork.plugins.group_factor.imputation import fitted_columns
from plaidwork.plugins.group_factor.model import GroupFactor
from plaidwork.plugins.group_factor.results import expected, last_of
from plaidwork.plugins.group_factor.views import read_views
from tests import group_factor_tools as tools


@pytest.fixture(scope="module", params=["none", "all"])
def fitted_run(request):
    arrays, z = tools.views(5, n=160, sizes=(20, 20, 20), missing=0.2)
    arrays[0][:, 3] = 2.0  # constant: not fitted
    arrays[1][:, 7] = np.nan  # never observed
    full, _ = tools.views(5, n=160, sizes=(20, 20, 20), missing=0.0, absent=0)
    run = tools.run(arrays, {"n_factors": 5, "scale_views": True, "scale_features": request.param}, chains=3)
    return run, arrays, full, z


def plan_of(run):
    return run.session.plan_of(run, registry())


def test_columns_are_those_of_the_whole_matrix(fitted_run):
    run, _arrays, _full, _z = fitted_run
    plan, kept = plan_of(run), run.kept()
    views = read_views(plan.data, plan.params)
    best = max(kept.chains, key=lambda chain: chain.kept_trace("elbo")[-1])
    mean, sd = expected(views, last_of(best))
    assert deviance_of(views, last_of(best), sums_of(views, last_of(best))).shape[1] == 3
    for place in range(3):
        columns = views.columns[place][::-3]
        got, doubt = fitted_columns(kept, plan.data, plan.params, place, columns)
        here = views.place(place)
        assert np.allclose(got.T, mean[here][len(views.columns[place]) - 1 :: -3])
        assert np.allclose(doubt.T, sd[here][len(views.columns[place]) - 1 :: -3])


def test_features_that_are_not_fitted(fitted_run):
    run, _arrays, _full, _z = fitted_run
    plan, kept = plan_of(run), run.kept()
    mean, sd = fitted_columns(kept, plan.data, plan.params, 0, np.array([2, 3]))
    assert (mean[:, 1] == 2.0).all()
    assert np.isnan(sd[:, 1]).all()
    assert np.isfinite(sd[:, 0]).all()
    mean, _sd = fitted_columns(kept, plan.data, plan.params, 1, np.array([7]))
    assert np.isnan(mean).all()


def test_imputed_cells_are_near_the_truth_and_the_sd_says_how_near(fitted_run):
    """Cells taken out of simulated data: better than the feature's mean, 95 % intervals hold 88 to 99 %."""
    run, arrays, full, _z = fitted_run
    datasets = run.session.datasets
    fitted = FittedInput(run, "views", datasets, GroupFactor())
    for place in (0, 1, 2):
        parts = list(fitted.imputed(place))
        rows, columns, mean, sd = (np.concatenate([part[k] for part in parts]) for k in range(4))
        inside = np.isfinite(sd) & (rows >= 3)
        rows, columns, mean, sd = rows[inside], columns[inside], mean[inside], sd[inside]
        truth = full[place][rows, columns]
        known = ~np.isnan(arrays[place])
        plain = (np.nan_to_num(arrays[place]).sum(axis=0) / np.maximum(known.sum(axis=0), 1))[columns]
        assert ((truth - mean) ** 2).mean() < (0.75, 0.9, 0.75)[place] * ((truth - plain) ** 2).mean()
        if place == 0:
            assert 0.88 < (np.abs(truth - mean) <= 1.96 * sd).mean() < 0.99
        if place == 1:
            assert ((mean >= 0) & (mean <= 1)).all()
            assert np.allclose(sd, np.sqrt(mean * (1 - mean)))
        if place == 2:
            assert (mean > 0).all()
            assert (sd >= np.sqrt(mean)).all()


def test_exports_hold_the_imputed_cells(fitted_run, tmp_path):
    run, arrays, _full, _z = fitted_run
    files = export_run(run, tmp_path / "out", run.session)
    (path,) = (file for file in files if file.parent.name == "imputed")
    lines = list(csv.reader(path.open()))
    assert lines[0] == ["data", "sample", "feature", "expected", "sd"]
    assert len(lines) == 1 + sum(int(np.isnan(array).sum()) for array in arrays)
    fitted = FittedInput(run, "views", run.session.datasets, GroupFactor())
    name, sample, feature, mean, sd = lines[1]
    assert (name, feature) == ("a", "a0")
    at = int(sample.removeprefix("s"))
    wanted = [part[at, 0] for part in fitted.values(0, np.array([0]))]
    assert [float(mean), float(sd)] == pytest.approx(wanted, rel=1e-12)
    assert "imputed" in (tmp_path / "out" / "README.txt").read_text()


def test_restarts_are_compared(fitted_run):
    run, _arrays, _full, _z = fitted_run
    results = run.results
    table = results["restarts"].columns
    bounds = [float(chain.kept_trace("elbo")[-1]) for chain in run.kept().chains]
    assert table["Final bound"].tolist() == bounds
    assert table["Shown"].tolist() == ["yes" if b == max(bounds) else "" for b in bounds]
    shown = int(np.argmax(bounds))
    assert table["Agreement"][shown] == pytest.approx(1)
    restart, between = results["restart_of"].values, results["restart_correlation"].values
    assert results["restart_shown"].values.tolist() == [shown + 1]
    mine = restart == shown + 1
    stable = results["stability"].columns
    for other in {1, 2, 3} - {shown + 1}:
        partners = between[np.ix_(mine, restart == other)]
        size = min(partners.shape)
        matched = np.abs(np.diag(partners[:size, :size]))
        assert (np.diag(partners[:size, :size]) >= 0).all()
        assert (stable["Least"][:size] <= matched + 1e-12).all()
        assert (matched <= stable["Most"][:size] + 1e-12).all()
    assert stable["Mean"][:3].min() > 0.9  # the three true factors come back
    assert stable["Of"].tolist() == [2] * mine.sum()


def test_one_restart_tells_nothing_of_stability():
    arrays, _z = tools.views(6)
    run = tools.run(arrays, {"n_factors": 3}, max_sweeps=15)
    assert np.isnan(run.results["stability"].columns["Mean"]).all()
    assert (run.results["restart_of"].values == 1).all()


def test_views_with_a_feature_name_in_common():
    arrays, _z = tools.views(7, sizes=(6, 6, 6), absent=0)
    names = tuple(f"f{i}" for i in range(6))
    rows = tuple(f"s{i}" for i in range(40))
    given = [Dataset(name, values, rows, names) for name, values in zip("abc", arrays, strict=True)]
    run = tools.run(given, {"n_factors": 3}, max_sweeps=15)
    fitted = FittedInput(run, "views", run.session.datasets, GroupFactor())
    means = [fitted.values(place, np.array([2]))[0] for place in range(3)]
    assert not np.allclose(means[0], means[2])
