"""A view that stays in its file, gone through in blocks of samples: the draws and bounds of the fit in memory, to the last bit."""

import group_factor_tools as tools
import numpy as np
import pytest
from group_factor_tools import dataset, groups

from plaidwork.core.api import Clock
from plaidwork.core.contract.stages import advance
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.errors import DataError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import reading

N, D = 2300, 30


def _values(n=N, d=D, k=3):
    rng = np.random.default_rng(4)
    z, w = rng.standard_normal((n, k)), rng.standard_normal((k, d)) * (rng.random((k, d)) < 0.6)
    values = (3 + z @ w + 0.7 * rng.standard_normal((n, d))).astype(np.float32)
    values[:, 5] = 2.0  # a feature that is left out
    return values, z


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(reading, "PIECE", 1)  # blocks of 1024 samples: three of them, the last one not full


@pytest.fixture
def views(tmp_path):
    """The same view in its file and in memory, row by row or column by column."""

    def made(order="C"):
        path = tmp_path / "big.npy"
        np.save(path, np.asarray(_values()[0], order=order))
        return [
            read_dataset(path, {"values_in": where, "samples_in": "rows"}) for where in ("file", "memory")
        ]

    return made


CASES = {
    "plain": ("C", {}, ""),
    "by columns": ("F", {}, ""),
    "groups": ("C", {}, "groups"),
    "groups scaled": ("F", {"scale_views": True, "slab": "collapsed"}, "groups"),
    "features scaled": ("C", {"scale_features": "all"}, "groups"),
    "double": ("C", {"dtype": "float64", "centre_views": False}, ""),
    "random": ("C", {"init": "random"}, ""),
    "another view": ("C", {"likelihoods": "gaussian, bernoulli"}, "bits"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_draws_and_bounds_are_those_in_memory(views, name):
    order, settings, more = CASES[name]
    found = []
    for view in views(order):
        rows = view.row_names
        inputs = {"views": [view]}
        if more == "groups":
            inputs["groups"] = groups(N, rows=rows)
        if more == "bits":
            bits = (_values()[0][:, :8] > 3).astype(float)
            inputs["views"].append(dataset("bits", bits, rows))
        run = fit("group_factor", inputs, {"n_factors": 5, **settings}, chains=1, max_sweeps=27)
        found.append(run)
    there, here = found[1], found[0]
    bound = here.chains[0].trace.rows()
    assert here.data_hash == there.data_hash
    assert np.array_equal(bound, there.chains[0].trace.rows())
    for name in ("scores", "loadings", "variance_explained", "total_explained", "variance_by_group"):
        assert np.array_equal(here.results[name].values, there.results[name].values), name
    assert len(here.results["factor"].values) >= 3 or settings.get("init") == "random"


def _plan(views, **settings):
    model = registry().model("group_factor")
    return model, make_plan(model, {"views": views}, {"n_factors": 3, **settings})


def _sweep(model, plan, state, sweep, rng, begin=True):
    while not advance(model, state, plan.data, plan.params, rng, Clock(sweep, 0)):
        yield state


def test_the_bound_never_falls_and_is_what_a_pass_of_its_own_finds(views):
    model, plan = _plan(views()[:1])
    state, last = model.init(plan.data, plan.params, np.random.default_rng(1)), -np.inf
    rng = np.random.default_rng(1)
    for sweep in range(4):
        for _ in _sweep(model, plan, state, sweep, rng):
            pass
        elbo = model.traces(state, plan.data, plan.params)["elbo"]
        assert elbo >= last
        assert model.objective(state, plan.data, plan.params) == pytest.approx(elbo, rel=1e-12)
        last = elbo


def test_a_sweep_goes_on_from_any_block(views):
    model, plan = _plan(views()[:1], init="random")
    ends = []
    for copied in (False, True):
        state, rng = model.init(plan.data, plan.params, np.random.default_rng(1)), np.random.default_rng(1)
        for sweep in range(2):
            for now in _sweep(model, plan, state, sweep, rng):
                if copied:
                    tools.as_from_a_checkpoint(now)
        ends.append(state)
    for name in ("z", "w", "cross", "squares", "lik"):
        assert np.array_equal(ends[0][name], ends[1][name]), name
    assert "y" not in ends[0]["cells"]["0"]  # no state holds the cells


def test_what_needs_the_view_in_memory_is_refused_before_the_start(views, tmp_path):
    with pytest.raises(DataError, match="stays in its file, and the search for more factors needs it"):
        _plan(views()[:1], grow=True)
    np.save(tmp_path / "bits.npy", (_values()[0] > 3).astype("f4"))
    bits = read_dataset(tmp_path / "bits.npy", {"values_in": "file", "samples_in": "rows"})
    with pytest.raises(DataError, match="stays in its file, and a view that is Bernoulli needs it in memory"):
        _plan([bits])


def test_gaps_and_held_out_cells_are_read_into_memory(views, tmp_path):
    model = registry().model("group_factor")
    values = _values()[0][:100]
    values[3, 4] = np.nan
    np.save(tmp_path / "gaps.npy", values)
    gaps = read_dataset(tmp_path / "gaps.npy", {"values_in": "file", "samples_in": "rows"})
    plan = make_plan(model, {"views": [gaps]}, {"n_factors": 3})
    assert not plan.data["views"][0].stays
    assert plan.data["views"][0].observed.sum() == values.size - 1
    whole = make_plan(model, {"views": views()[:1]}, {"n_factors": 3}, holdout=0.1)
    assert not whole.data["views"][0].stays
    assert whole.data["views"][0].held_out.any()
