"""Settings of a run in words, as they are shown everywhere."""

from __future__ import annotations

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.draws.numbers import format_number


def shown_value(parameter: Hyperparameter, value: object) -> str:
    """A setting's value as words: labels of choices, yes and no, numbers."""
    if parameter.per and parameter.choices and not value:  # no matrix has a choice of its own
        return parameter.choices[0].label
    return next((choice.label for choice in parameter.choices if choice.value == value), _shown(value))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value) or "none"
    return str(value) or "not set"
