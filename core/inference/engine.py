"""The loop of one chain: a generator of events without threads, files or a screen."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.schedule import Clock
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import PluginError
from plaidwork.core.inference import relaxing
from plaidwork.core.inference.events import Event, Finished, Preparing, Started, Swept, Working
from plaidwork.core.inference.fitting_state import check_fits
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.stopping import has_converged
from plaidwork.core.inference.untouched import Untouched

_NUMBERS = (float, int, np.floating, np.integer, np.bool_)


def run_chain(plan: FitPlan, record: ChainRecord) -> Generator[Event, None, None]:
    """Advance a chain to the end of its schedule; go on from ``record.state`` when it has one.

    After every event the chain stands between two steps: the caller may stop iterating, wait, or take a
    checkpoint. The numbers depend on plan, seed and chain only, not on who iterates, nor on the threads that BLAS has
    elsewhere. Close the iterator when leaving it early: it holds BLAS at one thread.

    Raises whatever the model raises, ``PluginError`` when it breaks the contract, and ``SessionError`` for a state from a file
    that does not fit.
    """
    chain = record.chain
    if record.broken:
        record.rewind()
    untouched = Untouched(plan.data, plan.data_sums)
    yield Preparing(chain)
    with one_thread():
        plan.model.prepare()
    with one_thread():  # again, for libraries that were loaded with the kernels
        if record.state is None:
            started = time.thread_time()
            record.state = _state(plan.model.init(plan.data, plan.params, record.rng))
            record.cpu_seconds += time.thread_time() - started
        elif record.foreign:
            check_fits(plan, record)
            record.foreign = False
    yield Started(chain)
    with one_thread():
        while not record.swept_out:
            event = _step(plan, record)
            untouched.look(f"after sweep {record.sweep} of {plan.spec.title}", at_once=record.swept_out)
            yield event
        if plan.spec.algorithm != "mcmc" and record.draws.count == 0:
            _keep(plan, record)
    yield Finished(chain, "converged" if record.converged else "done", record.sweep)


def _step(plan: FitPlan, record: ChainRecord) -> Event:
    started = time.thread_time()
    clock = Clock(record.sweep, record.schedule.warmup)
    relaxing.begin(plan, record)
    traces = plan.model.step(record.state, plan.data, plan.params, record.rng, clock)
    if traces is None:
        record.cpu_seconds += time.thread_time() - started
        return Working(record.chain)
    traces = relaxing.end(plan, record, traces)
    _check_traces(plan, record, traces)
    record.trace.append(traces)
    record.sweep += 1
    kept = record.keeps(record.sweep)
    if kept:
        _keep(plan, record)
    elif plan.spec.algorithm != "mcmc":
        record.converged = has_converged(plan, record)
    record.cpu_seconds += time.thread_time() - started
    return Swept(record.chain, record.sweep, kept)


def _state(state: Any) -> Any:
    if not isinstance(state, (Mapping, tuple)):
        raise PluginError(f"it returned {type(state).__name__}, a state is a dict", hook="init")
    return state


def _keep(plan: FitPlan, record: ChainRecord) -> None:
    values = plan.model.draws(record.state, plan.data, plan.params)
    if not isinstance(values, Mapping):
        raise PluginError(f"it returned {type(values).__name__}, not values by name", hook="draws")
    try:
        record.draws.append(values)
    except PluginError as error:
        error.hook = "draws"
        error.message = f"{plan.spec.title}, sweep {record.sweep}: {error.message}"
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise PluginError(f"it returned what cannot be kept: {error}", hook="draws") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biuf"
    )


def _check_traces(plan: FitPlan, record: ChainRecord, traces: Mapping[str, float]) -> None:
    if not isinstance(traces, Mapping):
        raise PluginError(f"it returned {type(traces).__name__}, not numbers by trace", hook="step")
    for name in record.trace.names:
        if name not in traces:
            raise PluginError(f"it did not return the declared trace “{name}”", hook="step")
        if not _is_number(traces[name]):
            raise PluginError(
                f"the trace “{name}” is no number but {type(traces[name]).__name__}", hook="step"
            )
    if len(traces) > len(record.trace.names):
        declared = {*record.trace.names, *(trace.name for trace in plan.spec.traces)}
        extra = next((name for name in traces if name not in declared), None)
        if extra is not None:
            raise PluginError(
                f"it returned the trace “{extra}”, which {plan.spec.title} does not declare", hook="step"
            )
    primary = plan.spec.primary_trace
    if primary is not None and not math.isfinite(traces[primary.name]):
        raise PluginError(
            f"{primary.title} became {traces[primary.name]} at sweep {record.sweep + 1} of chain {record.chain + 1}",
            "The state before it is kept in the last checkpoint.",
            hook="step",
        )
