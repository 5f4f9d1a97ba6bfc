"""Files in the AnnData and MuData encodings, written with h5py by the letter of the specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy import sparse

TEXT = h5py.string_dtype("utf-8")


def mark(thing: h5py.HLObject, kind: str, version: str = "0.2.0", **more: Any) -> None:
    thing.attrs["encoding-type"], thing.attrs["encoding-version"] = kind, version
    for name, value in more.items():
        thing.attrs[name.replace("_", "-") if name == "column_order" else name] = value


def put_column(group: h5py.Group, name: str, values: Any) -> None:
    """Texts, numbers, booleans, ("categorical", codes, categories) or ("nullable-…", values, mask)."""
    if isinstance(values, tuple):
        kind, first, second = values
        inner = group.create_group(name)
        mark(inner, kind, "0.2.0" if kind == "categorical" else "0.1.0")
        words = ("codes", "categories") if kind == "categorical" else ("values", "mask")
        if kind == "categorical":
            inner.attrs["ordered"] = False
        put_column(inner, words[0], np.asarray(first))
        put_column(inner, words[1], np.asarray(second))
        return
    array = np.asarray(values)
    if array.dtype.kind in "UO":
        mark(group.create_dataset(name, data=[str(item) for item in array], dtype=TEXT), "string-array")
    else:
        mark(group.create_dataset(name, data=array), "array")


def put_frame(parent: h5py.Group, name: str, names: list[str], **columns: Any) -> None:
    group = parent.create_group(name)
    mark(group, "dataframe", _index="_index")
    group.attrs["column-order"] = np.array(list(columns), dtype=object) if columns else np.zeros(0)
    put_column(group, "_index", names)
    for title, values in columns.items():
        put_column(group, title, values)


def put_matrix(parent: h5py.Group, name: str, values: Any) -> None:
    """A dense array, or a scipy CSR or CSC matrix as a group."""
    if not sparse.issparse(values):
        mark(parent.create_dataset(name, data=values), "array")
        return
    group = parent.create_group(name)
    mark(group, f"{values.format}_matrix", "0.1.0", shape=np.array(values.shape))
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(values, part), compression="gzip")


def put_anndata(
    group: h5py.Group, x: Any, obs: dict[str, Any], var: dict[str, Any], layers: dict[str, Any] | None = None
) -> None:
    """``obs`` and ``var`` have the names under ``names`` and columns beside it."""
    mark(group, "anndata", "0.1.0")
    if x is not None:
        put_matrix(group, "X", x)
    for title, table in (("obs", obs), ("var", var)):
        put_frame(group, title, **table)
    inner = group.create_group("layers")
    mark(inner, "dict", "0.1.0")
    for name, values in (layers or {}).items():
        put_matrix(inner, name, values)


def write_h5ad(path: Path, x: Any, obs: dict[str, Any], var: dict[str, Any], **layers: Any) -> Path:
    with h5py.File(path, "w") as file:
        put_anndata(file, x, obs, var, layers)
    return path


def write_h5mu(path: Path, modalities: dict[str, tuple], obs: dict[str, Any]) -> Path:
    """``modalities``: name to (X, obs, var)."""
    with h5py.File(path, "w") as file:
        mark(file, "MuData", "0.1.0", axis=0)
        put_frame(file, "obs", **obs)
        put_frame(file, "var", [name for _, _, var in modalities.values() for name in var["names"]])
        mods, maps = file.create_group("mod"), file.create_group("obsmap")
        mods.attrs["mod-order"] = np.array(list(modalities), dtype=object)
        for name, (x, rows, columns) in modalities.items():
            put_anndata(mods.create_group(name), x, rows, columns)
            place = {item: index + 1 for index, item in enumerate(rows["names"])}
            maps.create_dataset(name, data=[place.get(item, 0) for item in obs["names"]])
    return path
