"""Views of a plugin's own: the pictures and widgets that it brings, and what these may read of a run. No Qt here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.errors import PluginError

if TYPE_CHECKING:
    from plaidwork.core.data.dataset import Dataset
    from plaidwork.core.inference.run import Run
    from plaidwork.core.pictures import Picture, ViewChoices

_ID = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*\Z")
DRAWS = "draws:"
DATA = "data:"


def _check(factory: str, name: Any, call: Any, does: str) -> None:
    if not (isinstance(name, str) and _ID.match(name)):
        raise PluginError(f"A {factory} needs an id in lower case with dots between parts. Found {name!r}.")
    if not callable(call):
        raise PluginError(f"The {factory} “{name}” has no function to {does}.")


@dataclass(frozen=True)
class PictureFactory:
    """A kind of picture of the plugin's own, named by ``View(kind="picture", options={"factory": id})``.

    Attributes
    ----------
    id : lower case, dots between parts; unique among all plugins.
    title : the name of the kind, for messages.
    load : called off the GUI thread with ``(results, choices)``; returns a ``Picture``. What it asks of the choices is
        offered to the user. It is called again with new results and after every choice.
    """

    id: str
    title: str
    load: Callable[[ResultStore, ViewChoices], Picture]

    def __post_init__(self) -> None:
        _check("picture factory", self.id, self.load, "load the picture")


@dataclass(frozen=True)
class ViewFactory:
    """A widget of the plugin's own, named by ``View(kind="custom", options={"factory": id})``.

    Attributes
    ----------
    id : lower case, dots between parts; unique among all plugins.
    title : the name of the kind, for messages.
    make : called on the GUI thread with ``(results, selection, parent)``; returns a ``QWidget``. It is called again
        when the run has new results, unless the widget has a method ``update_results(results)``.
    """

    id: str
    title: str
    make: Callable[[ResultStore, Any, Any], Any]

    def __post_init__(self) -> None:
        _check("view factory", self.id, self.make, "make the widget")


class ResultStore(Mapping[str, Any]):
    """What a custom view may read of a run: results by name, and on request draws and data. Nothing can be changed.

    It is taken at one moment: a summary that arrives later makes a new store.

    ``store["scores"]`` is a ``Result``, ``Table`` or text; ``store["draws:z"]`` a ``Result`` of all kept draws with the
    axes (chain, draw, …), ``store["data:X"]`` the first dataset of the input ``X``. Iteration goes over the results.
    """

    def __init__(self, run: Run, datasets: Mapping[str, Dataset] | None = None, results: Any = None) -> None:
        self._run = run
        self._datasets = dict(datasets or {})
        self._results = {
            name: frozen(result) for name, result in (run.results if results is None else results).items()
        }
        self._draws: dict[str, Result] = {}

    @property
    def title(self) -> str:
        """Title of the run."""
        return self._run.title

    @property
    def final(self) -> bool:
        """Whether the fit has ended; until then the results are provisional."""
        return not self._run.active

    @property
    def params(self) -> Mapping[str, Any]:
        """The settings of the run."""
        return MappingProxyType(dict(self._run.params))

    @property
    def n_draws(self) -> int:
        """Kept draws of all chains."""
        return self._run.n_draws

    def __getitem__(self, name: str) -> Any:
        if name.startswith(DRAWS):
            return self.draws(name.removeprefix(DRAWS))
        if name.startswith(DATA):
            return self.data(name.removeprefix(DATA))
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"ResultStore({self.title!r}: {', '.join(self)})"

    def array(self, name: str) -> np.ndarray:
        """The numbers of a result, read-only. Raises ``KeyError``, or ``TypeError`` for a table or a text."""
        found = self[name]
        if not isinstance(found, Result):
            raise TypeError(f"the result {name!r} is a {type(found).__name__}, not an array")
        return found.values

    def draws(self, name: str) -> Result:
        """All kept draws of a variable as (chain, draw, …), read-only; unequal ones are padded as ``Kept.stack`` does."""
        if name not in self._draws:
            variable = next((v for v in self._run.spec.variables if v.name == name), None)
            if variable is None:
                raise KeyError(f"{DRAWS}{name}")
            dims = ("chain", "draw", *variable.dims)
            stacked = Result(self._run.kept().stack(name), dims, variable.unit, variable.label)
            self._draws[name] = frozen(stacked)
        return self._draws[name]

    def data(self, name: str) -> Dataset:
        """The dataset of an input (the first, where it takes several). Raises ``KeyError`` when it is not there."""
        used = self._run.inputs.get(name, ())
        if not used or used[0] not in self._datasets:
            raise KeyError(f"{DATA}{name}")
        return self._datasets[used[0]]


def _locked(array: Any) -> np.ndarray:
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view


def frozen(result: Any) -> Any:
    """A result whose arrays cannot be written through."""
    if isinstance(result, Result):
        return Result(_locked(result.values), result.dims, result.unit, result.label, result.doc)
    if isinstance(result, Table):
        columns = {title: _locked(column) for title, column in result.columns.items()}
        table = Table(
            columns,
            MappingProxyType(dict(result.units)),
            result.label,
            result.doc,
            result.decimals,
            result.words,
        )
        object.__setattr__(table, "columns", MappingProxyType(table.columns))
        return table
    return result
