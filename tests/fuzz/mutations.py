"""Changes of files at random, each decided by a seed: bytes, blocks, tokens, members of archives, objects of HDF5."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np

_WHOLE = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1 << 40,
    (1 << 63) - 1,
    (1 << 64) - 1,
)
_TOKENS = (
    b"", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"1e-400", b"99999999999999999999", b"-1", b"0x1F", b"1,5", b'"', b"''", b"\0",
    b"\xef\xbb\xbf", b"\xff\xfe", b"%%MatrixMarket", b"=1+1", b"../../etc/passwd", b"\r", b"\t\t\t", b";;;;", b"True", b"None",
    b"<!ENTITY a SYSTEM 'file:///etc/passwd'>", b"A" * 70_000, b"\xf0\x9f\x98\x80", b"\x1b[31m", b"1e5", b"000", b"2147483648",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, -1, 0, 1, 2**31, 2**70, 1e308, -0.0, True, "", "x" * 10_000, "../../etc/passwd", "<img src='file:///etc/passwd'>",
    '"""', "\0", "\ud800", [], {}, [[[[[[]]]]]], [None], {"a": {"b": []}}, "nan", [0] * 1000, "done", "mcmc", "heatmap",
)  # fmt: skip
Change = Callable[[bytes, random.Random], bytes]


def _spot(data: bytes, rng: random.Random) -> int:
    """Anywhere, or (as often) near the beginning or the end, where formats say what follows."""
    length = max(len(data), 1)
    near = min(length, 2048)
    return rng.choice((rng.randrange(length), rng.randrange(near), length - 1 - rng.randrange(near)))


def flips(data: bytes, rng: random.Random) -> bytes:
    """Up to 16 bits turned."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if changed:
            changed[_spot(data, rng)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    """The end is missing."""
    return data[: _spot(data, rng)]


def whole_number(data: bytes, rng: random.Random) -> bytes:
    """A number of 1 to 8 bytes that is very large, negative or 0 in the place of what was there."""
    size, at = rng.choice((1, 2, 4, 8)), _spot(data, rng)
    number = rng.choice(_WHOLE) & ((1 << 8 * size) - 1)
    return data[:at] + number.to_bytes(size, rng.choice(("little", "big"))) + data[at + size :]


def blocks(data: bytes, rng: random.Random) -> bytes:
    """Two blocks swapped, or one emptied, doubled, left out, or put in from nowhere."""
    size = rng.choice((1, 4, 16, 64, 512, 4096))
    one, other = sorted((_spot(data, rng), _spot(data, rng)))
    first, second = data[one : one + size], data[other : other + size]
    way = rng.randrange(5)
    if way == 0:
        return data[:one] + second + data[one + size : other] + first + data[other + size :]
    if way == 1:
        return data[:one] + bytes(len(first)) + data[one + size :]
    if way == 2:
        return data[:one] + first + data[one:]
    if way == 3:
        return data[:one] + data[one + size :]
    return data[:one] + rng.randbytes(min(size, 512)) + data[one:]


def tokens(data: bytes, rng: random.Random) -> bytes:
    """A word of a text replaced, put in, or a line repeated many times."""
    at = _spot(data, rng)
    if rng.random() < 0.2:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at) + 1
        return data[:start] + data[start:end] * rng.choice((2, 50, 3000)) + data[end:]
    end = at
    while end < len(data) and data[end : end + 1].isalnum():
        end += 1
    return data[:at] + rng.choice(_TOKENS) + data[end if rng.random() < 0.7 else at :]


BYTES: tuple[Change, ...] = (flips, cut, whole_number, blocks)
TEXT: tuple[Change, ...] = (flips, cut, blocks, tokens, tokens, tokens)


def inside_gzip(data: bytes, rng: random.Random) -> bytes:
    """What is packed is changed, and packed again."""
    return gzip.compress(rng.choice(TEXT + BYTES)(gzip.decompress(data), rng), 1, mtime=0)


def inside_matlab(data: bytes, rng: random.Random) -> bytes:
    """One compressed variable is changed, and packed again."""
    at, parts = 128, [data[:128]]
    while at + 8 <= len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        parts.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    chosen = rng.randrange(1, len(parts))
    parts[chosen] = zlib.compress(rng.choice(BYTES)(zlib.decompress(parts[chosen]), rng), 1)
    return parts[0] + b"".join(struct.pack("<II", 15, len(part)) + part for part in parts[1:])


def inside_zip(data: bytes, rng: random.Random) -> bytes:
    """A member of the archive is changed, renamed, left out or there twice."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = rng.randrange(len(members))
    name, content = members[at]
    way = rng.randrange(10)
    if way == 0:
        members[at] = rng.choice(("../../evil", "/etc/evil", ".", name.upper(), "a" * 300)), content
    elif way == 1:
        del members[at]
    elif way == 2:
        members.append((name, rng.randbytes(20)))
    else:
        change = rng.choice(TEXT if content[:1] == b"<" else BYTES)
        members[at] = name, change(content, rng)
    made = io.BytesIO()
    import warnings

    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(made, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive,
    ):
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


# -- HDF5 -------------------------------------------------------------------------------------------
def _objects(file: h5py.File) -> list[str]:
    found: list[str] = ["/"]
    file.visit(found.append)
    return found


def _edit_json(node: Any, rng: random.Random) -> Any:
    """A place in a tree replaced, left out or renamed."""
    if isinstance(node, dict) and node and rng.random() < 0.85:
        key = rng.choice(sorted(node))
        way = rng.random()
        if way < 0.1:
            return {name: value for name, value in node.items() if name != key}
        if way < 0.2:
            return {f"{name}x" if name == key else name: value for name, value in node.items()}
        return {**node, key: _edit_json(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.85:
        at = rng.randrange(len(node))
        return [*node[:at], _edit_json(node[at], rng), *node[at + 1 :]] if rng.random() < 0.8 else node[:at]
    return rng.choice(_VALUES)


def _replace(file: h5py.File, name: str, rng: random.Random) -> None:
    """An array in the place of another one, with the attributes of that."""
    old = file[name]
    attributes = dict(old.attrs)
    shape = tuple(old.shape or ())
    text = h5py.check_string_dtype(old.dtype) is not None
    if text and not shape and rng.random() < 0.8:
        value = old.asstr("utf-8", "replace")[()]
        try:
            value = json.dumps(_edit_json(json.loads(value), rng))
        except ValueError:
            value = rng.choice(("", "x" * 1000, "{", "null", "\n\n"))
        new: dict[str, Any] = {"data": value, "dtype": h5py.string_dtype()}
    else:
        other = rng.choice(
            (shape, shape[::-1], shape[:-1], (*shape, 2), (0,), (10**6,), tuple(2 * n for n in shape))
        )
        kind = rng.choice(
            ("f8", "f4", "i8", "u1", "i1", "u8", ">f8", "S3", "c16", "?", h5py.string_dtype(), old.dtype)
        )
        new = {"shape": other, "dtype": kind}
        if rng.random() < 0.3 and other and min(other) > 0:
            new |= {"chunks": True, "compression": rng.choice(("gzip", "lzf")), "fillvalue": None}
    del file[name]
    made = file.create_dataset(name, **new)
    if made.dtype.kind in "fiu" and made.size and rng.random() < 0.7:
        with np.errstate(over="ignore"):  # infinite in an array of single precision
            made[...] = rng.choice((0, 1, 100) if made.dtype.kind != "f" else (np.nan, np.inf, -1e308, 0, 3))
    for key, value in attributes.items():
        if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"):
            with suppress(UnicodeEncodeError):  # a change before this one has made a text of it that is none
                made.attrs[key] = value


def _attribute(thing: h5py.HLObject, rng: random.Random) -> None:
    names = sorted(thing.attrs) or ["more"]
    name = rng.choice(names)
    if rng.random() < 0.2:
        thing.attrs.pop(name, None)
        return
    plain = (
        -1,
        0,
        2**40,
        1.5,
        np.nan,
        "",
        "x" * 1000,
        "1.0",
        "99.0",
        "dict",
        "list",
        "bigint",
        "json:[",
        "run",
        "csr_matrix",
    )
    value: Any = rng.choice(
        (*plain, np.arange(5), np.zeros((2, 2)), h5py.Empty("f4"), b"\xff\xfe", ["a", "b"])
    )
    thing.attrs[name] = value


def edit(path: Path, rng: random.Random) -> None:
    """One to three objects of an HDF5 file changed with its library; the sums are mostly taken out."""
    with h5py.File(path, "r+") as file:
        if "checksums" in file and rng.random() < 0.9:
            del file["checksums"]
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            name = rng.choice(_objects(file))
            thing, way = file[name], rng.random()
            if way < 0.45 and isinstance(thing, h5py.Dataset):
                _replace(file, name, rng)
            elif way < 0.8 or name == "/":
                _attribute(thing, rng)
            elif way < 0.88:
                del file[name]
            elif way < 0.93:
                file.move(name, f"{name}x")
            else:
                _replace_kind(file, name, rng)


def _replace_kind(file: h5py.File, name: str, rng: random.Random) -> None:
    """A group where an array was, the other way, or a link."""
    was_group = isinstance(file[name], h5py.Group)
    del file[name]
    way = rng.randrange(4)
    if way == 0:
        file[name] = h5py.SoftLink("/")
    elif way == 1:
        file[name] = h5py.ExternalLink("/etc/passwd", "/")
    elif was_group:
        file.create_dataset(name, data=np.arange(3))
    else:
        file.create_group(name)


# -- folders ----------------------------------------------------------------------------------------
def _in_folder(path: Path, rng: random.Random, changes: tuple[Change, ...]) -> str:
    files = sorted(item for item in path.rglob("*") if item.is_file())
    file = rng.choice(files)
    way = rng.random()
    if way < 0.8:
        change = rng.choice(changes)
        file.write_bytes(change(file.read_bytes(), rng))
        return change.__name__
    if way < 0.85:
        file.unlink()
        return "removed"
    target = rng.choice(
        (
            str(path.parent / "outside.txt"),
            "/etc/passwd",
            "/dev/zero",
            "/proc/self/mem",
            str(path),
            "/nowhere",
        )
    )
    if way < 0.95:
        file.unlink()
        os.symlink(target, file)
        return "link"
    if hasattr(os, "mkfifo") and rng.random() < 0.3:
        file.unlink()
        os.mkfifo(file)
        return "pipe"
    os.symlink(str(path.parent), file.with_name("around"))
    return "link to a folder"


PLAIN_TEXT = ("csv", "tsv", "mtx")
ZIPS = ("npz", "xlsx", "ods")


def mutate(kind: str, sound: Path, target: Path, rng: random.Random) -> str:
    """Write a changed copy of a sound file or folder; the word for what was done."""
    if sound.is_dir():
        shutil.copytree(sound, target)
        return _in_folder(target, rng, TEXT if kind == "texts" else BYTES)
    if kind in ("session", "h5ad", "h5") and rng.random() < 0.6:
        shutil.copy(sound, target)
        edit(target, rng)
        return "objects"
    data, change = sound.read_bytes(), rng.choice(TEXT if kind in PLAIN_TEXT else BYTES)
    if kind == "npy" and rng.random() < 0.4:
        change = _header
    elif kind.endswith(".gz") and rng.random() < 0.7:
        change = inside_gzip
    elif kind == "mat compressed" and rng.random() < 0.7:
        change = inside_matlab
    elif kind in ZIPS and rng.random() < 0.7:
        change = inside_zip
    target.write_bytes(change(data, rng))
    return change.__name__.strip("_")


def _header(data: bytes, rng: random.Random) -> bytes:
    """Another description of the array before its numbers."""
    shapes = (
        "(12, 5)",
        "(10000000000,)",
        "(-1, 5)",
        "(12, 5, 1, 1)",
        "()",
        "(4, 99999999999)",
        "(0, 10000000000)",
        "'x'",
    )
    kinds = ("'<f8'", "'|O'", "'<U100000000'", "[('a', '<f8')]", "'>i2'", "'|S0'", "'<M8[ns]'", "'|V8'")
    text = f"{{'descr': {rng.choice(kinds)}, 'fortran_order': {rng.choice(('False', 'True', '3'))}, 'shape': {rng.choice(shapes)}, }}"
    body = text.encode().ljust(117) + b"\n"
    return data[:8] + struct.pack("<H", len(body)) + body + data[128:]
