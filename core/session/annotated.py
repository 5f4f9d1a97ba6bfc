"""A run beside its data as annotated data: scores in ``obsm``, loadings in ``varm``, how it was fitted in ``uns``.

What goes where is told by the dims of the results: those along the samples of the matrices belong to ``obs`` and ``obsm``, those along
their features to ``var``, ``varm`` and, where they have both, ``layers``; what has neither is small and goes to ``uns``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.fitted import fitted_inputs
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.run import Run

SUFFIXES = (".h5ad", ".h5mu")
MOST_BESIDE = 100_000
"""Numbers of a result that is neither of samples nor of features, from which on it is left out."""


@dataclass
class Part:
    """A matrix of the run with what was found of its rows (n) and columns (d), by the key it gets in the file."""

    dataset: Dataset
    obs: dict[str, np.ndarray] = field(default_factory=dict)
    obsm: dict[str, np.ndarray] = field(default_factory=dict)
    var: dict[str, np.ndarray] = field(default_factory=dict)
    varm: dict[str, np.ndarray] = field(default_factory=dict)
    layers: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Annotated:
    """All matrices of a run, its samples with what was found of all of them, and what is known of the run."""

    parts: tuple[Part, ...]
    samples: tuple[str, ...]
    obs: dict[str, np.ndarray]
    obsm: dict[str, np.ndarray]
    uns: dict[str, Any]


def suffixes_of(run: Run) -> tuple[str, ...]:
    """The files that can hold the matrices of a run, the usual one first; none where it has no matrix."""
    item = _main_input(run)
    if item is None:
        return ()
    return SUFFIXES if len(run.inputs[item.name]) == 1 else SUFFIXES[1:]


def key_of(run: Run, name: str) -> str:
    """What a result is called in the file."""
    prefix = run.spec.id.replace(".", "_")
    return f"X_{prefix}" if name == "scores" else f"{prefix}_{name}"


def _main_input(run: Run) -> Input | None:
    return next(
        (item for item in run.spec.inputs if item.kind == "matrix" and run.inputs.get(item.name)), None
    )


def annotated(run: Run, datasets: Mapping[str, Dataset]) -> Annotated:
    """What the file of a run holds. Raises ``SessionError`` when there is nothing, ``DataError`` when the data have changed."""
    item = _main_input(run)
    if item is None:
        raise SessionError(f"{run.title} has no matrix.", "Export its results as plain files.")
    if not run.results:
        raise SessionError(f"{run.title} has no results yet.", "Let the fit keep some draws first.")
    return _Sorted(run, item, datasets).annotated()


class _Sorted:
    """The results of a run, sorted by what their axes are."""

    def __init__(self, run: Run, item: Input, datasets: Mapping[str, Dataset]) -> None:
        joined, self._run, self._item, self._datasets = fitted_inputs(run, datasets), run, item, datasets
        own = [datasets[name] for name in run.inputs[item.name]]
        side = _sample_side(item, own[0])
        self._given = joined
        self._dims = item.dims[side], item.dims[1 - side]
        self._samples = (joined[item.name][0].row_names, joined[item.name][0].column_names)[side]
        self._parts = [Part(_matrix(data, bool(side), len(own) > 1)) for data in own]
        self._obs: dict[str, np.ndarray] = self._outcomes()
        self._obsm: dict[str, np.ndarray] = {}
        self._beside: dict[str, np.ndarray] = {}

    def annotated(self) -> Annotated:
        features = self._features()
        for name, result in self._run.results.items():
            if isinstance(result, Result) and result.values.dtype.kind in "fiub":
                self._put(name, key_of(self._run, name), result, features)
        for part in self._parts:
            places = _places(part.dataset.row_names, self._samples)
            part.obs |= {key: _taken(values, places) for key, values in self._obs.items()}
            part.obsm = {key: _taken(values, places) for key, values in self._obsm.items()}
        uns = {
            "plaidwork_run": described(self._run, self._datasets, self._beside, (*self._dims, features[0]))
        }
        return Annotated(tuple(self._parts), tuple(self._samples), self._obs, self._obsm, uns)

    def _put(self, name: str, key: str, result: Result, features: tuple[str, Sequence[str]]) -> None:
        values, dims, (of, names) = np.asarray(result.values), result.dims, features
        sizes = dict(zip(dims, values.shape))
        of_samples = dims.count(self._dims[0]) == 1 and sizes[self._dims[0]] == len(self._samples)
        of_features = bool(of) and dims.count(of) == 1 and sizes[of] == len(names)
        if values.ndim > 2 or len(dims) != values.ndim:
            return
        if of_samples:
            first = np.moveaxis(values, dims.index(self._dims[0]), 0)
            if of_features:
                self._put_layer(key, first, names)
            else:
                (self._obs if values.ndim == 1 else self._obsm)[key] = first
        elif of_features:
            self._put_by_feature(key, np.moveaxis(values, dims.index(of), 0), names)
        elif values.size <= MOST_BESIDE:
            self._beside[name] = values

    def _put_layer(self, key: str, values: np.ndarray, names: Sequence[str]) -> None:
        part = self._parts[0]
        rows = _taken(values, _places(part.dataset.row_names, self._samples))
        part.layers[key] = _taken(rows.T, _places(part.dataset.column_names, names)).T

    def _put_by_feature(self, key: str, values: np.ndarray, names: Sequence[str]) -> None:
        for part, places in zip(self._parts, self._feature_places(names), strict=True):
            (part.var if values.ndim == 1 else part.varm)[key] = _taken(values, places)

    def _features(self) -> tuple[str, Sequence[str]]:
        """The dim along which results are of the features of the matrices, and their names; empty where there is none."""
        view = self._run.results.get("variable_view")
        if not self._item.many:
            data = self._given[self._item.name][0]
            return self._dims[1], (
                data.row_names if self._dims[1] == self._item.dims[0] else data.column_names
            )
        if not isinstance(view, Result) or len(view.dims) != 1:
            return "", ()
        named = self._run.results.get(view.dims[0])
        return (view.dims[0], [str(name) for name in named.values]) if isinstance(named, Result) else ("", ())

    def _feature_places(self, names: Sequence[str]) -> list[np.ndarray]:
        """Of each matrix, where its features are among ``names``; a name that several have comes with its matrix."""
        if not self._item.many:
            return [_places(self._parts[0].dataset.column_names, names)]
        view = self._run.results["variable_view"]
        of = np.asarray(view.values).astype(str) if isinstance(view, Result) else np.array([])
        found = []
        for part in self._parts:
            title = part.dataset.name
            own = [
                name.removesuffix(f" ({title})") if view == title else None for name, view in zip(names, of)
            ]
            found.append(_places(part.dataset.column_names, own))
        return found

    def _outcomes(self) -> dict[str, np.ndarray]:
        """Vectors and labels that the samples were given for the fit, by the name of the data; not annotations, which are
        there already."""
        found = {}
        for item in self._run.spec.inputs:
            for data in self._given.get(item.name, ()):
                own = "annotation" not in data.source.options
                if own and item.dims == (self._dims[0],) and len(data.shape) == 1:
                    values = np.asarray(data.values)
                    if data.kind == "categorical":
                        values = np.array(
                            [data.categories[code] if code >= 0 else "" for code in values], object
                        )
                    found[data.name] = values
        return found


def _sample_side(item: Input, data: Dataset) -> int:
    """The axis that has the samples: as the model says, else as the data say; rows where neither does."""
    if item.samples:
        return item.dims.index(item.samples)
    return int(data.samples_in == "columns")


def _matrix(data: Dataset, turned: bool, several: bool) -> Dataset:
    """Samples by features; where there are several matrices, without samples that this one says nothing of."""
    data = apply_step(data, Step("transpose")) if turned else data
    if several and not data.is_sparse and np.isnan(data.values).all(axis=1).any():
        return apply_step(data, Step("drop_missing", {"axis": "rows", "share": 1.0}))
    return data


def _places(wanted: Sequence[str], names: Sequence[str | None]) -> np.ndarray:
    """Where each name is among ``names``; -1 where it is not."""
    where = {name: place for place, name in enumerate(names)}
    return np.array([where.get(name, -1) for name in wanted], dtype=np.int64)


def _taken(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The rows at the places; missing where a place is -1."""
    if (places >= 0).all():
        return values[places]
    hole: Any = "" if values.dtype.kind in "UO" else np.nan
    found = np.full((len(places), *values.shape[1:]), hole, dtype=object if hole == "" else np.float64)
    if len(values):
        found[places >= 0] = values[places[places >= 0]]
    return found


def described(
    run: Run, datasets: Mapping[str, Dataset], beside: Mapping[str, np.ndarray], axes: Sequence[str]
) -> dict[str, Any]:
    """What is known of a run: settings, seed, versions, names of what was found, and results of no samples and features."""
    from plaidwork.core import __version__

    naming = Naming(run, datasets)
    names = {
        name: np.array(naming.texts(np.asarray(result.values)), dtype=object)
        for name, result in run.results.items()
        if isinstance(result, Result) and result.dims == (name,) and result.values.dtype.kind in "UO"
        if len(result.values) and name not in axes  # the samples and features have their names already
    }
    texts = {name: text for name, text in run.results.items() if isinstance(text, str)}
    return {
        "model": run.spec.id,
        "model_version": run.spec.version,
        "title": run.title,
        "created": run.created,
        "status": run.status,
        "plaidwork_version": __version__,
        "seed": run.seed,
        "holdout": run.holdout,
        "data_hash": run.data_hash,
        "settings": dict(run.params),
        "schedule": {name: getattr(run.schedule, name) for name in type(run.schedule).__slots__},
        "environment": dict(run.environment),
        "verdict": run.diagnosis().verdict.title if run.n_draws else "",
        "names": names,
        "results": {**beside, **texts},
    }
