"""What is shown of factor values along time or place, and what they tell of new samples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.core.api import Result, Results, Table, agree, counted
from plaidwork.plugins.group_factor.smooth import alike, pulled, squared_distances
from plaidwork.plugins.group_factor.state import Floats

GRID = 120
"""Places along time at which curves are told."""
LEAST = 0.1
"""Smooth shares from here on are spoken of."""
Z95 = 1.959963984540054
Draw = Mapping[str, np.ndarray]


def expected_at(draw: Draw, places: Floats, new: Floats) -> tuple[Floats, Floats]:
    """(K, M) means and variances of the smooth parts of the factors at places ``new`` (M, p), from samples at ``places`` (N, p)."""
    within, across = squared_distances(places, places), squared_distances(new, places)
    mean, variance = np.zeros((len(draw["z"]), len(new))), np.zeros((len(draw["z"]), len(new)))
    for k, (length, share) in enumerate(zip(draw["smooth_length"], draw["smooth_share"], strict=True)):
        if share <= 0:
            continue
        weights, reduced = pulled(within, float(length), float(share), draw["z"][k], draw["score_gain"][k])
        c = alike(across, float(length), float(share))
        mean[k] = c @ weights
        variance[k] = np.maximum(share - ((c @ reduced) * c).sum(axis=1), 0.0)
    return mean, variance


def along_results(draw: Draw, places: Floats, names: tuple[str, ...], labels: np.ndarray) -> Results:
    """Curves along time, places (N, p) of the samples and what is smooth of every factor, for the ordered draw."""
    share, length = draw["smooth_share"], draw["smooth_length"]
    smooth = [str(label) for label, found in zip(labels, share, strict=True) if found >= LEAST]
    where = names[0] if len(names) == 1 else "place"
    told = f"{len(smooth)} of {counted(len(labels), 'factor')} {agree(len(smooth), 'changes', 'change')} smoothly along {where}"
    note = (
        "Points: factor values of the samples; line and band: the smooth part of the factor and its 95 % interval."
        if len(names) == 1
        else "Points: the samples where they were taken, coloured by the factor."
    )
    found: Results = {
        "opens_on": "Over time or place/One factor",
        "along_headline": told if smooth else f"No factor changes smoothly along {where}",
        "along_note": note,
        "places": Result(places, ("sample", "coordinate"), label="Time or place"),
        "place_names": Result(np.array(names, dtype=str), ("coordinate",)),
        "smoothness": Table(
            {
                "Factor": labels,
                "Smooth share": share,
                "Length": np.where(share > 0, length, np.nan),
            },
            units={"Smooth share": "share"},
            label="Smoothness",
            doc=f"The share of a factor's variance that changes smoothly along {where}, and the length over which it does.",
        ),
    }
    if len(names) == 1:
        x = np.linspace(places.min(), places.max(), GRID)
        mean, variance = expected_at(draw, places, x[:, None])
        ends = mean[..., None] + np.sqrt(variance)[..., None] * [-Z95, Z95]
        found["course_x"] = Result(x, ("moment",), label=names[0])
        found["course"] = Result(mean, ("factor", "moment"), label="Smooth part")
        found["course_interval"] = Result(ends, ("factor", "moment", "side"), label="95 % interval")
    return found


def prior_of_new(draw: Draw, places: Floats, new: Floats | None, n: int) -> tuple[Floats, Floats]:
    """(K, n) means and variances of the factor values of new samples before their data: 0 and 1 where nobody says when or where."""
    k = len(draw["z"])
    if new is None:
        return np.zeros((k, n)), np.ones((k, n))
    mean, variance = expected_at(draw, places, new)
    return mean, variance + (1.0 - draw["smooth_share"])[:, None]
