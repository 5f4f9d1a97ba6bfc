"""HDF5 files of no further rule: one of their matrices, in memory or in its file, and nothing that points elsewhere."""

import h5py
import numpy as np
import pytest

from plaidwork.core.data.converting import write_npy
from plaidwork.core.data.importers import plain_hdf5
from plaidwork.core.data.importers.plain_hdf5 import PlainHdf5Reader
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.errors import DataError
from plaidwork.core.session.session import Session, open_session

FILE = {"values_in": "file"}
VALUES = np.random.default_rng(1).normal(size=(20, 6)).astype("f4")


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "lab.h5", "w") as file:
        file.create_dataset("day 1/signal", data=VALUES, chunks=(7, 4), compression="gzip")
        file.create_dataset("time", data=np.arange(20.0))
        file.create_dataset("label", data=["a"] * 20)
        file["day 1/again"] = file["day 1"]  # round and round
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/X")
        file["gone"] = h5py.SoftLink("/nothing")
    return tmp_path / "lab.h5"


@pytest.fixture
def several(path):
    with h5py.File(path, "r+") as file:
        file.create_dataset("day 2", data=VALUES * 2)
    return path


def test_the_one_matrix_is_found(path):
    for options in ({"values_in": "memory"}, FILE):
        found = read_dataset(path, options)
        assert found.stays == (options == FILE)
        assert (found.name, found.shape) == ("signal", (20, 6))
        assert np.array_equal(found.values, VALUES)
        assert found.source.options["array"] == "/day 1/signal"
        assert found.row_names[0] == "row 1"
    assert read_dataset(path, FILE).digest() == read_dataset(path, {"values_in": "memory"}).digest()


def test_of_several_one_has_to_be_chosen(several):
    with pytest.raises(DataError, match=r"cannot be told: /day 2 \(20 × 6\), /day 1/signal \(20 × 6\)"):
        read_dataset(several)
    shown = PlainHdf5Reader().preview(several, {})
    assert "array" in shown.unclear
    assert [name for name, _ in shown.choices["array"]] == ["/day 2", "/day 1/signal"]
    assert np.array_equal(read_dataset(several, {"array": "day 2"}).values, VALUES.astype(float) * 2)
    with pytest.raises(DataError, match="has no matrix of numbers “/day 3”"):
        read_dataset(several, {"array": "day 3"})
    shown = PlainHdf5Reader().preview(several, FILE | {"array": "/day 2"})
    assert (shown.n_rows, shown.n_columns, shown.options["values_in"]) == (20, 6, "file")


def test_usual_names_and_names_beside(path):
    with h5py.File(path, "r+") as file:
        file.create_dataset("X", data=np.arange(6).reshape(2, 3))
    path.with_name("lab_rownames.txt").write_text("a\nb\n")
    found = read_dataset(path)
    assert (found.name, found.kind, found.row_names) == ("lab", "count", ("a", "b"))
    assert found.column_names[0] == "column 1"


def test_it_stays_in_sessions_and_becomes_npy(several, tmp_path):
    session = Session(name="s")
    session.datasets["x"] = read_dataset(several, FILE | {"array": "day 2", "transpose": True})
    session.save(tmp_path / "s.plaid")
    found = open_session(tmp_path / "s.plaid").datasets["x"]
    assert found.stays
    assert np.array_equal(found.held.every(2), (VALUES * 2).T[::2])
    assert np.array_equal(found.in_file.rows(0, 6), (VALUES * 2).T)
    made = write_npy(several, tmp_path / "y.npy", {"array": "day 1/signal"})
    assert (made.in_pieces, made.dtype) == (True, "f4")
    assert np.array_equal(np.load(tmp_path / "y.npy"), VALUES)


@pytest.mark.parametrize("way", ["memory", "file", "npy"])
def test_infinite_numbers_are_told(path, tmp_path, way):
    with h5py.File(path, "r+") as file:
        file["day 1/signal"][4, 2] = np.inf
    told = "found infinity" if way == "file" else "row 5, column 3"
    read = {"npy": lambda: write_npy(path, tmp_path / "y.npy", {})}
    with pytest.raises(DataError, match=told):
        read.get(way, lambda: read_dataset(path, {"values_in": way}))()
    assert np.isnan(read_dataset(path, {"infinite": "missing", "values_in": "memory"}).values[4, 2])
    (fault,) = [one for one in PlainHdf5Reader().preview(path, {}).issues if one.severity == "error"]
    assert fault.fix[1:] == ("infinite", "missing")


def test_files_without_a_matrix_or_with_too_much_are_refused(path, tmp_path, monkeypatch):
    with h5py.File(tmp_path / "no.hdf5", "w") as file:
        file.create_dataset("time", data=np.arange(20.0))
    with pytest.raises(DataError, match="holds no array of numbers with two axes"):
        read_dataset(tmp_path / "no.hdf5")
    monkeypatch.setattr(plain_hdf5, "_MOST", 3)
    with pytest.raises(DataError, match="holds more than 3 objects"):
        read_dataset(path)
    monkeypatch.undo()
    with h5py.File(tmp_path / "large.h5", "w") as file:
        file.create_dataset("X", (10**8, 10**5), "f4", chunks=(1000, 1000))
    for options in ({}, FILE):
        with pytest.raises(DataError, match="would grow from 0"):
            read_dataset(tmp_path / "large.h5", options)
    (tmp_path / "not.h5").write_bytes(b"no HDF5")
    with pytest.raises(DataError, match="is no HDF5 file"):
        read_dataset(tmp_path / "not.h5")
