"""Reading foreign HDF5 files with care: nothing that points elsewhere, nothing that grows without bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5l

from plaidwork.core.data.in_chunks import FILTERS
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.hdf5 import gate
from plaidwork.core.hdf5.limits import machine_limits

_ATTRIBUTE = 1 << 24
_DAMAGED = (OSError, RuntimeError, ValueError, KeyError, TypeError, UnicodeError, MemoryError)


class Archive:
    """An open file; every object is looked at before it is read. Errors are ``DataError`` that name file and object."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self.path, self.file = path, file

    def fail(self, path: str, rule: str, hint: str = "") -> DataError:
        """The error for what is wrong at a place in the file."""
        return DataError(f"{self.path.name}, “{path or '/'}”: {rule}.", hint)

    def names(self, group: h5py.Group) -> list[str]:
        """Names in a group, in the order of the file."""
        return [raw.decode("utf-8", "backslashreplace") for raw in group.id]

    def get(self, group: h5py.Group, name: str) -> h5py.Group | h5py.Dataset:
        """What is under a name. Links to other places are refused."""
        path = f"{group.name.rstrip('/')}/{name}"
        if name not in group:
            raise self.fail(path, "expected, not found", "Write the file once more with a current version.")
        if group.id.links.get_info(name.encode()).type != h5l.TYPE_HARD:
            raise self.fail(path, "is a link to another place, which is not followed")
        return group[name]

    def group(self, group: h5py.Group, name: str) -> h5py.Group:
        """The group under a name."""
        found = self.get(group, name)
        if not isinstance(found, h5py.Group):
            raise self.fail(found.name, "expected a group, found an array")
        return found

    def array(self, group: h5py.Group, name: str, *, piecewise: bool = False) -> h5py.Dataset:
        """The array under a name, checked (:meth:`checked`) and not yet read."""
        found = self.get(group, name)
        if not isinstance(found, h5py.Dataset):
            raise self.fail(found.name, "expected an array, found a group")
        return self.checked(found, piecewise=piecewise)

    def checked(self, dataset: h5py.Dataset, *, piecewise: bool = False) -> h5py.Dataset:
        """The array, once its type, storage and size are known to be harmless; ``piecewise``: where never much of it is in memory."""
        limits = machine_limits()
        try:
            gate.check_array(dataset, dataset.name, limits.piecewise() if piecewise else limits, FILTERS)
        except SessionError as error:
            hint = "Write the file once more without special compression." if "filter" in str(error) else ""
            raise DataError(f"{self.path.name}: {error.message}", hint) from error
        return dataset

    def texts(self, dataset: h5py.Dataset) -> np.ndarray:
        """An array of texts (U)."""
        if h5py.check_string_dtype(dataset.dtype) is None:
            return np.asarray(dataset[()]).astype(str)
        return np.asarray(dataset.asstr("utf-8", "replace")[()], dtype=str)

    def attr(self, thing: h5py.HLObject, name: str, default: Any = "") -> Any:
        """A small attribute as text, or as it is."""
        if name not in thing.attrs:
            return default
        identifier = h5py.h5a.open(thing.id, name.encode())
        size = int(np.prod(identifier.shape or (1,), dtype=np.float64)) * identifier.get_type().get_size()
        if size > _ATTRIBUTE:
            raise self.fail(thing.name, f"has an attribute “{name}” of {counted(size, 'byte')}")
        value = thing.attrs[name]
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@lru_cache(64)
def _check_heaps(path: Path, size: int, time: int) -> None:
    """Once for each state of a file: it goes through all of its bytes."""
    gate.check_heaps(path)


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open for reading. Raises ``DataError`` for what is no HDF5 file, is damaged or breaks a rule."""
    try:
        found = path.stat()
        _check_heaps(path, found.st_size, found.st_mtime_ns)
        with h5py.File(path, "r") as file:
            yield Archive(path, file)
    except DataError:
        raise
    except SessionError as error:
        raise DataError(f"{path.name} is damaged: {error.message}", "Copy or write it once more.") from error
    except _DAMAGED as error:
        raise DataError(
            f"{path.name} is no HDF5 file, or is damaged: {error}.", "Copy or write it once more."
        ) from error
