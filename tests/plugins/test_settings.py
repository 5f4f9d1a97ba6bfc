"""Every setting that the form shows does something: draws, traces or results change with it, in data that it is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_type_hints, is_typeddict

import numpy as np
import pytest
from sparing import some, unless_passed

from plaidwork.core.checks import _data
from plaidwork.core.checks._bench import Bench, first_difference, result_difference
from plaidwork.core.checks._check import CheckFailed
from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import PlaidworkError, SettingError
from plaidwork.core.plugins.registry import Registry

REGISTRY = Registry(safe_mode=True).load()
MODELS = [spec.id for spec in REGISTRY.specs()]
QUICK = ("binary_pca", "group_factor", "plaid_counts")
"""Each takes a second or two when something has changed; the others up to ten."""
SHORT = Schedule(chains=2, warmup=6, draws=6, thin=1, max_sweeps=16, tolerance=0.0)

ONLY_WITH = {
    "inducing": "above 2000 samples, which its choice “Automatic” says",
    "period": "terms called periodic in a sum, which its words say",
    "period_of": "the same",
    "degree": "terms called polynomial in a sum, which its words say",
    "metric": "a warm-up long enough for a window of draws, which its words say",
    "slices": "four classes or more, or a low-rank computation, which its words say",
    "trajectories": "f moved as a whole, which is not so at the defaults; its words say when",
    "grow": "more than 100 sweeps, which its words say",
    "grow_gain": "more than 100 sweeps, as it goes with “grow”",
    "most_factors": "more than 100 sweeps, as it goes with “grow”",
    "drop_every": "weak factors, which its words say",
    "min_documents": "rare words, which its words say",
    "background_if_better": "a proposal that is taken, which so few sweeps seldom bring",
    "reorder": "topics whose numbers of documents change places, which so few sweeps seldom bring",
    "cut_gap_sd": "cut-points that move, which so few sweeps seldom bring",
    "chosen_by": "sums between which the two differ, which its words say",
    "by_left_out": "boundaries that the sum of the highest bound predicts less well, which its words say",
    "effects_if_needed": "levels of whole rows or columns, which its words say",
    "freedom_shape": "noise with heavy tails, which its words say",
    "freedom_rate": "noise with heavy tails, as it goes with “freedom_shape”",
    "classes": "a class that only unlabelled samples have, which its words say",
    "share_weight": "counts that share a total, which its words say",
    "whole_numbers": "data marked as ordered levels, which its words say",
    "exposure": "matrices of counts, which its words say",
    "correlated_columns": "columns that go together within groups of samples, which its words say",
    "least_within": "values that come back or columns that follow from others, which its words say",
    "few_values": "columns of a few values beside others, which its words say",
    "log_above": "matrices of large counts, which its words say",
    "rate_shape": "matrices of counts, which its words say",
    "supervised_ibp.steps": "data too large for moves, which its words say",
    "supervised_ibp.stochastic_passes": "the same",
    "supervised_ibp.batch_documents": "the same",
    "supervised_ibp.step_decay": "the same",
    "together": "documents with the same words, which its words say",
    "small_births": "blocks that add by level, which its words say",
}
"""Settings, of all models or of the one that is named, that matter in data, or with texts of other settings, that are not made here."""


def shown(spec: ModelSpec, values: dict[str, Any]) -> list[Hyperparameter]:
    """The settings whose fields are visible at these values."""
    visible = {parameter.name: True for parameter in spec.hyperparameters}
    for _ in spec.hyperparameters:  # a chain of conditions is as long as the form at most
        visible = {
            parameter.name: parameter.active(values) and all(visible[other] for other in parameter.when)
            for parameter in spec.hyperparameters
        }
    return [parameter for parameter in spec.hyperparameters if visible[parameter.name]]


def others(parameter: Hyperparameter) -> Iterator[Any]:
    """Other values than the default."""
    default = parameter.default
    match parameter.kind:
        case "bool":
            yield not default
        case "choice":
            yield from (choice.value for choice in parameter.choices if choice.value != default)
        case "text" if parameter.per:
            yield parameter.choices[-1].value
        case "text":
            yield f"{default} class b"
        case "array":
            yield (4.0, 4.0)
        case _:
            low = default / 3 if parameter.minimum is None else parameter.minimum
            for value in (3 * default + 2, low, default / 2 + 0.3, 2):
                try:
                    checked = parameter.check(value)
                except SettingError:
                    continue
                if checked != default:
                    yield checked


def halved(spec: ModelSpec, datasets: _data.Datasets) -> _data.Datasets:
    """Labels of two classes, called train and test; those of optional inputs cut across the required ones."""
    found = {}
    for name, items in datasets.items():
        by = 1 if spec.input(name).required else 2
        found[name] = [
            data.with_(values=data.values // by % 2, categories=("train", "test"))
            if data.categories
            else data
            for data in items
        ]
    return found


def signs(datasets: _data.Datasets) -> _data.Datasets:
    """Matrices of zeros and ones."""
    return {
        name: [
            data
            if len(data.shape) == 1
            else data.with_(values=(data.values > 0).astype(float), kind="binary")
            for data in items
        ]
        for name, items in datasets.items()
    }


def widened(spec: ModelSpec, datasets: _data.Datasets) -> _data.Datasets:
    """Two columns, unlike but related, wherever an input takes several."""
    found = dict(datasets)
    for item in spec.inputs:
        if item.several and item.name in found:
            found[item.name] = [
                _data.dataset(item, np.stack([data.values, np.roll(data.values, 1) - data.values], axis=1))
                for data in found[item.name]
            ]
    return found


def situations(spec: ModelSpec) -> Iterator[_data.Datasets]:
    """Data in which to look for an effect, the plain ones first."""
    plain = _data.generic(spec, 1)
    yield plain
    if any(data.categories for items in plain.values() for data in items):
        yield halved(spec, plain)
    if any(item.several for item in spec.inputs):
        yield widened(spec, plain)
    everything = halved(spec, _data.generic(spec, 1, optional=True, missing=0.0))
    if any(item.many for item in spec.inputs):
        yield signs(_data.generic(spec, 1, missing=0.0))
        yield signs(everything)
    yield everything
    if any(item.several for item in spec.inputs):
        yield widened(spec, everything)
    # a split that is given leaves no share to choose, and what is smooth along time or place is not everything else
    for left_out in ("split", "along"):
        without = {name: items for name, items in everything.items() if name != left_out}
        if set(plain) < set(without) < set(everything):
            yield without
            if any(item.many for item in spec.inputs):
                yield signs(without)


class Looked:
    """Fits of a model to all situations at some settings, each made once."""

    def __init__(self, bench: Bench, base: dict[str, Any]) -> None:
        self.bench, self.base = bench, base
        self.data = list(situations(bench.spec))
        self.made: dict[int, Any] = {}

    def fit(self, number: int, params: dict[str, Any]) -> Any:
        """Chains and results in one of the situations, or the refusal in words."""
        try:
            plan, run = self.chains(number, params)
            return run.chains, self.bench.summarise(plan, run.kept(), refusal=True)
        except (CheckFailed, PlaidworkError) as error:
            return str(error)

    def chains(self, number: int, params: dict[str, Any]) -> tuple[Any, Any]:
        plan = self.bench.make(self.data[number], params, SHORT, refusal=True)
        return plan, self.bench.run(plan, refusal=True)

    def started(self) -> bool:
        """Whether the model takes these settings in one of the situations at least."""
        for number in range(len(self.data)):
            self.made.setdefault(number, self.fit(number, self.base))
        return not all(isinstance(made, str) for made in self.made.values())

    def matters(self, parameter: Hyperparameter) -> bool:
        return any(
            self.differs(number, {**self.base, parameter.name: value})
            for number, usual in self.made.items()
            if not isinstance(usual, str)
            for value in others(parameter)
        )

    def differs(self, number: int, params: dict[str, Any]) -> bool:
        """Whether anything is another, or is refused; results are made where the chains are the same."""
        chains, results = self.made[number]
        try:
            plan, run = self.chains(number, params)
            if any(first_difference(self.bench.spec, *pair) for pair in zip(chains, run.chains, strict=True)):
                return True
            return bool(result_difference(results, self.bench.summarise(plan, run.kept(), refusal=True)))
        except (CheckFailed, PlaidworkError):
            return True


def idle(bench: Bench, base: dict[str, Any]) -> list[str]:
    """Names of the settings shown that change nothing."""
    looked = Looked(bench, base)
    if not looked.started():
        assert base, "the defaults have to work"
        return []  # such as a start from given values
    values = {parameter.name: parameter.default for parameter in bench.spec.hyperparameters} | base
    return [
        parameter.name
        for parameter in shown(bench.spec, values)
        if parameter.name not in {*base, *ONLY_WITH}
        and f"{bench.spec.id}.{parameter.name}" not in ONLY_WITH
        and not looked.matters(parameter)
    ]


@pytest.mark.parametrize("model", some(MODELS, QUICK))
def test_every_setting_shown_does_something(model):
    def check():
        assert idle(Bench(made, "quick", 1), {}) == []

    made = REGISTRY.model(model)
    unless_passed(type(made), "settings", check)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_setting_shown_beside_a_choice_does_something(model):
    bench = Bench(REGISTRY.model(model), "quick", 1)
    for parameter in bench.spec.hyperparameters:
        for value in others(parameter) if parameter.kind in ("bool", "choice") else ():
            base = {parameter.name: value}
            assert idle(bench, base) == [], f"beside {base}"


@pytest.mark.parametrize("name", MODELS)
def test_typed_settings_are_those_declared(name):
    """Type checkers know the settings of a model by a record, which must not fall behind its declaration."""
    model = REGISTRY.model(name)
    known = get_type_hints(type(model).draws)["params"]
    if is_typeddict(known):
        declared = {parameter.name for parameter in model.spec.hyperparameters}
        assert known.__required_keys__ <= declared <= known.__annotations__.keys()
