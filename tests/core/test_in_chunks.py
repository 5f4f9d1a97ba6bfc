"""Dense matrices that stay in an HDF5 file: the same numbers, digests and messages as in memory, and each chunk unpacked once in a pass."""

import os
import pickle
import zlib

import h5py
import numpy as np
import pytest

from plaidwork.core.data import in_chunks, in_file
from plaidwork.core.data.importers.annotated import AnnotatedReader
from plaidwork.core.data.importers.reading import read_dataset, read_datasets
from plaidwork.core.data.in_chunks import InChunks
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.inference.parcel import pack
from plaidwork.core.session.session import Session, open_session
from tests.annotated_files import mark, write_h5ad, write_h5mu

FILE, MEMORY = {"values_in": "file"}, {"values_in": "memory"}
N, M = 70, 30
WAYS = {
    "in one piece": {},
    "double": {"dtype": "<f8"},
    "in one piece, other byte order": {"dtype": ">f4"},
    "chunks": {"chunks": (13, 7)},
    "gzip": {"chunks": (13, 7), "compression": "gzip"},
    "everything": {"chunks": (16, 30), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "checked first": {"chunks": (70, 4), "compression": "gzip", "dtype": "<f8", "fletcher32": True},
    "lzf": {"chunks": (1, 9), "compression": "lzf", "dtype": ">f8"},
    "one chunk": {"chunks": (70, 30), "compression": "gzip"},
}


def values_of(n=N, m=M, seed=1):
    return np.random.default_rng(seed).standard_normal((n, m)).astype(np.float32)


def tables(n=N, m=M):
    obs = {"names": [f"s{i}" for i in range(n)], "site": ["a" if i % 3 else "b" for i in range(n)]}
    return obs, {"names": [f"g{i}" for i in range(m)]}


def write(path, values, place="X", dtype="<f4", **how):
    """A file with the values stored in a certain way."""
    write_h5ad(path, np.zeros(values.shape, "f4"), *tables(*values.shape))
    with h5py.File(path, "r+") as file:
        if place in file:
            del file[place]
        mark(file.create_dataset(place, data=values, dtype=dtype, **how), "array")
    return path


@pytest.fixture(params=WAYS)
def stored(request, tmp_path):
    return write(tmp_path / "big.h5ad", values_of(), **WAYS[request.param]), values_of().astype(float)


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(in_file, "PIECE", 2000)
    monkeypatch.setattr(in_chunks, "LEAST", 100)


@pytest.mark.parametrize("kept", [1 << 20, 500])
@pytest.mark.parametrize("turned", [False, True])
def test_the_same_as_in_memory(stored, small_pieces, monkeypatch, turned, kept):
    monkeypatch.setattr(in_chunks, "KEPT", kept)  # 500 bytes: less than a band
    path, values = stored
    options = {"transpose": True} if turned else {}
    here, there = read_dataset(path, FILE | options), read_dataset(path, MEMORY | options)
    values = values.T if turned else values
    assert (here.stays, here.at_hand, there.stays) == (True, False, False)
    assert here.digest() == there.digest()
    assert here.source.sha256 == there.source.sha256
    assert (here.row_names, here.column_names, here.samples_in) == (
        there.row_names,
        there.column_names,
        there.samples_in,
    )
    assert (here.n_missing, here.kind, here.shape) == (0, "real", values.shape)
    assert np.array_equal(here.values, values)
    cells = here.in_file
    for lo, hi in [(3, 9), (0, 29), (12, 27), (29, 30), (25, 99), (5, 5)]:
        assert np.array_equal(cells.rows(lo, hi), values[lo:hi])
    assert cells.rows(0, 2).dtype == there_type(path)
    assert np.array_equal(cells[2:20:3], values[2:20:3])
    assert np.array_equal(cells[:, [29, 1, -1, 1]], values[:, [29, 1, -1, 1]])
    assert np.array_equal(cells.columns(np.empty(0, int)), values[:, :0])
    assert np.array_equal(cells.every(7), values[::7])
    assert np.array_equal(cells.corner(5, 99), values[:5])
    assert np.array_equal(cells.T.rows(2, 5), values.T[2:5])
    assert np.array_equal(pickle.loads(pickle.dumps(cells))[0:2], values[:2])


def there_type(path):
    with h5py.File(path) as file:
        return np.dtype(f"f{file['X'].dtype.itemsize}")


def test_what_lies_in_one_piece_is_read_without_the_library(tmp_path):
    kinds = {name: type(read_dataset(write(tmp_path / "x.h5ad", values_of(), **how), FILE).in_file) for name, how in WAYS.items()}  # fmt: skip
    assert {name for name, kind in kinds.items() if kind is in_file.InFile} == {"in one piece", "double"}


def test_every_modality_and_layer_can_stay(tmp_path):
    x, y = values_of(), values_of(seed=2).astype(float)
    mods = {"rna": (x, *tables()), "protein": (y, *tables())}
    path = write_h5mu(tmp_path / "m.h5mu", mods, tables()[0])
    found = read_datasets(path, FILE)
    assert [one.stays for one in found] == [True, True]
    assert np.array_equal(found[0].values, x)
    assert np.array_equal(found[1].values, y)
    assert found[0].row_table["site"].tolist() == tables()[0]["site"]
    layered = write(tmp_path / "l.h5ad", x, place="layers/logs", chunks=(9, 9), compression="gzip")
    assert np.array_equal(read_dataset(layered, FILE | {"layer": "logs"}).in_file.rows(0, 70), x)


def test_each_chunk_is_unpacked_once_in_a_pass(tmp_path, monkeypatch):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 30), compression="gzip")
    monkeypatch.setattr(in_chunks, "LEAST", 1)
    cells, blocks = read_dataset(path, FILE).in_file, []
    block = InChunks._block
    monkeypatch.setattr(InChunks, "_block", lambda self, *at: blocks.append(at) or block(self, *at))
    for lo in range(0, N, 6):  # never with the chunks
        cells.rows(lo, lo + 6)
    assert len(blocks) == 4
    assert cells.times_read == 1
    assert cells.row_cost == 20 * 30 * 4


def test_of_some_columns_only_their_chunks_are_unpacked(tmp_path, monkeypatch):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 10), compression="gzip")
    cells, read = read_dataset(path, FILE).in_file, []
    block = InChunks._block
    monkeypatch.setattr(InChunks, "_block", lambda self, *at: read.append(at[1]) or block(self, *at))
    assert np.array_equal(cells.columns(np.array([11, 29, 12])), values_of()[:, [11, 29, 12]])
    assert read == [slice(10, 20), slice(20, 30)]


def test_chunks_that_are_too_high_are_told_with_what_they_cost(tmp_path, monkeypatch):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(70, 2), compression="gzip")
    monkeypatch.setattr(in_chunks, "KEPT", 2000)
    monkeypatch.setattr(in_file, "PIECE", 2000)
    (told,) = [one for one in AnnotatedReader().preview(path, FILE).issues if one.severity == "warning"]
    assert told.message == "Each pass unpacks this file about 5 times"
    assert "Its chunks are 70 rows high" in told.detail
    assert "plaidwork export x.h5ad --to x.npy" in told.detail


def test_large_files_stay_unless_somebody_says_otherwise(stored, monkeypatch):
    path, values = stored
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 8 * values.size - 1)
    assert read_dataset(path).stays
    assert read_dataset(path).source.options["values_in"] == "file"
    assert not read_dataset(path, MEMORY).stays
    monkeypatch.setattr(in_file, "free_memory", lambda: 3 * 8 * values.size)
    assert not read_dataset(path).stays


def test_a_preview_reads_the_first_rows(stored, monkeypatch):
    path, values = stored
    monkeypatch.setattr(in_file.InFile, "facts", lambda self: pytest.fail("all of it was looked at"))
    found = AnnotatedReader().preview(path, FILE)
    assert (found.n_rows, found.n_columns) == (N, M)
    assert found.options["values_in"] == "file"
    assert found.cells[0][0] == "s0"
    assert found.cells[0][1] == f"{values[0, 0]:.7g}"
    assert any("stay in their file" in issue.message for issue in found.issues)


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


@pytest.mark.parametrize("turned", [{}, {"transpose": True}])
def test_a_session_names_the_file(stored, tmp_path, turned):
    path, values = stored
    values = values if turned else values.T
    session = Session(name="s")
    session.datasets["big"] = apply_step(read_dataset(path, FILE | turned), {"name": "transpose"})
    session.save(tmp_path / "s.plaid")
    found = open_session(tmp_path / "s.plaid").datasets["big"]
    assert found.stays
    assert found.held.row_cost == session.datasets["big"].held.row_cost
    assert np.array_equal(found.held.every(7), values[::7])
    assert found.digest() == session.datasets["big"].digest()
    assert np.array_equal(found.in_file.rows(0, 4), values[:4])
    assert np.array_equal(found.values, values)
    other = bytearray(path.read_bytes())
    other[-1] ^= 1
    path.write_bytes(bytes(other))
    os.utime(path)
    changed = open_session(tmp_path / "s.plaid").datasets["big"]
    assert changed.held.every(7) is None
    with pytest.raises(SessionError):
        changed.in_file  # noqa: B018


def test_what_cannot_stay_is_told(tmp_path):
    with pytest.raises(DataError, match="“/X”, holds 70 × 30, int16; only matrices of float32 or float64"):
        read_dataset(write(tmp_path / "i.h5ad", values_of(), dtype="i2"), FILE)
    values = values_of()
    values[3, 4] = np.inf
    with pytest.raises(DataError, match="“/X”: expected finite numbers, found infinity"):
        read_dataset(write(tmp_path / "x.h5ad", values, chunks=(9, 9)), FILE)


# -- files that are damaged, or were made to do harm ---------------------------------------------


def test_a_file_that_was_changed_or_cut_off_is_told(stored):
    path, _ = stored
    dataset = read_dataset(path, FILE)
    dataset.in_file.rows(0, 1)
    again = pickle.loads(pickle.dumps(dataset.in_file))
    path.write_bytes(path.read_bytes()[:-500])
    for cells in (dataset.in_file, again):
        with pytest.raises(DataError, match="was changed while it was in use"):
            cells.rows(40, 41)
    with pytest.raises(DataError, match=r"is no HDF5 file, or is damaged: .*truncated"):
        read_dataset(path, FILE)


def test_another_file_in_its_place_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(in_chunks, "LEAST", 1)
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 30))
    cells = read_dataset(path, FILE).in_file
    cells.rows(0, 1)
    os.replace(write(tmp_path / "other.h5ad", values_of(seed=2), chunks=(20, 30)), path)
    with pytest.raises(DataError, match="was changed while it was in use"):
        cells.rows(60, 61)


def _chunk(path, stored, mask=0):
    """Put stored bytes in the place of a chunk, past the filters."""
    with h5py.File(path, "r+") as file:
        file["X"].id.write_direct_chunk((20, 0), stored, mask)
    return path


def test_a_chunk_that_unpacks_to_more_than_it_should_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 30), compression="gzip")
    _chunk(path, zlib.compress(bytes(20 * 30 * 4 + 1)))
    read = h5py.Dataset.read_direct
    monkeypatch.setattr(h5py.Dataset, "read_direct", lambda self, into, at: read(self, into, at) if at[0].stop <= 20 else pytest.fail("the library has read it"))  # fmt: skip
    monkeypatch.setattr(in_chunks, "LEAST", 1)
    with pytest.raises(DataError, match=r"“/X” has a chunk that unpacks to more than its 2.400 bytes"):
        read_dataset(path, FILE)


def test_chunks_that_are_damaged_are_told(tmp_path):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 30), compression="gzip")
    with pytest.raises(DataError, match="“/X” has a damaged chunk"):
        read_dataset(_chunk(path, b"no deflate"), FILE)
    with pytest.raises(DataError, match=r"has a chunk of 9.000 stored bytes for 2400"):
        read_dataset(_chunk(path, bytes(9000)), FILE)
    path = write(tmp_path / "f.h5ad", values_of(), chunks=(20, 30), fletcher32=True)
    with h5py.File(path) as file:
        at = file["X"].id.get_chunk_info(1).byte_offset
    raw = bytearray(path.read_bytes())
    raw[at + 5] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(DataError, match="filter returned failure during read"):
        read_dataset(path, FILE)


def test_large_chunks_that_lzf_has_packed_are_refused(tmp_path):
    values = np.zeros((3 << 20, 1), "f4")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=values, chunks=values.shape, compression="lzf")
    with h5py.File(path) as file, pytest.raises(DataError, match="chunks of more than 8 MiB packed with lzf"):
        in_chunks.matrix_at(path, file["X"]).rows(0, 1)


def test_a_small_file_that_claims_to_be_large_is_refused(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (10**8, 10**5), "f4", chunks=(1000, 1000))
        file.create_dataset("small chunks", (10**4, 2 * 10**3), "f4", chunks=(1, 1))
    with h5py.File(path) as file:
        with pytest.raises(DataError, match="would grow from 0 to 40000000000000 bytes"):
            in_chunks.matrix_at(path, file["X"])
        with pytest.raises(DataError, match="lies in more than 10000000 chunks"):
            in_chunks.matrix_at(path, file["small chunks"])


def test_what_takes_more_than_the_file_has_is_refused(tmp_path):
    path = write(tmp_path / "x.h5ad", values_of(), chunks=(20, 30))
    with h5py.File(path) as file:
        short = tmp_path / "short"
        short.write_bytes(b"x" * 100)
        with pytest.raises(DataError, match=r"is said to take 9.600 bytes of a file of 100"):
            in_chunks.check_staying(short, file["X"])


def test_chunks_that_were_never_written_are_what_the_file_says(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (40, 20), "f4", chunks=(10, 10), compression="gzip", fillvalue=7.0)[:10] = (
            1.0
        )
    with h5py.File(path) as file:
        cells = in_chunks.matrix_at(path, file["X"])
    assert np.array_equal(cells.rows(5, 15), np.repeat([1.0, 7.0], 5)[:, None] * np.ones(20))


def test_text_heaps_are_found_wherever_they_lie(tmp_path, monkeypatch):
    from plaidwork.core.hdf5 import gate

    path = write(tmp_path / "x.h5ad", values_of())
    whole = gate.check_heaps(path)
    monkeypatch.setattr(gate, "_WINDOW", gate.mmap.ALLOCATIONGRANULARITY)
    assert gate.check_heaps(path) == whole >= 2
    raw = bytearray(path.read_bytes())
    raw[raw.index(gate._HEAP) + 24 : raw.index(gate._HEAP) + 32] = b"\xff" * 8
    path.write_bytes(b"\0" * (gate.mmap.ALLOCATIONGRANULARITY - raw.index(gate._HEAP) - 3) + raw)
    with pytest.raises(SessionError, match="damaged entry"):  # its mark lies across two windows
        gate.check_heaps(path)
