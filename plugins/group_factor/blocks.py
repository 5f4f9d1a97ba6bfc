"""Views that stay in their file: all that a fit needs of their cells, a block of samples at a time.

A block is a state of its own for some samples: the same functions work on it, and what they sum up goes into the arrays of the
whole state. The blocks begin at multiples of ``SAMPLES``, so that the sums are those of data in memory, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from plaidwork.core.api import Block, ModelData
from plaidwork.plugins.group_factor import products
from plaidwork.plugins.group_factor.cells import View, parts_of, view_of, views_of
from plaidwork.plugins.group_factor.products_level import (
    add_errors,
    add_products,
    add_spread,
    by_group,
    fill_centred_block,
)
from plaidwork.plugins.group_factor.reading import NONE, rows_of, samples_at_once
from plaidwork.plugins.group_factor.state import Cells, Fields, Predictor


def staying(state: Predictor) -> list[View]:
    """The views that stay in their file."""
    return [view for view in views_of(state) if view.stays]


def at_once(state: Predictor) -> int:
    """Samples of a block."""
    return samples_at_once(sum(view.size for view in staying(state)))


def parts(state: Fields, data: ModelData) -> Iterator[tuple[int, int, Fields]]:
    """All samples in blocks: which, and the state of these."""
    n, step = state["z"].shape[1], at_once(state)
    for lo in range(0, n, step):
        yield lo, min(n, lo + step), part_of(state, data, lo, min(n, lo + step))


def part_of(state: Fields, data: ModelData, lo: int, hi: int) -> Fields:
    """The state of samples lo..hi-1: theirs are copies, all else is that of the whole state."""
    part = cast("dict[str, Any]", state.copy())
    for name in ("z", "v", "zz"):
        part[name] = np.ascontiguousarray(part[name][:, lo:hi])
    part["group"] = group = state["group"][lo:hi]
    blocks: tuple[Block, ...] = tuple(data["views"])
    cells: dict[str, Cells] = {}
    for place, arrays in state["cells"].items():
        if "shift" not in arrays:
            own = {
                name: np.ascontiguousarray(array[:, lo:hi])
                for name, array in cast("dict[str, np.ndarray]", arrays).items()
            }
            cells[place] = cast(Cells, own)
            continue
        y = np.empty((len(arrays["columns"]), hi - lo), state["float"].dtype)
        rows, _ = rows_of(blocks[int(place)], lo, hi)
        unit = np.ascontiguousarray(
            np.broadcast_to(arrays["unit"], len(y))
        )  # earlier states have one for all
        fill_centred_block(rows, arrays["columns"], NONE, group, arrays["shift"], unit, 0, y)
        cells[place] = {"y": y}
    part["cells"] = cells
    return cast(Fields, part)


def put_back(state: Fields, part: Fields, lo: int, hi: int) -> None:
    """What was found of the factor values of samples lo..hi-1."""
    for name in ("z", "v", "zz"):
        state[name][:, lo:hi] = part[name]


# -- sums of level Gaussian views, of the whole state or of a block of it ----------------------------


def add_level_errors(state: Fields, view: View, lo: int, hi: int) -> None:
    """Add squared errors of <x> of features lo..hi-1 to ``state["squares"]``."""
    z = products.padded(state["z"], dtype=np.dtype(np.float32 if state["single"] else np.float64))
    add_errors(lo, hi, view.first, view.arrays["y"], state["group"], z, state["w"], state["squares"])


def add_level_spread(state: Fields, lo: int, hi: int) -> None:
    """Add the variance of <x> of features lo..hi-1, summed over samples, to ``state["squares"]``."""
    n_groups = len(state["scale"])
    here = [slice(None) if n_groups == 1 else state["group"] == g for g in range(n_groups)]
    second, variance = (np.array([state[name][:, mine].sum(axis=1) for mine in here]) for name in ("zz", "v"))
    add_spread(lo, hi, second, variance, state["w"], state["ww"], state["squares"])


def add_level_products(state: Fields, view: View, lo: int, hi: int) -> None:
    """Add the sums of y z of features lo..hi-1 to ``state["cross"]``."""
    rows = by_group(state["z"], state["group"], len(state["scale"]), state["float"].dtype)
    add_products(view.arrays["y"], lo - view.first, rows, state["cross"][:, :, lo:hi])


def add_level_total(state: Fields, view: View, lo: int, hi: int) -> None:
    """Add the sums of squares of features lo..hi-1 to ``state["total"]``."""
    nothing = np.zeros((8, len(state["group"])), np.float32)
    none = np.zeros((0, state["w"].shape[1]))
    add_errors(lo, hi, view.first, view.arrays["y"], state["group"], nothing, none, state["total"])


def update_products(state: Fields, lo: int, hi: int, totals: bool = False) -> None:
    """The sums of y <z> of those of features lo..hi-1 that are Gaussian, without gaps and in memory; those of y^2 too if wanted."""
    for view, below, above in parts_of(state, lo, hi):
        if not view.summed or view.stays:
            continue
        state["cross"][:, :, below:above] = 0.0
        add_level_products(state, view, below, above)
        if totals:
            state["total"][:, below:above] = 0.0
            add_level_total(state, view, below, above)


# -- a pass over the file ------------------------------------------------------------------------------


def begin_pass(state: Fields) -> None:
    """Before the first block of a pass: nothing is summed up yet."""
    for view in staying(state):
        state["squares"][:, view.features] = 0.0
        state["cross"][:, :, view.features] = 0.0


def begin_totals(state: Fields) -> None:
    """Before the first block of the first products."""
    if state["stale"]:
        begin_pass(state)
        for view in staying(state):
            state["total"][:, view.features] = 0.0


def sum_up(state: Fields, part: Fields) -> None:
    """What the next updates need of a block whose factor values are final: squared errors and products."""
    for view in staying(state):
        own = view_of(part, view.index)
        add_level_errors(part, own, view.first, view.first + view.size)
        add_level_products(part, own, view.first, view.first + view.size)


def sum_totals(state: Fields, part: Fields) -> None:
    """The same before the first sweep: products and sums of squares."""
    for view in staying(state):
        own = view_of(part, view.index)
        add_level_products(part, own, view.first, view.first + view.size)
        add_level_total(part, own, view.first, view.first + view.size)


def measure_errors(state: Fields, data: ModelData) -> None:
    """Squared errors of views that stay in their file, as q stands now, by a pass of their own."""
    views = staying(state)
    for view in views:
        state["squares"][:, view.features] = 0.0
    for _, _, part in parts(state, data) if views else ():
        for view in views:
            add_level_errors(part, view_of(part, view.index), view.first, view.first + view.size)
