"""NumPy and Matrix Market files: what is chosen, what is asked, and files that must not be trusted."""

import gzip
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_matrix, random_array
from told_issues import preview

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.errors import DataError

PLAID = Path(__file__).resolve().parents[2] / "resources" / "examples" / "plaid"


def test_npy(tmp_path):
    x = np.array([[1.5, np.nan, -2], [3, 4, 5]], dtype=">f4")
    np.save(tmp_path / "x.npy", x)
    data = read_dataset(tmp_path / "x.npy")
    np.testing.assert_array_equal(data.values, x.astype(float))
    assert (data.name, data.kind, data.n_missing) == ("x", "real", 1)
    assert data.row_names == ("row 1", "row 2")
    shown = preview(tmp_path / "x.npy")
    assert shown.cells[0] == ("row 1", "1.5", "", "-2")
    assert (shown.n_rows, shown.n_columns, shown.unclear) == (2, 3, {})


def test_vector_and_images(tmp_path):
    np.save(tmp_path / "y.npy", np.array([True, False, True]))
    data = read_dataset(tmp_path / "y.npy")
    assert (data.shape, data.kind) == ((3,), "binary")
    np.save(tmp_path / "z.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    images = read_dataset(tmp_path / "z.npy")
    assert images.shape == (2, 12)
    assert "2 images of 3 × 4" in images.notes
    assert preview(tmp_path / "z.npy").issues[0].message == "Images were laid out as rows"
    assert len(preview(tmp_path / "y.npy").cells) == 3


def test_npz_with_an_obvious_array():
    path = PLAID / "synth2.npz"
    data = read_dataset(path)
    assert (data.name, data.shape, data.kind) == ("synth2", (100, 200), "real")
    shown = preview(path)
    assert shown.options["array"] == "X"
    assert "array" in shown.detected
    assert [value for value, _ in shown.choices["array"]] == ["X", "Z1", "Z2", "theta"]
    truth = read_dataset(path, {"array": "Z1", "row_word": "column"})
    assert (truth.name, truth.kind, truth.shape, truth.row_names[0]) == ("Z1", "binary", (100, 3), "column 1")


def test_npz_that_needs_a_choice(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, train=np.zeros((3, 2)), test=np.ones((4, 2)))
    shown = preview(path)
    assert "train (3 × 2, float64)" in shown.unclear["array"]
    assert len(shown.choices["array"]) == 2
    with pytest.raises(DataError, match="Choose one with the option “array”"):
        read_dataset(path)
    assert read_dataset(path, {"array": "test"}).shape == (4, 2)
    with pytest.raises(DataError, match=r"has no array “tset”\. It has: train, test"):
        read_dataset(path, {"array": "tset"})


def test_names_beside_the_array(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(
        path,
        X=np.zeros((2, 3)) + np.arange(3) / 2,
        row_names=["a", "b"],
        column_names=np.array(["u", "v", "w"]),
    )
    data = read_dataset(path)
    assert (data.row_names, data.column_names) == (("a", "b"), ("u", "v", "w"))
    np.savez(path, X=np.zeros((2, 3)), row_names=["a", "a"], column_names=["too", "few"])
    with pytest.raises(DataError, match="row name “a” occurs more than once"):
        read_dataset(path)
    data = read_dataset(path, {"rename_duplicates": True})
    assert data.row_names == ("a", "a (2)")
    assert data.column_names[0] == "column 1"


def test_texts_become_labels(tmp_path):
    np.savez(tmp_path / "y.npz", X=np.zeros((3, 2)), y=np.array(["b", "a", ""]))
    data = read_dataset(tmp_path / "y.npz", {"array": "y"})
    assert (data.kind, data.categories, data.values.tolist()) == ("categorical", ("a", "b"), [1, 0, -1])
    assert preview(tmp_path / "y.npz", array="y").cells[0] == ("row 1", "b")


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('loaded')",)


def test_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([Evil(), 1], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", X=np.array([Evil()], dtype=object))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(DataError, match="Python objects, which can run programs"):
            read_dataset(tmp_path / name)
        assert preview(tmp_path / name).issues[0].severity == "error"
    with pytest.raises(DataError, match="Python objects"):
        read_dataset(tmp_path / "x.npz", {"array": "X"})


def announce(shape, dtype="<f8"):
    """An npy header that promises more than follows."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (64 - (len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * 64


@pytest.mark.parametrize(
    ("shape", "message"),
    [("(200000, 200000)", "announces 40\u202f000\u202f000\u202f000 cells"), ("(1000, 1000)", "but holds")],
)
def test_headers_that_announce_too_much(tmp_path, shape, message):
    (tmp_path / "x.npy").write_bytes(announce(shape))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", announce(shape))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(DataError, match=message):
            read_dataset(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x93NUMPY\x01\x00\x10\x00" + b"{" * 16])
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_damaged_arrays(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="is no NumPy file, or is damaged"):
        read_dataset(tmp_path / name)
    assert preview(tmp_path / name).issues


def test_npz_cut_in_its_data(tmp_path):
    held = io.BytesIO()
    np.savez_compressed(held, X=np.random.default_rng(0).normal(size=(50, 50)))
    content = bytearray(held.getvalue())
    content[3000:3010] = b"\xff" * 10
    (tmp_path / "x.npz").write_bytes(bytes(content))
    with pytest.raises(DataError, match="damaged"):
        read_dataset(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1.5, np.inf]]), "row 1, column 2: expected a finite number, found infinity"),
        (np.array([[1j]]), "expected numbers with 1 to 3 axes"),
        (np.zeros((2, 2, 2, 2)), "expected numbers with 1 to 3 axes"),
        (np.array(3.5), "expected numbers with 1 to 3 axes"),
        (np.array([[2**53 + 1]]), "row 1, column 1: expected at most 2\\^53, found 9007199254740993"),
    ],
)
def test_arrays_that_are_refused(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(DataError, match=message):
        read_dataset(tmp_path / "x.npy")


def test_infinite_as_missing(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.5, np.inf]]))
    found = preview(tmp_path / "x.npy").issues[0]
    assert found.message == "1 value is infinite"
    assert read_dataset(tmp_path / "x.npy", {found.fix[1]: found.fix[2]}).n_missing == 1


# --- Matrix Market ------------------------------------------------------------------------------------------


def test_sparse_stays_sparse(tmp_path):
    x = random_array((40, 30), density=0.1, rng=np.random.default_rng(1), format="coo")
    mmwrite(tmp_path / "x.mtx", x, precision=17)
    data = read_dataset(tmp_path / "x.mtx")
    assert data.is_sparse
    np.testing.assert_array_equal(data.values.toarray(), x.toarray())
    packed = tmp_path / "y.mtx.gz"
    packed.write_bytes(gzip.compress((tmp_path / "x.mtx").read_bytes()))
    assert read_dataset(packed).digest() == data.digest()
    turned = read_dataset(tmp_path / "x.mtx", {"transpose": True})
    assert turned.is_sparse
    assert turned.shape == (30, 40)
    assert preview(tmp_path / "x.mtx").n_rows == 40


def test_full_matrices_become_dense(tmp_path):
    x = np.arange(12.0).reshape(3, 4) / 4
    mmwrite(tmp_path / "x.mtx", coo_matrix(x), precision=17)
    data = read_dataset(tmp_path / "x.mtx")
    assert not data.is_sparse
    np.testing.assert_array_equal(data.values, x)
    mmwrite(tmp_path / "y.mtx", x, precision=17)
    np.testing.assert_array_equal(read_dataset(tmp_path / "y.mtx").values, x)
    assert preview(tmp_path / "y.mtx").cells[1][1:] == ("1", "1.25", "1.5", "1.75")


def test_counts_and_names_beside(tmp_path):
    x = coo_matrix(np.array([[0, 2, 0, 0, 0], [0, 0, 0, 0, 1]]))
    mmwrite(tmp_path / "matrix.mtx", x)
    (tmp_path / "features.tsv").write_text("ENSG1\tTP53\nENSG2\tMYC\n")
    (tmp_path / "barcodes.tsv.gz").write_bytes(gzip.compress(b"c1\nc2\nc3\nc4\nc5\n"))
    data = read_dataset(tmp_path / "matrix.mtx")
    assert (data.kind, data.row_names, data.column_names[-1]) == ("count", ("ENSG1", "ENSG2"), "c5")
    assert list(data.row_table["symbol"]) == ["TP53", "MYC"]
    assert data.described == "2 genes × 5 cells"
    (tmp_path / "matrix_rownames.txt").write_text("only one\n")
    found = preview(tmp_path / "matrix.mtx").issues
    assert any("does not fit" in entry.message for entry in found)
    assert read_dataset(tmp_path / "matrix.mtx").row_names == ("ENSG1", "ENSG2")


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "row 1: expected “%%MatrixMarket"),
        ("1 2 3\n", "row 1: expected “%%MatrixMarket"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "cannot be read"),
        (HEAD + "% note\nthree 2 1\n", "expected the size of the matrix"),
        (
            HEAD + "999999999 999999999 1\n1 1 1\n",
            "announces 999\u202f999\u202f999 rows × 999\u202f999\u202f999 columns",
        ),
        (HEAD + "5 5 1000000\n1 1 1\n", "more than its"),
        ("%%MatrixMarket matrix array real general\n60000 60000\n1\n", "more than its"),
        (HEAD + "3 3 2\n1 1 1.5\n", "is damaged"),
        (HEAD + "3 3 1\n9 1 1.5\n", "is damaged"),
        (HEAD + "3 3 1\n1 1 nan\n", "not finite"),
    ],
)
def test_matrix_market_that_is_refused(tmp_path, text, message):
    (tmp_path / "x.mtx").write_text(text)
    with pytest.raises(DataError, match=message):
        read_dataset(tmp_path / "x.mtx")
    assert preview(tmp_path / "x.mtx").issues[0].severity == "error"
