"""Data, settings and seed checked together, before anything runs."""

import numpy as np
import pytest
import scipy.sparse
from toys import Walk, matrix

from plaidwork.core.api import Input, Model, ModelError, ModelSpec, Problem, refuse_errors
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.inference.plan import make_plan


def _model(*inputs):
    class Taker(Model):
        spec = ModelSpec(id="taker", version="1", title="Taker", summary="", inputs=inputs)
        init = step = draws = summarise = None

    Taker.__abstractmethods__ = frozenset()
    return Taker()


def _data(values=None, name="X", rows=None):
    values = matrix() if values is None else np.asarray(values, dtype=float)
    data = as_dataset(name, values)
    data = data.with_(name=name)
    return data if rows is None else data.with_(row_names=tuple(rows))


def test_model_gets_read_only_arrays():
    block = make_plan(Walk(), {"X": _data()}).data["X"]
    for array in (block.values, block.observed):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_missing_cells_are_zero_and_not_observed():
    values = matrix()
    values[1, 2] = np.nan
    block = make_plan(Walk(), {"X": _data(values)}).data["X"]
    assert block.values[1, 2] == 0
    assert not block.observed[1, 2]
    assert block.observed.sum() == values.size - 1
    assert block.held_out is None


def test_holdout_depends_on_the_seed_only():
    first, again, other = (
        make_plan(Walk(), {"X": _data()}, seed=seed, holdout=0.3).data["X"] for seed in (1, 1, 2)
    )
    assert np.array_equal(first.held_out, again.held_out)
    assert not np.array_equal(first.held_out, other.held_out)
    assert not (first.held_out & first.observed).any()
    assert (first.values[first.held_out] == 0).all()
    assert np.array_equal(first.truth, matrix())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"holdout": 0.6}, "0 to 0.5"),
        ({"params": {"stride": 0}}, "> 0"),
        ({"params": {"step": 1}}, "no setting"),
    ],
)
def test_bad_settings(changes, words):
    with pytest.raises(SettingError, match=words):
        make_plan(Walk(), {"X": _data()}, **changes)


def test_problems_of_the_model_stop_or_warn():
    with pytest.raises(DataError, match="too long"):
        make_plan(Walk(), {"X": _data()}, {"stride": 100})
    assert [p.message for p in make_plan(Walk(), {"X": _data()}, {"stride": 99}).warnings] == [
        "The stride is long."
    ]


@pytest.mark.parametrize(
    ("item", "data", "words"),
    [
        (Input("X"), None, "needs “X”"),
        (Input("X"), _data(np.empty((0, 3))), "empty"),
        (Input("X"), _data(np.arange(3)), "needs a matrix"),
        (Input("X"), [_data(), _data(name="Y")], "takes one data set"),
        (Input("X"), _data([[1, np.nan]]), "lacks 1: row “row 1”, column “column 2”"),
        (Input("X", dtype="binary"), _data([[0, 1], [1, 2]]), "Found 2 in X, row “row 2”, column “column 2”"),
        (Input("X", dtype="count"), _data([[0, 1.5]]), "whole numbers"),
        (Input("X", "labels", "categorical", ("row",)), _data(np.arange(3)), "needs labels"),
        (
            Input("X"),
            Dataset("S", scipy.sparse.csr_matrix(np.eye(2)), ("a", "b"), ("c", "d")),
            "needs a dense matrix",
        ),
    ],
)
def test_data_that_a_model_cannot_take(item, data, words):
    with pytest.raises(DataError) as caught:
        make_plan(_model(item), {} if data is None else {"X": data})
    assert words in str(caught.value)


def test_unknown_input_is_told():
    with pytest.raises(SettingError, match="no input"):
        make_plan(Walk(), {"Z": _data()})


def test_inputs_that_share_a_dim_are_joined_by_name():
    pair = _model(Input("X"), Input("Y", dims=("row", "other")))
    left, right = _data(np.arange(6).reshape(3, 2), rows="abc"), _data([[30.0], [10.0]], "Y", rows="ca")
    plan = make_plan(pair, {"X": left, "Y": right})
    assert plan.data["X"].names[0] == plan.data["Y"].names[0]
    both = dict(zip(plan.data["X"].names[0], zip(plan.data["X"].values[:, 0], plan.data["Y"].values[:, 0])))
    assert both == {"a": (0.0, 10.0), "c": (4.0, 30.0)}


def test_hash_follows_the_values():
    values = matrix()
    first = make_plan(Walk(), {"X": _data(values)}).data_hash
    assert first == make_plan(Walk(), {"X": _data(values.copy())}).data_hash
    values[0, 0] += 1e-12
    assert first != make_plan(Walk(), {"X": _data(values)}).data_hash


def test_a_model_refuses_the_first_error_and_no_warning():
    warned = Problem("A column is constant.", severity="warning")
    refuse_errors([warned])
    with pytest.raises(ModelError, match="No cell is known") as caught:
        refuse_errors([warned, Problem("No cell is known.", "Choose another matrix."), Problem("Too few.")])
    assert caught.value.hint == "Choose another matrix."
