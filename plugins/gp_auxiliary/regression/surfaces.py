"""Functions of several outputs over two inputs, of each group shown and of a new one."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results, axis_places
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.classes.maps import shown_inputs
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted
from plaidwork.plugins.gp_auxiliary.regression.outputs_moments import outputs_moments
from plaidwork.plugins.gp_auxiliary.regression.results import NEW_GROUP, shown_groups
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

ACROSS, UP = 25, 15
"""Places along the two inputs."""
ARROWS = 60
"""Places with data up to which each of them has an arrow; of more every second place along either input has one."""
_DRAWS = 24
"""Draws that a surface is averaged over at most: it has a thousand places or more."""


def surface_results(kept: Kept, fitted: Fitted, samples: Samples, params: RegressionSettings) -> Results:
    """Mean and sd of every output's function over two inputs, the others at their medians; nothing with one input."""
    frame = samples.frame
    if frame.x.shape[1] < 2:
        return {}
    first, second = shown_inputs(kept, fitted.prior())
    across, up = axis_places(frame.x[:, first], ACROSS), axis_places(frame.x[:, second], UP)
    grid = np.repeat(np.median(frame.x, axis=0)[None], ACROSS * UP, axis=0)
    grid[:, first], grid[:, second] = np.tile(across, UP), np.repeat(up, ACROSS)
    groups = shown_groups(samples, params)
    arrows = np.unique(frame.x[samples.known][:, [first, second]], axis=0)
    if len(arrows) > ARROWS:
        arrows = grid.reshape(UP, ACROSS, -1)[::2, ::2].reshape(-1, frame.x.shape[1])[:, [first, second]]
    tails = np.repeat(grid[:1], len(arrows), axis=0)
    tails[:, [first, second]] = arrows
    both = np.concatenate([grid, tails])
    places, codes = np.tile(both, (len(groups), 1)), np.repeat(groups, len(both))
    found = outputs_moments(kept, fitted, places, codes, _DRAWS)
    variance = np.diagonal(found.covariance, axis1=2, axis2=3).mean(axis=0) + found.mean.var(axis=0)
    mean = (samples.centre + samples.spread * found.mean.mean(axis=0)).T.reshape(-1, len(groups), len(both))
    sd = (samples.spread * np.sqrt(variance)).T.reshape(mean.shape)
    dims = ("output", "shown_group", "surface_y", "surface_x")

    def surface(values: np.ndarray) -> np.ndarray:
        return values[..., : len(grid)].reshape(*values.shape[:2], UP, ACROSS)

    x, y = (places * frame.spread[d] + frame.centre[d] for places, d in ((across, first), (up, second)))
    points = (frame.x * frame.spread + frame.centre)[:, [first, second]]
    names = [NEW_GROUP if code < 0 else samples.labels[code] for code in groups]
    return {
        "surface_mean": Result(surface(mean), dims, label="mean of the function"),
        "surface_sd": Result(surface(sd), dims, label="sd of the function"),
        "arrow_mean": Result(mean[..., len(grid) :], ("output", "shown_group", "arrow")),
        "arrow_sd": Result(sd[..., len(grid) :], ("output", "shown_group", "arrow")),
        "arrow_places": Result(
            arrows * frame.spread[[first, second]] + frame.centre[[first, second]], ("arrow", "axis")
        ),
        "surface_x": Result(x, ("surface_x",), label=frame.columns[first]),
        "surface_y": Result(y, ("surface_y",), label=frame.columns[second]),
        "surface_points": Result(np.unique(points[samples.known], axis=0), ("surface_point", "axis")),
        "surface_groups": Result(np.array(names, dtype=str), ("shown_group",)),
        "surface_note": _note(draws_text(len(found.mean), found.kept), len(frame.columns), len(groups)),
    }


def _note(draws: str, inputs: int, groups: int) -> str:
    rest = " The other inputs are at their medians." if inputs > 2 else ""
    new = f" “{NEW_GROUP}”: what the groups share." if groups > 1 else ""
    return f"Mean of the function over {draws}, without noise.{rest}{new}"
