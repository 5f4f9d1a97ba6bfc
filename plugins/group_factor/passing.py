"""Stages that go through the file of a view that stays there, or through the cells in its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from plaidwork.core.api import ModelData, Stage
from plaidwork.plugins.group_factor import blocks, updates
from plaidwork.plugins.group_factor.state import Fields

SLICE = 20_000_000
"""Cells of a slice of the first products."""


def fresh_products(state: Fields, data: ModelData, in_memory: Callable[[int, int], None]) -> list[Stage]:
    """The sums of products where factor values were set from outside; stages of no units where they were not.

    ``in_memory`` makes those of some features whose views are in memory.
    """
    n, d = state["z"].shape[1], len(state["lik"])
    inside = Stage(
        "products",
        in_memory,
        lambda: d if state["stale"] else 0,
        max(1, SLICE // n),
        end=None if blocks.staying(state) else partial(_fresh, state),
    )
    if not blocks.staying(state):
        return [inside]

    def work(lo: int, hi: int) -> None:
        blocks.sum_totals(state, blocks.part_of(state, data, lo, hi))

    begin = partial(blocks.begin_totals, state)
    size = lambda: n if state["stale"] else 0  # noqa: E731
    return [
        inside,
        Stage("products in the file", work, size, blocks.at_once(state), begin, partial(_fresh, state)),
    ]


def _fresh(state: Fields) -> None:
    state["stale"] = 0


def scores(state: Fields, data: ModelData) -> Stage | None:
    """q(z) of the samples and all that the next updates need of the file, in one pass; None where all views are in memory."""
    if not blocks.staying(state):
        return None

    def work(lo: int, hi: int) -> None:
        part = blocks.part_of(state, data, lo, hi)
        updates.update_scores(part, 0, hi - lo)
        blocks.put_back(state, part, lo, hi)
        blocks.sum_up(state, part)

    begin = partial(blocks.begin_pass, state)
    return Stage("scores", work, state["z"].shape[1], blocks.at_once(state), begin)
