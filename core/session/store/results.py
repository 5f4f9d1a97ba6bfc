"""Results of a run: arrays, tables and texts by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from plaidwork.core.contract.model import Result, Results, Table
from plaidwork.core.contract.typed import UnfitError, fitting, told
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, as_declared, number_of, put, text_of
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
                if result.words:
                    about["words"] = list(result.words)
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
    """All results of a group, in their order. Raises ``SessionError`` naming one that is not what a result is."""
    found = sorted(group.values(), key=lambda thing: number_of(thing, "order"))
    results: Results = {}
    for thing in found:
        name = text_of(thing, "name")
        if not name.isidentifier() or name in results:
            raise SessionError(
                f"“{thing.name}” is called “{name[:40]}”, expected a name of its own without blanks."
            )
        results[name] = _read(reader, thing)
    return results


def _read(reader: Reader, thing: Any) -> Result | Table | str:
    reader.at = thing.name
    kind = thing.attrs.get("kind")
    if kind not in ("text", "table", "array"):
        raise SessionError(f"“{thing.name}” has the unknown kind “{str(kind)[:40]}”.")
    if (kind == "table") != isinstance(thing, h5py.Group):
        raise SessionError(f"“{thing.name}” is not stored as the kind “{kind}” is.")
    if kind == "text":
        found = reader.array(thing)
        if found.shape or not isinstance(found.item(), str):
            raise SessionError(f"“{thing.name}” is {_told(found)}, expected a text.")
        return str(found.item())
    about = _about(thing, _ABOUT[kind])
    return _table(reader, thing, about) if kind == "table" else _array(reader, thing, about)


_ABOUT: dict[str, dict[str, Any]] = {
    "array": {"unit": str, "label": str, "doc": str},
    "table": {
        "units": Mapping[str, str],
        "label": str,
        "doc": str,
        "decimals": Mapping[str, int],
        "words": tuple[str, ...],
    },
}
"""What is told of a result beside its values, and of which type each is."""
_MOST_DECIMALS = 17


def _about(thing: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    found = _json(thing, "about", dict)
    for name in found:
        if name not in wanted:
            raise SessionError(f"“{thing.name}” tells of an unknown “{str(name)[:40]}”.")
    try:
        return {name: fitting(value, wanted[name], name) for name, value in found.items()}
    except UnfitError as error:
        raise SessionError(f"of “{thing.name}” {error}.") from error


def _json(thing: Any, name: str, kind: type) -> Any:
    try:
        found = json.loads(text_of(thing, name))
    except ValueError as error:
        raise SessionError(f"the attribute “{name}” of “{thing.name}” is no JSON.") from error
    if not isinstance(found, kind):
        word = "a list" if kind is list else "an object with entries"
        raise SessionError(f"the attribute “{name}” of “{thing.name}” is {told(found)}, expected {word}.")
    return found


def _told(found: Any) -> str:
    """Type and shape of an array, in words."""
    what = "texts" if found.dtype.kind in "OU" else str(found.dtype)
    return f"{what} of the shape {tuple(found.shape)}" if found.shape else f"a single {what}"


def _table(reader: Reader, group: h5py.Group, about: dict[str, Any]) -> Table:
    ordered = sorted(group.values(), key=lambda column: number_of(column, "order"))
    columns: dict[str, np.ndarray] = {}
    for column in ordered:
        found = _read_column(reader, column)
        first = len(next(iter(columns.values()), found)) if found.ndim else 0
        if found.ndim != 1 or len(found) != first:
            wanted = f"({first},)" if columns and first else "one axis"
            raise SessionError(
                f"“{column.name}” is {_told(found)}, expected {wanted}, like each column before it."
            )
        columns[text_of(column, "name")] = found
    for title, number in about.get("decimals", {}).items():
        if not 0 <= number <= _MOST_DECIMALS:
            raise SessionError(
                f"“{group.name}” has {number} decimals of “{title[:40]}”, at most {_MOST_DECIMALS}."
            )
    return Table(columns, **about)


def _array(reader: Reader, dataset: h5py.Dataset, about: dict[str, Any]) -> Result:
    dims = _json(dataset, "dims", list)
    if not all(isinstance(dim, str) for dim in dims) or len(dims) not in (0, dataset.ndim):
        raise SessionError(f"“{dataset.name}” has the shape {dataset.shape} and the axes {str(dims)[:60]}.")
    return Result(_read_values(reader, dataset), tuple(dims), **about)


def _read_values(reader: Reader, dataset: h5py.Dataset) -> Any:
    return (
        _read_column(reader, dataset)
        if "object" in dataset.attrs
        else as_declared(reader.later(dataset), dataset)
    )


def _read_column(reader: Reader, dataset: Any) -> np.ndarray:
    array = reader.array(dataset)
    if "object" in dataset.attrs:
        return array.astype(object)
    return as_declared(array, dataset)
