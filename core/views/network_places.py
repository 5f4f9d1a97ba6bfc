"""Where the nodes of a network stand, from -1 to 1 across and up."""

from __future__ import annotations

import numpy as np

from plaidwork.core.views.network_data import Shown

_EDGE, _BEYOND = 0.02, 0.12
"""Share of the nodes on either side that may not stretch a layout, and how far out they stand at most, of the span."""


def compact(places: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Places (n, 2) of a layout that fill the picture; of the few far outside only the order stays, NaN for other nodes."""
    found = np.full(places.shape, np.nan)
    if not len(nodes):
        return found
    for axis in (0, 1):
        values = places[nodes, axis]
        low, high = np.quantile(values, [_EDGE, 1 - _EDGE])
        span = (high - low) or 1.0
        reach = _BEYOND * span
        above, below = np.maximum(values - high, 0), np.maximum(low - values, 0)
        values = np.clip(values, low, high) + reach * (above / (above + reach) - below / (below + reach))
        first, last = float(values.min()), float(values.max())
        found[nodes, axis] = (2 * (values - first) / (last - first) - 1) if last > first else 0.0
    found[:, 1] *= -1
    return found


def circle(shown: Shown) -> np.ndarray:
    """Linked nodes around a circle, group by group, those with most links first."""
    order = np.lexsort((-shown.degree, shown.network.colours.codes))
    linked = order[shown.degree[order] > 0]
    angle = 2 * np.pi * np.arange(len(linked)) / max(len(linked), 1)
    places = np.full((len(shown.network.names), 2), np.nan)
    places[linked] = np.column_stack([np.sin(angle), np.cos(angle)])
    return places


def around(shown: Shown, node: int) -> np.ndarray:
    """A node in the middle and its neighbours on a ring, the nearer the stronger; NaN for the others.

    They follow each other in the directions that they have in the whole layout.
    """
    network = shown.network
    at = np.full((len(network.names), 2), np.nan)
    at[node] = 0.0
    links = shown.links_of(node)
    others = shown.other(links, node)
    if not len(others):
        return at
    away = network.places[others] - network.places[node]
    order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
    links, others = links[order], others[order]
    size = np.abs(network.weights[links])
    low, high = float(size.min()), float(size.max())
    far = 0.68 + 0.32 * (high - size) / ((high - low) or 1.0)
    angle = 2 * np.pi * (np.arange(len(others)) + 0.5) / len(others)
    at[others] = far[:, None] * np.column_stack([np.cos(angle), -np.sin(angle)])
    return at
