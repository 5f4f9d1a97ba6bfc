"""Compressed arrays written chunk by chunk by several threads: HDF5's own filters use one, and it takes most of the time of a save."""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

_CHUNKS = 4
"""Arrays of fewer chunks are left to HDF5."""


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
    return zlib.compress(flat.reshape(-1, part.dtype.itemsize).T.tobytes(), level)
