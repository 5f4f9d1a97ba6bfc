"""How arrays lie in a file: whether compressed, in which chunks, in which blocks they are written.

Compressed arrays are written chunk by chunk by several threads: HDF5's own filters use one, and it takes most of the time of a save.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

from plaidwork.core.hdf5 import schema
from plaidwork.core.pieces import MOST_BYTES

_CHUNKS = 4
"""Arrays of fewer chunks are left to HDF5."""


def shrinks(array: np.ndarray) -> bool:
    """Whether compressing is worth its time, judged from a sample of the bytes."""
    if array.nbytes < 4096:
        return False
    step = max(1, array.size // 8192)
    sample = array.flat[::step][:8192]  # without a copy of the whole
    shuffled = sample.view(np.uint8).reshape(len(sample), -1).T.tobytes()
    return len(zlib.compress(shuffled, 1)) < 0.5 * len(shuffled)


def blocks(array: np.ndarray) -> Iterable[np.ndarray]:
    """The array, or, where it would be copied, its rows a few at a time."""
    if array.flags.c_contiguous or not len(array):
        return (array,)
    rows = max(1, MOST_BYTES // max(1, array[0].nbytes))
    return (array[i : i + rows] for i in range(0, len(array), rows))


def chunk_shape(shape: Sequence[int], itemsize: int, lead: int = 0) -> tuple[int, ...]:
    """A chunk of at most 1 MiB that is long in the last axes; the first ``lead`` axes have length one."""
    chunk = [1] * lead + list(shape[lead:])
    for axis in range(lead, len(chunk)):
        rest = int(np.prod(chunk, dtype=np.int64)) // chunk[axis] * itemsize
        chunk[axis] = max(1, min(chunk[axis], schema.MAX_CHUNK // max(1, rest)))
    return tuple(chunk)


def packs(dataset: h5py.Dataset) -> bool:
    """Whether :func:`write_packed` can write it: chunks of numbers, shuffled and deflated and nothing else."""
    chunks = dataset.chunks
    if chunks is None or dataset.compression != "gzip" or not dataset.shuffle or dataset.fletcher32:
        return False
    return bool(np.prod([-(-n // step) for n, step in zip(dataset.shape, chunks, strict=True)]) >= _CHUNKS)


def aligned(parts: Iterable[np.ndarray], rows: int) -> Iterator[np.ndarray]:
    """The same rows in parts whose lengths, but for the last, are multiples of ``rows``."""
    rest: list[np.ndarray] = []
    for part in parts:
        have = sum(map(len, rest))
        whole = (have + len(part)) // rows * rows - have
        if whole > 0:
            yield np.concatenate([*rest, part[:whole]]) if rest else part[:whole]
            rest, part = [], part[whole:]
        if len(part):
            rest.append(part)
    if rest:
        yield np.concatenate(rest) if len(rest) > 1 else rest[0]


def write_packed(dataset: h5py.Dataset, start: int, part: np.ndarray) -> None:
    """Write ``part`` (C order, of the type of the dataset) from row ``start`` on, where a chunk begins.

    It ends where a chunk or the dataset does.
    """
    chunks, level = dataset.chunks, dataset.compression_opts
    steps = [range(0, n, step) for n, step in zip(part.shape, chunks, strict=True)]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        places = list(itertools.product(*steps))
        for place, packed in zip(
            places, pool.map(lambda at: _packed(part, at, chunks, level), places), strict=True
        ):
            dataset.id.write_direct_chunk((start + place[0], *place[1:]), packed)


def _packed(part: np.ndarray, place: tuple[int, ...], chunks: tuple[int, ...], level: int) -> bytes:
    """One chunk as HDF5's filters make it: the first bytes of all numbers, then the second ones and so on, deflated."""
    chunk = part[tuple(slice(at, at + step) for at, step in zip(place, chunks, strict=True))]
    if chunk.shape != chunks:  # at the edge
        whole = np.zeros(chunks, part.dtype)
        whole[tuple(map(slice, chunk.shape))] = chunk
        chunk = whole
    flat = np.ascontiguousarray(chunk).reshape(-1).view(np.uint8)
    return zlib.compress(np.ascontiguousarray(flat.reshape(-1, part.dtype.itemsize).T).data, level)
