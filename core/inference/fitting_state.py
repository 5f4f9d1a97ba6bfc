"""Whether the state of a chain that comes from a file fits the data and settings it is to go on with: asked before its first step."""

from __future__ import annotations

from typing import Any

from plaidwork.core.contract.layout import Layout, Part, Reference
from plaidwork.core.contract.misfit import misfit
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.contract.schedule import Clock, Schedule
from plaidwork.core.contract.stages import MOST_STREAM, POSITION
from plaidwork.core.contract.storable import check_state
from plaidwork.core.draws.chain import ChainRecord, chain_rng, copy_state
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.relaxing import RELAXING

HINT = "The file is damaged, or somebody changed it. What it holds can be looked at; to go on, start a new fit with the same settings."
SLICES = 2000
"""Slices of a sweep that are made at most to compare with."""

HOST: Layout = {
    f"{POSITION}.stage": Part((), "U1", missing=True),
    f"{POSITION}.at": Part((), "int64", low=0, missing=True),
    f"{POSITION}.stream": Part((), "int64", low=0, below=MOST_STREAM, missing=True),
    f"{RELAXING}.share": Part((), missing=True),
    f"{RELAXING}.added": Part((), missing=True),
    f"{RELAXING}.traces.*": Part((), missing=True, unset=True),
    f"{RELAXING}.kept.**": Part(like=""),
    f"{RELAXING}.last.**": Part(like=""),
}
"""The host's own entries of a state."""


class Expected:
    """What the state of a chain may hold, by what the model makes itself: the state before the first sweep, and where that does not do
    those of the first sweeps. Raises what ``Model.init`` raises."""

    def __init__(self, plan: FitPlan, chain: int, schedule: Schedule) -> None:
        self._plan, self._schedule = plan, schedule
        self._rng = chain_rng(plan.seed, chain)
        with blamed(plan.model, "layout"):
            self.layout: Layout = {**HOST, **plan.model.layout(plan.data, plan.params)}
        self._state = plan.model.init(plan.data, plan.params, self._rng)
        self._reference = Reference(copy_state(self._state))
        self._sweeps: set[int] = set()

    def why_not(self, state: Any, sweep: int) -> str:
        """Why a state in sweep number ``sweep`` (from 0) does not fit, as a part of a sentence; empty when it does."""
        found = misfit(state, self._reference, self.layout)
        for later in (0, max(sweep, 1)):  # more may stand in a state than in a fresh one
            if found and later not in self._sweeps:
                self._look_on(later)
                found = misfit(state, self._reference, self.layout)
        if not found:
            with blamed(self._plan.model, "contradiction"):
                found = self._plan.model.contradiction(state, self._plan.data, self._plan.params)
        return found or self._nowhere(state, sweep)

    def changing(self) -> list[str]:
        """The places of which the model was seen to change a length."""
        return self._reference.changing()

    def _look_on(self, sweep: int) -> None:
        """Take up the states of two more sweeps, made as if they were this one."""
        plan, clock = self._plan, Clock(sweep, self._schedule.warmup)
        self._sweeps.add(sweep)
        for _ in range(2):
            for _ in range(SLICES):
                try:
                    traces = plan.model.step(self._state, plan.data, plan.params, self._rng, clock)
                except Exception:  # what is known by then has to do
                    return
                self._reference.add(self._state)
                if traces is not None:
                    break

    def _nowhere(self, state: Any, sweep: int) -> str:
        """Whether a sweep that has begun stands within none of its stages, in words; the state fits but for that."""
        if not isinstance(state, dict) or POSITION not in state:
            return ""
        position, plan = state[POSITION], self._plan
        nowhere = f"“{POSITION}” is {str(position)[:60]}, where no sweep stands"
        if not isinstance(position, dict) or not {"stage", "at"} <= position.keys():
            return nowhere
        clock = Clock(sweep, self._schedule.warmup)
        try:
            stages = plan.model.stages(state, plan.data, plan.params, self._rng, clock)
        except NotImplementedError:
            return nowhere
        stage = next((one for one in stages if one.name == position["stage"]), None)
        if stage is None:
            return nowhere
        size = stage.size() if callable(stage.size) and position["at"] else stage.size
        return nowhere if isinstance(size, int) and position["at"] > size else ""


def check_fits(plan: FitPlan, record: ChainRecord) -> None:
    """Raise ``SessionError`` when the state of a chain does not fit: no kernel may see it. Also raises what ``Model.init`` raises."""
    check_state(record.state)
    found = Expected(plan, record.chain, record.schedule).why_not(record.state, record.sweep)
    if found:
        raise SessionError(
            f"Chain {record.chain + 1} of {plan.spec.title} cannot go on: its stored state does not fit the data and settings. "
            f"In it {found}.",
            HINT,
        )
