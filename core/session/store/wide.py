"""Tables of very many annotation columns: one matrix for all columns of a type, since each array of HDF5 takes its time.

``uns/plaidwork_columns`` has a group for each axis (``obs``, ``var``), in it one for each type: ``values`` (items by columns),
``title`` and ``place`` of each column; texts are numbers into ``words``, -1 for none, ``width`` is their declared length.
"""

from __future__ import annotations

from collections.abc import Mapping

import h5py
import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer
from plaidwork.core.hdf5.limits import machine_limits

MOST_COLUMNS = 500
"""Tables of more columns are kept so; those of fewer have an array for each, as other programs show them best."""
_INDEX = "plaidwork_columns"
_TEXTS = "texts"


def write_wide(writer: Writer, group: h5py.Group, frame: str, table: Mapping[str, np.ndarray]) -> None:
    """Write all columns of the table of an axis (``obs`` or ``var``) of the dataset in ``group``."""
    places: dict[str, list[int]] = {}
    columns = [np.asarray(column) for column in table.values()]
    for place, column in enumerate(columns):
        numbers = column.dtype.kind in "iufb" and column.dtype.itemsize <= 8
        places.setdefault(column.dtype.newbyteorder("=").name if numbers else _TEXTS, []).append(place)
    index = _dict(_mark(group["uns"].require_group(_INDEX)), frame)
    titles = np.empty(len(columns), dtype=object)
    titles[:] = list(table)
    for name, chosen in places.items():
        inner = _dict(index, name)
        _array(writer, inner, "place", np.array(chosen, np.int64))
        writer.texts(inner, "title", titles[chosen]).attrs.update(_STRINGS)
        found = [columns[place] for place in chosen]
        if name == _TEXTS:
            matrix, words = _coded(found)
            writer.texts(inner, "words", words).attrs.update(_STRINGS)
            widths = [column.dtype.itemsize // 4 if column.dtype.kind == "U" else 0 for column in found]
            _array(writer, inner, "width", np.array(widths, np.int64))
        else:
            matrix = np.stack(found, axis=1)
        _array(writer, inner, "values", matrix)


_STRINGS = {"encoding-type": "string-array", "encoding-version": "0.2.0"}


def _mark(group: h5py.Group) -> h5py.Group:
    group.attrs["encoding-type"], group.attrs["encoding-version"] = "dict", "0.1.0"
    return group


def _dict(parent: h5py.Group, name: str) -> h5py.Group:
    return _mark(parent.create_group(name))


def _array(writer: Writer, group: h5py.Group, name: str, values: np.ndarray) -> None:
    made = writer.array(group, name, values, enum=True)
    made.attrs["encoding-type"], made.attrs["encoding-version"] = "array", "0.2.0"


def _coded(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(items, columns) numbers of texts, -1 for none, and all texts that occur."""
    words: dict[str, int] = {}
    codes = np.empty((len(columns), len(columns[0])), np.int32)
    for row, column in zip(codes, columns, strict=True):
        row[:] = [
            -1 if item is None or item != item else words.setdefault(str(item), len(words))
            for item in column.tolist()
        ]
    found = np.empty(len(words), dtype=object)
    found[:] = list(words)
    return np.ascontiguousarray(codes.T), found


def read_wide(reader: Reader, group: h5py.Group, frame: str) -> dict[str, np.ndarray]:
    """The columns that :func:`write_wide` wrote, in their order; none when the table was narrow. Raises ``SessionError``."""
    index = group["uns"].get(_INDEX)
    if index is None or frame not in index:
        return {}
    found: list[tuple[int, str, np.ndarray]] = []
    for name, inner in reader.group(index, frame).items():
        places, titles = (reader.array(inner[part]) for part in ("place", "title"))
        if places.dtype.kind not in "iu" or titles.dtype.kind != "O" or titles.ndim != 1:
            raise SessionError(f"“{inner.name}” has places of {places.dtype} and titles of {titles.dtype}.")
        places, titles = places.tolist(), titles.tolist()
        matrix = np.ascontiguousarray(reader.array(inner["values"]).T)
        if not len(places) == len(titles) == len(matrix):
            raise SessionError(
                f"“{inner.name}” has {len(titles)} titles for {counted(len(matrix), 'column')}."
            )
        columns = _texts(reader, inner, matrix) if name == _TEXTS else list(matrix)
        found += zip(places, titles, columns, strict=True)
    return {title: column for _, title, column in sorted(found, key=lambda one: one[0])}


def _texts(reader: Reader, inner: h5py.Group, codes: np.ndarray) -> list[np.ndarray]:
    words, widths = reader.array(inner["words"]), reader.array(inner["width"]).tolist()
    if codes.size and not -1 <= codes.min() <= codes.max() < len(words):
        raise SessionError(f"“{inner.name}” has texts that are not there.")
    if words.dtype.kind != "O" or words.ndim != 1:
        raise SessionError(f"“{inner.name}” has words of {words.dtype}, expected texts.")
    texts = np.concatenate([words, np.array([None], dtype=object)])[codes]  # the last one is -1's
    longest = np.array([*map(len, words.tolist()), 0])[codes].max(axis=1, initial=0).tolist()
    room = machine_limits().texts
    found = []
    for row, width, needed in zip(texts, widths, longest, strict=True):
        # What a file declares is allocated: no more than the texts need, and none where there is no room for all alike.
        width = min(width, max(needed, 1))
        size = 4 * width * len(row)
        fixed = width > 0 and size <= room
        room -= size if fixed else 0
        found.append(row.astype(f"<U{width}") if fixed else row)
    return found
