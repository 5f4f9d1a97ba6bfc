"""Large data, worked block by block: the law of small data, the same numbers for any number of threads."""

from functools import partial

import numpy as np
import pytest
import team_tools
from gp_joint import generator
from sparing import some
from team_tools import are_those_of_one_thread, equal, goes_on_from_every_place

from plaidwork.core.api import POSITION, Block, ModelData
from plaidwork.core.checks import checks_for
from plaidwork.core.contract import stages as host
from plaidwork.core.draws.chain import rng_state
from plaidwork.core.inference.team import ProcessTeam
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.classes.variational import QuickClasses
from plaidwork.plugins.gp_auxiliary.few_labels.model import SemiClasses
from plaidwork.plugins.gp_auxiliary.kernels import hamiltonian
from plaidwork.plugins.gp_auxiliary.regression.quick import QuickRegression
from plaidwork.plugins.gp_auxiliary.regression.sparse import bound_and_slope, solve_sparse
from plaidwork.plugins.gp_auxiliary.shared import blocks, given_f, hyper
from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.flow import flow_of, new_reference
from plaidwork.plugins.gp_auxiliary.shared.gram import draw_f, squared_length, times_q
from plaidwork.plugins.gp_auxiliary.shared.tilting import tilt
from tests.plugins.gp_auxiliary import test_exact

CASES = {
    "two classes": (Classes, 2, {}),
    "two classes, walks": (Classes, 2, {"moves": "walk"}),
    "three classes": (Classes, 3, {}),
    "ordered": (OrderedClasses, 3, {}),
    "few labels": (SemiClasses, 2, {"rungs": 2}),
    "quick, two classes": (QuickClasses, 2, {}),
    "quick, three classes": (QuickClasses, 3, {}),
    "quick regression": (QuickRegression, 0, {"starts": 2}),
}
SIZE = 41


@pytest.fixture
def all_large(monkeypatch):
    """All data are large."""
    monkeypatch.setattr(blocks, "LARGE", 0)


def given(name):
    """Some samples of two inputs, and their values or classes; the last ones have no label where labels are few."""
    kind, classes, _ = CASES[name]
    rng = generator(3)
    x = rng.standard_normal((SIZE, 2))
    value = np.sin(2 * x[:, 0]) + 0.3 * rng.standard_normal(SIZE)
    names, levels = tuple(map(str, range(SIZE))), None
    if classes:
        value = np.searchsorted(np.quantile(value, np.arange(1, classes) / classes), value)
        levels = tuple(f"class {k}" for k in range(classes))
        if kind is SemiClasses:
            value[30:] = -1
    known = np.ones(x.shape, bool)
    return ModelData(
        {
            "X": Block("X", x, known, None, (names, ("a", "b"))),
            "y": Block("y", value, value >= 0 if classes else known[:, 0], None, (names,), levels),
        }
    )


def params_of(name, **more):
    kind, _, changes = CASES[name]
    return kind().spec.check_params({"form": "inducing", "inducing": 6, **changes, **more})


def swept(name, team, sweeps=12, calls=10**9, state=None, rng=None):
    """(state, generator) of a case, see ``team_tools``."""
    model = CASES[name][0]()
    return team_tools.swept(
        model, given(name), params_of(name), team, sweeps, 6, rng or generator(5), calls, state
    )


@pytest.mark.parametrize("name", some(list(CASES), ["two classes", "ordered", "quick regression"]))
def test_numbers_are_those_of_one_thread(name, all_large):
    are_those_of_one_thread(partial(swept, name))


def test_sums_by_thread_are_seen(all_large, monkeypatch):
    """The planted fault: each thread adds up what it works, so that sums go with their number."""

    def by_thread(work, size):
        found = []
        blocks.share(lambda lo, hi: found.append(work(slice(lo, hi))), size)
        return found

    monkeypatch.setattr(blocks, "in_blocks", by_thread)
    one, _ = swept("quick, two classes", ProcessTeam(1), 3)
    other, _ = swept("quick, two classes", ProcessTeam(2), 3)
    with pytest.raises(AssertionError):
        equal(one, other)


@pytest.mark.parametrize("name", some(["two classes", "three classes", "ordered"], ["two classes"]))
def test_a_sweep_that_pauses_goes_on_to_the_same_numbers(name, all_large, monkeypatch):
    """At every place within the first sweep, with other threads than before."""
    monkeypatch.setattr(hyper, "SLICE", 1e-9)
    assert len(goes_on_from_every_place(partial(swept, name, sweeps=1))) >= 5


def test_a_state_of_before_goes_on(monkeypatch):
    """Its draws are others from here on, from a sweep that small data have begun."""
    monkeypatch.setattr(hyper, "SLICE", 1e-9)
    state, rng = swept("two classes", ProcessTeam(1), 3, 4)
    assert POSITION in state
    monkeypatch.setattr(blocks, "LARGE", 0)
    state, _ = swept("two classes", ProcessTeam(2), 3, state=state, rng=rng)
    assert np.isfinite(state["rungs"]["0"]["theta"]).all()


def both_ways(monkeypatch, found):
    """What ``found()`` gives for small data, and for large ones in four blocks."""
    small = found()
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "LARGE", 0)
        return small, found()


def low_rank_agrees(monkeypatch, covariance):
    """The low-rank form, the evidence with its gradient and the map of the moves of f, by both ways, to rounding."""
    model, data, rng = Classes(), given("two classes"), generator(1)
    params = params_of("two classes", covariance=covariance, ard=covariance != "linear")
    state = model.init(data, params, rng)
    prior = model.setting(state, params)[0]
    theta = prior.covariance.prior_mean + 0.3 * rng.standard_normal(len(prior.covariance.parameters))
    y, values = rng.standard_normal((2, SIZE)), rng.standard_normal((SIZE, 3))
    reference = new_reference(y[0])

    def found():
        gram, its = prior.gram(theta), evidence(prior, theta, y)
        flow = flow_of(prior, theta, gram, reference)
        return [
            gram["rows"], gram["weight"], gram["diagonal"], gram["log_det"], gram["loadings"], its.value, its.gradient,
            prior.log_density(theta, y), times_q(values, gram), squared_length(y[0], gram), flow["map"], flow["centre"],
            flow["turn"],
        ]  # fmt: skip

    for one, other in zip(*both_ways(monkeypatch, found), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("covariance", ["rbf", "matern32", "linear"])
def test_blocks_add_up_to_the_whole(covariance, monkeypatch):
    low_rank_agrees(monkeypatch, covariance)


def lose_a_block(monkeypatch):
    right = blocks.of_each

    def wrong(work, units):
        found = right(work, units)
        return [*found[:-1], found[-2]] if len(found) > 1 else found

    monkeypatch.setattr(blocks, "of_each", wrong)


def test_a_block_that_is_left_out_is_missed(monkeypatch):
    """The planted fault: the last block's sums are those of the one before."""
    lose_a_block(monkeypatch)
    with pytest.raises(AssertionError):
        low_rank_agrees(monkeypatch, "rbf")


def test_blocks_of_labels_add_up(monkeypatch):
    rng = generator(2)
    f, code, share = rng.standard_normal((3, SIZE)), rng.integers(-1, 3, SIZE), np.log(np.full(3, 1 / 3))
    low, high, free = np.where(code, -1.0, 0.5), np.where(code, 0.5, 3.0), code < 0

    def found():
        return [
            given_f.log_winners(f, code, 0.2, share), given_f.log_intervals(f[0], low, high, free, 0.2, -0.5, -0.7),
            *tilt(f, np.abs(code)), *tilt(f[:1], np.abs(code) % 2),
        ]  # fmt: skip

    for one, other in zip(*both_ways(monkeypatch, found), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_blocks_of_a_bound_add_up(monkeypatch):
    model, data, params = QuickRegression(), given("quick regression"), params_of("quick regression")
    state = model.init(data, params, generator(1))
    prior, y = model.prior(state, params), state["fixed"]["y"]
    theta = prior.covariance.prior_mean

    def found():
        return [*bound_and_slope(prior, theta, y), solve_sparse(prior, theta, y).a]

    for one, other in zip(*both_ways(monkeypatch, found), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def correlated():
    """Largest correlation between blocks of draws of f given z, and of z given f, of samples that are alike."""
    rng, size = generator(4), 4000
    gram = {"rows": np.zeros((size, 1)), "weight": np.full(size, 0.5), "loadings": np.zeros((size, 1))}
    f, z = draw_f(rng, np.zeros((1, size)), gram)[0], np.zeros(size)
    nothing = np.zeros(size)
    given_f.draw_intervals(rng, nothing, z, nothing - 1.0, nothing + 2.0, np.zeros(size, bool), 0.0, 0.0, 0.0)
    three = np.zeros((3, size))
    given_f.draw_winners(rng, np.zeros((3, size)), three, np.zeros(size, int), 0.0, np.zeros(3))
    found = [np.corrcoef(draws.reshape(4, -1)) - np.eye(4) for draws in (f, z, *three)]
    return np.abs(found).max()


def test_blocks_draw_by_generators_of_their_own(all_large, monkeypatch):
    """30 correlations of 1000 pairs, at 5 standard errors; the planted fault: every block has the generator of the first."""
    assert correlated() < 5 / np.sqrt(1000)
    right = host.slice_rng
    monkeypatch.setattr(host, "slice_rng", lambda stream, lo: right(stream, 0))
    assert correlated() > 0.9


def law_error():
    """Standard errors between the chance of a class at a new place by the chain, and by boxes; all samples are inducing points."""
    from scipy import stats

    settings = {"form": "inducing", "inducing": 3}
    run = test_exact.fitted("gp_classes", [1, 0, 1], 1, **settings)
    exact = test_exact.box([1, -1, 1, 1], 0.0) / test_exact.box([1, -1, 1], 0.0)
    c, across = test_exact.covariance(test_exact.X[:3]), test_exact.covariance(test_exact.X)[3, :3]
    gain = np.linalg.solve(c, across)
    spread = np.sqrt(1.0 + test_exact.AMPLITUDE - gain @ across)
    chance = stats.norm.cdf(run.draws["z"][:, :, 0, :] @ gain / spread)
    return abs(chance.mean() - exact) / test_exact.error_of(chance)


@pytest.mark.long
def test_law(all_large):
    """At 4.5 standard errors, by 20 batches a chain."""
    assert law_error() < 4.5


@pytest.mark.long
def test_law_sees_a_block_that_is_left_out(all_large, monkeypatch):
    """The planted fault: of the last block the label says nothing."""
    right = hamiltonian.rest

    def wrong(rows, triangular, w, low, high, *given):
        silent = len(rows) and rows.base is not None and np.shares_memory(rows[-1], rows.base[-1])
        return right(rows, triangular, w, low - 20.0 * silent, high, *given)

    monkeypatch.setattr(hamiltonian, "rest", wrong)
    assert law_error() > 4.5


@pytest.mark.parametrize("size", [1, 8_191, 8_192, 20_000, 100_001])
def test_blocks_are_alike_and_as_many_as_threads_can_share(size):
    found = blocks.blocks_of(size)
    sizes = [part.stop - part.start for part in found]
    assert sum(sizes) == found[-1].stop == size
    assert len(found) == 1 if size < blocks.LARGE else len(found) % blocks.TOGETHER == 0
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == 1 or max(sizes) <= blocks.BLOCK


def test_small_data_have_one_generator():
    rng = generator(1)
    assert blocks.generators(rng, 500)(slice(0, 500)) is rng
    assert rng_state(rng) == rng_state(generator(1))


@pytest.mark.long
@pytest.mark.parametrize("name", some(["gp_classes", "gp_ordered_classes"], ["gp_classes"]))
def test_conforms(name, all_large):
    for check in checks_for(registry().model(name), only=["same_in_threads", "same_seed", "mid_sweep"]):
        check()
