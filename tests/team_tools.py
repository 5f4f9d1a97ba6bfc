"""Sweeps that threads share: chains begun, cut short and gone on with by teams of different sizes, compared bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plaidwork.core.api import POSITION, Clock, Model
from plaidwork.core.checks._bench import same_arrays
from plaidwork.core.contract.model import State
from plaidwork.core.contract.stages import advance
from plaidwork.core.draws.chain import copy_state, rng_from_state, rng_state
from plaidwork.core.inference.team import ProcessTeam

Swept = tuple[State, np.random.Generator]
Sweeps = Callable[..., Swept]
"""What sweeps with a team, by words also ``calls``, ``state`` and ``rng`` as :func:`swept` has them."""


def swept(
    model: Model, data: Any, params: Any, team: ProcessTeam, sweeps: int, warmup: int, rng: np.random.Generator,
    calls: int = 10**9, state: State | None = None,
) -> Swept:  # fmt: skip
    """(state, generator) after so many sweeps, or calls of ``advance``, shared by a team."""
    state = model.init(data, params, rng) if state is None else state
    with team.chain():
        for number in range(sweeps):
            while not advance(model, state, data, params, rng, Clock(number, warmup)):
                calls -= 1
                if not calls:
                    return state, rng
    return state, rng


def equal(one: Any, other: Any, where: str = "") -> None:
    """States, or parts of them, are equal bit for bit, NaN included."""
    if not isinstance(one, dict):
        assert same_arrays(one, other), where
        return
    assert one.keys() == other.keys(), where
    for name in one:
        equal(one[name], other[name], f"{where}.{name}")


def are_those_of_one_thread(sweeps: Sweeps) -> None:
    """State and generator after sweeps by 2, 3 and 16 threads, against those of one."""
    one, rng = sweeps(ProcessTeam(1))
    for threads in (2, 3, 16):
        other, its = sweeps(ProcessTeam(threads))
        equal(one, other)
        assert rng_state(rng) == rng_state(its)


def goes_on_from_every_place(sweeps: Sweeps) -> list[str]:
    """Cut short after each call and gone on with by other threads, from one to three and from two to one; the stage of every place."""
    whole, rng = sweeps(ProcessTeam(1))
    stages = []
    for calls in range(1, 200):
        state, its = sweeps(ProcessTeam(1 + calls % 2), calls=calls)
        if POSITION not in state:
            break
        stages.append(state[POSITION]["stage"])
        other = ProcessTeam(1 if calls % 2 else 3)
        state, its = sweeps(other, state=copy_state(state), rng=rng_from_state(rng_state(its)))
        equal(whole, state)
        assert rng_state(rng) == rng_state(its)
    return stages
