"""The loop of one chain: what is kept, where it can stop, what it does when a model breaks."""

import threading

import numpy as np
import pytest
from toy import ToySampler, ToyVariational, same, same_chains, toy_data

from plaidwork.core.contract.spec import Variable
from plaidwork.core.draws.chain import ChainRecord, chain_of, chain_rng, copy_state, rng_from_state, rng_state
from plaidwork.core.draws.draws import DrawBuffer, TraceBuffer
from plaidwork.core.errors import PluginError
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Checkpointed, Failed, Finished, Preparing, Started, Swept, Working
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor, ThreadExecutor, drive
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run


def _plan(model=None, seed=3, params=None, **schedule):
    model = model or ToySampler()
    data = toy_data()
    if isinstance(model, ToyVariational):
        data = data.with_(values=np.nan_to_num(data.values))
    return make_plan(
        model, {"X": data}, params or {}, schedule=model.spec.schedule.with_(**schedule), seed=seed
    )


def _record(plan, chain=0):
    return ChainRecord(plan.spec, plan.schedule, plan.seed, chain)


def _fit(plan, executor=None):
    run = Run.from_plan(plan)
    execute(run, plan, executor or InlineExecutor())
    return run


@pytest.mark.parametrize(("warmup", "draws", "thin"), [(0, 5, 1), (4, 5, 1), (4, 3, 3), (0, 1, 7)])
def test_keep_rule(warmup, draws, thin):
    plan = _plan(warmup=warmup, draws=draws, thin=thin)
    record = _record(plan)
    kept = [event.sweep for event in run_chain(plan, record) if isinstance(event, Swept) and event.kept]
    assert kept == [warmup + (i + 1) * thin for i in range(draws)]
    view = record.view()
    assert (view.kept_sweeps + 1).tolist() == kept
    assert record.sweep == record.trace.count == warmup + draws * thin
    assert [view.draw("count", i)[1] for i in range(draws)] == kept
    assert record.done


def test_order_of_events():
    plan = _plan(draws=2, warmup=2)
    events = list(run_chain(plan, _record(plan)))
    kinds = [type(event) for event in events]
    assert kinds[:2] == [Preparing, Started]
    assert kinds[2:] == [Swept, Swept, Working, Working, Swept, Swept, Finished]
    assert events[-1].reason == "done"


def test_thinned_chain_is_a_part_of_the_full_one():
    full, thinned = _fit(_plan(draws=12)), _fit(_plan(draws=4, thin=3))
    assert np.array_equal(full.draws["theta"][:, 2::3], thinned.draws["theta"])


def test_chains_and_seeds_differ():
    run, other = _fit(_plan()), _fit(_plan(seed=4))
    values = [run.draws["theta"][0, 0], run.draws["theta"][1, 0], other.draws["theta"][0, 0]]
    assert len(set(values)) == 3
    assert same_chains(run, _fit(_plan()))


def test_threads_equal_inline():
    assert same_chains(_fit(_plan(chains=4)), _fit(_plan(chains=4), ThreadExecutor()))


@pytest.mark.parametrize("sweeps", [2, 4, 5, 7])
def test_going_on_from_a_checkpoint_equals_uninterrupted(sweeps):
    plan = _plan(chains=1)
    whole, part = _record(plan), _record(plan)
    list(run_chain(plan, whole))
    saved = None
    for event in run_chain(plan, part):
        if isinstance(event, Swept) and event.sweep == sweeps:
            saved = part.take_checkpoint()
    part.rewind()
    assert (part.sweep, part.draws.count) == (saved.sweep, saved.n_draws)
    list(run_chain(plan, part))
    assert same(part.state, whole.state)
    assert part.trace.rows().tobytes() == whole.trace.rows().tobytes()
    assert part.draws.count == whole.draws.count


def test_checkpoint_is_a_copy():
    plan = _plan(chains=1)
    record = _record(plan)
    for event in run_chain(plan, record):
        if isinstance(event, Swept) and event.sweep == 3:
            saved = record.take_checkpoint()
            before = copy_state(saved.state)
    assert same(saved.state, before)
    assert not same(saved.state, record.state)


def test_copy_keeps_layout_and_types():
    state = {"f": np.asfortranarray(np.ones((3, 4))), "t": (1, [2.0, None]), "n": np.float32(1)}
    copy = copy_state(state)
    assert same(copy, state)
    assert copy["f"] is not state["f"]


def test_generators_round_trip():
    rng = chain_rng(5, 2)
    rng.random(3)
    again = rng_from_state(rng_state(rng))
    assert again.random() == rng.random()
    with pytest.raises(ValueError, match="PCG64DXSM"):
        rng_from_state(np.random.default_rng(0).bit_generator.state)


def test_pause_checkpoints_and_stop_ends():
    plan = _plan(chains=1, draws=10_000)
    record, control, events = _record(plan), Control(), []
    control.pause()
    thread = threading.Thread(target=drive, args=(plan, record, control, events.append))
    thread.start()
    while not events:
        pass
    control.resume()
    while record.sweep < 5:
        pass
    control.pause()
    while not any(isinstance(event, Checkpointed) for event in events):
        pass
    assert record.saved.sweep == record.sweep
    control.stop()
    thread.join(5)
    assert not thread.is_alive()
    assert events[-1] == Finished(0, "stopped", record.sweep)


@pytest.mark.parametrize(
    ("fail", "words"),
    [
        ("step", "broke on purpose"),
        ("draws", "no draws today"),
        ("nan", "lp became nan at sweep 8 of chain 1"),
        ("trace", "did not return the declared trace “n_layers”"),
        ("shape", "has shape (2,)"),
        ("init", "cannot start"),
    ],
)
def test_failures_are_told_and_kept_apart(fail, words):
    plan = _plan(params={"fail": fail})
    run, events = Run.from_plan(plan), []
    for record in run.chains:
        drive(plan, record, Control(), events.append)
    failed = [event for event in events if isinstance(event, Failed)]
    assert [event.chain for event in failed] == [0, 1]
    assert words in failed[0].message
    kept = 0 if fail == "init" else 3
    assert [record.draws.count for record in run.chains] == [kept, kept]
    assert all(record.broken and not record.done for record in run.chains)
    assert all(event.details for event in failed) == (fail in ("step", "draws", "init"))


def test_one_failing_chain_leaves_the_others_alone():
    plan = _plan(chains=6, params={"fail": "one"})
    run = _fit(plan)
    broken = [record.broken for record in run.chains]
    assert any(broken)
    assert not all(broken)
    assert run.status == "failed"
    assert run.results
    for record in run.chains:
        assert record.done != record.broken
    whole = _fit(_plan(chains=6))
    for record, other in zip(run.chains, whole.chains, strict=True):
        if not record.broken:
            assert same(record.state, other.state)


def test_failed_chain_goes_on_from_its_last_checkpoint():
    """A state that a failing step left half changed is never used."""
    plan = _plan(chains=1, params={"fail": "step"})
    record, control = _record(plan), Control()

    def stop(event):
        if isinstance(event, Swept) and event.sweep == 5:
            control.stop()

    drive(plan, record, control, stop)
    drive(plan, record, Control(), lambda event: None)
    assert record.broken
    assert record.sweep == 7
    view = record.view()
    mended = _plan(chains=1)
    drive(mended, record, Control(), lambda event: None)
    assert record.done
    whole = _record(mended)
    list(run_chain(mended, whole))
    assert same(record.state, whole.state)
    assert record.trace.rows().tobytes() == whole.trace.rows().tobytes()
    assert (view.n_sweeps, len(view.trace("lp"))) == (7, 7)


def test_failing_summary_keeps_the_draws():
    plan = _plan(params={"fail": "summarise"})
    run = Run.from_plan(plan)
    with pytest.raises(PluginError, match=r"in summarise\(\).*no summary"):
        execute(run, plan, InlineExecutor())
    assert run.n_draws == 20
    assert run.log[-1].level == "error"


def test_summary_of_a_run_stopped_before_its_second_chain():
    plan, control = _plan(), Control()
    run = Run.from_plan(plan)

    def stop(run, event):
        if isinstance(event, Swept) and event.sweep == 7:
            control.stop()

    execute(run, plan, InlineExecutor(control), stop)
    assert (run.status, run.n_draws, run.results_draws) == ("stopped", 3, 3)
    assert run.resumable
    execute(run, plan, InlineExecutor())
    assert same_chains(run, _fit(_plan()))


def test_extended_run_equals_a_longer_one():
    plan = _plan()
    run = _fit(plan)
    assert not run.resumable
    run.extend(7)
    assert run.resumable
    execute(run, _plan(draws=17), InlineExecutor())
    assert same_chains(run, _fit(_plan(draws=17)))


def test_variational_keeps_its_final_state():
    plan = _plan(ToyVariational())
    run = _fit(plan)
    assert [record.draws.count for record in run.chains] == [1, 1]
    assert all(record.converged and record.sweep < 200 for record in run.chains)
    assert run.kept().chains[0].kept_sweeps.tolist() == [run.chains[0].sweep - 1]
    short = _fit(_plan(ToyVariational(), max_sweeps=3))
    assert [record.sweep for record in short.chains] == [3, 3]
    assert short.status == "done"


def test_variational_stopped_at_the_very_end_still_gets_its_draw():
    plan = _plan(ToyVariational(), chains=1)
    sweeps = _fit(plan).chains[0].sweep
    record, control = _record(plan), Control()

    def stop(event):
        if isinstance(event, Swept) and event.sweep == sweeps:
            control.stop()

    drive(plan, record, control, stop)
    assert record.converged
    assert record.draws.count == 0
    assert not record.done
    drive(plan, record, Control(), lambda event: None)
    assert (record.sweep, record.draws.count, record.done) == (sweeps, 1, True)


def test_trace_buffer_in_bulk_equals_one_by_one():
    rows = np.random.default_rng(0).normal(size=(1000, 2))
    one, many = TraceBuffer("ab"), TraceBuffer("ab")
    for row in rows:
        one.append(dict(zip("ab", row, strict=True)))
    early = many.rows()
    for start in (0, 3, 300):
        many.extend(rows[start : {0: 3, 3: 300, 300: 1000}[start]])
    many.extend(np.empty((0, 2)))
    assert np.array_equal(one.rows(), rows)
    assert np.array_equal(many.rows(), rows)
    assert len(early) == 0
    assert np.array_equal(many.head(5).rows(), rows[:5])


def test_snapshots_never_change_while_a_chain_writes():
    buffer, done = TraceBuffer("a", capacity=2), threading.Event()

    def write():
        for i in range(20_000):
            buffer.append({"a": float(i)})
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        rows = buffer.rows()
        assert np.array_equal(rows[:, 0], np.arange(len(rows)))
    thread.join()


def test_ragged_flags_keep_their_length():
    buffer = DrawBuffer([Variable("used", ("K",), dtype="bool", ragged=True)])
    for size in (0, 1, 3, 9):
        buffer.append({"used": np.ones(size, bool)})
    assert [len(buffer.get("used", i)) for i in range(4)] == [0, 1, 3, 9]
    assert buffer.get("used", 3).dtype == bool


def test_ragged_variables_of_one_dim_must_agree():
    buffer = DrawBuffer([Variable("a", ("K",), ragged=True), Variable("b", ("K",), ragged=True)])
    buffer.append({"a": [1.0], "b": [2.0]})
    with pytest.raises(PluginError, match="“b” has 3 items along “K”"):
        buffer.append({"a": [1.0], "b": [1.0, 2.0, 3.0]})
    assert buffer.count == 1


def test_nothing_kept_gives_empty_stacks():
    kept = Run.from_plan(_plan()).kept()
    assert kept.stack("loading").size == 0
    assert kept.stack("rho").size == 0
    assert kept.kept_trace("lp").size == 0
    assert kept.n_draws == 0


def test_a_fresh_generator_knows_its_chain():
    assert [chain_of(chain_rng(4, chain)) for chain in range(3)] == [0, 1, 2]
    assert chain_of(np.random.default_rng(4)) == 0
    assert chain_of(rng_from_state(rng_state(chain_rng(4, 2)))) == 0
