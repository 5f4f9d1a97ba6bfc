"""Matrices that stay in their file: the same numbers, digests and messages as in memory, and never read as a whole unasked."""

import os
import pickle

import numpy as np
import pytest

from plaidwork.core.data import in_file
from plaidwork.core.data.importers.numpy_files import NumpyReader
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.inference.parcel import pack
from plaidwork.core.inference.value_checks import check_finite
from plaidwork.core.session.session import Session, open_session

FILE = {"values_in": "file"}


@pytest.fixture(params=[("C", "f4"), ("F", "f4"), ("C", "f8"), ("F", "f8")])
def stored(request, tmp_path):
    """A file, and what is in it."""
    order, dtype = request.param
    values = np.random.default_rng(1).standard_normal((70, 30)).astype(dtype)
    path = tmp_path / "big.npy"
    np.save(path, np.asarray(values, order=order))
    return path, values.astype(float)


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(in_file, "PIECE", 2000)


@pytest.mark.parametrize("turned", [False, True])
def test_the_same_as_in_memory(stored, small_pieces, turned):
    path, values = stored
    options = {"transpose": True} if turned else {}
    here = read_dataset(path, FILE | options)
    there = read_dataset(path, {"values_in": "memory"} | options)
    values = values.T if turned else values
    assert here.stays
    assert not here.at_hand
    assert not there.stays
    assert here.digest() == there.digest()
    assert here.source.sha256 == there.source.sha256
    assert (here.n_missing, here.kind, here.shape) == (0, "real", values.shape)
    assert np.array_equal(here.values, values)
    assert here.stays
    cells = here.in_file
    assert np.array_equal(cells.rows(3, 9), values[3:9])
    assert np.array_equal(cells[2:20:3], values[2:20:3])
    assert np.array_equal(cells[:, [4, 1]], values[:, [4, 1]])
    assert np.array_equal(cells.every(7), values[::7])
    assert np.array_equal(pickle.loads(pickle.dumps(cells))[0:2], values[:2])


def test_turned_and_sent_to_other_processes_nothing_is_read(stored, monkeypatch):
    path, values = stored
    dataset = read_dataset(path, FILE)
    monkeypatch.setattr(in_file.InFile, "get", lambda self: pytest.fail("all of it was read"))
    turned = apply_step(dataset, {"name": "transpose"})
    parcel = pack({"X": (turned,)})
    sent = pickle.loads(pickle.dumps(parcel)).inputs()["X"][0]
    parcel.discard()
    assert sent.stays
    assert np.array_equal(sent.in_file.rows(0, 5), values.T[:5])


def test_large_files_stay_unless_somebody_says_otherwise(stored, monkeypatch):
    path, values = stored
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 8 * values.size - 1)
    assert read_dataset(path).stays
    assert read_dataset(path).source.options["values_in"] == "file"
    assert not read_dataset(path, {"values_in": "memory"}).stays
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 8 * values.size)
    assert not read_dataset(path).stays


def test_a_preview_reads_the_first_rows(stored, monkeypatch):
    path, _ = stored
    monkeypatch.setattr(in_file.InFile, "facts", lambda self: pytest.fail("all of it was looked at"))
    found = NumpyReader().preview(path, FILE)
    assert (found.n_rows, found.n_columns) == (70, 30)
    assert found.options["values_in"] == "file"
    assert any("stay in their file" in issue.message for issue in found.issues)


def test_what_needs_all_of_it_is_told_how_much_there_is(stored, monkeypatch):
    path, _ = stored
    dataset = read_dataset(path, FILE)
    monkeypatch.setattr(in_file, "free_memory", lambda: 1000)
    with pytest.raises(DataError, match="stays in its file, and what was asked for needs all of it"):
        apply_step(dataset, {"name": "standardise"})


def test_a_file_that_was_changed_is_told(stored):
    path, _values = stored
    dataset = read_dataset(path, FILE)
    dataset.in_file.rows(0, 1)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match="was changed while it was in use"):
        dataset.in_file.rows(0, 1)


@pytest.mark.parametrize("dtype", ["i4", ">f4"])
def test_other_numbers_cannot_stay(tmp_path, dtype):
    np.save(tmp_path / "x.npy", np.ones((3, 2), dtype))
    with pytest.raises(DataError, match="only matrices of float32 or float64"):
        read_dataset(tmp_path / "x.npy", FILE)


def test_numbers_that_no_fit_can_use_are_named_by_place(tmp_path, small_pieces):
    values = np.ones((50, 20))
    values[41, 7] = 1e200
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DataError, match="row “row 42”, column “column 8”: 1e\\+200 is too large"):
        check_finite(read_dataset(tmp_path / "x.npy", FILE))
    values[41, 7] = np.inf
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DataError, match="infinity"):
        read_dataset(tmp_path / "x.npy", FILE)


def test_a_session_names_the_file(stored, tmp_path):
    path, values = stored
    session = Session(name="s")
    session.datasets["big"] = apply_step(read_dataset(path, FILE), {"name": "transpose"})
    session.save(tmp_path / "s.plaid")
    assert len(list(session.datasets["big"].in_file.path.parent.iterdir())) == 2
    found = open_session(tmp_path / "s.plaid").datasets["big"]
    assert found.stays
    assert found.digest() == session.datasets["big"].digest()
    assert np.array_equal(found.held.every(7), values.T[::7])
    assert np.array_equal(found.in_file.rows(0, 4), values.T[:4])
    assert np.array_equal(found.values, values.T)
    open_session(tmp_path / "s.plaid").save(tmp_path / "again.plaid")
    assert open_session(tmp_path / "again.plaid").datasets["big"].stays

    other = bytearray(path.read_bytes())
    other[-1] ^= 1
    path.write_bytes(bytes(other))
    os.utime(path)
    changed = open_session(tmp_path / "s.plaid").datasets["big"]
    assert changed.held.every(7) is None
    with pytest.raises(SessionError):
        changed.in_file  # noqa: B018
