"""Class probabilities over two inputs, and f along one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept, Result, Results, axis_places
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.classes.averaging import Averaged, largest_error
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

GRID = 40
LATENT, SPREAD = "latent value f", "standard deviation of f"


def shown_inputs(kept: Kept, prior: Prior, slopes: np.ndarray | None = None) -> tuple[int, int]:
    """The two inputs of the map: the most relevant ones where each has a length of its own or ``slopes`` (t, D) are known, sizes of those
    of a linear f; else the first two."""
    size = prior.x.shape[1]
    if size == 1:
        return 0, 0
    if slopes is not None:
        first, second = np.sort(np.argsort(-np.median(slopes, axis=0), kind="stable")[:2])
        return int(first), int(second)
    gammas = [i for i, p in enumerate(prior.covariance.parameters) if p.kind == "gamma" and p.column >= 0]
    if len(gammas) < size:
        return 0, 1
    theta = np.mean([np.mean(chain.stack("theta"), axis=0) for chain in kept.chains if chain.n_draws], axis=0)
    order = sorted(gammas[:size], key=lambda i: -theta[i])
    first, second = sorted(prior.covariance.parameters[i].column for i in order[:2])
    return first, second


@dataclass(frozen=True, slots=True)
class MapPlan:
    """Where a map is computed.

    Attributes
    ----------
    first, second : the inputs across and up; equal when there is one input only.
    across, up : (t,), (u,) places on the standardised axes.
    line : (t, D) inputs along the first one; ``grid`` (u t, D) over both, row by row, the others at their medians.
    """

    first: int
    second: int
    across: np.ndarray
    up: np.ndarray
    line: np.ndarray
    grid: np.ndarray

    @property
    def single(self) -> bool:
        return self.first == self.second


def map_places(kept: Kept, prior: Prior, frame: Frame, slopes: np.ndarray | None) -> MapPlan:
    """The map over the two inputs that :func:`shown_inputs` names."""
    first, second = shown_inputs(kept, prior, slopes)
    middle = np.median(frame.x, axis=0)
    single = first == second
    across = axis_places(frame.x[:, first], 4 * GRID if single else GRID)
    line = np.repeat(middle[None], len(across), axis=0)
    line[:, first] = across
    if single:
        return MapPlan(first, second, across, np.zeros(1), line, line[:0])
    up = axis_places(frame.x[:, second], GRID)
    grid = np.repeat(middle[None], len(across) * len(up), axis=0)
    grid[:, first] = np.tile(across, len(up))
    grid[:, second] = np.repeat(up, len(across))
    return MapPlan(first, second, across, up, line, grid)


def latent_dim(found: Averaged, frame: Frame) -> str:
    """What the latent functions are counted by: one for each class, or one alone."""
    return "class" if len(found.f) == len(frame.classes) else "latent"


def latent_band(found: Averaged) -> np.ndarray:
    """(K, m, 2) two standard deviations of f on either side."""
    return np.stack([found.f - 2 * found.f_sd, found.f + 2 * found.f_sd], axis=-1)


def along_input(along: Averaged, plan: MapPlan, frame: Frame) -> Results:
    """f and the class probabilities along the first input of the map."""
    name, first = frame.columns[plan.first], plan.first
    rest = " The other inputs are at their medians." if frame.x.shape[1] > 1 else ""
    dims = (latent_dim(along, frame), "place")
    return {
        "slice": Result(along.f, dims, label=LATENT),
        "slice_interval": Result(latent_band(along), (*dims, "end")),
        "slice_x": Result(plan.across * frame.spread[first] + frame.centre[first], ("place",), label=name),
        "slice_probability": Result(along.conditional(), ("class", "place"), label="probability"),
        "slice_probability_interval": Result(along.band, ("class", "place", "end")),
        "slice_note": f"f is the function of the inputs behind the classes. Band: two standard deviations on either side.{rest}",
        "slice_probability_note": f"Band: 90 % interval.{rest}",
    }


def mapped(found: Averaged, plan: MapPlan, frame: Frame, known: np.ndarray) -> Results:
    """Class probabilities, null category and sd of f over the two inputs of the map, with the samples on it."""
    pair = [plan.first, plan.second]
    across, up = (
        places * frame.spread[d] + frame.centre[d]
        for places, d in zip((plan.across, plan.up), pair, strict=True)
    )
    names = [frame.columns[d] for d in pair]
    points = np.where(known, frame.x * frame.spread + frame.centre, np.nan)[:, pair]  # no place was measured
    place, count = ("map_y", "map_x"), len(frame.classes)
    shape = (len(up), len(across))
    note = "By the approximation"
    if found.draws > 1:
        note, largest = f"Averaged over {draws_text(found.draws, found.kept)}", largest_error(found)
        note += f"; of the Monte Carlo errors {largest}" if largest else ""
    note += "; the other inputs are at their medians." if frame.x.shape[1] > 2 else "."
    return {
        "map": Result(found.conditional().reshape(count, *shape), ("class", *place), label="probability"),
        "map_null": Result(found.null.reshape(shape), place, label="probability"),
        "map_sd": Result(found.f_sd.mean(axis=0).reshape(shape), place, label=SPREAD),
        "map_x": Result(across, ("map_x",), label=names[0]),
        "map_y": Result(up, ("map_y",), label=names[1]),
        "map_points": Result(points, ("sample", "axis")),
        "map_labels": Result(frame.codes, ("sample",)),
        "map_test": Result(frame.test.astype(float), ("sample",)),
        "map_note": note,
    }
