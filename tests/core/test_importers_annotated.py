"""AnnData and MuData files: every encoding of the matrices and columns, layers, modalities, and bad files."""

import h5py
import numpy as np
import pytest
from annotated_files import put_column, write_h5ad, write_h5mu
from scipy import sparse
from told_issues import preview

from plaidwork.core.data.importers import read_dataset, read_datasets
from plaidwork.core.errors import DataError

ROWS = {
    "names": ["c1", "c2", "c3"],
    "batch": ("categorical", np.array([1, -1, 0], np.int8), ["a", "b"]),
    "depth": ("nullable-integer", np.array([5, 6, 7]), np.array([False, True, False])),
    "dead": ("nullable-boolean", np.array([True, False, True]), np.array([False, False, True])),
    "word": ("nullable-string-array", np.array(["x", "y", "z"]), np.array([False, True, False])),
    "good": np.array([True, False, True]),
    "note": ["ä", "", "n"],
    "share": np.array([0.5, np.nan, 2.0]),
}
COLUMNS = {"names": ["g1", "g2", "g3", "g4"], "pathway": ["p", "q", "p", "q"]}
X = np.array([[0.0, 1.5, 0, 2], [np.nan, 0, 0, 4], [3, 0, 0, 0]])


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix], ids=["dense", "csr", "csc"]
)
def test_matrix_in_every_layout(tmp_path, make):
    data = read_dataset(write_h5ad(tmp_path / "a.h5ad", make(X), ROWS, COLUMNS))
    np.testing.assert_array_equal(data.values, X)
    assert data.row_names == ("c1", "c2", "c3")
    assert data.column_names == ("g1", "g2", "g3", "g4")
    assert (data.row_label, data.column_label, data.name) == ("samples", "features", "a")
    assert data.source.options["layer"] == "X"
    assert data.source.sha256


def test_annotations_of_every_kind(tmp_path):
    data = read_dataset(write_h5ad(tmp_path / "a.h5ad", X, ROWS, COLUMNS))
    table = {title: list(column) for title, column in data.row_table.items()}
    np.testing.assert_array_equal(table.pop("depth"), [5, np.nan, 7])
    np.testing.assert_array_equal(table.pop("share"), [0.5, np.nan, 2.0])
    assert table == {
        "batch": ["b", "", "a"],
        "dead": ["yes", "no", ""],
        "word": ["x", "", "z"],
        "good": ["yes", "no", "yes"],
        "note": ["ä", "", "n"],
    }
    assert list(data.column_table["pathway"]) == ["p", "q", "p", "q"]


def test_older_categories(tmp_path):
    path = write_h5ad(
        tmp_path / "old.h5ad", X, {"names": ["a", "b", "c"], "batch": np.array([1, 0, -1])}, COLUMNS
    )
    with h5py.File(path, "a") as file:
        put_column(file["obs"].create_group("__categories"), "batch", ["k", "l"])
        file["obs/batch"].attrs["categories"] = file["obs/__categories/batch"].ref
    assert list(read_dataset(path).row_table["batch"]) == ["l", "k", ""]


def test_layers_and_raw(tmp_path):
    path = write_h5ad(
        tmp_path / "a.h5ad", X, ROWS, COLUMNS, counts=sparse.csr_matrix(np.arange(12.0).reshape(3, 4))
    )
    with h5py.File(path, "a") as file:
        raw = file.create_group("raw")
        raw.create_dataset("X", data=np.ones((3, 2)))
        from annotated_files import put_frame

        put_frame(raw, "var", ["r1", "r2"])
    seen = preview(path)
    assert [key for key, _ in seen.choices["layer"]] == ["X", "layers/counts", "raw/X"]
    assert seen.options["layer"] == "X"
    assert "layer" in seen.detected
    for name in ("counts", "layers/counts"):
        data = read_dataset(path, {"layer": name})
        assert data.kind == "count"
        assert data.values[2, 3] == 11
    assert read_dataset(path, {"layer": "raw/X"}).column_names == ("r1", "r2")
    with pytest.raises(DataError, match="no layer “log”"):
        read_dataset(path, {"layer": "log"})


def test_without_main_matrix(tmp_path):
    data = read_dataset(write_h5ad(tmp_path / "a.h5ad", None, ROWS, COLUMNS, scaled=X))
    assert data.source.options["layer"] == "layers/scaled"
    with pytest.raises(DataError, match="neither X nor a layer"):
        read_dataset(write_h5ad(tmp_path / "b.h5ad", None, ROWS, COLUMNS))


def test_large_sparse_stays_sparse(tmp_path, monkeypatch):
    monkeypatch.setattr("plaidwork.core.data.importers.annotated.DENSE_BELOW", 10)
    data = read_dataset(write_h5ad(tmp_path / "a.h5ad", sparse.csc_matrix(np.nan_to_num(X)), ROWS, COLUMNS))
    assert data.is_sparse
    assert data.values.format == "csr"
    np.testing.assert_array_equal(data.values.toarray(), np.nan_to_num(X))


def h5mu(tmp_path):
    rna = (X, ROWS, COLUMNS)
    other = (np.eye(2), {"names": ["c3", "c9"], "lane": ["l", "m"]}, {"names": ["p1", "p2"]})
    shared = {"names": ["c1", "c2", "c3", "c9"], "donor": ["d1", "d2", "d3", "d9"], "batch": ["z"] * 4}
    return write_h5mu(tmp_path / "m.h5mu", {"rna": rna, "protein": other}, shared)


def test_modalities_become_views(tmp_path):
    path = h5mu(tmp_path)
    rna, protein = read_datasets(path)
    assert (rna.name, protein.name) == ("rna", "protein")
    assert list(rna.row_table["donor"]) == ["d1", "d2", "d3"]
    assert list(rna.row_table["batch"]) == ["b", "", "a"]  # its own, not the shared one
    assert list(protein.row_table["donor"]) == ["d3", "d9"]
    again = read_dataset(path, protein.source.options)
    np.testing.assert_array_equal(again.values, protein.values)
    assert [item.name for item in read_datasets(path, {"modality": "rna"})] == ["rna"]


def test_one_of_several_modalities_has_to_be_chosen(tmp_path):
    path = h5mu(tmp_path)
    with pytest.raises(DataError, match="holds 2 modalities: rna, protein") as error:
        read_dataset(path)
    assert "“modality”" in error.value.hint
    seen = preview(path, modality="protein")
    assert seen.header == ("", "p1", "p2")
    assert [key for key, _ in seen.choices["modality"]] == ["rna", "protein"]
    assert preview(path).options["modality"] == "rna"
    with pytest.raises(DataError, match="no modality “atac”"):
        read_dataset(path, {"modality": "atac"})


def test_preview_shows_the_head(tmp_path):
    seen = preview(write_h5ad(tmp_path / "a.h5ad", sparse.csr_matrix(X), ROWS, COLUMNS))
    assert seen.cells[1] == ("c2", "", "0", "0", "4")
    assert (seen.n_rows, seen.n_columns) == (3, 4)
    assert any("same value everywhere" in issue.message for issue in seen.issues)


def test_repeated_names(tmp_path):
    path = write_h5ad(tmp_path / "a.h5ad", X, ROWS, {"names": ["g", "g", "h", "i"]})
    assert any("column name occurs more than once" in issue.message for issue in preview(path).issues)
    with pytest.raises(DataError, match=r"a\.h5ad: the column name “g” occurs more than once"):
        read_dataset(path)
    assert read_dataset(path, {"rename_duplicates": True}).column_names == ("g", "g (2)", "h", "i")


def test_infinite_values(tmp_path):
    bad = X.copy()
    bad[2, 1] = np.inf
    for make in (np.asarray, sparse.csr_matrix):
        path = write_h5ad(tmp_path / "a.h5ad", make(bad), ROWS, COLUMNS)
        with pytest.raises(DataError, match="infinity at sample “c3”, feature “g2”"):
            read_dataset(path)
        assert np.isnan(read_dataset(path, {"infinite": "missing"}).values[2, 1])


def broken(tmp_path, change):
    path = write_h5ad(tmp_path / "a.h5ad", sparse.csr_matrix(X), ROWS, COLUMNS)
    with h5py.File(path, "a") as file:
        change(file)
    return path


def replaced(name, **array):
    def change(file):
        del file[name]
        file.create_dataset(name, **array)

    return change


def linked(link):
    def change(file):
        del file["X"]
        file["X"] = link

    return change


def filled(file):
    del file["X"]
    file.create_dataset("X", (3, 4_000_000_000), "f8", chunks=(3, 1000), compression="gzip")


def external(file):
    del file["X"]
    file.create_dataset("X", (3, 4), "f8", external=[("elsewhere.bin", 0, h5py.h5f.UNLIMITED)])


def objects(file):
    del file["X"]
    file.create_dataset("X", (3, 4), h5py.ref_dtype)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (linked(h5py.ExternalLink("other.h5", "/X")), "link to another place"),
        (linked(h5py.SoftLink("/obs")), "link to another place"),
        (external, "stored in another file"),
        (filled, "would grow"),
        (objects, "type that is not allowed"),
        (lambda file: file["X"].attrs.__setitem__("shape", [3, 10**15]), "announces the shape"),
        (lambda file: file["X"].attrs.__setitem__("shape", [9, 4]), "expected 9 names"),
        (replaced("X/indices", data=np.array([1, 3, 0, 3, 99])), "an index outside 0 to 3"),
        (replaced("X/indptr", data=np.array([0, 9, 4, 5])), "pointers do not go"),
        (
            replaced("obs/_index", data=["a", "b"], dtype=h5py.string_dtype()),
            r"expected 3 names, found \(2,\)",
        ),
        (replaced("obs/batch/codes", data=np.array([0, 1, 7])), "codes up to 7"),
        (lambda file: file.__delitem__("var"), "expected obs, var and X"),
        (lambda file: file.__delitem__("obs/_index"), "“/obs/_index”: expected, not found"),
        (lambda file: file["X"].attrs.__setitem__("encoding-type", "dict"), "which is no matrix"),
    ],
)
def test_bad_files_are_told_by_object(tmp_path, change, message):
    path = broken(tmp_path, change)
    with pytest.raises(DataError, match=message) as error:
        read_dataset(path)
    assert "a.h5ad" in error.value.message
    assert [issue.severity for issue in preview(path).issues][:1] == ["error"]


def test_files_that_are_no_hdf5(tmp_path):
    path = tmp_path / "a.h5ad"
    path.write_bytes(b"PK\3\4 not at all")
    with pytest.raises(DataError, match="is no HDF5 file"):
        read_dataset(path)
    whole = write_h5ad(tmp_path / "b.h5ad", X, ROWS, COLUMNS).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"a\.h5ad"):
        read_dataset(path)


def test_real_anndata_is_read(tmp_path):
    anndata = pytest.importorskip("anndata")
    import pandas

    obs = pandas.DataFrame(
        {
            "batch": pandas.Categorical(["a", None, "b"]),
            "n": pandas.array([1, None, 3], dtype="Int64"),
            "t": ["x", "y", "z"],
        },
        index=["c1", "c2", "c3"],
    )
    made = anndata.AnnData(sparse.csr_matrix(X), obs=obs, layers={"twice": 2 * X})
    made.uns["anything"] = {"deep": np.arange(3)}
    made.write_h5ad(tmp_path / "real.h5ad")
    data = read_dataset(tmp_path / "real.h5ad")
    np.testing.assert_array_equal(data.values, X)
    assert list(data.row_table["batch"]) == ["a", "", "b"]
    np.testing.assert_array_equal(data.row_table["n"], [1, np.nan, 3])
    np.testing.assert_array_equal(read_dataset(tmp_path / "real.h5ad", {"layer": "twice"}).values, 2 * X)
