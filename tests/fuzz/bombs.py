"""Small files that want to become large ones, one for each way."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from fuzz.samples import FORMATS

BOMBS: dict[str, tuple[str, str, Callable[[Path], object]]] = {}
"""For each name the format, the name of the file or folder, and what writes it."""
_MANY = 150
_PART = 4 << 20
Writer = Callable[[Path], object]


def _bomb(kind: str, name: str = "") -> Callable[[Writer], Writer]:
    def keep(write: Writer) -> Writer:
        BOMBS[write.__name__.strip("_").replace("_", " ")] = (kind, name or FORMATS[kind][0], write)
        return write

    return keep


def _packed(head: bytes, part: bytes) -> bytes:
    """A gzip file that unpacks to ``head`` and 600 MiB of ``part``."""
    whole = part * (_PART // len(part))
    return gzip.compress(head, mtime=0) + gzip.compress(whole, 9, mtime=0) * _MANY


@_bomb("csv.gz")
def _one_line(path: Path) -> None:
    path.write_bytes(_packed(b"a,b\n1,", b"0"))


@_bomb("csv.gz")
def _rows_without_end(path: Path) -> None:
    path.write_bytes(_packed(b"a,b,c,d\n", b"0,0,0,0\n"))


@_bomb("mtx.gz")
def _blanks_between_entries(path: Path) -> None:
    path.write_bytes(_packed(b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 ", b" "))


@_bomb("mtx")
def _rows_by_name_alone(path: Path) -> None:
    path.write_text("%%MatrixMarket matrix coordinate integer general\n50000000 50000000 1\n1 1 1\n")


@_bomb("idx.gz")
def _images_of_nothing(path: Path) -> None:
    path.write_bytes(_packed(struct.pack(">BBBBIII", 0, 0, 8, 3, 150, 2048, 2048), b"\0"))


def _array(shape: str, kind: str) -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _in_zip(path: Path, name: str, head: bytes, part: bytes, tail: bytes = b"") -> None:
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as member,
    ):
        member.write(head)
        for _ in range(_MANY):
            member.write(part * (_PART // len(part)))
        member.write(tail)


@_bomb("npz")
def _zeros_of_an_archive(path: Path) -> None:
    _in_zip(path, "X.npy", _array(f"({_MANY * _PART // 800}, 100)", "'<f8'"), bytes(_PART))


@_bomb("npz")
def _one_long_text(path: Path) -> None:
    _in_zip(path, "X.npy", _array("(2,)", f"'<U{_MANY * _PART // 8}'"), bytes(_PART))


@_bomb("npy")
def _columns_without_a_row(path: Path) -> None:
    path.write_bytes(_array("(0, 3000000000)", "'<f8'"))


_SHEET = "<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>{}</sheetData></worksheet>"


def _with_sheet(path: Path, rows: str) -> None:
    FORMATS["xlsx"][1](path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/worksheets/sheet1.xml"] = _SHEET.format(rows).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@_bomb("xlsx")
def _cells_far_from_each_other(path: Path) -> None:
    cell = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    _with_sheet(path, cell.format(1, "A") + cell.format(1048576, "XFD"))


@_bomb("xlsx")
def _a_sheet_of_blanks(path: Path) -> None:
    FORMATS["xlsx"][1](path)
    _in_zip(path, "xl/worksheets/sheet9.xml", b"<worksheet>", b" ")


@_bomb("ods")
def _cells_that_are_repeated(path: Path) -> None:
    FORMATS["ods"][1](path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    many = b'<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"'
    members["content.xml"] = members["content.xml"].replace(
        b"<table:table-row>",
        many + b' office:value-type="float" office:value="1"/></table:table-row><table:table-row>',
        1,
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@_bomb("mat compressed")
def _zeros_of_a_variable(path: Path) -> None:
    count = _MANY * _PART // 8
    name = struct.pack("<II8s", 1, 1, b"X")
    body = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, count // 100, 100) + name
    size = count // 100 * 800
    packer = zlib.compressobj(9)
    parts = [
        packer.compress(struct.pack("<II", 14, len(body) + 8 + size) + body + struct.pack("<II", 9, size))
    ]
    parts += [packer.compress(bytes(_PART)) for _ in range(_MANY)]
    packed = b"".join([*parts, packer.flush()])
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)


@_bomb("parquet")
def _one_number_repeated(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": np.zeros(40_000_000, np.int8)}), path)


@_bomb("h5ad")
def _numbers_that_are_not_stored(path: Path) -> None:
    FORMATS["h5ad"][1](path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        made = file.create_dataset("X", (12, 10**8), "f8", chunks=(1, 10**5), compression="gzip")
        made.attrs["encoding-type"], made.attrs["encoding-version"] = "array", "0.2.0"


@_bomb("images")
def _a_picture_of_one_colour(path: Path) -> None:
    from PIL import Image

    path.mkdir()
    content = io.BytesIO()
    Image.new("1", (30_000, 30_000)).save(content, "png")
    (path / "a.png").write_bytes(content.getvalue())


@_bomb("texts")
def _a_file_full_of_holes(path: Path) -> None:
    path.mkdir()
    with (path / "a.txt").open("wb") as file:
        file.truncate(50 << 30)
