"""The same seed gives the same numbers, whoever runs the chains and in whatever order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plaidwork.core.checks._bench import Bench, first_difference, result_difference, same_states
from plaidwork.core.checks._check import CheckSkipped, blame, cause_of, check, fail
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.stages import Stage, passes, shared_with
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Failed
from plaidwork.core.inference.executor import ThreadExecutor
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run

_RANDOM = (
    "Draw from rng only; numba kernels take it as an argument (np.random inside them has a state of its own)."
)


def _compare(bench: Bench, run: Run, what: str, hint: str) -> None:
    for one, other in zip(bench.done.chains, run.chains, strict=True):
        if difference := first_difference(bench.spec, one, other):
            raise fail(bench, "fit", f"{what}, chain {one.chain + 1} differs: {difference}.", hint)


@check("same seed, same draws")
def same_seed(bench: Bench) -> None:
    """Two runs with one seed are equal bit for bit, in traces and draws."""
    _compare(bench, bench.run(bench.plan), "with the same seed", _RANDOM)


@check("threads give the same draws as one after the other")
def same_in_threads(bench: Bench) -> None:
    """The instance is shared by chains in several threads; state belongs into ``state``."""
    run, failures = Run.from_plan(bench.plan), []
    handle = ThreadExecutor().start(
        bench.plan, run.chains, lambda event: failures.append(event) if isinstance(event, Failed) else None
    )
    if not handle.wait(120):
        handle.control.stop()
        raise fail(bench, "step()", "two chains in threads did not end within 120 s.")
    if failures:
        fault = failures[0].fault
        cause = cause_of(fault.error, fault.frame) if fault else ""
        raise fail(bench, "fit", failures[0].message, failures[0].hint, cause)
    _compare(bench, run, "in threads", "An instance keeps nothing between calls; use state.")


@check("chains do not touch each other")
def chains_apart(bench: Bench) -> None:
    """Chains advanced in turns, step by step, equal chains run one after the other."""
    run = Run.from_plan(bench.plan)
    engines = [bench.events(bench.plan, record) for record in run.chains]
    while engines:
        engines = [engine for engine in engines if next(engine, None) is not None]
    _compare(bench, run, "with the chains in turns", "An instance keeps nothing between calls; use state.")


class _Small:
    """The model, its parallel stages in slices of a fifth."""

    def __init__(self, model: Model[Any, Any]) -> None:
        self._model = model

    def stages(self, *given: Any) -> list[Stage]:
        """Those of the model."""
        return [
            replace(stage, slice=max(1, stage.size // 5))
            if stage.parallel and isinstance(stage.size, int)
            else stage
            for stage in self._model.stages(*given)
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


class _Backwards:
    """A team whose last slice is done first; ``used`` tells whether it had several at once."""

    used = False

    def size(self) -> int:
        return 1000

    def run(self, calls: Sequence[Callable[[], object]]) -> None:
        self.used = True
        for call in reversed(calls):
            call()


@check("slices of parallel stages, and parts of shared loops, may be worked in any order")
def any_order(bench: Bench) -> None:
    """Three sweeps with the slices of each parallel stage backwards, and the parts of each shared loop, leave the state that they leave forwards."""
    bench.need("stages")
    plan = bench.plan
    model: Any = _Small(bench.model)
    bench.model.prepare()
    ends, parallel, backwards = [], set(), _Backwards()
    for team in (None, backwards):
        rng = bench.rng("order")
        with blame(bench, "stages()"), shared_with(team):
            state = bench.model.init(plan.data, plan.params, rng)
            for sweep in range(3):
                for stage in passes(
                    model, state, plan.data, plan.params, rng, Clock(sweep, plan.schedule.warmup)
                ):
                    if stage.parallel:
                        parallel.add(stage.name)
        ends.append(state)
    if not parallel and not backwards.used:
        raise CheckSkipped("no stage is parallel, and no loop is shared")
    if not same_states(*ends):
        names = ", ".join(sorted(parallel)) or "loops within stages"
        raise fail(
            bench,
            "stages()",
            f"the order in which slices are worked changes the state (parallel: {names}).",
            _ORDER,
        )


_ORDER = (
    "A slice of a parallel stage, or a part of a shared loop, writes what no other reads or writes; sums over units are returned and added "
    "by add(), or made in end()."
)


@check("different chains differ")
def chains_differ(bench: Bench) -> None:
    """Two chains of a sampler give different draws."""
    if bench.spec.algorithm != "mcmc":
        raise CheckSkipped("not a sampler")
    one, other = bench.done.chains[:2]
    if not first_difference(bench.spec, one, other):
        raise fail(
            bench, "step()", "two chains are equal in every number.", "Draw from the rng that is handed over."
        )


@check("global random state is neither used nor changed")
def global_random(bench: Bench) -> None:
    """``numpy.random`` and ``random`` are as before, and seeding them changes nothing."""
    before = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    try:
        runs = []
        for seed in (1, 2):
            np.random.seed(seed)  # noqa: NPY002
            random.seed(seed)
            states = _numpy_state(), random.getstate()
            run = bench.run(bench.plan)
            bench.summarise(bench.plan, run.kept())
            for word, old, new in (
                ("numpy.random", states[0], _numpy_state()),
                ("random", states[1], random.getstate()),
            ):
                if old != new:
                    raise fail(bench, "fit", f"the global state of {word} was used or changed.", _RANDOM)
            runs.append(run)
        for one, other in zip(runs[0].chains, runs[1].chains, strict=True):
            if difference := first_difference(bench.spec, one, other):
                raise fail(
                    bench, "fit", f"seeding the global generators changes the draws: {difference}.", _RANDOM
                )
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        random.setstate(before[1])


def _numpy_state() -> tuple[bytes, int]:
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return state["state"]["key"].tobytes(), int(state["state"]["pos"])


@check("the same draws give the same results")
def same_results(bench: Bench) -> None:
    """``summarise`` is repeatable: it draws no random numbers and leaves no trace."""
    again = bench.summarise(bench.plan, bench.done.kept())
    if name := result_difference(bench.results, again):
        raise fail(
            bench, "summarise()", f"the result “{name}” differs when computed again.", "Seed what is random."
        )


@check("a longer run begins like a shorter one")
def same_when_extended(bench: Bench) -> None:
    """Adding draws to a run gives what a longer one would have given from the start."""
    if bench.spec.algorithm != "mcmc":
        raise CheckSkipped("not a sampler")
    longer: FitPlan = bench.make(bench.sample, schedule=bench.plan.schedule.with_(draws=9))
    one: ChainRecord = bench.done.chains[0]
    other = ChainRecord(longer.spec, longer.schedule, longer.seed, 0)
    for _ in bench.events(longer, other):
        if other.draws.count == one.draws.count:
            break
    if difference := first_difference(bench.spec, one, other):
        raise fail(bench, "step()", f"the planned number of draws changes them: {difference}.")
