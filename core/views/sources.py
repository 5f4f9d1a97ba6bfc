"""What a view is drawn from: its roles resolved to arrays, tables, texts and datasets of a run."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.model import Model, Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.contract.views import PictureFactory, ResultStore
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.numbers import format_count
from plaidwork.core.errors import DataError, PluginError, SessionError
from plaidwork.core.findings.fitted import FITTED, FittedInput
from plaidwork.core.findings.naming import Naming, ShownName
from plaidwork.core.findings.response import OPTION, Places, ResponseInput
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.core.session.subsets import joined_names
from plaidwork.core.views.fitting_roles import misfit_of

if TYPE_CHECKING:
    from plaidwork.core.plugins.registry import Registry

DATA, DRAWS = "data:", "draws:"


class SourceError(Exception):
    """A role of the view cannot be resolved; the text says which, what was needed and what was found."""


class NotYet(Exception):
    """The run has no result yet."""


class Sources:
    """Looks up the roles of one view; made anew for every refresh, usable in any thread.

    Results are taken from one moment: a summary that arrives meanwhile does not mix in.
    """

    def __init__(
        self,
        session: Session,
        run: Run,
        view: View,
        plugins: Registry | None = None,
        own: Mapping[str, PictureFactory] | None = None,
    ) -> None:
        """``own`` are pictures of a plugin that is not installed, by id."""
        self._datasets = dict(session.datasets)
        self._results = dict(run.results)
        self._naming = Naming(run, self._datasets)
        self.run, self.view = run, view
        self._plugins, self._own = plugins, dict(own or {})
        self._runs = tuple(session.runs.values())
        self._look = run.has_stored_results
        """Whether the results are a file's, and nobody has looked yet whether they fit the view."""

    @property
    def results(self) -> dict[str, Any]:
        """All results of that moment, their names as shown."""
        return {name: self._naming.result(name, found) for name, found in self._results.items()}

    def has(self, role: str) -> bool:
        """Whether the view has the role and the run what it names (an optional role may be left empty)."""
        name = self.view.source.get(role, "")
        if not name:
            return False
        return name.startswith((DATA, DRAWS, FITTED)) or name in self._results

    def get(self, role: str) -> Any:
        """Result, Table or text; the Dataset behind ``data:X``; a Result of the draws behind ``draws:X``."""
        name = self.view.source.get(role)
        if name is None:
            raise SourceError(f"The view “{self.view.title}” does not say what its {role} are.")
        if name.startswith(DATA):
            return self._dataset(name.removeprefix(DATA))
        self.wait()
        if name.startswith(DRAWS):
            return self._draws(name.removeprefix(DRAWS))
        if self._look and (fault := misfit_of(self.view, self._results)):
            raise SourceError(f"The results in the file do not fit this view: {fault}")
        self._look = False
        if name not in self._results:
            raise SourceError(f"The run has no result named “{name}”, which the view needs as {role}.")
        return self._naming.result(name, self._results[name])

    def wait(self) -> None:
        """Raises ``NotYet`` while the run has kept nothing, and while it has no results and the view names some: draws alone
        would be shown without the names that belong to them."""
        named = any(not name.startswith((DATA, DRAWS, FITTED)) for name in self.view.source.values() if name)
        if not self._results and (named or self.run.n_draws == 0):
            raise NotYet

    def _dataset(self, name: str) -> Dataset:
        used = self.run.inputs.get(name, ())
        if not used:
            raise SourceError(f"The run has no input named “{name}”.")
        if used[0] not in self._datasets:
            raise SourceError(f"The data set “{used[0]}” is not in the session any more.")
        return self._datasets[used[0]]

    def _draws(self, name: str) -> Result:
        variable = next((v for v in self.run.spec.variables if v.name == name), None)
        if variable is None:
            raise SourceError(f"The run keeps no variable named “{name}”.")
        return Result(
            self.run.kept().stack(name), ("chain", "draw", *variable.dims), variable.unit, variable.label
        )

    def result(self, role: str, ndim: int | tuple[int, ...] = ()) -> Result:
        """The role as numbers with dims and unit; ``ndim`` are the numbers of axes allowed."""
        found = self.get(role)
        if isinstance(found, Dataset):
            dims = next(
                (i.dims for i in self.run.spec.inputs if found.name in self.run.inputs.get(i.name, ())), ()
            )
            found = Result(dense(found), dims, found.unit, found.name)
        if not isinstance(found, Result):
            kind = "table" if isinstance(found, Table) else "text"
            raise SourceError(f"The {role} of “{self.view.title}” are a {kind}; an array is needed.")
        allowed = (ndim,) if isinstance(ndim, int) else ndim
        if allowed and found.held.ndim not in allowed:
            wanted = " or ".join(str(n) for n in allowed)
            raise SourceError(
                f"The {role} need {wanted} {'axis' if wanted == '1' else 'axes'}. "
                f"Found an array of shape {shape_text(found.held)}."
            )
        if found.held.dtype.kind not in "biuf":
            raise SourceError(f"The {role} need numbers. Found {found.held.dtype} values.")
        return found

    def dims(self, role: str) -> tuple[str, ...]:
        """Names of the axes of the result behind a role; empty where it is none."""
        found = self._results.get(self.view.source.get(role, ""))
        return tuple(found.dims) if isinstance(found, Result) else ()

    def texts(self, role: str) -> list[str]:
        """The items of an array or a dataset as texts; empty for a table or a text."""
        found = self.get(role)
        return [str(text) for text in found.values] if isinstance(found, Result | Dataset) else []

    def parts(self) -> tuple[str, ...]:
        """What the axes of the view's results leave out of the data: ``600 of 5,000 rows, those most often in a block``.

        An axis is a part when its names are those of some items of an axis of the data; the names' own words say which.
        """
        dims = dict.fromkeys(dim for role in self.view.source for dim in self.dims(role))
        found = []
        for dim in dims:
            named = self._results.get(dim)
            if not isinstance(named, Result) or named.held.ndim != 1 or named.held.dtype.kind not in "OUT":
                continue
            names = set(named.values.tolist())
            whole = self._axis_with(names)
            if whole is not None and names and len(names) < whole[0]:
                count = f"{format_count(len(names))} of {format_count(whole[0])} {whole[1]}"
                found.append(f"{count}, {named.doc}" if named.doc else count)
        return tuple(found)

    def _axis_with(self, names: set[str]) -> tuple[int, str] | None:
        """Number and word of the items of the axis of the data that has all these; the shortest such axis."""
        found = []
        for item in self.run.spec.inputs:
            for used in self.run.inputs.get(item.name, ()):
                data = self._datasets.get(used)
                for axis, word in enumerate((data.row_label, data.column_label) if data is not None else ()):
                    known = self._known_names(used, axis)
                    if len(known) >= len(names) and names.issubset(known):
                        found.append((len(known), word))
        return min(found, default=None)

    def found_dim_of(self, count: int) -> str:
        """The first dim of the model along which its results have as many items; empty when there is none."""
        lengths = {
            dim: length
            for found in self._results.values()
            if isinstance(found, Result)
            for dim, length in zip(found.dims, found.held.shape)
        }
        return next((dim for dim in self.run.spec.dims if lengths.get(dim) == count), "")

    def array(self, role: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """The role as float64 array of a shape (None: any length)."""
        return np.asarray(self.shaped(role, shape).values, dtype=np.float64)

    def shaped(self, role: str, shape: tuple[int | None, ...]) -> Result:
        """The role, which has a shape (None: any length); its values are not read."""
        found = self.result(role)
        held = found.held
        if held.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, held.shape)):
            wanted = " × ".join("any" if n is None else str(n) for n in shape)
            raise SourceError(f"The {role} need the shape {wanted}. Found {shape_text(held)}.")
        return found

    def table(self, role: str = "values") -> Table:
        """The role as table."""
        found = self.get(role)
        if not isinstance(found, Table):
            raise SourceError(f"The {role} of “{self.view.title}” are not a table.")
        return found

    def text(self, name: str) -> str:
        """The result of that name when it is a text, else empty."""
        found = self._results.get(name, "") if name else ""
        return self._naming.text(found) if isinstance(found, str) else ""

    def dataset(self, role: str) -> Dataset | None:
        """The dataset behind a ``data:`` role."""
        name = self.view.source.get(role, "")
        return self._dataset(name.removeprefix(DATA)) if name.startswith(DATA) else None

    def dataset_named(self, name: str) -> Dataset | None:
        """A dataset of the session; None when it is gone."""
        return self._datasets.get(name)

    def fitted(self, role: str) -> FittedInput | None:
        """The blocks of the input behind a ``fitted:`` or ``data:`` role, with what the model expects in them.

        Raises ``SourceError`` when the data are gone or have changed; without the model only the data are given.
        """
        prefix, _, name = self.view.source.get(role, "").partition(":")
        if prefix not in ("fitted", "data") or not self.run.inputs.get(name):
            return None
        found = FittedInput(self.run, name, self._datasets, self._model())
        try:
            _ = found.blocks
        except DataError as error:
            raise SourceError(f"{error.message} {error.hint}".strip()) from error
        return found

    def response(self) -> ResponseInput | None:
        """The input whose columns may be chosen for the view, where the run can be asked at other values of it."""
        name = str(self.view.options.get(OPTION, {}).get("input", ""))
        if not self.run.inputs.get(name):
            return None
        found = ResponseInput(self.run, name, self._datasets, self._model())
        try:
            return found if found.offered and found.block.shape[0] else None
        except DataError:
            return None

    def at(self, response: ResponseInput, places: Places) -> Sources:
        """These sources with what the fit says at other places, and the places, in the roles of the view.

        The rows come last: (m, K) as (K, m), and as (K, gy, gx) of a map; the two ends of an interval stay behind them.
        """
        roles = {
            role: name
            for role, name in self.view.options[OPTION].items()
            if role != "input" and self.view.source.get(role)
        }
        found = response.at(places.rows, frozenset(roles.values()))
        shape = tuple(len(axis) for axis in reversed(places.axes))
        replaced: dict[str, Result] = {}
        for role, name in roles.items():
            values, dims = found[name].values, found[name].dims
            ends = 1 if role == "interval" else 0
            if values.ndim - ends == 2:
                values, dims = np.moveaxis(values, 0, 1), (*dims[1:2], *dims[:1], *dims[2:])
            lead = values.ndim - 1 - ends
            values = values.reshape(*values.shape[:lead], *shape, *values.shape[lead + 1 :])
            dims = (*dims[:lead], *("y", "x")[-len(shape) :], *dims[lead + 1 :])
            replaced[role] = Result(values, dims, found[name].unit, found[name].label, found[name].doc)
        for role, column, axis in zip(("x", "y"), places.columns, places.axes):
            label = response.columns[column] if response.columns else f"column {column + 1}"
            replaced[role] = Result(axis, ("place",), response.block.unit, label)
        if len(places.columns) == 2 and self.has("points"):
            dims = self.result("points").dims
            replaced["points"] = Result(response.values[:, places.columns], dims)
        other = copy(self)
        named = {
            self.view.source[role]: result for role, result in replaced.items() if role in self.view.source
        }
        other._results, other._look = {**self._results, **named}, False
        return other

    def of_run(self, run: Run) -> Sources:
        """These sources with the results, draws and names of another run of the same data."""
        other = copy(self)
        other.run, other._results, other._naming = run, dict(run.results), Naming(run, self._datasets)
        other._look = run.has_stored_results
        return other

    def alike(self) -> tuple[Run, ...]:
        """The runs of the session with results of the same model and this view, the run itself among them."""
        return tuple(
            run
            for run in self._runs
            if run.spec.id == self.run.spec.id and run.results and self.view in run.spec.views
        )

    def _model(self) -> Model | None:
        from plaidwork.core.plugins.registry import registry

        try:
            return (self._plugins or registry()).model(self.run.spec.id)
        except (SessionError, PluginError):
            return None

    def picture_factory(self) -> PictureFactory:
        """The plugin's own picture that the view names."""
        from plaidwork.core.plugins.registry import registry

        name = str(self.view.options.get("factory", ""))
        if not name:
            raise SourceError("The view does not name its factory.")
        plugins = self._plugins or registry()
        found = self._own.get(name) or plugins.picture_factory(name)
        if found is None:
            plugins.load()  # it may still be on its way; this is no GUI thread
            found = plugins.picture_factory(name)
        if found is None:
            raise SourceError(f"It is drawn by a plugin that is not loaded (“{name}”).")
        return found

    def store(self) -> ResultStore:
        """What a picture of a plugin's own may read."""
        self.wait()
        return ResultStore(self.run, self._datasets, self.results)

    def names_of(self, dataset: str, axis: int) -> tuple[str, ...]:
        """Names shown along an axis of a dataset of the session; empty when it is gone."""
        found = self._datasets.get(dataset)
        return () if found is None else self._naming.axis(found, axis)

    def annotation_table(self, dataset: str, axis: int) -> Mapping[str, np.ndarray]:
        """Annotation columns along an axis of a dataset of the session; empty when it is gone."""
        found = self._datasets.get(dataset)
        return {} if found is None else (found.row_table, found.column_table)[axis]

    def _known_names(self, dataset: str, axis: int) -> tuple[str, ...]:
        found = self._datasets.get(dataset)
        return () if found is None else (found.row_names, found.column_names)[axis]

    def dim_names(self, dim: str, length: int) -> tuple[str, ...]:
        """Names shown along a dim: those of the input that has it, of a text result called like it, else numbers."""
        for item in self.run.spec.inputs:
            for name in self.run.inputs.get(item.name, ())[:1]:
                dataset = self._datasets.get(name)
                if dataset is None or dim not in item.dims:
                    continue
                names = self._naming.axis(dataset, item.dims.index(dim))
                if len(names) == length:
                    return names
        joined = joined_names(self.run, self._datasets, dim)
        if len(joined) == length:
            return tuple(self._naming.texts(joined))
        return self._naming.along(dim, length)


def dense(dataset: Dataset) -> np.ndarray:
    """The values as a dense array (a view when they are)."""
    values = dataset.values
    if dataset.is_sparse:
        if dataset.shape[0] * dataset.shape[1] > 60_000_000:
            raise SourceError(f"{dataset.name} is too large to be drawn whole: {dataset.described}.")
        return np.asarray(values.toarray())
    return np.asarray(values)


def shape_text(values: np.ndarray | Deferred) -> str:
    """``14 × 3``, or ``one number``."""
    return " × ".join(str(n) for n in values.shape) or "one number"


def as_name(value: Any) -> str:
    """A text that keeps the name behind what is shown."""
    return value if isinstance(value, ShownName) else str(value)


def role_names(sources: Sources, role: str, dim: str, length: int) -> tuple[str, ...]:
    """Names along a dim: of the role (a table's first column, texts, indices into the items of the dim), else known."""
    if sources.has(role):
        found = sources.get(role)
        if isinstance(found, Table) and len(found) == length:
            return tuple(map(as_name, next(iter(found.columns.values()))))
        values = found.values if isinstance(found, Result | Dataset) else np.empty(0)
        if values.shape == (length,) and values.dtype.kind in "UO":
            return tuple(map(as_name, values))
        if values.shape == (length,) and values.dtype.kind in "iu":
            base = dim.removesuffix("_picked")
            for item in sources.run.spec.inputs:
                for dataset in sources.run.inputs.get(item.name, ())[:1]:
                    if base in item.dims and (known := sources.names_of(dataset, item.dims.index(base))):
                        return tuple(known[int(i)] for i in values)
    return sources.dim_names(dim, length)


def data_axis(sources: Sources, dim: str, length: int) -> str:
    """``row`` or ``column`` when the dim is that axis of an input with as many items, else empty."""
    for item in sources.run.spec.inputs:
        for name in sources.run.inputs.get(item.name, ())[:1]:
            if dim in item.dims:
                axis = item.dims.index(dim)
                if len(sources.names_of(name, axis)) == length:
                    return ("row", "column")[axis]
    return ""
