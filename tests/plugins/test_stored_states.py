"""A stored state that does not fit its data is refused, whatever a stranger made of it; no kernel sees it."""

import lzma
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from altered import put

from plaidwork.core.checks._bench import Bench
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import resume
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load

TESTS = Path(__file__).parents[1]
FIXTURES = {
    path.name.split(".")[0]: path for path in sorted((TESTS / "fixtures").glob("version_*/*.plaidwork.xz"))
}

HARMLESS = {
    "dp_mixture": {
        ("at", "huge"), ("at", "as many"), ("pair.size", "as many"), ("pair.known", "as many"), ("clusters.size", "as many"), ("clusters.known", "as many"),
    },
    "multi_view_clusters": {
        ("at", "huge"), ("at", "as many"), ("pair.size", "as many"), ("pair.known", "as many"), ("clusters.size", "as many"),
        ("links.members", "as many"), ("links.present", "as many"), ("sides.members", "as many"), ("sides.present", "as many"),
    },
    "infinite_plaid": {("order", name) for name in ("longer along 0", "shorter along 0", "huge", "as many")},
    "bayesian_plaid": {("order", name) for name in ("longer along 0", "shorter along 0", "huge", "as many")},
    "group_factor": {("deviance", "longer along 1"), ("deviance", "shorter along 1")},
    "supervised_ibp": {("last", "not a number")},
    "hdp_topics": {("at", "as many"), ("tables", "longer along 0"), ("tables", "shorter along 0"), ("tables", "huge"), ("tables", "as many")},
    "plaid_counts": {("order", name) for name in ("longer along 0", "shorter along 0", "huge", "as many")},
    "gp_semi_classes": {
        *((f"swaps.{name}", "missing") for name in ("label", "stage", "trips")),
        ("swaps.trips", "huge"), ("swaps.trips", "as many"), ("fixed.root", "missing"),
    },
    "gp_quick_regression": {("tops", "not a number"), ("tops", "infinite")},
}  # fmt: skip
"""Alterations that are taken, as what they alter is made anew before anything looks at it."""


def _taken_may(model, place, name):
    """Whether a state that is altered like this may be gone on with."""
    window = ".metric.window." in place and name in ("not a number", "infinite")
    number = name in ("not a number", "infinite")
    forgotten = number and place.endswith("current")  # NaN: not known
    told = number and place.startswith(("good.bound", "good.traces."))  # compared and shown, no more
    return told or window or forgotten or _absent(model, place, name)


def _absent(model, place, name):
    """Whether a place may be left out, or altered without anybody seeing it."""
    absent = name == "missing" and (
        place.startswith(("good.", "accepted."))
        or ".metric.window." in place  # looked at by Python alone
        or place in ("scale_precision", "scale_linear")  # made anew
        or place.endswith((".place", "fixed.season", "fixed.codes", "fixed.cells"))
    )
    same_size = name == "flat"  # zeros, where there were three numbers
    return absent or same_size or (place, name) in HARMLESS.get(model, set())


@pytest.fixture
def unpacked(tmp_path):
    def unpack(model):
        path = tmp_path / f"{model}.plaidwork"
        path.write_bytes(lzma.decompress(FIXTURES[model].read_bytes()))
        return path

    return unpack


@pytest.mark.long
@pytest.mark.parametrize("model", FIXTURES)
def test_no_alteration_of_a_state_gets_through(model, unpacked):
    _refuses_all(model, unpacked(model))


def _refuses_all(model, path):
    """In a process of its own, so that a crash is seen: shapes, types, indices, counts, places; what is taken does no harm in two sweeps."""
    found = subprocess.run(
        [sys.executable, str(TESTS / "altered.py"), str(path)],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    lines = found.stdout.splitlines()
    assert found.returncode == 0, f"{lines[-1:]} {found.stderr[-600:]}"
    told = [line.split("\t") for line in lines if not line.startswith("trying")]
    assert len([one for one in told if one[0] == "refused"]) > 40
    assert not [one[1:3] for one in told if one[0] == "taken" and not _taken_may(model, *one[1:3])]


@pytest.mark.long
@pytest.mark.parametrize("model", ["hdp_topics", "plaid_counts", "gp_regression", "gp_quick_regression"])
def test_nor_of_models_that_earlier_sessions_have_not(model, tmp_path):
    session, plan = Session(), Bench(registry().model(model), "quick", 1).plan
    execute(session.add_run(plan), plan, InlineExecutor())
    _refuses_all(model, session.save(tmp_path / "made.plaidwork"))


def _altered(path, change, out):
    """The session with the state of its first chain changed, written anew as a sound file."""
    session = load(path, Session, probed=True)
    (run,) = session.runs.values()
    saved = run.chains[0].saved
    state = copy_state(saved.state)
    change(state)
    run.chains[0].saved = replace(saved, state=state)
    session.save(out)
    return run.title


def _label(number):
    def change(state):
        state["labels"][3] = number

    return change


def _shorter(state):
    state["labels"] = state["labels"][:-1]


def _fewer_slots(state):
    state["clusters"] = {name: array[:1] for name, array in state["clusters"].items()}


def _within_a_sweep(at, stage="labels", stream=0, **changes):
    def change(state):
        state["sweep_position"] = {"stage": stage, "at": at, "stream": stream}
        for place, value in changes.items():
            put(state, tuple(place.split("__")), value)

    return change


CHANGES = {
    "label = slots": (_label(16), "“labels” holds 16, expected less than 16"),
    "huge label": (_label(2**40), "“labels” holds 1099511627776"),
    "negative label": (_label(-7), "“labels” holds -7, expected -1 at least"),
    "one row too few": (_shorter, "“labels” has the shape (23,), expected 24 along axis 1"),
    "labels beyond the slots": (_fewer_slots, "expected less than 1"),
    "labels as numbers": (lambda state: put(state, ("labels",), np.full(24, np.nan)), "“labels” is an array of float64"),
    "a stage that is none": (_within_a_sweep(0, "nothing"), "where no sweep stands"),
    "beyond the last row": (_within_a_sweep(25), "where no sweep stands"),
    "before the first row": (_within_a_sweep(-5), "“sweep_position.at” holds -5"),
    "far before it": (_within_a_sweep(-(2**70)), "“sweep_position.at” holds -1180591620717411303424, expected 0 at least"),
    "no seed of streams": (_within_a_sweep(0, stream=-1), "“sweep_position.stream” holds -1, expected 0 at least"),
    "a seed beyond all": (_within_a_sweep(0, stream=2**63), "“sweep_position.stream” holds 9223372036854775808, expected less"),
    "a seed of many bytes": (_within_a_sweep(0, stream=2**200), "“sweep_position.stream” holds 16069380442589"),
    "half a seed": (_within_a_sweep(0, stream=0.5), "“sweep_position.stream” is 0.5, expected a whole number"),
    "several seeds": (_within_a_sweep(0, stream=np.arange(3)), "“sweep_position.stream” has the shape (3,)"),
    "sizes within a sweep": (
        _within_a_sweep(3, clusters__size=np.full(16, 3), order=np.arange(24)), "“clusters.size” does not count the labels"
    ),
}  # fmt: skip


@pytest.mark.parametrize("executor", ["inline", "processes"])
@pytest.mark.parametrize("name", ["label = slots"])
def test_every_executor_refuses(name, executor, unpacked, tmp_path):
    change, words = CHANGES[name]
    out = tmp_path / "altered.plaidwork"
    title = _altered(unpacked("dp_mixture"), change, out)
    session = load(out, Session, probed=True)
    (run,) = session.runs.values()
    before = [record.sweep for record in run.chains]
    resume(session, run, draws=2, executor=executor)
    assert run.status == "failed"
    assert any(words in line.text for line in run.log), title
    assert run.chains[0].sweep == before[0]
    assert run.chains[1].sweep > before[1], "the chain that is as it was goes on"


@pytest.mark.parametrize("name", CHANGES)
def test_a_sentence_says_what_does_not_fit(name, unpacked, tmp_path):
    """Of a run with one chain, so that the run as a whole is refused."""
    change, words = CHANGES[name]
    out = tmp_path / "altered.plaidwork"
    title = _altered(unpacked("dp_mixture"), change, out)
    session = load(out, Session, probed=True)
    (run,) = session.runs.values()
    run.chains[1:] = []
    with pytest.raises(SessionError) as caught:
        resume(session, run, draws=2, executor="inline")
    assert caught.value.message.startswith(
        f"{title} does not go on. Chain 1 of Dirichlet process mixture cannot go on: "
    )
    assert words in caught.value.message
    with pytest.raises(SessionError, match="does not go on"):  # asked again: it is looked at again
        resume(session, run, executor="inline")


def test_a_state_of_this_process_is_not_looked_at(unpacked, monkeypatch):
    session = load(unpacked("dp_mixture"), Session, probed=True)
    (run,) = session.runs.values()
    seen = []
    monkeypatch.setattr(
        "plaidwork.core.inference.engine.check_fits", lambda plan, record: seen.append(record.chain)
    )
    resume(session, run, draws=1, executor="inline")
    resume(session, run, draws=1, executor="inline")
    assert seen == [0, 1]
    assert not any(record.foreign or record.saved.foreign for record in run.chains)


def test_without_the_look_a_sweep_would_see_it(unpacked, tmp_path, monkeypatch):
    """The planted fault: a host that looks at nothing hands the label on."""
    out, seen = tmp_path / "altered.plaidwork", []
    _altered(unpacked("dp_mixture"), CHANGES["label = slots"][0], out)
    session = load(out, Session, probed=True)
    (run,) = session.runs.values()
    plan = session.plan_of(run, registry())
    monkeypatch.setattr("plaidwork.core.inference.engine.check_fits", lambda plan, record: None)
    monkeypatch.setattr(
        type(plan.model), "step", lambda self, state, *rest: seen.append(state["labels"].max()) or 1 / 0
    )
    resume(session, run, draws=2, executor="inline")
    assert seen[0] == len(run.chains[0].state["clusters"]["size"])
