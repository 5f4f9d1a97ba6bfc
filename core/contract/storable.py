"""Whether a state can be stored: asked while a chain runs, so that nobody learns it when a long fit is saved."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.errors import PluginError

MOST_NESTED = 48
"""Levels of a state; a file has some around it."""


def check_state(state: Any) -> None:
    """Raise ``PluginError`` that names the first part of a state which a session file cannot hold."""
    found = _unstorable(state, "the state", 0)
    if found:
        raise PluginError(
            f"The state of the chain cannot be stored: {found}.",
            "A state is made of dicts with texts as keys, lists, tuples, numbers, texts and arrays of them.",
            hook="step",
        )


def _unstorable(value: Any, at: str, depth: int) -> str:
    """What is wrong with a value, as part of a sentence, or nothing."""
    if depth > MOST_NESTED:
        return f"{at[:80]}… is nested deeper than {MOST_NESTED} levels"
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if not isinstance(key, str):
                return f"{at} has the key {key!r}, which is no text"
            if found := _unstorable(item, f"{at}[{key!r}]", depth + 1):
                return found
        return ""
    if kind in (list, tuple):
        if {type(item) for item in value} <= {float, int, str, bool}:
            return ""
        items = (_unstorable(item, f"{at}[{i}]", depth + 1) for i, item in enumerate(value))
        return next(filter(None, items), "")
    if isinstance(value, (np.ndarray, np.generic)):
        return _unstorable_array(np.asarray(value), at)
    if value is None or isinstance(value, (bool, str, int, float, bytes)):
        return ""
    return f"{at} is a {kind.__name__}"


def _unstorable_array(array: np.ndarray, at: str) -> str:
    kind = array.dtype.kind
    if (kind in "iuf" and array.dtype.itemsize <= 8) or kind in "bU":
        return ""
    if kind == "O" and all(isinstance(item, str) for item in array.ravel()):
        return ""
    return f"{at} is an array of {array.dtype}"
