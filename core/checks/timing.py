"""The window stays quick: short steps, kernels that release the interpreter, a stop that is obeyed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from plaidwork.core.checks._bench import Bench
from plaidwork.core.checks._check import CheckFailed, check, fail
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Failed, Preparing, Started
from plaidwork.core.inference.executor import ThreadExecutor
from plaidwork.core.inference.run import Run

STEP_SECONDS = 0.5
GAP_SECONDS = 0.1
STOP_SECONDS = 1.0
PREPARE_SECONDS = 0.25
TRIES = 3
"""Another program may hold the processor: the best of three counts."""
IDLE = 0.05
"""Below this share of a processor something slept or waited; above it, what other programs took is left out."""


def _taken(wall: float, processor: float) -> float:
    """Seconds that count: of a busy processor its own time, so that a loaded machine finds no fault."""
    return min(wall, processor) if processor > IDLE * wall else wall


@check("a call of step is short")
def short_steps(bench: Bench) -> None:
    """On the sample data, after ``prepare``, a call of ``step`` returns within 0.5 s."""
    bench.prepare()
    slowest = min((_slowest_step(bench) for _ in range(TRIES)), default=0.0)
    if slowest > STEP_SECONDS:
        raise fail(
            bench, "step()", f"a call took {slowest:.2f} s; {STEP_SECONDS} s is the most.",
            "Return None and go on in the next call.",
        )  # fmt: skip


def _slowest_step(bench: Bench) -> float:
    record = ChainRecord(bench.spec, bench.plan.schedule, bench.plan.seed, 0)
    last, slowest = (0.0, 0.0), 0.0
    for event in bench.events(bench.plan, record):
        now = time.perf_counter(), time.thread_time()
        if not isinstance(event, (Preparing, Started)):
            slowest = max(slowest, _taken(now[0] - last[0], now[1] - last[1]))
        last = time.perf_counter(), time.thread_time()
        if record.sweep >= 3:
            break
    return slowest


@check("prepare is quick the second time")
def prepare_twice(bench: Bench) -> None:
    """Every chain calls ``prepare``; after the first it has nothing left to do (0.25 s at most)."""
    bench.prepare()
    seconds = []
    for _ in range(TRIES):
        wall, processor = time.perf_counter(), time.thread_time()
        bench.prepare()
        seconds.append(_taken(time.perf_counter() - wall, time.thread_time() - processor))
    if min(seconds) > PREPARE_SECONDS:
        raise fail(
            bench,
            "prepare()",
            f"took {min(seconds):.2f} s when called again.",
            "Compile once, with cache=True.",
        )


@check("other threads go on while step computes")
def releases_interpreter(bench: Bench) -> None:
    """On larger data another Python thread gets its turn at least every 0.1 s, as the window needs it."""
    plan = bench.big
    best = float("inf")
    for attempt in range(TRIES):
        record = ChainRecord(plan.spec, plan.schedule, plan.seed, attempt)
        engine = bench.events(plan, record)
        while not isinstance(next(engine), Started):
            pass
        best = min(best, longest_gap(partial(_some_steps, engine)))
        if best <= GAP_SECONDS:
            return
    raise fail(
        bench, "step()", f"no other thread could run for {best * 1000:.0f} ms.",
        "Compile kernels with nogil=True, and cut a long sweep into slices.",
    )  # fmt: skip


def _some_steps(engine: Iterator[object]) -> None:
    end = time.perf_counter() + 0.5
    for _ in engine:
        if time.perf_counter() > end:
            return


def longest_gap(work: Callable[[], None]) -> float:
    """Seconds between two turns of a thread that wants one every millisecond, while ``work`` runs in this one."""
    done, ready, longest = threading.Event(), threading.Event(), [0.0]

    def tick() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest[0] = max(longest[0], now - last)
            last = now
            ready.set()

    thread = threading.Thread(target=tick, name="ticks", daemon=True)
    thread.start()
    try:
        ready.wait()
        longest[0] = 0.0
        work()
        time.sleep(0.003)  # the turn it was kept waiting for counts
    finally:
        done.set()
        thread.join()
    return longest[0]


@check("a stop is obeyed within a second")
def stops(bench: Bench) -> None:
    """A fit of larger data in threads ends within 1 s of being asked to, with a state to go on from."""
    plan, seconds = bench.big, []
    plan = bench.make(
        {name: list(parts) for name, parts in plan.inputs.items()},
        schedule=plan.schedule.with_(warmup=10_000, draws=10_000, max_sweeps=1_000_000),
    )
    for _ in range(TRIES):
        run, going = Run.from_plan(plan), threading.Event()
        failures: list[Failed] = []

        def notify(event: object, going: threading.Event = going, failures: list[Failed] = failures) -> None:
            if isinstance(event, Failed):
                failures.append(event)
            if not isinstance(event, Preparing):
                going.set()

        handle = ThreadExecutor().start(plan, run.chains, notify)
        going.wait(60)
        time.sleep(0.1)
        wall, processor = time.perf_counter(), time.process_time()
        handle.control.stop()
        ended = handle.wait(20)
        spent = (time.process_time() - processor) / len(run.chains)  # they end beside each other
        seconds.append(_taken(time.perf_counter() - wall, spent))
        if failures:
            raise CheckFailed(f"{bench.name}, fit: {failures[0].message}", failures[0].hint)
        if ended and any(record.saved is None for record in run.chains):
            raise fail(bench, "fit", "a stopped chain has no state to go on from.")
        if ended and seconds[-1] <= STOP_SECONDS:
            return
    raise fail(
        bench, "step()", f"the chains ended {min(seconds):.1f} s after the stop; {STOP_SECONDS:g} s is the most.",
        "Return None and go on in the next call.",
    )  # fmt: skip
