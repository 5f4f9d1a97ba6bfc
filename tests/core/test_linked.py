"""Linked data: a session that names the files of its data, and reads them when they are needed."""

import hashlib
import json
import os
import shutil

import h5py
import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.transforms import apply_steps
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.schema import parse_version
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.copying import save_compact, save_embedded, save_linked
from plaidwork.core.session.recovery import Recovery, write_recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store.linked import Link
from tests.registries import registry_of
from tests.toys import Walk


def _table(path, seed=1):
    values = np.random.default_rng(seed).normal(size=(12, 5)).round(3)
    lines = [",".join(["", *(f"c{j}" for j in range(5))])]
    lines += [",".join([f"r{i}", *map(str, row)]) for i, row in enumerate(values)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def session(folder):
    made = Session()
    data = read_dataset(_table(folder / "data" / "x.csv"))
    data = made.add_dataset(apply_steps(data, [{"name": "standardise", "options": {}}]))
    plan = make_plan(Walk(), {"X": data}, {}, schedule=Walk.spec.schedule.with_(draws=5, chains=1))
    run = made.add_run(plan)
    execute(run, plan, InlineExecutor())
    made.save(folder / "s.plaidwork")
    return made


@pytest.fixture
def linked(session, folder):
    path = folder / "linked.plaidwork"
    (told,) = save_linked(session, path, [folder / "data"])
    assert told == f"“x” is read from {folder / 'data' / 'x.csv'}."
    return path


def _strange(path):
    """As it is when somebody else made it: without the mark of this installation."""
    with h5py.File(path, "r+") as file:
        file.create_group("of another program")
    return path


def test_values_are_in_the_file_and_come_from_there(session, linked):
    data, found = session.datasets["x"], open_session(linked)
    (mine,) = found.datasets.values()
    with h5py.File(linked) as file:
        assert "X" not in file["data/x"]
        assert parse_version(file.attrs["min_reader"]) == (1, 1)
    assert not mine.at_hand
    assert (mine.shape, mine.n_missing, mine.row_names) == (data.shape, 0, data.row_names)
    (run,) = found.runs.values()
    assert found.plan_of(run, registry_of(Walk)).data_hash == run.data_hash
    assert np.array_equal(mine.values, data.values)
    assert mine.digest() == data.digest()


def test_the_link_is_as_the_page_says(linked, folder):
    """Read by the words of docs/session-format.md alone."""
    with h5py.File(linked) as file:
        assert set(file["data/x"]) == {"obs", "var", "uns"}
        link = json.loads(file["data/x/uns/plaidwork"].asstr()[()])["link"]
        run = next(iter(file["runs"].values()))
        data_hash = hashlib.sha256(f"X={link['digest']};".encode()).hexdigest()
        assert run.attrs["data_hash"] == data_hash
    named = folder / "data" / "x.csv"
    assert link["path"] == "data/x.csv"
    assert (link["size"], link["time"]) == (named.stat().st_size, named.stat().st_mtime_ns)
    assert link["sha256"] == hashlib.sha256(named.read_bytes()).hexdigest()
    assert [step["name"] for step in link["steps"]] == ["standardise"]
    assert (link["sparse"], link["allowed"]) == (-1, True)


def test_what_is_saved_again_stays_linked_read_or_not(linked, folder):
    for read in (False, True):
        found = open_session(linked)
        if read:
            assert found.datasets["x"].values.shape == (12, 5)
        found.rename_dataset("x", "other")
        again = open_session(found.save(folder / f"again {read}.plaidwork"))
        assert not again.datasets["other"].at_hand
        assert again.datasets["other"].values.shape == (12, 5)
    found.replace_dataset("other", found.datasets["other"].with_(values=found.datasets["other"].values + 1))
    with h5py.File(found.save()) as file:
        assert "X" in file["data/other"]


def test_both_are_moved_together(linked, folder):
    there = folder / "there"
    there.mkdir()
    shutil.move(linked, there / "t.plaidwork")
    shutil.move(folder / "data" / "x.csv", there)
    assert open_session(there / "t.plaidwork").datasets["x"].values.shape == (12, 5)


@pytest.mark.long
def test_unsaved_work_finds_the_file(linked, folder):
    found = open_session(linked)
    path = write_recovery(found, folder / "deep" / "state")
    again = Recovery("key", "name", path, linked, "").open()
    assert again.datasets["x"].values.shape == (12, 5)


@pytest.mark.parametrize("change", ["gone", "content", "size", "folder", "pipe"])
def test_a_file_that_is_missing_or_changed_is_named_and_all_else_is_there(linked, folder, change):
    file = folder / "data" / "x.csv"
    text = file.read_text()
    file.unlink()
    if change == "content":
        file.write_text(text.replace("r1,", "q1,"))
    elif change == "size":
        file.write_text(text + "\n")
    elif change == "folder":
        file.mkdir()
    elif change == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("no pipes")
        os.mkfifo(file)
    found = open_session(linked)
    (run,) = found.runs.values()
    assert found.datasets["x"].row_names[0] == "r0"
    assert run.draws["place"].size
    with pytest.raises(
        SessionError, match=r"The values of “x” cannot be read: .*x\.csv (was not|has changed|is not)"
    ):
        found.datasets["x"].values  # noqa: B018
    other = _table(folder / "elsewhere" / "y.csv")
    (link,) = found.links.values()
    link.check(other)
    link.file = other
    assert found.datasets["x"].values.shape == (12, 5)
    with pytest.raises(SessionError, match="has changed"):
        link.check(_table(folder / "elsewhere" / "z.csv", seed=2))


@pytest.mark.long
def test_a_strangers_file_is_not_touched_before_the_user_says_so(linked, folder, monkeypatch):
    found = open_session(_strange(linked))
    touched = []
    monkeypatch.setattr(type(folder), "stat", lambda self, **_: touched.append(self))
    monkeypatch.setattr("plaidwork.core.session.store.linked.file_sha256", touched.append)
    with pytest.raises(SessionError, match="read only once you say so"):
        found.datasets["x"].values  # noqa: B018
    assert not touched
    monkeypatch.undo()
    for again in (found, open_session(found.save(folder / "mine.plaidwork"))):  # saving allows nothing
        (link,) = again.links.values()
        assert not link.allowed
    link.allowed = True
    assert again.datasets["x"].values.shape == (12, 5)
    assert next(iter(open_session(again.save()).links.values())).allowed


@pytest.mark.long
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "C:/x.csv", "\\\\host\\x.csv", "a\0b.csv", "x\n.csv", "x" * 5000]
)
def test_a_path_that_is_not_from_the_session_is_refused(linked, path, monkeypatch):
    found, real = open_session(linked), Link.record
    monkeypatch.setattr(Link, "record", lambda self, folder: real(self, folder) | {"path": path})
    found.save()
    with pytest.raises(SessionError, match="the file of “x” is not named by a path from the session to it"):
        open_session(linked)


def test_other_values_than_those_of_the_session_are_not_taken(linked, folder):
    """The hash of the file is right, but it is read in another way."""
    found = open_session(linked)
    (link,) = found.links.values()
    link.steps = ()
    with pytest.raises(SessionError, match="does not give the values of “x” any more"):
        found.datasets["x"].values  # noqa: B018


def test_what_does_not_come_out_of_its_file_stays_in_the_session(session, folder):
    session.replace_dataset("x", session.datasets["x"].with_(values=session.datasets["x"].values + 1))
    path = folder / "t.plaidwork"
    assert save_linked(session, path, [folder / "data"]) == [
        "“x” stays in the session. x.csv does not give the values of “x” any more."
    ]
    (folder / "data" / "x.csv").write_text("other")
    assert save_linked(session, path)[0].startswith("“x” stays in the session. x.csv was not found as it was")
    with h5py.File(path) as file:
        assert "X" in file["data/x"]
        assert parse_version(file.attrs["min_reader"]) == (1, 0)


@pytest.mark.long
def test_all_in_one_file_again(session, linked, folder):
    found = open_session(_strange(linked))
    assert save_embedded(found, folder / "all.plaidwork") == [
        f"“x” was read from {folder / 'data' / 'x.csv'}."
    ]
    again = open_session(folder / "all.plaidwork")
    assert not again.links
    assert np.array_equal(again.datasets["x"].values, session.datasets["x"].values)
    save_compact(open_session(linked), folder / "small.plaidwork")
    assert not open_session(folder / "small.plaidwork").datasets["x"].at_hand


def test_on_the_command_line(session, folder, capsys):
    out, whole = folder / "l.plaidwork", folder / "w.plaidwork"
    assert main(["copy", str(session.path), "--link", "--files", str(folder / "data"), "-o", str(out)]) == 0
    assert "“x” is read from" in capsys.readouterr().out
    shutil.move(folder / "data", folder / "moved")
    assert main(["copy", str(out), "--embed", "-o", str(whole)]) != 0
    assert "was not found" in capsys.readouterr().err
    assert main(["copy", str(out), "--embed", "--files", str(folder / "moved"), "-o", str(whole)]) == 0
    assert open_session(whole).datasets["x"].digest() == session.datasets["x"].digest()
    assert main(["copy", str(out), "--link", "--compact", "-o", str(whole), "--force"]) != 0
    assert main(["copy", str(out), "--compact", "--files", "x", "-o", str(whole), "--force"]) != 0
