"""Passes in which the words of the topics follow after every batch of documents, with decreasing steps (Hoffman, Blei, Wang & Paisley 2013).

What the other factors need of the documents are sums over them. A step finds q(z) of a batch, takes its sums times all documents over
those of the batch for the sums of all, moves what was there a part of the way to them, and updates what follows. A pass meets every
document once and keeps the exact sums beside these, so that it ends as a sweep does, with the bound of the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from plaidwork.core.api import POSITION, Stage, State
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.moments import Parts, add_slice, read_documents, read_slice
from plaidwork.plugins.supervised_ibp.state import KEPT, Fields, Settings, Steps

BATCHES = "batches"
"""Stage of the steps."""


def now(state: Fields, sweep: int, params: Settings) -> bool:
    """Whether this sweep is a pass of stochastic steps: not one of data small enough for moves, whose trials are swept exactly."""
    plain = not (params["texteffect"] or "moves" in state)
    return plain and params["steps"] == "stochastic" and sweep < params["stochastic_passes"]


def may_stop(sweeps: int, params: Settings) -> bool:
    """Whether the last of so many sweeps was an exact one."""
    return params["steps"] == "exact" or sweeps > params["stochastic_passes"]


def n_batches(n: int, params: Settings) -> int:
    """Batches of a pass over so many documents."""
    return -(-n // params["batch_documents"])


def step_size(taken: int, count: int, decay: float) -> float:
    """Of a step after ``taken`` others, where ``count`` make a pass."""
    return float((count + taken) ** -decay)


def stage(
    state: Fields,
    corpus: Corpus,
    params: Settings,
    sweep: int,
    rng: np.random.Generator,
    follow: Callable[[], object],
) -> Stage:
    """The batches of a pass, in an order of their own; ``follow`` updates all that follows from the sums of the state."""
    n, size = len(corpus.y), params["batch_documents"]
    count = n_batches(n, params)

    def begin() -> None:
        state["tally"][...] = 0.0
        state["steps"] = {
            "order": rng.permutation(count), "kept": {name: state[name].copy() for name in KEPT},
        }  # fmt: skip

    def work(lo: int, hi: int) -> None:
        for at in range(lo, hi):
            first = int(state["steps"]["order"][at]) * size
            rate = step_size(sweep * count + at, count, params["step_decay"])
            step(state, corpus, params, first, min(n, first + size), rate)
            if at + 1 < count:  # after the last the exact sums are known
                _follow(state, follow)

    def end() -> None:
        del state["steps"]

    return Stage(BATCHES, work, count, 1, begin, end)


def step(state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int, rate: float) -> None:
    """q(z) of documents lo..hi-1, and the sums of the steps a part of the way to theirs; the exact sums stay exact."""
    add_slice(state, read_slice(state, corpus, params, lo, hi))
    times = len(corpus.y) / (hi - lo)
    for name, found in _sums_of(state, corpus, params, lo, hi).items():
        if name in KEPT:
            kept = state["steps"]["kept"][name]
            kept += rate * (times * found - kept)


def _sums_of(state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int) -> Parts:
    found = cast("Fields", {**state, **{name: np.zeros_like(state[name]) for name in (*KEPT, "tally")}})
    read_documents(found, corpus, params, lo, hi, False)
    return {name: found[name] for name in KEPT}


def _follow(state: Fields, follow: Callable[[], object]) -> None:
    """All that follows, from the sums of the steps."""
    exact = {name: state[name] for name in KEPT}
    try:
        state.update(cast("Fields", state["steps"]["kept"]))
        follow()
    finally:
        state.update(cast("Fields", exact))


def contradiction_of(state: State, corpus: Corpus, params: Settings) -> str:
    """Whether steps under way are those of the batches there are, as a part of a sentence; empty when they are."""
    position, steps = state.get(POSITION, {}), cast("Steps | None", state.get("steps"))
    if steps is None:
        under_way = position.get("stage") == BATCHES and position.get("at")
        return "the sums of its stochastic steps are missing" if under_way else ""
    count = n_batches(len(corpus.y), params)
    if not np.array_equal(np.sort(steps["order"]), np.arange(count)):
        return f"the order of its batches is none of 0 to {count - 1}"
    return ""
