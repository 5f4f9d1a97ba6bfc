"""Kept draws and traces as netCDF-4 groups that ArviZ and xarray read.

Leading dims are ``chain`` and ``draw``; chains of different lengths are padded and ``draw_count`` tells how many
draws each has. A variable whose first dim ``K`` changes from draw to draw is laid end to end along ``K_flat``,
chain by chain and draw by draw, in a group ``ragged`` of its own (ArviZ takes only arrays that start with chain and
draw); ``K_count`` (chain, draw) has the lengths, there and in ``posterior``. Boolean arrays of that kind stay
bit-packed (attributes ``packed``, ``n_bits``: little bit order along the last axis).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from plaidwork.core.contract.spec import ModelSpec, Variable
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.draws import ChainView, StoredDraws
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, put
from plaidwork.core.inference.run import now
from plaidwork.core.pieces import MOST_ITEMS

Labels = Mapping[str, Sequence[str]]
"""Item names by dim, where known."""

_TYPES: dict[str, Any] = {
    "float": np.dtype("<f8"),
    "int": np.dtype("<i8"),
    "count": np.dtype("<i8"),
    "bool": np.dtype("i1"),
}
_AT_ONCE = 1 << 24
"""Bytes that are put together."""
_FILL = {"float": np.nan, "int": 0, "count": 0, "bool": 0}


class _Names:
    """How variables and dims are called in the file: apart from each other and from our own names."""

    def __init__(self, spec: ModelSpec) -> None:
        ragged = {dim for v in spec.variables if v.ragged for dim in v.dims}
        self._taken = {"chain", "draw", "draw_count"}
        self._taken |= {f"{dim}_{end}" for dim in ragged for end in ("flat", "count")}
        self._no_dims = {"chain", "draw"} | {self.variable(v.name) for v in spec.variables}

    def variable(self, name: str) -> str:
        return f"{name}_" if name in self._taken else name

    def dim(self, dim: str) -> str:
        return f"{dim}_dim" if dim in self._no_dims else dim


class _Scales:
    """The dimension scales of one group, made when first used."""

    def __init__(self, writer: Writer, group: h5py.Group, labels: Labels) -> None:
        self._writer, self._group, self._labels = writer, group, labels
        self._made: dict[str, h5py.Dataset] = {}

    def attach(self, dataset: h5py.Dataset, dims: Sequence[tuple[str, str]]) -> None:
        """``dims``: name in the file and name in the model (for its labels) of each axis."""
        used: set[str] = set()
        for axis, (name, origin) in enumerate(dims):
            size, number, free = dataset.shape[axis], 2, name
            while free in used or (free in self._made and self._made[free].shape[0] != size):
                free, number = f"{name}_{number}", number + 1
            used.add(free)
            if free not in self._made:
                self._made[free] = self._make(free, origin, size)
            self._writer.scale(dataset, axis, self._made[free])

    def add(self, name: str, values: np.ndarray) -> None:
        self._made[name] = self._writer.make_scale(self._writer.array(self._group, name, values))

    def _make(self, name: str, origin: str, size: int) -> h5py.Dataset:
        labels = self._labels.get(origin, ())
        if len(labels) == size and size:
            return self._writer.make_scale(self._writer.labels(self._group, name, labels))
        return self._writer.make_scale(self._writer.array(self._group, name, np.arange(size)))


def write_inference(
    writer: Writer,
    parent: h5py.Group,
    group: h5py.Group,
    spec: ModelSpec,
    views: list[ChainView],
    warmup: int,
    labels: Labels,
) -> None:
    """Fill ``group`` with ``posterior``, ``sample_stats`` and ``warmup_sample_stats`` (the first ``warmup`` sweeps).

    Ragged variables go to the new group ``parent/ragged``.
    """
    kept = [view for view in views if view.n_draws]
    if kept:
        posterior = _subgroup(group, "posterior")
        lengths = _ragged(writer, parent, spec, kept, labels) if any(v.ragged for v in spec.variables) else {}
        _posterior(writer, posterior, spec, kept, labels, lengths)
        _stats(writer, _subgroup(group, "sample_stats"), spec, kept, [view.kept_trace for view in kept])
    warmup = warmup if spec.algorithm == "mcmc" else 0
    warm = [(view, min(warmup, view.n_sweeps)) for view in views if min(warmup, view.n_sweeps)]
    if warm:
        values = [lambda name, view=view, n=n: view.trace(name)[:n] for view, n in warm]
        _stats(writer, _subgroup(group, "warmup_sample_stats"), spec, [view for view, _ in warm], values)


def _subgroup(parent: h5py.Group, name: str) -> h5py.Group:
    from plaidwork.core import __version__

    group = parent.create_group(name)
    group.attrs["created_at"] = now()
    group.attrs["inference_library"] = "plaidwork"
    group.attrs["inference_library_version"] = __version__
    return group


def _stats(
    writer: Writer, group: h5py.Group, spec: ModelSpec, views: list[ChainView], values: list[Any]
) -> None:
    names = {
        trace.name: f"{trace.name}_" if trace.name in ("chain", "draw") else trace.name
        for trace in spec.traces
    }
    scales = _Scales(writer, group, {})
    scales.add("chain", np.array([view.chain for view in views]))
    for name, stored in names.items():
        rows = [value(name) for value in values]
        table = np.full((len(rows), max(map(len, rows))), np.nan)
        for row, found in zip(table, rows, strict=True):
            row[: len(found)] = found
        scales.attach(writer.array(group, stored, table, compress=False), [("chain", ""), ("draw", "")])


def _posterior(
    writer: Writer,
    group: h5py.Group,
    spec: ModelSpec,
    views: list[ChainView],
    labels: Labels,
    lengths: Mapping[str, np.ndarray],
) -> None:
    names, scales = _Names(spec), _Scales(writer, group, labels)
    counts = np.array([view.n_draws for view in views])
    scales.add("chain", np.array([view.chain for view in views]))
    if counts.min() < counts.max():
        scales.attach(writer.array(group, "draw_count", counts), [("chain", "")])
    for variable in spec.variables:
        if variable.ragged:
            continue
        dataset = _fixed(writer, group, names.variable(variable.name), variable, views, int(counts.max()))
        dims = [("chain", ""), ("draw", ""), *((names.dim(dim), dim) for dim in variable.dims)]
        scales.attach(dataset, dims)
        _describe(dataset, variable)
    for dim, found in lengths.items():
        scales.attach(writer.array(group, f"{dim}_count", found), [("chain", ""), ("draw", "")])


def _ragged(
    writer: Writer, parent: h5py.Group, spec: ModelSpec, views: list[ChainView], labels: Labels
) -> dict[str, np.ndarray]:
    """Write the ragged variables; returns the lengths by dim."""
    group = _subgroup(parent, "ragged")
    names, scales = _Names(spec), _Scales(writer, group, labels)
    scales.add("chain", np.array([view.chain for view in views]))
    lengths: dict[str, np.ndarray] = {}
    for variable in spec.variables:
        if not variable.ragged:
            continue
        dim, found = variable.dims[0], _lengths(views, variable)
        if not np.array_equal(lengths.setdefault(dim, found), found):
            raise SessionError(
                f"Variables that share the dim “{dim}” differ in length; see “{variable.name}”."
            )
        dataset = _flat(writer, group, names.variable(variable.name), variable, views, int(found.sum()))
        dims = [(f"{dim}_flat", "")] + [(names.dim(other), other) for other in variable.dims[1:]]
        if "packed" in dataset.attrs:
            dims[-1] = (f"{variable.dims[-1]}_bytes", "")
        scales.attach(dataset, dims)
        _describe(dataset, variable)
    for dim, found in lengths.items():
        scales.attach(writer.array(group, f"{dim}_count", found), [("chain", ""), ("draw", "")])
    return lengths


def _describe(dataset: h5py.Dataset, variable: Variable) -> None:
    dataset.attrs["variable"] = variable.name
    if variable.unit:
        put(dataset, units=variable.unit)
    if variable.label:
        put(dataset, long_name=variable.label)


def _fixed(
    writer: Writer, group: h5py.Group, name: str, variable: Variable, views: list[ChainView], n_draws: int
) -> h5py.Dataset:
    stored = _stored(views, variable.name)
    if stored is not None:
        return writer.array(group, name, stored)
    inner = max((view.fixed_shape(variable.name) for view in views), key=len)
    dtype = _type(variable, views)

    def parts() -> Iterator[np.ndarray]:
        for view in views:
            part = np.full((1, n_draws, *inner), _FILL[variable.dtype], dtype=dtype)
            part[0, : view.n_draws] = view.stack(variable.name)
            yield part

    compress = variable.dtype != "float"
    lead = 1 if n_draws > 1 else 0
    attrs: dict[str, Any] = {"dtype": "bool"} if variable.dtype == "bool" else {}
    return writer.stream(
        group, name, (len(views), n_draws, *inner), dtype, parts(), compress=compress, lead=lead, **attrs
    )


def _type(variable: Variable, views: list[ChainView]) -> np.dtype[Any]:
    """The type of the draws in the file: of counts as few bytes as the largest draw needs."""
    if variable.dtype != "count":
        return np.dtype(_TYPES[variable.dtype])
    kinds = {entry.dtype for view in views for entry in view.packed(variable.name)}
    return np.result_type(*kinds).newbyteorder("<")


def _stored(views: list[ChainView], name: str) -> Deferred | None:
    """The array of a file that has just these draws of these chains, when nobody has read it yet."""
    found = [view.stored(name) for view in views]
    first = found[0]
    same = first is not None and all(
        one is not None and one.array is first.array and one.place == place for place, one in enumerate(found)
    )
    return first.array if first is not None and same and first.chains == len(found) else None


def _lengths(views: list[ChainView], variable: Variable) -> np.ndarray:
    found = np.zeros((len(views), max(view.n_draws for view in views)), np.int64)
    for row, view in zip(found, views, strict=True):
        stored = view.stored(variable.name)
        lengths = stored.lengths if stored is not None else None
        row[: view.n_draws] = [len(one) for one in view.packed(variable.name)] if lengths is None else lengths
    return found


def _flat(
    writer: Writer, group: h5py.Group, name: str, variable: Variable, views: list[ChainView], length: int
) -> h5py.Dataset:
    stored = _stored(views, variable.name)
    inner = max((view.fixed_shape(variable.name) for view in views), key=len)
    packed = variable.dtype == "bool" and bool(inner)
    attrs: dict[str, Any] = {"dtype": "bool"} if variable.dtype == "bool" and not packed else {}
    if packed:
        attrs = {"packed": "little", "n_bits": np.int64(inner[-1])}
    if stored is not None:
        return writer.array(group, name, stored, **attrs)
    dtype = np.dtype("u1") if packed else _type(variable, views)

    def parts() -> Iterator[np.ndarray]:
        for view in views:
            for some in _together(view.packed(variable.name)):
                yield np.concatenate(some).astype(dtype, copy=False)

    first = next(view for view in views if view.n_draws).packed(variable.name)[0]
    shape = (length, *first.shape[1:])
    return writer.stream(group, name, shape, dtype, parts(), compress=variable.dtype != "float", **attrs)


def _together(entries: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """The entries in groups of some megabytes: many small ones are written at once, large ones are not copied all together."""
    some: list[np.ndarray] = []
    size = 0
    for entry in entries:
        some.append(entry)
        size += entry.nbytes
        if size > _AT_ONCE or len(some) == MOST_ITEMS:
            yield some
            some, size = [], 0
    if some:
        yield some


def read_draws(
    reader: Reader, run: h5py.Group, spec: ModelSpec, records: list[ChainRecord], counts: list[int]
) -> None:
    """Fill the draw buffers of ``records`` from the group of a run; ``counts`` are the draws that each must get."""
    kept = [chain for chain, count in enumerate(counts) if count]
    if not kept:
        return
    posterior = reader.group(reader.group(run, "inference"), "posterior")
    chains = reader.array(posterior["chain"]).tolist()
    if chains != kept:
        raise SessionError(f"“{posterior.name}/chain” lists the chains {chains}, expected {kept}.")
    ragged = reader.group(run, "ragged") if any(v.ragged for v in spec.variables) else posterior
    lengths = {
        dim: reader.array(ragged[f"{dim}_count"]) for dim in {v.dims[0] for v in spec.variables if v.ragged}
    }
    names = _Names(spec)
    entries: list[dict[str, list[np.ndarray] | StoredDraws]] = [{} for _ in kept]
    shapes: dict[str, tuple[int, ...]] = {}
    for variable in spec.variables:
        dataset = (ragged if variable.ragged else posterior)[names.variable(variable.name)]
        array = reader.later(dataset)
        if array.ndim != len(variable.dims) + (0 if variable.ragged else 2):
            raise SessionError(
                f"“{dataset.name}” has {counted(array.ndim, 'axis')}, which does not fit the declaration."
            )
        shapes[variable.name] = _inner(dataset, variable, array.shape)
        for row, chain in enumerate(kept):
            cut = lengths[variable.dims[0]] if variable.ragged else None
            entries[row][variable.name] = _of_chain(array, variable, row, len(kept), counts[chain], cut)
    for row, chain in enumerate(kept):
        records[chain].draws.extend_packed(entries[row], shapes)


def _of_chain(
    array: Any, variable: Variable, row: int, chains: int, count: int, lengths: np.ndarray | None
) -> list[np.ndarray] | StoredDraws:
    """The draws of one chain, or what reads them later; ``lengths`` (chain, draw) of ragged ones."""
    if lengths is not None:
        if lengths.min(initial=0) < 0 or lengths.sum() != array.shape[0] or lengths.shape[1] < count:
            found = array.shape[0]
            raise SessionError(
                f"lengths of ragged draws add up to {lengths.sum()}, found {counted(found, 'entry')}."
            )
    elif array.shape[0] <= row or array.shape[1] < count:
        raise SessionError(f"“{variable.name}” has draws of the shape {array.shape}, expected {count}.")

    def take(whole: np.ndarray) -> list[np.ndarray]:
        return _rows(whole[row], variable, count) if lengths is None else _cut(whole, lengths, row, count)

    if not isinstance(array, Deferred):
        return take(array)
    cut = None if lengths is None else lengths[row, :count].tolist()
    share = count / max(array.shape[1], 1) / chains if cut is None else sum(cut) / max(array.shape[0], 1)
    eighth = 8 if cut is None and variable.dtype == "bool" and variable.dims else 1
    return StoredDraws(array, row, chains, count, cut, int(array.nbytes * share / eighth), take)


def _inner(dataset: h5py.Dataset, variable: Variable, whole: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of one draw, without the ragged axis."""
    if not variable.ragged:
        return whole[2:]
    shape = whole[1:]
    if "packed" in dataset.attrs:
        bits = int(dataset.attrs["n_bits"])
        if not shape or -(-bits // 8) != shape[-1]:
            raise SessionError(
                f"“{dataset.name}” has rows of shape {shape} in bytes for {counted(bits, 'bit')}."
            )
        return (*shape[:-1], bits)
    return shape


def _cut(array: np.ndarray, lengths: np.ndarray, row: int, count: int) -> list[np.ndarray]:
    start = int(lengths[:row].sum())
    ends = start + np.cumsum(lengths[row])
    array.setflags(write=False)
    found = []
    for end in ends[:count].tolist():
        found.append(array[start:end])
        start = end
    return found


def _rows(array: np.ndarray, variable: Variable, count: int) -> list[np.ndarray]:
    array = array[:count]
    if variable.dtype == "bool" and variable.dims:
        array = np.packbits(array, axis=-1, bitorder="little")
    array.setflags(write=False)
    return [array[i, ...] for i in range(count)]
