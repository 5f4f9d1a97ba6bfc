"""Unsaved work is found again after a crash, and only then."""

import json
import os
import subprocess
import sys

import pytest
from toy import ToySampler, same_chains, toy_data

from plaidwork.core.errors import ChangedError, SessionError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session import holder, recovery
from plaidwork.core.session.recovery import discard, find_recoveries, recovery_file, write_recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store.places import recovery_key


@pytest.fixture
def session():
    session = Session("Unsaved ä")
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())})
    execute(session.add_run(plan), plan, InlineExecutor())
    return session


@pytest.fixture
def ended():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _pretend(folder, session, **changes):
    note = recovery_file(recovery_key(session.uuid), folder).with_suffix(".json")
    note.write_text(json.dumps({**json.loads(note.read_text()), **changes}))


def test_found_only_when_the_program_has_ended(session, tmp_path, ended):
    write_recovery(session, tmp_path)
    assert find_recoveries(tmp_path) == []
    _pretend(tmp_path, session, pid=ended)
    (found,) = find_recoveries(tmp_path)
    assert (found.key, found.name, found.origin) == (recovery_key(session.uuid), session.name, None)
    opened = found.open()
    assert opened.path is None
    run = next(iter(session.runs))
    assert same_chains(session.runs[run], opened.runs[run])
    discard(recovery_key(session.uuid), tmp_path)
    assert os.listdir(tmp_path) == []
    discard(recovery_key(session.uuid), tmp_path)


@pytest.mark.long
def test_session_and_its_file_are_untouched(session, tmp_path, ended):
    path = session.save(tmp_path / "s.plaidwork")
    before = path.read_bytes()
    session.notes = "not saved"
    folder = tmp_path / "state" / "recovery"
    for _ in range(2):
        write_recovery(session, folder)
    assert session.path == path
    assert path.read_bytes() == before
    assert sorted(os.listdir(folder)) == [
        f"{recovery_key(session.uuid)}{end}" for end in (".json", ".plaidwork")
    ]
    _pretend(folder, session, pid=ended)
    opened = find_recoveries(folder)[0].open()
    assert opened.path == path
    assert opened.notes == "not saved"
    assert opened.uuid == session.uuid


def test_a_death_before_the_note_leaves_no_work_without_its_file(session, tmp_path, monkeypatch):
    """The note is written first: work whose file nobody knows would neither be gone on with nor be forgotten."""
    real, seen = recovery.replace_file, []

    def dies(path, *more, **options):
        seen.extend(tmp_path.glob("*.plaidwork"))
        real(path, *more, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(recovery, "replace_file", dies)
    with pytest.raises(KeyboardInterrupt):
        write_recovery(session, tmp_path, origin=tmp_path / "out.plaidwork")
    assert seen == []
    assert os.listdir(tmp_path) == []


def test_number_of_another_process_does_not_hold_it(session, tmp_path):
    write_recovery(session, tmp_path)
    if holder._started(os.getppid()):
        _pretend(tmp_path, session, pid=os.getppid(), started="another")
        assert len(find_recoveries(tmp_path)) == 1
    _pretend(tmp_path, session, pid=os.getppid(), started=holder._started(os.getppid()))
    assert find_recoveries(tmp_path) == []


def test_missing_or_damaged_note(session, tmp_path):
    path = write_recovery(session, tmp_path)
    path.with_suffix(".json").write_text("[")
    (found,) = find_recoveries(tmp_path)
    assert found.open().name == session.name
    path.write_bytes(b"x")
    with pytest.raises(SessionError):
        find_recoveries(tmp_path)[0].open()


def test_nothing_there(tmp_path):
    assert find_recoveries(tmp_path / "none") == []
    with pytest.raises(SessionError, match="name of unsaved work"):
        recovery_file("../x", tmp_path)


@pytest.mark.long
def test_killed_while_writing(session, tmp_path):
    """The recovery file of the save before is whole, and the stray temporary is swept."""
    code = """
import os, sys
sys.path.insert(0, sys.argv[2])
from plaidwork.core.session.recovery import write_recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import session_saving
from pathlib import Path
session = Session("first", uuid="abc")
write_recovery(session, Path(sys.argv[1]))
session.name = "second"
session_saving.copy_unknown = lambda *a: os._exit(9)
write_recovery(session, Path(sys.argv[1]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path), "."], check=False, timeout=60)
    assert done.returncode == 9
    assert len(os.listdir(tmp_path)) == 3
    (found,) = find_recoveries(tmp_path)
    assert found.open().name == "first"
    assert [name.split("-")[0] for name in os.listdir(tmp_path)] == ["abc", "abc"]


def test_words_name_the_recovery_file_when_there_is_one(session, tmp_path, monkeypatch):
    monkeypatch.setattr("plaidwork.core.session.store.places.recovery_folder", lambda: tmp_path)
    write_recovery(session)
    with pytest.raises(SessionError, match="Your work is still open and in the recovery file"):
        session.save(tmp_path / "no" / "s.plaidwork")


def test_two_windows_on_one_session_keep_two_pieces_of_work(session, tmp_path, ended, monkeypatch):
    write_recovery(session, tmp_path)
    _pretend(tmp_path, session, pid=ended)
    monkeypatch.setattr("plaidwork.core.session.store.places._PROGRAM", "another0")
    session.notes = "in the other window"
    write_recovery(session, tmp_path)
    _pretend(tmp_path, session, pid=ended)
    assert sorted(found.open().notes for found in find_recoveries(tmp_path)) == ["", "in the other window"]


def test_work_older_than_its_file_is_not_offered(session, tmp_path, ended):
    path = session.save(tmp_path / "s.plaidwork")
    folder = tmp_path / "recovery"
    kept = write_recovery(session, folder)
    _pretend(folder, session, pid=ended)
    assert len(find_recoveries(folder)) == 1
    os.utime(path, (kept.stat().st_atime, kept.stat().st_mtime + 10))
    assert find_recoveries(folder) == []


@pytest.mark.long
def test_recovered_work_goes_into_the_file_it_came_from(session, tmp_path, ended, monkeypatch):
    """And only then what was kept is removed; a file that was changed since is not overwritten."""
    monkeypatch.setattr("plaidwork.core.session.store.places.recovery_folder", lambda: tmp_path / "r")
    monkeypatch.setattr(recovery, "recovery_folder", lambda: tmp_path / "r")
    path = session.save(tmp_path / "s.plaidwork")
    session.notes = "not saved"
    write_recovery(session)
    _pretend(tmp_path / "r", session, pid=ended)
    (found,) = find_recoveries()
    opened = found.open()
    assert len(find_recoveries()) == 1
    os.utime(path, ns=(0, path.stat().st_mtime_ns))
    opened.save()
    assert open_session(path).notes == "not saved"
    assert os.listdir(tmp_path / "r") == []
    again = found.open() if found.path.exists() else opened
    other = open_session(path)
    other.notes = "theirs"
    other.save()
    with pytest.raises(ChangedError):
        again.save()


def test_a_variable_of_the_system_moves_unsaved_work(monkeypatch, tmp_path):
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    written = write_recovery(Session("One"))
    assert written.parent == tmp_path / "state" / "recovery"
