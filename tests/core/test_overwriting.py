"""Nobody's work is overwritten: locks, the comparison before a save, merging, and what killed programs leave."""

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest
from toy import ToySampler, toy_data

from plaidwork.core.cli import saving
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import ChangedError
from plaidwork.core.hdf5 import atomic
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.lock import acquire, held_text, holder_of, lock_file, release, take_over
from plaidwork.core.session.merging import merge
from plaidwork.core.session.session import Session, open_session

_HOLD = """
import sys
from pathlib import Path
from plaidwork.core.session.lock import acquire
print(acquire(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return Session("S").save(tmp_path / "s.plaidwork")


@pytest.fixture
def other(path):
    """Another process that holds the file."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "None\n"
        yield process
        process.kill()


def test_of_two_processes_one_holds_the_file(path, other):
    found = acquire(path)
    assert (found.pid, found.host, found.runs, found.mine) == (other.pid, socket.gethostname(), True, False)
    assert "another window or command on this computer" in held_text(path, found)
    release(path)  # is not ours
    assert holder_of(path) == found
    other.kill()
    other.wait()
    assert holder_of(path) is None
    assert acquire(path) is None  # the first is gone
    assert acquire(path) is None  # ours already
    assert holder_of(path).mine
    release(path)
    assert os.listdir(path.parent) == [path.name]


def test_lock_of_another_computer_stays_until_it_is_taken_over(path):
    record = {
        "pid": 1,
        "started": "1",
        "host": "far\x1b[2J",
        "user": "ann",
        "time": "2026-01-02T03:04:05+00:00",
    }
    lock_file(path).write_text(json.dumps(record))
    found = acquire(path)
    assert not found.here
    assert held_text(path, found) == (
        "ann has “s.plaidwork” open on the computer far␛[2J since 2026-01-02 03:04 (UTC)."
    )
    take_over(path)
    assert acquire(path) is None
    assert holder_of(path).mine


@pytest.mark.parametrize("text", ["", "[", "[]", '{"pid": "x"}', '{"pid": -1}'])
def test_a_damaged_lock_holds_nobody(path, text):
    lock_file(path).write_text(text)
    assert acquire(path) is None


def _edit(path):
    with h5py.File(path, "r+") as file:
        file.attrs["more"] = 1


def _rewrite(path):
    session = open_session(path)
    session.notes = "theirs"
    session.save()


def _in_place(path):
    """Other bytes, the same size and time."""
    before, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


@pytest.mark.parametrize("change", [_edit, _rewrite, _in_place])
def test_a_file_that_somebody_changed_is_not_replaced(path, change):
    session = open_session(path)
    change(path)
    theirs = path.read_bytes()
    session.notes = "ours"
    with pytest.raises(ChangedError, match="changed by another program"):
        session.save()
    assert path.read_bytes() == theirs
    session.save(replace=True)
    assert open_session(path).notes == "ours"
    session.notes = "ours again"
    session.save()


def test_a_file_that_was_only_touched_copied_back_or_removed_is_written(path, tmp_path):
    session = open_session(path)
    os.utime(path)
    session.save()
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    session.save()
    path.unlink()
    session.save()
    assert path.exists()


_RACE = """
import sys
from pathlib import Path
from plaidwork.core.errors import ChangedError
from plaidwork.core.session.session import open_session
session = open_session(sys.argv[1])
print("opened", flush=True)
sys.stdin.readline()
session.notes = sys.argv[2]
try:
    session.save()
    print("saved")
except ChangedError:
    print("refused")
"""


@pytest.mark.long
def test_two_processes_that_save_one_file(path):
    """Both have it open; the second to save is told, and what the first wrote stays."""
    made = [
        subprocess.Popen([sys.executable, "-c", _RACE, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("first", "second")
    ]  # fmt: skip
    for process in made:
        assert process.stdout.readline() == "opened\n"
    assert [process.communicate("\n", timeout=60)[0] for process in made] == ["saved\n", "refused\n"]
    assert open_session(path).notes == "first"


def test_save_as_makes_another_session(path, tmp_path):
    session = open_session(path)
    before = session.uuid
    session.save()
    assert session.uuid == before
    session.save(tmp_path / "copy.plaidwork")
    assert session.uuid != before
    assert open_session(path).uuid == before


def _with_run(name, seed):
    session = Session(name)
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())}, seed=seed)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    return session, run


@pytest.mark.long
def test_merging_keeps_the_runs_of_both(tmp_path):
    session, mine = _with_run("mine", 1)
    other, theirs = _with_run("theirs", 2)
    other.datasets["toy data"] = toy_data(seed=5)  # other content under the same name
    other.add_dataset(Dataset("alone", np.ones((2, 2)), ("a", "b"), ("c", "d")))
    other.notes = "their notes"
    assert merge(session, other) == ["Toy sampler 1"]
    assert list(session.runs) == [mine.id, theirs.id]
    assert list(session.datasets) == ["toy data", "toy data 2", "alone"]
    assert theirs.inputs["X"] == ("toy data 2",)
    assert session.notes == "their notes"
    assert merge(session, other) == []
    assert list(session.datasets) == ["toy data", "toy data 2", "alone"]
    again = open_session(session.save(tmp_path / "m.plaidwork"))
    assert list(again.runs) == [mine.id, theirs.id]


def test_what_killed_saves_left_beside_the_file_is_swept(path):
    stray = path.with_name(f".{path.name}.999999999-abcd.plaidwork-tmp")
    fresh = path.with_name(f".{path.name}.999999998-abcd.plaidwork-tmp")
    foreign = path.with_name(".t.plaidwork.999999999-abcd.plaidwork-tmp")
    for one in (stray, fresh, foreign):
        one.write_bytes(b"x")
    for one in (stray, foreign):
        os.utime(one, (time.time() - 2 * atomic._OLD,) * 2)
    open_session(path).save()
    assert not stray.exists()
    assert fresh.exists()  # may be of a computer that writes at this moment
    assert foreign.exists()


def test_work_of_a_search_is_kept_between_its_fits(tmp_path, monkeypatch):
    """As ``plaidwork study`` does; what was kept goes once the session is saved."""
    state = tmp_path / "state"
    monkeypatch.setattr("plaidwork.core.session.store.places.recovery_folder", lambda: state)
    monkeypatch.setattr(saving, "EVERY", 0.05)
    session, out = Session("search"), tmp_path / "out.plaidwork"
    with saving.Autosave(session, out, lambda: replace(session, notes="two fits")) as kept:
        end = time.monotonic() + 30.0
        while not list(state.glob("*.plaidwork")) and time.monotonic() < end:
            time.sleep(0.02)
        (work,) = state.glob("*.plaidwork")
        assert open_session(work).notes == "two fits"
        assert json.loads(work.with_suffix(".json").read_text())["origin"] == str(out)
        session.save(out)
        kept.saved()
    assert list(state.iterdir()) == []


def test_a_command_saves_beside_a_file_that_was_changed(path, capsys):
    session = open_session(path)
    _rewrite(path)
    session.notes = "ours"
    saved = saving.save(session, path)
    assert saved.name == "s-2.plaidwork"
    assert (open_session(path).notes, open_session(saved).notes) == ("theirs", "ours")
    assert "Nothing was overwritten" in capsys.readouterr().err
