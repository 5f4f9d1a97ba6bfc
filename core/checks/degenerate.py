"""Data and settings at the edge: a fit with sound numbers, or an error for the user."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from plaidwork.core.checks import _data
from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import Case, check, fail
from plaidwork.core.checks.results import check_results
from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.run import Run

THREE_SWEEPS = Schedule(chains=1, warmup=1, draws=2, thin=1, max_sweeps=3, tolerance=0.0)
_LATER = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


@contextmanager
def no_warnings() -> Iterator[None]:
    """Warnings are errors, but for those about things to come."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in _LATER:
            warnings.simplefilter("ignore", kind)
        yield


QUICK_SECONDS = 2.0
"""A chain that has gone on for so long at the quick level is summarised as it is."""


def _fit(bench: Bench, datasets: _data.Datasets, params: dict[str, Any] | None, schedule: Schedule) -> None:
    """A fit and its summary with sound numbers; an error for the user ends it early."""
    found: dict[str, Any] = {}
    try:
        with no_warnings():
            plan = bench.make(datasets, params, schedule, refusal=True)
            run = Run.from_plan(plan)
            for record in run.chains:
                started = time.monotonic()
                for _ in bench.events(plan, record, refusal=True):
                    if not bench.full and time.monotonic() - started > QUICK_SECONDS:
                        break
            if run.n_draws:
                found = bench.summarise(plan, run.kept(), refusal=True)
    except PlaidworkError:
        return
    _finite(bench, run)
    check_results(bench, plan, found)


def _finite(bench: Bench, run: Run) -> None:
    for record in run.chains:
        rows = record.trace.rows()
        for column, name in enumerate(record.trace.names):
            if np.isinf(rows[:, column]).any():
                raise fail(
                    bench, "step()", f"trace “{name}” is infinite.", "NaN says that it does not apply."
                )
        for variable in bench.spec.variables:
            for draw in range(record.draws.count):
                value = record.draws.get(variable.name, draw)
                if value.dtype.kind == "f" and not np.isfinite(value).all():
                    raise fail(
                        bench, "draws()", f"variable “{variable.name}” is not finite at draw {draw + 1}."
                    )


def _cases(bench: Bench) -> Iterator[Case]:
    yield from _data.degenerate(bench.spec, bench.seed)


@check("degenerate data give sound numbers or an error for the user", cases=_cases)
def degenerate_data(bench: Bench, make: Callable[[], _data.Datasets]) -> None:
    """A ``ModelError`` (or an error from ``validate``) is fine; NaN in the objective, the draws or the results,
    another exception, or a warning is not."""
    _fit(bench, make(), None, bench.plan.schedule)


def bounds(bench: Bench) -> Iterator[Case]:
    """Every setting at its bounds, every choice, both flags; where it only matters with others, those too."""
    for parameter in bench.spec.hyperparameters:
        for value in edge_values(parameter):
            text = ", ".join(f"{item:g}" for item in value) if isinstance(value, tuple) else str(value)
            yield f"{parameter.name}={text}", {**_when(bench, parameter), parameter.name: value}


def edge_values(parameter: Hyperparameter) -> list[Any]:
    """Allowed values at the edge of a setting's range."""
    match parameter.kind:
        case "bool":
            return [not parameter.default]
        case "choice":
            return [choice.value for choice in parameter.choices if choice.value != parameter.default]
        case "text":
            return [choice.value for choice in parameter.choices] if parameter.per else ["", "no such thing"]
    low: Any = parameter.minimum
    if low is not None and parameter.open_minimum:
        low = low + 1 if parameter.kind == "int" else low + 1e-6 * max(1.0, abs(low))
    found = [value for value in (low, parameter.maximum) if value is not None]
    if parameter.kind == "array":
        size = max(1, len(parameter.default))
        return [(), *((value,) * size for value in found), (*parameter.default, *parameter.default, 1.0)]
    return [int(value) if parameter.kind == "int" else value for value in found]


def _when(bench: Bench, parameter: Hyperparameter, depth: int = 8) -> dict[str, Any]:
    """Settings of the others at which this one matters."""
    found: dict[str, Any] = {}
    for other, wanted in parameter.when.items():
        if depth:
            found |= _when(bench, bench.spec.hyperparameter(other), depth - 1)
        options = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
        if bench.spec.hyperparameter(other).default not in options:
            found[other] = options[0]
    return found


@check("settings at their bounds run three sweeps or are refused", cases=bounds)
def setting_bounds(bench: Bench, params: dict[str, Any]) -> None:
    """Minimum and maximum of each setting, each choice: sound numbers, or a ``ModelError``."""
    _fit(bench, bench.sample, params, THREE_SWEEPS)
