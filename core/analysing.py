"""Makes an analysis of a run: finds and orders what it reads, runs it, and tells bugs from wrong inputs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.analysis import (
    AXES,
    DRAWS,
    Analysis,
    AnalysisData,
    AnalysisRecord,
    AnalysisSpec,
    Annotation,
    AnnotationRef,
    Report,
    available_annotations,
    is_missing_value,
    is_number_column,
)
from plaidwork.core.dataset import Axis, Dataset
from plaidwork.core.errors import DataError, PluginError, SettingError
from plaidwork.core.fitted import fitted_inputs
from plaidwork.core.joining import align
from plaidwork.core.model import Block, Result, Results
from plaidwork.core.plan import data_block, hash_of, model_data
from plaidwork.core.plugins.info import passes, plugin_error
from plaidwork.core.run import LogLine, Run, now
from plaidwork.core.spec import Input


def run_analysis(
    run: Run,
    analysis: Analysis | str,
    inputs: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    datasets: Mapping[str, Dataset] | None = None,
    report: Report | None = None,
) -> AnalysisRecord:
    """Make an analysis of a run and keep it in ``run.analyses``.

    Parameters
    ----------
    analysis : an analysis, or the id of an installed one.
    inputs : by name of a declared input a dataset (or array, or file name), and by name of a declared annotation an
        :class:`AnnotationRef` or its text, ``"X:column:class"``.
    params : settings that differ from their defaults.
    datasets : the data of the run by name; default those of its session.
    report : called with the share done; whatever it raises ends the analysis and is raised here.

    Raises
    ------
    SettingError, DataError : wrong settings or inputs, before anything is computed.
    ModelError : what the analysis says the user has to change.
    PluginError : a bug of the analysis; ``plugin`` names it.
    """
    record = compute_analysis(run, analysis, inputs, params, datasets=datasets, report=report)
    run.analyses.append(record)
    run.say(f"Analysis made: {record.title}")
    return record


def compute_analysis(
    run: Run,
    analysis: Analysis | str,
    inputs: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    datasets: Mapping[str, Dataset] | None = None,
    report: Report | None = None,
) -> AnalysisRecord:
    """Like :func:`run_analysis`, but the run stays as it is: safe in any thread."""
    if isinstance(analysis, str):
        from plaidwork.core.registry import registry

        analysis = registry().analysis(analysis)
    spec = analysis.spec
    values = spec.check_params(params or {})
    if reason := spec.missing(run):
        raise DataError(reason, "Let the fit keep some draws first.")
    if datasets is None:
        session = getattr(run, "session", None)
        datasets = session.datasets if session is not None else {}
    lines: list[LogLine] = []
    asked = _Asked(spec, run, datasets, dict(inputs or {}), lines)
    data = asked.data()
    needed = {role: _needed(run, name) for role, name in spec.needs.items()}
    watched = _Watched(report)
    started = time.perf_counter()
    try:
        found = analysis.run(needed, data, values, watched)
        watched.check()
        results = _checked(spec, found)
    except BaseException as error:
        if error is watched.raised or passes(error):
            raise
        hint = "This is an error in the plugin, not in your data."
        raise plugin_error(analysis, "run", error, hint, when=spec.title) from error
    return AnalysisRecord(
        id=uuid.uuid4().hex[:12],
        analysis=spec.id,
        version=spec.version,
        title=spec.title,
        params=values,
        inputs={name: tuple(d.name for d in given) for name, given in asked.chosen.items()},
        annotations=asked.refs,
        results=results,
        views=spec.views,
        log=tuple(lines),
        draws=run.n_draws,
        seconds=time.perf_counter() - started,
        inputs_hash=hash_of(asked.chosen) if asked.chosen else "",
    )


class _Watched:
    """The report handed to an analysis; remembers what it raised, so that a cancellation is not taken for a bug."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self.raised: Exception | None = None

    def __call__(self, share: float) -> None:
        self.check()
        if self._report is not None:
            try:
                self._report(min(1.0, max(0.0, float(share))))
            except Exception as error:
                self.raised = error
                raise

    def check(self) -> None:
        """Raise again what was raised before, should the analysis have caught it."""
        if self.raised is not None:
            raise self.raised


def _needed(run: Run, name: str) -> Any:
    if not name.startswith(DRAWS):
        return run.results[name]
    variable = run.spec.variable(name.removeprefix(DRAWS))
    dims = ("chain", "draw", *variable.dims)
    return Result(run.kept().stack(variable.name), dims, variable.unit, variable.label)


def _checked(spec: AnalysisSpec, found: Any) -> Results:
    """The results, once they are what was declared. Raises ``PluginError``."""

    from plaidwork.core.fitting import checked_results

    checked_results(found)
    for view in spec.views:
        named = [
            source for source in view.source.values() if not source.startswith(("data:", "fitted:", DRAWS))
        ]
        for name in (*named, *filter(None, (view.headline, view.caption))):
            if name not in found:
                raise PluginError(
                    f"the view “{view.title}” needs the result “{name}”, which it did not return"
                )
    return dict(found)


class _Asked:
    """The inputs that were asked for, found, checked and brought into the order of the fitted data."""

    def __init__(
        self,
        spec: AnalysisSpec,
        run: Run,
        datasets: Mapping[str, Dataset],
        inputs: dict[str, Any],
        log: list[LogLine],
    ) -> None:
        self._spec, self._run, self._log = spec, run, log
        known = {item.name for item in spec.inputs} | {item.name for item in spec.annotations}
        for name in inputs:
            if name not in known:
                hint = f"Known: {', '.join(sorted(known)) or 'none'}."
                raise SettingError(f"{spec.title} has no input named “{name}”.", hint)
        self._fitted = fitted_inputs(run, datasets)
        self.refs = self._references(inputs)
        self.chosen: dict[str, tuple[Dataset, ...]] = {}
        for item in spec.inputs:
            given = self._given(item, inputs.get(item.name))
            if given:
                self.chosen[item.name] = given
            elif item.required:
                raise DataError(f"{spec.title} needs “{item.title}” ({item.name}).", item.doc)

    def _references(self, inputs: Mapping[str, Any]) -> dict[str, AnnotationRef]:
        found = {}
        datasets = {dataset.name: dataset for given in self._fitted.values() for dataset in given}
        for declared in self._spec.annotations:
            value = inputs.get(declared.name)
            if value in (None, ""):
                if declared.required:
                    raise DataError(
                        f"{self._spec.title} needs “{declared.title}” ({declared.name}).",
                        declared.doc or "Import a table of labels with the data.",
                    )
                continue
            ref = value if isinstance(value, AnnotationRef) else AnnotationRef.parse(str(value))
            offered = available_annotations(declared, self._run, datasets)
            if ref not in offered:
                listed = ", ".join(f"“{other}”" for other in offered) or "none"
                raise DataError(
                    f"“{declared.title}” cannot be “{ref}”: {self._run.title} has no such annotation.",
                    f"There are: {listed}.",
                )
            found[declared.name] = ref
        return found

    def _given(self, item: Input, value: Any) -> tuple[Dataset, ...]:
        from plaidwork.core.fitting import as_dataset

        if value is None or (isinstance(value, str) and not value):
            return self._fitted.get(item.name, ())
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if len(values) > 1 and not item.many:
            raise DataError(f"{self._spec.title} takes one data set as “{item.title}”. Found {len(values)}.")
        return tuple(as_dataset(item.name, one) for one in values)

    # -- data -----------------------------------------------------------------------------------
    def data(self) -> AnalysisData:
        """Blocks of the fitted data, of the further inputs, and the annotation columns."""
        run = self._run
        fitted = model_data(run.spec, self._fitted, run.seed, run.holdout)
        blocks: dict[str, Block | tuple[Block, ...]] = dict(fitted)
        ordered = {
            item.name: [self._in_fitted_order(item, dataset) for dataset in self.chosen[item.name]]
            for item in self._spec.inputs
            if item.name in self.chosen
        }
        self._join_own_dims(ordered)
        for item in self._spec.inputs:
            if item.name in ordered:
                made = tuple(data_block(self._spec.title, item, dataset) for dataset in ordered[item.name])
                blocks[item.name] = made if item.many else made[0]
        annotations = {name: self._annotation(ref) for name, ref in self.refs.items()}
        return AnalysisData(blocks, annotations, run.params)

    def _fitted_dims(self) -> dict[str, tuple[Dataset, Axis]]:
        places: dict[str, tuple[Dataset, Axis]] = {}
        for item in self._run.spec.inputs:
            for dataset in self._fitted.get(item.name, ())[:1]:
                for axis, dim in enumerate(item.dims):
                    if not (item.many and axis == 1):
                        places.setdefault(dim, (dataset, 1 if axis else 0))
        return places

    def _in_fitted_order(self, item: Input, dataset: Dataset) -> Dataset:
        if len(dataset.shape) != len(item.dims):
            return dataset  # the check of the block says what is wrong
        for axis, dim in enumerate(item.dims):
            place = self._fitted_dims().get(dim)
            if place is not None:
                dataset = self._like(item, dataset, 1 if axis else 0, place)
        return dataset

    def _like(self, item: Input, dataset: Dataset, axis: Axis, place: tuple[Dataset, Axis]) -> Dataset:
        """The dataset with exactly the items of a fitted axis; those it lacks are missing cells."""
        target, target_axis = place
        names = (target.row_names, target.column_names)[target_axis]
        own = (dataset.row_names, dataset.column_names)[axis]
        if own == names:
            return dataset
        _orders, report = align({"the fitted data": place, item.title: (dataset, axis)})
        if report.by_position:
            return dataset
        where = {name: index for index, name in enumerate(own)}
        index = np.array([where.get(name, -1) for name in names], dtype=np.int64)
        lost = [name for name, place in zip(names, index, strict=True) if place < 0]
        if lost and not item.missing:
            raise DataError(
                f"{dataset.name} lacks {len(lost)} of the {len(names)} {AXES[target_axis]}s of "
                f"{target.name}, for example “{lost[0]}”.",
                f"“{item.title}” must have all of them.",
            )
        self._log.append(LogLine(now(), "info", f"{item.title}: {report.text}"))
        return _taken(dataset, axis, index, names)

    def _join_own_dims(self, ordered: dict[str, list[Dataset]]) -> None:
        """Inputs of the analysis that share a dim of their own are joined by name among themselves."""
        fitted = self._fitted_dims()
        users: dict[str, list[tuple[str, int, Axis]]] = {}
        for item in self._spec.inputs:
            for position, dataset in enumerate(ordered.get(item.name, ())):
                for axis, dim in enumerate(item.dims[: len(dataset.shape)]):
                    if dim not in fitted and not (item.many and axis == 1):
                        users.setdefault(dim, []).append((item.name, position, 1 if axis else 0))
        for places in users.values():
            if len(places) < 2:
                continue
            parts = {f"{name}[{i}]": (ordered[name][i], axis) for name, i, axis in places}
            orders, _report = align(parts)
            for (name, i, axis), order in zip(places, orders.values(), strict=True):
                if order is not None:
                    dataset = ordered[name][i]
                    own = (dataset.row_names, dataset.column_names)[axis]
                    ordered[name][i] = _taken(dataset, axis, order, tuple(own[j] for j in order))

    def _annotation(self, ref: AnnotationRef) -> Annotation:
        dataset = self._fitted[ref.input][0]
        axis = AXES.index(ref.axis)
        column = np.asarray((dataset.row_table, dataset.column_table)[axis][ref.title])
        dim = self._run.spec.input(ref.input).dims[axis]
        label = (dataset.row_label, dataset.column_label)[axis]
        return Annotation(ref.title, _annotation_values(column), ref.axis, dim, label)


def _taken(dataset: Dataset, axis: Axis, index: np.ndarray, names: Sequence[str]) -> Dataset:
    """The items at ``index`` under new names; -1 gives missing cells. Annotations of the axis are left behind."""
    values = dataset.values
    inside = np.maximum(index, 0)
    taken = values[inside] if axis == 0 else values[:, inside]
    if (index < 0).any():
        if dataset.is_sparse:
            raise DataError(
                f"{dataset.name} is sparse and lacks items of the fitted data.", "Make it dense first."
            )
        taken = np.array(taken)
        hole = -1 if dataset.kind == "categorical" else np.nan
        if axis == 0:
            taken[index < 0] = hole
        else:
            taken[:, index < 0] = hole
    if axis == 0:
        return dataset.with_(values=taken, row_names=tuple(names), row_table={})
    return dataset.with_(values=taken, column_names=tuple(names), column_table={})


def _annotation_values(column: np.ndarray) -> np.ndarray:
    """Numbers as float64 with NaN, anything else as text with "" where missing."""
    if is_number_column(column):
        if column.dtype.kind == "O":
            return np.array([np.nan if is_missing_value(v) else float(v) for v in column])
        return column.astype(np.float64)
    if column.dtype.kind == "b":
        return np.array(["yes" if value else "no" for value in column], dtype=object)
    return np.array(["" if is_missing_value(value) else str(value) for value in column], dtype=object)
