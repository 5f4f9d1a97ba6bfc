"""One chain of the plaid models over a large matrix, with one and two threads in turns, and as small data are gone over.

    OPENBLAS_NUM_THREADS=1 python benchmarks/plaid_threads.py [part of a case's name]

Every way does the same sweeps, each from a copy of the state and to the same draws.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import plaid_speed as speed
import threads
from scipy.sparse import csr_matrix

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.core.draws.chain import rng_state
from plaidwork.plugins.plaid import large
from plaidwork.plugins.plaid.counts import large as counts_large
from plaidwork.plugins.plaid.counts.model import PlaidCounts
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

CASES: dict[str, tuple[Any, Any, dict[str, Any], int]] = {
    "infinite 5000 x 2000": (InfinitePlaid, lambda rng: speed.make_data(5000, 2000, rng), {}, 20),
    "fixed 5000 x 2000": (BayesianPlaid, lambda rng: speed.make_data(5000, 2000, rng), {"blocks": 10}, 20),
    "profiles 5000 x 2000": (
        InfinitePlaid,
        lambda rng: speed.make_data(5000, 2000, rng),
        {"layer": "profile"},
        6,
    ),
    "profiles and effects 5000 x 2000": (
        BayesianPlaid,
        lambda rng: speed.make_data(5000, 2000, rng),
        {"blocks": 10, "layer": "profile", "row_noise": True, "effects": True},
        6,
    ),
    "infinite 2000 x 2000": (InfinitePlaid, lambda rng: speed.make_data(2000, 2000, rng), {}, 20),
    "counts 5000 x 2000": (PlaidCounts, lambda rng: make_counts(rng, 0.05), {}, 6),
    "counts 5000 x 2000, sparse": (PlaidCounts, lambda rng: make_counts(rng, 0.005, sparse=True), {}, 6),
    "links 5000 x 2000": (PlaidCounts, lambda rng: make_counts(rng, 0.05), {"likelihood": "bernoulli"}, 6),
}
"""Model, data, settings, sweeps that are timed."""
SIZES = {module: module.LARGE for module in (large, counts_large)}
WAYS = (("as small data", 1), ("one thread", 1), ("two threads", 2))


def make_counts(rng: np.random.Generator, level: float, sparse: bool = False) -> ModelData:
    """5000 x 2000 counts with ten blocks of ten times the background's level, a tenth of the rows and columns each."""
    rows, columns = rng.random((speed.N_BLOCKS, 5000)) < 0.1, rng.random((speed.N_BLOCKS, 2000)) < 0.1
    values = rng.poisson(level * (1.0 + 10.0 * rows.T.astype(float) @ columns)).astype(float)
    blocks = {}
    for name, given in (("X", values), ("start_rows", 1.0 * rows.T), ("start_columns", 1.0 * columns.T)):
        names = tuple(tuple(map(str, range(size))) for size in given.shape)
        kept = csr_matrix(given) if sparse and name == "X" else np.ascontiguousarray(given)
        blocks[name] = Block(name, kept, np.ones(given.shape, bool), None, names)
    return ModelData(blocks)


class Sweeps:
    """The sweeps of one way, each where those of the others have been."""

    def __init__(self, model: Any, data: Any, params: Any, as_small: bool) -> None:
        self.model, self.data, self.params, self.as_small = model, data, params, as_small
        self.rng = np.random.Generator(np.random.PCG64DXSM(1))
        self.state = model.init(data, params, self.rng)
        self.number = 0

    def __call__(self) -> None:
        for module, size in SIZES.items():
            module.LARGE = 10**18 if self.as_small else size  # type: ignore[attr-defined]
        clock = Clock(self.number, 0)
        while self.model.step(self.state, self.data, self.params, self.rng, clock) is None:
            pass
        self.number += 1


def main() -> None:
    """The cases whose names hold the word given, or all."""
    for title, (kind, make, changes, rounds) in CASES.items():
        if not any(word in title for word in sys.argv[1:] or [""]):
            continue
        data, model = make(np.random.default_rng(0)), kind()
        model.prepare()
        params = model.spec.check_params({"start": "given", **changes})
        sweeps = [Sweeps(model, data, params, name == "as small data") for name, _ in WAYS]
        print(title)
        threads.in_turns(
            [(name, count, sweep) for (name, count), sweep in zip(WAYS, sweeps, strict=True)], rounds
        )
        ends = {repr(rng_state(sweep.rng)) for sweep in sweeps}
        print(f"the same draws: {len(ends) == 1}")


if __name__ == "__main__":
    main()
