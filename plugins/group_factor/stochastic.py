"""Passes in which the weights follow after every batch of samples, with decreasing steps (Hoffman, Blei, Wang & Paisley 2013).

What the updates of the weights and of the noise need of the samples are sums over them. A step finds q(z) of a batch, takes its sums
times all samples over those of the batch for the sums of all, moves what was there a part of the way to them, and updates what
follows. A pass meets every sample once, so that at its end the sums of all factor values are known exactly, and with them the bound.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from plaidwork.core.api import POSITION, ModelData, Stage
from plaidwork.core.api import State as Stored
from plaidwork.plugins.group_factor import blocks, kernels, products, updates
from plaidwork.plugins.group_factor.cells import parts_of, view_of, views_of
from plaidwork.plugins.group_factor.products_level import expected_squares
from plaidwork.plugins.group_factor.state import Fields, Settings, Steps

BATCHES = "batches"
"""Stage of the steps."""


def now(sweep: int, params: Settings) -> bool:
    """Whether this sweep is a pass of stochastic steps."""
    return params["steps"] == "stochastic" and sweep < params["stochastic_passes"]


def may_stop(sweeps: int, params: Settings) -> bool:
    """Whether the last of so many sweeps was an exact one."""
    return sweeps > 0 and not now(sweeps - 1, params)


def stage(
    state: Fields, data: ModelData, params: Settings, sweep: int, rng: np.random.Generator
) -> Stage | None:
    """The batches of a pass, in an order of their own; None where no view is known by sums and nothing could follow a batch."""
    if not any(view.summed for view in views_of(state)):
        return None
    n, size = state["z"].shape[1], params["batch_samples"]
    count = -(-n // size)

    def begin() -> None:
        steps: Steps = {
            "order": rng.permutation(count),
            "gram": updates.level_gram(state),
            "cross": state["cross"].copy(),
            "total": state["total"].copy(),
            "sums": np.zeros_like(state["cross"]),
        }
        state["steps"] = steps

    def work(lo: int, hi: int) -> None:
        for at in range(lo, hi):
            first = int(state["steps"]["order"][at]) * size
            step = step_size(sweep * count + at, count, params["step_decay"])
            _step(state, data, params, first, min(n, first + size), step)
            _follow(state, params, sweep)

    return Stage(BATCHES, work, count, 1, begin, partial(_end, state, params))


def step_size(taken: int, count: int, decay: float) -> float:
    """Of a step after ``taken`` others, where ``count`` make a pass."""
    return float((count + taken) ** -decay)


def _step(state: Fields, data: ModelData, params: Settings, lo: int, hi: int, step: float) -> None:
    """q(z) of samples lo..hi-1, and the sums a part of the way to theirs."""
    part = blocks.part_of(state, data, lo, hi)
    updates.update_scores(part, 0, hi - lo)
    blocks.put_back(state, part, lo, hi)
    part["cross"], part["total"] = np.zeros_like(state["cross"]), np.zeros_like(state["total"])
    for view in views_of(state):
        if view.summed:
            own, end = view_of(part, view.index), view.first + view.size
            blocks.add_level_products(part, own, view.first, end)
            blocks.add_level_total(part, own, view.first, end)
    steps = state["steps"]
    steps["sums"] += part["cross"]
    gram = updates.level_gram(part)
    groups = np.arange(len(gram))
    everywhere, here = ((of["group"] == groups[:, None]).sum(axis=1) for of in (state, part))
    for g in groups[here > 0]:
        times = everywhere[g] / here[g]
        rate = step * min(1.0, state["z"].shape[1] / (times * (hi - lo)))  # less where it has few of a group
        for kept, new in (
            (steps["gram"][g], gram[g]),
            (steps["cross"][:, g], part["cross"][:, g]),
            (steps["total"][g], part["total"][g]),
        ):
            kept += rate * (times * new - kept)


def _follow(state: Fields, params: Settings, sweep: int) -> None:
    """Weights, precisions and noise from the sums of the steps."""
    steps, d = state["steps"], len(state["lik"])
    exact, state["cross"] = state["cross"], steps["cross"]
    updates.update_weights(state, params, 0, d, gram=steps["gram"])
    state["cross"] = exact
    updates.update_alpha(state, params)
    if sweep >= params["theta_start"]:
        updates.update_theta(state, params)
    _update_noise(state, params, steps["gram"], steps["cross"], steps["total"])


def _update_noise(
    state: Fields, params: Settings, gram: np.ndarray, cross: np.ndarray, total: np.ndarray
) -> None:
    for view in views_of(state):
        if view.summed:
            here = view.features
            w, ww = state["w"][:, here], state["ww"][:, here]
            state["squares"][:, here] = expected_squares(gram, cross[:, :, here], total[:, here], w, ww)
            updates.noise_of_squares(state, params, here)


def _end(state: Fields, params: Settings) -> None:
    """The exact sums in place of those of the steps."""
    state["cross"] = state["steps"]["sums"]
    del state["steps"]
    _update_noise(state, params, updates.level_gram(state), state["cross"], state["total"])


def update_local(state: Fields, params: Settings, lo: int, hi: int) -> None:
    """The last stage of a sweep for features lo..hi-1 after such a pass: what is known by sums is up to date."""
    updates.update_soft(state, lo, hi, params["intercept_variance"], params["intercept"])
    for view, below, above in parts_of(state, lo, hi):
        if view.kind == kernels.GAUSSIAN and not view.summed:
            updates.update_noise(state, params, below, above)


def contradiction_of(state: Stored, params: Settings) -> str:
    """Whether steps under way are those of the batches and factors there are, as a part of a sentence; empty when they are."""
    position, steps = state.get(POSITION, {}), state.get("steps")
    if steps is None:
        under_way = position.get("stage") == BATCHES and position.get("at")
        return "the sums of its stochastic steps are missing" if under_way else ""
    count = -(-state["z"].shape[1] // params["batch_samples"])
    if not np.array_equal(np.sort(steps["order"]), np.arange(count)):
        return f"the order of its batches is none of 0 to {count - 1}"
    same = {"cross": state["cross"].shape, "sums": state["cross"].shape, "total": state["total"].shape}
    same["gram"] = len(state["total"]), products.width(len(state["z"]))
    if any(steps[name].shape != shape for name, shape in same.items()):
        return "the sums of its stochastic steps are of other factors"
    return ""
