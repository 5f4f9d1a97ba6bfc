"""Kept draws and traces of the chains: written by one thread, read by others as snapshots."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.contract.spec import ModelSpec, Variable
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PluginError
from plaidwork.core.pieces import MOST_ITEMS, spans

_TYPES = {"float": np.float64, "int": np.int64, "count": np.int64, "bool": np.bool_}


class TraceBuffer:
    """One row of scalars per finished sweep, appended by the chain, read by anybody.

    Thread safety: one writer. Rows below ``count`` never change, and ``count`` is published after the row is
    written, so a reader needs no lock (growing copies into a new array and leaves the old one as it was).
    """

    def __init__(self, names: Iterable[str], capacity: int = 256) -> None:
        self.names = tuple(names)
        self._rows = np.empty((capacity, len(self.names)))
        self.count = 0

    def append(self, values: Mapping[str, float]) -> None:
        """Add one sweep. Raises ``KeyError`` when a declared trace is missing."""
        if self.count == len(self._rows):
            grown = np.empty((2 * len(self._rows), len(self.names)))
            grown[: self.count] = self._rows
            self._rows = grown
        self._rows[self.count] = [values[name] for name in self.names]
        self.count += 1

    def extend(self, rows: np.ndarray) -> None:
        """Add many sweeps: (n, number of names)."""
        if not len(rows):
            return
        end = self.count + len(rows)
        if end > len(self._rows):
            grown = np.empty((max(end, 2 * len(self._rows)), len(self.names)))
            grown[: self.count] = self._rows[: self.count]
            self._rows = grown
        self._rows[self.count : end] = rows
        self.count = end

    def head(self, count: int) -> TraceBuffer:
        """A new buffer with the first ``count`` sweeps."""
        buffer = TraceBuffer(self.names)
        buffer.extend(self.rows()[:count])
        return buffer

    def rows(self, start: int = 0) -> np.ndarray:
        """(count - start, number of names) snapshot; a view that never changes."""
        rows = self._rows
        return rows[start : min(self.count, len(rows))]

    def snapshot(self, start: int = 0) -> dict[str, np.ndarray]:
        """Values by name from sweep ``start`` on; views that never change."""
        rows = self.rows(start)
        return {name: rows[:, i] for i, name in enumerate(self.names)}


@dataclass(frozen=True, slots=True)
class StoredDraws:
    """The draws of one variable and chain that lie in a file until somebody needs them."""

    array: Deferred
    """Those of all chains together."""
    place: int
    """Which of ``chains`` chains in the file this one is."""
    chains: int
    count: int
    lengths: Sequence[int] | None
    """Of each draw, where they differ."""
    nbytes: int
    take: Callable[[np.ndarray], list[np.ndarray]]
    """The entries of this chain."""

    def __len__(self) -> int:
        return self.count

    def read(self) -> list[np.ndarray]:
        """The entries."""
        return self.take(self.array.get())


_READING = threading.Lock()


class DrawBuffer:
    """The kept draws of one chain, one entry per draw, bool arrays bit-packed.

    Draw ``i`` is of sweep ``first + i * every``, counted from 0.
    Same thread rule as :class:`TraceBuffer`: one writer, entries below ``count`` never change.
    """

    def __init__(self, variables: Sequence[Variable], first: int = 0, every: int = 1) -> None:
        self.variables = tuple(variables)
        self.first, self.every = first, every
        self._items: dict[str, list[np.ndarray]] = {variable.name: [] for variable in variables}
        self._later: dict[str, StoredDraws] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self.count = 0

    def _kept(self, name: str) -> list[np.ndarray]:
        """The entries of a variable, read now when they still lie in a file."""
        if name in self._later:
            with _READING:
                later = self._later.get(name)
                if later is not None:
                    self._items[name] = later.read()  # readers look here once it is no longer there
                    del self._later[name]
        return self._items[name]

    def stored(self, name: str) -> StoredDraws | None:
        """The draws of a variable where nobody has read them yet."""
        return self._later.get(name)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries, as they are kept in memory or will be."""
        later = dict(self._later)
        here = sum(
            entry.nbytes for name, items in self._items.items() if name not in later for entry in items
        )
        return here + sum(one.nbytes for one in later.values())

    def append(self, values: Mapping[str, Any]) -> None:
        """Keep one draw. Raises ``PluginError`` when it does not fit the declaration."""
        entries = [self._entry(variable, values) for variable in self.variables]
        lengths: dict[str, int] = {}
        for variable, entry in zip(self.variables, entries, strict=True):
            if variable.ragged and lengths.setdefault(variable.dims[0], len(entry)) != len(entry):
                raise PluginError(
                    f"Variable “{variable.name}” has {counted(len(entry), 'item')} along “{variable.dims[0]}”, "
                    f"others of the same draw {lengths[variable.dims[0]]}."
                )
        for variable, entry in zip(self.variables, entries, strict=True):
            self._kept(variable.name).append(entry)
        self.count += 1

    def _entry(self, variable: Variable, values: Mapping[str, Any]) -> np.ndarray:
        if variable.name not in values:
            raise PluginError(f"Declared variable “{variable.name}” is missing from what draws() returned.")
        given = values[variable.name]
        array: np.ndarray = np.array(
            given, dtype=_smallest(given) if variable.dtype == "count" else _TYPES[variable.dtype]
        )
        fixed = array.shape[1:] if variable.ragged else array.shape
        expected = self._shapes.get(variable.name, fixed)
        if array.ndim != len(variable.dims) or fixed != expected:
            raise PluginError(
                f"Variable “{variable.name}” has shape {array.shape}, expected dims {variable.dims} "
                f"with fixed part {expected}."
            )
        if variable.dtype == "float" and not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            at = f" at {place}" if place else ""
            raise PluginError(
                f"Variable “{variable.name}” is {array[place]}{at}, a draw is made of finite numbers."
            )
        self._shapes[variable.name] = fixed
        if _packs(variable):
            array = np.packbits(array, axis=-1, bitorder="little")
        array.setflags(write=False)
        return array

    def fixed_shape(self, name: str) -> tuple[int, ...]:
        """Shape of one draw, without the ragged axis; unknown before the first draw (empty)."""
        return self._shapes.get(name, ())

    def get(self, name: str, draw: int) -> np.ndarray:
        """One draw of one variable, unpacked."""
        variable = next(v for v in self.variables if v.name == name)
        return self._unpack(variable, self._kept(name)[draw])

    def _unpack(self, variable: Variable, entry: np.ndarray) -> np.ndarray:
        if not _packs(variable):
            return entry
        last = self._shapes[variable.name][-1]
        return np.unpackbits(entry, axis=-1, bitorder="little", count=last).view(np.bool_)

    def head(self, count: int) -> DrawBuffer:
        """A new buffer with the first ``count`` draws."""
        return self._part(slice(0, count), self.first, self.every)

    def thinned(self, skip: int, keep: int) -> DrawBuffer:
        """A new buffer without the first ``skip`` draws, with the last of every ``keep`` that follow."""
        start = skip + keep - 1
        return self._part(slice(start, None, keep), self.first + start * self.every, keep * self.every)

    def _part(self, chosen: slice, first: int, every: int) -> DrawBuffer:
        buffer = DrawBuffer(self.variables, first, every)
        entries = {name: self._kept(name)[: self.count][chosen] for name in self._items}
        buffer.extend_packed(entries, self._shapes)
        return buffer

    def packed(self, name: str, start: int = 0, stop: int | None = None) -> list[np.ndarray]:
        """The stored entries (bool ones bit-packed along the last axis), for writing to a file."""
        return self._kept(name)[start : self.count if stop is None else stop]

    def extend_packed(
        self,
        entries: Mapping[str, Sequence[np.ndarray] | StoredDraws],
        shapes: Mapping[str, tuple[int, ...]],
    ) -> None:
        """Add draws that were read back from :meth:`packed`; ``shapes`` from :meth:`fixed_shape`.

        Those of a file may be read later when they are the first.
        """
        counts = {len(items) for items in entries.values()} or {0}
        if set(entries) != set(self._items) or len(counts) != 1:
            raise PluginError("Stored draws do not fit the declaration of the model.")
        self._shapes.update({name: tuple(shape) for name, shape in shapes.items()})
        for name, items in entries.items():
            if isinstance(items, StoredDraws) and not self.count:
                self._later[name] = items
            else:
                self._kept(name).extend(items.read() if isinstance(items, StoredDraws) else items)
        self.count += counts.pop()


def _smallest(counts: Any) -> np.dtype[Any]:
    """The smallest type for whole numbers from 0 on."""
    return np.min_scalar_type(int(np.max(counts, initial=0)))


def _packs(variable: Variable) -> bool:
    """Whether draws are bit-packed: bool arrays whose last axis has a fixed length."""
    return variable.dtype == "bool" and len(variable.dims) > variable.ragged


@dataclass(frozen=True)
class ChainView:
    """What one chain kept, frozen at the moment the view was made."""

    chain: int
    n_draws: int
    n_sweeps: int
    kept_sweeps: np.ndarray
    """(n_draws,) int: index of the sweep at which each draw was kept."""
    _draws: DrawBuffer
    _trace: TraceBuffer

    def draw(self, name: str, index: int) -> np.ndarray:
        """One draw of one variable. Raises ``IndexError`` outside 0..n_draws-1."""
        if not 0 <= index < self.n_draws:
            raise IndexError(f"draw {index} of {self.n_draws}")
        return self._draws.get(name, index)

    def taking(self, draws: np.ndarray) -> ChainView:
        """The same chain with only these draws (numbers, ascending); nothing is copied."""
        buffer = DrawBuffer(self._draws.variables)
        entries = {v.name: self.packed(v.name) for v in self._draws.variables}
        shapes = {name: self.fixed_shape(name) for name in entries}
        chosen = draws.tolist()
        buffer.extend_packed({name: [kept[i] for i in chosen] for name, kept in entries.items()}, shapes)
        return ChainView(self.chain, len(chosen), self.n_sweeps, self.kept_sweeps[draws], buffer, self._trace)

    def iterate(self, name: str) -> Iterator[np.ndarray]:
        """All draws of one variable, in order."""
        return (self._draws.get(name, index) for index in range(self.n_draws))

    def stack(self, name: str) -> np.ndarray:
        """(draw, ...) array of a variable that is not ragged."""
        if self.n_draws == 0:
            return np.empty((0, *self._draws.fixed_shape(name)))
        draws = list(self.iterate(name))
        if len(draws) <= MOST_ITEMS:
            return np.stack(draws)
        found = np.empty((len(draws), *draws[0].shape), draws[0].dtype)
        for span in spans(len(draws)):
            np.stack(draws[span], out=found[span])
        return found

    def trace(self, name: str) -> np.ndarray:
        """All sweeps of a trace, warm-up included: (n_sweeps,)."""
        return self._trace.snapshot()[name][: self.n_sweeps]

    def kept_trace(self, name: str) -> np.ndarray:
        """The trace at the kept draws: (n_draws,)."""
        return self.trace(name)[self.kept_sweeps]

    def packed(self, name: str) -> list[np.ndarray]:
        return self._draws.packed(name, 0, self.n_draws)

    def stored(self, name: str) -> StoredDraws | None:
        """The draws of a variable where all lie in a file and nobody has read them yet."""
        found = self._draws.stored(name)
        return found if found is not None and found.count == self.n_draws else None

    def fixed_shape(self, name: str) -> tuple[int, ...]:
        return self._draws.fixed_shape(name)


class Kept:
    """Everything the chains of a run kept: a frozen snapshot, safe to read while the chains go on.

    ``under_way``: the chains do go on, so what is made of it will be made again soon and may be rougher.
    """

    def __init__(self, spec: ModelSpec, chains: Sequence[ChainView], under_way: bool = False) -> None:
        self.spec = spec
        self.chains = tuple(chains)
        self.under_way = under_way

    def __len__(self) -> int:
        return len(self.chains)

    @property
    def n_draws(self) -> int:
        """Draws in all chains together."""
        return sum(chain.n_draws for chain in self.chains)

    def pairs(self) -> Iterator[tuple[ChainView, int]]:
        """(chain, draw index) of every kept draw, chain by chain."""
        return ((chain, index) for chain in self.chains for index in range(chain.n_draws))

    def stack(self, name: str) -> np.ndarray:
        """(chain, draw, ...) array of a variable, cut to the shortest chain.

        Ragged variables are padded with NaN (floats), -1 (ints, counts) or False along their first axis.
        """
        variable = self.spec.variable(name)
        n = min((chain.n_draws for chain in self.chains), default=0)
        if n == 0:
            shape = max((chain.fixed_shape(name) for chain in self.chains), default=(), key=len)
            rest = (0, *shape) if variable.ragged else shape
            return np.empty((len(self.chains), 0, *rest), dtype=_TYPES[variable.dtype])
        if not variable.ragged:
            return np.stack([chain.stack(name)[:n] for chain in self.chains])
        draws = [[chain.draw(name, i) for i in range(n)] for chain in self.chains]
        longest = max((len(draw) for chain in draws for draw in chain), default=0)
        fixed = max((chain.fixed_shape(name) for chain in self.chains), default=(), key=len)
        fill = {"float": np.nan, "int": -1, "count": -1, "bool": False}[variable.dtype]
        out: np.ndarray = np.full((len(draws), n, longest, *fixed), fill, dtype=_TYPES[variable.dtype])
        for c, chain in enumerate(draws):
            for i, draw in enumerate(chain):
                out[c, i, : len(draw)] = draw
        return out

    def kept_trace(self, name: str) -> np.ndarray:
        """(chain, draw) values of a trace at the kept draws, cut to the shortest chain."""
        n = min((chain.n_draws for chain in self.chains), default=0)
        if n == 0:
            return np.empty((len(self.chains), 0))
        return np.stack([chain.kept_trace(name)[:n] for chain in self.chains])
