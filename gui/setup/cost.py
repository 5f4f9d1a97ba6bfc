"""What a fit is made of and what it costs: the subset of wide data, and the words of the estimate."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.contract.model import Cost, Model
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset, Step, with_free_name
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import PluginError
from plaidwork.core.inference.memory import memory_told, needed
from plaidwork.core.inference.plan import FitPlan, estimate, make_plan
from plaidwork.core.inference.restarting import ALONE_SECONDS
from plaidwork.core.inference.settling import first
from plaidwork.gui.numbers import format_bytes, format_count, format_duration
from plaidwork.gui.tasks import Task


def most_varying(dataset: Dataset, number: int, taken: Mapping[str, Dataset]) -> Dataset:
    """The rows that vary most as a dataset of its own; one of the session when it is there already."""
    made = apply_step(dataset, Step("top_variance", {"axis": "rows", "n": number}))
    name = f"{dataset.name}, {number} {dataset.row_label} that vary most"
    return with_free_name(made.with_(name=name), taken)


Planned = tuple[FitPlan, Cost | None, PluginError | None]
"""A checked plan, what it costs (None: not known), and what a plugin did wrong when asked for that."""


def planned(
    task: Task,
    model: Model,
    datasets: Mapping[str, Sequence[Dataset]],
    subsets: Mapping[str, int],
    taken: Mapping[str, Dataset],
    **how: Any,
) -> Planned:
    """The plan of a fit; ``subsets`` are rows to take of an input, ``how`` goes to ``make_plan``. Not on the GUI thread."""
    chosen = {
        key: [most_varying(item, subsets[key], taken) for item in items] if key in subsets else items
        for key, items in datasets.items()
    }
    task.check()
    plan = make_plan(model, chosen, taken=taken, **how)
    task.check()
    cost, wrong = None, None
    try:
        cost = estimate(plan)
    except PluginError as error:  # a plugin that cannot say what a fit costs may still be fitted
        wrong = error
    plan = memory_told(plan, cost)
    task.check()
    _ = plan.data_hash  # worked out here, so that the start does not wait for it
    return plan, cost, wrong


def _at_the_latest(schedule: Schedule, seconds: float) -> float:
    """Seconds until a run ends that has a budget of time, where its sweeps take ``seconds``: not before its first draws, but a warm-up that would
    outlast the budget is begun again and shorter."""
    each = seconds / schedule.sweeps("mcmc")
    if each * schedule.warmup > schedule.budget:
        return schedule.budget
    return max(schedule.budget, each * first(schedule).sweeps("mcmc"))


def cost_text(plan: FitPlan, cost: Cost | None) -> str:
    """``About 40 s and 60 MB for 4 chains``; of restarts also how many there are at most where they are quick."""
    chains = plan.schedule.chains
    sampler = plan.spec.algorithm == "mcmc"
    word = agree(chains, "chain", "chains") if sampler else agree(chains, "restart", "restarts")
    if cost is None:
        return f"{format_count(chains)} {word}; the time is known after the first sweeps"
    rounds = -(-chains // max(1, min(chains, os.cpu_count() or 1)))
    seconds = cost.seconds_per_sweep * plan.schedule.sweeps(plan.spec.algorithm) * rounds
    time = format_duration(max(seconds, 1.0), rough=True)
    need = needed(plan, cost)
    memory = format_bytes(need.chains + need.draws)
    if seconds < plan.schedule.budget:
        most = format_duration(plan.schedule.budget, rough=True)
        return f"Settles in {time} at best, ends by about {most}, {memory} for {format_count(chains)} {word}"
    if sampler and plan.schedule.budget:
        time = format_duration(_at_the_latest(plan.schedule, seconds), rough=True)
        return f"Ends after about {time}, settled or not, {memory} for {format_count(chains)} {word}"
    if sampler:
        return f"About {time} and {memory} for {format_count(chains)} {word}"
    made = plan.schedule.most_chains if chains > 1 else 0
    if made <= chains:
        return f"At most {time} and {memory} for {format_count(chains)} {word}"
    more = made / chains  # more restarts are made as long as all of them end within so many seconds
    time = format_duration(max(seconds, min(ALONE_SECONDS, seconds * more), 1.0), rough=True)
    memory = format_bytes((need.chains + need.draws) * more)
    return f"At most {time} and {memory} for {format_count(chains)} to {counted(made, 'restart')}"
