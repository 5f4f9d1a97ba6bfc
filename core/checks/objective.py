"""Variational models: the bound never falls, but where the model itself changes (``Trace.breaks``)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import CheckSkipped, blame, check, fail
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.stages import passes
from plaidwork.core.draws.chain import ChainRecord

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
    schedule = bench.spec.schedule.with_(
        chains=2, max_sweeps=sweeps, tolerance=0.0
    )  # steps beyond the sweeps too
    plan = bench.make(bench.sample, schedule=schedule)
    for chain in range(2):
        record: ChainRecord = bench.chain(plan, chain)
        found = record.trace.snapshot()
        values = found[name]
        rows = [{trace: float(column[i]) for trace, column in found.items()} for i in range(len(values))]
        for sweep in range(1, len(values)):
            if not _breaks(bench, rows[sweep - 1], rows[sweep]) and _falls(values[sweep - 1], values[sweep]):
                raise fail(
                    bench, "step()", f"“{name}” falls from {values[sweep - 1]!r} to {values[sweep]!r} at sweep "
                    f"{sweep + 1} of restart {chain + 1}.", "Offer stages() to see which update is wrong.",
                )  # fmt: skip


@check("the objective never falls at a stage")
def bound_rises_by_stage(bench: Bench) -> None:
    """The bound rises at every stage of the sweeps that a fit makes, over 6 of them (20 at full level)."""
    name = _climber(bench)
    bench.need("stages")
    plan, rng = bench.plan, bench.rng("stages")
    with blame(bench, "stages()"):
        bench.model.prepare()
        state = bench.model.init(plan.data, plan.params, rng)
        last, before = -np.inf, "the start"
        past = None
        for sweep in range(20 if bench.full else 6):
            clock = Clock(sweep, plan.schedule.warmup)
            for stage in passes(bench.model, state, plan.data, plan.params, rng, clock):
                now = bench.model.traces(state, plan.data, plan.params)
                if past is not None and _breaks(bench, past, now):
                    last, before = -np.inf, "the model changed"
                past = now
                if not stage.whole:
                    continue
                value = bench.model.objective(state, plan.data, plan.params)
                if _falls(last, value):
                    raise fail(
                        bench, "stages()", f"“{name}” falls from {last!r} to {value!r} at the stage “{stage.name}” "
                        f"of sweep {sweep + 1}, after {before}.",
                    )  # fmt: skip
                last, before = value, f"“{stage.name}”"
            if abs(now[name] - last) > TOLERANCE * max(1.0, abs(last)):
                raise fail(
                    bench, "objective()", f"is {last!r} at the end of sweep {sweep + 1}, the trace “{name}” "
                    f"{now[name]!r}.", "Both tell the same of the same state.",
                )  # fmt: skip
