"""Sparse matrices that stay out of memory: the same numbers, digests and messages as in memory, and arrays that are mapped."""

from __future__ import annotations

import os
import pickle
import shutil
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from mapped_tools import is_mapped

from plaidwork.core.api_sparse import new_values, row_blocks, scratch_array, taken
from plaidwork.core.data import in_file, mapped, sparse_in_file
from plaidwork.core.data.dataset import Step
from plaidwork.core.data.importers import _market_pieces
from plaidwork.core.data.importers.reading import find_reader, read_dataset
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import DataError
from plaidwork.core.inference.parcel import pack
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session, open_session

FILE, MEMORY = {"values_in": "file"}, {"values_in": "memory", "sparse": True}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch, tmp_path):
    monkeypatch.setattr(mapped, "AT_ONCE", 50)
    monkeypatch.setattr(_market_pieces, "TEXT", 200)
    monkeypatch.setenv("PLAIDWORK_SCRATCH", str(tmp_path / "scratch"))


def counts(rows: int = 60, columns: int = 40) -> scipy.sparse.csr_matrix:
    found = scipy.sparse.random(rows, columns, 0.15, "csr", random_state=np.random.default_rng(1))
    found.data = np.ceil(5 * found.data)
    return found


def write_h5ad(path, matrix, **packed):
    with h5py.File(path, "w") as file:
        for name, size in zip(("obs", "var"), matrix.shape, strict=True):
            group = file.create_group(name)
            group["_index"], group.attrs["_index"] = [f"{name} {i}" for i in range(size)], "_index"
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = f"{matrix.format}_matrix", matrix.shape
        for name in ("data", "indices", "indptr"):
            group.create_dataset(name, data=getattr(matrix, name), **packed)


def write_market(path, matrix, repeated=()):
    """The entries in an order by chance."""
    scipy.io.mmwrite(path, matrix)
    lines = path.read_text().splitlines()
    body = np.random.default_rng(0).permutation(np.array(lines[3:], object)).tolist() + list(repeated)
    size = f"{matrix.shape[0]} {matrix.shape[1]} {len(body)}"
    path.write_text("\n".join([*lines[:2], size, *body]) + "\n")


def same(here, there):
    assert here.stays
    assert here.is_sparse
    assert not there.stays
    assert here.digest() == there.digest()
    assert (here.kind, here.shape, here.source.sha256) == (there.kind, there.shape, there.source.sha256)
    assert here.values.has_canonical_format
    assert here.values.data.dtype == np.float64
    for array in (here.values.data, here.values.indices):
        assert is_mapped(array)
        assert not array.flags.writeable


@pytest.mark.parametrize("turned", [{}, {"transpose": True}])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_npz_is_the_same_as_in_memory(tmp_path, layout, dtype, packed, turned):
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, counts().asformat(layout).astype(dtype), compressed=packed)
    same(read_dataset(path, FILE | turned), read_dataset(path, MEMORY | turned))
    assert not list((tmp_path / "scratch").iterdir()) or os.name == "nt"


@pytest.mark.parametrize(
    "packed", [{}, {"chunks": (37,)}, {"chunks": (37,), "compression": "gzip", "shuffle": True}]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_h5ad_is_the_same_as_in_memory(tmp_path, layout, dtype, packed, monkeypatch):
    path = tmp_path / "x.h5ad"
    write_h5ad(path, counts().asformat(layout).astype(dtype), **packed)
    here = read_dataset(path, FILE)
    monkeypatch.setattr("plaidwork.core.data.importers.annotated.DENSE_BELOW", 0)
    same(here, read_dataset(path, {"values_in": "memory"}))
    if (
        layout == "csr" and dtype == np.float64 and not packed
    ):  # as they lie in the file, no scratch file was made
        assert not (tmp_path / "scratch").exists()


@pytest.mark.parametrize("turned", [{}, {"transpose": True}])
def test_matrix_market_is_the_same_as_in_memory(tmp_path, turned):
    write_market(tmp_path / "x.mtx", counts())
    same(read_dataset(tmp_path / "x.mtx", FILE | turned), read_dataset(tmp_path / "x.mtx", MEMORY | turned))


def disordered(dtype=np.float64) -> scipy.sparse.csr_matrix:
    """Columns of a row in any order, some more than once."""
    rng = np.random.default_rng(0)
    rows, columns, values = np.sort(rng.integers(0, 60, 500)), rng.integers(0, 40, 500), rng.random(500)
    pointer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=60))]).astype(np.int32)
    return scipy.sparse.csr_matrix((values.astype(dtype), columns.astype(np.int32), pointer), (60, 40))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_in_disorder_are_not_taken_as_they_lie_in_the_file(tmp_path, dtype, monkeypatch):
    write_h5ad(tmp_path / "x.h5ad", disordered(dtype))
    here = read_dataset(tmp_path / "x.h5ad", FILE)
    monkeypatch.setattr("plaidwork.core.data.importers.annotated.DENSE_BELOW", 0)
    same(here, read_dataset(tmp_path / "x.h5ad", {"values_in": "memory"}))
    assert (tmp_path / "scratch").exists()


@pytest.mark.parametrize("rule", ["sum", "mean"])
def test_entries_in_any_order_and_more_than_once(tmp_path, rule):
    scipy.sparse.save_npz(tmp_path / "x.npz", disordered())
    same(read_dataset(tmp_path / "x.npz", FILE), read_dataset(tmp_path / "x.npz", MEMORY))
    first = counts().tocoo()
    again = [f"{first.row[0] + 1} {first.col[0] + 1} 4"]
    write_market(tmp_path / "x.mtx", counts(), again)
    options = {"repeated": rule}
    same(read_dataset(tmp_path / "x.mtx", FILE | options), read_dataset(tmp_path / "x.mtx", MEMORY | options))
    told = [_refusal(tmp_path / "x.mtx", where) for where in (FILE, MEMORY)]
    assert "is given more than once" in told[0]
    assert told[0] == told[1]


def _refusal(path, options):
    with pytest.raises(DataError) as error:
        read_dataset(path, options)
    return error.value.message


def test_large_ones_stay_without_being_asked(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, counts())
    entries = counts().nnz
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 16 * entries + 1)
    assert not read_dataset(path).stays
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 16 * entries - 48)
    assert read_dataset(path).stays
    assert not read_dataset(path, {"values_in": "memory"}).stays
    preview = find_reader(path).preview(path, {})
    assert preview.options["values_in"] == "file"
    assert "values_in" in preview.detected
    assert "The values stay out of memory" in [issue.message for issue in preview.issues]


@pytest.mark.parametrize("place", [-1, 40, 2**31 - 1])
def test_a_column_outside_is_refused(tmp_path, place):
    matrix = counts()
    matrix.indices[97] = place
    scipy.sparse.save_npz(tmp_path / "x.npz", matrix, compressed=False)
    assert "an index outside 0 to 39" in _refusal(tmp_path / "x.npz", FILE)
    write_h5ad(tmp_path / "x.h5ad", matrix)
    assert "an index outside 0 to 39" in _refusal(tmp_path / "x.h5ad", FILE)


def test_pointers_and_values_that_are_wrong(tmp_path):
    path = tmp_path / "x.h5ad"
    for at, value in ((0, 1), (30, 10**6), (60, 5)):
        matrix = counts()
        matrix.indptr[at] = value
        write_h5ad(path, matrix)
        assert "its pointers do not go with" in _refusal(path, FILE)
    matrix = counts()
    matrix.data[120] = np.inf
    row, column = np.searchsorted(matrix.indptr, 120, side="right"), matrix.indices[120] + 1
    write_h5ad(path, matrix)
    assert f"expected a finite number at row {row}, column {column}, found inf" in _refusal(path, FILE)
    whole = counts().astype(np.int64)
    whole.data[3] = 2**53 + 1
    scipy.sparse.save_npz(tmp_path / "x.npz", whole)
    assert "expected at most 2^53 at row 1" in _refusal(tmp_path / "x.npz", FILE)


def test_a_file_that_is_cut_off(tmp_path):
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, counts(), compressed=False)
    held = path.read_bytes()
    path.write_bytes(held.replace(b"\x93NUMPY", b"\x93NUMPX", 1))
    assert "x.npz" in _refusal(path, FILE)
    write_market(tmp_path / "x.mtx", counts())
    lines = (tmp_path / "x.mtx").read_text().splitlines()
    (tmp_path / "x.mtx").write_text("\n".join(lines[:-2]) + "\n")
    assert f"announces {counts().nnz} entries and holds {counts().nnz - 2}" in _refusal(
        tmp_path / "x.mtx", FILE
    )


@pytest.mark.parametrize("entry", ["61 3 1", "1 3 inf", "1 3 x", "1 3 9007199254740993", "1 3 1E-400"])
def test_entries_that_are_wrong_are_told_as_in_memory(tmp_path, entry):
    path = tmp_path / "x.mtx"
    write_market(path, counts(), [entry])
    assert _refusal(path, FILE) == _refusal(path, MEMORY)


def test_what_cannot_stay_is_told(tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", counts().tocoo())
    assert "format “coo”" in _refusal(tmp_path / "x.npz", FILE)
    scipy.io.mmwrite(tmp_path / "x.mtx", scipy.sparse.eye(5), symmetry="symmetric")
    assert "coordinate symmetric" in _refusal(tmp_path / "x.mtx", FILE)


def test_a_full_disk_is_told_with_what_is_needed_and_free(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, counts())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=mapped.SPARE + 100))
    told = _refusal(path, FILE)
    assert "which needs 0.0 GB of disk; 0.0 GB are free" in told
    assert str(tmp_path / "scratch") in told


def test_a_disk_that_fills_up_while_it_is_written_to(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no full device here")
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(DataError, match="of disk"):
        mapped.written(full, np.zeros(10))


def test_a_session_names_the_file(tmp_path):
    path = tmp_path / "x.npz"
    scipy.sparse.save_npz(path, counts(), compressed=False)
    session = Session(name="s")
    dataset = read_dataset(path, FILE)
    session.add_dataset(dataset)
    session.add_dataset(apply_step(dataset, Step("transpose")).with_(name="turned"))
    session.save(tmp_path / "s.plaidwork")
    assert (tmp_path / "s.plaidwork").stat().st_size < 200_000
    opened = open_session(tmp_path / "s.plaidwork")
    for name in ("x", "turned"):
        found = opened.datasets[name]
        assert found.stays
        assert found.digest() == session.datasets[name].digest()
        assert is_mapped(found.values.data)
        assert (found.values != session.datasets[name].values).nnz == 0
    other = counts()
    other.data[0] += 1
    scipy.sparse.save_npz(path, other, compressed=False)
    with pytest.raises(Exception, match="has changed"):
        _ = open_session(tmp_path / "s.plaidwork").datasets["x"].values
    with pytest.raises(DataError, match="was changed while it was in use"):
        _ = dataset.values


def test_a_part_is_held_by_the_session(tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", counts())
    dataset = read_dataset(tmp_path / "x.npz", FILE)
    part = dataset.take(0, np.array([5, 3, 50]), Step("select", {"text": "three"}))
    other = read_dataset(tmp_path / "x.npz", MEMORY).take(
        0, np.array([5, 3, 50]), Step("select", {"text": "three"})
    )
    assert part.stays
    assert part.digest() == other.digest()
    columns = part.take(1, np.array([7, 2, 30]), Step("select", {"text": "three"}))
    assert (columns.values.toarray() == other.values.toarray()[:, [7, 2, 30]]).all()
    session = Session(name="s")
    session.add_dataset(part)
    session.save(tmp_path / "s.plaidwork")
    (tmp_path / "x.npz").unlink()
    found = open_session(tmp_path / "s.plaidwork").datasets[part.name]
    assert not found.stays
    assert found.digest() == part.digest()


@pytest.mark.parametrize("name", ["x.npz", "x.h5ad"])
def test_processes_map_it_and_workers_get_it(tmp_path, name):
    scipy.sparse.save_npz(tmp_path / "x.npz", counts())
    write_h5ad(tmp_path / "x.h5ad", counts())  # of which no scratch file is made
    dataset = read_dataset(tmp_path / name, FILE)
    parcel = pack({"X": (dataset,)})
    (found,) = parcel.inputs()["X"]
    parcel.discard()
    assert found.stays
    assert found.digest() == dataset.digest()
    assert is_mapped(found.values.data)
    assert pickle.loads(pickle.dumps(dataset)).digest() == dataset.digest()


def test_what_needs_a_copy_in_memory_says_how_much(tmp_path, monkeypatch):
    scipy.sparse.save_npz(tmp_path / "x.npz", counts())
    dataset = read_dataset(tmp_path / "x.npz", FILE)
    assert not apply_step(dataset, Step("log1p")).stays
    plaid = registry().model("plaid_counts")
    assert make_plan(plaid, {"X": dataset}, {}).data["X"].mapped
    monkeypatch.setattr(sparse_in_file, "free_memory", lambda: 100)
    told = r"stays out of memory, and “.*” needs a copy of it there: 0\.0 GB, and 0\.0 GB are free"
    with pytest.raises(DataError, match=told):
        apply_step(dataset, Step("log1p"))
    with pytest.raises(DataError, match=told):
        make_plan(plaid, {"X": dataset}, {})
    assert make_plan(registry().model("hdp_topics"), {"X": dataset}, {}).data["X"].mapped
    assert apply_step(dataset, Step("transpose")).stays


def test_what_is_made_of_a_mapped_matrix_is_what_scipy_makes(tmp_path):
    matrix = counts()
    rows = np.array([9, 3, 3, 59, 0])
    found = taken(matrix, rows, lambda block: block[:, [1, 5, 8]], 3)
    assert (found != matrix[rows][:, [1, 5, 8]]).nnz == 0
    assert is_mapped(found.data)
    other = new_values(matrix, lambda block: block.data * block.indices)
    assert (other.data == matrix.data * matrix.indices).all()
    assert sum(block.shape[0] for block in row_blocks(matrix)) == 60
    assert max(block.nnz for block in row_blocks(matrix)) <= 50
    room = scratch_array(1000, np.int32)
    room[7] = 5
    assert room.sum() == 5
    assert is_mapped(room)
