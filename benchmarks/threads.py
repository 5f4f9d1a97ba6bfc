"""Sweeps of one chain by different numbers of threads, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from plaidwork.core.inference.team import ProcessTeam


def in_turns(ways: Sequence[tuple[str, int, Callable[[], None]]], rounds: int) -> None:
    """Do a sweep in each way, so many times; print a line a way, in ms.

    Of the clock the least and the median; in CPU seconds the medians of the process, which show what sharing costs, and of the chain's own
    thread, which are what the clock would show where each thread has a processor to itself.

    Parameters
    ----------
    ways : name, number of threads, and what does one sweep
    """
    found = np.empty((len(ways), rounds, 3))
    for number in range(-2, rounds):
        for way, (_, threads, sweep) in enumerate(ways):
            with ProcessTeam(threads).chain():
                before = np.array([time.perf_counter(), time.process_time(), time.thread_time()])
                sweep()
            after = np.array([time.perf_counter(), time.process_time(), time.thread_time()])
            found[way, number] = 1e3 * (after - before)
    for (name, _, _), times in zip(ways, found, strict=True):
        clock, cpu, own = np.median(times, axis=0)
        print(
            f"{name:>16}: clock {times[:, 0].min():6.0f} {clock:6.0f}   CPU {cpu:6.0f}   own thread {own:6.0f}"
        )
