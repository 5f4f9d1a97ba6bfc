"""The search for the components of the start: of many samples it goes over some at first."""

import group_factor_tools as tools
import numpy as np
import pytest

from plaidwork.core.api import Clock, Schedule
from plaidwork.core.contract.stages import advance
from plaidwork.core.data.importers.reading import read_dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.group_factor import reading, search

N = 4500


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(search, "MANY", 4)
    monkeypatch.setattr(search, "SOME", 2)
    monkeypatch.setattr(reading, "PIECE", 1)


def _values(seed=3):
    rng = np.random.default_rng(seed)
    z, w = rng.standard_normal((N, 3)), rng.standard_normal((3, 30))
    return z @ w + 2 * rng.standard_normal((N, 30))


def _plan(data, **settings):
    model = registry().model("group_factor")
    return model, make_plan(model, {"views": data}, {"n_factors": 3, "start_noise": 0, **settings})


def _start(model, plan, each=None):
    """The state when the search has ended, and how many slices it took."""
    rng, slices = np.random.default_rng(1), 0
    state = model.init(plan.data, plan.params, rng)
    while "start" in state:
        advance(model, state, plan.data, plan.params, rng, Clock(0, 0))
        slices += 1
        if each is not None:
            each(state)
    return state, slices


def test_the_stretches_are_spread_and_full():
    found = search.some_samples(N)
    assert found == [(0, 1024), (2048, 3072)]
    assert search.some_samples(3 * 1024) == [(0, 3 * 1024)]


@pytest.mark.parametrize("init", ["pca", "varimax"])
def test_components_are_those_of_all_samples(init, monkeypatch):
    model, plan = _plan([tools.dataset("y", _values())], init=init)
    some, _ = _start(model, plan)
    monkeypatch.setattr(search, "MANY", 100)
    whole, _ = _start(model, plan)
    for mine, other in zip(some["z"], whole["z"], strict=True):
        assert abs(np.corrcoef(mine, other)[0, 1]) > 0.9999
    assert (some["z"] ** 2).mean(axis=1) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_same_from_a_file_whose_most_samples_are_read_three_times(order, tmp_path, monkeypatch):
    path = tmp_path / "y.npy"
    np.save(path, np.asarray(_values(), "f4", order=order))
    found, read, part_of = [], [], search.blocks.part_of

    def spy(state, data, lo, hi):
        read.append((lo, hi))
        return part_of(state, data, lo, hi)

    monkeypatch.setattr(search.blocks, "part_of", spy)
    for where in ("memory", "file"):
        data = read_dataset(path, {"values_in": where, "samples_in": "rows"})
        model, plan = _plan([data])
        found.append(_start(model, plan)[0])
    assert np.array_equal(found[0]["z"], found[1]["z"])
    last = [piece for piece in read if piece[0] == 4096]
    assert len(last) == 2 * search.REFINING + 2  # spreading out, and the loadings


def test_it_goes_on_from_any_slice():
    model, plan = _plan([tools.dataset("y", _values())])

    one, two = _start(model, plan), _start(model, plan, tools.as_from_a_checkpoint)
    assert np.array_equal(one[0]["z"], two[0]["z"])


def test_a_stored_search_is_compared_with_the_fit():
    model, plan = _plan([tools.dataset("y", _values())])
    said = []

    def look(state):
        if "start" not in state or said:
            return
        why = lambda changed: Expected(plan, 0, Schedule()).why_not(changed, 0)  # noqa: E731
        assert why(state) == ""
        for name, value in (("some", 0), ("pass", search.PASSES), ("basis", state["start"]["basis"][:, 1:])):
            changed = copy_state(state)
            changed["start"][name] = value
            said.append(why(changed))

    _start(model, plan, look)
    assert len(said) == 3
    assert all("components are sought of other data" in one for one in said)
