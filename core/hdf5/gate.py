"""What a file must be like before anything is read from it: plain arrays in groups, nothing that points elsewhere."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from h5py import h5a, h5d, h5l, h5o, h5t, h5z

from plaidwork.core.errors import SessionError

_FILTER_WORDS = {
    h5z.FILTER_DEFLATE: "deflate",
    h5z.FILTER_SHUFFLE: "shuffle",
    h5z.FILTER_FLETCHER32: "fletcher32",
    h5z.FILTER_LZF: "lzf",
}
FILTERS = frozenset({h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32})
_LAYOUTS = {h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED}
_MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds of what is opened; sizes in bytes. The user may raise them."""

    objects: int = 20_000
    depth: int = 16
    name: int = 255
    dataset: int = 2 << 30
    total: int = 8 << 30
    chunk: int = 64 << 20
    ratio: int = 2_000
    attributes: int = 64
    attribute: int = _MIB


LIMITS = Limits()


def check(file: h5py.File, limits: Limits = LIMITS) -> int:
    """Look at every object; the bytes of all arrays. Raises ``SessionError`` naming object and rule it breaks."""
    gate = _Gate(limits)
    gate.group(file, "", 0)
    return gate.total


def check_heaps(path: Path) -> None:
    """Walk the heaps that hold texts, in the bytes of the file, before the HDF5 library does.

    The library (1.14, 2.0) never returns from a heap in which a damaged entry has length zero. Raises
    ``SessionError`` naming the position.
    """
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = data.find(_HEAP)
            while start >= 0:
                _check_heap(data, start)
                start = data.find(_HEAP, start + len(_HEAP))


_HEAP = b"GCOL\1\0\0\0"  # signature and version of a global heap collection
_ENTRY = 16  # index, count of references, four reserved bytes, length


def _check_heap(data: mmap.mmap, start: int) -> None:
    size = int.from_bytes(data[start + 8 : start + 16], "little")
    end, position = start + size, start + 16
    if size < 4096 or end > len(data):
        return  # not a heap, or one that the library refuses by itself
    while position + _ENTRY <= end:
        index = int.from_bytes(data[position : position + 2], "little")
        length = int.from_bytes(data[position + 8 : position + 16], "little")
        step = length if index == 0 else _ENTRY + -(-length // 8) * 8
        if step < _ENTRY or position + step > end:
            raise SessionError(f"the text heap at byte {start} has a damaged entry at byte {position}.")
        position += step


class _Gate:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.seen: set[tuple[int, int]] = set()
        self.total = 0

    def group(self, group: h5py.Group, path: str, depth: int) -> None:
        self._see(group, path)
        if depth > self.limits.depth:
            raise _refused(path, f"is nested deeper than {self.limits.depth} groups")
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
            raise _refused(path, f"is beyond the limit of {self.limits.objects} objects")
        if h5a.get_num_attrs(thing.id) > self.limits.attributes:
            raise _refused(path, f"has more than {self.limits.attributes} attributes")
        for index in range(h5a.get_num_attrs(thing.id)):
            self._attribute(h5a.open(thing.id, index=index), path)

    def _attribute(self, attribute: h5a.AttrID, path: str) -> None:
        name = attribute.name.decode("utf-8", "backslashreplace")
        kind = attribute.get_type()
        size = int(np.prod(attribute.shape or (1,), dtype=np.float64)) * kind.get_size()
        if size > self.limits.attribute:
            raise _refused(path, f"has the attribute “{name}” of {size} bytes")
        if name not in ("DIMENSION_LIST", "REFERENCE_LIST") and not _plain(kind):
            raise _refused(path, f"has the attribute “{name}” of a type that is not allowed")

    def dataset(self, dataset: h5py.Dataset, path: str) -> None:
        self._see(dataset, path)
        self.total += check_array(dataset, path, self.limits)
        if self.total > max(self.limits.total, 4 * dataset.file.id.get_filesize()):
            raise _refused(path, f"is beyond the limit of {self.limits.total} bytes in all")


def check_array(
    dataset: h5py.Dataset, path: str, limits: Limits = LIMITS, filters: frozenset[int] = FILTERS
) -> int:
    """Look at one array before it is read; its bytes. Raises ``SessionError`` naming the rule it breaks."""
    creation, kind = dataset.id.get_create_plist(), dataset.id.get_type()
    if not _plain(kind):
        raise _refused(path, "has a type that is not allowed")
    if creation.get_external_count():
        raise _refused(path, "is stored in another file")
    layout = creation.get_layout()
    if layout not in _LAYOUTS:
        raise _refused(path, "is stored in a way that is not allowed")
    used = [creation.get_filter(i)[0] for i in range(creation.get_nfilters())]
    if not set(used) <= filters:
        known = ", ".join(word for number, word in _FILTER_WORDS.items() if number in filters)
        raise _refused(path, f"uses the filters {used}; allowed are {known}")
    item = kind.get_size()
    size = float(np.prod(dataset.shape or (1,), dtype=np.float64)) * item
    stored = dataset.id.get_storage_size()
    if layout == h5d.CHUNKED and np.prod(creation.get_chunk(), dtype=np.float64) * item > limits.chunk:
        raise _refused(path, f"has chunks larger than {limits.chunk // _MIB} MiB")
    if size > _MIB and size > limits.ratio * stored:
        raise _refused(path, f"would grow from {stored} to {size:.0f} bytes")
    if size > limits.dataset and size > 4 * stored:  # what is really on the disk was not made up
        raise _refused(path, f"has {size:.0f} bytes, more than {limits.dataset}")
    return int(size)


def _plain(kind: h5t.TypeID) -> bool:
    if isinstance(kind, h5t.TypeEnumID):
        return kind.get_nmembers() == 2 and {kind.get_member_name(0), kind.get_member_name(1)} == {
            b"FALSE",
            b"TRUE",
        }
    return isinstance(kind, (h5t.TypeIntegerID, h5t.TypeFloatID, h5t.TypeStringID))


def _refused(path: str, rule: str) -> SessionError:
    return SessionError(f"“{path or '/'}” {rule}.")
