"""Passes of stochastic steps: the same maximum as exact sweeps, the exact bound after each, the same from a file and from any slice."""

import group_factor_tools as tools
import numpy as np
import pytest
from plaid_tools import with_fault

from plaidwork.core.api import Clock, Schedule
from plaidwork.core.contract.stages import advance
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import stochastic, updates
from plaidwork.plugins.group_factor.products_level import expected_squares

STEPS = {"steps": "stochastic", "batch_samples": 100, "stochastic_passes": 3}
PLAIN = {
    "n": 900,
    "sizes": (20, 25),
    "words": ("gaussian", "gaussian"),
    "missing": 0,
    "absent": 0,
    "noise": 3,
}


def _views(seed=5, sort=False, words=PLAIN["words"]):
    arrays, truth = tools.views(seed, **{**PLAIN, "words": words})
    if sort:  # the worst case: neighbours are alike
        order = np.argsort(truth[:, 0])
        arrays, truth = [array[order] for array in arrays], truth[order]
    return arrays, truth


def _start(settings=None, arrays=None, n_groups=1):
    arrays = _views()[0] if arrays is None else arrays
    inputs = {"views": tools.datasets(arrays)}
    if n_groups > 1:
        inputs["groups"] = tools.groups(len(arrays[0]), "abc"[:n_groups])
    model = registry().model("group_factor")
    plan = make_plan(model, inputs, {"n_factors": 5, "drop_start": 500, **STEPS, **(settings or {})})
    return model, plan, model.init(plan.data, plan.params, np.random.default_rng(1))


def _bounds(model, plan, state, sweeps):
    """The bound after every sweep, as traced and computed anew."""
    rng, found = np.random.default_rng(2), []
    for sweep in range(sweeps):
        while not advance(model, state, plan.data, plan.params, rng, Clock(sweep, 0)):
            pass
        traced = model.traces(state, plan.data, plan.params)["elbo"]
        found.append((traced, model.objective(state, plan.data, plan.params)))
    return np.array(found)


CASES = {
    "plain": ({}, 1, PLAIN["words"]),
    "double": ({"dtype": "float64", "slab": "collapsed"}, 1, PLAIN["words"]),
    "groups": ({}, 3, PLAIN["words"]),
    "beside ones and zeros": ({}, 2, ("gaussian", "bernoulli")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bound_after_a_pass_is_exact_and_exact_sweeps_never_lower_it(name):
    settings, n_groups, words = CASES[name]
    arrays, _ = _views(words=words)
    settings = {"likelihoods": ",".join(words), **settings}
    bounds = _bounds(*_start(settings, arrays, n_groups), 8)
    assert bounds[:, 0] == pytest.approx(bounds[:, 1], rel=1e-8 if settings.get("dtype") is None else 1e-12)
    assert (np.diff(bounds[3:, 0]) >= 0).all()


@pytest.mark.parametrize("sort", [False, True])
def test_first_passes_get_further_than_exact_sweeps_also_where_neighbours_are_alike(sort):
    arrays, _ = _views(sort=sort)
    exact = _bounds(*_start({"steps": "exact"}, arrays), 4)[:, 0]
    steps = _bounds(*_start({}, arrays), 4)[:, 0]
    assert (steps > exact + 10).all(), (steps, exact)


def test_the_fit_ends_at_the_same_maximum():
    arrays, truth = tools.views(7, **{**PLAIN, "noise": 1.0})
    ends, found = [], []
    for settings in ({}, STEPS):
        run = tools.run(arrays, {"n_factors": 6, **settings})
        ends.append(run.chains[0].trace.rows()[-1, 0])
        found.append(tools.recovery(run.results["scores"].values, truth))
        assert run.chains[0].sweep > STEPS["stochastic_passes"]
    assert ends[1] == pytest.approx(ends[0], abs=2.0)
    assert min(found) > 0.98


@pytest.mark.parametrize(
    ("module", "function", "name", "old", "new"),
    [
        (stochastic, stochastic._step, "_step", "times * new - kept", "new - kept"),
        (stochastic, stochastic._step, "_step", 'steps["sums"] += part["cross"]', "pass"),
        (
            stochastic,
            stochastic._follow,
            "_follow",
            '= state["cross"], steps["cross"]',
            '= [state["cross"]] * 2',
        ),
        (stochastic, expected_squares, "expected_squares", "out += 2 *", "out +="),
        (stochastic, expected_squares, "expected_squares", "total - 2 *", "total -"),
    ],
)
def test_a_fault_is_seen(module, function, name, old, new, monkeypatch):
    """Either the bound after a pass is not the exact one, or the passes do not get further."""
    exact = _bounds(*_start({"steps": "exact"}), 3)[:, 0]

    def sound():
        bounds = _bounds(*_start(), 3)
        same = np.allclose(bounds[:, 0], bounds[:, 1], rtol=1e-8)
        return same and bool(bounds[0, 0] > exact[0] + 400)  # 732 without a fault

    assert sound()
    monkeypatch.setattr(module, name, with_fault(function, old, new))
    assert not sound()


@pytest.mark.parametrize("n_groups", [1, 3])
def test_expected_squares(n_groups):
    rng = np.random.default_rng(3)
    n, k, d = 40, 4, 6
    z, v, w = rng.standard_normal((k, n)), rng.random((k, n)), rng.standard_normal((k, d))
    ww, y, group = w**2 + rng.random((k, d)), rng.standard_normal((d, n)), np.arange(n) % n_groups
    mine = (group == np.arange(n_groups)[:, None]).astype(float)
    state = {"z": z, "zz": z**2 + v, "scale": np.ones((n_groups, d)), "group": group, "float": np.zeros(0)}
    cross, total = np.einsum("dn,kn,gn->kgd", y, z, mine), np.einsum("dn,gn->gd", y**2, mine)
    spread = np.einsum("kd,kn->dn", ww, z**2 + v) - np.einsum("kd,kn->dn", w**2, z**2)
    wanted = np.einsum("dn,gn->gd", (y - w.T @ z) ** 2 + spread, mine)
    assert expected_squares(updates.level_gram(state), cross, total, w, ww) == pytest.approx(wanted)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_same_from_a_file(order, tmp_path):
    arrays, _ = _views()
    path = tmp_path / "big.npy"
    np.save(path, np.asarray(arrays[0], dtype="f4", order=order))
    found = [
        fit(
            "group_factor",
            {"views": [read_dataset(path, {"values_in": where, "samples_in": "rows"})]},
            {"n_factors": 4, **STEPS},
            chains=1,
            max_sweeps=3,
        )
        for where in ("file", "memory")
    ]
    assert np.array_equal(*(run.chains[0].trace.rows() for run in found))
    assert np.array_equal(*(run.results["scores"].values for run in found))


def test_a_pass_goes_on_from_any_batch():
    ends = []
    for copied in (False, True):
        model, plan, state = _start()
        rng = np.random.default_rng(3)
        for sweep in range(2):
            while not advance(model, state, plan.data, plan.params, rng, Clock(sweep, 0)):
                if copied:
                    tools.as_from_a_checkpoint(state)
        ends.append(state)
    for name in ("z", "w", "cross", "squares", "lik"):
        assert np.array_equal(ends[0][name], ends[1][name]), name
    assert "steps" not in ends[0]


def test_steps_of_a_stored_state_are_compared_with_the_fit():
    model, plan, state = _start()
    rng = np.random.default_rng(3)
    while state.get("sweep_position", {}).get("stage") != stochastic.BATCHES:
        advance(model, state, plan.data, plan.params, rng, Clock(0, 0))
    advance(model, state, plan.data, plan.params, rng, Clock(0, 0))

    def why(**steps):
        changed = copy_state(state)
        changed["steps"].update(steps)
        return Expected(plan, 0, Schedule()).why_not(changed, 0)

    now = state["steps"]
    assert why() == ""
    assert "the order of its batches" in why(order=now["order"] + 1)
    assert "the order of its batches" in why(order=now["order"][1:])
    assert "of other factors" in why(gram=now["gram"][:, 1:])
    assert why(cross=now["cross"][1:])
    assert why(total=now["total"].astype("f4"))
    gone = copy_state(state)
    del gone["steps"]
    assert "stochastic steps are missing" in Expected(plan, 0, Schedule()).why_not(gone, 0)


def test_views_whose_weights_cannot_follow_are_told():
    arrays, _ = _views()
    arrays[0][3, 4] = np.nan
    arrays[1] = (arrays[1] > 0).astype(float)
    model, plan, _ = _start({"likelihoods": "gaussian,bernoulli"}, arrays)
    said = [problem.message for problem in model.validate(plan.data, plan.params)]
    assert any("cannot follow after every batch" in message for message in said)
    model, plan, _ = _start({}, [arrays[0], _views()[0][1]])
    assert not any("cannot follow" in problem.message for problem in model.validate(plan.data, plan.params))


def test_batches_need_not_be_of_one_length():
    """The last batch is shorter; a batch may be all samples."""
    for size in (899, 900, 5000):
        bounds = _bounds(*_start({"batch_samples": size}), 4)
        assert bounds[:, 0] == pytest.approx(bounds[:, 1], rel=1e-8)
        assert bounds[-1, 0] > bounds[0, 0]
