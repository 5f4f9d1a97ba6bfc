"""What a model declares about itself: frozen dataclasses, readable and writable as JSON.

A declaration is stored with every run, so that a session can be browsed when the plugin is missing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from plaidwork.core.contract import per_matrix
from plaidwork.core.contract.metric import Metric
from plaidwork.core.contract.schedule import DEFAULT_BUDGET, Schedule
from plaidwork.core.errors import SettingError

API_VERSION = (1, 0)

HyperparameterKind = Literal["int", "float", "bool", "choice", "text", "array"]
InputKind = Literal["matrix", "vector", "labels"]
ValueKind = Literal["real", "count", "binary", "ordinal", "categorical"]
Algorithm = Literal["mcmc", "variational", "optimise"]

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_MODEL_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\Z")


class DeclarationError(ValueError):
    """A plugin's declaration contradicts itself; the message names the field."""


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise DeclarationError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a ``choice`` hyperparameter, as stored and as shown.

    ``suits``: kinds of values for which a setting that has one choice ``per`` matrix takes this one by itself.
    """

    value: str
    label: str
    doc: str = ""
    suits: tuple[ValueKind, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "suits", tuple(self.suits))


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One setting of a model; the form field is made from it.

    ``when`` maps the name of another setting to the value (or tuple of values) at which this one
    matters; otherwise it is hidden. ``log`` asks for a logarithmic step in the field.
    ``open_minimum`` excludes ``minimum`` itself (a precision must be > 0, not >= 0).
    ``per`` names an input that takes many matrices: the text then has one of the ``choices`` for each of them (see
    ``per_matrix``), the first of which stands for "by its values".
    ``earlier`` is what the model did before it had this setting: runs stored without it go on and are repeated with that
    (None: with the default).
    """

    name: str
    kind: HyperparameterKind
    default: Any
    label: str = ""
    doc: str = ""
    unit: str = ""
    group: str = ""
    minimum: float | None = None
    maximum: float | None = None
    open_minimum: bool = False
    choices: tuple[Choice, ...] = ()
    log: bool = False
    advanced: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)
    per: str = ""
    earlier: Any = None

    def __post_init__(self) -> None:
        _need(bool(_IDENTIFIER.match(self.name)), f"hyperparameter name {self.name!r} is not an identifier")
        _need(self.kind in get_args(HyperparameterKind), f"{self.name}: unknown kind {self.kind!r}")
        object.__setattr__(self, "choices", tuple(self.choices))
        chooses = self.kind == "choice" or (self.kind == "text" and bool(self.per))
        _need(chooses == bool(self.choices), f"{self.name}: choices go with kind 'choice', or 'text' and per")
        _need(chooses or not self.per, f"{self.name}: per goes with kind 'text'")
        try:
            object.__setattr__(self, "default", self.check(self.default))
            if self.earlier is not None:
                object.__setattr__(self, "earlier", self.check(self.earlier))
        except SettingError as error:
            raise DeclarationError(f"default of {error}") from error

    @property
    def title(self) -> str:
        """The label shown; made from the name when none is given."""
        return self.label or self.name.replace("_", " ").capitalize()

    @property
    def range_text(self) -> str:
        """The allowed range in words, as the form shows it: ``1 to 64``, ``> 0``, or empty."""
        if self.kind not in ("int", "float", "array"):
            return ""
        low, high = self.minimum, self.maximum
        if low is not None and high is not None:
            return f"{'above ' if self.open_minimum else ''}{low:g} to {high:g}"
        if low is not None:
            return f"> {low:g}" if self.open_minimum else f"at least {low:g}"
        return f"at most {high:g}" if high is not None else ""

    def check(self, value: Any) -> Any:
        """The value in canonical type. Raises ``SettingError`` naming the rule and the value found."""
        match self.kind:
            case "bool":
                if isinstance(value, str) and value.lower() in ("true", "false", "yes", "no", "on", "off"):
                    return value.lower() in ("true", "yes", "on")
                if not isinstance(value, bool):
                    raise self._error("needs true or false", value)
                return value
            case "choice":
                allowed = [choice.value for choice in self.choices]
                if value not in allowed:
                    raise self._error(f"must be one of {', '.join(allowed)}", value)
                return value
            case "text":
                if self.per:
                    return per_matrix.check(self, value)
                if not isinstance(value, str):
                    raise self._error("needs text", value)
                return value
            case "array":
                return self._check_array(value)
            case _:
                return self._check_number(value)

    def _check_array(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, str):
            value = [part for part in re.split(r"[\s,;]+", value) if part]
        if not hasattr(value, "__iter__"):
            raise self._error("needs a list of numbers", value)
        return tuple(float(self._check_number(item)) for item in value)

    def _check_number(self, value: Any) -> int | float:
        wanted = "a whole number" if self.kind == "int" else "a number"
        rule = f"needs {wanted}" + (f" ({self.range_text})" if self.range_text else "")
        if isinstance(value, bool):
            raise self._error(rule, value)
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self._error(rule, value) from None
        if not math.isfinite(number) or (self.kind == "int" and number != round(number)):
            raise self._error(rule, value)
        too_low = self.minimum is not None and (
            number <= self.minimum if self.open_minimum else number < self.minimum
        )
        if too_low or (self.maximum is not None and number > self.maximum):
            raise self._error(rule, value)
        return int(number) if self.kind == "int" else number

    def _error(self, rule: str, value: Any) -> SettingError:
        return SettingError(f"{self.title} ({self.name}) {rule}. Found “{value}”.")

    def active(self, values: Mapping[str, Any]) -> bool:
        """Whether the setting matters at these values of the others (see ``when``)."""
        return _holds(self.when, values)


def _holds(when: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether every setting named has the value, or one of the values, given for it."""
    for other, wanted in when.items():
        options = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        if values.get(other) not in options:
            return False
    return True


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

    def __post_init__(self) -> None:
        _need(
            not self.union or (self.many and self.missing),
            f"input {self.name}: union goes with many and missing",
        )
        _need(bool(_IDENTIFIER.match(self.name)), f"input name {self.name!r} is not an identifier")
        _need(self.kind in get_args(InputKind), f"input {self.name}: unknown kind {self.kind!r}")
        _need(self.dtype in get_args(ValueKind), f"input {self.name}: unknown dtype {self.dtype!r}")
        object.__setattr__(self, "dims", tuple(self.dims))
        rank = 2 if self.kind == "matrix" else 1
        _need(len(self.dims) == rank, f"input {self.name}: a {self.kind} has {rank} dims, got {self.dims}")
        _need(
            not self.samples or self.samples in self.dims,
            f"input {self.name}: samples must be one of its dims {self.dims}, got {self.samples!r}",
        )

    @property
    def title(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class Variable:
    """A quantity kept at every kept sweep (a draw, or the variational parameters at the end).

    ``dims`` are names of input dims (fixed length), of ``ModelSpec.dims`` (length fixed by the
    first draw), or empty for a scalar. With ``ragged`` the FIRST dim changes its length from draw to draw
    (``K`` of an infinite model); all ragged variables of one dim must agree in length within a draw.
    ``dtype="bool"`` is stored bit-packed.
    """

    name: str
    dims: tuple[str, ...] = ()
    dtype: Literal["float", "int", "bool"] = "float"
    ragged: bool = False
    label: str = ""
    unit: str = ""
    doc: str = ""

    def __post_init__(self) -> None:
        _need(bool(_IDENTIFIER.match(self.name)), f"variable name {self.name!r} is not an identifier")
        object.__setattr__(self, "dims", tuple(self.dims))
        _need(bool(self.dims) or not self.ragged, f"variable {self.name}: ragged needs a dim")


@dataclass(frozen=True, slots=True)
class Trace:
    """A scalar reported every sweep and drawn live.

    ``hint`` is the one-phrase reading aid beside the plot's title; ``kind="acceptance"`` marks a rate in
    [0, 1] shown in the table of moves instead of a plot; ``primary`` is the large plot (the objective).
    ``y_log`` draws it on a logarithmic axis; what is not above 0 is left out there.
    ``breaks``: when this number changes the model has changed (a factor has left), and the objective starts anew.
    ``judged=False``: the verdict on convergence passes it over, as it does not matter where it stands.
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

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class View:
    """A picture of results: ``kind`` from the host's catalogue, ``source`` by role.

    ``source`` maps roles of the view kind to result names; ``"data:X"`` stands for the input ``X`` itself,
    ``"fitted:X"`` for what the fit expects in its cells (``Model.fitted``) and ``"draws:K"`` for a kept variable. A plain string is the role ``values``. ``headline`` and ``caption``
    name results that hold a text. Neighbouring views of one ``group`` share a tab of that name and are chosen by their
    titles. ``when`` names settings and the value (or values) of each at which the view is offered. While a fit runs the
    view that is in front is drawn anew every few seconds.
    """

    kind: str
    title: str
    source: Mapping[str, str]
    headline: str = ""
    caption: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    when: Mapping[str, Any] = field(default_factory=dict)

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
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.source, str):
            object.__setattr__(self, "source", {"values": self.source})

    def offered(self, values: Mapping[str, Any]) -> bool:
        """Whether a fit with these settings has the view (see ``when``)."""
        return _holds(self.when, values)


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
        _need(bool(_MODEL_ID.match(self.id)), f"model id {self.id!r} must be lower case, dots between parts")
        for name in ("inputs", "hyperparameters", "variables", "traces", "views", "metrics", "tags"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _need(bool(self.inputs), f"{self.id}: a model needs an input")
        for things in (self.inputs, self.hyperparameters, self.variables, self.traces):
            counts = Counter(thing.name for thing in things)
            twice = {name for name, count in counts.items() if count > 1}
            _need(not twice, f"{self.id}: declared twice: {', '.join(sorted(twice))}")
        known = {dim for item in self.inputs for dim in item.dims} | set(self.dims)
        for variable in self.variables:
            for dim in variable.dims:
                _need(dim in known, f"{self.id}: variable {variable.name} has an undeclared dim {dim!r}")
        samples = {item.samples for item in self.inputs} - {""}
        _need(
            len(samples) < 2,
            f"{self.id}: its inputs have samples of several dims: {', '.join(sorted(samples))}",
        )
        for item in self.inputs:
            shared = samples.intersection(item.dims)
            _need(
                not shared or bool(item.samples),
                f"{self.id}: input {item.name} has the dim {', '.join(shared)} of the samples, so it needs samples too",
            )
        settings = {parameter.name for parameter in self.hyperparameters}
        several = {item.name for item in self.inputs if item.many}
        for parameter in self.hyperparameters:
            _need(
                not parameter.per or parameter.per in several,
                f"{self.id}: {parameter.name} is per {parameter.per!r}, which is no input of many matrices",
            )
        for parameter in self.hyperparameters:
            for other in parameter.when:
                _need(other in settings, f"{self.id}: {parameter.name} depends on unknown setting {other!r}")
        for view in self.views:
            for other in view.when:
                _need(
                    other in settings, f"{self.id}: view {view.title!r} depends on unknown setting {other!r}"
                )
        for metric in self.metrics:
            _need(
                isinstance(metric.source, str),
                f"{self.id}: the source of metric {metric.name} must be a name",
            )
            for other in metric.comparable_across or ():
                _need(other in settings, f"{self.id}: metric {metric.name} names unknown setting {other!r}")
        _need(
            sum(trace.primary for trace in self.traces) <= 1,
            f"{self.id}: only one trace may be the primary one",
        )

    @property
    def primary_trace(self) -> Trace | None:
        """The objective: the trace marked so, else the first one."""
        for trace in self.traces:
            if trace.primary:
                return trace
        return self.traces[0] if self.traces else None

    @property
    def default_schedule(self) -> Schedule:
        """What a fit runs when nobody says otherwise: ``schedule``, and the chains of a sampler go on until they settle."""
        if self.algorithm != "mcmc" or self.schedule.chains == 1:  # one chain has nothing to agree with
            return self.schedule
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


def spec_to_json(spec: ModelSpec) -> dict[str, Any]:
    """The declaration as JSON-ready dict (stored with every run)."""
    from dataclasses import asdict

    return cast(dict[str, Any], _plain(asdict(spec)))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def spec_from_json(record: Mapping[str, Any]) -> ModelSpec:
    """The declaration back from :func:`spec_to_json`. Raises ``DeclarationError`` when it is not one."""
    try:
        return _spec_from_json(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise DeclarationError(f"stored declaration is damaged: {error}") from error


_MOST_DECLARED = 2_000
"""Inputs, settings, variables, traces, views or metrics that a stored declaration may have; no model comes near."""


def _spec_from_json(record: Mapping[str, Any]) -> ModelSpec:
    values = dict(record)
    for name in ("inputs", "hyperparameters", "variables", "traces", "views", "metrics"):
        if len(values.get(name, ())) > _MOST_DECLARED:
            raise DeclarationError(
                f"it declares {len(values[name])} {name}, at most {_MOST_DECLARED} are read"
            )

    def many(cls: type, items: Any) -> tuple[Any, ...]:
        return tuple(cls(**item) for item in items)

    parameters = []
    for item in values["hyperparameters"]:
        item = dict(item)
        item["choices"] = many(Choice, item.get("choices", ()))
        item["when"] = {k: tuple(v) if isinstance(v, list) else v for k, v in item.get("when", {}).items()}
        parameters.append(Hyperparameter(**item))
    values["hyperparameters"] = tuple(parameters)
    values["inputs"] = many(Input, values["inputs"])
    values["variables"] = many(Variable, values.get("variables", ()))
    values["traces"] = many(Trace, values.get("traces", ()))
    views = values.get("views", ())  # older declarations have “live”, which never did anything
    values["views"] = many(View, [{k: v for k, v in view.items() if k != "live"} for view in views])
    values["schedule"] = Schedule(**values.get("schedule", {}))
    values["metrics"] = many(Metric, values.get("metrics", ()))
    values["api"] = tuple(values.get("api", API_VERSION))
    return ModelSpec(**values)
