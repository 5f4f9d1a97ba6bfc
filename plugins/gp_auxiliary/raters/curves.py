"""The consensus along one input, a curve for each setting of the others."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results, axis_places
from plaidwork.plugins.gp_auxiliary.raters.posterior import Rated, at_places
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings

POINTS = 60
MOST_CURVES = 8


def consensus_curves(kept: Kept, fit: Rated, params: RatedSettings) -> Results:
    """Along the input with the most values; the others as they occur together, or at their medians if in too many ways.

    Curves of (K, places) on the scale of the grades, with 95 % bands.
    """
    x, frame = fit.frame.fitted, fit.frame
    along = int(np.argmax([len(np.unique(column)) for column in x.T]))
    rest = np.delete(x, along, axis=1)
    settings = np.unique(rest, axis=0)
    median = len(settings) > MOST_CURVES
    if median:
        settings = np.median(rest, axis=0)[None]
    places = axis_places(x[:, along], POINTS)
    inputs = np.insert(
        np.repeat(settings, len(places), axis=0), along, np.tile(places, len(settings)), axis=1
    )
    found = at_places(kept, fit, np.ascontiguousarray(inputs), params["parameters"] == "fixed", False)
    shape, name = (len(settings), len(places)), frame.columns[along]
    others = [column for d, column in enumerate(frame.columns) if d != along]
    note = ""
    if others and median:
        note = " The other inputs are at their medians."
    elif len(settings) > 1:
        note = f" A curve for each {' and '.join(f'“{other}”' for other in others)}."
    return {
        "slice": Result(found.mean.reshape(shape), ("setting", "place"), label="consensus"),
        "slice_interval": Result(found.interval.reshape(*shape, 2), ("setting", "place", "end")),
        "slice_x": Result(places * frame.spread[along] + frame.centre[along], ("place",), label=name),
        "setting": Result(_words(settings, others, frame.spread, frame.centre, along), ("setting",)),
        "slice_headline": f"How the consensus changes with “{name}”",
        "slice_note": f"95 % bands, on the scale of the grades: 1 is “{frame.classes[0]}”, {len(frame.classes)} "
        f"“{frame.classes[-1]}”.{note}",
    }


def _words(
    settings: np.ndarray, others: list[str], spread: np.ndarray, centre: np.ndarray, along: int
) -> np.ndarray:
    """What each curve is called, such as “patient 3”."""
    values = settings * np.delete(spread, along) + np.delete(centre, along)
    return np.array(
        [", ".join(f"{other} {value:.6g}" for other, value in zip(others, row)) or "all" for row in values]
    )
