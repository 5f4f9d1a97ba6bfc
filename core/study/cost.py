"""What a study will cost, measured by the first sweeps of two of its fits."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from plaidwork.core.contract.model import Cost, Problem
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import PluginError
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Started, Swept
from plaidwork.core.inference.memory import memory_problem
from plaidwork.core.inference.plan import FitPlan, estimate
from plaidwork.core.study.job import StudyJob, nbytes_of
from plaidwork.core.study.study import Study


@dataclass(frozen=True, slots=True)
class StudyCost:
    """Seconds of processor time of one fit on average, bytes while one is under way, and whether the time is only a
    bound, because the fits end by themselves."""

    seconds_per_fit: float
    memory_per_fit: float
    at_most: bool = False

    def seconds(self, fits: int, at_once: int) -> float:
        """Time of so many fits, so many at a time."""
        return self.seconds_per_fit * fits / max(1, min(at_once, fits))

    def memory(self, at_once: int) -> float:
        """Bytes while so many are under way."""
        return self.memory_per_fit * at_once


def measure_cost(
    study: Study, seconds: float = 1.0, between: Callable[[], object] | None = None
) -> StudyCost:
    """Run the first and the last fit of the grid for a moment (``seconds`` in all, besides preparing kernels).

    ``between`` is called between two steps, and may raise to give up. The numbers of the study are not touched.
    Raises what the model raises.
    """
    ends = _ends(study)
    found = [_measure(study, job, seconds / len(ends), between) for job in ends]
    return StudyCost(
        sum(cost.seconds_per_fit for cost in found) / len(found),
        max(cost.memory_per_fit for cost in found),
        any(cost.at_most for cost in found),
    )


def study_memory_problem(study: Study, at_once: int) -> Problem | None:
    """A warning when so many of its fits at a time need more memory than is free; by the first and the last of the grid."""
    for job in _ends(study):
        plan = study.plan(job)
        if problem := memory_problem(plan, _estimated(plan), min(at_once, len(study.jobs))):
            return problem
    return None


def _ends(study: Study) -> list[StudyJob]:
    return [study.jobs[0], study.jobs[-1]][: len(study.jobs)]


def _estimated(plan: FitPlan) -> Cost | None:
    try:
        return estimate(plan)
    except PluginError:  # a plugin that cannot say what a fit costs may still be fitted
        return None


def _measure(study: Study, job: StudyJob, seconds: float, between: Callable[[], object] | None) -> StudyCost:
    plan = study.plan(job)
    record = ChainRecord(plan.spec, plan.schedule, plan.seed, 0)
    begun = started = time.perf_counter()
    with closing(run_chain(plan, record)) as events:
        for event in events:
            if between is not None:
                between()
            now = time.perf_counter()
            if isinstance(event, Started):
                started = now
            elif isinstance(event, Swept) and now - started > seconds:
                break
    spent = max(time.perf_counter() - max(started, begun), 1e-6)
    sampler = plan.spec.algorithm == "mcmc"
    sweeps = record.planned if sampler or not record.converged else record.sweep
    fit = spent / max(1, record.sweep) * sweeps * plan.schedule.chains
    goes_on = sampler and fit < plan.schedule.budget
    return StudyCost(
        max(fit, plan.schedule.budget if sampler else 0.0),
        _memory(plan, record, sweeps),
        goes_on or (not sampler and not record.converged),
    )


def _memory(plan: FitPlan, record: ChainRecord, sweeps: int) -> float:
    """State, traces and draws of all chains at their end; what the model says, when that is more."""
    draws = record.draws.nbytes
    kept = record.schedule.draws if plan.spec.algorithm == "mcmc" else 1
    per_draw = draws / record.draws.count if record.draws.count else nbytes_of(record.state)
    own = 2 * nbytes_of(record.state) + per_draw * kept + 8 * sweeps * len(plan.spec.traces)
    estimated = _estimated(plan)
    return plan.schedule.chains * max(own, 0.0 if estimated is None else float(estimated.memory))
