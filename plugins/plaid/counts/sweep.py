"""The parts of a sweep over counts or links: tasks of each copy, its levels and hyper-parameters, its log joint."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import gammaln

from plaidwork.core.api import Clock, Stage
from plaidwork.plugins.plaid.counts import large
from plaidwork.plugins.plaid.counts.fields import CountCopy, CountFields, CountMove, CountSettings
from plaidwork.plugins.plaid.fields import Floats
from plaidwork.plugins.plaid.kernels.corrected_tasks import (
    draw_corrected,
    log_likelihood_corrected,
    run_corrected_tasks,
)
from plaidwork.plugins.plaid.kernels.counts_draw import draw_levels, log_likelihood
from plaidwork.plugins.plaid.kernels.counts_records import CountLaw, Entries
from plaidwork.plugins.plaid.kernels.counts_tasks import run_count_tasks
from plaidwork.plugins.plaid.priors import Gamma, draw_mass, log_infinite

LEAST_SHAPE = 1.0
"""Degrees vary by a standard deviation of 1 at most: with less held back they take in whole blocks, and a block that covers
everything takes their place."""
FIRST_SHAPE = 4.0
"""The same at the first sweep; it falls to the other over the part of the warm-up that the copies share, so that blocks are
found before the degrees could take them in."""
SLICE_ENTRIES = 400_000
"""Entries and items passed over in one slice: about 30 ms, as a task makes some ten passes."""

MOVES: tuple[CountMove, ...] = (
    "birth_death",
    "one_to_two",
    "level_births",
    "level_scans",
    "seeded",
    "small_births",
)
"""The moves of ``run_count_tasks`` and of ``run_corrected_tasks``; a move's code is its place here."""
MADE: dict[bool, tuple[CountMove, ...]] = {
    False: MOVES[:5],
    True: ("birth_death", "one_to_two", "seeded", "small_births"),
}
"""Those that are made of blocks that add by level, and of others."""


@dataclass(frozen=True)
class CountSetting:
    """What the tasks of a sweep share: the data, priors and the moves to make."""

    entries: Entries
    mass: Gamma
    rate: Gamma
    shape: tuple[float, float, float]
    level: tuple[float, float]
    degrees: tuple[bool, bool]
    harmonics: float
    max_blocks: int
    prior_share: float
    moves: tuple[CountMove, ...]
    copies: int
    block_shape: float
    """Shape of the Gamma prior of what blocks add."""
    by_level: bool
    """Whether blocks add in proportion to the levels of rows and columns."""

    def law(self, copy: CountCopy) -> CountLaw:
        """The numbers of a copy's moves."""
        return CountLaw(copy["alpha"], self.block_shape, copy["rate"], self.max_blocks, self.prior_share)


def warming(params: CountSettings, clock: Clock) -> bool:
    """Whether the chain is in the part of the warm-up in which copies are on their way."""
    return clock.sweep < params["warm_share"] * clock.warmup


def background(copy: CountCopy) -> tuple[float, Floats, Floats, float, float]:
    """The background as the kernels take it."""
    return (
        float(copy["level"]),
        copy["row_degrees"],
        copy["column_degrees"],
        float(copy["row_shape"]),
        float(copy["column_shape"]),
    )


def least_shape(params: CountSettings, clock: Clock) -> float:
    """Lower end of the degrees' shape."""
    if not warming(params, clock):
        return LEAST_SHAPE
    done = clock.sweep / (params["warm_share"] * clock.warmup)
    return max(LEAST_SHAPE, FIRST_SHAPE * (1.0 - done))


def draw_copy(copy: CountCopy, setting: CountSetting, rng: np.random.Generator) -> None:
    """Levels, degrees and hyper-parameters given the memberships; in place."""
    draw = large.draw_levels if large.is_shared(setting.entries) else draw_levels
    if setting.by_level:
        draw = draw_corrected
    copy["theta"], found = draw(
        rng,
        setting.entries,
        copy["rows"],
        copy["columns"],
        copy["theta"],
        background(copy),
        setting.law(copy),
        setting.shape,
        setting.level,
        setting.degrees,
    )
    (
        copy["level"],
        copy["row_degrees"],
        copy["column_degrees"],
        copy["row_shape"],
        copy["column_shape"],
    ) = found
    theta = copy["theta"]
    copy["alpha"] = draw_mass(
        rng, copy["alpha"], theta.size, setting.harmonics, setting.mass, setting.max_blocks
    )
    copy["rate"] = setting.rate.draw(rng, setting.block_shape * theta.size, float(theta.sum()))


def log_likelihood_of(copy: CountCopy, setting: CountSetting) -> float:
    """Log probability of the observed cells at a copy's unknowns (factorials of counts left out)."""
    level, u, v, *_ = background(copy)
    log_of = large.log_likelihood if large.is_shared(setting.entries) else log_likelihood
    if setting.by_level:
        log_of = log_likelihood_corrected
    found: float = log_of(setting.entries, copy["rows"], copy["columns"], copy["theta"], level, u, v)
    return found


def log_joint(copy: CountCopy, setting: CountSetting) -> float:
    """Log joint density of the data and all unknowns of a copy (factorials of counts left out).

    That of level and degrees is of their logarithms: on their own scale it has no upper end where degrees are near 0.
    """
    level, u, v, *shapes = background(copy)
    theta, rate = copy["theta"], copy["rate"]
    total = log_likelihood_of(copy, setting)
    total += log_infinite(copy["rows"], copy["columns"], copy["alpha"], setting.harmonics, setting.max_blocks)
    shape = setting.block_shape
    total += theta.size * (shape * math.log(rate) - math.lgamma(shape))
    total += (shape - 1.0) * float(np.log(theta).sum()) - rate * float(theta.sum())
    total += setting.mass.log_density(copy["alpha"]) + setting.rate.log_density(rate)
    total += Gamma(*setting.level, True, 1.0).log_density(level) + math.log(level)
    for degrees, shape, used in zip((u, v), shapes, setting.degrees, strict=True):
        if used:
            total += degrees.size * (shape * math.log(shape) - float(gammaln(shape)))
            total += float((shape * np.log(degrees) - shape * degrees).sum())
            total += Gamma(*setting.shape[:2], True, 1.0).log_density(shape)
    return float(total)


def copy_stage(
    number: int,
    state: CountFields,
    setting: CountSetting,
    rng: np.random.Generator,
    first: Callable[[], None] = lambda: None,
) -> Stage:
    """The tasks of one copy: ``first``, scans of its blocks in random order, the moves, the draw of levels."""

    def begin() -> None:
        first()
        state["order"] = rng.permutation(len(state["copies"][str(number)]["rows"]))

    entries = setting.entries
    size = entries.values.size + entries.by_rows.start.size + entries.by_columns.start.size
    return Stage(
        f"blocks of copy {number + 1}",
        lambda lo, hi: _run_tasks(number, state, setting, rng, lo, hi),
        lambda: len(state["order"]) + len(setting.moves) + 1,
        max(1, SLICE_ENTRIES // size),
        begin,
    )


def _run_tasks(
    number: int, state: CountFields, setting: CountSetting, rng: np.random.Generator, start: int, stop: int
) -> None:
    """Tasks ``start`` to ``stop`` of a copy; acceptances are counted for the chain that is kept."""
    copy, order = state["copies"][str(number)], state["order"]
    n_scans = len(order)
    names = setting.moves[max(start - n_scans, 0) : max(stop - n_scans, 0)]
    run = large.run_count_tasks if large.is_shared(setting.entries) else run_count_tasks
    if setting.by_level:
        run = run_corrected_tasks
    rows, columns, theta, u, v, accepted = run(
        rng,
        setting.entries,
        copy["rows"],
        copy["columns"],
        copy["theta"],
        background(copy),
        setting.degrees,
        order[start:stop],
        np.array([MOVES.index(name) for name in names], np.int64),
        setting.law(copy),
    )
    copy["rows"], copy["columns"], copy["theta"] = rows, columns, theta
    copy["row_degrees"], copy["column_degrees"] = u, v
    if number == 0:
        for name, times in zip(MOVES, accepted, strict=False):  # of blocks that add alike the first five
            state["accepted"][name] = state["accepted"].get(name, 0) + int(
                times
            )  # an older state may not know it
    if stop > n_scans + len(setting.moves):
        draw_copy(copy, setting, rng)


def new_copy(
    rows: np.ndarray, columns: np.ndarray, theta: Floats, level: float, alpha: float, rate: float
) -> CountCopy:
    """Unknowns with all degrees at 1."""
    return {
        "rows": np.ascontiguousarray(rows, bool),
        "columns": np.ascontiguousarray(columns, bool),
        "theta": cast("Floats", np.asarray(theta, float)),
        "level": float(level),
        "row_degrees": np.ones(rows.shape[1]),
        "column_degrees": np.ones(columns.shape[1]),
        "row_shape": 1.0,
        "column_shape": 1.0,
        "alpha": float(alpha),
        "rate": float(rate),
    }
