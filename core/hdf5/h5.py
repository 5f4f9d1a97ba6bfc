"""Thin writing and reading of one HDF5 file: the only types we use, and a checksum of everything."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import h5py
import numpy as np

from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5 import gate, schema
from plaidwork.core.hdf5.hashing import Hashing
from plaidwork.core.hdf5.packing import aligned, blocks, chunk_shape, packs, shrinks, write_packed
from plaidwork.core.hdf5.parts import PartsFile
from plaidwork.core.hdf5.stored import LARGE, StoredArray
from plaidwork.core.pieces import boxes, joined, objects

TEXT = h5py.string_dtype("utf-8")
_TEXTS = 1 << 16
"""Texts that are written in one call: as many as HDF5 itself takes at a time."""


def open_new(path: Any) -> h5py.File:
    """A new file, whose attributes have at most 64 KiB each."""
    return h5py.File(path, "x", libver=schema.LIBVER)


def put(thing: h5py.HLObject, /, **attrs: Any) -> None:
    """Set attributes; a text that HDF5 cannot hold becomes JSON after ``json:``."""
    for key, value in attrs.items():
        if isinstance(value, str) and (not schema.storable(value) or value.startswith("json:")):
            value = "json:" + json.dumps(value)
        thing.attrs[key] = value


def text_of(thing: h5py.HLObject, name: str) -> str:
    """A text set by :func:`put`. Raises ``SessionError`` when it is missing, or no text."""
    value = thing.attrs.get(name)
    if not isinstance(value, str):
        found = "missing" if value is None else str(value)[:40]
        raise SessionError(f"the attribute “{name}” of “{thing.name}” is {found}, expected a text.")
    return str(json.loads(value[5:])) if value.startswith("json:") else value


def number_of(thing: h5py.HLObject, name: str, low: float = 0, high: float = 2**63 - 1) -> int:
    """A whole number set by :func:`put`, from ``low`` to ``high``. Raises ``SessionError`` naming it and what was found."""
    found = thing.attrs.get(name)
    whole = np.ndim(found) == 0 and np.asarray(found).dtype.kind in "iu"
    if not whole or not low <= int(found) <= high:
        raise SessionError(
            f"the attribute “{name}” of “{thing.name}” is {str(found)[:40]}, expected a whole number "
            f"from {low} to {high}."
        )
    return int(found)


def share_of(thing: h5py.HLObject, name: str, high: float = 1.0) -> float:
    """A number from 0 to ``high`` (a share unless told) set by :func:`put`. Raises ``SessionError`` naming it and what was found."""
    found = thing.attrs.get(name)
    number = np.ndim(found) == 0 and np.asarray(found).dtype.kind in "iuf"
    if not number or not 0 <= float(found) <= high:
        raise SessionError(
            f"the attribute “{name}” of “{thing.name}” is {str(found)[:40]}, expected a number from 0 to {high:g}."
        )
    return float(found)


class Writer:
    """Creates datasets and notes the SHA-256 of their logical bytes; :meth:`finish` writes the table.

    ``compact``: everything is packed as small as it goes, whatever time that takes. ``parts``: here go the digests of parts of the
    file that are known from what was written, so that they need not be read again.
    """

    def __init__(
        self, file: h5py.File, *, compact: bool = False, parts: dict[int, bytes] | None = None
    ) -> None:
        self.file, self.compact = file, compact
        self.sums: dict[str, str] = {}
        self._hashing, self._hashers = Hashing(parts), dict[str, Any]()

    def array(
        self,
        group: h5py.Group,
        name: str,
        array: Any,
        /,
        *,
        compress: bool | None = None,
        fletcher: bool = False,
        enum: bool = False,
        **attrs: Any,
    ) -> h5py.Dataset:
        """An array of numbers, booleans (int8, or HDF5's enum with ``enum``) or texts."""
        if isinstance(array, StoredArray) and not self.compact:
            copied = array.copy_to(group, name)
            if copied is not None:
                dataset, self.sums[copied[0].name] = copied
                put(dataset, **attrs | ({"dtype": "bool"} if array.dtype.kind == "b" and not enum else {}))
                return dataset
        if isinstance(array, Deferred):
            array = array.get()
        array = np.asarray(array)
        if array.dtype.kind in "OUST":
            return self.texts(group, name, array, **attrs)
        stored = _stored(array, name, enum)
        if array.dtype.kind == "b" and not enum:
            attrs["dtype"] = "bool"
        if compress is None:
            compress = array.dtype.kind != "f" or shrinks(stored)
        parts = [stored] if stored.ndim == 0 else blocks(stored)
        return self.stream(
            group, name, stored.shape, stored.dtype, parts, compress=compress, fletcher=fletcher, **attrs
        )

    def stream(
        self,
        group: h5py.Group,
        name: str,
        shape: Sequence[int],
        dtype: Any,
        parts: Iterable[np.ndarray],
        /,
        *,
        compress: bool = False,
        fletcher: bool = False,
        lead: int = 0,
        **attrs: Any,
    ) -> h5py.Dataset:
        """An array written part by part along its first axis; ``lead`` axes have chunks of length one."""
        shape, dtype = tuple(shape), np.dtype(dtype).newbyteorder("<")
        options: dict[str, Any] = {}
        compress = compress or self.compact
        if shape and min(shape) > 0 and (compress or fletcher) and np.prod(shape) * dtype.itemsize > 64:
            options = {"chunks": chunk_shape(shape, dtype.itemsize, lead), "fletcher32": fletcher}
            if compress:
                options |= {
                    "compression": "gzip",
                    "compression_opts": 9 if self.compact else 4,
                    "shuffle": True,
                }
        dataset = group.create_dataset(name, shape, dtype, **options)
        hasher, packed = _hasher(dtype, shape), packs(dataset)
        start = 0
        for part in aligned(parts, dataset.chunks[0]) if packed else parts:
            part = np.ascontiguousarray(part, dtype=dtype)
            if packed:
                self._hashing.update(hasher, part)
                write_packed(dataset, start, part)
            else:
                self._write_pieces(dataset, start, part, hasher)
            start += len(part) if shape else 0
        self._hashers[dataset.name] = hasher
        put(dataset, **attrs)
        return dataset

    def _write_pieces(self, dataset: h5py.Dataset, start: int, part: np.ndarray, hasher: Any) -> None:
        """Write a part from row ``start`` on: whoever wants HDF5 or the interpreter waits for one piece at most."""
        position = start * (part.nbytes // max(1, len(part))) if part.ndim else 0
        for box in boxes(part.shape, part.itemsize, dataset.chunks):
            piece = part[box]
            self._hashing.update(hasher, piece)
            if not dataset.shape:
                dataset[()] = piece
            elif part.size:
                rows, *rest = box
                dataset[(slice(start + rows.start, start + rows.stop), *rest)] = piece
            if dataset.chunks is None and piece.nbytes:
                self._hashing.written(dataset.id.get_offset() + position, piece)
                position += piece.nbytes

    def texts(self, group: h5py.Group, name: str, values: Any, /, **attrs: Any) -> h5py.Dataset:
        """An array of texts; those that HDF5 cannot hold are escaped as JSON, all of them then."""
        array = values if isinstance(values, np.ndarray) else objects(values)
        flat = ["" if item is None else str(item) for item in array.ravel()]
        if not all(map(schema.storable, flat)):
            flat = [json.dumps(item) for item in flat]
            attrs["escaped"] = "json"
        return self._texts(group, name, flat, array.shape, attrs)

    def labels(self, group: h5py.Group, name: str, values: Sequence[str]) -> h5py.Dataset:
        """Item names of an axis for other programs; what cannot be stored is shown as ``�``."""
        flat = [item if schema.storable(item) else _clean(item) for item in values]
        return self._texts(group, name, flat, (len(flat),), {})

    def text(self, group: h5py.Group, name: str, value: str, /, **attrs: Any) -> h5py.Dataset:
        return self.texts(group, name, np.array(value, dtype=object), **attrs)

    def json(self, group: h5py.Group, name: str, value: Any, /, **attrs: Any) -> h5py.Dataset:
        return self._texts(group, name, [schema.to_json(value)], (), attrs)

    def _texts(
        self, group: h5py.Group, name: str, flat: list[str], shape: tuple[int, ...], attrs: dict[str, Any]
    ) -> h5py.Dataset:
        encoded = [item.encode() for item in flat]
        dataset = group.create_dataset(name, shape, TEXT)
        if encoded:
            texts = objects(encoded).reshape(shape)
            for box in boxes(shape, 1, most=_TEXTS):
                dataset[box] = texts[box]
        self.sums[dataset.name] = _digest_texts(encoded, shape)
        put(dataset, **attrs)
        return dataset

    def scale(self, dataset: h5py.Dataset, axis: int, scale: h5py.Dataset) -> None:
        """Attach a dimension scale (made with :meth:`make_scale`)."""
        dataset.dims[axis].attach_scale(scale)

    def make_scale(self, dataset: h5py.Dataset) -> h5py.Dataset:
        dataset.make_scale(dataset.name.rsplit("/", 1)[1])
        return dataset

    def finish(self) -> None:
        """Write ``/checksums``: one line per dataset, and one per object with attributes (``path@``)."""
        self._hashing.settle()
        self.sums |= {path: hasher.hexdigest() for path, hasher in self._hashers.items()}
        sums, names = dict(self.sums), dict.fromkeys(self.sums, "")

        def look(name: str, thing: h5py.HLObject) -> None:
            found = sorted(set(thing.attrs) - schema.SCALE_ATTRS)
            if found:
                sums[f"/{name}@"], names[f"/{name}@"] = digest_attributes(thing, found), schema.to_json(found)

        self.file.visititems(look)
        look("", self.file)
        group = self.file.create_group("checksums")
        paths = sorted(sums)
        self.texts(group, "path", paths)
        self.texts(group, "sha256", [sums[path] for path in paths])
        self.texts(group, "attributes", [names[path] for path in paths])


class Reader:
    """Reads datasets and compares each with its line in ``/checksums``. ``at`` names what is being read.

    ``sealed``: all bytes of the file are compared with its seal, so nothing is compared once more. ``parts``: a sealed file
    of which large arrays may be read later.
    """

    def __init__(self, file: h5py.File, *, sealed: bool = False, parts: PartsFile | None = None) -> None:
        self.file, self.sealed, self.parts = file, sealed, parts
        self.at = "/checksums"
        self._seen: set[str] = set()
        self._sums: dict[str, str] = {}
        self._attributes: dict[str, str] = {}
        if "checksums" in file and not sealed:
            table = (_decoded(file["checksums"][name]).tolist() for name in ("path", "sha256", "attributes"))
            for path, digest, names in zip(*table, strict=True):
                self._sums[path], self._attributes[path] = digest, names

    def check_attributes(self) -> None:
        """Compare the attributes that every listed object had. Raises ``SessionError`` naming it."""
        for path, wanted in self._sums.items():
            if path.endswith("@"):
                self.at = path[:-1]
                if self.at not in self.file:
                    raise SessionError(f"“{self.at}” is missing.")
                thing, names = self.file[self.at], json.loads(self._attributes[path])
                if not set(names) <= set(thing.attrs) or digest_attributes(thing, names) != wanted:
                    raise SessionError(f"the attributes of “{self.at}” do not match their checksum.")

    def check_rest(self) -> None:
        """Compare everything that was listed and not read yet."""
        for path in self._sums:
            if not path.endswith("@") and path not in self._seen:
                self.at = path
                if path not in self.file:
                    raise SessionError(f"“{path}” is missing.")
                self.array(self.file[path])

    def _compare(self, path: str, found: str) -> None:
        self._seen.add(path)
        if self._sums[path] != found:
            raise SessionError(f"“{path}” does not match its checksum.")

    def array(self, dataset: h5py.Dataset) -> np.ndarray:
        """The array as it was handed to :meth:`Writer.array` (texts as object array of str)."""
        self.at = dataset.name
        if not isinstance(dataset, h5py.Dataset):
            raise SessionError(f"“{dataset.name}” is a group, expected an array.")
        if h5py.check_string_dtype(dataset.dtype) is not None:
            return self._texts(dataset)
        array = np.asarray(dataset[()])
        array = np.ascontiguousarray(array) if array.ndim else array
        if dataset.name in self._sums:
            hasher = _hasher(array.dtype, array.shape)
            hasher.update(array.tobytes() if array.ndim == 0 else array.data.cast("B") if array.size else b"")
            self._compare(dataset.name, hasher.hexdigest())
        if dataset.attrs.get("dtype") == "bool" and "packed" not in dataset.attrs:
            return array.astype(np.bool_)
        return array

    def later(self, dataset: h5py.Dataset, shape: tuple[int, ...] | None = None) -> Any:
        """The array in that shape (its own), or what reads it when it is needed: a large one of a file that is read by parts."""
        self.at = dataset.name
        numbers = isinstance(dataset, h5py.Dataset) and dataset.dtype.kind in "iufb" and bool(dataset.size)
        if self.parts is not None and numbers and dataset.size * dataset.dtype.itemsize >= LARGE:
            found: Any = StoredArray(
                self.parts, dataset, lambda again: Reader(again.file, sealed=True).array(again)
            )
        else:
            found = self.array(dataset)
        if shape is None or shape == dataset.shape:
            return found
        if math.prod(shape) != found.size:
            raise SessionError(f"“{dataset.name}” has shape {dataset.shape}, expected {shape}.")
        return found.reshape(shape)

    def _texts(self, dataset: h5py.Dataset) -> np.ndarray:
        raw = dataset[()]
        flat = [raw] if dataset.shape == () else list(np.asarray(raw, dtype=object).ravel())
        flat = [item.encode() if isinstance(item, str) else bytes(item) for item in flat]
        if dataset.name in self._sums:
            self._compare(dataset.name, _digest_texts(flat, dataset.shape))
        texts: list[str] = [item.decode("utf-8") for item in flat]
        if dataset.attrs.get("escaped") == "json":
            texts = [json.loads(item) for item in texts]
        box = np.empty(len(texts), dtype=object)
        box[:] = texts
        return box.reshape(dataset.shape)

    def text(self, dataset: h5py.Dataset) -> str:
        return str(self.array(dataset).reshape(-1)[0])

    def json(self, dataset: h5py.Dataset) -> Any:
        return json.loads(self.text(dataset))

    def group(self, parent: h5py.Group, name: str) -> h5py.Group:
        """A child group that must be there."""
        self.at = f"{parent.name.rstrip('/')}/{name}"
        found = parent.get(name)
        if not isinstance(found, h5py.Group):
            raise SessionError(f"“{self.at}” is missing or not a group.")
        return found


def as_declared(array: np.ndarray, dataset: h5py.Dataset) -> np.ndarray:
    """Texts in the type that they had when they were stored. Raises ``SessionError`` for a type that is none of texts."""
    if "text" not in dataset.attrs:
        return array
    gate.declared_width(dataset)
    return array.astype(str(dataset.attrs["text"]))


def _stored(array: np.ndarray, name: str, enum: bool = False) -> np.ndarray:
    kind = array.dtype.kind
    if kind == "b":
        return array if enum else array.view(np.int8)
    if kind not in "iuf" or array.dtype.itemsize > 8:
        raise SessionError(f"“{name}” is an array of {array.dtype}, which cannot be stored.")
    return array


def _hasher(dtype: np.dtype, shape: Sequence[int]) -> Any:
    code = "|b1" if dtype.kind == "b" else dtype.newbyteorder("<").str
    return hashlib.sha256(f"{code}{tuple(int(n) for n in shape)}".encode())


def _digest_texts(encoded: list[bytes], shape: Sequence[int]) -> str:
    hasher = hashlib.sha256(f"text{tuple(int(n) for n in shape)}".encode())
    for content in joined(b"\0", encoded):
        hasher.update(content)
    return str(hasher.hexdigest())


def digest_attributes(thing: h5py.HLObject, names: Sequence[str]) -> str:
    """SHA-256 over the attributes of these names."""
    hasher = hashlib.sha256()
    for name in names:
        value = thing.attrs[name]
        hasher.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        if isinstance(value, h5py.Empty):
            hasher.update(b"empty")
            continue
        array = np.asarray(value)
        if array.dtype.kind in "OUST":
            hasher.update("\0".join(map(str, array.ravel())).encode("utf-8", "surrogateescape"))
        else:
            hasher.update(f"{array.dtype.newbyteorder('<').str}{array.shape}".encode() + array.tobytes())
    return hasher.hexdigest()


def _decoded(dataset: h5py.Dataset) -> np.ndarray:
    return np.asarray(dataset.asstr("utf-8", "surrogateescape")[()], dtype=object)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "�")
