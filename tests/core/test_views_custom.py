"""What a custom view may read: everything of a run, and nothing can be changed. Hook: plaidwork_views."""

import numpy as np
import pytest
from toys import Walk, matrix

from plaidwork.core.contract.views import PictureFactory, ResultStore, ViewFactory
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import PluginError
from plaidwork.core.inference import execution as fitting
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session


@pytest.fixture(scope="module")
def run():
    session = Session()
    data = as_dataset("numbers", matrix())
    plan = make_plan(Walk(), {"X": data}, seed=2)
    made = session.add_run(plan)
    fitting.execute(made, plan, InlineExecutor())
    return made


@pytest.fixture
def store(run):
    return ResultStore(run, run.session.datasets)


def test_results_are_a_mapping_that_cannot_be_changed(store):
    assert sorted(store) == ["place", "table", "words"]
    assert len(store) == 3
    assert store["words"] == "It **walked**."
    assert store.array("place").shape == (4,)
    with pytest.raises(TypeError):
        store["place"] = 1  # type: ignore[index]
    for array in (store.array("place"), store["table"].columns["number"], store["draws:place"].values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        store["table"].columns["new"] = np.zeros(3)
    with pytest.raises(TypeError):
        store.params["stride"] = 2


def test_run_is_left_as_it_was(run, store):
    store.array("place")
    assert run.results["place"].values.flags.writeable


def test_draws_and_data_come_on_request(store):
    assert store["draws:place"].dims == ("chain", "draw", "column")
    assert store.draws("place") is store.draws("place")
    assert store.data("X").shape == (8, 4)
    assert not store["data:X"].values.flags.writeable
    for name in ("nothing", "draws:nothing", "data:nothing"):
        with pytest.raises(KeyError, match="nothing"):
            store[name]
    with pytest.raises(TypeError, match="not an array"):
        store.array("words")


def test_store_keeps_its_moment(run):
    store = ResultStore(run)
    before = dict(run.results)
    run.results["later"] = "x"
    assert "later" not in store
    run.results.clear()
    run.results.update(before)
    assert store.final
    assert store.n_draws == run.n_draws


@pytest.mark.parametrize("bad", [("Upper", print), ("", print), ("fine", None)])
def test_factory_is_checked_when_it_is_made(bad):
    with pytest.raises(PluginError):
        ViewFactory(bad[0], "t", bad[1])
    with pytest.raises(PluginError):
        PictureFactory(bad[0], "t", bad[1])
