"""Several threads at the slices of one stage: the numbers of one thread, every fault told, and a fair share for each chain."""

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from conforming import Bound, Means, read

from plaidwork.core.contract import stages as stages_module
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.stages import POSITION, Stage, advance, share
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.draws.chain import copy_state, rng_from_state, rng_state
from plaidwork.core.errors import PluginError
from plaidwork.core.inference import executor
from plaidwork.core.inference.events import Failed, Working
from plaidwork.core.inference.executor import Control, InlineExecutor, drive
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.processes import ProcessExecutor
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.team import ProcessTeam


class Alongside(Bound):
    """Its columns may be worked at once; notes by which threads."""

    seen: set[str] = set()

    def stages(self, state, data, params, rng, clock):
        mean, tau = super().stages(state, data, params, rng, clock)

        def work(lo, hi):
            self.seen.add(threading.current_thread().name)
            return mean.work(lo, hi)

        return [replace(mean, work=work, parallel=True), tau]


class Adding(Bound):
    """Sums over columns whose last digits depend on the order in which they are added."""

    def stages(self, state, data, params, rng, clock):
        mean, tau = super().stages(state, data, params, rng, clock)
        x = data["X"].values

        def work(lo, hi):
            return np.exp(20 * x[:, lo:hi]).sum(axis=1)

        def add(part):
            state["centre"][:30] += 1e-12 * part

        return [mean, Stage("sums", work, x.shape[1], 3, parallel=True, add=add), tau]


class Streaming(Means):
    """Its columns are drawn at once, four at a time; sums of the draws are added, and the rest comes from the chain's own generator."""

    step = Model.step

    def init(self, data, params, rng):
        x, _ = read(data)
        return {"mean": np.zeros(x.shape[1]), "tau": 1.0, "sum": 0.0}

    def stages(self, state, data, params, rng, clock):
        x, known = read(data)

        def work(lo, hi, rng):
            precision = params["spread"] ** -2 + state["tau"] * known[:, lo:hi].sum(axis=0)
            centre = state["tau"] * x[:, lo:hi].sum(axis=0) / precision
            state["mean"][lo:hi] = centre + rng.standard_normal(hi - lo) / np.sqrt(precision)
            return float(np.exp(state["mean"][lo:hi]).sum())

        def add(part):
            state["sum"] = 0.9 * state["sum"] + part

        tau = Stage("tau", lambda lo, hi: self.draw_tau(state, x, known, params, rng), slice=1000)
        return [Stage("mean", work, x.shape[1], 4, streams=True, add=add), tau]

    def traces(self, state, data, params):
        return self.numbers(state, *read(data))


class Failing(Alongside):
    def update_mean(self, state, x, lo, hi):
        super().update_mean(state, x, lo, hi)
        if lo:
            raise ValueError(f"columns {lo} to {hi}")


def planned(model):
    x = np.random.default_rng(3).normal(size=(30, 40))
    return make_plan(model, {"X": as_dataset("X", x)}, {})


def fitted(model, threads, monkeypatch):
    monkeypatch.setattr(executor, "TEAM", ProcessTeam(threads))
    plan = planned(model)
    run = Run.from_plan(plan)
    InlineExecutor().start(plan, run.chains, lambda event: None)
    return run


def test_the_numbers_are_those_of_one_thread(monkeypatch):
    model = Alongside()
    model.seen.clear()
    one = fitted(model, 1, monkeypatch)
    assert model.seen == {threading.current_thread().name}
    for threads in (2, 3, 16):
        other = fitted(model, threads, monkeypatch)
        for a, b in zip(one.chains, other.chains, strict=True):
            assert np.array_equal(a.trace.rows(), b.trace.rows())
            assert np.array_equal(a.state["centre"], b.state["centre"])
    assert len(model.seen) > 1


def test_a_slice_that_fails_ends_the_chain_in_words(monkeypatch):
    monkeypatch.setattr(executor, "TEAM", ProcessTeam(3))
    plan = planned(Failing())
    record, heard = Run.from_plan(plan).chains[0], []
    drive(plan, record, Control(), heard.append)
    assert isinstance(heard[-1], Failed)
    assert "columns 6 to 12" in heard[-1].message + heard[-1].details
    assert record.broken


def test_a_chain_that_pauses_between_the_slices_goes_on_to_the_same_numbers(monkeypatch):
    monkeypatch.setattr(executor, "TEAM", ProcessTeam(2))
    plan = planned(Alongside())
    whole, parted = Run.from_plan(plan).chains[0], Run.from_plan(plan).chains[0]
    drive(plan, whole, Control(), lambda event: None)
    stops = 0
    while not parted.swept_out:
        control = Control()

        def stop(event, control=control):
            if isinstance(event, Working):
                control.stop()

        drive(plan, parted, control, stop)
        stops += 1
    assert stops > 3
    assert np.array_equal(whole.trace.rows(), parted.trace.rows())


def test_what_other_threads_did_counts_as_processor_time():
    team = ProcessTeam(2)
    with team.chain() as mine:
        mine.run([lambda: None, lambda: sum(range(300_000))])
        assert mine.take_seconds() > 0
        assert mine.take_seconds() == 0


def test_chains_share_the_processors():
    team = ProcessTeam(4)
    with team.chain() as one:
        assert one.size() == 4
        with team.chain() as other, team.chain(threads=1) as narrow:
            assert (one.size(), other.size(), narrow.size()) == (1, 1, 1)
        with team.chain(threads=3) as other:
            assert (one.size(), other.size()) == (2, 2)
    with team.chain(threads=3) as one:
        assert one.size() == 3


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_partial_sums_are_added_in_the_order_of_the_slices(threads, monkeypatch):
    one, other = fitted(Adding(), 1, monkeypatch), fitted(Adding(), threads, monkeypatch)
    for a, b in zip(one.chains, other.chains, strict=True):
        assert np.array_equal(a.state["centre"], b.state["centre"])
        assert np.array_equal(a.trace.rows(), b.trace.rows())


@pytest.mark.parametrize("most", [1, 2, 3, 16])
def test_units_of_a_shared_loop_are_worked_once_by_as_many_threads_as_there_are(most):
    found, parts = np.zeros(10, int), []

    def work(lo, hi):
        parts.append((hi - lo, threading.current_thread().name))
        found[lo:hi] += 1 + np.arange(lo, hi)

    with ProcessTeam(most).chain():
        assert stages_module.threads() == most
        share(work, 10)
        assert len(parts) == min(most, 10)
        share(work, 10, least=5)
        assert [size for size, _ in parts[min(most, 10) :]] == ([10] if most == 1 else [5, 5])
        share(work, 10, least=11)
        share(work, 0)
    assert stages_module.threads() == 1
    share(work, 10)
    assert parts[-1] == parts[-3] == (10, threading.current_thread().name)
    assert parts[-2][0] == 0
    assert found.tolist() == list(range(4, 44, 4))


def test_a_part_of_a_shared_loop_that_fails_is_told():
    def work(lo, hi):
        if lo:
            raise ValueError(f"from {lo}")

    with ProcessTeam(2).chain(), pytest.raises(ValueError, match="from 5"):
        share(work, 10)


def test_the_order_of_parts_is_checked():
    """A running sum over a shared loop, in the midst of a stage that is not parallel."""
    from plaidwork.core.checks import checks_for

    class Running(Bound):
        def stages(self, state, data, params, rng, clock):
            def work(lo, hi):
                for j in range(lo, hi):
                    state["centre"][:30] = 0.5 * state["centre"][:30] + j

            stages = list(super().stages(state, data, params, rng, clock))
            return [*stages, Stage("sums", lambda lo, hi: share(work, 9))]

    (check,) = checks_for(Running(), only=["any_order"])
    with pytest.raises(AssertionError, match="the order in which slices are worked changes the state"):
        check()


def test_no_partial_sum_is_added_when_a_slice_fails():
    """Not even those of slices before it: the sweep stands where it stood."""
    added = []

    def work(lo, hi):
        if lo == 2:
            raise ValueError("the third")
        return lo

    class Sums(Bound):
        def stages(self, state, data, params, rng, clock):
            return [Stage("sums", work, 5, 1, parallel=True, add=added.append)]

    team = ProcessTeam(3)
    model, state = Sums(), {}
    with team.chain(), pytest.raises(ValueError, match="the third"):
        advance(model, state, None, {}, None, Clock(0, 0))
    assert added == []
    assert state["sweep_position"]["at"] == 0


def same(one, other):
    """Whether two chains have the same traces, draws and state, bit for bit."""
    return (
        np.array_equal(one.trace.rows(), other.trace.rows())
        and np.array_equal(one.view().stack("mean"), other.view().stack("mean"))
        and one.state["sum"] == other.state["sum"]
        and np.array_equal(one.state["mean"], other.state["mean"])
    )


def test_draws_from_streams_are_those_of_one_thread(monkeypatch):
    model = Streaming()
    one = fitted(model, 1, monkeypatch)
    assert not same(*one.chains)
    for threads in (2, 3, 16):
        other = fitted(model, threads, monkeypatch)
        assert all(map(same, one.chains, other.chains)), threads


@pytest.mark.slow
def test_draws_from_streams_are_the_same_in_processes(monkeypatch):
    model = Streaming()
    run = Run.from_plan(planned(model))
    handle = ProcessExecutor().start(planned(model), run.chains, lambda event: None)
    assert handle.wait(120)
    assert all(map(same, fitted(model, 3, monkeypatch).chains, run.chains))


def swept(model, plan, state, rng, calls):
    """So many calls of ``advance`` on; the state."""
    for _ in range(calls):
        advance(model, state, plan.data, plan.params, rng, Clock(0, 20))
    return state


@pytest.mark.parametrize("threads", [1, 3])
def test_a_copy_from_the_midst_of_a_stage_goes_on_to_the_same_draws(threads):
    """By other threads than those that began, and from the generator as it was."""
    model, team = Streaming(), ProcessTeam(threads)
    plan = planned(model)
    rng = np.random.Generator(np.random.PCG64DXSM(4))
    state = model.init(plan.data, plan.params, rng)
    swept(model, plan, state, rng, 3)
    assert state[POSITION]["at"] == 12
    assert 0 <= state[POSITION]["stream"] < 2**63
    copied, again = copy_state(state), rng_from_state(rng_state(rng))
    with team.chain():
        swept(model, plan, copied, again, 7 if threads == 1 else 3)
    swept(model, plan, state, rng, 7)
    assert state[POSITION] == copied[POSITION] == {"stage": "tau", "at": 0}
    assert np.array_equal(state["mean"], copied["mean"])
    assert state["sum"] == copied["sum"]
    assert rng_state(rng) == rng_state(again)


def test_every_stage_draws_a_number_anew():
    """Each takes one number of the chain, and none of two slices or two sweeps are alike."""
    model = Streaming()
    plan = planned(model)
    rng = np.random.Generator(np.random.PCG64DXSM(4))
    state = model.init(plan.data, plan.params, rng)
    noise, seeds = [], []
    for _ in range(3):
        advance(model, state, plan.data, plan.params, rng, Clock(0, 20))
        seeds.append(state[POSITION]["stream"])
        swept(model, plan, state, rng, 10)
        noise.append(state["mean"].copy())
    assert len(set(seeds)) == 3
    own = [stages_module.slice_rng(seed, lo).standard_normal(4) for seed in seeds for lo in range(0, 40, 4)]
    assert len({tuple(one) for one in own}) == 30


def streams_look_independent():
    """Neighbouring slices of one stage: 4,000 pairs of normal numbers are uncorrelated to within four standard errors."""
    draws = np.array([stages_module.slice_rng(12345, lo).standard_normal(4) for lo in range(0, 8000, 2)])
    flat = draws.ravel()
    lags = [float(np.mean(draws[:-1, i] * draws[1:, j])) for i in range(4) for j in range(4)]
    assert np.abs(lags).max() < 4.0 / np.sqrt(len(draws) - 1)
    assert abs(flat.mean()) < 4.0 / np.sqrt(flat.size)
    assert abs(flat.var() - 1.0) < 4.0 * np.sqrt(2.0 / flat.size)


def test_streams_of_slices_are_independent(monkeypatch):
    streams_look_independent()
    right = stages_module.slice_rng
    monkeypatch.setattr(stages_module, "slice_rng", lambda stream, lo: right(stream, 0))
    with pytest.raises(AssertionError):  # the planted fault: every slice has the same stream
        streams_look_independent()


def test_streams_need_a_size():
    class Endless(Bound):
        def stages(self, state, data, params, rng, clock):
            return [Stage("search", lambda lo, hi, rng: True, None, streams=True)]

    with pytest.raises(PluginError, match="“search” has slices with generators of their own, but no size"):
        advance(Endless(), {}, None, {}, np.random.default_rng(0), Clock(0, 0))


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_group_factors_are_those_of_one_thread(threads, monkeypatch):
    """Slices so small that every stage has many; ones and zeros, counts and values, with missing cells."""
    from plaidwork.core.plugins.registry import registry
    from plaidwork.plugins.group_factor import sweep, weak

    monkeypatch.setattr(sweep, "SLICE", 20_000)
    monkeypatch.setattr(weak, "SLICE", 20_000)
    counted = []
    measure = weak.measure
    monkeypatch.setattr(weak, "measure", lambda *given: counted.append(given[1:]) or measure(*given))
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(60, 2))
    values = scores @ rng.normal(size=(2, 30)) + rng.normal(size=(60, 30))
    holes = np.where(rng.random(values.shape) < 0.1, np.nan, values)
    views = [holes, (values > 0).astype(float), rng.poisson(np.exp(0.3 * values)).astype(float), values]
    views = tuple(as_dataset(f"v{i}", view) for i, view in enumerate(views))
    plan = make_plan(
        registry().model("group_factor"),
        {"views": views},
        {"n_factors": 3, "drop_start": 2, "drop_every": 2, "min_r2": 1e-6},
        schedule=registry().model("group_factor").spec.default_schedule.with_(chains=1, max_sweeps=8),
    )
    found = []
    for count in (1, threads):
        monkeypatch.setattr(executor, "TEAM", ProcessTeam(count))
        record = Run.from_plan(plan).chains[0]
        drive(plan, record, Control(), lambda event: None)
        found.append(record)
    assert len(counted) > 100  # weak factors were looked for, in many slices
    assert np.array_equal(*(record.trace.rows() for record in found), equal_nan=True)
    for name in ("z", "w", "mu", "deviance"):
        assert np.array_equal(found[0].state[name], found[1].state[name]), name


def test_supervised_topics_are_those_of_one_thread(monkeypatch):
    """Slices so small that the pass over the documents has many; within rounding those of a single slice."""
    from plaidwork.core.plugins.registry import registry
    from plaidwork.plugins.supervised_ibp import sweep

    rng = np.random.default_rng(8)
    topics = rng.random((120, 3)) < 0.4
    counts = rng.poisson(0.3 + topics @ (2.0 * (rng.random((3, 25)) < 0.2))).astype(float)
    model = registry().model("supervised_ibp")
    plan = make_plan(
        model,
        {"X": as_dataset("X", counts), "y": as_dataset("y", topics[:, 0] + 0.3 * rng.normal(size=120))},
        {"n_topics": 3, "start": "sparse", "test_share": 0.0},
        schedule=model.spec.default_schedule.with_(chains=1, max_sweeps=6),
    )
    added, found = [], []
    add = sweep.add_slice
    monkeypatch.setattr(sweep, "add_slice", lambda *given: added.append(1) or add(*given))
    for threads, size in ((1, sweep.SLICE), (1, 8_000), (2, 8_000), (3, 8_000), (16, 8_000)):
        monkeypatch.setattr(sweep, "SLICE", size)
        monkeypatch.setattr(executor, "TEAM", ProcessTeam(threads))
        record = Run.from_plan(plan).chains[0]
        drive(plan, record, Control(), lambda event: None)
        found.append(record)
    assert len(added) > 4 * 6 * 5
    whole, one, *others = found
    for name in ("nu", "phi", "raw", "gram", "tally"):
        assert np.allclose(whole.state[name], one.state[name], rtol=1e-9, atol=1e-9), name
    for other in others:
        assert np.array_equal(one.trace.rows(), other.trace.rows(), equal_nan=True)
        for name in ("nu", "phi", "raw", "gram", "tally"):
            assert np.array_equal(one.state[name], other.state[name]), name


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux is told")
def test_freed_memory_is_kept_for_the_next_sweep():
    """In a process of its own: four arrays of 8 MB at a time, twenty times, take the pages of the first four."""
    code = (
        "import resource, numpy as np; from plaidwork.core.inference.team import TEAM\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "with TEAM.chain():\n"
        "    [np.ones(2**20) for _ in range(4)]; before = faults()\n"
        "    for _ in range(20): [np.ones(2**20) for _ in range(4)]\n"
        "    print(faults() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 8000  # a page is 4 kB: 160,000 if each array took new ones
