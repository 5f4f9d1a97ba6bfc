"""Which fits a grid of settings and seeds makes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import SettingError

MOST_JOBS = 10_000


def combinations(
    spec: ModelSpec,
    grid: Mapping[str, Sequence[Any]],
    common: Mapping[str, Any],
    seeds: Sequence[int],
) -> tuple[tuple[str, ...], list[tuple[dict[str, Any], int]]]:
    """Names of the settings that vary, and settings with seed of every fit: the last setting and the seed change first.

    Settings that matter only for other values (``when``) give no second fit where they do not matter.
    Raises ``SettingError`` for a value that is not allowed, an empty list, no seed, or more than ``MOST_JOBS`` fits.
    """
    values = {name: _checked(spec.hyperparameter(name), list(options)) for name, options in grid.items()}
    for name in values:
        if name in common:
            raise SettingError(f"{name} is given twice: fixed, and in the grid.")
    full = spec.check_params(common)
    if not seeds:
        raise SettingError("A study needs a seed.")
    n_jobs = math.prod(map(len, values.values())) * len(seeds)
    if n_jobs > MOST_JOBS:
        raise SettingError(f"A study may have {MOST_JOBS} jobs. Found {n_jobs}.", "Take fewer values.")
    points: list[tuple[dict[str, Any], int]] = []
    seen: set[str] = set()
    for chosen in itertools.product(*values.values()):
        params = {**common, **dict(zip(values, chosen, strict=True))}
        found = {**full, **params}
        key = repr([(n, found[n]) for n in values if spec.hyperparameter(n).active(found)])
        if key not in seen:
            seen.add(key)
            points += [(params, int(seed)) for seed in dict.fromkeys(seeds)]
    return tuple(values), points


def _checked(parameter: Hyperparameter, options: list[Any]) -> list[Any]:
    if not options:
        raise SettingError(f"The grid has no value for “{parameter.title}” ({parameter.name}).")
    return list(dict.fromkeys(parameter.check(option) for option in options))


def split_values(parameter: Hyperparameter, text: str) -> list[str]:
    """The values in a text: commas between them; semicolons between texts and lists of numbers."""
    mark = ";" if parameter.kind in ("array", "text") else ","
    return [part.strip() for part in text.split(mark) if part.strip()]
