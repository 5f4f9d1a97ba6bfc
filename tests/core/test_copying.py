"""A copy without data: runs are looked at, say what is missing, and go on beside the same data."""

import json

import h5py
import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.errors import SessionError
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.copying import save_without_data
from plaidwork.core.session.session import open_session
from tests.core.test_differing import _session
from tests.registries import registry_of
from tests.toys import Walk


@pytest.fixture
def path(tmp_path):
    session = _session()
    session.notes = "for you"
    return session.save(tmp_path / "a.plaidwork")


def test_runs_stay_and_data_go(path, tmp_path):
    session = open_session(path)
    copy = save_without_data(session, tmp_path / "b.plaidwork")
    assert list(session.datasets) == ["numbers"]
    assert session.path == path
    found = open_session(copy)
    assert not found.datasets
    assert (found.notes, found.name) == ("for you", "b")
    assert found.uuid != session.uuid
    (run,), (before,) = found.runs.values(), session.runs.values()
    assert np.array_equal(run.draws["place"], before.draws["place"])
    assert run.results.keys() == before.results.keys()
    with h5py.File(copy) as file:
        texts = []
        file.visititems(lambda name, thing: texts.append(thing[()]) if name.endswith("row") else None)
        assert not any(b"r0" in np.asarray(text).ravel().tolist() for text in texts)
    assert before.session is session


def test_a_run_without_its_data_says_so_and_goes_on_beside_them(path, tmp_path):
    plugins: Registry = registry_of(Walk)
    session = open_session(path)
    found = open_session(save_without_data(session, tmp_path / "b.plaidwork"))
    (run,) = found.runs.values()
    with pytest.raises(SessionError, match="needs data that are not in the session: numbers"):
        found.plan_of(run, plugins)
    found.add_dataset(session.datasets["numbers"])
    assert found.plan_of(run, plugins).data_hash == run.data_hash


def test_the_session_itself_is_not_replaced(path):
    with pytest.raises(SessionError, match="would replace the session"):
        save_without_data(open_session(path), path)


def test_the_command(path, tmp_path, capsys):
    out = tmp_path / "c.plaidwork"
    assert main(["copy", str(path), "--out", str(out)]) == 2
    assert main(["copy", str(path), "--out", str(out), "--without-data"]) == 0
    capsys.readouterr()
    assert main(["info", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["datasets"], len(record["runs"])) == ([], 1)
    assert main(["copy", str(path), "--out", str(out), "--without-data"]) == 2
