"""Results of a run: arrays, tables and texts by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from plaidwork.core.contract.model import Result, Results, Table
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, as_declared, put, text_of
from plaidwork.core.hdf5.schema import link_name, storable, to_json


class ResultWriter:
    """Writes results into a group; axes whose items have names get them as dimension scale in ``scales``."""

    def __init__(self, writer: Writer, group: h5py.Group, labels: Mapping[str, Sequence[str]]) -> None:
        self._writer, self._group, self._labels = writer, group, labels
        self._scales: dict[str, h5py.Dataset] = {}

    def write(self, name: str, result: Result | Table | str, order: int) -> None:
        link = link_name(name)
        common = {"name": name, "order": order}
        match result:
            case str():
                self._writer.text(self._group, link, result, kind="text", **common)
            case Result():
                about: dict[str, Any] = {"unit": result.unit, "label": result.label, "doc": result.doc}
                attrs = {"kind": "array", "about": to_json(about), "dims": to_json(result.dims), **common}
                dataset = _column(self._writer, self._group, link, result.held, attrs)
                self._name_axes(dataset, result.dims)
            case Table():
                group = self._group.create_group(link)
                about = {"units": result.units, "label": result.label, "doc": result.doc}
                if result.decimals:
                    about["decimals"] = result.decimals
                put(group, **{"kind": "table", "about": to_json(about), **common})
                for number, (title, column) in enumerate(result.columns.items()):
                    _column(self._writer, group, link_name(title), column, {"name": title, "order": number})
            case _:
                raise SessionError(
                    f"The result “{name}” is a {type(result).__name__}, which cannot be stored."
                )

    def _name_axes(self, dataset: h5py.Dataset, dims: tuple[str, ...]) -> None:
        for axis, dim in enumerate(dims[: dataset.ndim]):
            dataset.dims[axis].label = dim if storable(dim) else "?"
            labels = self._labels.get(dim, ())
            if len(labels) == dataset.shape[axis] > 0:
                if dim not in self._scales:
                    scales = self._group.parent.require_group("scales")
                    made = self._writer.labels(scales, link_name(dim), labels)
                    self._scales[dim] = self._writer.make_scale(made)
                self._writer.scale(dataset, axis, self._scales[dim])


def _column(writer: Writer, group: h5py.Group, name: str, array: Any, attrs: dict[str, Any]) -> h5py.Dataset:
    if array.dtype.kind == "O":
        flat = array.ravel().tolist()
        if all(isinstance(item, (bool, np.bool_)) for item in flat) and flat:
            array, attrs = array.astype(bool), attrs | {"object": "bool"}
        elif (
            all(isinstance(item, (int, float, np.number)) and not isinstance(item, bool) for item in flat)
            and flat
        ):
            array, attrs = array.astype(np.float64), attrs | {"object": "float"}
    if array.dtype.kind == "U":
        attrs = attrs | {"text": array.dtype.str}
    return writer.array(group, name, array, **attrs)


def read_results(reader: Reader, group: h5py.Group) -> Results:
    """All results of a group, in their order."""
    found = sorted(group.values(), key=lambda thing: int(thing.attrs["order"]))
    return {text_of(thing, "name"): _read(reader, thing) for thing in found}


def _read(reader: Reader, thing: Any) -> Result | Table | str:
    import json

    kind = thing.attrs["kind"]
    if kind == "text":
        return reader.text(thing)
    about = json.loads(text_of(thing, "about"))
    if kind == "table":
        columns = sorted(thing.values(), key=lambda column: int(column.attrs["order"]))
        return Table({text_of(column, "name"): _read_column(reader, column) for column in columns}, **about)
    if kind == "array":
        return Result(_read_values(reader, thing), tuple(json.loads(text_of(thing, "dims"))), **about)
    raise SessionError(f"“{thing.name}” has the unknown kind “{kind}”.")


def _read_values(reader: Reader, dataset: h5py.Dataset) -> Any:
    return (
        _read_column(reader, dataset)
        if "object" in dataset.attrs
        else as_declared(reader.later(dataset), dataset)
    )


def _read_column(reader: Reader, dataset: h5py.Dataset) -> np.ndarray:
    array = reader.array(dataset)
    if "object" in dataset.attrs:
        return array.astype(object)
    return as_declared(array, dataset)
