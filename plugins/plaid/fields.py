"""What is in the states and settings of both models, by name: types only."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ScalarName = Literal["phi", "tau0", "alpha", "mu", "tau"]
"""Unknowns that are one number."""


class Settings(TypedDict):
    """The settings that both models have, see ``settings.py``."""

    scale: bool
    background_at: Literal["median", "mean", "value"]
    background_mean: float
    background_sd: float
    learn_noise: bool
    noise_shape: float
    noise_rate: float
    noise_sd_value: float
    learn_shift_mean: bool
    shift_mean: float
    shift_mean_variance: float
    learn_shift_spread: bool
    shift_shape: float
    shift_rate: float
    shift_sd_value: float
    layer: Literal["shift", "profile"]
    profile_shape: float
    profile_rate: float
    row_noise: bool
    effects: bool
    effects_if_needed: bool
    effect_shape: float
    effect_rate: float
    noise: Literal["normal", "if_needed", "t"]
    freedom_shape: float
    freedom_rate: float
    start: Literal["empty", "prior", "given"]
    exchanges: int
    recuts: int
    together: int
    anneal: bool
    anneal_start: float
    anneal_share: float
    warm_starts: int
    recombine: int
    replicas: int
    warmest: float


class InfiniteSettings(Settings):
    """Those of the infinite model."""

    expected_blocks: float
    max_blocks: int
    start_blocks: int
    learn_mass: bool
    mass_shape: float
    mass_value: float
    moves: Literal["full", "row_wise"]
    birth_death: int
    seeded: int
    split_merge: int
    prior_share: float


class FixedSettings(Settings):
    """Those of the model with a given number of blocks."""

    blocks: int
    row_a: float
    row_b: float
    column_a: float
    column_b: float


class Constants(TypedDict):
    """What every sweep needs to know of the data, measured once per chain."""

    full: bool
    """Whether every cell is observed."""
    centre: float
    """Median of the observed cells; sums are taken from it."""
    n_observed: float
    total: float
    """Sum over the observed cells, from the centre."""
    sum_squares: float
    unit: float
    """Unit of the priors: standard deviation of the data, or 1."""
    background: float
    """Prior mean of the background, in the unit of the data."""
    harmonics: float
    """``H_N1 H_N2``."""


class Scalars(TypedDict):
    """The unknowns that are one number, in the unit of the data."""

    phi: float
    tau0: float
    alpha: float
    mu: float
    tau: float


class Effects(TypedDict):
    """Levels of whole rows and columns."""

    row_effects: Floats
    """(N1,) 0 unless asked for"""
    column_effects: Floats
    """(N2,) 0 unless asked for"""
    tau_r: float
    tau_c: float
    """Precisions of the effects."""


class Layers(Effects):
    """What only blocks with a profile over the columns have."""

    profiles: Floats
    """(K, N2) value of each block in each column, 0 outside the block"""
    tau_b: float
    """Precision of a profile around its shift."""
    row_weights: Floats
    """(N1,) the noise of row i has precision ``tau0 * row_weights[i]``; 1 unless rows differ"""


class Levels(Scalars):
    """What a cell's expected value follows from."""

    rows: Flags
    """(K, N1) memberships"""
    columns: Flags
    """(K, N2) memberships"""
    theta: Floats
    """(K,) shifts"""
    layers: NotRequired[Layers]
    """There when blocks have a profile."""
    effects: NotRequired[Effects]
    """There when blocks of one shift are asked for beside effects."""
    freedom: NotRequired[float]
    """Degrees of freedom of the noise; there when it has heavy tails."""


class Replica(Levels):
    """One copy of all unknowns, with the statistics of its blocks."""

    counts: Floats
    """(K+1, K+1) observed cells shared by blocks, the background first"""
    sums: Floats
    """(K+1,) sums of the data over blocks, from the centre"""
    squares: float
    """Sum of squared residuals, times the weights where there are some, at the last joint draw."""
    weights: NotRequired[Floats]
    """(N1, N2) weights of the precision of each cell, 0 where not observed; there within a sweep of noise with heavy tails."""


class HeldOut(TypedDict):
    """The held-out cells and the average predictive density so far."""

    rows: Integers
    """(n,) places"""
    columns: Integers
    """(n,) places"""
    log_density: Floats
    """(n,) log of the sum of the densities of all draws so far"""
    draws: int


MoveName = Literal["birth_death", "seeded", "split_merge", "exchange", "recut", "row_wise"]


class Fields(TypedDict):
    """The state of a chain. Replica "0" is the one that is kept."""

    constants: Constants
    replicas: dict[str, Replica]
    warm: bool
    """Whether the last sweep belonged to the annealing."""
    swapped: float
    """Share of the exchanges between replicas accepted in the last sweep."""
    order: Integers
    """(K,) order in which the blocks of this sweep are scanned"""
    accepted: dict[MoveName, int]
    """Moves of the kept chain accepted in this sweep."""
    held_out: HeldOut
    parents: NotRequired[dict[str, Replica]]
    """What the copies of this round of the warm-up came from, by number; there from its first round on."""
