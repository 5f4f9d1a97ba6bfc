"""The record of actions of a session."""

import json

import h5py
import pytest

from plaidwork.core import __version__
from plaidwork.core.cli import main
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.session.actions import LIMIT, actions_table, bounded, in_words, read_actions
from plaidwork.core.session.edits import Edits
from plaidwork.core.session.session import Session, open_session
from tests.core.test_edits import dataset, plan

OPENED = {"what": "test half", "analysis": "a", "run": "r", "title": "Walk 1", "data": ["numbers"]}


@pytest.fixture
def session():
    made = Session("mine")
    made.add_dataset(dataset())
    asked = plan(made.datasets["numbers"])
    execute(made.add_run(asked), asked, InlineExecutor())
    return made


def lines(session):
    return [in_words(entry) for entry in session.history]


def test_what_is_done_is_told_in_words(session):
    run, edits = next(iter(session.runs.values())), Edits()
    with edits.making(session, "Rename “Walk 1” to “first”"):
        run.title = "first"
    edits.undo(session)
    with edits.making(session, "Remove “Walk 1”"):
        session.remove_run(run.id)
    edits.undo(session)
    edits.redo(session)
    assert lines(session) == [
        ("Data added", "“numbers”, 8 × 4"),
        ("Fit started", "“Walk 1”, model toy.walk, seed 3"),
        ("Fit ended", "“Walk 1”, to its end, 100 draws"),
        ("Edited", "Rename “Walk 1” to “first”"),
        ("Undone", "Rename “Walk 1” to “first”"),
        ("Run removed", "“Walk 1”"),
        ("Undone", "Remove “Walk 1”"),
        ("Redone", "Remove “Walk 1”"),
    ]
    assert {entry["version"] for entry in session.history} == {__version__}


def test_what_is_typed_is_one_line(session):
    run, edits = next(iter(session.runs.values())), Edits()
    for text in ("a", "ab", "abc"):
        with edits.making(session, "Notes on “Walk 1”", "notes"):
            run.notes = text
    assert lines(session)[3:] == [("Edited", "Notes on “Walk 1”")]


def test_a_step_that_fails_is_not_told_but_a_fit_that_ended_meanwhile_is(session):
    edits, before = Edits(), list(session.history)

    def half():
        session.note("edited", edit="a half")
        session.note("fit ended", title="another")
        session.remove_dataset("numbers")  # which a run uses

    with pytest.raises(DataError), edits.making(session, "Remove"):
        half()
    assert session.history[:-1] == before
    assert session.history[-1]["title"] == "another"


def test_the_newest_are_kept_and_what_was_opened_once(session):
    session.note("unlocked", **OPENED)
    for number in range(LIMIT + 50):
        session.note("edited", edit=str(number))
    assert len(session.history) == LIMIT + 1
    assert session.history[0]["what"] == "test half"
    assert [session.history[place]["edit"] for place in (1, -1)] == ["50", str(LIMIT + 49)]
    assert len(bounded([{"action": "unlocked"}] * 3 * LIMIT)) == 2 * LIMIT


def test_the_record_is_read_as_it_was_written(session, tmp_path):
    session.note("unlocked", **OPENED)
    path = session.save(tmp_path / "s.plaidwork")
    assert open_session(path).history == session.history


def test_entries_of_earlier_and_of_later_versions_are_read_and_told():
    text = '{"time": "2026-01-01T10:00:00+00:00", "action": "data added", "dataset": "x", "file": "x.csv", "shape": [3, 2]}\n'
    later = {"time": "t", "action": "seen", "version": "9", "by": ["a", 2], "more": {"x": None}}
    (old, new) = read_actions(text + json.dumps(later) + "\n")
    assert in_words(old) == ("Data added", "“x”, 3 × 2, from x.csv")
    assert in_words(new) == ("Seen", 'by: a, 2; more: {"x": null}')
    table = actions_table([old, new])
    assert list(table.columns["Time (UTC)"]) == ["2026-01-01 10:00:00", "t"]
    assert list(table.columns["Version"]) == ["", "9"]
    assert len(actions_table([])) == 0


@pytest.mark.parametrize("value", [None, 3, [], {}, [1], "x", [["a"]], True])
def test_any_detail_can_be_told(value):
    from plaidwork.core.session import actions

    for action in (*actions._WORDS, "other"):
        keys = ("dataset", "file", "shape", "steps", "before", "run", "title", "model", "seed", "status", "draws",
                "edit", "runs", "fit", "ranked_by", "exploratory", "what", "datasets", "jobs", "fits")  # fmt: skip
        assert all(isinstance(t, str) for t in in_words({"action": action, **dict.fromkeys(keys, value)}))
        assert in_words({"action": action})[0]


@pytest.mark.parametrize(
    "entry",
    [
        [], 3, "text", {"action": "edited"}, {"time": "t"}, {"time": 3, "action": "edited"},
        {"time": "t", "action": ["edited"]}, {"time": "t", "action": "unlocked"},
        {"time": "t", "action": "unlocked", **OPENED, "data": 5}, {"time": "t", "action": "unlocked", **OPENED, "data": [{}]},
        {"time": "t", "action": "unlocked", **OPENED, "what": None},
    ],
)  # fmt: skip
def test_a_file_whose_record_is_none_is_refused(entry):
    good = {"time": "t", "action": "edited"}
    with pytest.raises(SessionError, match="line 2 of the record of actions"):
        read_actions(f"{json.dumps(good)}\n{json.dumps(entry)}")


def test_an_older_file_with_a_longer_record_opens(session, tmp_path, monkeypatch):
    entry = {"time": "t", "action": "data changed", "dataset": "x", "steps": []}
    session.history = [{"time": "t", "action": "unlocked", **OPENED}, *[entry] * (LIMIT + 5)]
    found = open_session(session.save(tmp_path / "s.plaidwork")).history
    assert len(found) == LIMIT + 1
    assert found[0]["action"] == "unlocked"


def test_h5py_and_the_page_alone_read_it(session, tmp_path):
    """As docs/session-format.md says: a line each, with time, action, version and details."""
    path = session.save(tmp_path / "s.plaidwork")
    with h5py.File(path) as file:
        text = file["provenance/history"][()].decode()
    entries = [json.loads(line) for line in text.split("\n")]
    assert [entry["action"] for entry in entries] == ["data added", "run added", "fit ended"]
    assert all(set(entry) >= {"time", "action", "version"} for entry in entries)
    assert entries[0] | {"time": ""} == {
        "time": "", "action": "data added", "version": __version__, "dataset": "numbers", "file": "", "shape": [8, 4],
    }  # fmt: skip
    assert {key: entries[2][key] for key in ("title", "status", "draws")} == {
        "title": "Walk 1", "status": "done", "draws": 100,
    }  # fmt: skip


def test_the_command_line_tells_it(session, tmp_path, capsys):
    path = str(session.save(tmp_path / "s.plaidwork"))
    assert main(["info", path, "--actions"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line[21:] for line in told] == [
        f"Data added      “numbers”, 8 × 4  ({__version__})",
        f"Fit started     “Walk 1”, model toy.walk, seed 3  ({__version__})",
        f"Fit ended       “Walk 1”, to its end, 100 draws  ({__version__})",
    ]
    assert main(["info", path, "--actions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == session.history
