"""Whether a fit fits into memory, asked before it starts: data, states and kept draws against what is free."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.contract.model import Cost, Problem
from plaidwork.core.contract.model_data import Block
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.hdf5.limits import free_memory
from plaidwork.core.inference.plan import FitPlan

_STATES = 3.0
"""Times the data that a chain takes when its model does not say: state, checkpoint, and room to work in."""
_UNKNOWN = 20
"""Items along a dim whose length the fit decides (blocks, factors, topics)."""


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes that a fit is going to take beside what is there already."""

    data: float
    """The inputs as the model gets them."""
    chains: float
    """States of all chains, and what they share beside the data."""
    draws: float
    """Kept draws of all chains; of those that go on until they have settled the planned ones."""

    @property
    def total(self) -> float:
        return self.data + self.chains + self.draws


def needed(plan: FitPlan, cost: Cost | None) -> Need:
    """What a fit takes; ``cost`` is what the model says of a chain, None when it does not say."""
    data = data_bytes(plan)
    chains, kept = plan.schedule.chains, plan.schedule.draws if plan.spec.algorithm == "mcmc" else 1
    draws = _draw_bytes(plan) if cost is None or cost.draw is None else cost.draw
    if cost is None:
        return Need(data, _STATES * data * chains, kept * draws * chains)
    return Need(data, float(cost.shared + cost.memory * chains), float(kept * draws * chains))


def data_bytes(plan: FitPlan) -> float:
    """Bytes of the inputs as the model gets them; what stays in its file takes none."""
    return float(sum(_bytes(block) for block in _blocks(plan)))


def stays_in_file(plan: FitPlan) -> bool:
    """Whether some input is read from its file during the fit."""
    return any(block.stays for block in _blocks(plan))


def _blocks(plan: FitPlan) -> Iterator[Block]:
    for given in plan.data.values():
        yield from given if isinstance(given, tuple) else (given,)


def _bytes(block: Block) -> int:
    values = block.values
    if block.stays:
        return 0
    if hasattr(values, "tocsr"):
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)
    return int(np.asarray(values).nbytes)


def _draw_bytes(plan: FitPlan) -> float:
    """Bytes of a kept draw; booleans take a bit each, where they have a dim."""
    lengths = _lengths(plan)
    one = 0.0
    for variable in plan.spec.variables:
        cells = math.prod(float(lengths.get(dim, _UNKNOWN)) for dim in variable.dims)
        one += cells / 8 if variable.dtype == "bool" and variable.dims else 8 * cells
    return one


def _lengths(plan: FitPlan) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in plan.spec.inputs:
        datasets: tuple[Dataset, ...] = plan.inputs.get(item.name, ())
        for axis, dim in enumerate(item.dims):
            sizes = [dataset.shape[axis] for dataset in datasets if axis < len(dataset.shape)]
            if sizes:
                found[dim] = max(sum(sizes) if item.many and axis == 1 else max(sizes), found.get(dim, 0))
    return found


def memory_problem(plan: FitPlan, cost: Cost | None, fits: int = 1) -> Problem | None:
    """A warning when so many such fits of the same data at a time need more memory than is free, with what helps most."""
    free, need = free_memory(), needed(plan, cost)
    # the inputs are in memory by now
    missing = fits * (need.total - need.data)
    if free is None or missing <= free:
        return None
    chains = plan.schedule.chains
    word = "chains" if plan.spec.algorithm == "mcmc" else "starts"
    if fits > 1:
        help_ = "Make fewer fits at a time, or fit fewer rows or columns, or close other programs."
    elif need.draws > need.chains:
        help_ = "Keep fewer draws (a larger thinning), or fit fewer rows or columns."
    elif chains > 1:
        help_ = f"Fit fewer {word}{_that_fit(plan, cost, free, word)}, or fewer rows or columns, or close other programs."
    else:
        help_ = "Fit fewer rows or columns, or close other programs."
    could = {item.sparse for item in plan.spec.inputs if item.in_file and _could_stay(plan, item.name)}
    if False in could:
        help_ += " A matrix in a file of NumPy (.npy) or AnnData (.h5ad) can stay there (values_in=file)."
    if True in could:
        help_ += " Sparse counts in a file (.npz, .h5ad, .mtx) can stay out of memory (values_in=file)."
    which = f"{counted(fits, 'such fit')} at a time need" if fits > 1 else "This fit needs"
    text = f"{which} about {_size(missing)} of memory, and {_size(free)} are free: the system may end {agree(fits, 'it', 'them')}."
    return Problem(text, help_, severity="warning")


def _that_fit(plan: FitPlan, cost: Cost | None, free: float, word: str) -> str:
    """How many chains there is room for, in brackets; empty where there is none for one."""
    for chains in range(plan.schedule.chains - 1, 0, -1):
        need = needed(replace(plan, schedule=plan.schedule.with_(chains=chains)), cost)
        if need.total - need.data <= free:
            return f" (there is room for {counted(chains, word.removesuffix('s'))})"
    return ""


def _could_stay(plan: FitPlan, name: str) -> bool:
    """Whether an input has matrices in memory that need not be there: sparse ones where it takes them, else dense ones without gaps."""
    found, sparse = plan.inputs.get(name, ()), plan.spec.input(name).sparse
    if sparse:
        return any(data.is_sparse and not data.stays for data in found)
    return any(not (data.stays or data.is_sparse or data.n_missing) for data in found) and not plan.holdout


def memory_told(plan: FitPlan, cost: Cost | None) -> FitPlan:
    """The plan, with the problem of memory, if there is one, as the first of its warnings."""
    found = memory_problem(plan, cost)
    return plan if found is None else replace(plan, warnings=(found, *plan.warnings))


def _size(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1.0, size / 1e6):.0f} MB"
