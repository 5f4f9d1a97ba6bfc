"""What stored states of these models may hold beside what stands in the states of the first sweeps: a metric that is learnt now and then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plaidwork.core.api import Layout, Part

COUNT = Part((), "int64", low=0, missing=True)
NUMBER = Part((), missing=True, unset=True)


def metric_layout(steps: str) -> Layout:
    """Trajectories of the covariance's parameters, where these ``steps`` have them; P parameters."""
    metric = f"{steps}.metric"
    vectors = ("path.place", "path.speed", "path.slope", "search.place", "search.slope", "window.mean")
    squares = ("search.curve", "search.bend", "window.spread")
    return {
        **{f"{metric}.{name}": Part(("P",), missing=True, unset=True) for name in vectors},
        **{f"{metric}.{name}": Part(("P", "P"), missing=True, unset=True) for name in squares},
        f"{metric}.search.x": Part(("N", "D"), missing=True),
        f"{metric}.search.y": Part(("O", "N"), missing=True),
        f"{metric}.search.found": Part((), "bool", missing=True),
        **{f"{metric}.search.{name}": COUNT for name in ("tried", "columns")},
        **{f"{metric}.window.{name}": COUNT for name in ("until", "seen")},
        f"{metric}.path.*": NUMBER,
        f"{metric}.search.*": NUMBER,
    }


def steps_layout(*steps: str) -> Layout:
    """Walks and trajectories; the log density where a walk stands is NaN where it is not known."""
    found: dict[str, Part] = {}
    for one in steps:
        found |= {f"{one}.current": Part(unset=True), **metric_layout(one)}
        found |= {
            f"{one}.together.{name}": Part((), "int64", low=low) for name, low in (("count", 0), ("due", 1))
        }
    return found


FIXED: Layout = {
    "fixed.code": Part(same=True),
    "fixed.codes": Part(same=True, missing=True),
    "fixed.cells": Part(same=True, missing=True),
    "fixed.season": Part(missing=True),
    "fixed.n_classes": Part(same=True),
}
"""What follows from the data."""


def wrong_search(x: Any, theta: Any, steps: Iterable[Mapping[str, Any]]) -> str:
    """Whether a mode that is sought is one of other samples (N, D) or parameters (P,), as a part of a sentence."""
    for one in steps:
        metric = one.get("metric", {})
        search, path, window = (metric.get(name) for name in ("search", "path", "window"))
        vectors = [
            part.get(name) for part, name in ((search, "place"), (path, "place"), (window, "mean")) if part
        ]
        if any(vector is None or len(vector) != len(theta) for vector in vectors):
            return "a trajectory is of another number of parameters"
        if not search:
            continue
        places = search.get("x", x)  # with the scales of the values beside the inputs, where they have some
        y = search.get("y")
        if y is None or y.shape[1] != len(x) or len(places) != len(x) or places.shape[1] < x.shape[1]:
            return "“search” is of other samples"
    return ""
