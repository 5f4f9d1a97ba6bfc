"""Arrays that lie in a file of this installation until somebody needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

from plaidwork.core.deferred import Deferred
from plaidwork.core.hdf5.limits import MIB
from plaidwork.core.hdf5.parts import ChangedPartError, PartsFile

LARGE = MIB
"""Arrays of so many bytes are read when they are needed."""


class StoredArray(Deferred):
    """An array of numbers in a file; ``decode`` is asked for one that is packed.

    One that lies in one piece is read without HDF5, so that it can be read even where things around it were changed.
    """

    def __init__(
        self, file: PartsFile, dataset: h5py.Dataset, decode: Callable[[h5py.Dataset], np.ndarray]
    ) -> None:
        bits = dataset.attrs.get("dtype") == "bool" and "packed" not in dataset.attrs
        super().__init__(dataset.shape, np.bool_ if bits else dataset.dtype)
        self._file: PartsFile | None = file
        self._path, self._decode, self._stored = dataset.name, decode, dataset.dtype
        offset, size = dataset.id.get_offset(), dataset.size * dataset.dtype.itemsize
        plain = dataset.dtype.kind != "b" and dataset.id.get_storage_size() == size
        self._offset = offset if plain else None

    def reshape(self, shape: tuple[int, ...]) -> StoredArray:
        """Itself, which is read in another shape of as many items; only before anybody has it."""
        self.shape = tuple(shape)
        return self

    def _fetch(self) -> np.ndarray:
        file = self._file
        assert file is not None
        if self._offset is None:
            with file.opened() as opened:
                found = self._decode(opened[self._path]).reshape(self.shape)
        else:
            found = np.empty(self.shape, self._stored)
            file.fill(found.reshape(-1).view(np.uint8).data, self._offset)
            found = found.astype(self.dtype, copy=False)
        self._file = None  # which is closed with the last of its arrays
        return found

    def _part(self, step: int) -> np.ndarray | None:
        """Each wanted row with the parts of the file around it, which are compared as ever."""
        file = self._file
        if file is None or self._offset is None or not self.shape:
            return None
        found = np.empty((len(range(0, self.shape[0], step)), *self.shape[1:]), self._stored)
        length = found[:1].nbytes
        for place, row in enumerate(found):
            file.fill(row.reshape(-1).view(np.uint8).data, self._offset + place * step * length)
        return found.astype(self.dtype, copy=False)

    def copy_to(self, group: h5py.Group, name: str) -> tuple[h5py.Dataset, str] | None:
        """Copy the bytes as they lie in the file; the new dataset and its checksum, or None when that cannot be done."""
        file = self._file
        if file is None:
            return None
        try:
            with file.opened() as old:
                digest = _checksums(old)[self._path]
                group.copy(old[self._path], group, name=name, without_attrs=True)
        except ChangedPartError:
            if name in group:
                del group[name]
            return None
        return group[name], digest


class StoredValue(Deferred):
    """A nested value in a file, under a path of its own; ``read`` is asked for it."""

    def __init__(self, file: PartsFile, group: h5py.Group, read: Callable[[h5py.Group], Any]) -> None:
        super().__init__((), object)
        self._file: PartsFile | None = file
        self._path, self._decode = group.name, read

    def _fetch(self) -> Any:
        file = self._file
        assert file is not None
        with file.opened() as opened:
            found = self._decode(opened[self._path])
        self._file = None
        return found

    def copy_to(self, group: h5py.Group, name: str) -> dict[str, str] | None:
        """Copy it as it lies in the file; the checksums of its arrays by their new paths, or None when that cannot be done."""
        file = self._file
        if file is None:
            return None
        start = len(self._path)
        try:
            with file.opened() as old:
                sums = {
                    path[start:]: found
                    for path, found in _checksums(old).items()
                    if path.startswith(self._path)
                }
                group.copy(old[self._path], group, name=name)
        except ChangedPartError:
            if name in group:
                del group[name]
            return None
        inside = {
            path: found for path, found in sums.items() if path[:1] in ("", "/") and not path.endswith("@")
        }
        return {f"{group.name}/{name}{path}": found for path, found in inside.items()}


def _checksums(file: h5py.File) -> dict[str, str]:
    table = (
        file["checksums"][name].asstr("utf-8", "surrogateescape")[()].tolist() for name in ("path", "sha256")
    )
    return dict(zip(*table, strict=True))


class StoredSparse(Deferred):
    """A sparse matrix whose three arrays lie in a file."""

    def __init__(
        self, parts: dict[str, Any], container: str, shape: tuple[int, ...], read: Callable[[], Any]
    ) -> None:
        nbytes = sum(int(part.nbytes) for part in parts.values())
        super().__init__(shape, parts["data"].dtype, read, nbytes=nbytes, sparse=True)
        self.parts, self.container = parts, container
