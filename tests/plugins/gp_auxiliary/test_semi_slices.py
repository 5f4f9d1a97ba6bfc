"""Few labels: the start of a chain and a sweep are cut into short slices, which change no number."""

import copy

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import POSITION, Block, Clock, ModelData
from plaidwork.plugins.gp_auxiliary.few_labels.model import SemiClasses
from plaidwork.plugins.gp_auxiliary.shared import hyper

SETTINGS = {
    "two": (2, {}),
    "three": (3, {}),
    "inferred": (2, {"parameters": "inferred"}),
    "inducing": (2, {"form": "inducing", "inducing": 5}),
}


def data_of(n_classes):
    """24 samples, every third with a label."""
    x = np.random.default_rng(1).standard_normal((24, 2))
    codes = np.where(np.arange(24) % 3 == 0, np.arange(24) // 3 % n_classes, -1)
    names = tuple(f"s{i}" for i in range(24))
    return ModelData(
        {
            "X": Block("X", x, np.ones(x.shape, dtype=bool), None, (names, ("u", "v"))),
            "y": Block("y", np.maximum(codes, 0), codes >= 0, None, (names,), tuple("abc"[:n_classes])),
        }
    )


def swept(name, copied):
    """(z of every copy, slices) after three sweeps; with ``copied`` each slice goes on from a copy of the state."""
    n_classes, settings = SETTINGS[name]
    model, data, rng, slices = SemiClasses(), data_of(n_classes), generator(5), 0
    params = model.spec.check_params({"rungs": 3, "rounds": 1, **settings})  # rounds learn by the slice
    state = model.init(data, params, rng)
    for number in range(3):
        while model.step(state, data, params, rng, Clock(number, 2)) is None:
            slices += 1
            if copied:
                state, rng = copy.deepcopy(state), copy.deepcopy(rng)
    assert not {"labelled", "f", "maps", POSITION} & set(state)
    return [state["rungs"][str(m)]["z"] for m in range(3)], slices


@pytest.mark.parametrize("name", SETTINGS)
def test_slices_change_no_number(name, monkeypatch):
    whole, few = swept(name, copied=False)
    monkeypatch.setattr(hyper, "SLICE", 1e-12)
    cut, many = swept(name, copied=True)
    assert many > few + 20
    assert np.array_equal(whole, cut)


def test_a_chain_starts_without_the_root_and_the_map_and_makes_each_in_a_slice(monkeypatch):
    monkeypatch.setattr(hyper, "SLICE", 1e-12)
    model, data, rng = SemiClasses(), data_of(2), generator(5)
    params = model.spec.check_params({"rungs": 3})
    state, found = model.init(data, params, rng), []
    for _ in range(3):
        found.append([name for name in ("root", "map") if name in state["fixed"]])
        assert model.step(state, data, params, rng, Clock(0, 2)) is None
    assert found == [[], ["root"], ["root", "map"]]
    root, made = state["fixed"]["root"], state["fixed"]["map"]
    c = root @ root.T
    assert np.allclose(made @ made.T, np.linalg.inv(np.linalg.inv(c) + 0.02 * np.eye(24)), atol=1e-5)
