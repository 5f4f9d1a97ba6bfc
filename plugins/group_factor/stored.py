"""What a stored state may hold: any number of factors, and what is kept while components are sought or factors join."""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import POSITION, Layout, Part, counted
from plaidwork.core.api import State as Stored
from plaidwork.plugins.group_factor.products import width
from plaidwork.plugins.group_factor.search import PASSES, length, ranges_of
from plaidwork.plugins.group_factor.smooth import LENGTHS, PRODUCTS, SHARES, STAGE
from plaidwork.plugins.group_factor.state import BY_FACTOR, Search

FROM_DATA = ("group", "kinds", "first", "kind", "view", "level", "cells.*.columns", "cells.*.known")
"""Places that follow from the data."""
WEAK = "weak factors"
"""Stage that fills the deviances by factor."""


def layout() -> Layout:
    """The places of a state: K factors, of a search N samples, D features and directions of a number of its own."""
    count = Part((), "int64", low=0)
    by_factor = {name: Part(("K", None, None) if name == "cross" else ("K", None)) for name in BY_FACTOR}
    return {
        **{place: Part(same=True) for place in FROM_DATA},
        **by_factor,
        "deviance": Part((None, "E", None)),
        **dict.fromkeys(("dropped", "single", "stale"), count),
        "start.fill": Part(("K", "N"), missing=True),
        "start.noise": Part(("K", "N"), missing=True),
        **_search("start"),
        "growth.over": Part((), "int64", low=0, missing=True),
        "growth.bound": Part((), missing=True, unset=True),
        "growth.before.**": Part(like=""),
        "growth.cells.**": Part(like="cells"),
        **_search("growth.search"),
        "smooth.places": Part(same=True, missing=True),
        "smooth.linear": Part(("N", "smooth.K"), missing=True),
        "smooth.gram": Part(("N", "smooth.width"), missing=True),
        "smooth.gain": Part(("K", "N"), low=0, missing=True),
        "smooth.length": Part(("K",), "int64", low=0, below=len(LENGTHS), missing=True),
        "smooth.share": Part(("K",), "int64", low=0, below=len(SHARES), missing=True),
        "smooth.kl": Part(("K",), missing=True),
        "steps.order": Part(("batches",), "int64", low=0, missing=True),
        "steps.gram": Part(("groups", "width"), missing=True),
        **{f"steps.{name}": Part(("K", "groups", "steps.D"), missing=True) for name in ("cross", "sums")},
        "steps.total": Part(("groups", "steps.D"), missing=True),
    }


def _search(where: str) -> dict[str, Part]:
    basis, sums, loadings, image = (f"{name} of {where}" for name in ("basis", "sums", "loadings", "image"))
    return {
        f"{where}.phase": Part((), "U1", missing=True),
        **{
            f"{where}.{name}": Part((), "int64", low=0, missing=True)
            for name in ("at", "pass", "turns", "some")
        },
        f"{where}.last": Part((), missing=True, unset=True),
        f"{where}.basis": Part((basis, "samples " + basis), missing=True),
        f"{where}.sum": Part((sums, "samples " + sums), missing=True),
        f"{where}.loadings": Part(("D", loadings), missing=True),
        f"{where}.rotation": Part((loadings, loadings), missing=True),
        f"{where}.image": Part(("D", image), missing=True),
    }


def contradiction_of(state: Stored) -> str:
    """Whether searches and sums under way are those of the factors there are, as a part of a sentence; empty when they are."""
    position = state.get(POSITION, {})
    for search in (state.get("start"), state.get("growth", {}).get("search")):
        if search is not None and _of_others(search, state["z"].shape[1], len(state["lik"])):
            return "components are sought of other data"
    factors, rows = len(state["z"]), state["deviance"].shape[1]
    if "smooth" in state and (wrong := _wrong_smooth(state["smooth"], factors, position)):
        return wrong
    if position.get("stage") == WEAK and position.get("at") and rows != factors + 3:
        return f"“deviance” is of {counted(rows - 3, 'factor')}, not of {factors}"
    return ""


def _wrong_smooth(smooth: Stored, factors: int, position: Stored) -> str:
    """What contradicts itself in what is kept of smooth factor values; empty when nothing does."""
    under_way = position.get("stage") in (PRODUCTS, STAGE)
    if under_way and (smooth["linear"].shape[1] != factors or smooth["gram"].shape[1] != width(factors)):
        return "products of the weights are of other factors"
    return ""


def _of_others(search: Stored, samples: int, features: int) -> bool:
    """Whether a search is of other numbers of samples or features, or of directions than the basis that it goes through the data with."""
    if search.get("some") and (search["phase"] != "pass" or search["pass"] >= PASSES):
        return True
    read, summed = (length(ranges) for ranges in ranges_of(cast(Search, search), samples))
    by_feature = {name: search[name] for name in ("loadings", "image") if search.get(name) is not None}
    if search["basis"].shape[1] != read or (search["phase"] == "pass" and search["sum"].shape[1] != summed):
        return True
    if any(len(one) != features for one in by_feature.values()):
        return True
    if search["phase"] == "turn":
        return "loadings" not in by_feature or search.get("rotation") is None
    wide = (
        [len(search["sum"])]
        if search["phase"] == "pass"
        else [by_feature.get("loadings", np.zeros((0, 0))).shape[1]]
    )
    wide += [by_feature["image"].shape[1]] if "image" in by_feature else []
    return any(width != len(search["basis"]) for width in wide)
