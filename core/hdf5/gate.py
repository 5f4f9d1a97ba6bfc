"""What a file must be like before anything is read from it: plain arrays in groups, nothing that points elsewhere."""

from __future__ import annotations

import math
import mmap
import os
import zlib
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5l, h5o, h5t, h5z

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.hdf5.limits import MIB, Limits, machine_limits

_FILTER_WORDS = {
    h5z.FILTER_DEFLATE: "deflate",
    h5z.FILTER_SHUFFLE: "shuffle",
    h5z.FILTER_FLETCHER32: "fletcher32",
    h5z.FILTER_LZF: "lzf",
}
FILTERS = frozenset({h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32})
_LAYOUTS = {h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED}
_TEXT_BYTES = 128
"""About what a text takes in memory beside its letters."""
_REFERENCE = np.dtype([("length", "<u4"), ("heap", "<u8"), ("index", "<u4")])
"""A text in an array of texts, as it lies in the file."""
_SLICE = 64 * MIB
_LZF = 8 * MIB
"""Chunks that lzf has packed may unpack to 88 times what they should be, and are not looked through."""


def check(
    file: h5py.File, limits: Limits | None = None, *, largest_text: int | None = 0, unpack: bool = False
) -> int:
    """Look at every object; the bytes that all arrays and texts take in memory.

    ``largest_text`` is what :func:`check_heaps` found; None for a file that this installation wrote: what its texts take is
    then not counted. With ``unpack`` every compressed chunk is unpacked once, no further
    than it says it goes. Raises ``SessionError`` naming object and rule it breaks, ``LimitError`` when it is only too large.
    """
    gate = _Gate(limits or machine_limits(), largest_text, unpack)
    gate.group(file, "", 0)
    return gate.total


def check_heaps(path: Path) -> int:
    """Walk the heaps that hold texts, in the bytes of the file, before the HDF5 library does; bytes of the longest text.

    The library (1.14, 2.0) never returns from a heap in which a damaged entry has length zero. Raises
    ``SessionError`` naming the position.
    """
    largest = 0
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for begin in range(0, size, _WINDOW):  # a file may be larger than what may be mapped
            with _mapped(file, begin, min(size, begin + _WINDOW + len(_HEAP) - 1)) as data:
                start = data.find(_HEAP)
                while start >= 0:
                    largest = max(largest, _check_heap(file, begin + start, size))
                    start = data.find(_HEAP, start + len(_HEAP))
    return largest


_HEAP = b"GCOL\1\0\0\0"  # signature and version of a global heap collection
_ENTRY = 16  # index, count of references, four reserved bytes, length
_WINDOW = 256 * MIB


def _mapped(file: IO[bytes], begin: int, end: int) -> mmap.mmap:
    """The bytes of a file from a multiple of the granularity of maps on."""
    return mmap.mmap(file.fileno(), end - begin, access=mmap.ACCESS_READ, offset=begin)


def _check_heap(file: IO[bytes], start: int, length_of_file: int) -> int:
    largest, begin = 0, start - start % mmap.ALLOCATIONGRANULARITY
    file.seek(start + 8)
    size = int.from_bytes(file.read(8), "little")
    if size < 4096 or start + size > length_of_file:
        return 0  # not a heap, or one that the library refuses by itself
    end, position = start + size - begin, start + 16 - begin
    with _mapped(file, begin, start + size) as data:
        while position + _ENTRY <= end:
            index = int.from_bytes(data[position : position + 2], "little")
            length = int.from_bytes(data[position + 8 : position + 16], "little")
            step = length if index == 0 else _ENTRY + -(-length // 8) * 8
            if step < _ENTRY or position + step > end:
                raise SessionError(
                    f"the text heap at byte {start} has a damaged entry at byte {begin + position}."
                )
            largest = max(largest, length if index else 0)
            position += step
    return largest


class _Gate:
    def __init__(self, limits: Limits, largest_text: int | None, unpack: bool) -> None:
        self.limits, self.largest_text, self.unpack = limits, largest_text, unpack
        self.seen: set[tuple[int, int]] = set()
        self.total = 0

    def group(self, group: h5py.Group, path: str, depth: int) -> None:
        self._see(group, path)
        if depth > self.limits.depth:
            raise _refused(path, f"is nested deeper than {counted(self.limits.depth, 'group')}")
        for raw in list(group.id):
            if len(raw) > self.limits.name:
                raise _refused(path, f"has a name longer than {self.limits.name} bytes")
            child = f"{path}/{raw.decode('utf-8', 'backslashreplace')}"
            if group.id.links.get_info(raw).type != h5l.TYPE_HARD:
                raise _refused(child, "is a link to another place")
            inner = h5o.open(group.id, raw)
            if isinstance(inner, h5py.h5g.GroupID):
                self.group(h5py.Group(inner), child, depth + 1)
            elif isinstance(inner, h5d.DatasetID):
                self.dataset(h5py.Dataset(inner), child)
            else:
                raise _refused(child, "is neither an array nor a group")

    def _see(self, thing: h5py.HLObject, path: str) -> None:
        info = h5o.get_info(thing.id)
        key = (info.fileno, info.addr)
        if key in self.seen:
            raise _refused(path, "occurs twice")
        self.seen.add(key)
        if len(self.seen) > self.limits.objects:
            raise _too_large(path, f"is beyond the limit of {counted(self.limits.objects, 'object')}")
        if h5a.get_num_attrs(thing.id) > self.limits.attributes:
            raise _refused(path, f"has more than {self.limits.attributes} attributes")
        for index in range(h5a.get_num_attrs(thing.id)):
            self._attribute(h5a.open(thing.id, index=index), path)

    def _attribute(self, attribute: h5a.AttrID, path: str) -> None:
        name = attribute.name.decode("utf-8", "backslashreplace")
        kind = attribute.get_type()
        size = int(np.prod(attribute.shape or (1,), dtype=np.float64)) * kind.get_size()
        if size > self.limits.attribute:
            raise _refused(path, f"has the attribute “{name}” of {counted(size, 'byte')}")
        texts = (self.largest_text or 0) * size // max(kind.get_size(), 1)
        if isinstance(kind, h5t.TypeStringID) and kind.is_variable_str() and texts > self.limits.texts:
            raise _too_large(
                path, f"has the attribute “{name}”, whose texts may take {counted(texts, 'byte')}"
            )
        if name not in ("DIMENSION_LIST", "REFERENCE_LIST") and not _plain(kind):
            raise _refused(path, f"has the attribute “{name}” of a type that is not allowed")

    def dataset(self, dataset: h5py.Dataset, path: str) -> None:
        self._see(dataset, path)
        self.total += check_array(dataset, path, self.limits)
        self._count(dataset, path)
        if self.largest_text is not None and _has_texts(dataset):
            for length in _lengths(dataset, path, self.largest_text):
                self.total += length
                self._count(dataset, path)
        self.total += _widened(dataset, path, self.limits)
        self._count(dataset, path)
        if self.unpack:
            _unpack(dataset, path)

    def _count(self, dataset: h5py.Dataset, path: str) -> None:
        if self.total > max(self.limits.total, 4 * dataset.file.id.get_filesize()):
            raise _too_large(path, f"is beyond the limit of {counted(self.limits.total, 'byte')} in all")


def check_array(
    dataset: h5py.Dataset, path: str, limits: Limits | None = None, filters: frozenset[int] = FILTERS
) -> int:
    """Look at one array before it is read; its bytes. Raises ``SessionError`` naming the rule it breaks."""
    limits = limits or machine_limits()
    creation, kind = dataset.id.get_create_plist(), dataset.id.get_type()
    if not _plain(kind):
        raise _refused(path, "has a type that is not allowed")
    if creation.get_external_count():
        raise _refused(path, "is stored in another file")
    layout = creation.get_layout()
    if layout not in _LAYOUTS:
        raise _refused(path, "is stored in a way that is not allowed")
    used = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
    if not set(used) <= filters or len(set(used)) < len(used):
        known = ", ".join(word for number, word in _FILTER_WORDS.items() if number in filters)
        raise _refused(path, f"uses the filters {used}; allowed are {known}, each once")
    item = kind.get_size()
    if isinstance(kind, h5t.TypeStringID) and item > limits.item:
        raise _refused(path, f"has texts of {counted(item, 'byte')} each, more than {limits.item}")
    # an axis of length 0 hides how long the others are, and each of their items costs memory all the same
    size = math.prod(float(max(length, 1)) for length in dataset.shape or ()) * item
    if _has_texts(dataset):
        size *= _TEXT_BYTES / item
    stored = dataset.id.get_storage_size()
    if layout == h5d.CHUNKED and np.prod(creation.get_chunk(), dtype=np.float64) * item > limits.chunk:
        raise _refused(path, f"has chunks larger than {limits.chunk // MIB} MiB")
    if size > limits.ratio_from and size > limits.ratio * stored:
        raise _too_large(path, f"would grow from {stored} to {size:.0f} bytes")
    if size > limits.dataset and size > 4 * stored:  # what is really on the disk was not made up
        raise _too_large(path, f"has {size:.0f} bytes, more than {limits.dataset}")
    return int(size)


def _has_texts(dataset: h5py.Dataset) -> bool:
    kind = dataset.id.get_type()
    return isinstance(kind, h5t.TypeStringID) and bool(kind.is_variable_str())


def _lengths(dataset: h5py.Dataset, path: str, largest: int) -> Any:
    """Bytes of the texts, each as often as it is referred to, some at a time, never many in memory."""
    count, offset = int(np.prod(dataset.shape, dtype=np.float64)), dataset.id.get_offset()
    if not count or not dataset.id.get_storage_size():
        return
    if offset is not None and dataset.id.get_storage_size() == count * _REFERENCE.itemsize:
        for start in range(0, count, MIB):
            found = np.fromfile(
                dataset.file.filename,
                _REFERENCE,
                min(MIB, count - start),
                offset=offset + start * _REFERENCE.itemsize,
            )
            yield int(found["length"].sum(dtype=np.uint64))
        return
    row = count // max(dataset.shape[0], 1) if dataset.shape else 1
    if row * largest > _SLICE and row > 1:
        raise _refused(
            path, f"has rows of {counted(row, 'text')} that may take {counted(row * largest, 'byte')}"
        )
    step = max(1, _SLICE // max(row * largest, 1))
    for start in range(0, dataset.shape[0] if dataset.shape else 1, step):
        part = dataset[start : start + step] if dataset.shape else dataset[()]
        yield sum(map(len, np.asarray(part, dtype=object).ravel()))


def _widened(dataset: h5py.Dataset, path: str, limits: Limits) -> int:
    """Bytes of the texts once they all have the length that the file declares (see ``h5.as_declared``)."""
    width = declared_width(dataset)
    size = 4.0 * width * math.prod(float(length) for length in dataset.shape or ())
    rule = f"declares texts of {width} letters each, {size:.0f} bytes"
    if width > limits.item:
        raise _refused(path, rule)
    if size > limits.dataset and size > 4 * dataset.file.id.get_filesize():
        raise _too_large(path, rule)
    return int(size)


def declared_width(dataset: h5py.Dataset) -> int:
    """Letters that each text of an array is declared to have room for, 0 without such a declaration.

    Raises ``SessionError`` for a declaration of something else than texts.
    """
    if "text" not in dataset.attrs:
        return 0
    declared = str(dataset.attrs["text"])
    if declared == "O":
        return 0
    width = declared[2:] if declared[:2] in ("<U", ">U", "|U", "=U") else ""
    if not (width.isascii() and width.isdecimal() and len(width) < 10):
        raise _refused(dataset.name, f"declares its texts as {declared[:40]!r}")
    return int(width)


def _unpack(dataset: h5py.Dataset, path: str) -> None:
    """Unpack each compressed chunk once."""
    if dataset.id.get_create_plist().get_layout() == h5d.CHUNKED:
        for index in range(dataset.id.get_num_chunks()):
            check_chunk(dataset, path, dataset.id.get_chunk_info(index))


def check_chunk(dataset: h5py.Dataset, path: str, chunk: h5d.StoreInfo) -> None:
    """Unpack a chunk, a byte further than it may be: one that goes on would take any memory. Raises ``SessionError``."""
    creation = dataset.id.get_create_plist()
    filters = [creation.get_filter(i) for i in range(creation.get_nfilters())]
    used = [number for number, *_ in filters]
    whole = math.prod(creation.get_chunk()) * dataset.id.get_type().get_size()
    if chunk.size > whole + whole // 100 + 4096:
        raise _refused(path, f"has a chunk of {counted(chunk.size, 'stored byte')} for {whole}")
    if h5z.FILTER_LZF in used and max(whole, *filters[used.index(h5z.FILTER_LZF)][2][2:3]) > _LZF:
        raise _refused(path, f"has chunks of more than {_LZF // MIB} MiB packed with lzf")
    if h5z.FILTER_DEFLATE not in used or chunk.filter_mask >> used.index(h5z.FILTER_DEFLATE) & 1:
        return
    _, stored = dataset.id.read_direct_chunk(chunk.chunk_offset)
    after = used[used.index(h5z.FILTER_DEFLATE) + 1 :]
    tail = 4 if h5z.FILTER_FLETCHER32 in after else 0
    room = whole + (4 if h5z.FILTER_FLETCHER32 in used and not tail else 0)
    try:
        found = zlib.decompressobj().decompress(stored[: len(stored) - tail], room + 1)
    except zlib.error as error:
        raise _refused(path, f"has a damaged chunk ({error})") from error
    if len(found) > room:
        raise _refused(path, f"has a chunk that unpacks to more than its {counted(whole, 'byte')}")


def _plain(kind: h5t.TypeID) -> bool:
    if isinstance(kind, h5t.TypeEnumID):
        return kind.get_nmembers() == 2 and {kind.get_member_name(0), kind.get_member_name(1)} == {
            b"FALSE",
            b"TRUE",
        }
    return isinstance(kind, (h5t.TypeIntegerID, h5t.TypeFloatID, h5t.TypeStringID))


def _refused(path: str, rule: str) -> SessionError:
    return SessionError(f"“{path or '/'}” {rule}.")


def _too_large(path: str, rule: str) -> LimitError:
    return LimitError(
        f"“{path or '/'}” {rule}.",
        "Open it without limits if you know who made it: the window offers that, commands have --any-size.",
    )
