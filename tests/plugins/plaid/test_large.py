"""Large matrices, whose sums several threads share: the draws of small data, bit for bit, for any number of threads."""

from functools import partial

import numpy as np
import plaid_counts_tools as counts
import plaid_tools as tools
import pytest
import team_tools
from sparing import some
from team_tools import are_those_of_one_thread, equal, goes_on_from_every_place

from plaidwork.core.api import Clock, in_python
from plaidwork.core.checks import checks_for
from plaidwork.core.contract.stages import shared_with
from plaidwork.core.inference import executor
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.team import ProcessTeam
from plaidwork.plugins.plaid import large, large_profiles, sharing, sweep
from plaidwork.plugins.plaid.counts import large as counts_large
from plaidwork.plugins.plaid.counts import sweep as counts_sweep
from plaidwork.plugins.plaid.counts.model import PlaidCounts
from plaidwork.plugins.plaid.kernels import birth_death, scan
from plaidwork.plugins.plaid.kernels.joint_draw import count_covered
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

INFINITE = {"start": "prior", "anneal": False, "together": 2, "exchanges": 2, "split_merge": 2}
FIXED = {"start": "prior", "anneal": False, "blocks": 4}
COUNTS = {"start": "prior", "warm_starts": 2, "blocks_add": "alike", "seeded": 12}
PROFILES = {"layer": "profile", "row_noise": True, "effects": True}
CASES = {
    "infinite": (InfinitePlaid, INFINITE),
    "fixed": (BayesianPlaid, FIXED),
    "replicas": (InfinitePlaid, {**INFINITE, "replicas": 2}),
    "effects": (InfinitePlaid, {**INFINITE, "effects": True}),
    "heavy tails": (InfinitePlaid, {**INFINITE, "noise": "t", "effects": True}),
    "profiles": (InfinitePlaid, {**INFINITE, "layer": "profile"}),
    "profiles, all effects": (BayesianPlaid, {**FIXED, **PROFILES, "exchanges": 2}),
    "warm starts": (BayesianPlaid, {**FIXED, "anneal": True, "warm_starts": 2}),
    "counts": (PlaidCounts, COUNTS),
    "links": (PlaidCounts, {**COUNTS, "likelihood": "bernoulli"}),
    "counts without degrees": (PlaidCounts, {**COUNTS, "row_degrees": False, "column_degrees": False}),
}


class Backwards:
    """A team of three in one thread, whose last part is done first."""

    def size(self):
        return 3

    def run(self, calls):
        for call in reversed(calls):
            call()


@pytest.fixture
def all_large(monkeypatch):
    """All matrices are large, and every part is worth a thread."""
    for module in (large, counts_large):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(sharing, "PART", 0)
    monkeypatch.setattr(large_profiles, "CALM", 1)


@pytest.fixture
def slices_of_a_task(monkeypatch):
    monkeypatch.setattr(sweep, "SLICE_CELLS", 1)
    monkeypatch.setattr(counts_sweep, "SLICE_ENTRIES", 1)


def given(missing=0.1, name="infinite"):
    """13 x 11 cells with two blocks."""
    rng = tools.generator(3)
    if CASES[name][0] is PlaidCounts:
        rates = 0.4 + 1.5 * np.outer(np.arange(13) < 6, np.arange(11) < 5)
        return tools.matrix(rng.poisson(rates), observed=rng.random(rates.shape) >= missing)
    x = rng.standard_normal((13, 11))
    x[:5, :4] += 3.0
    x[3:9, 3:8] -= 2.0
    return tools.matrix(x, observed=rng.random(x.shape) >= missing)


def swept(name, data, team, sweeps=6, calls=10**9, state=None, rng=None):
    """(state, generator) of a case, see ``team_tools``."""
    kind, changes = CASES[name]
    params = kind.spec.check_params(changes)
    return team_tools.swept(kind(), data, params, team, sweeps, 4, rng or tools.generator(5), calls, state)


@pytest.mark.parametrize(
    "name", some(list(CASES), ["infinite", "fixed", "profiles", "profiles, all effects", "counts", "links"])
)
@pytest.mark.parametrize("missing", [0.1, 0.0])
def test_draws_are_those_of_one_thread(name, missing, all_large):
    """One thread works as over small data, so these are compared too."""
    are_those_of_one_thread(partial(swept, name, given(missing, name)))


@pytest.mark.slow
def test_draws_are_the_same_in_processes(monkeypatch):
    """Of a matrix that is large indeed; a process has as many threads as the computer has processors."""
    from plaidwork.core.data.objects import as_dataset

    rng = np.random.default_rng(3)
    x = rng.standard_normal((3000, 2000))
    x[:500, :300] += 1.0
    plan = make_plan(
        InfinitePlaid(),
        {"X": as_dataset("X", x)},
        {},
        schedule=InfinitePlaid.spec.default_schedule.with_(chains=1, warmup=0, max_sweeps=3),
    )
    found = []
    for start in (InlineExecutor(), ProcessExecutor()):
        monkeypatch.setattr(executor, "TEAM", ProcessTeam(1))
        run = Run.from_plan(plan)
        handle = start.start(plan, run.chains, lambda event: None)
        assert handle.wait(300)
        found.append(run.chains[0])
    assert np.array_equal(*(record.trace.rows() for record in found), equal_nan=True)
    equal(found[0].state, found[1].state)


def test_the_parts_are_done_by_several_threads(all_large, monkeypatch):
    """And not at all where there is one thread, or the matrix is small."""
    asked = []
    right = large.run_tasks
    monkeypatch.setattr(large, "run_tasks", lambda *given: asked.append(1) or right(*given))
    swept("infinite", given(), ProcessTeam(1), 1)
    assert not asked
    swept("infinite", given(), ProcessTeam(2), 1)
    assert asked
    monkeypatch.setattr(large, "LARGE", 1000)
    asked.clear()
    swept("infinite", given(), ProcessTeam(2), 1)
    assert not asked


@pytest.mark.parametrize("name", ["infinite", "fixed", "profiles", "counts"])
def test_a_sweep_that_pauses_goes_on_to_the_same_draws(name, all_large, slices_of_a_task):
    """At every place within the first sweep, from other threads to other threads."""
    assert len(goes_on_from_every_place(partial(swept, name, given(0.1, name), sweeps=1))) >= 5


def sums_agree(full):
    """Each shared loop against the kernel, bit for bit, in parts that are worked backwards."""
    rng = tools.generator(1)
    data = given(0.0 if full else 0.2)
    model = InfinitePlaid()
    params = model.spec.check_params(INFINITE)
    state = model.init(data, params, rng)
    cells = model.setting(state, data, params, Clock(0, 0)).cells
    rows, columns = rng.random((3, 13)) < 0.6, rng.random((3, 11)) < 0.6
    levels = (rng.standard_normal(3), 0.3)
    with shared_with(Backwards()):
        for skip in (1, 3):
            for loop, kernel, picked in (
                (large.row_sums, scan.row_sums, columns[0]),
                (large.column_sums, scan.column_sums, rows[0]),
            ):
                found = loop(cells, rows, columns, *levels, picked, skip)
                for one, other in zip(
                    found, kernel(cells, rows, columns, *levels, picked, skip), strict=True
                ):
                    np.testing.assert_array_equal(one, other)
        data_sums = large.picked_sums(cells, columns)
        np.testing.assert_array_equal(data_sums, scan.picked_sums(cells, columns))
        found = large.residual_sums(cells, rows, columns, *levels, columns[2], 2, data_sums[2].copy())
        right = scan.residual_sums(cells, rows, columns, *levels, columns[2], 2, data_sums[2].copy())
        for one, other in zip(found, right, strict=True):
            np.testing.assert_array_equal(one, other)
        assert large.block_sum(cells, rows[1], columns[1]) == large.blocks.block_sum(
            cells, rows[1], columns[1]
        )
        inside = (rows[:, :, None] & columns[:, None, :]).any(axis=0)
        assert large.covered_cells(rows, columns) == inside.sum()
        assert large.covered_cells(rows[:0], columns[:0]) == 0


@pytest.mark.parametrize("full", [True, False])
def test_sums_in_parts_are_those_of_the_kernels(full, all_large):
    sums_agree(full)


def lose_a_unit(monkeypatch):
    """The planted fault: the last unit of the first part is worked by none."""
    right = sharing.share
    monkeypatch.setattr(
        sharing,
        "share",
        lambda work, size, least: right(lambda lo, hi: work(lo, hi - (lo == 0)), size, least),
    )


def work_a_unit_twice(monkeypatch):
    """The planted fault: the parts overlap by a unit."""
    right = sharing.share
    monkeypatch.setattr(
        sharing,
        "share",
        lambda work, size, least: right(lambda lo, hi: work(lo, min(hi + 1, size)), size, least),
    )


def test_a_unit_between_two_parts_is_missed(all_large, monkeypatch):
    lose_a_unit(monkeypatch)
    with pytest.raises(AssertionError):
        sums_agree(False)


def test_a_unit_in_two_parts_is_seen_in_the_draws(all_large, monkeypatch):
    data = given(0.1, "counts")
    one, _ = swept("counts", data, ProcessTeam(1))
    work_a_unit_twice(monkeypatch)
    other, _ = swept("counts", data, ProcessTeam(3))
    with pytest.raises(AssertionError):
        equal(one, other)


def test_rows_are_tried_ahead(all_large, monkeypatch):
    """And tried again once one has changed sides: the planted fault, that they are not, is seen in the draws."""
    data, tried = given(0.1, "profiles"), []
    one, _ = swept("profiles", data, ProcessTeam(1))
    right = large_profiles.try_rows
    monkeypatch.setattr(large_profiles, "try_rows", lambda *given: tried.append(given[-1]) or right(*given))
    equal(one, swept("profiles", data, ProcessTeam(2))[0])
    assert len(tried) > 50
    monkeypatch.setattr(
        large_profiles, "try_rows", lambda *given: given[-2] or right(*given)
    )  # only from the first row on
    with pytest.raises(AssertionError):
        equal(one, swept("profiles", data, ProcessTeam(2))[0])


LAWS = {
    "infinite": (InfinitePlaid, tools.TINY_INFINITE, tools.exact_infinite),
    "fixed": (BayesianPlaid, {**tools.TINY_FIXED, "exchanges": 1}, tools.exact_fixed),
}


def largest_z(name, sweeps):
    """The chain of the tiny matrix against enumeration, all sums in three parts."""
    kind, settings, enumerate_all = LAWS[name]
    with shared_with(Backwards()):
        samples = tools.sampled(kind(), settings, 5, sweeps)
    exact = enumerate_all(kind.spec.check_params(settings))
    return np.abs(tools.z_scores(samples, exact)).max()


def counts_z(sweeps):
    """The same of counts on their tiny matrix."""
    with shared_with(Backwards()):
        samples = counts.sampled({"likelihood": "poisson"}, 11, sweeps)
    return np.abs(tools.z_scores(samples, counts.exact(False))).max()


@pytest.mark.slow
def test_law_of_counts(all_large):
    assert counts_z(2000) < tools.LIMIT


@pytest.mark.slow
def test_law_of_counts_sees_a_unit_in_two_parts(all_large, monkeypatch):
    work_a_unit_twice(monkeypatch)
    assert counts_z(2000) > 5.0


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_law(name, all_large):
    assert largest_z(name, 4000) < tools.LIMIT


@pytest.mark.slow
def test_law_sees_a_unit_that_no_part_has(all_large, monkeypatch):
    lose_a_unit(monkeypatch)
    assert largest_z("fixed", 4000) > 5.0


def test_sources_are_run_with_other_functions_in_place_of_those_they_call():
    with pytest.raises(AttributeError, match="not called by one_item: row_sums"):
        in_python(birth_death.one_item, row_sums=large.row_sums)
    assert in_python(birth_death.one_item)(3, 1).tolist() == [False, True, False]


@pytest.mark.parametrize("u", [0.0, 2.0**-53, 0.3, 0.5, 1 - 2.0**-53])
def test_membership_at_any_odds(u):
    """Beyond 40 the exponential is spared, to the same decision."""
    for odds in (-800.0, -700.0, -41.0, -40.0, -39.0, -1.0, 0.0, 1.0, 39.0, 40.0, 41.0, 800.0):
        with np.errstate(over="ignore"):
            wanted = u * (1.0 + np.exp(min(-odds, 700.0))) < 1.0
        assert scan.is_in(u, odds) == wanted, odds


def test_covered_cells_of_some_rows():
    found = np.full(3, -1)
    count_covered(
        np.array([[True, False, True], [True, False, False]]), np.array([[True, True], [False, True]]), found, 1, 3
    )  # fmt: skip
    assert found.tolist() == [-1, 0, 2]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", some(["infinite_plaid", "bayesian_plaid", "plaid_counts"], ["infinite_plaid"])
)
def test_conforms(name, all_large):
    """Also that units may be worked in any order."""
    from plaidwork.core.plugins.registry import registry

    for check in checks_for(
        registry().model(name), only=["any_order", "same_in_threads", "same_seed", "mid_sweep"]
    ):
        check()
