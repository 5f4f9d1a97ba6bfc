"""Few labels: about how long the parts of a sweep take, by which they are cut into slices."""

from __future__ import annotations

from typing import NamedTuple

from plaidwork.plugins.gp_auxiliary import hyper
from plaidwork.plugins.gp_auxiliary.replica import Labels
from plaidwork.plugins.gp_auxiliary.state import ClassesFields, ClassesSettings, Replica
from plaidwork.plugins.gp_auxiliary.turning import (
    MOST_STEPS,
    leap_seconds,
)


class Seconds(NamedTuple):
    """About how long parts of a sweep take, for one copy."""

    root: float
    """The root of its covariance; 0 where that is known."""
    draw: float
    """A draw of f, or a pass over z."""
    sites: float
    """The probabilities of all labels."""
    move: float
    """f moved once, by all its trajectories or ellipses."""
    trajectories: float
    """One round of trajectories."""


def seconds_of(state: ClassesFields, params: ClassesSettings, labels: Labels) -> Seconds:
    first = state["rungs"]["0"]
    size = len(first["z"][0])
    root = hyper.walk_seconds(first) if state["fixed"].get("root") is None else 0.0
    sites = size * sides_of_classes(labels.n_classes) * 3e-7
    draw = len(first["z"]) * hyper.pass_seconds(first)
    moves = MOST_STEPS * params["trajectories"] if "turns" in state else params["slices"]
    return Seconds(root, draw, sites, root + (1 + moves) * (draw + sites), (1 + moves) * leap_seconds(size))


def labelled_seconds(copy: Replica, count: int) -> float:
    """About how long the covariances with ``count`` labelled samples take, and the precision of their z."""
    size, rank = copy["rows"].shape
    return 1.5e-10 * size * rank * count + 2e-10 * count**3


def sides_of_classes(n_classes: int) -> int:
    """How much more a sample costs than one of two classes."""
    return max(n_classes, 2) ** 2 - 3
