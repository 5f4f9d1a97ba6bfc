"""Steps beyond the ascent, taken back when the bound falls (adaptive over-relaxation; Salakhutdinov and Roweis 2003, ICML).

Before a sweep the means (and logarithms of rates) go on in the direction of the last sweep, by a share that grows while the bound
rises. A sweep that ends lower than the one before is undone and the share begins anew, so that the bound never falls.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from plaidwork.core.api import POSITION, State
from plaidwork.plugins.rank_factor.state import MEANS, RATES, Q

LEAST, GROWTH, MOST = 0.5, 1.3, 8.0
"""Share of the last step that is added: at first, its growth, and the most."""
PLAIN = 20
"""Sweeps before the first such step: the way of the first ones is not the way on."""
BOUNDS = (0.1, 10.0)
"""Of the growth of a rate that is carried on."""
APART = (POSITION, "precision", "linear", "kappa", "w", "rows", "train", "good", "share_added")
"""What a sweep builds up itself, or never changes."""


def begin(state: Q) -> None:
    """Before a sweep: keep q, then go on."""
    before, share = state["good"], state["share_added"]
    q = {name: _copy(value) for name, value in state.items() if name not in APART}
    state["good"] = {**q, "bound": before.get("bound", -np.inf), "traces": before.get("traces", {})}
    if share == 0.0 or "a" not in before:
        return
    for name in MEANS:
        state[name] = state[name] + share * (state[name] - before[name])
    for rate in RATES:
        state[rate] = state[rate] * np.clip(state[rate] / before[rate], *BOUNDS) ** share


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def end(state: Q, traces: dict[str, float], sweep: int) -> None:
    """After sweep number ``sweep`` (from 0): keep its traces, or undo it and keep those of the one before."""
    good, bound = state["good"], traces["elbo"]
    if bound >= good["bound"]:
        if sweep >= PLAIN:
            state["share_added"] = min(MOST, max(LEAST, GROWTH * state["share_added"]))
        good["bound"], good["traces"] = bound, traces
        return
    kept = good["bound"], good["traces"]
    cast("State", state).update(
        {name: value for name, value in good.items() if name not in ("bound", "traces")}
    )
    state["good"], state["share_added"] = {"bound": kept[0], "traces": kept[1]}, 0.0
