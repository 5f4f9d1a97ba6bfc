"""Any matrix that can be imported as npy: the numbers and names of the import, a few rows at a time where the format allows it."""

import gzip

import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

from plaidwork.core.cli import main
from plaidwork.core.data import converting, in_file
from plaidwork.core.data.converting import write_npy
from plaidwork.core.data.importers import _table, parquet
from plaidwork.core.data.importers.annotated import AnnotatedReader
from plaidwork.core.data.importers.delimited import DelimitedReader
from plaidwork.core.data.importers.numpy_files import NumpyReader
from plaidwork.core.data.importers.parquet import ParquetReader
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.errors import DataError
from tests.annotated_files import mark, write_h5ad

N, M = 61, 5


def values_of():
    return np.random.default_rng(1).normal(size=(N, M)).astype(np.float32)


def _csv(path, values=None):
    values = values_of() if values is None else values
    lines = ["sample,site," + ",".join(f"g{j}" for j in range(M))]
    lines += [f"s{i},{'ab'[i % 2]}," + ",".join(str(float(x)) for x in row) for i, row in enumerate(values)]
    content = "\n".join(lines).encode() + b"\n"
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def _parquet(path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    columns = {"sample": [f"s{i}" for i in range(N)], "site": ["ab"[i % 2] for i in range(N)]}
    columns |= {f"g{j}": column for j, column in enumerate(values_of().T.astype(float))}
    write_table(pa.table(columns), path, row_group_size=20)
    return path


def _h5ad(path, values=None, **how):
    values = values_of() if values is None else values
    rows = {"names": [f"s{i}" for i in range(N)], "site": ["ab"[i % 2] for i in range(N)]}
    write_h5ad(path, values, rows, {"names": [f"g{j}" for j in range(M)]})
    if how:
        with h5py.File(path, "r+") as file:
            del file["X"]
            mark(file.create_dataset("X", data=values, **how), "array")
    return path


def _mtx(path):
    mmwrite(path, sparse.random(N, M, 0.6, random_state=1))
    return path


def _npy(path):
    np.save(path, values_of())
    return path


MADE = {
    "x.csv": (_csv, True),
    "x.csv.gz": (_csv, True),
    "x.tsv": (lambda path: _csv(path) and path.write_bytes(path.read_bytes().replace(b",", b"\t")) and path, True),
    "x.parquet": (_parquet, True),
    "x.h5ad": (lambda path: _h5ad(path, chunks=(13, 2), compression="gzip"), True),
    "counts.h5ad": (lambda path: _h5ad(path, np.arange(N * M, dtype="i2").reshape(N, M)), True),
    "sparse.h5ad": (lambda path: _h5ad(path, sparse.csr_matrix(values_of() > 0, dtype=float)), False),
    "x.mtx": (_mtx, False),
    "x.npy": (_npy, False),
}  # fmt: skip


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(in_file, "PIECE", 200)
    monkeypatch.setattr(converting, "PIECE", 200)
    monkeypatch.setattr(_table, "_CHUNK", 1)
    monkeypatch.setattr(parquet, "_AT_ONCE", 50)


@pytest.mark.parametrize("name", MADE)
def test_what_is_written_is_what_is_imported(tmp_path, small_pieces, monkeypatch, name):
    make, in_pieces = MADE[name]
    path = make(tmp_path / name)
    puts = []
    put = converting._Rows.put
    monkeypatch.setattr(
        converting._Rows, "put", lambda self, rows: puts.append(rows.shape) or put(self, rows)
    )
    there = read_dataset(path, {"values_in": "memory"} if "h5" in name else {})
    found = write_npy(path, tmp_path / "out.npy", {})
    here = read_dataset(tmp_path / "out.npy", {"values_in": "file"})
    values = there.values.toarray() if there.is_sparse else there.values
    assert np.array_equal(here.values, values)
    assert (here.row_names, here.column_names) == (there.row_names, there.column_names)
    assert found.shape == values.shape
    assert found.in_pieces == in_pieces
    assert found.dtype == ("f4" if name in ("x.h5ad",) else "f8")
    assert len(puts) > 1 or "sv" in name  # 4096 cells of a text are read at a time
    (rows, columns) = found.tables
    assert {title: list(column) for title, column in rows.items()} == {
        title: list(column) for title, column in there.row_table.items()
    }
    assert not columns
    assert here.stays


def test_names_beside_are_used_only_where_they_fit(tmp_path):
    path = _npy(tmp_path / "x.npy")
    (tmp_path / "x_rownames.txt").write_text("".join(f"s{i}\n" for i in range(N)))
    (tmp_path / "x_colnames.txt").write_text("a\nb\n")
    for where in ("file", "memory"):
        found = read_dataset(path, {"values_in": where})
        assert found.row_names[:2] == ("s0", "s1")
        assert found.column_names[:2] == ("column 1", "column 2")
    told = [issue.message for issue in NumpyReader().preview(path, {}).issues]
    assert "Names of rows come from x_rownames.txt" in told
    assert "x_colnames.txt does not fit and is not used" in told


@pytest.mark.parametrize("reader", [DelimitedReader(), ParquetReader(), AnnotatedReader()])
def test_of_what_is_handed_on_nothing_is_kept(tmp_path, small_pieces, reader):
    make = {"delimited": _csv, "parquet": _parquet, "annotated": _h5ad}[reader.id]
    path, parts = make(tmp_path / f"x{reader.suffixes[-2]}"), []
    raw = reader.hand_on(path, {}, lambda rows: parts.append(rows.copy()))
    assert raw.values.shape == (N, 0)
    assert np.array_equal(np.concatenate(parts), values_of())
    assert len(raw.row_names) == N


def test_options_are_those_of_the_import(tmp_path):
    path = _csv(tmp_path / "x.csv")
    found = write_npy(path, tmp_path / "y.npy", {"transpose": True, "skip": ["site"]})
    assert not found.in_pieces
    assert found.shape == (M, N)
    assert found.names[0] == tuple(f"g{j}" for j in range(M))
    assert np.array_equal(np.load(tmp_path / "y.npy"), values_of().T)
    with pytest.raises(DataError, match="no reading option"):
        write_npy(path, tmp_path / "z.npy", {"delimter": ";"})


def test_a_fault_leaves_no_file(tmp_path, small_pieces):
    values = values_of().astype(float)
    values[50, 2] = 1e300
    path = _csv(tmp_path / "x.csv", values)
    with pytest.raises(DataError, match=r"x.csv, row 51, column 3: 1e\+300 is too large for float32"):
        write_npy(path, tmp_path / "y.npy", {}, "float32")
    path.write_text(path.read_text().replace("1e+300", "oops"))
    with pytest.raises(DataError, match="row 52"):
        write_npy(path, tmp_path / "y.npy", {})
    with pytest.raises(DataError, match=r"x.h5ad, row 51, column 3: 1e\+300 is too large for float32"):
        write_npy(_h5ad(tmp_path / "x.h5ad", values), tmp_path / "y.npy", {}, "float32")
    values[50, 2] = np.inf
    with pytest.raises(DataError, match="found infinity at sample “s50”, feature “g2”"):
        write_npy(_h5ad(tmp_path / "x.h5ad", values), tmp_path / "y.npy", {})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.csv", "x.h5ad"]
    made = write_npy(tmp_path / "x.h5ad", tmp_path / "y.npy", {"infinite": "missing"})
    assert not made.in_pieces
    assert np.isnan(np.load(tmp_path / "y.npy")[50, 2])


def test_faults_of_later_rows_of_parquet_are_told_with_their_row(tmp_path, small_pieces):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    column = np.zeros(N)
    column[55] = np.inf
    write_table(pa.table({"a": column, "b": column}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="row 56, column 1 “a”: expected a finite number"):
        write_npy(tmp_path / "x.parquet", tmp_path / "y.npy", {})
    whole = np.zeros(N, np.int64)
    whole[57] = 2**53 + 1
    write_table(pa.table({"a": whole, "b": whole}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="row 58, column 1 “a”"):
        write_npy(tmp_path / "x.parquet", tmp_path / "y.npy", {})


# -- the command -----------------------------------------------------------------------------------


def test_the_command_writes_names_and_annotations_beside(tmp_path, capsys):
    _csv(tmp_path / "x.csv")
    assert (
        main(["export", str(tmp_path / "x.csv"), "--to", str(tmp_path / "y.npy"), "--dtype", "float32"]) == 0
    )
    told = capsys.readouterr().out
    assert "61 rows × 5 columns of float32" in told
    assert (tmp_path / "y_rows.csv").read_text().splitlines()[:2] == ["name,site", "s0,a"]
    assert np.load(tmp_path / "y.npy").dtype == np.float32
    assert main(["export", str(tmp_path / "x.csv"), "--to", str(tmp_path / "y.npy")]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "y.npy").unlink()
    assert main(["export", str(tmp_path / "x.csv"), "--to", str(tmp_path / "y.npy")]) == 2
    assert "y_rownames.txt exists already" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x.csv"), "--to", str(tmp_path / "y.npy"), "--force"]) == 0


def test_the_command_says_what_was_in_memory_as_a_whole(tmp_path, capsys):
    path = _mtx(tmp_path / "x.mtx")
    assert main(["export", str(path), "--to", str(tmp_path / "y.npy")]) == 0
    assert "x.mtx was in memory as a whole" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["s.plaidwork", "--to", "y.npy"], "is a session"),
        (["none.csv", "--to", "y.npy"], "does not exist"),
        (["x.csv", "--to", "folder", "--dtype", "float32"], "go with --to FILE.npy"),
        (["x.csv", "--to", "y.npy", "--run", "a"], "go with a session"),
        (["x.npy", "--to", "x.npy", "--force"], "is the file that is read"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    _csv(tmp_path / "x.csv")
    _npy(tmp_path / "x.npy")
    assert main(["export", *words]) == 2
    assert told in capsys.readouterr().err
