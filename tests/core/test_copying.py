"""A copy without data: runs are looked at, say what is missing, and go on beside the same data."""

import json

import h5py
import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SessionError
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.copying import save_compact, save_without_data
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


def test_a_compact_copy_is_looked_at_and_cannot_go_on(path, tmp_path):
    session = open_session(path)
    (before,) = session.runs.values()
    draws = np.array(before.draws["place"])
    said = save_compact(session, tmp_path / "b.plaidwork", draws=3)
    assert np.array_equal(before.draws["place"], draws)  # the session is as it was
    assert before.schedule.thin == 2
    assert not before.chains[0].stateless
    found = open_session(tmp_path / "b.plaidwork")
    (run,) = found.runs.values()
    every = -(-draws.shape[1] // 3)
    assert every > 1
    assert np.array_equal(run.draws["place"], draws[:, every - 1 :: every])
    kept = draws.shape[1] // every
    assert said == [
        f"{run.title} keeps {kept} of {draws.shape[1]} draws of each chain, by which its convergence is judged here.",
        "No run has the states of its chains: all can be looked at, none can go on.",
    ]
    assert run.log[-1].text == f"Compact copy. {said[0]}"
    for name, trace in before.traces.items():
        assert np.array_equal(run.traces[name], trace)
        view, other = run.chains[0].view(), before.chains[0].view()
        assert np.array_equal(view.kept_trace(name), other.kept_trace(name)[every - 1 :: every])
    assert run.results.keys() == before.results.keys()
    assert list(found.datasets) == ["numbers"]
    with pytest.raises(SessionError, match="is of a compact copy: it can be looked at, but not go on"):
        found.plan_of(run, registry_of(Walk))
    found.save()
    (again,) = open_session(tmp_path / "b.plaidwork").runs.values()
    assert np.array_equal(again.draws["place"], run.draws["place"])
    assert again.chains[0].stateless


def test_a_compact_copy_keeps_all_draws_where_there_are_few(path, tmp_path):
    session = open_session(path)
    said = save_compact(session, tmp_path / "b.plaidwork", data=False)
    found = open_session(tmp_path / "b.plaidwork")
    assert said == ["No run has the states of its chains: all can be looked at, none can go on."]
    assert not found.datasets
    assert np.array_equal(
        next(iter(found.runs.values())).draws["place"], next(iter(session.runs.values())).draws["place"]
    )


def test_a_compact_copy_is_small(tmp_path):
    session = _session()
    values = np.random.default_rng(1).normal(size=(300, 200)).round(2)
    rows = tuple(f"r{n}" for n in range(300))
    session.add_dataset(Dataset("more", values, rows, tuple(f"c{n}" for n in range(200))))
    path = session.save(tmp_path / "a.plaidwork")
    save_compact(session, tmp_path / "b.plaidwork", draws=5)
    assert (tmp_path / "b.plaidwork").stat().st_size < 0.7 * path.stat().st_size


@pytest.mark.long
def test_the_command_makes_a_compact_copy(path, tmp_path, capsys):
    out = tmp_path / "c.plaidwork"
    assert main(["copy", str(path), "--out", str(out), "--compact", "--draws", "0"]) == 2
    assert main(["copy", str(path), "--out", str(out), "--compact", "--draws", "2"]) == 0
    told = capsys.readouterr()
    text = told.out + told.err
    assert "draws of each chain, by which its convergence is judged here." in text
    assert "none can go on." in text
    assert f"Compact copy: {out}" in text
    assert main(["resume", str(out)]) == 2
