"""Recovery, restarts, dropped factors, imputation, new samples."""

import group_factor_tools as tools
import numpy as np
import pytest
from sparing import every, some

from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.errors import ModelError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import sweep, weak

LARGE = {"n": 300, "sizes": (80, 120, 80), "k": 5, "missing": 0.05, "absent": 30, "active": 0.3}


@pytest.mark.parametrize("seed", every([1, 2, 3], 3))
@pytest.mark.parametrize("n_factors", some([5, 10], [10]))
@pytest.mark.parametrize(
    "words", [("gaussian",) * 3, ("gaussian", "bernoulli", "poisson")], ids=["gaussian", "mixed"]
)
def test_true_factors_are_found(words, n_factors, seed):
    arrays, truth = tools.views(seed, words=words, **LARGE)
    run = tools.run(arrays, {"n_factors": n_factors, "likelihoods": ",".join(words)})
    scores = run.results["scores"].values
    assert scores.shape[1] == 5
    assert tools.recovery(scores, truth) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 26])
def test_true_factors_of_counts_are_not_dropped(seed):
    """Measured against the best constants, a factor alone can look useless where the rate is not linear."""
    sizes = {**LARGE, "sizes": (100, 150, 100)}
    arrays, truth = tools.views(seed, words=("poisson",) * 3, **sizes)
    scores = tools.run(arrays, {"n_factors": 9, "likelihoods": "poisson"}).results["scores"].values
    assert scores.shape[1] == 5
    assert tools.recovery(scores, truth) > 0.985


def test_a_factor_without_weights_explains_nothing():
    """Deviances of one factor alone, all, none, and of the best constants."""
    share = weak.explained(np.array([[90.0, 40.0], [110.0, 70.0], [80.0, 35.0], [110.0, 70.0], [100.0, 0.0]]))
    np.testing.assert_allclose(share, [[0.2, 0.0], [0.0, 0.0], [0.2, 0.0]])


def test_a_factor_of_one_view_is_shown_as_such():
    rng = np.random.default_rng(5)
    z = rng.standard_normal((120, 2))
    one = z @ rng.standard_normal((2, 30)) + 0.5 * rng.standard_normal((120, 30))
    two = z[:, :1] @ rng.standard_normal((1, 20)) + 0.5 * rng.standard_normal((120, 20))
    run = tools.run([one, two], {"n_factors": 6})
    share = run.results["variance_explained"].values.T
    assert share[0, 1] > 0.7
    assert share[1, 1] < 0.02
    assert (share[:2, 0] > 0.1).all()
    assert "1 of them explains at least 1 % of two views" in run.results["caption"]


def test_noise_leaves_weak_factors_only():
    rng = np.random.default_rng(6)
    run = tools.run([rng.standard_normal((60, 40))], {"n_factors": 5})
    assert run.results["total_explained"].values[0] < 0.1


@pytest.mark.slow
def test_restarts_agree_and_the_best_is_shown():
    arrays, _ = tools.views(7, **LARGE | {"n": 100, "absent": 10})
    run = tools.run(arrays, {"n_factors": 7, "init": "random"}, chains=3)
    table = run.results["restarts"].columns
    assert len(table["Final bound"]) == 3
    assert table["Shown"][table["Final bound"].argmax()] == "yes"


def test_held_out_cells_are_better_than_a_constant():
    arrays, _ = tools.views(8, **LARGE)
    run = tools.run(arrays, {"n_factors": 7}, holdout=0.1)
    table = run.results["held_out"].columns
    assert (table["Log likelihood"] > table["Constant"]).all()


def test_samples_of_different_views_are_united():
    arrays, truth = tools.views(9, absent=0, **{k: v for k, v in LARGE.items() if k != "absent"})
    first = tools.dataset("a", arrays[0][:250])
    second = tools.dataset("b", arrays[1][20:], start=20)
    run = tools.run([first, second], {"n_factors": 5})
    scores = run.results["scores"].values
    assert scores.shape[0] == 300
    assert tools.recovery(scores, truth) > 0.97


def test_new_samples_get_the_values_they_had_in_the_fit():
    arrays, truth = tools.views(10, **LARGE)
    settings = {"n_factors": 5, "likelihoods": "gaussian, bernoulli, poisson"}
    run = tools.run([array[:200] for array in arrays], settings)
    model = registry().model("group_factor")

    def blocks(part, columns=slice(None)):
        found = []
        for data in tools.datasets([array[part][:, columns] for array in arrays]):
            known = ~np.isnan(data.values)
            found.append(
                Block(
                    data.name,
                    np.where(known, data.values, 0),
                    known,
                    None,
                    (data.row_names, data.column_names),
                )
            )
        return ModelData({"views": tuple(found)})

    params = model.spec.check_params(settings)
    new = model.predict(run.kept(), blocks(slice(0, 200)), blocks(slice(200, 300)), params)
    assert tools.recovery(new["new_scores"].values, truth[200:]) > 0.97
    few = model.predict(run.kept(), blocks(slice(0, 200)), blocks(slice(200, 300), slice(0, 30)), params)
    assert tools.recovery(few["new_scores"].values, truth[200:]) > 0.85
    assert few["new_scores_sd"].values.mean() > new["new_scores_sd"].values.mean()
    old = model.predict(run.kept(), blocks(slice(0, 200)), blocks(slice(0, 200)), params)
    assert np.abs(old["new_scores"].values - run.results["scores"].values).max() < 0.1


def test_slices_do_not_change_the_numbers(monkeypatch):
    arrays, _ = tools.views(11)
    whole = tools.run(arrays, {"n_factors": 4}, max_sweeps=15)
    monkeypatch.setattr(sweep, "SLICE", 1)
    sliced = tools.run(arrays, {"n_factors": 4}, max_sweeps=15)
    assert (whole.results["scores"].values == sliced.results["scores"].values).all()


@pytest.mark.long
def test_starts_from_given_values():
    arrays, truth = tools.views(12, **LARGE)
    views = tools.datasets(arrays)
    start = tools.dataset("start", truth, rows=views[0].row_names)
    run = fit("group_factor", {"views": views, "start": start}, {"init": "given", "n_factors": 6}, chains=1)
    assert tools.recovery(run.results["scores"].values, truth) >= 0.99
    assert run.chains[0].sweep < 150
    with pytest.raises(ModelError, match="Raise “Factors”"):
        fit("group_factor", {"views": views, "start": start}, {"init": "given", "n_factors": 3}, chains=1)
    with pytest.raises(ModelError, match="needs the input “Start values”"):
        fit("group_factor", {"views": views}, {"init": "given"}, chains=1)


def test_a_saved_state_is_the_state():
    """Cells of all kinds through a session file, in the middle of a sweep."""
    from plaidwork.core.checks.storing import round_trip

    arrays, _ = tools.views(13)
    model = registry().model("group_factor")
    plan = make_plan(model, {"views": tools.datasets(arrays)}, {"n_factors": 3})
    state, traces = model.init(plan.data, plan.params, np.random.default_rng(0)), {}
    for _ in range(30):
        traces = model.step(state, plan.data, plan.params, None, Clock(1, 0)) or traces
    again = round_trip(None, state)
    while (one := model.step(state, plan.data, plan.params, None, Clock(2, 0))) is None:
        pass
    while (two := model.step(again, plan.data, plan.params, None, Clock(2, 0))) is None:
        pass
    assert one == two
    assert one != traces


def test_the_bound_never_falls_in_steps_beyond_the_sweeps():
    """All likelihoods, gaps, sample groups and float32 cells, while no factor leaves."""
    from plaidwork.core.inference.relaxing import RELAXING

    arrays, _ = tools.views(14)
    views = tools.datasets(arrays)
    inputs = {"views": views, "groups": tools.groups(len(arrays[0]), rows=views[0].row_names)}
    run = fit(
        "group_factor", inputs, {"n_factors": 4, "min_r2": 0.0}, chains=1, max_sweeps=120, tolerance=0.0
    )
    bound, factors = (run.chains[0].trace.snapshot()[name] for name in ("elbo", "n_factors"))
    steps = np.diff(bound)[np.diff(factors) == 0]
    assert (steps >= -1e-9 * abs(bound[-1])).all()
    assert (steps == 0).any()
    assert run.chains[0].state[RELAXING]["share"] > 1


def test_steps_beyond_the_sweeps_end_where_plain_ones_do():
    """Twelve features that hang together strongly: sooner there, and the same factors."""
    arrays, _ = tools.views(15, sizes=(12, 12, 12), k=4, noise=0.3, absent=0)
    runs = [tools.run(arrays, {"n_factors": 4, "min_r2": 0.0}, relaxation=most) for most in (16.0, 0.0)]
    relaxed, plain = (run.chains[0] for run in runs)
    assert relaxed.sweep < 0.8 * plain.sweep
    ends = [record.trace.snapshot()["elbo"][-1] for record in (relaxed, plain)]
    assert ends[0] >= ends[1] - 0.2


def test_runs_from_before_the_start_variance_was_a_setting_keep_theirs():
    spec = registry().model("group_factor").spec
    assert spec.stored_params({})["start_variance"] == 0.02
    assert spec.check_params({})["start_variance"] == 1.0
