"""Whether a stored state that stands within a sweep holds the sums that the rest of the sweep goes on with: kernels check no bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaidwork.core.api import POSITION
from plaidwork.plugins.rank_factor import large
from plaidwork.plugins.rank_factor.setup import Setup


def wrong_sums(state: Mapping[str, Any], setup: Setup, apart: bool) -> str:
    """What is missing or of another length, as a part of a sentence; ``apart``: of large data (:mod:`large`)."""
    place = state.get(POSITION, {})
    stage, begun = place.get("stage", ""), place.get("at", 0) > 0
    for name, length in _expected(stage, begun, setup, apart).items():
        found = len(state[name]) if name in state else 0
        if found != length:
            return f"“{name}” has the length {found} within the stage “{stage}”, expected {length}"
    return ""


def _expected(stage: str, begun: bool, setup: Setup, apart: bool) -> dict[str, int]:
    """Lengths by name of what the stage goes on with."""
    d, n, _ = setup.shape
    if stage == "new samples":
        size = setup.test_cells.size if setup.test_cells is not None else 0
        return {"precision": size, "linear": size} if begun else {}
    before, after = stage == "rows" and begun, stage in ("products of the loadings", "scores")
    if not before and not after:
        return {}
    pairs = {"kappa": len(setup.pairs.low), "w": n} if setup.pairs is not None else {}
    shared = setup.likelihood == "gaussian" and setup.complete
    if not apart:
        return {"precision": 1 if shared else n, "linear": n, **pairs}
    cells = {"p": d} if setup.likelihood == "pairs" else {"p": d, "h": d} if setup.levels is not None else {}
    if before:
        return {"zz": n if large.uses_products(setup, "z") else 1, **cells, **pairs}
    products = {"aa": d} if stage == "scores" and large.uses_products(setup, "a") else {}
    return {**products, **cells, **pairs}
