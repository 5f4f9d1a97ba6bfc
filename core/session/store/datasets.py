"""Datasets in the AnnData element encoding: ``anndata.io.read_elem(file["data/<name>"])`` reads them.

What AnnData has no place for (kind, categories, units, source, steps) is JSON in ``uns/plaidwork``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import h5py
import numpy as np

from plaidwork.core.contract.typed import UnfitError, fitting, told
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, as_declared, number_of, put, text_of
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.hdf5.stored import StoredSparse
from plaidwork.core.session.store.linked import LinkedValues, read_linked
from plaidwork.core.session.store.wide import MOST_COLUMNS, read_wide, write_wide

_CSR = ("data", "indices", "indptr")
_ARRAYS = {"values", "row_names", "column_names", "row_table", "column_table"}


def write_dataset(
    writer: Writer,
    group: h5py.Group,
    dataset: Dataset,
    digest: str = "",
    link: Mapping[str, Any] | None = None,
) -> None:
    """Fill an empty group with one dataset, whose ``digest`` is noted where it is known; with a ``link`` without its values."""
    encode(group, "anndata", "0.1.0")
    labels = dataset.kind == "categorical"
    uns = group.create_group("uns")
    encode(uns, "dict", "0.1.0")
    fields = _fields(dataset, digest) | ({"link": link} if link is not None else {})
    encode(writer.json(uns, "plaidwork", fields), "string", "0.2.0")
    obs = _frame(writer, group, "obs", dataset.row_names, dataset.row_table)
    if labels:
        _labels(writer, obs, dataset)
        write_frame(writer, group, "var", (), {})
    else:
        columns = dataset.column_names if len(dataset.shape) == 2 else ("value",)
        _frame(writer, group, "var", columns, dataset.column_table if len(dataset.shape) == 2 else {})
        if link is None:
            _matrix(writer, group, dataset)


def _frame(
    writer: Writer, group: h5py.Group, axis: str, names: Sequence[str], table: Mapping[str, np.ndarray]
) -> h5py.Group:
    """The items of an axis; a table of very many columns is kept apart from them."""
    if len(table) <= MOST_COLUMNS:
        return write_frame(writer, group, axis, names, table)
    write_wide(writer, group, axis, table)
    return write_frame(writer, group, axis, names, {})


def encode(thing: h5py.HLObject, kind: str, version: str) -> None:
    """Say what an element is, as AnnData does."""
    thing.attrs["encoding-type"] = kind
    thing.attrs["encoding-version"] = version


def _fields(dataset: Dataset, digest: str) -> dict[str, Any]:
    """All fields that are not arrays, by name, and what is known of the values, so that they need not be read for it."""
    fields: dict[str, Any] = {"shape": list(dataset.shape), "missing": dataset.n_missing}
    if digest:
        fields["digest"] = digest
    for field in dataclasses.fields(dataset):
        if field.name not in _ARRAYS:
            value = getattr(dataset, field.name)
            if isinstance(value, Source):
                value = _record(value)
            elif field.name == "steps":
                value = [_record(step) for step in value]
            fields[field.name] = value
    return fields


def _record(thing: Any) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}


def _matrix(writer: Writer, group: h5py.Group, dataset: Dataset) -> None:
    held = dataset.held
    if not dataset.is_sparse:
        values = held if isinstance(held, Deferred) else held.reshape(len(held), -1)
        encode(writer.array(group, "X", values), "array", "0.2.0")
        return
    inner = group.create_group("X")
    encode(inner, "csr_matrix", "0.1.0")
    inner.attrs["shape"] = np.array(dataset.shape, np.int64)
    if isinstance(held, StoredSparse):
        container, parts = held.container, held.parts
    else:
        values = dataset.values.tocsr()
        container, parts = type(dataset.values).__name__, {name: getattr(values, name) for name in _CSR}
    inner.attrs["container"] = container
    for name in _CSR:
        encode(writer.array(inner, name, parts[name], enum=True), "array", "0.2.0")


def write_frame(
    writer: Writer, parent: h5py.Group, name: str, index: Sequence[str], table: Mapping[str, np.ndarray]
) -> h5py.Group:
    """A table of items by their names, columns by their titles."""
    group = parent.create_group(name)
    encode(group, "dataframe", "0.2.0")
    order: list[str] = []
    taken = {"_index", "labels"}
    for number, (title, column) in enumerate(table.items()):
        link = link_name(title)
        if link in taken:
            link = f"{link} ({number})"
        order.append(link)
        taken.add(link)
        _column(writer, group, link, np.asarray(column))
        put(group[link], title=title)
        group[link].attrs["order"] = number
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(order, dtype=h5py.string_dtype())
    box = np.empty(len(index), dtype=object)
    box[:] = index
    encode(writer.texts(group, "_index", box), "string-array", "0.2.0")
    return group


def _column(writer: Writer, group: h5py.Group, name: str, column: np.ndarray) -> None:
    kind = column.dtype.kind
    if kind in "iufb" and column.dtype.itemsize <= 8:
        encode(writer.array(group, name, column, enum=True), "array", "0.2.0")
        return
    flat = [None if item is None or item != item else str(item) for item in column.tolist()]
    if kind == "U" or None not in flat:
        attrs = {"text": column.dtype.str} if kind == "U" else {}
        encode(writer.texts(group, name, np.array(flat, dtype=object), **attrs), "string-array", "0.2.0")
        return
    values = sorted({item for item in flat if item is not None})
    codes = {item: code for code, item in enumerate(values)}
    _categorical(writer, group, name, np.array([codes.get(item, -1) for item in flat], np.int64), values)  # type: ignore[arg-type]


def _categorical(
    writer: Writer, group: h5py.Group, name: str, codes: np.ndarray, values: Sequence[str]
) -> None:
    inner = group.create_group(name)
    encode(inner, "categorical", "0.2.0")
    inner.attrs["ordered"] = False
    encode(writer.array(inner, "codes", codes), "array", "0.2.0")
    box = np.empty(len(values), dtype=object)
    box[:] = list(values)
    encode(writer.texts(inner, "categories", box), "string-array", "0.2.0")


def _labels(writer: Writer, obs: h5py.Group, dataset: Dataset) -> None:
    """The codes of a vector of labels, as first column ``labels``."""
    _categorical(writer, obs, "labels", dataset.values, dataset.categories)
    obs.attrs["column-order"] = np.array(["labels", *obs.attrs["column-order"]], dtype=h5py.string_dtype())


def read_stored(reader: Reader, group: h5py.Group) -> Dataset:
    """The dataset back. Raises ``SessionError``."""
    fields = reader.json(reader.group(group, "uns")["plaidwork"])
    try:
        values = _told(fields)
        shape = fitting(fields.get("shape"), tuple[int, ...], "shape")
    except UnfitError as error:
        raise SessionError(f"“{reader.at}” is not what was expected: {error}.") from error
    if not 1 <= len(shape) <= 2 or min(shape) < 0:
        raise SessionError(f"“{group.name}” has the shape {shape}, expected rows, or rows and columns.")
    row_names, row_table = _read_frame(reader, group, "obs")
    column_names, column_table = _read_frame(reader, group, "var")
    if len(shape) < 2:
        column_names, column_table = (), {}
    if values["kind"] == "categorical":
        array: Any = _codes(reader, group, len(values["categories"]))
    elif "link" in fields:
        array = read_linked(values["name"], fields["link"], shape)
    elif isinstance(group["X"], h5py.Group):
        array = _read_sparse(reader, group["X"])
    else:
        array = reader.later(group["X"], shape)
        if array.dtype.kind not in "biuf":
            raise SessionError(f"“{reader.at}” holds texts, expected numbers.")
    found = Dataset(
        **values,
        values=array,
        row_names=row_names,
        column_names=column_names,
        row_table=row_table,
        column_table=column_table,
    )
    if isinstance(array, LinkedValues):  # only values with this digest are ever read
        array.described = found
        found.knowing(array.link.digest, int(fields.get("missing", -1)))
    elif reader.sealed:  # else anybody may have written it
        found.knowing(str(fields.get("digest", "")), int(fields.get("missing", -1)))
    return found


def _codes(reader: Reader, group: h5py.Group, count: int) -> np.ndarray:
    """Numbers of the classes of labels, -1 where there is none: models index with them."""
    codes = reader.array(reader.group(reader.group(group, "obs"), "labels")["codes"])
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise SessionError(
            f"“{reader.at}” is {codes.dtype} of the shape {codes.shape}, expected a list of whole numbers."
        )
    if codes.size and not -1 <= codes.min() <= codes.max() < count:
        raise SessionError(
            f"“{reader.at}” has classes from {codes.min()} to {codes.max()}, there are {count}, numbered from 0."
        )
    return codes


def _told(fields: Any) -> dict[str, Any]:
    """What is told of a dataset beside its arrays, as the dataset has it; what later versions add is left out. Raises ``UnfitError``."""
    if not isinstance(fields, Mapping):
        raise UnfitError(f"it is {told(fields)}, expected an object with entries")
    hints = get_type_hints(Dataset)
    known = [field.name for field in dataclasses.fields(Dataset) if field.name not in _ARRAYS]
    for name in ("name", "kind"):
        if name not in fields:
            raise UnfitError(f"“{name}” is missing")
    found = {name: fitting(fields[name], hints[name], name) for name in known if name in fields}
    return {"categories": (), **found}


def _read_sparse(reader: Reader, group: h5py.Group) -> Any:
    import scipy.sparse

    container = getattr(
        scipy.sparse, str(group.attrs.get("container", "csr_matrix")), scipy.sparse.csr_matrix
    )
    if container not in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        container = scipy.sparse.csr_matrix
    shape = tuple(int(n) for n in group.attrs["shape"])
    parts = {name: reader.later(group[name]) for name in _CSR}

    def read() -> Any:
        found = (part.get() if isinstance(part, Deferred) else part for part in parts.values())
        matrix = container(tuple(found), shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    if not any(isinstance(part, Deferred) for part in parts.values()):
        return read()
    return StoredSparse(parts, container.__name__, shape, read)


def _read_frame(
    reader: Reader, dataset: h5py.Group, axis: str
) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
    group = reader.group(dataset, axis)
    columns = [(number_of(thing, "order"), name) for name, thing in group.items() if "order" in thing.attrs]
    table = {text_of(group[name], "title"): _read_column(reader, group[name]) for _, name in sorted(columns)}
    table |= read_wide(reader, dataset, axis)
    for title, column in table.items():
        if column.ndim != 1:
            raise SessionError(
                f"“{group.name}” has “{title[:40]}” of the shape {column.shape}, expected one axis."
            )
    names = reader.array(group["_index"])
    if names.ndim != 1 or names.dtype.kind != "O":
        raise SessionError(
            f"“{reader.at}” is {names.dtype} of the shape {names.shape}, expected a list of texts."
        )
    return tuple(names.tolist()), table


def _read_column(reader: Reader, thing: Any) -> np.ndarray:
    if isinstance(thing, h5py.Dataset):
        return as_declared(reader.array(thing), thing)
    codes, values = reader.array(thing["codes"]), reader.array(thing["categories"])
    if codes.size and not -1 <= codes.min() <= codes.max() < max(len(values), 1):
        raise SessionError(f"“{thing.name}” has codes without a category.")
    column = np.full(len(codes), None, dtype=object)
    column[codes >= 0] = values[codes[codes >= 0]]
    return column
