"""What one core of this machine can do: the speeds that kernels are held against, each the best of several tries.

All are CPU seconds of one thread. ``near`` is an array that stays in the second cache of the core, ``far`` one that does not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

REFERENCE_SECONDS = 0.43
"""The calibration loop on the machine that older targets were stated for."""
TRIES = 15


def calibrate() -> float:
    """CPU seconds of 40 x 200,000 rounds of a Python loop."""
    start = time.process_time()
    for _ in range(40):
        s, r = 0, 7
        for i in range(200_000):
            s += i & r
    return time.process_time() - start


@dataclass
class Work:
    """What an algorithm cannot do without, of one sweep: counts, by the speed that each is divided by.

    Attributes
    ----------
    flops, flops32 : multiplications and additions in float64, float32
    far, near : bytes read or written of large arrays, and of those that fit in the cache
    normals, uniforms : random numbers
    exps, logs : exponentials (or other functions as dear), logarithms
    """

    flops: float = 0.0
    flops32: float = 0.0
    far: float = 0.0
    near: float = 0.0
    normals: float = 0.0
    uniforms: float = 0.0
    exps: float = 0.0
    logs: float = 0.0


def _best(work: Callable[[], object], amount: float) -> float:
    """``amount`` a CPU second."""
    least = np.inf
    for _ in range(TRIES):
        start = time.thread_time()
        work()
        least = min(least, time.thread_time() - start)
    return amount / least


def speeds() -> Work:
    """How much of each a second: the BLAS at a product of 1024 x 1024, numpy's generator and functions, sums of arrays."""
    rng = np.random.default_rng(0)
    wide, large, small = rng.random((1024, 1024)), np.ones(24_000_000), np.ones(60_000)
    single = wide.astype(np.float32)
    values, out = rng.random(100_000), np.empty(100_000)
    return Work(
        flops=_best(lambda: wide @ wide, 2 * 1024**3),
        flops32=_best(lambda: single @ single, 2 * 1024**3),
        far=_best(large.max, large.nbytes),
        near=_best(lambda: [np.add(small, 1.0, out=small) for _ in range(50)], 50 * 2 * small.nbytes),
        normals=_best(lambda: rng.standard_normal(out=out), out.size),
        uniforms=_best(lambda: rng.random(out=out), out.size),
        exps=_best(lambda: np.exp(values, out=out), out.size),
        logs=_best(lambda: np.log(values, out=out), out.size),
    )


def least_seconds(work: Work, speed: Work) -> float:
    """CPU seconds that the work takes at these speeds, one after the other."""
    return float(sum(getattr(work, field.name) / getattr(speed, field.name) for field in fields(Work)))
