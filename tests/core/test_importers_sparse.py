"""Sparse matrices as SciPy saves them: read as they are, whatever their form; what is wrong with them is told in words."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.errors import DataError
from plaidwork.core.pieces import boxes


def counts(density: float = 0.05, rows: int = 40, columns: int = 30) -> scipy.sparse.csr_matrix:
    found = scipy.sparse.random(rows, columns, density, "csr", random_state=np.random.default_rng(1))
    found.data = np.ceil(5 * found.data).astype(np.float32)
    return found


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_any_form_is_the_same_matrix(tmp_path, layout, dtype):
    path = tmp_path / "corpus.npz"
    scipy.sparse.save_npz(path, counts().astype(dtype).asformat(layout))
    data = read_dataset(path)
    assert (data.name, data.shape, data.kind, data.is_sparse) == ("corpus", (40, 30), "count", True)
    assert (data.row_names[0], data.column_names[-1]) == ("row 1", "column 30")
    assert (data.values.dtype, data.values.has_canonical_format) == (np.float64, True)
    np.testing.assert_array_equal(data.values.toarray(), counts().toarray())
    assert read_dataset(path, {"row_word": "document"}).row_names[1] == "document 2"


def test_a_full_matrix_is_dense_unless_it_is_to_stay_sparse(tmp_path):
    path = tmp_path / "full.npz"
    scipy.sparse.save_npz(path, counts(0.6))
    assert not read_dataset(path).is_sparse
    assert read_dataset(path, {"sparse": True}).is_sparse


def test_the_preview_of_a_large_file_does_not_read_its_entries(tmp_path, monkeypatch):
    path = tmp_path / "corpus.npz"
    scipy.sparse.save_npz(path, counts())
    shown = find_reader(path).preview(path, {})
    assert (shown.n_rows, shown.n_columns, len(shown.cells)) == (40, 30, 40)
    monkeypatch.setattr("plaidwork.core.data.importers.numpy_files.LARGE", 10)
    shown = find_reader(path).preview(path, {})
    assert (shown.n_rows, shown.n_columns, len(shown.cells)) == (40, 30, 0)


def damaged(path, **changed):
    """The parts of a sparse matrix, some of them other ones."""
    values = counts()
    parts = {"data": values.data, "indices": values.indices, "indptr": values.indptr}
    np.savez(path, **{"shape": np.array(values.shape), "format": np.array(b"csr"), **parts, **changed})


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"indices": np.full(60, 30, np.int32)}, "is damaged"),
        ({"indptr": np.zeros(41, np.int32)}, "is damaged"),
        ({"indptr": np.arange(5)}, "is damaged"),
        ({"shape": np.array([-1, 30])}, "announces"),
        ({"shape": np.array([10**12, 30])}, "50000000 of each"),
        ({"shape": np.array([40])}, "its “shape” holds 1, int64"),
        ({"format": np.array(b"dia")}, "the format “dia”"),
        ({"format": np.array(b"coo")}, "the format “coo”"),
        ({"data": np.full(60, np.nan)}, "not finite"),
        ({"data": np.full(60, "a")}, "its “data” holds 60, <U1"),
        ({"indices": np.zeros(60)}, "no whole numbers"),
        ({"data": np.full(60, 2**60)}, "at most 2^53"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, changed, told):
    path = tmp_path / "bad.npz"
    damaged(path, **changed)
    with pytest.raises(DataError, match=r"^bad\.npz") as error:
        read_dataset(path)
    assert told in error.value.message
    assert any(issue.severity == "error" for issue in find_reader(path).preview(path, {}).issues)


def test_the_digest_does_not_hang_on_the_type_of_the_indices(monkeypatch):
    def digest(dtype):
        values = counts().astype(float)
        values.indices, values.indptr = values.indices.astype(dtype), values.indptr.astype(dtype)
        return Dataset("X", values, tuple(map(str, range(40))), tuple(map(str, range(30)))).digest()

    assert digest(np.int32) == digest(np.int64)
    whole = digest(np.int32)
    monkeypatch.setattr("plaidwork.core.data.dataset.boxes", partial(boxes, most=56))  # piece by piece
    assert digest(np.int32) == whole
