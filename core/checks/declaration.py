"""The declaration: what is known of a model before it runs."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import check, fail
from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.spec import API_VERSION, View
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.errors import SettingError
from plaidwork.core.findings.response import OPTION

OPTIONAL = tuple(
    name
    for name, member in vars(Model).items()
    if inspect.isfunction(member) and not name.startswith("_") and name not in Model.__abstractmethods__
)
_REACH = {"int": 1, "float": 1.0, "array": 1.0}


def near(word: str, known: Any) -> str:
    """``Did you mean “x”?``, or the known words."""
    texts = [str(item) for item in known]
    found = difflib.get_close_matches(word, texts, n=1)
    return f"Did you mean “{found[0]}”?" if found else f"Known: {', '.join(texts) or 'none'}."


@check("is stored and read back as JSON")
def declaration_json(bench: Bench) -> None:
    """A run keeps the declaration of its model, so that it can be looked at when the plugin is missing."""
    try:
        record = spec_to_json(bench.spec)
        text = json.dumps(record)
        again = spec_to_json(spec_from_json(json.loads(text)))
    except (TypeError, ValueError) as error:
        raise fail(
            bench,
            "spec",
            f"cannot be written as JSON: {error}.",
            "Use numbers, texts, lists and dicts in options.",
        ) from error
    for name, value in json.loads(text).items():
        if json.loads(json.dumps(again[name])) != value:
            raise fail(bench, "spec", f"the field {name} changes on the way through JSON.")


@check("title, summary, API version and objective are there")
def declaration_complete(bench: Bench) -> None:
    """A title and a summary to choose by; an API version that this Plaidwork has; an objective where one is needed."""
    spec = bench.spec
    for field in ("version", "title", "summary"):
        if not str(getattr(spec, field)).strip():
            raise fail(bench, "spec", f"the {field} is empty.")
    if spec.api[0] != API_VERSION[0] or spec.api[1] > API_VERSION[1]:
        raise fail(
            bench, "spec", f"api is {spec.api[0]}.{spec.api[1]}, this is {API_VERSION[0]}.{API_VERSION[1]}."
        )
    if not spec.traces:
        raise fail(
            bench, "spec", "no trace is declared.", "Report at least the log joint density or the ELBO."
        )
    if not spec.variables:
        raise fail(bench, "spec", "no variable is declared.", "Nothing would be kept of a fit.")
    primary = spec.primary_trace
    if spec.algorithm == "variational" and primary is not None and primary.goal != "up":
        raise fail(bench, "spec", f"the objective “{primary.name}” has no goal.", 'A bound rises: goal="up".')


@check("defaults are in range and make sense together")
def declaration_settings(bench: Bench) -> None:
    """Defaults pass; ranges are not empty; ``when`` names values that the other setting can take."""
    spec = bench.spec
    spec.check_params({})
    for parameter in spec.hyperparameters:
        low, high = parameter.minimum, parameter.maximum
        if low is not None and high is not None and low >= high:
            raise fail(bench, "spec", f"the range of {parameter.name} is empty: {low:g} to {high:g}.")
        if parameter.log and (low is None or low < 0):
            raise fail(bench, "spec", f"{parameter.name} has logarithmic steps and may be negative.")
        values = [choice.value for choice in parameter.choices]
        if len(set(values)) != len(values):
            raise fail(bench, "spec", f"{parameter.name} has a choice twice.")
        for other, wanted in parameter.when.items():
            owner = spec.hyperparameter(other)
            for value in wanted if isinstance(wanted, (tuple, list)) else (wanted,):
                try:
                    owner.check(value)
                except SettingError as error:
                    raise fail(
                        bench, "spec", f"{parameter.name} shows up when {other} is {value!r}: {error}"
                    ) from error


@check("wrong values of settings are refused")
def wrong_settings(bench: Bench) -> None:
    """Values outside the range, of another type or not among the choices raise ``SettingError``, with the name."""
    for parameter in bench.spec.hyperparameters:
        for value in wrong_values(parameter):
            try:
                bench.spec.check_params({parameter.name: value})
            except SettingError as error:
                if parameter.name not in str(error):
                    raise fail(
                        bench, "spec", f"the error for {parameter.name} does not name it: {error}"
                    ) from error
            except Exception as error:
                raise fail(
                    bench, "spec", f"{parameter.name} = {value!r} raises {type(error).__name__}."
                ) from error
            else:
                raise fail(bench, "spec", f"{parameter.name} = {value!r} is accepted.")


def wrong_values(parameter: Hyperparameter) -> list[Any]:
    """Values that must be refused."""
    match parameter.kind:
        case "choice":
            return ["no such choice"]
        case "bool":
            return ["perhaps", 3]
        case "text":
            return [3, "no such choice"] if parameter.per else [3]
    found: list[Any] = ["many", float("nan"), float("inf"), True]
    step = _REACH[parameter.kind]
    if parameter.minimum is not None:
        found.append(parameter.minimum - step)
        found += [parameter.minimum] if parameter.open_minimum else []
    if parameter.maximum is not None:
        found.append(parameter.maximum + step)
    if parameter.kind == "int":
        found.append(parameter.default + 0.5)
    return [[value] for value in found] if parameter.kind == "array" else found


@check("methods exist, are spelt right and take the right arguments")
def declaration_methods(bench: Bench) -> None:
    """A misspelt optional method would never be called; a wrong signature breaks in the middle of a fit."""
    cls = type(bench.model)
    names = {name for base in cls.__mro__ if base not in Model.__mro__ for name in vars(base)}
    for name in names:
        if name.startswith("_") or not callable(getattr(cls, name, None)):
            continue
        close = difflib.get_close_matches(name, OPTIONAL, n=1, cutoff=0.87)
        if not hasattr(Model, name) and close:
            raise fail(
                bench, f"{name}()", "is not a method that is ever called.", f"Did you mean “{close[0]}”?"
            )
    for name in (*Model.__abstractmethods__, *OPTIONAL):
        wanted = list(inspect.signature(getattr(Model, name)).parameters)[1:]
        try:
            inspect.signature(getattr(bench.model, name)).bind(*wanted)
        except TypeError as error:
            raise fail(
                bench, f"{name}()", f"{error}.", f"Its arguments are ({', '.join(wanted)})."
            ) from error


@check("can be imported by name")
def declaration_importable(bench: Bench) -> None:
    """A chain in a process of its own imports the class by module and name."""
    cls = type(bench.model)
    try:
        found: Any = import_module(cls.__module__)
        for part in cls.__qualname__.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        found = None
    if found is not cls:
        raise fail(
            bench, "class", f"{cls.__module__}.{cls.__qualname__} cannot be imported by name.",
            "Define the class at the top level of a module.",
        )  # fmt: skip


@check("views are of a known kind and have what they need")
def declaration_views(bench: Bench) -> None:
    """Kinds and roles are those of the host's catalogue; ``data:``, ``fitted:`` and ``draws:`` name what is declared."""
    for view in bench.spec.views:
        _check_view(bench, view)


def _check_view(bench: Bench, view: View) -> None:
    name = f"view “{view.title}”"
    kind = VIEW_KINDS.get(view.kind)
    if kind is None:
        raise fail(bench, name, f"no view is of the kind “{view.kind}”.", near(view.kind, VIEW_KINDS))
    for role in kind.required:
        if role not in view.source:
            raise fail(bench, name, f"its source does not say what the {role} are.")
    _check_response(bench, view, name)
    for role, source in view.source.items():
        if kind.role(role) is None and not kind.any_roles:
            roles = [item.name for item in kind.roles]
            raise fail(bench, name, f"{view.kind} has no role “{role}”.", near(role, roles))
        prefix, _, target = source.partition(":")
        if prefix == "fitted" and target and not bench.model.offers("fitted"):
            raise fail(bench, name, f"{source} needs the method fitted(), which the model has not.")
        known = _declared(bench, prefix) if target else None
        if known is not None and target not in known:
            raise fail(bench, name, f"{source} is not declared.", near(target, known))


def _check_response(bench: Bench, view: View, name: str) -> None:
    """The option ``response`` names a matrix, and results for roles that the view has."""
    declared = view.options.get(OPTION)
    if declared is None:
        return
    matrices = [item.name for item in bench.spec.inputs if item.kind == "matrix"]
    if not isinstance(declared, Mapping) or declared.get("input") not in matrices:
        raise fail(
            bench, name, "its option response names no matrix as input.", near(str(declared), matrices)
        )
    for role in declared:
        if role != "input" and role not in view.source:
            raise fail(bench, name, f"its option response has a role “{role}” that its source has not.")
    if not bench.model.offers("response"):
        raise fail(bench, name, "its option response needs the method response(), which the model has not.")


def _declared(bench: Bench, prefix: str) -> list[str] | None:
    """What may stand behind ``data:``, ``fitted:`` or ``draws:``."""
    if prefix in ("data", "fitted"):
        return [item.name for item in bench.spec.inputs]
    return [variable.name for variable in bench.spec.variables] if prefix == "draws" else None
