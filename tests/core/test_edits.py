"""Edits of a session taken back and made again."""

import random

import numpy as np
import pytest

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session import edits as module
from plaidwork.core.session.edits import Edits
from plaidwork.core.session.session import Session, open_session
from tests import toys


def dataset(name="numbers"):
    rows, columns = (tuple(f"{axis}{i}" for i in range(n)) for axis, n in (("r", 8), ("c", 4)))
    return Dataset(name, toys.matrix(8, 4), rows, columns)


def plan(data=None):
    schedule = Schedule(chains=2, warmup=5, draws=50, thin=1)
    return make_plan(toys.Walk(), {"X": data or dataset()}, {}, schedule=schedule, seed=3)


@pytest.fixture
def session():
    made = Session()
    for name in ("one", "numbers", "three"):
        made.add_dataset(dataset(name))
    for _ in range(3):
        made.add_run(plan())
    return made


def told(session):
    """All that edits may change, in order."""
    return (
        [(name, found.name, found.notes, found.digest()) for name, found in session.datasets.items()],
        [
            (run.id, run.title, run.notes, dict(run.item_names), dict(run.inputs))
            for run in session.runs.values()
        ],
    )


def remove(edits, session, *runs):
    with edits.making(session, f"Remove “{runs[0].title}”"):
        for run in runs:
            session.remove_run(run.id)


def test_a_removed_run_comes_back_as_it_was_in_its_old_place(session):
    edits, before = Edits(), list(session.runs.values())
    remove(edits, session, before[1])
    assert list(session.runs.values()) == [before[0], before[2]]
    assert edits.undo(session) == "Remove “Walk 2”"
    assert all(a is b for a, b in zip(session.runs.values(), before, strict=True))
    assert edits.redo(session)
    assert len(session.runs) == 2
    assert [line["action"] for line in session.history[-3:]] == ["run removed", "undone", "redone"]


def test_what_a_fit_added_since_stays(session):
    edits, before = Edits(), list(session.runs)
    remove(edits, session, session.runs[before[0]])
    new = session.add_run(plan())
    edits.undo(session)
    assert list(session.runs) == [*before, new.id]


def test_a_renamed_dataset_is_followed_by_runs_that_came_later(session):
    edits = Edits()
    with edits.making(session, "Rename", renamed=("numbers", "values")):
        session.rename_dataset("numbers", "values")
    run = session.add_run(plan(session.datasets["values"]))
    edits.undo(session)
    assert list(session.datasets) == ["one", "numbers", "three"]
    assert run.inputs == {"X": ("numbers",)}
    edits.redo(session)
    assert run.inputs == {"X": ("values",)}


def test_data_that_a_run_uses_by_now_stay_and_nothing_is_changed(session):
    edits = Edits()
    with edits.making(session, "Add “new”"):
        session.add_dataset(dataset("new"))
    run = session.add_run(plan(session.datasets["new"]))
    before = told(session)
    with pytest.raises(DataError, match=f"used by {run.title}"):
        edits.undo(session)
    assert told(session) == before
    assert edits.undo_name == "Add “new”"


def test_a_run_under_way_is_not_removed_by_redo(session):
    edits, run = Edits(), next(iter(session.runs.values()))
    remove(edits, session, run)
    edits.undo(session)
    run.status = "running"
    with pytest.raises(SessionError, match="is running"):
        edits.redo(session)
    assert run.id in session.runs


def test_a_step_that_fails_half_way_is_taken_back(session):
    edits, before, runs = Edits(), told(session), list(session.runs.values())
    runs[1].status = "running"
    with pytest.raises(SessionError):
        remove(edits, session, *runs)
    assert told(session) == before
    assert not edits.undo_name
    assert not any(line["action"] == "run removed" for line in session.history)


def test_a_new_edit_forgets_what_could_be_made_again(session):
    edits, runs = Edits(), list(session.runs.values())
    remove(edits, session, runs[0])
    edits.undo(session)
    remove(edits, session, runs[1])
    assert not edits.redo_name
    assert edits.redo(session) == ""


def test_what_is_typed_is_one_step(session):
    edits, run = Edits(), next(iter(session.runs.values()))
    for text in ("a", "ab", "abc"):
        with edits.making(session, "Notes", "notes"):
            run.notes = text
    edits.undo(session)
    assert run.notes == ""
    assert not edits.undo_name
    edits.redo(session)
    assert run.notes == "abc"


def test_two_hundred_steps_are_kept(session):
    edits, run = Edits(), next(iter(session.runs.values()))
    for number in range(module.LIMIT + 5):
        with edits.making(session, "Rename"):
            run.title = str(number)
    while edits.undo(session):
        pass
    assert run.title == "4"


def test_earlier_versions_of_large_data_are_forgotten(session, monkeypatch):
    monkeypatch.setattr(module, "BYTES", 3 * session.datasets["one"].nbytes)
    edits, first = Edits(), session.datasets["one"]
    for number in range(6):
        with edits.making(session, "Change"):
            session.replace_dataset("one", first.with_(values=np.array(first.values) + number))
    steps = 0
    while edits.undo(session):
        steps += 1
    assert 1 <= steps <= 4


def test_a_removed_run_is_not_in_the_file_and_still_comes_back(session, tmp_path):
    edits, run = Edits(), next(iter(session.runs.values()))
    remove(edits, session, run)
    path = session.save(tmp_path / "a.plaidwork")
    assert run.id not in open_session(path).runs
    edits.undo(session)
    session.save(path)
    assert list(open_session(path).runs) == list(session.runs)


def _random_edit(edits, session, rng, number):
    """One of all edits, on something that is there."""
    run = rng.choice(list(session.runs.values())) if session.runs else None
    name = rng.choice(list(session.datasets)) if session.datasets else ""
    used = {n for one in session.runs.values() for names in one.inputs.values() for n in names}
    kind = rng.choice(("add", "rename data", "change", "remove data", "title", "notes", "item", "remove"))
    if kind == "add" or not name:
        with edits.making(session, kind):
            session.add_dataset(dataset(f"new {number}"))
    elif kind == "rename data":
        with edits.making(session, kind, renamed=(name, f"name {number}")):
            session.rename_dataset(name, f"name {number}")
    elif kind == "change":
        with edits.making(session, kind):
            session.replace_dataset(name, session.datasets[name].with_(notes=f"note {number}"))
    elif kind == "remove data":
        with edits.making(session, kind):
            for one in [r for r in session.runs.values() if name in used and (name,) in r.inputs.values()]:
                session.remove_run(one.id)
            session.remove_dataset(name)
    elif run is not None:
        with edits.making(session, kind):
            if kind == "title":
                run.title = f"title {number}"
            elif kind == "notes":
                run.notes = f"notes {number}"
            elif kind == "item":
                run.item_names["block"] = {str(number % 3): f"name {number}"}
            elif rng.random() < 0.2:
                session.remove_run(run.id)


@pytest.mark.parametrize("seed", range(5))
def test_200_random_edits_taken_back_and_made_again_give_the_same_session(session, seed):
    edits, rng = Edits(), random.Random(seed)
    for _ in range(5):
        session.add_run(plan())
    stages = [told(session)]
    names = []
    for number in range(200):
        _random_edit(edits, session, rng, number)
        now = told(session)
        if now != stages[-1]:
            stages.append(now)
            names.append(edits.undo_name)
    assert len(stages) > 100
    for stage, name in zip(reversed(stages[:-1]), reversed(names), strict=True):
        assert edits.undo(session) == name
        assert told(session) == stage
    assert not edits.undo_name
    for stage in stages[1:]:
        assert edits.redo(session)
        assert told(session) == stage
    assert not edits.redo_name
