"""Work beyond the fit: what an analysis declares, what it gets, and the record of what it found."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import SettingError
from plaidwork.core.model import Block, ModelData, Params, Results
from plaidwork.core.run import LogLine, Run, now
from plaidwork.core.spec import (
    API_VERSION,
    DeclarationError,
    Hyperparameter,
    Input,
    View,
)

DRAWS = "draws:"
AxisName = Literal["row", "column"]
AXES: tuple[AxisName, AxisName] = ("row", "column")

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")

Report = Callable[[float], None]
"""Tells the share done, 0 to 1. It raises when the analysis was cancelled: let that pass."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """A choice of one annotation column of the fitted data.

    ``axis`` limits it to the columns that describe rows or columns; ``values`` to text or numbers.
    """

    name: str
    axis: Literal["", "row", "column"] = ""
    values: Literal["", "text", "number"] = ""
    required: bool = True
    label: str = ""
    doc: str = ""

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise DeclarationError(f"annotation name {self.name!r} is not an identifier")

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True, order=True)
class AnnotationRef:
    """One annotation column: of which input of the run, which axis, which title."""

    input: str
    axis: AxisName
    title: str

    def __str__(self) -> str:
        return f"{self.input}:{self.axis}:{self.title}"

    @classmethod
    def parse(cls, text: str) -> AnnotationRef:
        """``X:row:title`` back. Raises ``SettingError``."""
        parts = text.split(":", 2)
        if len(parts) != 3 or parts[1] not in AXES or not parts[2]:
            raise SettingError(
                f"An annotation is named INPUT:row:TITLE or INPUT:column:TITLE. Found “{text}”."
            )
        return cls(parts[0], AXES[parts[1] == "column"], parts[2])


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation column in the order of the fitted data.

    Attributes
    ----------
    values : (n,) float64 with NaN where missing, or text (object array) with "" where missing.
    dim : the fitted dim that it describes, such as ``row``.
    axis_label : what the items are called, in the plural ("genes").
    """

    title: str
    values: np.ndarray
    axis: AxisName
    dim: str
    axis_label: str

    @property
    def is_number(self) -> bool:
        return self.values.dtype.kind == "f"

    @property
    def known(self) -> np.ndarray:
        """(n,) bool, False where missing."""
        if self.is_number:
            return ~np.isnan(self.values)
        return np.array([value != "" for value in self.values], dtype=bool)


class AnalysisData(ModelData):
    """The fitted data as the model got them, the inputs of the analysis, and the annotations chosen.

    ``settings`` are those the run was fitted with, all of them.
    """

    def __init__(
        self,
        blocks: Mapping[str, Block | tuple[Block, ...]],
        annotations: Mapping[str, Annotation],
        settings: Params | None = None,
    ) -> None:
        super().__init__(blocks)
        self.annotations = dict(annotations)
        self.settings = dict(settings or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSpec:
    """What an analysis needs, asks for and shows.

    ``needs`` maps roles to what is read of the run: the name of a result, or ``"draws:NAME"`` for a kept variable.
    ``models`` lists ids of models, or is ``"*"`` when any run with the needed results will do. An input with the
    name of one of the model's inputs is what the run was fitted with, unless another dataset is chosen; inputs
    that share a dim with the fitted data are brought into their order.

    A view may name the items of an axis of its result: a text result with the name of the dim, as its only dim.
    """

    id: str
    version: str
    title: str
    summary: str
    needs: Mapping[str, str]
    inputs: tuple[Input, ...] = ()
    annotations: tuple[Annotations, ...] = ()
    hyperparameters: tuple[Hyperparameter, ...] = ()
    views: tuple[View, ...] = ()
    models: tuple[str, ...] | Literal["*"] = "*"
    help: str = ""
    citation: str = ""
    api: tuple[int, int] = API_VERSION

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise DeclarationError(f"analysis id {self.id!r} must be lower case, dots between parts")
        for name in ("inputs", "annotations", "hyperparameters", "views"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.models != "*":
            if isinstance(self.models, str):
                raise DeclarationError(f'{self.id}: models are a tuple of ids, or "*"')
            object.__setattr__(self, "models", tuple(self.models))
        asked = [item.name for item in self.inputs] + [item.name for item in self.annotations]
        for names in (asked, [parameter.name for parameter in self.hyperparameters]):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise DeclarationError(f"{self.id}: declared twice: {', '.join(sorted(twice))}")
        settings = {parameter.name for parameter in self.hyperparameters}
        for parameter in self.hyperparameters:
            for other in parameter.when:
                if other not in settings:
                    raise DeclarationError(
                        f"{self.id}: {parameter.name} depends on unknown setting {other!r}"
                    )

    def hyperparameter(self, name: str) -> Hyperparameter:
        for parameter in self.hyperparameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in self.hyperparameters) or "none"
        raise SettingError(f"{self.title} has no setting named “{name}”.", f"Known: {known}.")

    def check_params(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings in canonical type, defaults filled in. Raises ``SettingError`` for the first bad one."""
        for name in values:
            self.hyperparameter(name)
        return {p.name: p.check(values.get(p.name, p.default)) for p in self.hyperparameters}

    def missing(self, run: Run) -> str:
        """Why the analysis cannot work on the run, in words; empty when it can."""
        if self.models != "*" and run.spec.id not in self.models:
            return f"{self.title} is not made for {run.spec.title}."
        results, variables = dict(run.results), {variable.name for variable in run.spec.variables}
        for name in self.needs.values():
            if name.startswith(DRAWS):
                found = name.removeprefix(DRAWS) in variables and run.n_draws > 0
            else:
                found = name in results
            if not found:
                return f"{self.title} needs “{name}”, which {run.title} does not have."
        return ""


class Analysis(ABC):
    """An analysis: a declaration and one method. One instance may work on several runs at a time."""

    spec: ClassVar[AnalysisSpec]

    @abstractmethod
    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Report) -> Results:
        """Work out the results; off the GUI thread.

        ``results`` holds what ``spec.needs`` declares, by role: a ``Result``, ``Table`` or text; draws come as
        ``Result`` with dims (chain, draw, ...). Call ``report`` with the share done now and then. Raise
        ``ModelError`` for what the user has to change.
        """


@dataclass(frozen=True)
class AnalysisRecord:
    """An analysis that was made, stored with its run.

    ``id`` tells the records of a run apart, ``analysis`` is the id of the declaration. ``inputs`` are the names of
    the datasets chosen, ``draws`` the kept draws that the run had, ``inputs_hash`` a fingerprint of the inputs.
    """

    id: str
    analysis: str
    version: str
    title: str
    params: Mapping[str, Any]
    inputs: Mapping[str, tuple[str, ...]]
    annotations: Mapping[str, AnnotationRef]
    results: Results
    views: tuple[View, ...]
    created: str = field(default_factory=now)
    log: tuple[LogLine, ...] = ()
    draws: int = 0
    seconds: float = 0.0
    inputs_hash: str = ""

    def text(self, name: str) -> str:
        """A result that is a text, else empty."""
        found = self.results.get(name, "") if name else ""
        return found if isinstance(found, str) else ""


def available_annotations(
    declared: Annotations, run: Run, datasets: Mapping[str, Dataset]
) -> list[AnnotationRef]:
    """The columns to choose from, in the order of inputs, rows before columns; each dataset once."""
    found, seen = [], set()
    for item in run.spec.inputs:
        for name in run.inputs.get(item.name, ())[:1]:
            if name in seen or name not in datasets:
                continue
            seen.add(name)
            dataset = datasets[name]
            tables = (dataset.row_table, dataset.column_table)[: len(item.dims)]
            for axis, table in zip(AXES[: len(tables)], tables, strict=True):
                for title, column in table.items():
                    kind = "number" if is_number_column(np.asarray(column)) else "text"
                    if declared.axis in ("", axis) and declared.values in ("", kind):
                        found.append(AnnotationRef(item.name, axis, title))
    return found


def is_number_column(column: np.ndarray) -> bool:
    """Whether an annotation column holds numbers (missing ones apart)."""
    if column.dtype.kind in "iuf":
        return True
    if column.dtype.kind != "O":
        return False
    numbers = [isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in column]
    known = [not is_missing_value(v) for v in column]
    return any(known) and all(n for n, k in zip(numbers, known, strict=True) if k)


def is_missing_value(value: Any) -> bool:
    """None, empty text and NaN."""
    return value is None or value == "" or (isinstance(value, float) and value != value)
