"""When a variational chain ends, and steps beyond its sweeps: never lower, exact through checkpoints, and worth it."""

from contextlib import closing

import numpy as np
import pytest
from plaid_tools import with_fault
from toy import same

from plaidwork.core.api import (
    Input,
    Model,
    ModelSpec,
    Relaxation,
    Result,
    Schedule,
    Stage,
    Trace,
    Variable,
)
from plaidwork.core.checks.storing import round_trip
from plaidwork.core.contract.schedule import Schedule as Plain
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference import relaxing
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Swept, Working
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.stopping import stands_still

LONG = Schedule(chains=1, max_sweeps=400, tolerance=1e-6, window=20, relaxation=16.0)


class Valley(Model):
    """Coordinate by coordinate up a narrow ridge, and a scale beside it; ``twice`` is remembered of the place."""

    spec = ModelSpec(
        id="toy.valley",
        version="1",
        title="Valley",
        summary="For tests.",
        algorithm="variational",
        inputs=(Input("X"),),
        variables=(Variable("place", ("column",)),),
        traces=(Trace("elbo", primary=True, goal="up"), Trace("size", kind="count", breaks=True)),
        schedule=LONG,
    )
    relaxation = Relaxation(means=("place",), logs=("scale",), fixed=("ridge",))
    breaks_at = -1

    def init(self, data, params, rng):
        m = data["X"].shape[1]
        ridge = 0.97 ** np.abs(np.arange(m)[:, None] - np.arange(m))
        return {
            "place": rng.normal(size=m),
            "twice": np.zeros(m),
            "scale": np.ones(1),
            "inner": {"ridge": np.linalg.inv(ridge), "sum": np.zeros(1)},
            "size": 1.0,
        }

    def value(self, state, target):
        off = state["place"] - target
        square = off @ state["inner"]["ridge"] @ off + 1.0
        return float(0.5 * len(off) * np.log(state["scale"][0]) - 0.5 * state["scale"][0] * square)

    def stages(self, state, data, params, rng, clock):
        target, ridge, place = data["X"].values.mean(axis=0), state["inner"]["ridge"], state["place"]

        def move(lo, hi):
            for i in range(lo, hi):
                rest = ridge[i] @ (place - target) - ridge[i, i] * (place[i] - target[i])
                place[i] = target[i] - rest / ridge[i, i]

        def last():
            state["twice"] = 2 * place
            off = place - target
            state["scale"][:] = len(off) / (off @ ridge @ off + 1.0)
            state["inner"]["sum"][:] = place.sum()
            state["size"] = 2.0 if clock.sweep == self.breaks_at else 1.0

        return [Stage("move", move, len(place), 4), Stage("last", lambda lo, hi: last())]

    def traces(self, state, data, params):
        lower = 1e3 if state["size"] == 2.0 else 0.0
        return {"elbo": self.value(state, data["X"].values.mean(axis=0)) - lower, "size": state["size"]}

    def extrapolated(self, state, before, data, params):
        state["twice"] = before["twice"] + 2 * (state["place"] - before["place"])

    def draws(self, state, data, params):
        return {"place": state["place"].copy()}

    def summarise(self, kept, data, params):
        return {"place": Result(kept.stack("place")[0, 0], ("column",))}


class Breaking(Valley):
    breaks_at = 60


def planned(model=Valley, **changes):
    values = np.random.default_rng(5).normal(size=(6, 14))
    names = tuple(f"r{i}" for i in range(6)), tuple(f"c{i}" for i in range(14))
    return make_plan(model(), {"X": Dataset("m", values, *names)}, {}, schedule=LONG.with_(**changes), seed=4)


def record_of(plan):
    return ChainRecord(plan.spec, plan.schedule, plan.seed, 0)


def finished(plan, record=None):
    record = record or record_of(plan)
    for _ in run_chain(plan, record):
        pass
    return record


def bounds(record):
    return record.trace.snapshot()["elbo"]


def undone(record):
    """Sweeps whose traces are those of the sweep before."""
    return int((np.diff(bounds(record)) == 0).sum())


def test_is_sooner_at_the_top_and_never_falls():
    relaxed, plain = finished(planned()), finished(planned(relaxation=0.0))
    assert relaxed.converged
    assert relaxed.sweep < 0.7 * plain.sweep
    assert bounds(relaxed)[-1] >= bounds(plain)[-1] - 1e-5
    assert (np.diff(bounds(relaxed)) >= 0).all()
    assert undone(relaxed) > 0
    plan = planned()
    assert plan.model.value(relaxed.state, plan.data["X"].values.mean(axis=0)) == bounds(relaxed)[-1]
    assert (relaxed.state["twice"] == 2 * relaxed.state["place"]).all()
    assert relaxed.state["inner"]["sum"][0] == relaxed.state["place"].sum()


def test_falls_when_nothing_is_undone(monkeypatch):
    monkeypatch.setattr(relaxing, "end", with_fault(relaxing.end, "if added and", "if False and"))
    record = finished(planned())
    assert (np.diff(bounds(record)) < 0).any()


def test_the_first_sweeps_are_plain():
    relaxed, plain = (finished(planned(relaxation=most, max_sweeps=20)) for most in (16.0, 0.0))
    assert (bounds(relaxed) == bounds(plain)).all()
    assert relaxing.RELAXING not in plain.state


def test_a_sweep_in_which_the_model_changes_stays():
    record = finished(planned(Breaking, max_sweeps=64, tolerance=0.0))
    found = bounds(record)
    assert found[60] < found[59] - 900
    assert found[61] > found[60]


def test_a_model_may_want_some_sweeps_from_where_the_last_ended():
    class Careful(Valley):
        begins = []

        def extrapolates(self, clock, params):
            return clock.sweep % 5 != 0

        def stages(self, state, data, params, rng, clock):
            self.begins.append((clock.sweep, state[relaxing.RELAXING]["added"]))
            return super().stages(state, data, params, rng, clock)

    record = finished(planned(Careful, max_sweeps=80, tolerance=0.0))
    assert {added for sweep, added in Careful.begins if sweep % 5 == 0} == {0.0}
    assert max(added for _, added in Careful.begins) > 1
    assert (np.diff(bounds(record)) >= 0).all()


@pytest.mark.parametrize("stop", range(100, 117))
def test_goes_on_exactly_from_anywhere(stop):
    """Through a file, between two slices of a sweep that is undone, or at the end of one."""
    whole = finished(planned(max_sweeps=60))
    plan = planned(max_sweeps=60)
    record, steps = record_of(plan), 0
    with closing(run_chain(plan, record)) as events:
        for event in events:
            steps += isinstance(event, (Swept, Working))
            if steps == stop:
                break
    saved = record.take_checkpoint()
    again = record_of(plan)
    again.trace.extend(record.trace.rows())
    again.restore(saved)
    again.state = round_trip(None, again.state)
    finished(plan, again)
    assert (again.trace.rows() == whole.trace.rows()).all()
    assert same(again.state, whole.state)


def test_the_places_to_stop_are_of_all_kinds():
    """So that the test before means what it says: some are within a sweep beyond, some of those sweeps are undone."""
    plan = planned(max_sweeps=60)
    record, kinds = record_of(plan), set()
    for steps, _event in enumerate(run_chain(plan, record), -1):
        if 100 <= steps < 117:
            entry = record.state[relaxing.RELAXING]
            kinds.add("within" if entry.get("added") else "undone" if not entry["share"] else "between")
    assert kinds == {"within", "undone", "between"}


SPEC = Valley.spec
FLAT = {"elbo": np.array([0.0, 5.0, *np.linspace(9.0, 9.09, 21)]), "size": np.ones(23)}


def test_ends_when_the_window_gains_less_than_the_tolerance():
    schedule = Plain(window=20, tolerance=0.1)
    assert stands_still(SPEC, schedule, FLAT)
    assert not stands_still(SPEC, schedule.with_(tolerance=0.05), FLAT)
    assert not stands_still(SPEC, schedule.with_(window=21), FLAT)
    assert not stands_still(SPEC, schedule.with_(window=23), FLAT)
    changed = {**FLAT, "size": np.r_[np.ones(4), np.full(19, 2.0)]}
    assert not stands_still(SPEC, schedule, changed)
    assert not stands_still(SPEC, schedule.with_(tolerance=0.0), {**FLAT, "elbo": np.zeros(23)})


def test_the_model_may_ask_for_more():
    class Waiting(Valley):
        def may_stop(self, traces, params):
            return len(traces["elbo"]) >= 300

    assert finished(planned(Waiting)).sweep == 300


def test_the_cap_is_told():
    from plaidwork.core.inference.execution import execute
    from plaidwork.core.inference.executor import InlineExecutor
    from plaidwork.core.inference.run import Run

    plan = planned(max_sweeps=30)
    run = Run.from_plan(plan)
    execute(run, plan, InlineExecutor())
    assert not run.chains[0].converged
    assert "ended after 30 sweeps, before it had converged" in run.diagnosis().verdict.text


def test_without_a_window_the_model_decides():
    class Own(Valley):
        def converged(self, traces, tolerance):
            return len(traces["elbo"]) == 37

    assert finished(planned(Own, window=0)).sweep == 37
