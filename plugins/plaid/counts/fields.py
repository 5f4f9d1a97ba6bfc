"""What is in the states and settings of the model of counts and links, by name: types only."""

from __future__ import annotations

from typing import Literal, TypedDict

from plaidwork.plugins.plaid.fields import Flags, Floats, HeldOut, Integers

CountMove = Literal["birth_death", "one_to_two", "level_births", "level_scans", "seeded", "small_births"]


class CountSettings(TypedDict):
    """See ``settings.py``."""

    likelihood: Literal["auto", "poisson", "bernoulli"]
    expected_blocks: float
    max_blocks: int
    row_degrees: bool
    column_degrees: bool
    blocks_add: Literal["auto", "by_level", "alike"]
    degree_shape: float
    degree_rate: float
    learn_block_rate: bool
    block_rate: float
    block_shape: float
    block_rate_shape: float
    background_shape: float
    background_rate: float
    learn_mass: bool
    mass_shape: float
    mass_value: float
    start: Literal["empty", "prior", "given"]
    start_blocks: int
    birth_death: int
    one_to_two: int
    level_births: int
    level_scans: int
    seeded: int
    small_births: int
    prior_share: float
    warm_starts: int
    warm_share: float


class CountCopy(TypedDict):
    """One copy of all unknowns."""

    rows: Flags
    """(K, N1) memberships"""
    columns: Flags
    """(K, N2) memberships"""
    theta: Floats
    """(K,) what a block adds to the rate of its cells"""
    level: float
    """Rate of the background where both degrees are 1."""
    row_degrees: Floats
    """(N1,) 1 unless asked for"""
    column_degrees: Floats
    """(N2,) 1 unless asked for"""
    row_shape: float
    column_shape: float
    """Degrees are Gamma(shape, shape)."""
    alpha: float
    """Mass of the two-way Indian buffet process."""
    rate: float
    """Rate of the Gamma prior of ``theta``."""


class CountFields(TypedDict):
    """The state of a chain. Copy "0" is the one that is kept."""

    copies: dict[str, CountCopy]
    warm: bool
    """Whether the last sweep had several copies."""
    order: Integers
    """(K,) order in which the blocks of this sweep are scanned"""
    accepted: dict[CountMove, int]
    """Moves of the kept chain accepted in this sweep."""
    held_out: HeldOut
