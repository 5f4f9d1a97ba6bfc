"""Edits of a session taken back and made again."""

import itertools
import random

import numpy as np
import pytest
from toy import same_chains

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.findings.analysis import AnalysisRecord
from plaidwork.core.hdf5 import seal
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session import edits as module
from plaidwork.core.session.edits import Edits, named_selections
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
    for number in range(2):
        jobs = [{"number": k, "status": "done"} for k in range(1, 6)]
        study = {"id": f"s{number}", "title": f"Search {number}", "inputs": {"X": ["three"]}, "jobs": jobs}
        made.studies.append(study)
    return made


def made_analysis(number):
    return AnalysisRecord(f"a{number}", "toy.count", "1", "Count", {}, {}, {}, {}, ())


def told(session):
    """All that edits may change, in order."""
    return (
        [(name, found.name, found.notes, found.digest()) for name, found in session.datasets.items()],
        [
            (run.id, run.title, run.notes, dict(run.item_names), dict(run.item_notes), dict(run.inputs), named_selections(run),
             [record.id for record in run.analyses])
            for run in session.runs.values()
        ],
        [(one["id"], one["title"], one["inputs"], [job["number"] for job in one["jobs"]]) for one in session.studies],
        session.notes,
    )  # fmt: skip


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


def test_what_is_typed_does_not_take_a_fit_with_it_that_was_started_meanwhile(session):
    edits, run = Edits(), next(iter(session.runs.values()))
    with edits.making(session, "Notes", "notes"):
        run.notes = "a"
    new = session.add_run(plan())
    with edits.making(session, "Notes", "notes"):
        run.notes = "ab"
    edits.undo(session)
    assert run.notes == "a"
    assert new.id in session.runs
    edits.undo(session)
    assert run.notes == ""
    assert new.id in session.runs


def test_an_analysis_that_was_made_since_stays(session):
    edits, run = Edits(), next(iter(session.runs.values()))
    run.analyses.extend(map(made_analysis, range(3)))
    with edits.making(session, "Remove"):
        del run.analyses[1]
    run.analyses.append(made_analysis(9))
    edits.undo(session)
    assert [record.id for record in run.analyses] == ["a0", "a1", "a2", "a9"]
    edits.redo(session)
    assert [record.id for record in run.analyses] == ["a0", "a2", "a9"]


def edited(session, index, **changed):
    """Another record of a search in the place of the one before, as searches write them."""
    session.studies[index] = {**session.studies[index], **changed}


def test_fits_come_back_to_a_search_that_has_gone_on(session):
    edits, jobs = Edits(), session.studies[0]["jobs"]
    with edits.making(session, "Remove fit 2"):
        edited(session, 0, jobs=[job for job in jobs if job["number"] != 2])
    edited(session, 0, jobs=[{**job, "metric": 3.0} for job in session.studies[0]["jobs"]])
    edits.undo(session)
    assert [(job["number"], job.get("metric")) for job in session.studies[0]["jobs"]] == [
        (1, 3.0), (2, None), (3, 3.0), (4, 3.0), (5, 3.0),
    ]  # fmt: skip


def test_searches_under_way_and_picked_fits_stay(session):
    busy = []
    edits, jobs = Edits(under_way=lambda: busy), session.studies[0]["jobs"]
    with edits.making(session, "Remove fit 2"):
        edited(session, 0, jobs=[job for job in jobs if job["number"] != 2])
    with edits.making(session, "Remove “Search 1”"):
        session.remove_study("s1")
    edits.undo(session)
    edits.undo(session)
    busy.append("s0")
    with pytest.raises(SessionError, match="Search 0 is under way"):
        edits.redo(session)
    busy.clear()
    edited(session, 0, choices=[{"number": 2}])
    with pytest.raises(SessionError, match="Fit 2 was picked"):
        edits.redo(session)
    edited(session, 0, choices=[])
    edits.redo(session)
    busy.append("s1")
    with pytest.raises(SessionError, match="Search 1 is under way"):
        edits.redo(session)
    assert len(session.studies) == 2


def test_a_search_keeps_the_names_of_its_data_through_renames(session):
    edits = Edits()
    with edits.making(session, "Rename", renamed=("three", "values")):
        session.rename_dataset("three", "values")
    with edits.making(session, "Remove"):
        session.remove_study("s0")
    edits.undo(session)
    edits.undo(session)
    edited(session, 0, seconds=3)  # written anew with the names as they are now
    edits.redo(session)
    edits.redo(session)
    edits.undo(session)
    assert session.studies[0]["inputs"] == {"X": ["values"]}


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


def test_names_and_notes_of_large_data_take_no_room(session, monkeypatch):
    monkeypatch.setattr(module, "BYTES", session.datasets["one"].nbytes // 2)
    edits = Edits()
    for number in range(6):
        with edits.making(session, "Change"):
            session.replace_dataset("one", session.datasets["one"].with_(notes=str(number)))
    steps = 0
    while edits.undo(session):
        steps += 1
    assert steps == 6


def test_a_removed_run_is_not_in_the_file_and_still_comes_back(session, tmp_path):
    edits, run = Edits(), next(iter(session.runs.values()))
    remove(edits, session, run)
    path = session.save(tmp_path / "a.plaidwork")
    assert run.id not in open_session(path).runs
    edits.undo(session)
    session.save(path)
    assert list(open_session(path).runs) == list(session.runs)


@pytest.mark.long
def test_what_was_read_from_a_file_comes_back_after_a_save_that_left_it_out(session, tmp_path):
    """However little of a file is read when it is opened: the file that has it is replaced twice."""
    session.studies.clear()
    run = next(iter(session.runs.values()))
    execute(run, plan(), InlineExecutor())
    path, edits = session.save(tmp_path / "a.plaidwork"), Edits()
    opened = open_session(path)
    with edits.making(opened, "Remove “numbers”"):
        for key in list(opened.runs):
            opened.remove_run(key)
        opened.remove_dataset("numbers")
    opened.save()
    opened.notes = "more"
    opened.save()
    edits.undo(opened)
    found = open_session(opened.save())
    assert np.array_equal(found.datasets["numbers"].values, session.datasets["numbers"].values)
    assert found.datasets["numbers"].digest() == session.datasets["numbers"].digest()
    assert same_chains(run, found.runs[run.id])
    assert run.n_draws == 100


def test_edits_read_nothing_and_large_data_come_back_from_a_file_that_was_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(seal, "_AT_ONCE", 0)
    values = np.random.default_rng(0).normal(size=(400, 400))
    names = [tuple(f"{axis}{i}" for i in range(400)) for axis in "rc"]
    session, edits = Session(), Edits()
    session.add_dataset(Dataset("large", values, *names))
    opened = open_session(session.save(tmp_path / "a.plaidwork"))
    with edits.making(opened, "Notes"):
        opened.replace_dataset("large", opened.datasets["large"].with_(notes="mine"))
    with edits.making(opened, "Rename", renamed=("large", "vast")):
        opened.rename_dataset("large", "vast")
    with edits.making(opened, "Remove"):
        opened.remove_dataset("vast")
    opened.save()
    opened.save()
    edits.undo(opened)
    edits.undo(opened)
    assert not opened.datasets["large"].at_hand
    found = open_session(opened.save()).datasets["large"]
    assert (found.notes, found.digest()) == ("mine", session.datasets["large"].digest())


def _random_edit(edits, session, rng, number):
    """One of all edits, on something that is there."""
    run = rng.choice(list(session.runs.values())) if session.runs else None
    name = rng.choice(list(session.datasets)) if session.datasets else ""
    used = {n for one in session.runs.values() for names in one.inputs.values() for n in names}
    used |= {n for one in session.studies for names in one["inputs"].values() for n in names}
    kind = rng.choice(
        ("add", "rename data", "change", "remove data", "title", "notes", "item", "item note", "session", "remove", "analysis", "named", "study", "fits")
    )  # fmt: skip
    if kind == "session":
        with edits.making(session, kind):
            session.notes = f"about {number % 3}"
    elif kind in ("study", "fits"):
        if session.studies:
            _random_search_edit(edits, session, rng, number)
    elif kind == "add" or not name:
        with edits.making(session, kind):
            session.add_dataset(dataset(f"new {number}"))
    elif kind == "rename data":
        with edits.making(session, kind, renamed=(name, f"name {number}")):
            session.rename_dataset(name, f"name {number}")
    elif kind == "change":
        with edits.making(session, kind):
            session.replace_dataset(name, session.datasets[name].with_(notes=f"note {number}"))
    elif kind == "remove data" and name in used and rng.random() < 0.9:
        return  # else nothing is left soon
    elif kind == "remove data":
        with edits.making(session, kind):
            for study in [one for one in session.studies if [name] in one["inputs"].values()]:
                session.remove_study(study["id"])
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
            elif kind == "item note":
                run.item_notes = {**run.item_notes, "block": {str(number % 3): f"note {number}"}}
            elif kind == "named":
                selection = run.view_settings.setdefault("selection", {"row": [1]})
                named = {**selection.get("named", {}), f"mine {number % 4}": ["row", [number]]}
                run.view_settings["selection"] = {**selection, "named": named}
            elif kind == "analysis" and run.analyses:
                run.analyses.remove(rng.choice(run.analyses))
            elif rng.random() < 0.2:
                session.remove_run(run.id)


def _random_search_edit(edits, session, rng, number):
    place = rng.randrange(len(session.studies))
    study = session.studies[place]
    with edits.making(session, "search"):
        if rng.random() < 0.1:
            session.remove_study(study["id"])
        elif rng.random() < 0.5:
            edited(session, place, title=f"search {number}")
        else:
            edited(session, place, jobs=[job for job in study["jobs"] if rng.random() < 0.8])


@pytest.mark.parametrize("seed", range(5))
def test_200_random_edits_taken_back_and_made_again_give_the_same_session(session, seed):
    edits, rng = Edits(), random.Random(seed)
    for _ in range(5):
        session.add_run(plan()).analyses.extend(map(made_analysis, range(4)))
    stages = [told(session)]
    names = []
    for number in itertools.count():
        if len(names) == module.LIMIT:
            break
        _random_edit(edits, session, rng, number)
        now = told(session)
        if now != stages[-1]:
            stages.append(now)
            names.append(edits.undo_name)
    for stage, name in zip(reversed(stages[:-1]), reversed(names), strict=True):
        assert edits.undo(session) == name
        assert told(session) == stage
    assert not edits.undo_name
    for stage in stages[1:]:
        assert edits.redo(session)
        assert told(session) == stage
    assert not edits.redo_name
