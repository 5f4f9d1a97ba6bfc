"""Sweeps of blocks that have a profile over the columns, with noise by row and additive effects where these are asked for."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plaidwork.plugins.plaid import large_profiles
from plaidwork.plugins.plaid.effects import (
    draw_effects,
    effect_prior,
    effects_of,
    log_effects,
    share_level,
    simulate_effects,
    start_effects,
)
from plaidwork.plugins.plaid.fields import Constants, Floats, Integers, Layers, Replica, Settings
from plaidwork.plugins.plaid.kernels.profile_evidence import log_marginal_profiles
from plaidwork.plugins.plaid.kernels.profile_moves import run_profile_tasks
from plaidwork.plugins.plaid.kernels.profile_records import Plane, fill_plane, plane_from
from plaidwork.plugins.plaid.kernels.records import Cells, Law
from plaidwork.plugins.plaid.large import is_shared
from plaidwork.plugins.plaid.priors import Gamma
from plaidwork.plugins.plaid.rooms import ROOMS

ROW_FREEDOM = 4.0
"""Degrees of freedom of the noise when each row has its own: its weights are Gamma(2, 2), mean 1."""


class ProfilePriors(NamedTuple):
    """Priors of what only blocks with a profile have; all are precisions."""

    within: Gamma
    """of a profile around its shift"""
    effects: Gamma
    """of row and of column effects"""
    row_noise: bool
    """whether every row has its own noise"""
    additive: bool
    """whether rows and columns have additive effects"""


def profile_priors(params: Settings, constants: Constants) -> ProfilePriors | None:
    """The priors in the unit of the data; None when blocks are one shift."""
    if params["layer"] == "shift":
        return None
    square = constants["unit"] ** 2

    def precision(shape: float, rate: float) -> Gamma:
        return Gamma(shape, rate * square, True, 1.0)

    return ProfilePriors(
        precision(params["profile_shape"], params["profile_rate"]),
        effect_prior(params, constants),
        params["row_noise"],
        params["effects"],
    )


def start_layers(shape: tuple[int, int], n_blocks: int, priors: ProfilePriors) -> Layers:
    """The unknowns before the first draw: profiles are drawn before they are used."""
    return {
        "profiles": np.zeros((n_blocks, shape[1])),
        "tau_b": priors.within.shape / priors.within.rate,
        "row_weights": np.ones(shape[0]),
        **start_effects(shape, priors.effects),
    }


def plane_of(replica: Replica, layers: Layers, cells: Cells, power: float) -> Plane:
    """The data as the kernels take them. O(N1 N2), one array of the size of the data, which the next plane takes over."""
    t = replica["tau0"] * power * layers["row_weights"]
    effects = layers["row_effects"], layers["column_effects"]
    fill = large_profiles.fill_plane if is_shared(cells) else fill_plane
    y = ROOMS.of("y", cells.x.shape)
    return plane_from(cells.x, cells.w, cells.centre, *effects, t, 1.0 / layers["tau_b"], y, fill)


def run_profile_stretch(
    replica: Replica,
    layers: Layers,
    cells: Cells,
    law: Law,
    priors: ProfilePriors,
    power: float,
    prior_share: float,
    rng: np.random.Generator,
    order: Integers,
    codes: Integers,
    draw: bool,
) -> Integers:
    """The tasks of one slice, in place; how often the move of each code was accepted."""
    plane = plane_of(replica, layers, cells, power)
    run = large_profiles.run_profile_tasks if is_shared(cells) else run_profile_tasks
    rows, columns, theta, profiles, phi, residual, accepted = run(
        rng,
        plane,
        replica["rows"],
        replica["columns"],
        replica["theta"],
        layers["profiles"],
        replica["phi"] - cells.centre,
        order,
        codes,
        law,
        prior_share,
        cells.full,
        draw,
        ROOMS.of("residual", cells.x.shape),
    )
    replica["rows"], replica["columns"] = rows, columns
    if draw:
        replica["theta"], layers["profiles"], replica["phi"] = theta, profiles, phi + cells.centre
        draw_layer_scalars(replica, layers, cells, residual, law, priors, power, rng)
        ROOMS.clear()
    found: Integers = accepted
    return found


def draw_layer_scalars(
    replica: Replica,
    layers: Layers,
    cells: Cells,
    residual: Floats,
    law: Law,
    priors: ProfilePriors,
    power: float,
    rng: np.random.Generator,
) -> None:
    """Effects, noise weights of the rows and the spread of the profiles, in place; ``residual`` (N1, N2) is written to."""
    inside = replica["columns"]
    gaps = ((layers["profiles"] - replica["theta"][:, None])[inside] ** 2).sum()
    layers["tau_b"] = priors.within.draw(rng, 0.5 * inside.sum(), 0.5 * float(gaps))
    if priors.additive:
        t = replica["tau0"] * power * layers["row_weights"]
        draw_effects(layers, cells.w, residual, t, priors.effects, rng)
        share_level(replica, layers, law.phi_mean + cells.centre, law.phi_precision, rng)
    squares = (residual**2).sum(axis=1)
    if priors.row_noise:
        counts = cells.w.sum(axis=1)
        shape = 0.5 * (ROW_FREEDOM + power * counts)
        rate = 0.5 * (ROW_FREEDOM + power * replica["tau0"] * squares)
        layers["row_weights"] = np.maximum(rng.standard_gamma(shape) / rate, 1e-300)
    replica["squares"] = float(layers["row_weights"] @ squares)


def log_noise(replica: Replica, layers: Layers, cells: Cells) -> float:
    """Log of the norming constants of the noise of all observed cells."""
    total = 0.5 * cells.n_observed * math.log(replica["tau0"] / (2 * math.pi))
    return total + 0.5 * float(cells.w.sum(axis=1) @ np.log(layers["row_weights"]))


def log_layers(replica: Replica, layers: Layers, cells: Cells, law: Law, priors: ProfilePriors) -> float:
    """Log density of the data with background, shifts and profiles integrated out, and of what only layers have."""
    plane = plane_of(replica, layers, cells, 1.0)
    total = log_noise(replica, layers, cells) - 0.5 * float(plane.t @ (plane.y**2).sum(axis=1))
    total += log_marginal_profiles(plane, replica["rows"], replica["columns"], law, cells.full)
    total += priors.within.log_density(layers["tau_b"])
    if priors.row_noise:
        half = 0.5 * ROW_FREEDOM
        weights = layers["row_weights"]
        total += weights.size * (half * math.log(half) - math.lgamma(half))
        total += float(((half - 1.0) * np.log(weights) - half * weights).sum())
    if priors.additive:
        total += log_effects(layers, priors.effects)
    return total


def draw_layers(
    rng: np.random.Generator, replica: Replica, shape: tuple[int, int], priors: ProfilePriors
) -> Layers:
    """Everything that only layers have, from the prior, given memberships and shifts."""
    layers = start_layers(shape, len(replica["rows"]), priors)
    layers["tau_b"] = priors.within.draw(rng)
    noise = rng.standard_normal(layers["profiles"].shape) / math.sqrt(layers["tau_b"])
    layers["profiles"] = np.where(replica["columns"], replica["theta"][:, None] + noise, 0.0)
    if priors.row_noise:
        layers["row_weights"] = rng.standard_gamma(0.5 * ROW_FREEDOM, shape[0]) / (0.5 * ROW_FREEDOM)
    if priors.additive:
        layers.update(simulate_effects(rng, shape, priors.effects))
    return layers


def drawn_layers(replica: Replica, shape: tuple[int, int], params: Settings) -> dict[str, Floats]:
    """The variables of a draw that only some fits have; without entries along their first axis when they are not asked for."""
    rows, columns = shape
    found = {
        "profile": np.empty((0, columns)),
        "row_weight": np.empty((0, rows)),
        "row_effect": np.empty((0, rows)),
        "column_effect": np.empty((0, columns)),
        "freedom": np.array([replica["freedom"]] if "freedom" in replica else []),
    }
    if "layers" in replica:
        found["profile"] = replica["layers"]["profiles"].copy()
        if params["row_noise"]:
            found["row_weight"] = replica["layers"]["row_weights"][None].copy()
    effects = effects_of(replica)
    if effects is not None and (params["effects"] or "effects" in replica):
        found["row_effect"] = effects["row_effects"][None].copy()
        found["column_effect"] = effects["column_effects"][None].copy()
    return found
