"""Settings of a model as it declares them, and the check of a value, whoever gives it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from plaidwork.core.contract import per_matrix
from plaidwork.core.errors import SettingError

HyperparameterKind = Literal["int", "float", "bool", "choice", "text", "array"]
ValueKind = Literal["real", "count", "binary", "ordinal", "categorical"]

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
"""What names of settings, inputs, variables and the like look like."""


class DeclarationError(ValueError):
    """A plugin's declaration contradicts itself; the message names the field."""


def need(condition: bool, message: str) -> None:
    if not condition:
        raise DeclarationError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a ``choice`` hyperparameter, as stored and as shown.

    ``suits``: kinds of values for which a setting that has one choice ``per`` matrix takes this one by itself, the first that suits.
    ``most_columns`` names another setting, a whole number: matrices of more columns do not get this one by themselves.
    ``above_mean`` names another setting, a number: matrices with a mean that is not above it do not, and none does where it is 0.
    ``if_together`` names another setting, true or false: where it is true, matrices whose columns do not go together within groups of
    similar samples do not (``core/data/together.py``).
    """

    value: str
    label: str
    doc: str = ""
    suits: tuple[ValueKind, ...] = ()
    most_columns: str = ""
    above_mean: str = ""
    if_together: str = ""

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
        need(bool(IDENTIFIER.match(self.name)), f"hyperparameter name {self.name!r} is not an identifier")
        need(self.kind in get_args(HyperparameterKind), f"{self.name}: unknown kind {self.kind!r}")
        object.__setattr__(self, "choices", tuple(self.choices))
        chooses = self.kind == "choice" or (self.kind == "text" and bool(self.per))
        need(chooses == bool(self.choices), f"{self.name}: choices go with kind 'choice', or 'text' and per")
        need(chooses or not self.per, f"{self.name}: per goes with kind 'text'")
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
        return holds(self.when, values)


def holds(when: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether every setting named has the value, or one of the values, given for it."""
    for other, wanted in when.items():
        options = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        if values.get(other) not in options:
            return False
    return True
