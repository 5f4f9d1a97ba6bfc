"""Data made from a declaration alone: every kind of input gets data that its model takes."""

import numpy as np
import pytest
from conforming import Means

from plaidwork.core.api import Input, Trace
from plaidwork.core.checks import _data
from plaidwork.core.contract.spec import ModelSpec, Variable
from plaidwork.core.inference.plan import make_plan


class Anything(Means):
    """Takes whatever its declaration says."""

    def validate(self, data, params):
        return ()


def spec(*inputs):
    return ModelSpec(
        id="any.thing",
        version="1",
        title="A",
        summary="A",
        inputs=inputs,
        variables=(Variable("v"),),
        traces=(Trace("t"),),
    )


SPECS = {
    "counts": spec(Input("X", dtype="count")),
    "binary": spec(Input("X", dtype="binary", missing=True)),
    "ordinal": spec(Input("X", dtype="ordinal", missing=True)),
    "sparse": spec(Input("X", dtype="count", sparse=True)),
    "many": spec(Input("X", many=True, missing=True)),
    "labels": spec(
        Input("X", missing=True), Input("y", "labels", "categorical", dims=("row",), missing=True)
    ),
    "vector": spec(Input("y", "vector", dims=("item",), missing=True)),
    "labels alone": spec(Input("y", "labels", "categorical", dims=("item",), missing=True)),
    "regression": spec(Input("X"), Input("y", "vector", dims=("row",)), Input("z", dims=("new", "column"))),
}


def model(name):
    return type("Model", (Anything,), {"spec": SPECS[name]})()


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("optional", [True, False])
def test_regular_data_are_taken(name, optional):
    plan = make_plan(model(name), _data.generic(SPECS[name], 1, optional=optional))
    main = _data.main_input(SPECS[name])
    blocks = plan.data[main.name] if main.many else (plan.data[main.name],)
    assert blocks[0].shape == (_data.N_ROWS, _data.N_COLUMNS)[: len(main.dims)]
    if main.many:
        assert [block.shape for block in blocks] == [(24, 16), (24, 8)]
    if main.missing:
        assert not blocks[0].observed.all()


@pytest.mark.parametrize("name", SPECS)
def test_degenerate_data_are_what_they_say(name):
    cases = dict(_data.degenerate(SPECS[name], 1))
    assert "one row" in cases
    assert ("empty row" in cases) == SPECS[name].inputs[0].missing
    assert ("sparse" in cases) == SPECS[name].inputs[0].sparse
    for make in cases.values():
        make_plan(model(name), make())


def test_cases():
    cases = dict(_data.degenerate(Means.spec, 1))
    x = {name: make()["X"][0].values for name, make in cases.items()}
    assert x["one cell"].shape == (1, 1)
    assert np.ptp(x["constant"]) == 0
    assert np.ptp(x["constant column"][:, 0]) == 0
    assert np.isnan(x["empty row"]).all(axis=1).sum() == 1
    assert np.isnan(x["empty column"]).all(axis=0).sum() == 1
    assert (~np.isnan(x["one known cell"])).sum() == 1
    assert np.abs(x["huge numbers"]).max() > 1e8
    assert np.abs(x["tiny numbers"]).max() < 1e-7
    assert x["more columns than rows"].shape == (5, 120)


def test_the_same_seed_gives_the_same_data():
    one, two, other = (_data.generic(Means.spec, seed)["X"][0].digest() for seed in (1, 1, 2))
    assert one == two != other
