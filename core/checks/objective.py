"""Variational models: the bound never falls, but where the model itself changes (``Trace.breaks``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.core.chain import ChainRecord
from plaidwork.core.checks._bench import Bench, same_arrays
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.schedule import Clock, Schedule

TOLERANCE = 1e-9
"""Relative fall that rounding may cause."""


def _falls(before: float, after: float) -> bool:
    return after < before - TOLERANCE * max(1.0, abs(before))


def _breaks(bench: Bench, before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether the model has changed between two sweeps, so that their objectives cannot be compared."""
    return any(trace.breaks and before[trace.name] != after[trace.name] for trace in bench.spec.traces)


def _climber(bench: Bench) -> str:
    """Name of the objective; skips models without one that must rise."""
    primary = bench.spec.primary_trace
    if bench.spec.algorithm != "variational" or primary is None:
        raise CheckSkipped("not a variational model")
    return primary.name


@check("the objective never falls")
def bound_rises(bench: Bench) -> None:
    """Over 40 sweeps (200 at full level) of two restarts the bound falls by no more than 1e-9 of itself."""
    name = _climber(bench)
    sweeps = 200 if bench.full else 40
    plan = bench.make(bench.sample, schedule=Schedule(chains=2, max_sweeps=sweeps, tolerance=0.0))
    for chain in range(2):
        record: ChainRecord = bench.chain(plan, chain)
        found = record.trace.snapshot()
        values = found[name]
        rows = [{trace: float(column[i]) for trace, column in found.items()} for i in range(len(values))]
        for sweep in range(1, len(values)):
            if not _breaks(bench, rows[sweep - 1], rows[sweep]) and _falls(values[sweep - 1], values[sweep]):
                raise fail(
                    bench, "step()", f"“{name}” falls from {values[sweep - 1]!r} to {values[sweep]!r} at sweep "
                    f"{sweep + 1} of restart {chain + 1}.", "Offer sweep_blocks() to see which update is wrong.",
                )  # fmt: skip


@check("the objective never falls at the update of a factor")
def bound_rises_by_block(bench: Bench) -> None:
    """``sweep_blocks`` does what ``step`` does, and the bound rises at every part of it."""
    name = _climber(bench)
    bench.need("sweep_blocks")
    plan = bench.plan
    rng, other = bench.rng("blocks"), bench.rng("blocks")
    with blame(bench, "sweep_blocks()"):
        bench.model.prepare()
        state, twin = (bench.model.init(plan.data, plan.params, source) for source in (rng, other))
        last, before = -np.inf, "the start"
        past: Mapping[str, float] | None = None
        for sweep in range(20 if bench.full else 6):
            clock = Clock(sweep, plan.schedule.warmup)
            traces = bench.sweep(twin, plan.data, plan.params, other, clock)
            if past is not None and _breaks(bench, past, traces):
                last, before = -np.inf, "the model changed"
            past = traces
            for block, value in bench.model.sweep_blocks(state, plan.data, plan.params, rng, clock):
                if _falls(last, value):
                    raise fail(
                        bench, "sweep_blocks()", f"“{name}” falls from {last!r} to {value!r} at the update of "
                        f"“{block}” in sweep {sweep + 1}, after {before}.",
                    )  # fmt: skip
                last, before = value, f"“{block}”"
            if abs(traces[name] - last) > TOLERANCE * max(1.0, abs(last)):
                raise fail(
                    bench, "sweep_blocks()", f"ends sweep {sweep + 1} at {last!r}, step() at {traces[name]!r}.",
                    "Both do the same updates in the same order.",
                )  # fmt: skip
        one, two = (bench.model.draws(s, plan.data, plan.params) for s in (state, twin))
        for variable in bench.spec.variables:
            if not same_arrays(one[variable.name], two[variable.name]):
                raise fail(bench, "sweep_blocks()", f"“{variable.name}” differs from what step() gives.")
