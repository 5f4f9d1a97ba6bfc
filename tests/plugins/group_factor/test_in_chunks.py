"""A view that stays in packed chunks of an HDF5 file: the draws and bounds of the fit in memory, to the last bit, on every executor."""

import h5py
import numpy as np
import pytest

from plaidwork.core.data import in_chunks
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.group_factor import reading
from tests.annotated_files import mark, write_h5ad

N, D = 2300, 30
FOUND = ("scores", "loadings", "variance_explained", "total_explained")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(reading, "PIECE", 1)  # blocks of 1024 samples: three of them, the last one not full
    monkeypatch.setattr(in_chunks, "LEAST", 1)


def _values():
    rng = np.random.default_rng(4)
    z, w = rng.standard_normal((N, 3)), rng.standard_normal((3, D)) * (rng.random((3, D)) < 0.6)
    return (3 + z @ w + 0.7 * rng.standard_normal((N, D))).astype(np.float32)


def _written(path, chunks, turned):
    values = _values().T if turned else _values()
    rows, columns = ({"names": [f"{word}{i}" for i in range(size)]} for word, size in zip("rc", values.shape))
    write_h5ad(path, np.zeros(values.shape, "f4"), rows, columns)
    with h5py.File(path, "r+") as file:
        del file["X"]
        mark(file.create_dataset("X", data=values, chunks=chunks, compression="gzip", shuffle=True), "array")
    return path


def _fits(path, turned, executors=("threads",), **more):
    found = []
    for where, executor in [("memory", "threads"), *(("file", one) for one in executors)]:
        options = {"values_in": where, "samples_in": "columns" if turned else "rows"}
        view = read_dataset(path, options)
        assert view.stays == (where == "file")
        found.append(fit("group_factor", {"views": [view]}, {"n_factors": 5}, max_sweeps=27, executor=executor, **more))  # fmt: skip
    return found


def _same(there, here):
    assert here.data_hash == there.data_hash
    for mine, other in zip(here.chains, there.chains, strict=True):
        assert np.array_equal(mine.trace.rows(), other.trace.rows())
    for name in FOUND:
        assert np.array_equal(here.results[name].values, there.results[name].values), name
    assert len(here.results["factor"].values) >= 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("chunks", "turned", "kept"),
    [((700, 11), False, 1 << 28), ((11, 700), True, 1 << 28), ((2300, 4), False, 1000)],
)
def test_draws_and_bounds_are_those_in_memory(tmp_path, monkeypatch, chunks, turned, kept):
    monkeypatch.setattr(in_chunks, "KEPT", kept)
    there, here = _fits(_written(tmp_path / "big.h5ad", chunks, turned), turned, chains=1)
    _same(there, here)


@pytest.mark.slow
def test_other_processes_read_the_file_themselves(tmp_path):
    there, here = _fits(_written(tmp_path / "big.h5ad", (700, 11), False), False, ("processes",), chains=2)
    _same(there, here)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_workers_of_a_cluster_read_the_file_themselves(tmp_path):
    pytest.importorskip("distributed")
    path = _written(tmp_path / "big.h5ad", (700, 11), False)
    there, _ = _fits(path, False, chains=2)
    view = read_dataset(path, {"values_in": "file", "samples_in": "rows"})
    here = fit(
        "group_factor", {"views": [view]}, {"n_factors": 5}, max_sweeps=27, chains=2, cluster="local:2"
    )
    _same(there, here)
