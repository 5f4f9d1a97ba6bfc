"""What a fit is made of and what it costs: the subset of wide data, and the words of the estimate."""

from __future__ import annotations

import os
from collections.abc import Mapping

from plaidwork.core.contract.model import Cost
from plaidwork.core.data.dataset import Dataset, Step, with_free_name
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.inference.plan import FitPlan
from plaidwork.gui.numbers import format_bytes, format_count, format_duration


def most_varying(dataset: Dataset, number: int, taken: Mapping[str, Dataset]) -> Dataset:
    """The rows that vary most as a dataset of its own; one of the session when it is there already."""
    made = apply_step(dataset, Step("top_variance", {"axis": "rows", "n": number}))
    name = f"{dataset.name}, {number} {dataset.row_label} that vary most"
    return with_free_name(made.with_(name=name), taken)


def cost_words(plan: FitPlan, cost: Cost | None) -> str:
    """``About 40 s and 60 MB for 4 chains``."""
    chains = plan.schedule.chains
    sampler = plan.spec.algorithm == "mcmc"
    word = ("chain" if chains == 1 else "chains") if sampler else ("start" if chains == 1 else "starts")
    if cost is None:
        return f"{format_count(chains)} {word}; the time is known after the first sweeps"
    rounds = -(-chains // max(1, min(chains, os.cpu_count() or 1)))
    seconds = cost.seconds_per_sweep * plan.schedule.sweeps(plan.spec.algorithm) * rounds
    time = format_duration(max(seconds, 1.0), rough=True)
    memory = format_bytes(cost.memory * chains)
    return f"{'About' if sampler else 'At most'} {time} and {memory} for {format_count(chains)} {word}"
