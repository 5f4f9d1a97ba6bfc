"""What a model declares about itself: frozen dataclasses, readable and writable as JSON.

A declaration is stored with every run, so that a session can be browsed when the plugin is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from plaidwork.core.contract.hyperparameter import IDENTIFIER, Hyperparameter, ValueKind, holds, need
from plaidwork.core.contract.metric import Metric
from plaidwork.core.contract.schedule import DEFAULT_BUDGET, DEFAULT_MOST, Schedule
from plaidwork.core.errors import SettingError

API_VERSION = (1, 0)

InputKind = Literal["matrix", "vector", "labels"]
Algorithm = Literal["mcmc", "variational", "optimise"]

_MODEL_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


@dataclass(frozen=True, slots=True)
class Input:
    """One data input of a model.

    ``dims`` names the axes. Inputs that share a dim name share its items: the host checks that they
    have the same length and joins them by name. ``holdout`` says that the model can leave out single
    cells (``"cells"``) of this input from the fit and score them. ``many`` takes several matrices.
    With ``union`` an item of the first dim that one of the matrices lacks is kept and comes as missing cells;
    otherwise only the items that all matrices have are kept. ``fit_only`` marks what only the fit takes (what ``Model.predict`` tells, a split),
    so that it is not asked for with new samples. ``samples`` names the one of ``dims`` whose items are the samples (patients,
    documents, objects): the host transposes a matrix that has them on its other axis. Empty: it does not matter.
    ``several`` lets a vector have several columns, as values of several outputs, and names what a column is: a data set of one
    column comes as (n,), one of more as (n, m), with the samples in its rows.
    ``in_file``: a matrix without gaps that stays in its file comes as it is (``Block.values``), and the model goes through it
    some rows at a time; otherwise the host reads all of it, where there is room. Of a ``sparse`` input: a sparse matrix that stays out of
    memory comes as a CSR matrix that is mapped (``Block.mapped``), and the model makes no copy of it in memory.
    ``least`` says for matrices of how many items along each of ``dims`` the model is meant, at least (of all matrices together where it
    takes ``many``): smaller ones are taken, but models that are meant for them are proposed first.
    ``most`` likewise: for matrices of at most so many, as its time grows steeply;
    samples that a split keeps for the test do not count.
    ``few`` marks labels that most samples may lack, for the model learns from those samples too: it is proposed first where most labels are
    missing, and after other models where they are known.
    ``one_scale``: all values of the matrix are on one scale. A table of answers or of measurements in whole numbers, whose columns
    have a scale each, is taken, but other models of numbers are proposed first.
    ``about`` says what its matrices are meant to hold: ``"texts"`` (documents by words) or ``"links"`` (of items among each other, also
    beside other things). Others are taken, but models that are meant for them are proposed first.
    ``also`` are further kinds of values that the model does not take for plain numbers, as one with a likelihood for counts: it is proposed before
    models that have none. ``"categorical"``: columns whose numbers stand for words (``Block.levels``) are categories to it.
    """

    name: str
    kind: InputKind = "matrix"
    dtype: ValueKind = "real"
    dims: tuple[str, ...] = ("row", "column")
    label: str = ""
    doc: str = ""
    missing: bool = False
    sparse: bool = False
    required: bool = True
    many: bool = False
    holdout: Literal["", "cells"] = ""
    union: bool = False
    fit_only: bool = False
    samples: str = ""
    several: str = ""
    in_file: bool = False
    least: tuple[int, ...] = ()
    most: tuple[int, ...] = ()
    few: bool = False
    one_scale: bool = False
    about: Literal["", "texts", "links"] = ""
    also: tuple[ValueKind, ...] = ()

    def __post_init__(self) -> None:
        need(
            not self.union or (self.many and self.missing),
            f"input {self.name}: union goes with many and missing",
        )
        need(bool(IDENTIFIER.match(self.name)), f"input name {self.name!r} is not an identifier")
        need(self.kind in get_args(InputKind), f"input {self.name}: unknown kind {self.kind!r}")
        need(self.dtype in get_args(ValueKind), f"input {self.name}: unknown dtype {self.dtype!r}")
        need(not self.several or self.kind == "vector", f"input {self.name}: several goes with a vector")
        object.__setattr__(self, "dims", tuple(self.dims))
        rank = 2 if self.kind == "matrix" else 1
        need(len(self.dims) == rank, f"input {self.name}: a {self.kind} has {rank} dims, got {self.dims}")
        need(
            not self.samples or self.samples in self.dims,
            f"input {self.name}: samples must be one of its dims {self.dims}, got {self.samples!r}",
        )
        object.__setattr__(self, "also", tuple(self.also))
        need(
            set(self.also) <= set(get_args(ValueKind)),
            f"input {self.name}: also holds an unknown kind: {self.also}",
        )
        for name in ("least", "most"):
            size = tuple(getattr(self, name))
            object.__setattr__(self, name, size)
            need(
                not size or (self.kind == "matrix" and len(size) == 2),
                f"input {self.name}: {name} needs a number for each dim of a matrix",
            )
        need(not self.few or self.kind == "labels", f"input {self.name}: few goes with labels")
        need(
            self.about in ("", "texts", "links") and (not self.about or self.kind == "matrix"),
            f"input {self.name}: about is texts or links, of a matrix",
        )

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def axes(self) -> tuple[int, ...]:
        """How many axes its data may have."""
        return (1, 2) if self.several else (len(self.dims),)


@dataclass(frozen=True, slots=True)
class Variable:
    """A quantity kept at every kept sweep (a draw, or the variational parameters at the end).

    ``dims`` are names of input dims (fixed length), of ``ModelSpec.dims`` (length fixed by the
    first draw), or empty for a scalar. With ``ragged`` the FIRST dim changes its length from draw to draw
    (``K`` of an infinite model); all ragged variables of one dim must agree in length within a draw.
    ``dtype="bool"`` is stored bit-packed. ``"count"``: whole numbers from 0 on, kept in as few bytes as the largest of a draw
    needs, and handed out so (unsigned).
    """

    name: str
    dims: tuple[str, ...] = ()
    dtype: Literal["float", "int", "count", "bool"] = "float"
    ragged: bool = False
    label: str = ""
    unit: str = ""
    doc: str = ""

    def __post_init__(self) -> None:
        need(bool(IDENTIFIER.match(self.name)), f"variable name {self.name!r} is not an identifier")
        object.__setattr__(self, "dims", tuple(self.dims))
        need(bool(self.dims) or not self.ragged, f"variable {self.name}: ragged needs a dim")


@dataclass(frozen=True, slots=True)
class Trace:
    """A scalar reported every sweep and drawn live.

    ``hint`` is the one-phrase reading aid beside the plot's title; ``kind="acceptance"`` marks a rate in
    [0, 1] shown in the table of moves instead of a plot; ``primary`` is the large plot (the objective).
    ``y_log`` draws it on a logarithmic axis; what is not above 0 is left out there.
    ``breaks``: when this number changes the model has changed (a factor has left), and the objective starts anew.
    ``judged=False``: the verdict on convergence passes it over, as it does not matter where it stands.
    ``when`` names settings and the value (or values) of each at which it is shown: where they have others it stays the same.
    """

    name: str
    label: str = ""
    unit: str = ""
    hint: str = ""
    kind: Literal["real", "count", "share", "acceptance"] = "real"
    y_log: bool = False
    goal: Literal["", "up", "down"] = ""
    primary: bool = False
    breaks: bool = False
    judged: bool = True
    when: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class View:
    """A picture of results: ``kind`` from the host's catalogue, ``source`` by role.

    ``source`` maps roles of the view kind to result names; ``"data:X"`` stands for the input ``X`` itself,
    ``"fitted:X"`` for what the fit expects in its cells (``Model.fitted``) and ``"draws:K"`` for a kept variable. A plain string is the role ``values``. ``headline`` and ``caption``
    name results that hold a text. Neighbouring views of one ``group`` share a tab of that name and are chosen by their
    titles. ``when`` names settings and the value (or values) of each at which the view is offered, ``columns`` inputs and how
    many columns their data must have for it, at least and at most: a view made for such data leads, and one for an optional input is
    there where that is given. ``gaps`` names an input of whose cells some must be missing, or held out. While a fit runs the view
    that is in front is drawn anew every few seconds.
    """

    kind: str
    title: str
    source: Mapping[str, str]
    headline: str = ""
    caption: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    when: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    gaps: str = ""

    if TYPE_CHECKING:  # the field is always a mapping, what is given need not be

        def __init__(
            self,
            kind: str,
            title: str,
            source: str | Mapping[str, str],
            headline: str = "",
            caption: str = "",
            options: Mapping[str, Any] = ...,
            group: str = "",
            when: Mapping[str, Any] = ...,
            columns: Mapping[str, tuple[int, int]] = ...,
            gaps: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.source, str):
            object.__setattr__(self, "source", {"values": self.source})
        object.__setattr__(self, "columns", {name: tuple(ends) for name, ends in self.columns.items()})

    def offered(self, values: Mapping[str, Any], columns: Mapping[str, int] | None = None) -> bool:
        """Whether a fit with these settings, and data of so many columns where that is known, has the view."""
        known = columns or {}
        fits = (low <= known.get(name, low) <= high for name, (low, high) in self.columns.items())
        return holds(self.when, values) and all(fits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """Everything the host must know of a model before it runs."""

    id: str
    version: str
    title: str
    summary: str
    tags: tuple[str, ...] = ()
    algorithm: Algorithm = "mcmc"
    inputs: tuple[Input, ...]
    hyperparameters: tuple[Hyperparameter, ...] = ()
    dims: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    traces: tuple[Trace, ...] = ()
    views: tuple[View, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    metrics: tuple[Metric, ...] = ()
    state_version: int = 1
    citation: str = ""
    help: str = ""
    api: tuple[int, int] = API_VERSION

    def __post_init__(self) -> None:
        need(bool(_MODEL_ID.match(self.id)), f"model id {self.id!r} must be lower case, dots between parts")
        for name in ("inputs", "hyperparameters", "variables", "traces", "views", "metrics", "tags"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        need(bool(self.inputs), f"{self.id}: a model needs an input")
        for things in (self.inputs, self.hyperparameters, self.variables, self.traces):
            counts = Counter(thing.name for thing in things)
            twice = {name for name, count in counts.items() if count > 1}
            need(not twice, f"{self.id}: declared twice: {', '.join(sorted(twice))}")
        self._check_dims()
        self._check_hyperparameters()
        self._check_shown()

    def _check_dims(self) -> None:
        """Dims of variables are declared; all inputs agree on which are those of the samples."""
        known = {dim for item in self.inputs for dim in item.dims} | set(self.dims)
        for variable in self.variables:
            for dim in variable.dims:
                need(dim in known, f"{self.id}: variable {variable.name} has an undeclared dim {dim!r}")
        samples = {item.samples for item in self.inputs} - {""}
        need(
            len(samples) < 2,
            f"{self.id}: its inputs have samples of several dims: {', '.join(sorted(samples))}",
        )
        for item in self.inputs:
            shared = samples.intersection(item.dims)
            need(
                not shared or bool(item.samples),
                f"{self.id}: input {item.name} has the dim {', '.join(shared)} of the samples, so it needs samples too",
            )

    def _check_hyperparameters(self) -> None:
        """Settings name inputs of many matrices, and settings, that there are."""
        several = {item.name for item in self.inputs if item.many}
        for parameter in self.hyperparameters:
            need(
                not parameter.per or parameter.per in several,
                f"{self.id}: {parameter.name} is per {parameter.per!r}, which is no input of many matrices",
            )
        for parameter in self.hyperparameters:
            limits = [
                name
                for choice in parameter.choices
                for name in (choice.most_columns, choice.above_mean, choice.if_together)
                if name
            ]
            self._check_settings((*parameter.when, *limits), f"{parameter.name} depends on")

    def _check_shown(self) -> None:
        """Traces, views and metrics name settings and inputs that there are; one trace at most is the objective."""
        inputs = {"", *(item.name for item in self.inputs)}
        for trace in self.traces:
            self._check_settings(trace.when, f"trace {trace.name!r} depends on")
        for view in self.views:
            self._check_settings(view.when, f"view {view.title!r} depends on")
            need(
                view.gaps in inputs,
                f"{self.id}: view {view.title!r} needs gaps in unknown input {view.gaps!r}",
            )
        for metric in self.metrics:
            need(
                isinstance(metric.source, str),
                f"{self.id}: the source of metric {metric.name} must be a name",
            )
            self._check_settings(metric.comparable_across or (), f"metric {metric.name} names")
        need(
            sum(trace.primary for trace in self.traces) <= 1,
            f"{self.id}: only one trace may be the primary one",
        )

    def _check_settings(self, names: Iterable[str], who: str) -> None:
        """``who`` says what has to do with these settings."""
        settings = {parameter.name for parameter in self.hyperparameters}
        for name in names:
            need(name in settings, f"{self.id}: {who} unknown setting {name!r}")

    def shown_traces(self, values: Mapping[str, Any]) -> list[Trace]:
        """The traces that are shown at these settings, in their order; the objective is one of them in any case."""
        primary = self.primary_trace
        return [trace for trace in self.traces if trace is primary or holds(trace.when, values)]

    @property
    def primary_trace(self) -> Trace | None:
        """The objective: the trace marked so, else the first one."""
        for trace in self.traces:
            if trace.primary:
                return trace
        return self.traces[0] if self.traces else None

    @property
    def default_schedule(self) -> Schedule:
        """What a fit runs when nobody says otherwise: ``schedule``, and the chains of a sampler go on until they settle, or there are
        more restarts until two have reached the best objective."""
        if self.schedule.chains == 1:  # one chain has nothing to agree with
            return self.schedule
        if self.algorithm != "mcmc":
            return replace(self.schedule, most_chains=max(DEFAULT_MOST, self.schedule.chains))
        return replace(self.schedule, budget=DEFAULT_BUDGET)

    def input(self, name: str) -> Input:
        return _by_name(self.inputs, name, f"{self.title} has no input")

    def trace(self, name: str) -> Trace:
        return _by_name(self.traces, name, f"{self.title} has no trace")

    def variable(self, name: str) -> Variable:
        return _by_name(self.variables, name, f"{self.title} has no variable")

    def hyperparameter(self, name: str) -> Hyperparameter:
        return _by_name(self.hyperparameters, name, f"{self.title} has no setting")

    def check_params(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings in canonical type, defaults filled in. Raises ``SettingError`` for the first bad one."""
        for name in values:
            self.hyperparameter(name)
        return {p.name: p.check(values.get(p.name, p.default)) for p in self.hyperparameters}

    def stored_params(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Settings of a stored run, complete: those it does not know as they were before they were settings; unchecked."""
        before = {p.name: p.default if p.earlier is None else p.earlier for p in self.hyperparameters}
        return {**before, **stored}


def _by_name(things: tuple[Any, ...], name: str, otherwise: str) -> Any:
    for thing in things:
        if thing.name == name:
            return thing
    import difflib

    near = difflib.get_close_matches(name, [thing.name for thing in things], n=1)
    hint = f"Did you mean “{near[0]}”?" if near else f"Known: {', '.join(t.name for t in things) or 'none'}."
    raise SettingError(f"{otherwise} named “{name}”.", hint)
