"""Numbers made of draws and data, whose distribution two ways of sampling must agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import fail
from plaidwork.core.contract.model_data import ModelData
from plaidwork.core.contract.spec import Variable


def of_draws(bench: Bench, draws: Mapping[str, Any]) -> dict[str, float]:
    """Of every variable: the scalar itself, or size, mean, mean square and first entry, as far as they make sense."""
    found: dict[str, float] = {}
    for variable in bench.spec.variables:
        found |= _of_variable(variable, np.asarray(draws[variable.name], float))
    for name, value in found.items():
        if not np.isfinite(value):
            raise fail(bench, "draws()", f"{name} is {value}.")
    return found


def _of_variable(variable: Variable, value: np.ndarray) -> dict[str, float]:
    name = variable.name
    if not variable.dims:
        return {name: float(value)}
    found = {f"length of {name}": float(len(value))} if variable.ragged else {}
    found[f"sum of {name}"] = float(value.sum())
    if variable.dtype != "bool":
        found[f"sum of {name}²"] = float((value**2).sum())
    if not variable.ragged and value.size > 1:
        found[f"first of {name}"] = float(value.ravel()[0])
    return found


def of_data(bench: Bench, data: ModelData) -> dict[str, float]:
    """Of every input: mean and mean square of the known cells."""
    found: dict[str, float] = {}
    for item in bench.spec.inputs:
        if item.name not in data:
            continue
        blocks = data[item.name] if item.many else (data[item.name],)
        for number, block in enumerate(blocks):
            known = np.asarray(block.values, float)[block.observed]
            name = f"{item.name}[{number}]" if item.many else item.name
            found[f"mean of {name}"] = float(known.mean()) if known.size else 0.0
            found[f"mean of {name}²"] = float((known**2).mean()) if known.size else 0.0
    return found
