"""Chunks that we pack ourselves are read by HDF5 as if it had packed them."""

import h5py
import numpy as np
import pytest

from plaidwork.core.hdf5 import h5, packing
from plaidwork.core.hdf5.h5 import Writer, open_new

CASES = [
    ("<f8", (700, 900), 0),
    ("<f8", (3, 400_000), 0),
    ("<i8", (999_983,), 0),
    ("<i4", (5, 200, 333), 1),
    ("u1", (12_345, 97), 0),
    ("<i2", (2, 40, 300, 70), 2),
]


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize(("kind", "shape", "lead"), CASES)
def test_read_as_written(tmp_path, monkeypatch, kind, shape, lead, parts):
    monkeypatch.setattr(h5.schema, "MAX_CHUNK", 100_000)
    rng = np.random.default_rng(1)
    values = (rng.integers(0, 7, shape) * (1 if np.dtype(kind).kind != "f" else 0.25)).astype(kind)
    pieces = np.array_split(values, parts)
    with open_new(tmp_path / "a.h5") as file:
        writer = Writer(file)
        made = writer.stream(file, "x", shape, kind, pieces, compress=True, lead=lead)
        assert packing.packs(made)
        monkeypatch.setattr(h5, "packs", lambda dataset: False)
        writer.stream(file, "y", shape, kind, pieces, compress=True, lead=lead)
        writer.finish()
        assert writer.sums["/x"] == writer.sums["/y"]
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.array_equal(file["x"][()], values)
        assert file["x"].id.get_storage_size() == file["y"].id.get_storage_size()
        chunks = range(file["x"].id.get_num_chunks())
        for number in chunks:
            place = file["x"].id.get_chunk_info(number).chunk_offset
            assert file["x"].id.read_direct_chunk(place) == file["y"].id.read_direct_chunk(place)


def test_parts_end_where_chunks_do():
    parts = [np.arange(start, end)[:, None] for start, end in ((0, 3), (3, 4), (4, 4), (4, 21), (21, 22))]
    found = list(packing.aligned(parts, 5))
    assert [len(part) for part in found] == [20, 2]
    assert np.array_equal(np.concatenate(found), np.arange(22)[:, None])


def test_small_ones_are_left_to_hdf5(tmp_path):
    with open_new(tmp_path / "a.h5") as file:
        writer = Writer(file)
        assert not packing.packs(writer.stream(file, "x", (100,), "<i8", [np.arange(100)], compress=True))
        assert not packing.packs(writer.array(file, "y", np.zeros(10**6), fletcher=True))
        assert not packing.packs(writer.array(file, "z", np.random.default_rng(1).normal(size=10**6)))
