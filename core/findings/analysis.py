"""Work beyond the fit: what an analysis declares, what it gets, and the record of what it found."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from plaidwork.core.contract.hyperparameter import DeclarationError, Hyperparameter
from plaidwork.core.contract.model import Results
from plaidwork.core.contract.model_data import Block, ModelData, Params
from plaidwork.core.contract.spec import API_VERSION, Input, View
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.errors import SettingError
from plaidwork.core.findings.annotations import AnnotationRef, Annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest
from plaidwork.core.inference.run import LogLine, Run, now

DRAWS = "draws:"

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")

Report = Callable[[float], None]
"""Tells the share done, 0 to 1. It raises when the analysis was cancelled: let that pass."""


class AnalysisData(ModelData):
    """The fitted data as the model got them, the inputs of the analysis, and what else was chosen.

    Attributes
    ----------
    annotations : by name an :class:`Annotation`, or a tuple of them for ``Annotations(many=True)``.
    settings : hyperparameters that the run was fitted with, all of them.
    files : by name an :class:`AttachedFile`; optional ones that were not given are absent.
    names : names of the items by dim, of the fitted data and of the results of the run.
    kept : everything that the chains of the run kept.
    """

    def __init__(
        self,
        blocks: Mapping[str, Block | tuple[Block, ...]],
        annotations: Mapping[str, Any],
        settings: Params | None = None,
        files: Mapping[str, AttachedFile] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        kept: Kept | None = None,
        solutions: Callable[[], tuple[Solution, ...]] = tuple,
    ) -> None:
        super().__init__(blocks)
        self.annotations = dict(annotations)
        self.settings = dict(settings or {})
        self.files = dict(files or {})
        self.names = {dim: tuple(items) for dim, items in (names or {}).items()}
        self.kept = kept
        self._solutions = solutions

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """Groups of chains that found the same, with their weights, where the chains do not agree; else empty."""
        return self._solutions()

    def names_along(self, dim: str, length: int) -> tuple[str, ...]:
        """Names of the items along a dim of a result; numbered ones ("factor 1") where there are none."""
        names = self.names.get(dim, ())
        if len(names) == length:
            return names
        return tuple(f"{dim.replace('_', ' ')} {number + 1}" for number in range(length))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSpec:
    """What an analysis needs, asks for and shows.

    ``needs`` maps roles to what is read of the run: the name of a result, or ``"draws:NAME"`` for a kept variable.
    ``optional`` maps further roles to what is read where the run has it.
    ``models`` lists ids of models, or is ``"*"`` when any run with the needed results will do. An input with the
    name of one of the model's inputs is what the run was fitted with, unless another dataset is chosen; inputs
    that share a dim with the fitted data are brought into their order.

    ``unlocks`` names data that may be looked at once, such as ``"test half"`` (see :mod:`plaidwork.core.findings.unlocking`).
    ``caution`` names a text result of the run that says, where it is not empty, what speaks against opening them now.

    A view may name the items of an axis of its result: a text result with the name of the dim, as its only dim.
    """

    id: str
    version: str
    title: str
    summary: str
    needs: Mapping[str, str]
    inputs: tuple[Input, ...] = ()
    optional: Mapping[str, str] = field(default_factory=dict)
    annotations: tuple[Annotations, ...] = ()
    files: tuple[FileRequest, ...] = ()
    hyperparameters: tuple[Hyperparameter, ...] = ()
    views: tuple[View, ...] = ()
    unlocks: str = ""
    caution: str = ""
    models: tuple[str, ...] | Literal["*"] = "*"
    help: str = ""
    citation: str = ""
    api: tuple[int, int] = API_VERSION

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise DeclarationError(f"analysis id {self.id!r} must be lower case, dots between parts")
        for name in ("inputs", "annotations", "files", "hyperparameters", "views"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.models != "*":
            if isinstance(self.models, str):
                raise DeclarationError(f'{self.id}: models are a tuple of ids, or "*"')
            object.__setattr__(self, "models", tuple(self.models))
        wanted = [item.name for item in self.inputs]
        wanted += [item.name for item in self.annotations] + [item.name for item in self.files]
        for names in (wanted, [parameter.name for parameter in self.hyperparameters]):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise DeclarationError(f"{self.id}: declared twice: {', '.join(sorted(twice))}")
        known = {*self.needs, *self.optional, *(item.name for item in self.inputs)}
        for declared in self.annotations:
            if declared.of and declared.of not in known:
                raise DeclarationError(f"{self.id}: {declared.name} is of unknown {declared.of!r}")
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
        for name in self.needs.values():
            if not has_source(run, name):
                return f"{self.title} needs “{name}”, which {run.title} does not have."
        return ""


def has_source(run: Run, name: str) -> bool:
    """Whether the run has a result of this name, or kept draws of ``"draws:NAME"``."""
    if not name.startswith(DRAWS):
        return name in run.results
    known = {variable.name for variable in run.spec.variables}
    return name.removeprefix(DRAWS) in known and run.n_draws > 0


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

    def views(self, found: Results) -> tuple[View, ...]:
        """Optional: how to show what was found, where that is not known beforehand; the default is ``spec.views``."""
        return self.spec.views

    def examine(self, name: str, file: AttachedFile) -> str:
        """Optional: what a chosen file holds, in a few words; off the GUI thread.

        Raise ``DataError`` when it is not what was asked for, so that the form can say so before anything is run.
        """
        return ""


@dataclass(frozen=True)
class AnalysisRecord:
    """An analysis that was made, stored with its run.

    ``id`` tells the records of a run apart, ``analysis`` is the id of the declaration. ``inputs`` are the names of
    the datasets chosen, ``draws`` the kept draws that the run had, ``inputs_hash`` a fingerprint of the inputs.
    ``annotations`` has a tuple where many could be chosen, ``files`` the files as they were. ``standing`` says in
    words how it stands to what it unlocked, ``exploratory`` whether another run had unlocked it before.
    """

    id: str
    analysis: str
    version: str
    title: str
    params: Mapping[str, Any]
    inputs: Mapping[str, tuple[str, ...]]
    annotations: Mapping[str, AnnotationRef | tuple[AnnotationRef, ...]]
    results: Results
    views: tuple[View, ...]
    created: str = field(default_factory=now)
    log: tuple[LogLine, ...] = ()
    draws: int = 0
    seconds: float = 0.0
    inputs_hash: str = ""
    files: Mapping[str, AttachedFile] = field(default_factory=dict)
    standing: str = ""
    exploratory: bool = False
    stored: bool = field(default=False, compare=False)
    """Whether the results are those of a file: anybody may have written them."""

    def text(self, name: str) -> str:
        """A result that is a text, else empty."""
        found = self.results.get(name, "") if name else ""
        return found if isinstance(found, str) else ""


def run_showing(run: Run, record: AnalysisRecord) -> Run:
    """The run with the results of the analysis in place of its own: what views and exports of them are given."""
    shown = replace(
        run,
        results=dict(record.results),
        results_draws=record.draws,
        status="done",
        inputs={**record.inputs, **run.inputs},
        view_settings=run.view_settings.setdefault("analyses", {}).setdefault(record.id, {}),
        analyses=[],
    )
    shown.stored_results = shown.results if record.stored else None
    return shown
