"""States of earlier versions, as the sweep has them now."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from plaidwork.core.api import POSITION, ModelError, State
from plaidwork.plugins.group_factor.blocks import update_products
from plaidwork.plugins.group_factor.cells import view_of
from plaidwork.plugins.group_factor.state import Fields

OLD_STAGES = ("start", "deviance", "weights", "scores", "local")
"""Names of the stages by their number in states of version 2."""
RELAXING = "over_relaxation"
"""Entry of the host, with what a sweep under way began from."""


def upgraded(state: State, version: int, shape: tuple[int, int]) -> Fields:
    """A state of version 2, in which the model itself kept where the sweep stood, or 3, without sums of products.

    ``shape`` are the samples and the features of the data: the sums are as large as these say, and kernels go through them.
    """
    if version == 2:
        stage, at = OLD_STAGES[state.pop("stage")], state.pop("at")
        if stage != "deviance" or at:
            state[POSITION] = {"stage": "weak factors" if stage == "deviance" else stage, "at": at}
    if not _sound(cast(Fields, state), shape):
        raise ModelError("The stored state does not fit the data and settings.", "Fit again to go on.")
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


def _sound(state: Fields, shape: tuple[int, int]) -> bool:
    """Whether sums of products can be made: factors, samples and features are the same in what they are made of."""
    (k, n), (groups, d), first = state["z"].shape, state["scale"].shape, state["first"]
    ends = (
        len(first) == len(state["kinds"]) + 1 == len(state["level"]) + 1 and first[0] == 0 and first[-1] == d
    )
    if (n, d) != shape or groups > max(n, 1):
        return False
    if not ends or (np.diff(first) < 0).any() or state["w"].shape != (k, d) or state["group"].shape != (n,):
        return False
    if state["group"].min(initial=0) < 0 or state["group"].max(initial=0) >= groups:
        return False
    return all(
        view.stays or view.arrays["y"].shape == (view.size, n)
        for view in (view_of(state, index) for index in range(len(state["kinds"])))
    )
