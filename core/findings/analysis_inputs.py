"""What an analysis is given: data found and brought into order, annotation columns, files, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import column_dataset, parse_column
from plaidwork.core.data.dataset import Axis, Dataset
from plaidwork.core.data.file_inputs import ColumnInput, FileInput
from plaidwork.core.data.fit_inputs import Entry, entries_for, read_entry
from plaidwork.core.data.joining import align, unite
from plaidwork.core.data.objects import ObjectInput
from plaidwork.core.data.orienting import orient
from plaidwork.core.data.reading_alike import read_alike
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.findings.analysis import AnalysisData, AnalysisSpec
from plaidwork.core.findings.annotations import (
    ALL,
    AXES,
    Annotation,
    AnnotationRef,
    Annotations,
    annotation_table,
    annotation_values,
    available_annotations,
)
from plaidwork.core.findings.attached import AttachedFile, FileRequest, attach
from plaidwork.core.findings.fitted import fitted_inputs
from plaidwork.core.findings.new_samples import names_known
from plaidwork.core.inference.plan import data_block, model_data
from plaidwork.core.inference.run import LogLine, Run, now


class AnalysisInputs:
    """The inputs that were asked for, found, checked and brought into the order of the fitted data.

    Attributes
    ----------
    chosen : datasets by name of an input, as given.
    refs : annotation columns by name; a tuple where many may be chosen.
    files : files by name.
    """

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
        known |= {item.name for item in spec.files}
        for name in inputs:
            if name not in known:
                hint = f"Known: {', '.join(sorted(known)) or 'none'}."
                raise SettingError(f"{spec.title} has no input named “{name}”.", hint)
        self._fitted = fitted_inputs(run, datasets)
        self.chosen: dict[str, tuple[Dataset, ...]] = {}
        self._requested = inputs
        for item in spec.inputs:
            given = self._given(item, inputs.get(item.name))
            if given:
                self.chosen[item.name] = given
            elif item.required:
                raise DataError(f"{spec.title} needs “{item.title}” ({item.name}).", item.doc)
        self.refs = {
            declared.name: found
            for declared in spec.annotations
            if (found := self._references(declared, inputs.get(declared.name)))
        }
        self.files = {
            request.name: file
            for request in spec.files
            if (file := self._file(request, inputs.get(request.name))) is not None
        }

    @property
    def everything(self) -> list[Dataset]:
        """All data that the run was fitted to and the analysis sees."""
        return [data for given in (*self._fitted.values(), *self.chosen.values()) for data in given]

    def _references(
        self, declared: Annotations, value: Any
    ) -> AnnotationRef | tuple[AnnotationRef, ...] | None:
        datasets = {dataset.name: dataset for given in self._fitted.values() for dataset in given}
        offered = available_annotations(declared, self._run, datasets, self._spec.needs, self.chosen)
        if (declared.many and value == ALL) or (declared.many and value is None and declared.required):
            value = offered
        if value in (None, "", [], ()):
            if declared.required:
                raise DataError(
                    f"{self._spec.title} needs “{declared.title}” ({declared.name}).",
                    declared.doc or "Import a table of labels with the data.",
                )
            return None
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if len(values) > 1 and not declared.many:
            raise DataError(
                f"{self._spec.title} takes one annotation as “{declared.title}”. Found {len(values)}."
            )
        refs = [_reference(one, offered) for one in values]
        for one, ref in zip(values, refs, strict=True):
            if ref not in offered:
                listed = ", ".join(f"“{other}”" for other in offered) or "none"
                raise DataError(
                    f"“{declared.title}” cannot be “{one}”: {self._run.title} has no such annotation.",
                    f"There are: {listed}.",
                )
        return tuple(dict.fromkeys(refs)) if declared.many else refs[0]

    def _file(self, request: FileRequest, value: Any) -> AttachedFile | None:
        if isinstance(value, AttachedFile):
            return value
        if value is None or value == "":
            if request.required:
                raise DataError(
                    f"{self._spec.title} needs a file as “{request.title}” ({request.name}).", request.doc
                )
            return None
        return attach(request, value)

    def _given(self, item: Input, value: Any) -> tuple[Dataset, ...]:
        if value is None or (isinstance(value, str) and not value):
            return self._fitted.get(item.name, ())
        given = entries_for(item, value)
        others = {other.name: other for other in self._spec.inputs if other.name != item.name}
        text = given[0].column if len(given) == 1 and isinstance(given[0], ColumnInput) else ""
        column = parse_column(text, others)
        if column is not None:
            beside = self._given(others[column.dataset], self._requested.get(column.dataset))
            if not beside:
                raise DataError(f"“{text}” is a column of {column.dataset}, which is not given.")
            return (column_dataset(beside[0], column, item),)
        if not {dim for own in self._run.spec.inputs for dim in own.dims} & set(item.dims):
            given = tuple(self._like_fitted(one) for one in given)
        found = [dataset for one in given for dataset in read_entry(item, one)]
        if len(found) > 1 and not item.many:
            raise DataError(f"{self._spec.title} takes one data set as “{item.title}”. Found {len(found)}.")
        return self._turned(item, found)

    def _like_fitted(self, entry: Entry) -> Entry:
        """A file without options of its own as what it says when it is read like those of the fit."""
        if not isinstance(entry, FileInput) or entry.options:
            return entry
        found = read_alike(entry.file, [data for used in self._fitted.values() for data in used])
        return ObjectInput(found, steps=entry.steps)

    def _turned(self, item: Input, datasets: Sequence[Dataset]) -> tuple[Dataset, ...]:
        """Matrices with their samples where the input wants them; the names of the fitted data tell where they are."""
        known = names_known(self._run.spec, self._fitted)
        result, messages = orient([item], {item.name: datasets}, known=known)
        self._log += [LogLine(now(), "info", one.line) for one in messages if one.line]
        return result[item.name]

    # -- data -----------------------------------------------------------------------------------
    def data(self, params: Mapping[str, Any]) -> AnalysisData:
        """Blocks of the fitted data and of the further inputs, settings of the fit, annotation columns, files and names."""
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
        annotations = {
            name: tuple(self._annotation(one, ordered) for one in ref)
            if isinstance(ref, tuple)
            else self._annotation(ref, ordered)
            for name, ref in self.refs.items()
        }
        return AnalysisData(blocks, annotations, params, self.files, self._names(), run.kept(), run.solutions)

    def _names(self) -> dict[str, tuple[str, ...]]:
        """Names by dim: of the fitted data, and of text results that are called like their only dim."""
        found = {
            name: tuple(str(text) for text in result.values)
            for name, result in self._run.results.items()
            if isinstance(result, Result) and result.dims == (name,) and result.values.dtype.kind in "UO"
        }
        for dim, (dataset, axis) in self._fitted_dims().items():
            found[dim] = (dataset.row_names, dataset.column_names)[axis]
        return found

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

    def _like(self, item: Input, dataset: Dataset, axis: Axis, fitted_axis: tuple[Dataset, Axis]) -> Dataset:
        """The dataset with exactly the items of a fitted axis; those it lacks are missing cells."""
        target, target_axis = fitted_axis
        names = (target.row_names, target.column_names)[target_axis]
        own = (dataset.row_names, dataset.column_names)[axis]
        if own == names:
            return dataset
        _orders, report = align({"the fitted data": fitted_axis, item.title: (dataset, axis)})
        if report.by_position:
            return dataset
        where = {name: index for index, name in enumerate(own)}
        index = np.array([where.get(name, -1) for name in names], dtype=np.int64)
        lost = [name for name, at in zip(names, index, strict=True) if at < 0]
        if lost and not item.missing:
            raise DataError(
                f"{dataset.name} lacks {len(lost)} of the {counted(len(names), AXES[target_axis])} of "
                f"{target.name}, for example “{lost[0]}”.",
                f"“{item.title}” must have all of them.",
            )
        self._log.append(LogLine(now(), "info", f"{item.title}: {report.text}"))
        return _taken(dataset, axis, index, names)

    def _join_own_dims(self, ordered: dict[str, list[Dataset]]) -> None:
        """Inputs of the analysis that share a dim of their own are joined by name among themselves, as those of a model."""
        fitted = self._fitted_dims()
        for item in self._spec.inputs:
            if item.union and item.name in ordered and item.dims[0] not in fitted:
                ordered[item.name] = list(unite(tuple(ordered[item.name])))
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

    def _annotation(self, ref: AnnotationRef, ordered: Mapping[str, Sequence[Dataset]]) -> Annotation:
        """A column in the order of the data, put together from all datasets that have it."""
        axis: Axis = 1 if ref.axis == "column" else 0
        if ref.input in ordered:
            datasets, target = self.chosen[ref.input], ordered[ref.input][0]
            dims = next(item.dims for item in self._spec.inputs if item.name == ref.input)
        else:
            datasets, target = self._fitted[ref.input], self._fitted[ref.input][0]
            dims = self._run.spec.input(ref.input).dims
        names = (target.row_names, target.column_names)[axis]
        values: np.ndarray | None = None
        for dataset in datasets if axis == 0 else datasets[:1]:
            column = annotation_table(dataset, ref.axis).get(ref.title)
            if column is not None:
                own = (dataset.row_names, dataset.column_names)[axis]
                values = _filled(values, annotation_values(np.asarray(column)), own, names)
        assert values is not None  # it was on offer
        label = (target.row_label, target.column_label)[axis]
        return Annotation(ref.title, values, ref.axis, dims[axis], label)


def _reference(value: Any, offered: Sequence[AnnotationRef]) -> AnnotationRef:
    """A reference, one written out, or the title of a column when only one on offer has it."""
    if isinstance(value, AnnotationRef):
        return value
    titled = [ref for ref in offered if ref.title == value]
    if len(titled) == 1:
        return titled[0]
    return AnnotationRef.parse(str(value)) if titled or ":" in str(value) else AnnotationRef("", "row", value)


def _filled(
    values: np.ndarray | None, column: np.ndarray, own: Sequence[str], names: Sequence[str]
) -> np.ndarray:
    """The column at the items ``names``, where ``values`` has none; a column of another type is left."""
    index_of = {name: index for index, name in enumerate(own)}
    index = np.array([index_of.get(name, -1) for name in names], dtype=np.int64)
    missing: Any = np.nan if column.dtype.kind == "f" else ""
    spread = column[np.maximum(index, 0)].copy()
    spread[index < 0] = missing
    if values is None:
        return spread
    if values.dtype != spread.dtype:
        return values
    empty = np.isnan(values) if values.dtype.kind == "f" else values == ""
    return np.where(empty, spread, values)


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
    return dataset.with_(values=taken, column_names=tuple(names), column_table={}, image_shape=())
