"""Class probabilities over two inputs, and f along one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept, Result, Results
from plaidwork.plugins.gp_auxiliary.averaging import Averaged
from plaidwork.plugins.gp_auxiliary.frame import Frame
from plaidwork.plugins.gp_auxiliary.gram import Prior

GRID = 40


def shown_inputs(kept: Kept, prior: Prior) -> tuple[int, int]:
    """The two inputs of the map: the most relevant ones where each has a length of its own, else the first two."""
    size = prior.x.shape[1]
    if size == 1:
        return 0, 0
    gammas = [i for i, p in enumerate(prior.covariance.parameters) if p.kind == "gamma" and p.column >= 0]
    if len(gammas) < size:
        return 0, 1
    theta = np.mean([np.mean(chain.stack("theta"), axis=0) for chain in kept.chains if chain.n_draws], axis=0)
    order = sorted(gammas[:size], key=lambda i: -theta[i])
    first, second = sorted(prior.covariance.parameters[i].column for i in order[:2])
    return first, second


def grid_axis(values: np.ndarray, count: int) -> np.ndarray:
    """(count,) places from a tenth below the smallest to a tenth above the largest value."""
    low, high = float(values.min()), float(values.max())
    margin = 0.1 * (high - low) if high > low else 1.0
    return np.linspace(low - margin, high + margin, count)


@dataclass(frozen=True, slots=True)
class MapPlan:
    """Where a map is computed.

    Attributes
    ----------
    first, second : the inputs across and down; equal when there is one input only.
    across, down : (t,), (u,) places on the standardised axes.
    line : (t, D) inputs along the first one; ``grid`` (u t, D) over both, row by row, the others at their medians.
    """

    first: int
    second: int
    across: np.ndarray
    down: np.ndarray
    line: np.ndarray
    grid: np.ndarray

    @property
    def single(self) -> bool:
        return self.first == self.second


def map_places(kept: Kept, prior: Prior, frame: Frame) -> MapPlan:
    """The map over the two inputs that :func:`shown_inputs` names."""
    first, second = shown_inputs(kept, prior)
    middle = np.median(frame.fitted, axis=0)
    single = first == second
    across = grid_axis(frame.x[:, first], 4 * GRID if single else GRID)
    line = np.repeat(middle[None], len(across), axis=0)
    line[:, first] = across
    if single:
        return MapPlan(first, second, across, np.zeros(1), line, line[:0])
    down = grid_axis(frame.x[:, second], GRID)[::-1]
    grid = np.repeat(middle[None], len(across) * len(down), axis=0)
    grid[:, first] = np.tile(across, len(down))
    grid[:, second] = np.repeat(down, len(across))
    return MapPlan(first, second, across, down, line, grid)


def along_input(along: Averaged, plan: MapPlan, frame: Frame) -> Results:
    """f along the first input of the map, with two standard deviations on either side."""
    band = np.stack([along.f - 2 * along.f_sd, along.f + 2 * along.f_sd], axis=-1)
    name, first = frame.columns[plan.first], plan.first
    rest = ", the other inputs at their medians." if frame.x.shape[1] > 1 else "."
    return {
        "slice": Result(along.f, ("latent", "place"), label="f"),
        "slice_interval": Result(band, ("latent", "place", "end")),
        "slice_x": Result(plan.across * frame.spread[first] + frame.centre[first], ("place",), label=name),
        "slice_probability": Result(along.conditional(), ("class", "place"), label="probability"),
        "slice_headline": f"How f changes with “{name}”",
        "slice_note": f"Two standard deviations on either side{rest}",
    }


def mapped(found: Averaged, plan: MapPlan, frame: Frame) -> Results:
    """Class probabilities over two inputs, large values of the second one on top; one input: a single row."""
    across = plan.across * frame.spread[plan.first] + frame.centre[plan.first]
    down = plan.down * frame.spread[plan.second] + frame.centre[plan.second]
    shape = (len(frame.classes), len(down), len(across))
    note = f"Probability of “{frame.classes[-1]}” by “{frame.columns[plan.first]}” (across)"
    if plan.single:
        note, names = note.replace("by", "along").replace(" (across)", ""), np.array([""])
    else:
        note += f" and “{frame.columns[plan.second]}” (upwards)"
        names = np.array([f"{value:.3g}" for value in down])
    note += ", the other inputs at their medians." if frame.x.shape[1] > 2 else "."
    return maps(
        found.conditional().reshape(shape),
        found.null.reshape(shape[1:]),
        (across, down),
        (np.array([f"{value:.3g}" for value in across]), names),
        note,
    )


def maps(
    share: np.ndarray,
    null: np.ndarray,
    axes: tuple[np.ndarray, np.ndarray],
    names: tuple[np.ndarray, ...],
    note: str,
) -> Results:
    """The results of a map: share (C, y, x) and null (y, x) by the places ``axes`` (x, y)."""
    return {
        "map": Result(share[-1], ("map_y", "map_x"), label="probability"),
        "class_maps": Result(share, ("class", "map_y", "map_x"), label="probability"),
        "null_map": Result(null, ("map_y", "map_x"), label="probability"),
        "map_across": Result(axes[0], ("map_x",)),
        "map_down": Result(axes[1], ("map_y",)),
        "map_x_names": Result(names[0], ("map_x",)),
        "map_y_names": Result(names[1], ("map_y",)),
        "map_note": note,
    }
