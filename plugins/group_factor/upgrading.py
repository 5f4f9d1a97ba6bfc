"""States of earlier versions, as the sweep has them now."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from plaidwork.core.api import POSITION, State
from plaidwork.plugins.group_factor.blocks import update_products
from plaidwork.plugins.group_factor.state import Fields

OLD_STAGES = ("start", "deviance", "weights", "scores", "local")
"""Names of the stages by their number in states of version 2."""
RELAXING = "over_relaxation"
"""Entry of the host, with what a sweep under way began from."""


def upgraded(state: State, version: int) -> Fields:
    """A state of version 2, in which the model itself kept where the sweep stood, or 3, without sums of products."""
    if version == 2:
        stage, at = OLD_STAGES[state.pop("stage")], state.pop("at")
        if stage != "deviance" or at:
            state[POSITION] = {"stage": "weak factors" if stage == "deviance" else stage, "at": at}
    (k, d), n_groups = state["w"].shape, len(state["scale"])
    added: dict[str, Any] = {
        "cross": np.zeros((k, n_groups, d)),
        "total": np.zeros((n_groups, d)),
        "stale": 1,
    }
    state |= added
    fields = cast(Fields, state)
    if "start" not in state and state.get(POSITION, {}).get("stage") != "start":
        update_products(fields, 0, d, totals=True)
        state["stale"] = 0
    kept = state.get(RELAXING, {}).get("kept", {})
    if kept:  # what the sweep began from; its own products follow from the next sweep
        kept |= {"cross": state["cross"].copy(), "stale": 0}
    before = state.get("growth", {}).get("before", {})
    if before:  # made anew when it is put back
        before["cross"] = np.zeros((len(before["z"]), n_groups, d))
    return fields
