"""Annotated data as the public specifications of AnnData and MuData have them on disk, written with h5py alone.

AnnData: element encodings of anndata 0.8 and later (https://anndata.readthedocs.io, “On-disk format”). MuData: version 0.1.0
(https://mudata.readthedocs.io).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaidwork.core.hdf5 import schema
from plaidwork.core.hdf5.atomic import replace_file
from plaidwork.core.hdf5.h5 import Writer, open_new
from plaidwork.core.hdf5.schema import link_name
from plaidwork.core.session.annotated import Annotated, Part
from plaidwork.core.session.store.datasets import encode, write_dataset, write_frame

_HEAD = 512
"""Bytes before the HDF5 part of a MuData file, which begin with its name."""


def write_anndata(found: Annotated, path: Path) -> None:
    """One matrix with what was found. Raises ``OSError``."""

    def write(temporary: Path) -> None:
        with open_new(temporary) as file:
            writer = Writer(file)
            _part(writer, file, found.parts[0])
            for name, value in found.uns.items():
                _element(writer, file["uns"], name, value)

    replace_file(path, write, backup=False)


def write_mudata(found: Annotated, path: Path) -> None:
    """All matrices as modalities, with what was found of all samples. Raises ``OSError``."""
    from plaidwork.core import __version__

    def write(temporary: Path) -> None:
        with h5py.File(temporary, "x", libver=schema.LIBVER, userblock_size=_HEAD) as file:
            _modalities(Writer(file), file, found)
        head = f"MuData (format-version=0.1.0;creator=plaidwork;creator-version={__version__})"
        with open(temporary, "r+b") as raw:
            raw.write(head.encode("ascii").ljust(_HEAD, b"\0"))

    replace_file(path, write, backup=False)


def _modalities(writer: Writer, file: h5py.File, found: Annotated) -> None:
    encode(file, "MuData", "0.1.0")
    file.attrs["axis"] = 0
    inner = file.create_group("mod")
    names = [link_name(part.dataset.name) for part in found.parts]
    for name, part in zip(names, found.parts, strict=True):
        _part(writer, inner.create_group(name), part)
    inner.attrs["mod-order"] = np.array(names, dtype=h5py.string_dtype())
    write_frame(writer, file, "obs", found.samples, found.obs)
    write_frame(writer, file, "var", [name for part in found.parts for name in part.dataset.column_names], {})
    masks, obsmap, varmap, start = {}, {}, {}, 0
    total = sum(len(part.dataset.column_names) for part in found.parts)
    for name, part in zip(names, found.parts, strict=True):
        place = {row: at + 1 for at, row in enumerate(part.dataset.row_names)}
        obsmap[name] = np.array([place.get(row, 0) for row in found.samples], dtype=np.uint32)
        masks[name] = obsmap[name] > 0
        count = len(part.dataset.column_names)
        varmap[name] = np.zeros(total, dtype=np.uint32)
        varmap[name][start : start + count] = np.arange(1, count + 1)
        start += count
    for name, arrays in (
        ("obsm", {**masks, **found.obsm}),
        ("varm", {key: at > 0 for key, at in varmap.items()}),
        ("obsmap", obsmap),
        ("varmap", varmap),
        ("uns", found.uns),
    ):
        _element(writer, file, name, arrays)


def _part(writer: Writer, group: h5py.Group, part: Part) -> None:
    data = part.dataset
    tables = {**_beside(data.row_table, part.obs)}, {**_beside(data.column_table, part.var)}
    write_dataset(writer, group, data.with_(row_table=tables[0], column_table=tables[1]))
    for name, arrays in (("obsm", part.obsm), ("varm", part.varm), ("layers", part.layers)):
        _element(writer, group, name, arrays)


def _beside(table: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns of the data, and those found under names that are not theirs."""
    return {**table, **{name: values for name, values in found.items() if name not in table}}


def _element(writer: Writer, group: h5py.Group, name: str, value: Any) -> None:
    """A mapping as group, an array of numbers or texts, a number or a text; None is left out."""
    key = link_name(name)
    if value is None:
        return
    if isinstance(value, Mapping):
        inner = group.create_group(key)
        encode(inner, "dict", "0.1.0")
        for own, part in value.items():
            _element(writer, inner, str(own), part)
        return
    if isinstance(value, str):
        encode(writer.text(group, key, value), "string", "0.2.0")
        return
    array = np.asarray(value)
    if array.dtype.kind in "USO":
        encode(writer.texts(group, key, array.astype(object)), "string-array", "0.2.0")
    else:
        encode(
            writer.array(group, key, array, enum=True),
            "numeric-scalar" if array.ndim == 0 else "array",
            "0.2.0",
        )
