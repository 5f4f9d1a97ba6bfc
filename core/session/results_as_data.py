"""Results of one run as data of another: scores, shares and weights as matrices, clusters as labels, with their history.

What can be data is told by the dims of the results, as for annotated data: numbers along the samples or the features of the matrices
that the run was fitted to, each with names. Nothing has to be declared for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.naming import Naming
from plaidwork.core.inference.run import Run
from plaidwork.core.session.annotated import Annotated, annotated, key_of

_MOST_CLASSES = 100_000
"""Classes of a result that can become labels: each is given a name."""


@dataclass(frozen=True)
class ResultData:
    """A result that can become data: its name, what it is, of which items, and its size."""

    name: str
    title: str
    of: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Found:
    """Values (n,) or (n, k) of a result along the rows of a matrix."""

    values: np.ndarray
    rows: Dataset
    of: str


def results_as_data(run: Run, datasets: Mapping[str, Dataset]) -> tuple[ResultData, ...]:
    """What of a run can become data; a result that belongs to the features of several matrices comes once for each.

    The names of these are those of the result with that of the matrix behind a colon: "loadings:drugs".
    """
    found = _all(run, datasets)
    first = {(_title(run, name), one.of): name for name, one in reversed(found.items())}
    return tuple(
        ResultData(name, title, one.of, one.values.shape)
        for name, one in found.items()
        if first[title := _title(run, name), one.of]
        == name  # the same values in another arrangement are left out
    )


def data_of(run: Run, datasets: Mapping[str, Dataset], name: str) -> Dataset:
    """A result as a dataset of its own: samples (or features) by what was found, names and annotations with them.

    Raises ``SessionError`` with those that there are when the run has no such result.
    """
    found = _all(run, datasets)
    if name not in found:
        there = f"There are: {', '.join(found)}." if found else "It has none along its samples or features."
        raise SessionError(f"{run.title} has no result “{name}” that can be data.", there)
    one, result, title = found[name], _result(run, name), _title(run, name)
    made = Dataset(
        name=f"{run.title}: {title}",
        values=np.asarray(one.values, dtype=np.float64) if one.values.dtype.kind != "i" else one.values,
        row_names=one.rows.row_names,
        kind="real",
        row_table=one.rows.row_table,
        row_label=one.rows.row_label,
        row_shown_by=one.rows.row_shown_by,
        unit=result.unit,
        source=Source(note=_history(run, title)),
        column_names=_columns(run, datasets, result, one.values.shape[1]) if one.values.ndim == 2 else (),
        samples_in="rows" if one.values.ndim == 2 and one.of == "samples" else "",
    )  # fmt: skip
    if one.values.ndim == 2:
        other = _found_dim(run, result)
        return replace(made, column_label=f"{other.replace('_', ' ')}{'es' if other.endswith('s') else 's'}")
    return _labels(run, datasets, made) if one.values.dtype.kind == "i" else made


def _all(run: Run, datasets: Mapping[str, Dataset]) -> dict[str, _Found]:
    """By name, first of the samples, then of the features."""
    beside = annotated(run, datasets)
    samples = _samples(beside)
    found: dict[str, _Found] = {}
    for name, result in run.results.items():
        if not isinstance(result, Result) or not result.label or result.held.dtype.kind not in "fi":
            continue
        key = key_of(run, name)
        values = beside.obsm.get(key, beside.obs.get(key))
        if values is not None and _fits(result, values):
            found[name] = _Found(values, samples, "samples")
    for name, result in run.results.items():
        if name in found or not isinstance(result, Result) or not result.label:
            continue
        key = key_of(run, name)
        for part in beside.parts:
            values = part.varm.get(key)
            if values is not None and _fits(result, values):
                several = f":{part.dataset.name}" if len(beside.parts) > 1 else ""
                found[name + several] = _Found(values, _turned(part.dataset), "features")
    return found


def _fits(result: Result, values: np.ndarray) -> bool:
    """Numbers of all items; one of whole numbers is a label of each."""
    numbers = values.dtype.kind == "f" and bool(np.isfinite(values).all())
    labels = result.held.dtype.kind == "i" and values.max(initial=-1) < _MOST_CLASSES
    return (numbers and values.ndim == 2) or (values.ndim == 1 and (numbers or bool(labels)))


def _samples(beside: Annotated) -> Dataset:
    """The samples of all matrices, with the annotations of the first one that has all of them."""
    for part in beside.parts:
        if part.dataset.row_names == beside.samples:
            return part.dataset
    label = beside.parts[0].dataset.row_label
    return Dataset("", np.zeros(len(beside.samples)), beside.samples, row_label=label)


def _turned(matrix: Dataset) -> Dataset:
    """The features of a matrix as rows, without the values."""
    return Dataset(
        "", np.zeros(len(matrix.column_names)), matrix.column_names, row_table=matrix.column_table,
        row_label=matrix.column_label, row_shown_by=matrix.column_shown_by,
    )  # fmt: skip


def _dims(run: Run) -> set[str]:
    """Dims of samples and features: those of the inputs, and those whose names are as many as the features of all views."""
    view = run.results.get("variable_view")
    own = {dim for item in run.spec.inputs for dim in item.dims}
    return own | (set(view.dims) if isinstance(view, Result) else set())


def _found_dim(run: Run, result: Result) -> str:
    """The dim of what was found; of a result that has none but those of the data, its last."""
    return next((dim for dim in result.dims if dim not in _dims(run)), result.dims[-1])


def _columns(run: Run, datasets: Mapping[str, Dataset], result: Result, count: int) -> tuple[str, ...]:
    """Names of what was found, as the user calls it; numbers where it has none."""
    other = _found_dim(run, result)
    named = run.results.get(other)
    if isinstance(named, Result) and len(named.values) == count:
        return tuple(map(str, Naming(run, datasets).texts(np.asarray(named.values))))
    return tuple(f"{other.replace('_', ' ').capitalize()} {number + 1}" for number in range(count))


def _labels(run: Run, datasets: Mapping[str, Dataset], made: Dataset) -> Dataset:
    """Codes from 0 on as labels, with the names of the one list that is as long as there are codes."""
    codes = np.asarray(made.values, dtype=np.int64)
    count = int(codes.max(initial=-1)) + 1
    lists = [
        result.values
        for name, result in run.results.items()
        if isinstance(result, Result) and result.dims == (name,) and result.held.dtype.kind in "UO"
        if len(result.values) == count and name not in _dims(run)
    ]
    names: Sequence[object] = (
        Naming(run, datasets).texts(np.asarray(lists[0])) if lists else range(1, count + 1)
    )
    return replace(made, values=codes, kind="categorical", categories=tuple(map(str, names)))


def _result(run: Run, name: str) -> Result:
    found = run.results[name.partition(":")[0]]
    assert isinstance(found, Result)
    return found


def _title(run: Run, name: str) -> str:
    """What a result is, and of which matrix: "Weight, drugs"."""
    matrix = name.partition(":")[2]
    label = _result(run, name).label
    return f"{label[:1].upper()}{label[1:]}" + (f", {matrix}" if matrix else "")


def _history(run: Run, title: str) -> str:
    """Where the values come from, in a sentence."""
    inputs = ", ".join(f"“{name}”" for names in run.inputs.values() for name in names)
    settled = run.diagnosis().verdict.title
    return f"{title} of the run “{run.title}” ({run.spec.title}, seed {run.seed}) of {inputs}. {settled}."
