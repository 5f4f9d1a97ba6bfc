"""One chain of the Gaussian process models over many samples, with one and two threads in turns, and as small data are gone over.

    OPENBLAS_NUM_THREADS=1 python benchmarks/gp_threads.py [part of a case's name]

One and two threads do the same sweeps, each from a copy of the state and to the same draws; the way of small data has draws of its own.
"""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import Any

import numpy as np
import threads

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.core.draws.chain import rng_state
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.classes.variational import QuickClasses
from plaidwork.plugins.gp_auxiliary.regression.quick import QuickRegression
from plaidwork.plugins.gp_auxiliary.shared import blocks

SIZE, WARMUP = 20_000, 10**6
FIXED = {"parameters": "fixed"}
CASES: dict[str, tuple[Any, int, dict[str, Any], int]] = {
    "two classes, 60 points, parameters given": (Classes, 2, {"inducing": 60, **FIXED}, 20),
    "two classes, 200 points, parameters given": (Classes, 2, {"inducing": 200, **FIXED}, 20),
    "two classes, 60 points": (Classes, 2, {"inducing": 60}, 8),
    "two classes, 200 points": (Classes, 2, {"inducing": 200}, 2),
    "three classes, 60 points": (Classes, 3, {"inducing": 60}, 6),
    "five ordered classes, 60 points": (OrderedClasses, 5, {"inducing": 60}, 6),
    "quick, two classes, 200 points": (QuickClasses, 2, {"inducing": 200}, 6),
    "quick, four classes, 60 points": (QuickClasses, 4, {"inducing": 60}, 6),
    "quick regression, 60 points": (QuickRegression, 0, {"inducing": 60}, 8),
    "quick regression, 200 points": (QuickRegression, 0, {"inducing": 200}, 8),
}
"""Model, classes (0: values), settings, sweeps that are timed."""
WAYS = (("as small data", 1), ("one thread", 1), ("two threads", 2))


def make_data(rng: np.random.Generator, classes: int) -> ModelData:
    """Samples of two inputs, whose values or classes go with a wave across them."""
    x = rng.standard_normal((SIZE, 2))
    value = np.sin(2.0 * x[:, 0]) + 0.5 * x[:, 1] + 0.5 * rng.standard_normal(SIZE)
    names = tuple(map(str, range(SIZE)))
    y, levels = value, None
    if classes:
        y = np.searchsorted(np.quantile(value, np.arange(1, classes) / classes), value)
        levels = tuple(f"class {k}" for k in range(classes))
    blocks_of_data = {"X": Block("X", x, np.ones(x.shape, bool), None, (names, ("a", "b")))}
    blocks_of_data["y"] = Block("y", y, np.ones(SIZE, bool), None, (names,), levels)
    return ModelData(blocks_of_data)


class Sweeps:
    """The sweeps of one way, each where those of the others have been."""

    def __init__(self, model: Any, data: Any, params: Any, large: int) -> None:
        self.model, self.data, self.params, self.large = model, data, params, large
        self.rng = np.random.Generator(np.random.PCG64DXSM(1))
        blocks.LARGE = large
        self.state = model.init(data, params, self.rng)
        self.number = 0
        for _ in range(
            40 if params.get("parameters") == "fixed" else 0
        ):  # until the angle of the moves is learnt
            self()

    def __call__(self) -> None:
        blocks.LARGE = self.large
        clock = Clock(self.number, WARMUP)
        while self.model.step(self.state, self.data, self.params, self.rng, clock) is None:
            pass
        self.number += 1


def main() -> None:
    """The cases whose names hold the word given, or all."""
    large = blocks.LARGE
    for title, (kind, classes, changes, rounds) in CASES.items():
        if not any(word in title for word in sys.argv[1:] or [""]):
            continue
        data, model = make_data(np.random.default_rng(0), classes), kind()
        model.prepare()
        params = model.spec.check_params({"form": "inducing", "ard": True, **changes})
        sizes = (10**18, large, large)
        sweeps = [Sweeps(model, data, params, size) for size in sizes]
        print(f"{SIZE} samples, {title}")
        ways = zip(WAYS, sweeps, strict=True)
        threads.in_turns([(name, count, partial(sweep)) for (name, count), sweep in ways], rounds)
        ends = {repr(rng_state(sweep.rng)) + repr(pickle.dumps(sweep.state)) for sweep in sweeps[1:]}
        print(f"the same draws: {len(ends) == 1}", flush=True)


if __name__ == "__main__":
    main()
