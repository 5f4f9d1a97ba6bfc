"""A save never does long work in one call: between two pieces the window gets the locks of the interpreter and of HDF5."""

import json
from contextlib import contextmanager

import h5py
import numpy as np
import pytest
from toy import ToySampler, same, toy_data

from plaidwork.core import pieces
from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.hdf5 import h5, schema
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.recovery import write_recovery
from plaidwork.core.session.session import Session, open_session


@contextmanager
def _watched(monkeypatch):
    """The most bytes of numbers and the most texts that were written at once, and the most arrays that were joined."""
    most = {"bytes": 0, "texts": 0, "joined": 0}

    def note(kind, found):
        most[kind] = max(most[kind], found)

    write, stack, concatenate = h5py.Dataset.__setitem__, np.stack, np.concatenate

    def written(self, place, value):
        found = np.asarray(value)
        note(
            "texts" if found.dtype.kind in "OS" else "bytes",
            found.size if found.dtype.kind in "OS" else found.nbytes,
        )
        write(self, place, value)

    def stacked(arrays, *args, **more):
        note("joined", len(arrays))
        return stack(arrays, *args, **more)

    def concatenated(arrays, *args, **more):
        note("joined", len(arrays))
        return concatenate(arrays, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(h5py.Dataset, "__setitem__", written)
        patch.setattr(np, "stack", stacked)
        patch.setattr(np, "concatenate", concatenated)
        yield most


def _many_draws(session):
    """A run of 9,000 draws: the first ten, again and again."""
    model, data = ToySampler(), session.add_dataset(toy_data())
    plan = make_plan(model, {"X": data}, schedule=Schedule(chains=1, warmup=0, draws=10), seed=7)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    record, draws = run.chains[0], run.chains[0].draws
    names = [variable.name for variable in draws.variables]
    entries = {name: draws.packed(name) * 899 for name in names}
    draws.extend_packed(entries, {name: draws.fixed_shape(name) for name in names})
    record.trace.extend(np.tile(record.trace.rows(), (899, 1)))
    record.saved, record.stateless = None, True
    return run


def _large(rows, columns, order="C"):
    values = np.random.default_rng(1).normal(size=(rows, columns))
    return np.asfortranarray(values) if order == "F" else values


@pytest.mark.long
def test_no_call_of_a_save_is_long(monkeypatch, tmp_path):
    session = Session("large")
    names = tuple(f"r{n}" for n in range(70_000))
    session.add_dataset(
        Dataset(
            "long", _large(70_000, 16), names, tuple(map(str, range(16))), row_table={"a": np.array(names)}
        )
    )
    turned = _large(3000, 400, "F")
    session.add_dataset(Dataset("turned", turned, tuple(map(str, range(3000))), tuple(map(str, range(400)))))
    run = _many_draws(session)
    run.results = {
        "wide": Result(np.random.default_rng(2).normal(size=(2, 3, 300_000)), ("a", "b", "c")),
        "table": Table({"name": np.array(names)}),
    }
    session.views["list"] = {"numbers": np.linspace(0, 1, 20_000).tolist(), "texts": list(names)}
    with _watched(monkeypatch) as most:
        path = write_recovery(session, tmp_path)
    assert pieces.MOST_BYTES / 2 < most["bytes"] <= pieces.MOST_BYTES
    assert 0 < most["texts"] <= h5._TEXTS
    assert 0 < most["joined"] <= pieces.MOST_ITEMS
    back = open_session(path)
    for name in ("long", "turned"):
        assert np.array_equal(back.datasets[name].values, session.datasets[name].values)
        assert back.datasets[name].row_names == session.datasets[name].row_names
    assert back.views == session.views
    found, kept = back.runs[run.id].chains[0].draws, run.chains[0].draws
    for variable in kept.variables:
        for number in (0, 7, 8191, 8192, 8999):
            assert same(found.get(variable.name, number), kept.get(variable.name, number))
    assert np.array_equal(back.runs[run.id].results["wide"].values, run.results["wide"].values)


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((), None),
        ((0, 3), None),
        ((7,), None),
        ((5, 4, 3), None),
        ((2, 900), (1, 10)),
        ((30, 40), (7, 40)),
        ((3, 5, 11), (1, 2, 11)),
    ],
)
@pytest.mark.parametrize("most", [8, 100, 1000, 10**6])
def test_boxes_are_an_array_in_its_order(shape, chunks, most):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    found = [values[box] for box in pieces.boxes(shape, 8, chunks, most)]
    assert np.array_equal(np.concatenate([part.ravel() for part in found]), values.ravel())
    whole = 8 * np.prod(chunks or (1,))
    assert all(part.nbytes <= max(most, whole) for part in found)
    for box in pieces.boxes(shape, 8, chunks, most):
        assert all(span.start % chunks[axis] == 0 for axis, span in enumerate(box[:-1]) if chunks)


@pytest.mark.parametrize("count", [0, 1, pieces.MOST_ITEMS, pieces.MOST_ITEMS + 1, 3 * pieces.MOST_ITEMS])
def test_pieces_are_what_one_call_gives(count):
    texts = [f"ä{n}" for n in range(count)]
    assert "".join(pieces.joined("\0", texts)) == "\0".join(texts)
    value = {"x": texts, "y": [None, True, 1.5, float("inf"), {"z": []}], "ä": ()}
    assert pieces.json_text(value) == json.dumps(value)
    assert schema.to_json(value) == json.dumps(value, ensure_ascii=False)
    numbers = [float(n) / 3 for n in range(count)]
    assert np.array_equal(pieces.numbers(numbers, np.float64), np.array(numbers, np.float64))
    assert pieces.objects(texts).tolist() == texts


def test_a_digest_does_not_depend_on_the_order_in_memory():
    """It is compared with those of sessions of earlier versions."""
    values = np.arange(1_200_000, dtype=float).reshape(600, 2000)
    names = tuple(map(str, range(600))), tuple(map(str, range(2000)))
    found = {
        Dataset("x", array, *names).digest()
        for array in (values, np.asfortranarray(values), values.astype(">f8"))
    }
    assert found == {"7ebf40f1c8780d66ce89f2c9c9f467b79507798bffdb27626ceae1954df0fc8e"}
