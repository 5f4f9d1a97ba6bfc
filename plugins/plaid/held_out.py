"""The average predictive density of the held-out cells."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaidwork.core.api import Block, ModelData
from plaidwork.plugins.plaid.fields import Fields, Floats, HeldOut, Layers, Replica
from plaidwork.plugins.plaid.tails import log_t


def no_draws_yet(block: Block) -> HeldOut:
    """The record before the first draw."""
    held = np.nonzero(block.held_out) if block.held_out is not None else (np.empty(0, int), np.empty(0, int))
    return {
        "rows": held[0].astype(np.int64),
        "columns": held[1].astype(np.int64),
        "log_density": np.full(len(held[0]), -np.inf),
        "draws": 0,
    }


def _log_density(state: Fields, data: ModelData) -> Floats:
    """Log predictive density of each held-out cell at this sweep."""
    held, cold = state["held_out"], state["replicas"]["0"]
    truth = data["X"].truth[held["rows"], held["columns"]]
    if "layers" in cold:
        return _log_density_of_layers(cold, cold["layers"], held, truth)
    inside = cold["rows"][:, held["rows"]] & cold["columns"][:, held["columns"]]
    residual: Floats = truth - cold["phi"] - cold["theta"] @ inside
    if "effects" in cold:
        effects = cold["effects"]
        residual -= effects["row_effects"][held["rows"]] + effects["column_effects"][held["columns"]]
    if "freedom" in cold:
        return log_t(residual, cold["tau0"], cold["freedom"])
    return 0.5 * math.log(cold["tau0"] / (2 * math.pi)) - 0.5 * cold["tau0"] * residual**2


def _log_density_of_layers(replica: Replica, layers: Layers, held: HeldOut, truth: Floats) -> Floats:
    """As :func:`_log_density` where blocks have a profile."""
    i, j = held["rows"], held["columns"]
    tau0 = replica["tau0"] * layers["row_weights"][i]
    mean = (replica["rows"][:, i] * layers["profiles"][:, j]).sum(axis=0)
    mean = mean + replica["phi"] + layers["row_effects"][i] + layers["column_effects"][j]
    found: Floats = 0.5 * np.log(tau0 / (2 * math.pi)) - 0.5 * tau0 * (truth - mean) ** 2
    return found


def add_draw(state: Fields, data: ModelData) -> None:
    """Add this sweep to the average predictive of the held-out cells."""
    add_density(state["held_out"], _log_density(state, data))


def mean_log_density(state: Fields, data: ModelData) -> float:
    """Mean log density of the held-out cells under the average predictive since the warm-up; NaN without any."""
    return mean_density(state["held_out"], lambda: _log_density(state, data))


def add_density(held: HeldOut, log_density: Floats) -> None:
    """Add the log densities (n,) of the held-out cells at one draw, in place."""
    held["log_density"] = np.logaddexp(held["log_density"], log_density)
    held["draws"] += 1


def mean_density(held: HeldOut, now: Callable[[], Floats]) -> float:
    """Mean log density under the average of the draws so far, before the first that at ``now``; NaN without any cell."""
    if not len(held["rows"]):
        return math.nan
    if not held["draws"]:
        return float(now().mean())
    return float(held["log_density"].mean() - math.log(held["draws"]))
