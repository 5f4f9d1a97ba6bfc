"""Typed texts as values of a setting, and the words when they are none. No Qt."""

from __future__ import annotations

import re
from typing import Any

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.errors import SettingError
from plaidwork.gui.numbers import tidy

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_COMMA_BETWEEN_DIGITS = re.compile(r"\d,\d")


def parse(parameter: Hyperparameter, text: str) -> Any:
    """The value that was typed. Raises ``SettingError`` with the rule and what was found; never guesses."""
    text = text.strip().replace("\u2212", "-")
    if parameter.kind in ("int", "float"):
        if not _NUMBER.match(text):
            raise refusal(parameter, text)
        return _checked(parameter, text, text)
    if parameter.kind == "array":
        if _COMMA_BETWEEN_DIGITS.search(text):
            raise SettingError(f"Needs numbers with a decimal point, a space between them. Found “{text}”.")
        parts = [part for part in re.split(r"[\s,;]+", text) if part]
        for part in parts:
            if not _NUMBER.match(part):
                raise refusal(parameter, part)
        return _checked(parameter, parts, text)
    return _checked(parameter, text, text)


def _checked(parameter: Hyperparameter, value: Any, found: str) -> Any:
    try:
        return parameter.check(value)
    except SettingError:
        raise refusal(parameter, found) from None


def refusal(parameter: Hyperparameter, found: str) -> SettingError:
    """The rule and the value found: ``Needs a number from 0 to 0.5 with a decimal point. Found “1,1”.``"""
    shown = f"Found “{found}”." if found else "Found nothing."
    return SettingError(f"Needs {rule(parameter, found)}. {shown}")


def rule(parameter: Hyperparameter, found: str = "") -> str:
    """What the setting takes, in words that follow "Needs"."""
    if parameter.kind == "choice":
        return "one of " + ", ".join(choice.label for choice in parameter.choices)
    if parameter.kind == "bool":
        return "yes or no"
    if parameter.kind == "text":
        return "text"
    text = {"int": "a whole number", "float": "a number", "array": "numbers"}[parameter.kind]
    limits = range_text(parameter)
    if limits:
        text += f" {limits}" if limits[0] in "ab" else f" from {limits}"
    return text + (" with a decimal point" if "," in found and parameter.kind != "int" else "")


def range_text(parameter: Hyperparameter) -> str:
    """The allowed range: ``1 to 64``, ``above 0``, ``at least 1``, or empty."""
    if parameter.kind not in ("int", "float", "array"):
        return ""
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{'above ' if parameter.open_minimum else ''}{_limit(low)} to {_limit(high)}"
    if low is not None:
        return f"{'above' if parameter.open_minimum else 'at least'} {_limit(low)}"
    return f"at most {_limit(high)}" if high is not None else ""


def short_range(parameter: Hyperparameter) -> str:
    """The range as it stands beside the label: ``> 0`` instead of ``above 0``."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.kind in ("int", "float", "array") and low is not None and high is None:
        return f"{'>' if parameter.open_minimum else '≥'} {_limit(low)}"
    return range_text(parameter)


def _limit(value: float) -> str:
    if value == round(value) and abs(value) < 1e12:
        return tidy(str(round(value)))
    return tidy(f"{value:.12g}")


def write(value: Any) -> str:
    """The text of a value inside a field: no grouping, "." as decimal mark."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return text.replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    if isinstance(value, (tuple, list)):
        return "  ".join(write(item) for item in value)
    return str(value)


def stepped(parameter: Hyperparameter, value: float, up: bool) -> float:
    """The next value of the arrows: 1-2-5 steps for ``log``, ones for whole numbers, else a nice fraction."""
    if parameter.log and value > 0:
        new = _next_125(value, up)
        if parameter.kind == "int":
            new = max(round(new), round(value) + 1) if up else min(round(new), round(value) - 1)
    elif parameter.kind == "int":
        new = round(value) + (1 if up else -1)
    else:
        step = float_step(parameter, value)
        new = float(f"{value + (step if up else -step):.12g}")
    low, high = parameter.minimum, parameter.maximum
    if low is not None and (new < low or (parameter.open_minimum and new <= low)):
        new = value if parameter.open_minimum else low
    if high is not None and new > high:
        new = high
    return int(new) if parameter.kind == "int" else float(new)


def float_step(parameter: Hyperparameter, value: float) -> float:
    """A step of 1-2-5: a twentieth of the range, or a tenth of the value where there is no range."""
    from plaidwork.gui.numbers import nice_step

    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return nice_step(high - low, 20)
    return nice_step(abs(value) or abs(float(parameter.default or 0)) or 1.0, 10)


def _next_125(value: float, up: bool) -> float:
    import math

    power = 10.0 ** math.floor(math.log10(value))
    steps = [float(f"{factor * power * scale:.3g}") for scale in (0.1, 1, 10) for factor in (1, 2, 5)]
    if up:
        return next(step for step in steps if step > value * (1 + 1e-9))
    return next(step for step in reversed(steps) if step < value * (1 - 1e-9))
