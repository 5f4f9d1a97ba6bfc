"""A model of linear algebra large enough that BLAS would take threads for it; run as a script it prints its draws' hash.

    python algebra_toy.py FIRST EXECUTOR

FIRST is what is imported first, numpy or plaidwork; EXECUTOR is one of ``RUNNERS``. Printed: the hash of draws and results,
and the threads that BLAS has during the fit, and after it.
"""

from __future__ import annotations

import hashlib
import sys

if sys.argv[1:2] == ["numpy"]:
    import numpy as np
import plaidwork.core  # noqa: F401

if sys.argv[1:2] != ["numpy"]:
    import numpy as np
from numba import njit

from plaidwork.core.api import Input, Model, ModelSpec, Result, Schedule, Trace, Variable

SIZE = 300


def threads() -> list[int]:
    """What every BLAS library of this process would take."""
    from threadpoolctl import threadpool_info

    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@njit(cache=True)
def _root(matrix, vector):
    """By scipy's library, which compiled code calls; numpy has one of its own."""
    root = np.linalg.cholesky(matrix)
    return root, np.dot(vector, vector)


class Algebra(Model):
    """A normal draw with the covariance X'X, its roots taken by both libraries."""

    spec = ModelSpec(
        id="toy.algebra",
        version="1.0",
        title="Algebra",
        summary="Multiplies.",
        inputs=(Input("X"),),
        variables=(Variable("place", ("column",)), Variable("threads")),
        traces=(Trace("lp", primary=True),),
        views=(),
        schedule=Schedule(chains=2, warmup=1, draws=2),
    )

    def init(self, data, params, rng):
        x = data["X"].values
        return {"cov": x.T @ x + np.eye(x.shape[1]), "place": np.zeros(x.shape[1])}

    def step(self, state, data, params, rng, clock):
        noise = rng.normal(size=(len(state["cov"]), 100))
        root, _ = _root(state["cov"], noise.ravel())
        values, vectors = np.linalg.eigh(state["cov"])
        state["place"] = (root @ noise).mean(axis=1) + vectors @ (np.sqrt(values) * noise[:, 0])
        length = _root(np.eye(2), (root @ noise).ravel())[1]
        return {"lp": -float(length)}

    def draws(self, state, data, params):
        return {"place": state["place"], "threads": max(threads())}

    def summarise(self, kept, data, params):
        place = kept.stack("place").reshape(-1, data["X"].shape[1])
        return {
            "root": Result(np.linalg.eigh(place.T @ place)[1]),
            "threads": Result(np.array(max(threads()))),
        }


def digest(run) -> str:
    """Of all draws and results."""
    found = hashlib.sha256(run.draws["place"].tobytes())
    found.update(np.ascontiguousarray(run.results["root"].values).tobytes())
    return found.hexdigest()


def _fit(name: str):
    from plaidwork.core.data.objects import as_dataset
    from plaidwork.core.inference.execution import execute
    from plaidwork.core.inference.executor import InlineExecutor, ThreadExecutor
    from plaidwork.core.inference.plan import make_plan
    from plaidwork.core.inference.process_pool import ProcessPool
    from plaidwork.core.inference.processes import ProcessExecutor
    from plaidwork.core.inference.run import Run

    x = np.random.default_rng(3).normal(size=(2 * SIZE, SIZE))
    plan = make_plan(Algebra(), {"X": as_dataset("X", x)})
    run = Run.from_plan(plan)
    if name == "pool":
        with ProcessPool(1) as pool:
            execute(run, plan, pool.executor())
    else:
        execute(
            run,
            plan,
            {"inline": InlineExecutor, "threads": ThreadExecutor, "processes": ProcessExecutor}[name](),
        )
    return run


RUNNERS = ("inline", "threads", "processes", "pool")

if __name__ == "__main__":
    from algebra_toy import _fit as fit_it  # as a module, so that other processes find the model

    before = threads()
    run = fit_it(sys.argv[2])
    print(
        digest(run),
        int(run.draws["threads"].max()),
        int(run.results["threads"].values),
        threads()[:1] == before[:1],
    )
