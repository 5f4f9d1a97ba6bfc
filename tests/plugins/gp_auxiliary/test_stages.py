"""Sweeps in slices: where they are cut changes no number, and states of version 1 go on where they stood."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import POSITION, Block, Clock, ModelData
from plaidwork.core.draws.chain import copy_state
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.classes.variational import QuickClasses
from plaidwork.plugins.gp_auxiliary.components import model as binary_pca
from plaidwork.plugins.gp_auxiliary.components.model import BinaryComponents
from plaidwork.plugins.gp_auxiliary.few_labels.model import SemiClasses
from plaidwork.plugins.gp_auxiliary.raters.model import Rated
from plaidwork.plugins.gp_auxiliary.shared import hyper

WALK = {"parameters": "inferred", "moves": "walk", "walks": 3}
INFERRED = {"parameters": "inferred"}
CASES = {
    "two classes": (Classes, INFERRED),
    "three copies": (SemiClasses, INFERRED | {"rungs": 3}),
    "one copy": (SemiClasses, INFERRED | {"rungs": 1}),
    "ordered": (OrderedClasses, INFERRED),
    "raters": (Rated, INFERRED | {"site_sweeps": 2}),
    "components": (BinaryComponents, {"factors": 2}),
    "quick": (QuickClasses, {}),
}


def data_of(size: int, free: int = 0) -> ModelData:
    """Three classes or grades of ``size`` samples, the last ``free`` without a label; grades and bits by 4 columns."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((size, 2))
    names, two, four = tuple(f"s{i}" for i in range(size)), np.ones((size, 2), bool), np.ones((size, 4), bool)
    code = np.arange(size) % 3
    known = np.arange(size) < size - free
    grades = 1.0 + (code[:, None] + np.arange(4)) % 3
    columns = (names, tuple("abcd"))
    return ModelData(
        {
            "X": Block("X", x, two, None, (names, ("p", "q"))),
            "y": Block("y", np.where(known, code, 0), known, None, (names,), ("u", "v", "w")),
            "ratings": Block("ratings", grades, four, None, columns),
            "Y": Block("Y", (grades > 1.5).astype(float), four, None, columns),
        }
    )


class Chain:
    """A chain from its beginning; ``places`` are the positions at which its sweeps paused."""

    def __init__(self, name: str, size: int = 12, **changes) -> None:
        kind, settings = CASES[name]
        settings = settings | changes if "parameters" in settings else settings
        self.model = kind()
        self.data = data_of(size, 5 if kind is SemiClasses else 0)
        self.params, self.rng = self.model.spec.check_params(settings), generator(3)
        self.state = self.model.init(self.data, self.params, self.rng)
        self.places: list[dict] = []

    def step(self, sweep: int) -> bool:
        """The next slice; whether it ended the sweep."""
        clock = Clock(sweep, 2)
        ended = self.model.step(self.state, self.data, self.params, self.rng, clock) is not None
        if not ended:
            self.places.append(dict(self.state[POSITION]))
        return ended

    def sweep(self, number: int) -> dict:
        while not self.step(number):
            pass
        return dict(self.model.draws(self.state, self.data, self.params))


def same(one: dict, other: dict) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def finely(monkeypatch) -> None:
    """Every unit a slice, but for the components, whose slices decide a sum."""
    monkeypatch.setattr(hyper, "SLICE", 0.0)


@pytest.mark.parametrize("name", CASES)
def test_where_a_sweep_pauses_changes_no_number(name, monkeypatch):
    if name == "components":
        monkeypatch.setattr(binary_pca, "_CELLS_A_SLICE", 20)
    whole = Chain(name)
    draws = [whole.sweep(number) for number in range(3)]
    finely(monkeypatch)
    cut = Chain(name)
    for number in range(3):
        while not cut.step(number):
            cut.state = copy_state(cut.state)
        assert same(dict(cut.model.draws(cut.state, cut.data, cut.params)), draws[number])
    assert len(cut.places) > 3
    assert name == "components" or not whole.places


def old_calls(name: str, size: int) -> dict[int, tuple[str, int]]:
    """Where a sweep of version 1 stood after so many calls, as it told in ``call``."""
    if name == "three copies":  # of few samples a call did all of a copy
        return {call: ("copies", call * (4 if size <= 200 else 1)) for call in (1, 2)}
    if name == "components":  # 12 rows in 4 slices, then as many columns in as many
        return {1: ("scores", 3), 3: ("scores", 9), 4: ("loadings", 0), 6: ("loadings", 2)}
    return {call: ("covariance", call - 1) for call in (1, 2, 3)}


@pytest.mark.parametrize(("name", "size"), [*((name, 12) for name in CASES), ("three copies", 201)])
def test_a_state_of_version_1_goes_on_where_it_stood(name, size, monkeypatch):
    finely(monkeypatch)
    monkeypatch.setattr(binary_pca, "_CELLS_A_SLICE", 16)
    for call, (stage, at) in old_calls(name, size).items():
        chain, reference = Chain(name, size, **WALK), Chain(name, size, **WALK)
        for one in (chain, reference):
            one.sweep(0)
        chain.places.clear()
        while not chain.places or chain.places[-1] != {"stage": stage, "at": at}:
            assert not chain.step(1)
        old = copy_state(chain.state)
        del old[POSITION]
        chain.state = chain.model.upgrade_state(old | {"call": call}, 1, chain.data, chain.params)
        assert chain.state[POSITION] == {"stage": stage, "at": at}
        assert "call" not in chain.state
        assert same(chain.sweep(1), reference.sweep(1))


@pytest.mark.parametrize("name", CASES)
def test_a_state_of_version_1_between_two_sweeps_begins_one(name):
    chain = Chain(name)
    state = chain.model.upgrade_state(chain.state | {"call": 0}, 1, chain.data, chain.params)
    assert POSITION not in state
    assert "call" not in state
