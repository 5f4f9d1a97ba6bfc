"""Parallel tempering: copies of a chain with the density of the data given the partition to a power, which change places.

    p(z) m(X | z, base)^b p(base) p(concentration)        b = 1 for the chain itself, less for its copies, down to the least

Neighbours swap all they have with the probability ``min(1, exp((b_1 - b_2) (L_2 - L_1)))``, L the log evidence of the data. A copy moves
labels, concentration and discount; the laws by which the base is drawn are those of the whole density, so that copies get another base by
swaps alone. Powers are spaced geometrically, and anew in the warm-up (``plaidwork.core.api_tempering``).

A chain without copies may be annealed in its warm-up instead: b rises to 1, and the base is not drawn until it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from plaidwork.core.api import Clock, Stage
from plaidwork.core.api_tempering import adapt, begin_counting, exchange, new_swaps
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import Copy, State, Table
from plaidwork.plugins.dirichlet_processes.stored import FIRST, OF_COPY, SWAPS
from plaidwork.plugins.dirichlet_processes.sweep import AT_ONCE, SLICE, Updates, slice_of_labels, work_of_row

PARTS = tuple(Copy.__annotations__)
"""What a copy has, and hands over in a swap."""


FIRST_POWER = 0.1
"""Of the first sweep of an annealed warm-up."""


def powers_of(params: Settings) -> np.ndarray:
    """(M,) from 1 down to the least."""
    return np.geomspace(1.0, params["least_power"], params["rungs"])


def annealed_power(params: Settings, clock: Clock) -> float:
    """Power of the density of the data in this sweep of a chain without copies: rises geometrically in the first part of the warm-up."""
    sweeps = params["anneal"] * clock.warmup
    return FIRST_POWER ** (1.0 - clock.sweep / sweeps) if clock.sweep < sweeps else 1.0


def with_copies(state: State, params: Settings, others: Sequence[State]) -> State:
    """The state of a tempered chain: its own, and those of copies, one for each further power."""
    return {
        **state,
        "copies": {str(number): _part(other) for number, other in enumerate(others, 1)},
        "powers": powers_of(params),
        "swaps": new_swaps(params["rungs"]),
    }


def _part(state: State) -> Copy:
    return {name: state[name] for name in PARTS}  # type: ignore[return-value, literal-required]


def stages_of_copies(
    state: State, table: Table, params: Settings, rng: np.random.Generator, clock: Clock
) -> list[Stage]:
    """Sweeps of all copies, then the swaps."""
    found = []
    for number in range(1, len(state["powers"])):
        one = Updates(state["copies"][str(number)], table, params, rng, float(state["powers"][number]))
        found += copy_stages(one, f"{OF_COPY}{number}")
    return [*found, Stage(SWAPS, partial(_swap, state, rng, clock), slice=AT_ONCE)]


def copy_stages(one: Updates, of: str = "") -> list[Stage]:
    """The sweep of a chain or of a copy."""
    n, unit, params = len(one.state["labels"]), work_of_row(one.table), one.params
    move = 2 * (params["scans"] + 3) * n * unit
    return [  # clusters are numbered and summed up at the end: no traces before
        Stage(
            f"{FIRST}{of}", one.count, n, 1 + SLICE // (3 * unit), begin=one.begin, end=one.end, whole=False
        ),
        Stage(f"labels{of}", one.draw_labels, n, slice_of_labels(one.state, unit), whole=False),
        Stage(
            f"splits and merges{of}",
            one.make_moves,
            params["moves"] + params["cluster_moves"] if n > 1 else 0,
            1 + SLICE // move,
            whole=False,
        ),
        Stage(f"concentration and base{of}", one.finish, slice=AT_ONCE),
    ]


def _swap(state: State, rng: np.random.Generator, clock: Clock, lo: int, hi: int) -> None:
    """Let neighbours change places; in the warm-up space the powers anew."""
    powers, swaps = state["powers"], state["swaps"]
    begin_counting(swaps, clock.sweep, clock.warmup)
    copies = [_part(state), *(state["copies"][str(number)] for number in range(1, len(powers)))]
    order = exchange(
        rng, len(powers), lambda copy, rung: float(powers[rung]) * copies[copy]["log_evidence"], swaps
    )
    state.update(copies[order[0]])
    for rung, source in enumerate(order[1:], 1):
        state["copies"][str(rung)] = copies[source]
    adapt(powers, swaps, clock.sweep, clock.warmup)


def swap_rate(state: State) -> float:
    """Share of the swaps between the chain and its first copy that were taken; NaN without copies."""
    if "swaps" not in state or not state["swaps"]["tried"][0]:
        return float("nan")
    return float(state["swaps"]["taken"][0] / state["swaps"]["tried"][0])
