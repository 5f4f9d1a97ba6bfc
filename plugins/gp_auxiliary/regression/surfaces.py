"""Functions of several outputs over two inputs, of each group shown and of a new one."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results, axis_places
from plaidwork.plugins.gp_auxiliary.maps import shown_inputs
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted
from plaidwork.plugins.gp_auxiliary.regression.outputs_moments import outputs_moments
from plaidwork.plugins.gp_auxiliary.regression.results import NEW_GROUP, shown_groups
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.typed_settings import RegressionSettings

ACROSS, UP = 25, 15
"""Places along the two inputs."""
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
    places, codes = np.tile(grid, (len(groups), 1)), np.repeat(groups, len(grid))
    found = outputs_moments(kept, fitted, places, codes, _DRAWS)
    mean = found.mean.mean(axis=0)
    variance = np.diagonal(found.covariance, axis1=2, axis2=3).mean(axis=0) + found.mean.var(axis=0)
    shape = (len(groups), UP, ACROSS)
    dims = ("output", "shown_group", "surface_y", "surface_x")

    def surface(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.T.reshape(-1, *shape))

    x, y = (places * frame.spread[d] + frame.centre[d] for places, d in ((across, first), (up, second)))
    points = (frame.x * frame.spread + frame.centre)[:, [first, second]]
    names = [NEW_GROUP if code < 0 else samples.labels[code] for code in groups]
    return {
        "surface_mean": Result(
            surface(samples.centre + samples.spread * mean), dims, label="mean of the function"
        ),
        "surface_sd": Result(surface(samples.spread * np.sqrt(variance)), dims, label="sd of the function"),
        "surface_x": Result(x, ("surface_x",), label=frame.columns[first]),
        "surface_y": Result(y, ("surface_y",), label=frame.columns[second]),
        "surface_points": Result(np.unique(points[samples.known], axis=0), ("surface_point", "axis")),
        "surface_groups": Result(np.array(names, dtype=str), ("shown_group",)),
        "surface_note": _note(len(found.mean), len(frame.columns), len(groups)),
    }


def _note(draws: int, inputs: int, groups: int) -> str:
    rest = " The other inputs are at their medians." if inputs > 2 else ""
    new = f" “{NEW_GROUP}”: what the groups share." if groups > 1 else ""
    return f"Mean of the function over {draws} draws, without noise.{rest}{new}"
