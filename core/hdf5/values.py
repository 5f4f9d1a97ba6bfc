"""Nested values (dicts, lists, arrays, numbers, texts) as HDF5 groups and back, exactly.

A dict keeps its order and a list its type; arrays keep dtype and memory layout, because sums over an array may
round differently in another layout. Numbers keep their type.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, as_declared, put, text_of
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.pieces import numbers

_INT64 = range(-(2**63), 2**63)


def write_value(writer: Writer, group: h5py.Group, name: str, value: Any, /, **attrs: Any) -> None:
    """Write ``value`` as child ``name``. Raises ``SessionError`` naming a type that cannot be stored."""
    match value:
        case dict():
            inner = _group(group, name, kind="dict", **attrs)
            for position, (key, item) in enumerate(value.items()):
                if not isinstance(key, str):
                    raise SessionError(f"“{inner.name}” has the key {key!r}; only texts can be stored.")
                write_value(writer, inner, link_name(key), item, order=position, key=key)
        case list() | tuple():
            _write_list(writer, group, name, value, attrs)
        case None:
            writer.text(group, name, "", kind="none", **attrs)
        case bool():
            writer.array(group, name, np.int8(value), kind="bool", **attrs)
        case np.generic():
            _write_array(writer, group, name, np.asarray(value), "scalar", attrs)
        case str():
            writer.text(group, name, value, kind="str", **attrs)
        case int() if value in _INT64:
            writer.array(group, name, np.int64(value), kind="int", **attrs)
        case int():
            writer.text(group, name, str(value), kind="bigint", **attrs)
        case float():
            writer.array(group, name, np.float64(value), kind="float", **attrs)
        case bytes():
            writer.array(group, name, np.frombuffer(value, np.uint8), kind="bytes", **attrs)
        case np.ndarray():
            _write_array(writer, group, name, value, "array", attrs)
        case _:
            raise SessionError(f"“{group.name}/{name}” is a {type(value).__name__}, which cannot be stored.")


def _group(parent: h5py.Group, name: str, /, **attrs: Any) -> h5py.Group:
    group = parent.create_group(name)
    put(group, **attrs)
    return group


def _write_list(writer: Writer, group: h5py.Group, name: str, value: Any, attrs: dict[str, Any]) -> None:
    kind = "list" if type(value) is list else "tuple"
    if type(value) not in (list, tuple):
        raise SessionError(
            f"“{group.name}/{name}” is a {type(value).__name__}; named tuples cannot be stored, use a dict."
        )
    types = {type(item) for item in value}
    if types == {float}:
        writer.array(
            group, name, numbers(value, np.float64), kind=kind, items="float", fletcher=True, **attrs
        )
    elif types == {int} and all(item in _INT64 for item in value):
        writer.array(group, name, numbers(value, np.int64), kind=kind, items="int", fletcher=True, **attrs)
    elif types == {str}:
        writer.texts(group, name, value, kind=kind, items="str", **attrs)
    else:
        inner = _group(group, name, kind=kind, length=len(value), **attrs)
        for position, item in enumerate(value):
            write_value(writer, inner, str(position), item)


def _write_array(
    writer: Writer, group: h5py.Group, name: str, array: np.ndarray, kind: str, attrs: dict[str, Any]
) -> None:
    if array.dtype.kind == "U":
        writer.texts(group, name, array, kind=kind, text=array.dtype.str, **attrs)
        return
    if array.dtype.kind == "O":
        if not all(isinstance(item, str) for item in array.ravel()):
            raise SessionError(f"“{group.name}/{name}” is an array of objects, which cannot be stored.")
        writer.texts(group, name, array, kind=kind, text="O", **attrs)
        return
    axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    if axes != list(range(array.ndim)) and array.size > 1 and not array.flags.c_contiguous:
        attrs = attrs | {"axes": np.array(axes, np.int64)}
    writer.array(group, name, array, fletcher=True, kind=kind, **attrs)


def read_value(reader: Reader, thing: Any) -> Any:
    """What :func:`write_value` stored."""
    kind = thing.attrs.get("kind")
    if isinstance(thing, h5py.Group):
        return _read_group(reader, thing, kind)
    array = reader.array(thing)
    match kind:
        case "none":
            return None
        case "bool":
            return bool(array)
        case "str":
            return str(array.item())
        case "int":
            return int(array)
        case "bigint":
            return int(array.item())
        case "float":
            return float(array)
        case "bytes":
            return array.tobytes()
        case "list" | "tuple":
            items = array.tolist()
            return items if kind == "list" else tuple(items)
        case "array" | "scalar":
            return _read_array(thing, array, kind)
    raise SessionError(f"“{thing.name}” has the unknown kind “{kind}”.")


def _read_group(reader: Reader, group: h5py.Group, kind: Any) -> Any:
    if kind == "dict":
        children = [(child.attrs["order"], text_of(child, "key"), child) for child in group.values()]
        children.sort(key=lambda child: int(child[0]))
        return {key: read_value(reader, child) for _, key, child in children}
    if kind in ("list", "tuple"):
        length = int(group.attrs["length"])
        if length != len(group):
            raise SessionError(f"“{group.name}” has {counted(len(group), 'item')}, expected {length}.")
        items = [read_value(reader, group[str(position)]) for position in range(length)]
        return items if kind == "list" else tuple(items)
    raise SessionError(f"“{group.name}” has the unknown kind “{kind}”.")


def _read_array(thing: h5py.Dataset, array: np.ndarray, kind: str) -> Any:
    array = as_declared(array, thing)
    if kind == "scalar":
        return array[()]
    if "axes" in thing.attrs:
        axes = [int(axis) for axis in thing.attrs["axes"]]
        array = np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))
    return array
