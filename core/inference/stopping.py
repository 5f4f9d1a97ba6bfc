"""When a variational or optimising chain has reached its end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.plan import FitPlan


def has_converged(plan: FitPlan, record: ChainRecord) -> bool:
    """Whether a chain may end after the sweeps it has done.

    A schedule with a window asks the host, then the model whether it has something left to do; one without (that of runs
    from before there were windows, too) asks the model alone.
    """
    schedule, traces = record.schedule, record.trace.snapshot()
    if not schedule.window:
        return plan.model.converged(traces, schedule.tolerance)
    return stands_still(plan.spec, schedule, traces) and plan.model.may_stop(traces, plan.params)


def stands_still(spec: ModelSpec, schedule: Schedule, traces: Mapping[str, np.ndarray]) -> bool:
    """Whether the objective gained less than the tolerance over the window, in which the model stayed the same."""
    primary = spec.primary_trace
    if primary is None or len(traces[primary.name]) <= schedule.window:
        return False
    last = slice(-1 - schedule.window, None)
    if any(np.ptp(traces[trace.name][last]) > 0 for trace in spec.traces if trace.breaks):
        return False
    values = traces[primary.name][last]
    gain = values[0] - values[-1] if primary.goal == "down" else values[-1] - values[0]
    return bool(gain < schedule.tolerance)
