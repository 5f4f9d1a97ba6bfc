"""What the host relies on: repeatable, continuable, sliced alike, data untouched, sound on degenerate data."""

import copy
import math
from itertools import product

import numpy as np
import plaid_tools as tools
import pytest
from sparing import every, some

from plaidwork.core import fit
from plaidwork.core.api import POSITION, Clock, ModelData
from plaidwork.plugins.plaid import sweep
from plaidwork.plugins.plaid.effects import level_share
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

MODELS = [InfinitePlaid(), BayesianPlaid()]
PLANTED_ROWS, PLANTED_COLUMNS = np.arange(30) < 12, np.arange(40) < 15


def planted(seed=0, scale=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    return offset + scale * (4.0 * np.outer(PLANTED_ROWS, PLANTED_COLUMNS) + rng.standard_normal((30, 40)))


def values(state):
    cold = state["replicas"]["0"]
    return [
        cold["rows"].tobytes(),
        cold["columns"].tobytes(),
        cold["theta"].tobytes(),
        cold["phi"],
        cold["tau0"],
    ]


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.spec.id)
def test_same_seed_same_numbers(model):
    data = tools.matrix(planted())
    first, _ = tools.run(model, data, {"replicas": 2}, 4, 30, 10)
    again, _ = tools.run(model, data, {"replicas": 2}, 4, 30, 10)
    other, _ = tools.run(model, data, {"replicas": 2}, 5, 30, 10)
    assert values(first) == values(again) != values(other)


LAYERS = ({}, {"layer": "profile", "row_noise": True, "effects": True}, {"effects": True})


@pytest.mark.long
@pytest.mark.parametrize("more", LAYERS, ids=["shift", "profile", "effects"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.spec.id)
def test_goes_on_from_a_copy(model, more):
    data = tools.matrix(planted(), observed=planted() < 5.5)
    params = model.spec.check_params({"replicas": 2, **more})
    rng = tools.generator(8)
    state = model.init(data, params, rng)
    for t in range(20):
        tools.sweep(model, state, data, params, rng, Clock(t, 30))
    saved, bits = copy.deepcopy(state), copy.deepcopy(rng)
    for source in ((state, rng), (saved, bits)):
        for t in range(20, 40):
            tools.sweep(model, source[0], data, params, source[1], Clock(t, 30))
    assert values(state) == values(saved)


@pytest.mark.parametrize("copied", some([1, 11], [11]), ids="every {}".format)
@pytest.mark.parametrize("more", LAYERS, ids=["shift", "profile", "effects"])
@pytest.mark.parametrize("model", every(MODELS, 2), ids=lambda m: m.spec.id)
def test_slices_do_not_change_the_numbers(model, more, copied, monkeypatch):
    """Every slice, or one in some, goes on from a copy."""
    settings = {"replicas": 2, **more}
    data, params = tools.matrix(planted()), model.spec.check_params(settings)
    whole, _ = tools.run(model, data, settings, 4, 30, 10)
    monkeypatch.setattr(sweep, "SLICE_CELLS", 1)
    rng, calls = tools.generator(4), 0
    state = model.init(data, params, rng)
    for t in range(40):
        while model.step(state, data, params, rng, Clock(t, 30)) is None:
            if calls % copied == 0:
                state, rng = copy.deepcopy(state), copy.deepcopy(rng)
            calls += 1
    assert values(whole) == values(state)
    assert calls > 40


def test_best_warm_start_goes_on():
    """While annealing there are copies; then one goes on, and the ladder takes their place."""
    model, data = InfinitePlaid(), tools.matrix(planted())
    params, rng = (
        model.spec.check_params({"replicas": 2, "warm_starts": 3, "anneal_share": 0.5}),
        tools.generator(1),
    )
    state, copies = model.init(data, params, rng), []
    for t in range(30):
        tools.sweep(model, state, data, params, rng, Clock(t, 40))
        copies.append(len(state["replicas"]))
    assert copies == [3] * 20 + [2] * 10


def test_small_problem_takes_one_call():
    data, params, rng = tools.matrix(planted()), InfinitePlaid.spec.check_params({}), tools.generator(1)
    state = InfinitePlaid().init(data, params, rng)
    assert InfinitePlaid().step(state, data, params, rng, Clock(0, 0)) is not None


CASES = ["1x1", "1x7", "7x1", "3x9", "9x3", "constant column", "empty row", "constant", "outlier"]


@pytest.mark.parametrize(
    ("model", "moves", "case"),
    every(list(product(MODELS, ["full", "row_wise", "profile"], CASES)), 5),
    ids=lambda value: value if isinstance(value, str) else value.spec.id,
)
def test_degenerate_data(model, moves, case):
    shape = tuple(map(int, case.split("x"))) if "x" in case else (6, 5)
    x, known = np.random.default_rng(1).standard_normal(shape), np.ones(shape, bool)
    if case == "constant column":
        x[:, 2] = 3.0
    elif case == "empty row":
        known[1] = False
    elif case == "constant":
        x[:] = 2.0
    elif case == "outlier":
        x[0, 0] = 1e6
    settings = {"replicas": 2, "start": "prior"}
    if moves == "profile":
        settings |= {"layer": "profile", "row_noise": True, "effects": True}
    elif model is MODELS[0]:
        settings["moves"] = moves
    _, traces = tools.run(model, tools.matrix(x, observed=known), settings, 2, 40, 60)
    may_lack = ["held_out", "nmi", "freedom", "row_wise", "birth_death", "seeded", "split_merge", "exchange"]
    for name, trace in traces.items():
        if name not in may_lack:
            assert np.isfinite(trace).all(), name


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.spec.id)
def test_every_declared_trace_and_variable_is_there(model):
    data, params, rng = tools.matrix(planted()), model.spec.check_params({}), tools.generator(1)
    state = model.init(data, params, rng)
    traces = tools.sweep(model, state, data, params, rng, Clock(0, 0))
    assert {trace.name for trace in model.spec.traces} <= set(traces)
    assert {variable.name for variable in model.spec.variables} == set(model.draws(state, data, params))


@pytest.mark.long
@pytest.mark.parametrize(("scale", "offset"), some([(1.0, 0.0), (1e-3, 0.0), (1e4, 5e8)], [(1e4, 5e8)]))
def test_results_are_in_the_unit_of_the_data(scale, offset):
    data = tools.matrix(planted(scale=scale, offset=offset))
    state, traces = tools.run(InfinitePlaid(), data, {}, 3, 400, 100)
    cold = state["replicas"]["0"]
    best = np.argmax(cold["rows"].sum(axis=1) * cold["columns"].sum(axis=1))
    assert (cold["rows"][best] == PLANTED_ROWS).mean() > 0.9
    assert cold["theta"][best] == pytest.approx(4 * scale, rel=0.1)
    assert traces["phi"][-50:].mean() == pytest.approx(offset, abs=0.2 * scale)
    assert traces["noise_sd"][-50:].mean() == pytest.approx(scale, rel=0.1)


def test_held_out_cells_do_not_enter_the_fit():
    rng = np.random.default_rng(0)
    held, x = rng.random((30, 40)) < 0.2, planted()
    other = np.where(held, 99.0, x)
    states = [tools.run(InfinitePlaid(), tools.matrix(y, held_out=held), {}, 3, 30, 30) for y in (x, other)]
    assert values(states[0][0]) == values(states[1][0])
    assert states[0][1]["held_out"][-1] > states[1][1]["held_out"][-1]


def test_held_out_density_is_that_of_the_average_predictive():
    held = np.zeros((30, 40), bool)
    held[3, 4] = True
    data, params = tools.matrix(planted(), held_out=held), InfinitePlaid.spec.check_params({})
    rng = tools.generator(0)
    state, density = InfinitePlaid().init(data, params, rng), []
    for t in range(25):
        traces = tools.sweep(InfinitePlaid(), state, data, params, rng, Clock(t, 5))
        cold = state["replicas"]["0"]
        mean = cold["phi"] + cold["theta"] @ (cold["rows"][:, 3] & cold["columns"][:, 4])
        gap = data["X"].truth[3, 4] - mean
        density.append(math.sqrt(cold["tau0"] / (2 * math.pi)) * math.exp(-0.5 * cold["tau0"] * gap**2))
    assert traces["held_out"] == pytest.approx(math.log(np.mean(density[5:])), rel=1e-9)


def test_given_start_and_truth():
    rows, columns = PLANTED_ROWS[:, None], PLANTED_COLUMNS[:, None]
    data = ModelData(
        {
            "X": tools.block(planted()),
            "start_rows": tools.block(rows, name="start_rows"),
            "start_columns": tools.block(columns, name="start_columns"),
            "true_rows": tools.block(rows, name="true_rows"),
            "true_columns": tools.block(columns, name="true_columns"),
        }
    )
    _, traces = tools.run(InfinitePlaid(), data, {"start": "given", "anneal": False}, 1, 0, 1)
    assert traces["nmi"][0] > 0.9
    state, _ = tools.run(BayesianPlaid(), data, {"start": "given", "blocks": 3, "anneal": False}, 1, 0, 1)
    assert state["replicas"]["0"]["rows"].shape == (3, 30)


@pytest.mark.parametrize(
    ("model", "setting"),
    [(InfinitePlaid(), "max_blocks"), (BayesianPlaid(), "blocks")],
    ids=["infinite", "fixed"],
)
def test_more_start_blocks_than_allowed_are_refused(model, setting):
    rows = np.eye(30, 3)
    data = ModelData(
        {
            "X": tools.block(planted()),
            "start_rows": tools.block(rows, name="start_rows"),
            "start_columns": tools.block(np.eye(planted().shape[1], 3), name="start_columns"),
        }
    )

    def errors(most):
        params = model.spec.check_params({"start": "given", setting: most})
        return [(p.where, p.message) for p in model.validate(data, params) if p.severity == "error"]

    ((where, message),) = errors(2)
    assert where == setting
    assert "give 3 blocks" in message
    assert not errors(3)


@pytest.mark.parametrize(
    ("x", "known", "where", "severity"),
    [
        (np.zeros((3, 3)), None, "X", "error"),
        (np.eye(3), np.zeros((3, 3), bool), "X", "error"),
        (np.arange(4.0)[None], None, "X", "warning"),
        (np.eye(3), np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]], bool), "X", "warning"),
    ],
)
def test_problems_are_named(x, known, where, severity):
    model = InfinitePlaid()
    problems = model.validate(tools.matrix(x, observed=known), model.spec.check_params({}))
    assert [(p.where, p.severity) for p in problems] == [(where, severity)]


@pytest.mark.parametrize(("axis", "noun"), [(1, "rows"), (0, "columns")])
def test_levels_of_whole_rows_or_columns_are_warned_of(axis, noun):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 20)) + 3 * rng.normal(size=(30, 20)).mean(axis=axis, keepdims=True) * 5
    model = InfinitePlaid()
    data = ModelData({"X": tools.block(values)})
    found = [p for p in model.validate(data, model.spec.check_params({})) if p.severity == "warning"]
    assert len(found) == 1
    assert f"between whole {noun}" in found[0].message
    plain = ModelData({"X": tools.block(rng.normal(size=(30, 20)))})
    assert not model.validate(plain, model.spec.check_params({}))


def of_levels():
    """Values (80, 60) of blocks, and of the same with levels of whole rows and columns."""
    rng = np.random.default_rng(1)
    rows, columns = rng.random((4, 80)) < 0.3, rng.random((4, 60)) < 0.3
    blocks = 2.5 * rows.T.astype(float) @ columns + rng.normal(size=(80, 60))
    return blocks, blocks + 0.9 * rng.normal(size=(80, 1)) + 0.3 * rng.normal(size=60)


def test_smaller_levels_of_rows_or_columns_are_given_effects():
    """Levels of .7 noise sd; blocks, and the medians of few columns, are no levels."""
    blocks, levels = of_levels()
    model = InfinitePlaid()

    def told_of(values, **params):
        return model.validate(ModelData({"X": tools.block(values)}), model.spec.check_params(params))

    assert not told_of(blocks)
    assert not told_of(np.random.default_rng(1).normal(size=(200, 5)))
    (told,) = told_of(levels)
    assert "between whole rows" in told.message
    assert "levels of their own beside the blocks" in told.hint
    assert (told.transform, told.settings) == ("", {})
    (told,) = told_of(levels, effects_if_needed=False)
    assert "between whole rows" in told.message
    assert (told.transform, told.settings) == ("", {"effects": True})
    assert not told_of(levels, **told.settings)
    gaps = levels.copy()
    gaps[np.random.default_rng(2).random(levels.shape) < 0.3] = np.nan
    known = np.isfinite(gaps)
    data = ModelData({"X": tools.block(np.where(known, gaps, 0.0), observed=known)})
    params = model.spec.check_params({"effects_if_needed": False})
    assert [p.settings for p in model.validate(data, params)] == [told.settings]


@pytest.mark.parametrize("model", ["infinite_plaid", "bayesian_plaid"])
def test_levels_have_effects_where_the_data_need_them(model):
    blocks, levels = of_levels()
    run = quick(model, levels)
    effect = run.kept().chains[0].draw("row_effect", 0)
    assert effect.shape == (1, 80)
    assert np.corrcoef(effect[0], np.median(levels, axis=1))[0, 1] > 0.7
    assert "Level" in run.results["row_memberships"].columns
    for values, params in (
        (blocks, {}),
        (levels[:, :19], {}),
        (levels, {"layer": "profile"}),
        (levels, {"effects_if_needed": False}),
    ):
        other = quick(model, values, **params)
        assert other.kept().chains[0].draw("row_effect", 0).shape[0] == 0
        assert "Level" not in other.results["row_memberships"].columns


def test_means_of_few_cells_are_no_levels():
    """Of two cells a row half the variance of noise lies between the means."""
    rng = np.random.default_rng(7)
    known = rng.random((200, 100)) < 0.02
    data = tools.matrix(np.where(known, rng.standard_normal(known.shape), 0.0), observed=known)
    model = InfinitePlaid()
    told = model.validate(data, model.spec.check_params({}))
    assert not [p.message for p in told if "variance" in p.message]


@pytest.mark.parametrize("missing", [0.0, 0.5, 0.9, 0.95])
@pytest.mark.parametrize("shape", [(20, 200), (100, 100), (60, 25)])
def test_noise_has_no_levels_however_little_of_it_is_observed(shape, missing):
    """Medians of few cells vary more, and those of values of which there are few jump."""
    rng = np.random.default_rng(5)
    for draw in (
        rng.standard_normal,
        lambda size: rng.random(size) < 0.5,
        lambda size: rng.poisson(0.7, size),
    ):
        known = rng.random(shape) >= missing
        block = tools.block(np.where(known, draw(shape), 0.0), observed=known)
        for axis in (0, 1):
            assert abs(level_share(block, axis)) < 0.15 or level_share(block, axis) < 0.0
        levels = block.values + np.where(known, 2.0 * rng.standard_normal((shape[0], 1)), 0.0)
        if missing < 0.9:
            assert level_share(tools.block(levels, observed=known), 0) > 0.4


def quick(model, values, **params):
    schedule = {"chains": 1, "warmup": 5, "draws": 4, "thin": 1, "executor": "inline"}
    return fit(model, {"X": values}, params, seed=1, **schedule)


@pytest.mark.parametrize(("axis", "noun"), [(1, "column"), (0, "row")])
def test_rows_or_columns_of_other_units_are_warned_of(axis, noun):
    """An identifier among answers; one far value among like columns is none, and of whole columns levels are told."""
    x = np.random.default_rng(4).normal(size=(60, 40))
    far = x.copy()
    far[5, 7] = 500.0
    other = np.moveaxis(x.copy(), axis, 0)
    other[3] *= 1000
    model = InfinitePlaid()

    def told_of(values):
        return model.validate(ModelData({"X": tools.block(values)}), model.spec.check_params({}))

    assert not told_of(x)
    assert not told_of(far)
    (told,) = told_of(np.moveaxis(other, 0, axis))
    name = tools.block(x).names[axis][3]
    assert told.message == f"> 99 % of the variance within {noun}s is that of “{name}”."
    assert (told.transform, told.options) == ("standardise", {"axis": f"{noun}s"})


def test_normal_noise_is_not_warned_of():
    """Blocks of whatever size, gaps and ratings of a few values are no tails (of which ``test_tails.py`` is)."""
    rng = np.random.default_rng(2)
    rows, columns = rng.random((4, 120)) < 0.15, rng.random((4, 80)) < 0.15
    blocks = 6.0 * rows.T.astype(float) @ columns
    model = InfinitePlaid()

    def told_of(values, known=None):
        data = ModelData({"X": tools.block(values, observed=known)})
        return model.validate(data, model.spec.check_params({}))

    noise = rng.normal(size=blocks.shape)
    assert not told_of(blocks + noise)
    assert not told_of(np.round(np.clip(2 + blocks / 6 + 0.6 * noise, 1, 5)))
    known = rng.random(blocks.shape) < 0.7
    assert not told_of(np.where(known, blocks + noise, 0.0), known)


def test_a_block_of_one_chain_among_several_is_not_certain():
    from plaidwork.plugins.plaid.block_list import block_results
    from plaidwork.plugins.plaid.pooling import Draw

    rows, columns = np.zeros((1, 30), bool), np.zeros((1, 40), bool)
    rows[0, :10], columns[0, :12] = True, True
    found = [Draw(rows, columns, np.array([2.0]), 0.0, 1.0)] * 10
    other = [Draw(~rows, ~columns, np.array([2.0]), 0.0, 1.0)] * 10
    block = tools.block(np.zeros((30, 40)))
    results, matched = block_results(found, [found, other, other, other], (rows, columns), block, "Blocks")
    assert matched.present.tolist() == [1.0]
    assert results["blocks"].columns["Present"].tolist() == [0.25]
    assert results["blocks"].columns["Chains"].tolist() == [1]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.spec.id)
def test_a_state_of_version_1_goes_on_in_the_middle_of_a_sweep(model, monkeypatch):
    """There the model itself kept replica and task; every position has its place in today's stages."""
    monkeypatch.setattr(sweep, "SLICE_CELLS", 1)
    data, params = tools.matrix(planted()), model.spec.check_params({"replicas": 2, "anneal": False})
    rng, stopped = tools.generator(4), []
    state = model.init(data, params, rng)
    while model.step(state, data, params, rng, Clock(0, 0)) is None:
        stopped.append((copy.deepcopy(state), copy.deepcopy(rng)))
    assert len(stopped) > 2
    for old, bits in stopped:
        stage, task = old.pop(POSITION).values()
        if stage == "swaps":  # the old sweep ended in the slice of its last task
            continue
        del old["swapped"]
        old |= {"replica": int(stage.split()[-1]) - 1, "task": task}
        again = model.upgrade_state(old, 1, data, params)
        while model.step(again, data, params, bits, Clock(0, 0)) is None:
            pass
        assert values(again) == values(state)


def test_traces_change_nothing_and_held_out_cells_count_once_a_sweep():
    held = np.zeros((30, 40), bool)
    held[3, 4] = True
    model, data, rng = InfinitePlaid(), tools.matrix(planted(), held_out=held), tools.generator(0)
    params = model.spec.check_params({"anneal": False})
    state = model.init(data, params, rng)
    told = tools.sweep(model, state, data, params, rng, Clock(0, 0))
    assert model.traces(state, data, params) == pytest.approx(told, nan_ok=True)
    assert state["held_out"]["draws"] == 1
