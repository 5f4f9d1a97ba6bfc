"""Sound files of every format that can be opened, small ones, to be changed at random."""

from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from annotated_files import write_h5ad
from crafted import sound_file
from scipy import io, sparse
from toy import ToySampler, toy_data

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.session import Session
from plaidwork.core.study import Study

FIXTURES = Path(__file__).parents[1] / "fixtures" / "version_0_1"
_ROWS, _COLUMNS = 12, 5
Make = Callable[[Path], None]


def _numbers() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(_ROWS, _COLUMNS)).round(3)


def _table(mark: str) -> str:
    head = mark.join(["name", *(f"gene {j}" for j in range(_COLUMNS)), "class"])
    lines = [
        mark.join([f"s{i}", *map(str, row), "case" if i % 2 else "control"])
        for i, row in enumerate(_numbers())
    ]
    return "\n".join([head, *lines]) + "\n"


def _counts() -> sparse.coo_matrix:
    return sparse.coo_matrix(np.random.default_rng(2).poisson(0.5, (_ROWS, _COLUMNS)))


def _market(path: Path) -> None:
    io.mmwrite(path, _counts())


def _zipped(make: Make) -> Make:
    def both(path: Path) -> None:
        inner = path.with_name(path.name.removesuffix(".gz"))
        make(inner)
        path.write_bytes(gzip.compress(inner.read_bytes(), mtime=0))
        inner.unlink()

    return both


def _images(path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(3)
    for number, suffix in enumerate(("png", "jpg", "bmp", "pgm", "tif", "png")):
        folder = path / ("dogs" if number % 2 else "cats")
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (8, 8), np.uint8)).save(folder / f"image{number}.{suffix}")


def _texts(path: Path) -> None:
    for number in range(5):
        folder = path / ("left" if number % 2 else "right")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"speech{number}.txt").write_text("the dog and the cat went home\n" * (number + 1), "utf-8")


def _idx(path: Path) -> None:
    pixels = np.random.default_rng(4).integers(0, 255, (6, 4, 4), np.uint8)
    path.write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, *pixels.shape) + pixels.tobytes())


def _excel(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for line in _table(",").splitlines():
        book.active.append(
            [
                float(cell) if cell[-1].isdigit() and cell[0] in "-0123456789" else cell
                for cell in line.split(",")
            ]
        )
    book.active.merge_cells("A14:B14")
    book.active["C15"] = "=1/0"
    book.save(path)


def _open_document(path: Path) -> None:
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    document = OpenDocumentSpreadsheet()
    table = Table(name="one")
    for line in _table(",").splitlines():
        row = TableRow()
        for text in line.split(","):
            number = text[-1].isdigit() and text[0] in "-0123456789"
            cell = TableCell(valuetype="float", value=text) if number else TableCell(valuetype="string")
            cell.addElement(P(text=text))
            row.addElement(cell)
        table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save(path)


def _parquet(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = {f"gene {j}": column for j, column in enumerate(_numbers().T)}
    parquet.write_table(pyarrow.table({"name": [f"s{i}" for i in range(_ROWS)], **columns}), path)


def _annotated(path: Path) -> None:
    rows = {
        "names": [f"s{i}" for i in range(_ROWS)],
        "class": ("categorical", [0, 1] * 6, ["control", "case"]),
    }
    columns = {"names": [f"gene {j}" for j in range(_COLUMNS)], "length": np.arange(_COLUMNS)}
    write_h5ad(path, _counts().tocsr(), rows, columns, scaled=_numbers())


def _plain_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=_numbers(), chunks=(5, 3), compression="gzip", shuffle=True)


def _matlab(compressed: bool) -> Make:
    def make(path: Path) -> None:
        held = {"X": _numbers(), "y": np.arange(_ROWS), "S": _counts(), "words": "some text", "c": {"a": 1.0}}
        io.savemat(path, held, do_compression=compressed)

    return make


FORMATS: dict[str, tuple[str, Make]] = {
    "csv": ("table.csv", lambda path: path.write_text(_table(","), "utf-8")),
    "tsv": ("table.tsv", lambda path: path.write_text(_table("\t"), "utf-8")),
    "csv.gz": ("table.csv.gz", _zipped(lambda path: path.write_text(_table(","), "utf-8"))),
    "mtx": ("counts.mtx", _market),
    "mtx.gz": ("counts.mtx.gz", _zipped(_market)),
    "npy": ("numbers.npy", lambda path: np.save(path, _numbers())),
    "npz": (
        "numbers.npz",
        lambda path: np.savez_compressed(path, X=_numbers(), row_names=[f"s{i}" for i in range(_ROWS)]),
    ),
    "mat": ("numbers.mat", _matlab(False)),
    "mat compressed": ("numbers.mat", _matlab(True)),
    "h5ad": ("cells.h5ad", _annotated),
    "h5": ("numbers.h5", _plain_hdf5),
    "idx": ("digits-ubyte", _idx),
    "idx.gz": ("digits-ubyte.gz", _zipped(_idx)),
    "xlsx": ("sheet.xlsx", _excel),
    "ods": ("sheet.ods", _open_document),
    "parquet": ("table.parquet", _parquet),
    "images": ("pictures", _images),
    "texts": ("speeches", _texts),
}
"""For each format the name of its file or folder, and what writes it."""

SESSION = "session"


def _small(path: Path) -> Path:
    """A session with data of all kinds, notes, views and a search, and no run: quick to read."""
    session = Session("small")
    rows, columns = [f"s{i}" for i in range(_ROWS)], [f"gene {j}" for j in range(_COLUMNS)]
    classes = {"class": np.array(["case", "control"] * 6), "age": np.arange(_ROWS) / 2}
    session.add_dataset(Dataset("numbers", _numbers(), rows, columns, row_table=classes))
    session.add_dataset(Dataset("counts", _counts().tocsr().astype(float), rows, columns))
    session.notes, session.views["window"] = "# Notes", {"front": "data", "widths": np.arange(3)}
    plan = Study.grid(ToySampler(), {"X": [toy_data()]}, {"scale": [0.5, 1.0]}, metrics=())
    plan.add_to(session)
    return session.save(path)


def sessions(folder: Path) -> list[Path]:
    """Session files as this version writes them, and of an earlier version."""
    found = [_small(folder / "small.plaidwork"), sound_file(folder / "toy.plaidwork")]
    for name in ("infinite_plaid", "supervised_ibp"):
        path = folder / f"{name}.plaidwork"
        path.write_bytes(lzma.decompress((FIXTURES / f"{path.name}.xz").read_bytes()))
        found.append(path)
    return found


def make(kind: str, folder: Path) -> list[Path]:
    """Write the sound files of a format into an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == SESSION:
        return sessions(folder)
    name, write = FORMATS[kind]
    write(folder / name)
    return [folder / name]
