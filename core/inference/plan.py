"""Datasets + model + settings + schedule + seed, checked together: all that decides the numbers of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Cost, Model, Problem
from plaidwork.core.contract.model_data import Block, ModelData, Params
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.dataset import Axis, Dataset, Step
from plaidwork.core.data.levels import levels_of
from plaidwork.core.data.orienting import Placed, orient
from plaidwork.core.data.outcomes import without_outcomes
from plaidwork.core.data.sparse_in_file import check_copy
from plaidwork.core.errors import DataError, PluginError, SettingError
from plaidwork.core.inference.untouched import Sums, sums_of
from plaidwork.core.inference.value_checks import check_values

InputData = Mapping[str, Dataset | Sequence[Dataset]]
"""Datasets by input name; a sequence for inputs that take many."""

_AXES: tuple[Axis, Axis] = (0, 1)
_HOLDOUT_KEY = 0x686F6C64  # keeps the choice of held-out cells apart from every chain's stream


@dataclass(frozen=True)
class FitPlan:
    """A checked fit, ready to run; build it with :func:`make_plan`."""

    model: Model
    inputs: Mapping[str, tuple[Dataset, ...]]
    data: ModelData
    params: Params
    schedule: Schedule
    seed: int
    holdout: float
    warnings: tuple[Problem, ...] = ()
    placed: tuple[Placed, ...] = ()
    """Where the samples are of the matrices whose inputs care, and which were transposed."""

    @property
    def spec(self) -> ModelSpec:
        return self.model.spec

    @cached_property
    def data_hash(self) -> str:
        """SHA-256 over all inputs as the model gets them; takes a moment for large data, once."""
        return hash_of(self.inputs)

    @cached_property
    def data_sums(self) -> Sums:
        """Checksums of ``data`` as they were before a model had them."""
        return sums_of(self.data)


def make_plan(
    model: Model,
    inputs: InputData,
    params: Mapping[str, object] | None = None,
    *,
    schedule: Schedule | None = None,
    seed: int = 1,
    holdout: float = 0.0,
    turn: bool = True,
    taken: Mapping[str, Dataset] | None = None,
) -> FitPlan:
    """Check everything and build the plan.

    A measurement that is the outcome as well is taken out of its matrix (:func:`~plaidwork.core.data.outcomes.without_outcomes`).
    Matrices whose samples lie on the axis that the input does not want are transposed, under names that are free among
    ``taken`` (see ``plan.placed``). With ``turn=False`` data are taken as they are, as those of a stored run are.

    Raises ``SettingError`` for a bad setting, ``DataError`` for data the model cannot take; problems that the
    model calls warnings are kept in ``plan.warnings``.
    """
    spec = model.spec
    values = spec.check_params(params or {})
    _check_seed(seed)
    if not 0 <= holdout <= 0.5:
        raise SettingError(f"The share of cells held out must be from 0 to 0.5. Found “{holdout}”.")
    found = _collect(spec, inputs)
    placed: tuple[Placed, ...] = ()
    if turn:
        found = without_outcomes(spec.inputs, found, taken)
        found, placed = orient(spec.inputs, found, taken)
    given = _join(spec, found)
    data = model_data(spec, given, seed, holdout)
    problems = _validated(model, data, values)
    return FitPlan(model, given, data, values, schedule or spec.schedule, seed, holdout, problems, placed)


def replan(plan: FitPlan, params: Mapping[str, object], seed: int) -> FitPlan:
    """The same data with other settings and another seed: nothing is joined, copied or hashed again.

    Equals ``make_plan`` with the plan's inputs, schedule and holdout, and raises what that raises.
    """
    values = plan.spec.check_params(params)
    _check_seed(seed)
    other_cells = plan.holdout > 0 and seed != plan.seed
    data = model_data(plan.spec, plan.inputs, seed, plan.holdout) if other_cells else plan.data
    problems = _validated(plan.model, data, values)
    made = FitPlan(
        plan.model, plan.inputs, data, values, plan.schedule, seed, plan.holdout, problems, plan.placed
    )
    made.__dict__["data_hash"] = plan.data_hash  # where cached_property keeps it
    return made


def _check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise SettingError(f"The seed must be a whole number from 0 on. Found “{seed}”.")


def _validated(model: Model, data: ModelData, values: Params) -> tuple[Problem, ...]:
    """What the model says of data and settings. Raises ``DataError`` for the first error."""
    with blamed(model, "validate"):
        problems = _problems(model.validate(data, values))
    for problem in problems:
        if problem.severity == "error":
            raise DataError(problem.message, problem.hint)
    return problems


def _problems(found: Any) -> tuple[Problem, ...]:
    problems = () if found is None else tuple(found)
    for problem in problems:
        if not isinstance(problem, Problem):
            raise PluginError(f"it returned {type(problem).__name__}, not a Problem", hook="validate")
    return problems


def estimate(plan: FitPlan) -> Cost | None:
    """What the model thinks a chain costs; None when it does not say. Raises ``PluginError``."""
    with blamed(plan.model, "estimate"):
        cost = plan.model.estimate(plan.data, plan.params)
        numbers = (
            () if cost is None else (getattr(cost, "memory", None), getattr(cost, "seconds_per_sweep", None))
        )
        if not isinstance(cost, (Cost, type(None))) or not all(isinstance(n, (int, float)) for n in numbers):
            raise PluginError(f"it returned {cost!r:.80}, not a Cost of numbers", hook="estimate")
    return cost


def joined_inputs(spec: ModelSpec, inputs: InputData) -> dict[str, tuple[Dataset, ...]]:
    """The datasets by input, checked against the declaration and joined by name. Raises ``DataError``."""
    return _join(spec, _collect(spec, inputs))


def model_data(
    spec: ModelSpec, given: Mapping[str, tuple[Dataset, ...]], seed: int, holdout: float
) -> ModelData:
    """What a model gets of joined datasets; the cells held out depend on the seed only."""
    rng = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(_HOLDOUT_KEY,))))
    blocks: dict[str, Block | tuple[Block, ...]] = {}
    for item in spec.inputs:
        if item.name in given:
            made = tuple(_block(item, dataset, holdout, rng) for dataset in given[item.name])
            blocks[item.name] = made if item.many else made[0]
    return ModelData(blocks)


def data_block(owner: str, item: Input, dataset: Dataset) -> Block:
    """One dataset as an input of ``owner``, nothing held out. Raises ``DataError`` when it does not fit."""
    _check_input(owner, item, dataset)
    return _block(item, dataset, 0.0, np.random.default_rng(0))


def hash_of(inputs: Mapping[str, Sequence[Dataset]]) -> str:
    """SHA-256 over joined datasets by input."""
    hasher = hashlib.sha256()
    for name in sorted(inputs):
        for dataset in inputs[name]:
            hasher.update(f"{name}={dataset.digest()};".encode())
    return hasher.hexdigest()


def _collect(spec: ModelSpec, inputs: InputData) -> dict[str, tuple[Dataset, ...]]:
    given: dict[str, tuple[Dataset, ...]] = {}
    for name, value in inputs.items():
        item = spec.input(name)
        datasets = (value,) if isinstance(value, Dataset) else tuple(value)
        if not datasets:
            continue
        if len(datasets) > 1 and not item.many:
            raise DataError(f"{spec.title} takes one data set as “{item.title}”. Found {len(datasets)}.")
        for dataset in datasets:
            _check_input(spec.title, item, dataset)
        given[name] = datasets
    for item in spec.inputs:
        if item.required and item.name not in given:
            raise DataError(f"{spec.title} needs “{item.title}” ({item.name}).", item.doc)
    return given


_WANTED = {"matrix": "a matrix", "vector": "a vector, one number an item", "labels": "labels, one an item"}


def _first_gap(dataset: Dataset) -> str:
    """Where the first missing cell is, in words."""
    values = dataset.values
    gaps = values < 0 if dataset.kind == "categorical" else np.isnan(values)
    position = np.argwhere(gaps)[0]
    names = (dataset.row_names, dataset.column_names)
    return ", ".join(f"{w} “{n[int(i)]}”" for w, n, i in zip(("row", "column"), names, position))


def _check_input(owner: str, item: Input, dataset: Dataset) -> None:
    if len(dataset.shape) not in item.axes:
        raise DataError(
            f"“{item.title}” of {owner} needs {_WANTED[item.kind]}. Found {dataset.name} with shape {dataset.shape}.",
            ""
            if item.kind == "matrix"
            else "A column beside the rows of another input is given as INPUT:row:TITLE.",
        )
    if min(dataset.shape) == 0:
        raise DataError(f"{dataset.name} is empty: {dataset.described}.")
    if dataset.is_sparse and not item.sparse:
        raise DataError(
            f"{owner} needs a dense matrix as “{item.title}”, and {dataset.name} is sparse.",
            "Choose “Make dense” under Data, when it fits in memory.",
        )
    if dataset.n_missing and not item.missing:
        count = dataset.n_missing
        raise DataError(
            f"{owner} needs every cell of “{item.title}”. {dataset.name} lacks {count}: "
            f"{'the first is ' if count > 1 else ''}{_first_gap(dataset)}.",
            "Fill the cells in, or leave out rows or columns with gaps (transformation “drop_missing”).",
        )
    if item.dtype == "categorical" and dataset.kind != "categorical":
        raise DataError(f"“{item.title}” of {owner} needs labels. Found {dataset.name} with numbers.")
    check_values(item, dataset)


def _join(spec: ModelSpec, given: dict[str, tuple[Dataset, ...]]) -> dict[str, tuple[Dataset, ...]]:
    """Bring inputs that share a dim into one order, by name when they have names."""
    from plaidwork.core.data.joining import align, unite

    given = {name: tuple(unite(d)) if spec.input(name).union else d for name, d in given.items()}
    users: dict[str, list[tuple[str, int, Axis]]] = {}
    for item in spec.inputs:
        for position in range(len(given.get(item.name, ()))):
            for axis, dim in zip(_AXES, item.dims):
                if not (item.many and axis == 1):  # each of many matrices has columns of its own
                    users.setdefault(dim, []).append((item.name, position, axis))
    joined = {name: list(datasets) for name, datasets in given.items()}
    for places in users.values():
        if len(places) > 1:
            parts = {f"{name}[{i}]": (joined[name][i], axis) for name, i, axis in places}
            orders, _report = align(parts)
            for (name, i, axis), order in zip(places, orders.values(), strict=True):
                if order is not None:
                    joined[name][i] = joined[name][i].take(
                        axis, order, Step("joined", {"text": "joined by name"})
                    )
    return {name: tuple(datasets) for name, datasets in joined.items()}


def freeze(array: np.ndarray) -> np.ndarray:
    """The array as a view that cannot be written through."""
    view = array.view()
    view.setflags(write=False)
    return view


def _block(item: Input, dataset: Dataset, holdout: float, rng: np.random.Generator) -> Block:
    names = (dataset.row_names, dataset.column_names)[: len(dataset.shape)]
    common: dict[str, Any] = {"categories": dataset.categories, "unit": dataset.unit, "kind": dataset.kind}
    if dataset.is_sparse:
        if dataset.stays and not item.in_file:
            check_copy(dataset, f"“{item.title}”")
        observed, mapped = np.ones((1, 1), dtype=bool), dataset.stays
        return Block(dataset.name, dataset.values, freeze(observed), None, names, mapped=mapped, **common)
    held_apart = holdout > 0 and bool(item.holdout)
    if item.in_file and not item.sparse and dataset.stays and not (held_apart or dataset.n_missing):
        observed = np.broadcast_to(np.True_, dataset.shape)
        return Block(dataset.name, dataset.in_file, observed, None, names, **common)
    values = dataset.values
    common["levels"] = levels_of(dataset)
    if dataset.kind == "categorical":
        return Block(dataset.name, values, freeze(values >= 0), None, names, **common)
    known = ~np.isnan(values)
    held_out = truth = None
    if held_apart:
        held_out = known & (rng.random(values.shape) < holdout)
        truth = values
        known = known & ~held_out
    if not known.all():
        values = np.where(known, values, 0.0)
    return Block(
        dataset.name,
        freeze(values),
        freeze(known),
        None if held_out is None else freeze(held_out),
        names,
        truth=None if truth is None else freeze(truth),
        **common,
    )
