"""Settings that have one choice for each matrix of an input, written as text: ``name = choice, name = choice``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plaidwork.core.errors import SettingError

if TYPE_CHECKING:
    from plaidwork.core.contract.hyperparameter import Hyperparameter, ValueKind

_PART = re.compile(r"""\s*((?:"(?:[^"\\]|\\.)*"|[^",;])*)\s*(?:[,;]|\Z)""")
_AWKWARD = re.compile(r"""[",;=\\]|^\s|\s$|^$""")


def split(text: str) -> list[tuple[str, str]]:
    """Name and choice of every part, in order; the name is empty where none is given."""
    found, position = [], 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or match.end() == position:
            found.append(("", text[position:].strip()))
            break
        position = match.end()
        if match[1].strip():
            name, _, word = match[1].rpartition("=")
            found.append((_bare(name.strip()), word.strip()))
    return found


def _bare(name: str) -> str:
    if name.startswith('"'):
        try:
            return str(json.loads(name))
        except ValueError:
            return name
    return name


def write(choices: Mapping[str, str]) -> str:
    """The text for choices by name; :func:`split` reads it back. Names with commas or quotes are quoted."""
    return ", ".join(
        f"{json.dumps(name, ensure_ascii=False) if _AWKWARD.search(name) else name} = {word}"
        for name, word in choices.items()
    )


def check(parameter: Hyperparameter, value: object) -> str:
    """The text of such a setting, every word one of its choices. Raises ``SettingError``."""
    text = write(value) if isinstance(value, Mapping) else value
    if not isinstance(text, str):
        raise SettingError(f"{parameter.title} ({parameter.name}) needs text. Found “{value}”.")
    allowed = [choice.value for choice in parameter.choices]
    for _, word in split(text):
        if word.lower() not in allowed:
            raise SettingError(
                f"{parameter.title} ({parameter.name}) knows {', '.join(allowed)}. Found “{word}”.",
                "Give “name = choice” for a matrix, one choice for all, or one for each in order.",
            )
    return text.strip()


def per_matrix(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The choice for each matrix, empty where none is given: by name, one for all, or one each in order.

    Raises
    ------
    SettingError : a name that is not there, or as many bare choices as there are no matrices.
    """
    parts = split(text)
    bare = [word for name, word in parts if not name]
    if len(bare) > 1 and len(bare) != len(names):
        raise SettingError(
            f"{len(bare)} words for {len(names)} views.",
            "Give one for all, one for each, or “name = choice”.",
        )
    found = bare if len(bare) == len(names) else bare[:1] * len(names) if bare else [""] * len(names)
    for name, word in parts:
        if name and name not in names:
            raise SettingError(
                f"It names the view “{name}”, which is not there.", f"Views: {', '.join(names)}."
            )
        if name:
            found[list(names).index(name)] = word
    return tuple(word.lower() for word in found)


def suited(
    parameter: Hyperparameter,
    kind: ValueKind,
    columns: int,
    params: Mapping[str, Any],
    mean: float = 0.0,
    together: bool = True,
) -> str:
    """The choice that is made for a matrix of this kind, so many columns and this mean where none is given; empty when none declares it.

    ``params`` are the settings of the fit; a limit that they lack, as those of a run stored before it, is 0. ``together``: whether its
    columns go together within groups of similar samples.
    """
    for choice in parameter.choices:
        few = not choice.most_columns or columns <= params.get(choice.most_columns, 0)
        large = not choice.above_mean or 0 < params.get(choice.above_mean, 0) < mean
        fits = together or not params.get(choice.if_together, False)
        if kind in choice.suits and few and large and fits:
            return choice.value
    return ""


def looks_together(
    parameter: Hyperparameter, kind: ValueKind, columns: int, params: Mapping[str, Any]
) -> bool:
    """Whether it depends on its columns' going together which choice is made for a matrix of this kind and so many columns."""
    one, other = (suited(parameter, kind, columns, params, math.inf, found) for found in (True, False))
    return one != other
