"""Declarations as JSON, as they are stored with every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.contract.typed import UnfitError, built, told


def spec_to_json(spec: ModelSpec) -> dict[str, Any]:
    """The declaration as JSON-ready dict (stored with every run)."""
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
    except (UnfitError, KeyError, TypeError, AttributeError) as error:
        raise DeclarationError(f"stored declaration is damaged: {error}") from error


_MOST_DECLARED = 2_000
"""Inputs, settings, variables, traces, views or metrics that a stored declaration may have; no model comes near."""


def _spec_from_json(record: Mapping[str, Any]) -> ModelSpec:
    if not isinstance(record, Mapping):
        raise DeclarationError(f"stored declaration is damaged: it is {told(record)}")
    values = dict(record)
    for name in ("inputs", "hyperparameters", "variables", "traces", "views", "metrics"):
        if len(values.get(name, ())) > _MOST_DECLARED:
            raise DeclarationError(
                f"it declares {len(values[name])} {name}, at most {_MOST_DECLARED} are read"
            )
    for name in ("hyperparameters", "traces"):
        values[name] = [_tuples_in_when(item) for item in values[name]]
    views = values.get("views", ())  # older declarations have “live”, which never did anything
    values["views"] = [{k: v for k, v in view.items() if k != "live"} for view in views]
    return built(ModelSpec, values)


def _tuples_in_when(item: Mapping[str, Any]) -> dict[str, Any]:
    when = {k: tuple(v) if isinstance(v, list) else v for k, v in item.get("when", {}).items()}
    return {**item, "when": when}
