"""Steps beyond the ascent, taken back when the objective falls (Salakhutdinov and Roweis 2003, ICML, section 3).

Before a sweep the arrays that the model names go on in the direction of the last sweep, by a share of it that grows while
the objective rises. A sweep that ends lower than the one before is undone and the share begins anew, so that the objective
never falls. All of it is an entry of the state: in checkpoints, in the middle of a sweep too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.model_data import State
from plaidwork.core.contract.relaxation import Relaxation
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.draws.chain import ChainRecord, copy_state
from plaidwork.core.inference.plan import FitPlan

RELAXING = "over_relaxation"
"""Entry of the state: a dict with ``share`` of the last step to add; ``last``, the arrays before the last sweep; ``traces``
of the sweep before; within a sweep ``kept``, what it began from, and ``added``, the share that was added."""
LEAST, GROWTH = 0.5, 1.15
"""Share at first, and its growth from sweep to sweep; the most is the schedule's."""
PLAIN = 20
"""Sweeps before the first step beyond: the way of the first ones is not the way on."""
FURTHEST = 10.0
"""The most that an array of positive numbers is multiplied or divided by."""


def begin(plan: FitPlan, record: ChainRecord) -> None:
    """Before every step: at the beginning of a sweep keep what may have to be restored, then go on by the share."""
    how = _how(plan, record)
    if how is None:
        return
    state: State = record.state
    entry = state.setdefault(RELAXING, {"share": 0.0, "last": {}, "traces": {}})
    if "kept" in entry:
        return  # the sweep has begun
    names = how.means + how.logs
    last = entry["last"]
    known = all(name in last and last[name].shape == state[name].shape for name in names)
    clock = Clock(record.sweep, record.schedule.warmup)
    wanted = known and plan.model.extrapolates(clock, plan.params)
    entry["added"] = float(entry["share"]) if wanted else 0.0
    if not entry["added"]:
        entry["kept"] = {name: state[name].copy(order="K") for name in names}
        return
    entry["kept"] = _copy(state, (*how.fixed, RELAXING))
    for name in how.means:
        state[name] += entry["added"] * (state[name] - last[name])
    for name in how.logs:
        step = entry["added"] * np.log(state[name] / last[name])
        state[name] *= np.exp(np.clip(step, -np.log(FURTHEST), np.log(FURTHEST)))
    plan.model.extrapolated(state, entry["kept"], plan.data, plan.params)


def end(plan: FitPlan, record: ChainRecord, traces: Mapping[str, float]) -> Mapping[str, float]:
    """After a sweep: its traces, or those of the sweep before when this one is undone."""
    how = _how(plan, record)
    if how is None:
        return traces
    state: State = record.state
    entry = state[RELAXING]
    kept, added = entry.pop("kept"), entry.pop("added")
    if added and _lower(plan, entry["traces"], traces):
        _restore(state, kept, how.fixed)
        entry["share"], entry["last"] = 0.0, {}
        return dict(entry["traces"])
    entry["last"] = {name: kept[name] for name in how.means + how.logs}
    entry["traces"] = {name: float(value) for name, value in traces.items()}
    if record.sweep + 1 >= PLAIN:
        entry["share"] = min(record.schedule.relaxation, max(LEAST, GROWTH * entry["share"]))
    return traces


def _how(plan: FitPlan, record: ChainRecord) -> Relaxation | None:
    """What the model says of its arrays; None where schedule or model want plain sweeps."""
    found, wanted = plan.model.relaxation, record.schedule.relaxation > 0
    return found if wanted and found.means + found.logs and isinstance(record.state, dict) else None


def _lower(plan: FitPlan, before: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether a sweep of the same model has ended lower, or nowhere."""
    primary = plan.spec.primary_trace
    if primary is None or any(
        trace.breaks and before[trace.name] != now[trace.name] for trace in plan.spec.traces
    ):
        return False
    gain = now[primary.name] - before[primary.name]
    return not (gain <= 0 if primary.goal == "down" else gain >= 0)


def _copy(value: dict[str, Any], fixed: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: _copy(item, fixed) if isinstance(item, dict) else copy_state(item)
        for name, item in value.items()
        if name not in fixed
    }


def _restore(state: dict[str, Any], kept: dict[str, Any], fixed: tuple[str, ...]) -> None:
    """The state as it was kept, what has come since taken out."""
    for name in [name for name in state if name not in kept and name not in (*fixed, RELAXING)]:
        del state[name]
    for name, value in kept.items():
        if isinstance(value, dict) and isinstance(state.get(name), dict):
            _restore(state[name], value, fixed)
        else:
            state[name] = value
