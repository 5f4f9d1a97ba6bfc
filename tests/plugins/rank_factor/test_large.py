"""Large data, whose slices have generators of their own: the same law as small data, the same numbers for any number of threads."""

from functools import partial

import numpy as np
import pytest
import rank_factor_tools as tools
import team_tools
from sparing import some
from team_tools import are_those_of_one_thread, equal, goes_on_from_every_place

from plaidwork.core.api import POSITION, Clock
from plaidwork.core.checks import checks_for
from plaidwork.core.contract import stages as host
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.team import ProcessTeam
from plaidwork.plugins.rank_factor import gibbs, large, rows
from plaidwork.plugins.rank_factor.models import RankFactor
from plaidwork.plugins.rank_factor.setup import setup_of
from plaidwork.plugins.rank_factor.stored import wrong_sums
from tests.plugins.rank_factor import test_conditionals

CASES = {
    f"{name}-{classifier}": {**changes, "classifier": classifier}
    for name, changes in (
        ("levels", {}),
        ("pairs", {"scheme": "pairs"}),
        ("values", {"likelihood": "gaussian"}),
    )
    for classifier in ("linear", "nonlinear", "process")
}


@pytest.fixture
def all_large(monkeypatch):
    """All data are large, and every slice is as short as can be."""
    monkeypatch.setattr(gibbs, "LARGE", 0)
    monkeypatch.setattr(large, "SLICE", 1)


def check_law(name, sweeps, most, batches, seed=5, n=100_000):
    """Chains of the tiny problem against importance sampling from the prior, as of ``test_exact``."""
    setup, params = tools.tiny(**CASES[name])
    expected = tools.exact(setup, params, n=n, batch=50_000)
    samples = tools.sampled(setup, params, sweeps, seed)
    assert np.abs(tools.z_scores(samples, expected, batches)).max() < most


@pytest.mark.long
@pytest.mark.parametrize("name", some(["levels-linear", "values-linear"], ["values-linear"]))
def test_law_quick(name, all_large):
    """Some 25 functions at 5 standard errors, as the quick test of small data."""
    check_law(name, 2000, 5.0, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if "process" not in name])
def test_law(name, all_large):
    """Some 25 functions at 4.5 standard errors, which 40 batches know to a tenth: of nine runs of pairs-nonlinear, three of them of
    small data, the largest were 1.97 to 4.04."""
    check_law(name, 60_000, 4.5, 40, 33, 4_000_000)


@pytest.mark.long
def test_slices_of_one_stream_are_seen(all_large, monkeypatch):
    """The planted fault: every slice has the generator of the first. Of values, whose scores hang together least: z of 12."""
    right = host.slice_rng
    monkeypatch.setattr(host, "slice_rng", lambda stream, lo: right(stream, 0))
    with pytest.raises(AssertionError):
        check_law("values-linear", 2000, 5.0, 20)


@pytest.mark.long
def test_sums_without_a_row_are_seen(all_large, monkeypatch):
    """The planted fault: what the last row says is not kept."""
    right = large.keep_rows
    monkeypatch.setattr(large, "keep_rows", lambda state, lo, hi, said: lo or right(state, lo, hi, said))
    with pytest.raises(AssertionError):
        check_law("levels-linear", 2000, 5.0, 20)


@pytest.mark.parametrize(
    "changes", test_conditionals.SETTINGS[::2], ids=lambda c: "-".join(map(str, c.values()))
)
def test_a_slice_of_samples_makes_the_sums_of_the_rows(changes):
    """Precision and linear term of the scores, to rounding those that small data add up row by row."""
    setup, params, state, rng = test_conditionals.problem(**changes)
    kappa = test_conditionals.kappas(setup, state, rng) if setup.likelihood != "gaussian" else None
    p, h = test_conditionals.row_sums(setup, params, state, kappa)
    precision, linear = state["precision"], state["linear"]
    large.begin_rows(state, setup)
    nothing = np.zeros(1)
    large.keep_rows(state, 0, 2, rows.Said(p[:2], None if h is None else h[:2], nothing, nothing))
    large.keep_rows(state, 2, 5, rows.Said(p[2:], None if h is None else h[2:], nothing, nothing))
    state["aa"] = rows.outer_packed(state["a"])
    for lo, hi in ((0, 4), (4, 9)):
        found = large.sample_terms(state, setup, lo, hi)
        np.testing.assert_allclose(found[0], precision[lo:hi], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[1], linear[lo:hi], rtol=1e-10, atol=1e-10)


def test_values_without_gaps_share_a_precision():
    x = tools.generator(1).standard_normal((7, 4))
    params = tools.params_of(n_factors=2, likelihood="gaussian")
    setup = setup_of(tools.data_of(x, np.arange(7) % 2), params)
    rng = tools.generator(2)
    state = tools.new_state(setup, params, rng)
    state["a"], state["gamma"] = rng.standard_normal((4, 2)), np.exp(rng.standard_normal(4))
    rows.begin_rows(state, setup)
    rows.add_rows(state, setup, 0, 4, state["gamma"][:, None], None)
    precision, linear = large.sample_terms(state, setup, 2, 6)
    np.testing.assert_allclose(precision, np.repeat(state["precision"], 4, axis=0), rtol=1e-12)
    np.testing.assert_allclose(linear, state["linear"][2:6], rtol=1e-12)


def test_a_place_for_products_holds_no_rest_of_the_memory(monkeypatch):
    """A state is stored within the stage, when half of the place is not filled: what stood in memory there made it none that fits."""
    state = {"z": tools.generator(1).standard_normal((7, 4))}
    stage = large.products(state, "zz", "z", "products of the scores", (7, 4))
    with monkeypatch.context() as patch:
        patch.setattr(np, "empty", lambda *given, **named: np.full(*given, np.nan, **named))
        stage.begin()
    stage.work(0, 3)
    np.testing.assert_array_equal(state["zz"][:3], rows.outer_packed(state["z"][:3]))
    np.testing.assert_array_equal(state["zz"][3:], 0)


@pytest.mark.parametrize("units", [1, 2, 3, 7, 50, 1000, 4097])
@pytest.mark.parametrize("each", [1, 2_000_000, 90_000_000])
def test_slices_are_alike_and_as_many_as_threads_can_share(units, each):
    end, found = large.even_slices(units, each), [0]
    while found[-1] < units:
        found.append(end(found[-1]))
    sizes = np.diff(found)
    assert found[-1] == units
    assert sizes.max() - sizes.min() <= 1
    assert len(sizes) == units or len(sizes) % large.TOGETHER == 0
    assert sizes.max() == 1 or (sizes.max() - 1) * each <= large.SLICE


def given(missing=True):
    """(data, settings' changes) of 24 samples, four of them for the test, three classes."""
    rng = tools.generator(3)
    x = rng.standard_normal((24, 9)).round(1)
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    labels = rng.integers(-1, 3, 24)
    labels[:3] = np.arange(3)
    return tools.data_of(x, labels, ("a", "b", "c"), (np.arange(24) > 19).astype(int))


def swept(data, params, team, sweeps=14, calls=10**9, state=None, rng=None):
    """(state, generator), see ``team_tools``."""
    return team_tools.swept(
        RankFactor(), data, params, team, sweeps, 8, rng or tools.generator(5), calls, state
    )


@pytest.mark.parametrize(
    "name", some(list(CASES), ["levels-linear", "levels-process", "pairs-nonlinear", "values-linear"])
)
@pytest.mark.parametrize("missing", [True, False])
def test_numbers_are_those_of_one_thread(name, missing, all_large):
    data, params = given(missing), tools.params_of(n_factors=3, n_components=2, **CASES[name])
    are_those_of_one_thread(partial(swept, data, params))


@pytest.mark.parametrize("name", ["levels-linear", "pairs-linear", "levels-process"])
def test_a_sweep_that_pauses_goes_on_to_the_same_numbers(name, all_large):
    """At every place within the first sweep, with other threads than before."""
    data, params = given(), tools.params_of(n_factors=3, **CASES[name])
    stages = goes_on_from_every_place(partial(swept, data, params, sweeps=1))
    assert {"rows", "scores", "measure"} <= set(stages)


def test_what_is_large_follows_from_data_and_settings():
    """Some 60 ms of cells: USPS (767 x 256, 20 factors) is small, 1000 x 600 is large, with ten factors 1000 x 900."""
    sizes = {
        (767, 256, 20): False,
        (1000, 500, 20): False,
        (1000, 600, 20): True,
        (1000, 600, 10): False,
        (1000, 900, 10): True,
    }
    for (n, d, k), wanted in sizes.items():
        setup = type("Setup", (), {"shape": (d, n, 1)})
        assert gibbs.is_large(setup, k) == wanted


def test_small_data_have_one_generator():
    data, params = given(), tools.params_of(n_factors=3)
    setup, rng = setup_of(data, params), tools.generator(1)
    state = tools.new_state(setup, params, rng)
    assert not any(stage.parallel for stage in gibbs.stages(state, setup, params, rng, Clock(0, 0)))


def test_a_sweep_of_an_earlier_version_begins_anew(monkeypatch):
    """States of version 2 within a sweep over data that are large by now have the sums of small ones."""
    data, params, model = (
        given(),
        RankFactor.spec.check_params({"n_factors": 3, "scheme": "pairs"}),
        RankFactor(),
    )
    monkeypatch.setattr(gibbs, "PART", 1)
    monkeypatch.setattr(gibbs, "SLICE", 1)
    state, _ = swept(data, params, ProcessTeam(1), 1, 4)
    assert state[POSITION] == {"stage": "rows", "at": 4}
    kept = model.upgrade_state(copy_state(state), 2, data, params)
    equal(kept, state)
    monkeypatch.setattr(gibbs, "LARGE", 0)
    new = model.upgrade_state(copy_state(state), 2, data, params)
    assert POSITION not in new
    assert new["kappa"].size == new["w"].size == 0
    assert np.array_equal(new["a"], state["a"])
    swept(data, params, ProcessTeam(2), 2, state=new)


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("name", ["levels-linear", "pairs-linear", "values-linear"])
@pytest.mark.parametrize("missing", [True, False])
def test_sums_within_a_sweep_are_asked_for(name, apart, missing, monkeypatch):
    """Every state of a sweep is right; one that lacks a sum that a kernel goes on with is told."""
    for module, word, value in ((gibbs, "PART", 1), (gibbs, "SLICE", 1), (large, "SLICE", 1)):
        monkeypatch.setattr(module, word, value)
    monkeypatch.setattr(gibbs, "LARGE", 0 if apart else 10**18)
    data, params = given(missing), tools.params_of(n_factors=3, **CASES[name])
    setup, told = setup_of(data, params), set()
    for calls in range(1, 200):
        state, _ = swept(data, params, ProcessTeam(1), 1, calls)
        if POSITION not in state:
            break
        assert not wrong_sums(state, setup, apart)
        for part in ("precision", "linear", "kappa", "w", "p", "h", "aa", "zz"):
            if part in state and state[part].size:
                found = wrong_sums({**state, part: state[part][:-1]}, setup, apart)
                if f"“{part}” has the length {len(state[part]) - 1} within the stage" in found:
                    told.add(part)
    kept = {
        "levels": {"p", "h", "aa", "zz"},
        "pairs": {"p", "aa", "zz", "kappa", "w"},
        "values": {"zz", *(["aa"] if missing else [])},
    }
    pairs = {"kappa", "w"} if "pairs" in name else set()
    assert told == {"precision", "linear"} | (kept[name.split("-")[0]] if apart else pairs)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    some(
        ["rank_factor.values_mixture", "rank_factor.process", "rank_factor.pairs"],
        ["rank_factor.values_mixture"],
    ),
)
def test_conforms(name, all_large):
    """Also that slices may be worked in any order, and that what is drawn from the chain's own generator is not drawn within them."""
    for check in checks_for(
        tools.MODELS[name],
        only=["any_order", "same_in_threads", "same_seed", "stages_only_tell", "mid_sweep", "state_fits"],
    ):
        check()
