"""What a model is given: its data, and its state and settings by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.deferred import Deferred

T = TypeVar("T")

State = dict[str, Any]
"""Arrays, numbers, strings and nested dicts of them: all that the next sweep depends on, besides the rng."""

Params = Mapping[str, Any]
"""Hyperparameters by name, in canonical type, all present."""

if TYPE_CHECKING:  # a default is part of Python from 3.13 on; type checkers know it earlier
    from typing_extensions import TypeVar as TypeVarWithDefault

    StateT = TypeVarWithDefault("StateT", bound=Mapping[str, Any], default=State)
    ParamsT = TypeVarWithDefault("ParamsT", bound=Mapping[str, Any], default=Params)
else:
    StateT = TypeVar("StateT")
    ParamsT = TypeVar("ParamsT")


@dataclass(frozen=True, slots=True)
class Block:
    """One input as a model gets it. All arrays are read-only.

    Attributes
    ----------
    values : (n, m) float64, C order, or a CSR matrix for sparse inputs; 0 where not observed.
        (n,) for vectors, (n, m) of several columns; (n,) int64 codes for labels. Of inputs that take values in their file
        (``Input.in_file``) it may be what reads them: ``rows(lo, hi)`` in the type of the file, ``values[lo:hi]`` and
        ``values[:, columns]`` as float64.
    observed : (n, m) bool, True where the cell is known and used by the fit (same shape as ``values``).
    held_out : (n, m) bool, True where the cell is known but kept from the fit; None when nothing is held out.
    names : one tuple of item names per axis.
    categories : the labels' names, by code; empty for numbers.
    unit : unit of the values as shown.
    kind : what the values are, as the data are marked; whole numbers may be counts, or ``ordinal``: grades and measurements.
        Empty where nobody said.
    levels : of a matrix that has columns of categories the words of each column by their numbers, which are 0 and 1 of two words
        and begin with 1 of more; none of a column of numbers. Empty of all other matrices.
    """

    name: str
    values: Any
    observed: np.ndarray
    held_out: np.ndarray | None
    names: tuple[tuple[str, ...], ...]
    categories: tuple[str, ...] = ()
    unit: str = ""
    kind: ValueKind | Literal[""] = ""
    levels: tuple[tuple[str, ...], ...] = ()
    truth: np.ndarray | None = field(default=None, repr=False)
    """(n, m) values with the held-out cells filled in; None when nothing is held out."""
    mapped: bool = False
    """Whether the values are a CSR matrix that stays out of memory: its arrays are mapped, and no copies should be made of them there."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def stays(self) -> bool:
        """Whether the values stay in their file, or are mapped."""
        return self.mapped or isinstance(self.values, Deferred)


class ModelData(Mapping[str, Any]):
    """The inputs by name: a :class:`Block`, or a tuple of them for ``Input(many=True)``.

    Optional inputs that were not given are absent (``"truth" in data``).
    """

    def __init__(self, blocks: Mapping[str, Block | tuple[Block, ...]]) -> None:
        self._blocks = dict(blocks)
        self._prepared: dict[Any, Any] = {}
        self._lock = threading.RLock()

    def prepared(
        self, make: Callable[[ModelData, ParamsT], T], params: ParamsT, settings: Sequence[str] | None = None
    ) -> T:
        """``make(data, params)``, made once for these data and settings and shared by all chains and threads.

        For what a fit derives from its data before the first sweep: sorted values, neighbours, sparse forms. It lives
        as long as the data do and must not be changed. ``settings`` names those that it depends on; None is all.
        """
        names = sorted(params) if settings is None else settings
        key = make, tuple(params[name] for name in names)
        with self._lock:  # a second chain waits for the first one's
            if key not in self._prepared:
                self._prepared[key] = make(self, params)
            return self._prepared[key]

    def __getitem__(self, name: str) -> Any:
        return self._blocks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)
