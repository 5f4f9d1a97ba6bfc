"""A session that was saved and loaded is the same session; a stopped fit goes on as if nothing had happened."""

import re

import h5py
import numpy as np
import pytest
import scipy.sparse
from toy import ToyRegistry, ToySampler, ToyVariational, same, same_chains, toy_data

from plaidwork.core.contract.model import Table
from plaidwork.core.data.dataset import Dataset, Source, Step
from plaidwork.core.errors import PluginError, SessionError
from plaidwork.core.hdf5.h5 import Reader, Writer, open_new
from plaidwork.core.hdf5.packing import chunk_shape
from plaidwork.core.hdf5.parts import DIGEST, Parts
from plaidwork.core.hdf5.values import read_value, write_value
from plaidwork.core.inference import executor
from plaidwork.core.inference.events import Swept
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.fitting import resume
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import datasets, session_file, session_saving


def _session(model=None, on=None, schedule=None, **params):
    session = Session("Session ä")
    data = session.add_dataset(toy_data())
    model = model or ToySampler()
    if isinstance(model, ToyVariational):
        data = session.add_dataset(data.with_(name="full", values=np.nan_to_num(data.values)))
    plan = make_plan(model, {"X": data}, params, schedule=schedule or model.spec.schedule, seed=7)
    run = session.add_run(plan)
    execute(run, plan, on or InlineExecutor())
    return session, run


def _stop_after(sweeps, chain=0):
    control = Control()

    def progress(run, event):
        if isinstance(event, Swept) and event.chain == chain and event.sweep == sweeps:
            control.stop()

    return control, progress


VALUES = {
    "none": None,
    "bool": True,
    "int": -5,
    "big": 2**200,
    "negative big": -(2**70),
    "float": 0.1,
    "nan": float("nan"),
    "text": "ä\0b\ud800",
    "bytes": b"\x00\xff",
    "empty text": "",
    "list": [1.5, 2.5],
    "ints": [1, 2**40],
    "mixed": [1, 2.0, "x", None, [True]],
    "no items": [],
    "tuple": (1, 2),
    "nested tuple": ((1,), ()),
    "texts": ["a", "b\0"],
    "a/b": {".hidden": {"": 1, "%": 2, "x" * 300: 3}},
    "float32": np.float32(0.1),
    "int8": np.int8(-3),
    "bool_": np.bool_(True),
    "array": np.arange(12.0).reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "moved": np.moveaxis(np.arange(24).reshape(2, 3, 4), 0, -1).copy(order="K"),
    "mask": np.array([[True, False], [False, True]]),
    "0-d": np.array(3.5),
    "nothing": np.empty((0, 5), np.float32),
    "unicode": np.array(["ä", "bcd"]),
    "half": np.array([1, 2], np.float16),
    "unsigned": np.array([2**64 - 1], np.uint64),
    "long": np.arange(100_000, dtype=np.int32),
}


def test_values_keep_type_and_layout(tmp_path):
    with open_new(tmp_path / "v.h5") as file:
        writer = Writer(file)
        write_value(writer, file, "state", VALUES)
        writer.finish()
    import h5py

    with h5py.File(tmp_path / "v.h5", "r") as file:
        reader = Reader(file)
        reader.check_attributes()
        found = read_value(reader, file["state"])
        reader.check_rest()
    assert list(found) == list(VALUES)
    for name, value in VALUES.items():
        assert same(found[name], value), name


@pytest.mark.parametrize("value", [{1: 2}, object(), {"a": 1 + 2j}, np.array([1j]), np.array([None]), {1, 2}])
def test_values_that_cannot_be_stored_are_named(tmp_path, value):
    with open_new(tmp_path / "v.h5") as file, pytest.raises(SessionError, match="state"):
        write_value(Writer(file), file, "state", value)


def test_chunks_are_at_most_one_mib():
    for shape, item, lead in [
        ((5000, 2000), 8, 0),
        ((4, 1000, 300), 8, 1),
        ((3, 10**7), 8, 1),
        ((10**7,), 1, 0),
    ]:
        chunk = chunk_shape(shape, item, lead)
        assert np.prod(chunk) * item <= 1 << 20
        assert all(1 <= c <= n for c, n in zip(chunk, shape, strict=True))
        assert chunk[:lead] == (1,) * lead


def test_datasets_round_trip(tmp_path):
    session = Session()
    data = session.add_dataset(
        toy_data().with_(
            source=Source("a.csv", "ab" * 32, {"delimiter": ";", "missing": ["", "NA"]}),
            steps=(Step("log1p", {"text": "log(1 + x)"}),),
        )
    )
    names = data.row_names
    session.add_dataset(
        Dataset("labels", [0, 1, -1, 0, 1, 1], names, kind="categorical", categories=("ja", "nein"))
    )
    session.add_dataset(Dataset("vector", np.arange(6.0), names, row_table={"labels": np.arange(6)}))
    for container in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        values = container(scipy.sparse.random(6, 50, density=0.1, format="csr", random_state=1))
        session.add_dataset(Dataset("sparse/../x", values, names, tuple(map(str, range(50))), kind="count"))
    session.add_dataset(Dataset("odd\0name", np.zeros((1, 2)), ("a\0b",), ("", "\ud800"), unit="µV"))
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    assert list(again.datasets) == list(session.datasets)
    for name, old in session.datasets.items():
        new = again.datasets[name]
        assert new.digest() == old.digest()
        assert new.is_sparse == old.is_sparse
        assert type(new.values) is type(old.values)
        assert same(dict(new.row_table), dict(old.row_table))
        assert same(dict(new.column_table), dict(old.column_table))
        for field in ("name", "kind", "categories", "unit", "row_label", "column_label", "notes"):
            assert getattr(new, field) == getattr(old, field)
        assert [str(step) for step in new.steps] == [str(step) for step in old.steps]
        assert new.source.file == old.source.file
        assert new.source.options == old.source.options


def test_session_round_trip(tmp_path):
    session, run = _session()
    session.notes = "# Überschrift\n\0"
    session.views = {
        "layout": bytes(range(256)),
        "tree": {"open": [1, None, 2.5]},
        "x/y": {"t": (1, 2), "b": b"q"},
    }
    run.results["scores"] = Table({"Samples": np.array(["Fitted"])}, words=("Samples",))
    run.notes, run.view_settings = "*note*", {"mean": {"order": "cluster"}}
    run.item_names, run.item_notes = {"k": {"2": "third"}}, {"k": {"2": "**why**\n"}}
    run.say("warned\0", "warning")
    session.note("tested", path=tmp_path, number=np.int64(3))
    path = session.save(tmp_path / "s.plaidwork")
    assert session.path == path
    again = open_session(path)
    assert again.path == path
    assert (again.name, again.uuid, again.created) == (session.name, session.uuid, session.created)
    assert same(again.views, session.views)
    assert again.notes == session.notes
    assert [entry["action"] for entry in again.history] == [entry["action"] for entry in session.history]
    new = again.runs[run.id]
    assert new.session is again
    for field in ("title", "spec", "params", "schedule", "seed", "holdout", "inputs", "data_hash", "status"):
        assert getattr(new, field) == getattr(run, field), field
    for field in ("results_draws", "log", "created", "notes", "environment", "view_settings", "cpu_seconds"):
        assert getattr(new, field) == getattr(run, field), field
    assert (new.item_names, new.item_notes) == (run.item_names, run.item_notes)
    assert same_chains(run, new)
    assert list(new.results) == list(run.results)
    for name, result in run.results.items():
        found = new.results[name]
        if isinstance(result, str):
            assert found == result
        elif isinstance(result, Table):
            assert same(dict(found.columns), dict(result.columns))
            assert (found.units, found.label, found.doc) == (result.units, result.label, result.doc)
            assert found.words == result.words
        else:
            assert same(found.values, result.values), name
            assert (found.dims, found.unit, found.label, found.doc) == (
                result.dims, result.unit, result.label, result.doc,
            )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("sweeps", [1, 3, 4, 5, 9])
def test_stopped_saved_loaded_and_resumed_equals_uninterrupted(tmp_path, sweeps):
    _, whole = _session()
    control, progress = _stop_after(sweeps)
    session = Session()
    data = session.add_dataset(toy_data())
    plan = make_plan(ToySampler(), {"X": data}, seed=7, schedule=ToySampler.spec.schedule)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor(control), progress)
    assert run.status == "stopped"
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    new = again.runs[run.id]
    assert same_chains(run, new)
    assert new.chains[1].state is None
    resume(again, new, plugins=ToyRegistry(), executor=InlineExecutor())
    assert new.status == "done"
    assert same_chains(new, whole)
    assert same(new.results["mean"].values, whole.results["mean"].values)


def test_stop_within_a_sliced_sweep(tmp_path):
    """The checkpoint stands between two slices of one sweep."""
    from plaidwork.core.inference.events import Working

    _, whole = _session()
    control, slices = Control(), []

    def progress(run, event):
        if isinstance(event, Working):
            slices.append(event)
            if len(slices) == 3:
                control.stop()

    session = Session()
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())}, seed=7)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor(control), progress)
    assert run.chains[0].state["slice"] == 1
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    assert same_chains(resume(again, plugins=ToyRegistry(), executor=ThreadExecutor()), whole)


def test_extended_after_loading_equals_a_longer_run(tmp_path):
    longer = ToySampler.spec.schedule.with_(draws=25)
    _, whole = _session(schedule=longer)
    session, run = _session()
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    new = resume(again, plugins=ToyRegistry(), draws=15)
    assert new.schedule == longer
    assert same_chains(new, whole)
    third = open_session(again.save()).runs[run.id]
    assert third.schedule.draws == 25


def test_variational_run(tmp_path):
    _, whole = _session(ToyVariational())
    assert all(record.converged for record in whole.chains)
    session, run = _session(ToyVariational())
    again = open_session(session.save(tmp_path / "s.plaidwork"))
    assert same_chains(again.runs[run.id], whole)
    assert not again.runs[run.id].resumable


@pytest.mark.long
def test_active_run_is_saved_up_to_its_last_checkpoint(tmp_path):
    session, _ = _session()
    plan = make_plan(ToySampler(), {"X": session.datasets["toy data"]}, seed=7)
    run = session.add_run(plan)
    run.status = "running"
    from plaidwork.core.inference.engine import run_chain

    record = run.chains[0]
    for event in run_chain(plan, record):
        if isinstance(event, Swept) and event.sweep == 6:
            record.take_checkpoint()
        if isinstance(event, Swept) and event.sweep == 9:
            break
    new = open_session(session.save(tmp_path / "s.plaidwork")).runs[run.id]
    assert new.status == "stopped"
    assert (new.chains[0].sweep, new.chains[0].draws.count) == (6, 2)
    assert (new.chains[1].sweep, new.chains[1].state) == (0, None)
    assert run.chains[0].sweep == 9
    execute(new, plan, InlineExecutor())
    _, whole = _session()
    assert same_chains(new, whole)


@pytest.mark.long
@pytest.mark.parametrize("fail", ["step", "draws", "nan"])
def test_failed_run_keeps_its_draws_and_rewinds(tmp_path, fail):
    session = Session()
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())}, {"fail": fail}, seed=7)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    assert run.status == "failed"
    new = open_session(session.save(tmp_path / "s.plaidwork")).runs[run.id]
    for old, record in zip(run.chains, new.chains, strict=True):
        assert record.broken
        assert record.draws.count == old.draws.count == 3
        assert record.trace.rows().tobytes() == old.trace.rows().tobytes()
        assert not record.done
        record.rewind()
        assert (record.sweep, record.draws.count, record.state) == (0, 0, None)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"a": {1: 2.0}}, "has the key 1"),
        ({"a": [np.zeros(2), {3}]}, r"the state\['a'\]\[1\] is a set"),
        ({"z": np.zeros(2, complex)}, "array of complex128"),
        ({"z": np.array([None, "a"], object)}, "array of object"),
    ],
)
@pytest.mark.parametrize("when", ["init", "later"])
def test_state_that_cannot_be_stored_is_found_while_it_runs(tmp_path, monkeypatch, bad, words, when):
    """At the start, or at the first checkpoint; what was drawn by then is saved with the session."""

    class Odd(ToySampler):
        def init(self, data, params, rng):
            state = super().init(data, params, rng)
            return {**state, **bad} if when == "init" else state

        def step(self, state, data, params, rng, clock):
            found = super().step(state, data, params, rng, clock)
            if when == "later" and clock.sweep == 8:
                state.update(bad)
            return found

    monkeypatch.setattr(executor, "CHECKPOINT_SECONDS", 0.0)
    session = Session()
    plan = make_plan(Odd(), {"X": session.add_dataset(toy_data())}, seed=7)
    run = session.add_run(plan)
    try:
        execute(run, plan, InlineExecutor())
    except PluginError:
        assert when == "init"  # no chain began
    assert run.status == "failed"
    told = [line.text for line in run.log if line.level == "error"]
    assert told
    assert all(re.search(words, text) for text in told)
    again = open_session(session.save(tmp_path / "s.plaidwork")).runs[run.id]
    assert again.n_draws == run.n_draws
    assert again.n_draws > 0 or when == "init"


def test_no_memory_is_told_in_words_and_what_was_drawn_is_saved(tmp_path, monkeypatch):
    class Hungry(ToySampler):
        def step(self, state, data, params, rng, clock):
            if clock.sweep == 8:
                raise MemoryError
            return super().step(state, data, params, rng, clock)

    session = Session()
    plan = make_plan(Hungry(), {"X": session.add_dataset(toy_data())}, seed=7)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    told = [line.text for line in run.log if line.level == "error"]
    assert told
    assert all("needs more memory than is free" in text for text in told)
    path = session.save(tmp_path / "s.plaidwork")
    assert open_session(path).runs[run.id].n_draws == run.n_draws > 0

    def no_room(*_):
        raise MemoryError

    monkeypatch.setattr(session_saving, "_write_file", no_room)
    with pytest.raises(SessionError, match="not enough free memory"):
        session.save()
    assert open_session(path).runs


def test_run_that_never_started(tmp_path):
    session = Session()
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())}, {"fail": "init"}, seed=7)
    run = session.add_run(plan)
    fresh = open_session(session.save(tmp_path / "s.plaidwork")).runs[run.id]
    assert (fresh.status, fresh.n_draws, fresh.results) == ("ready", 0, {})
    with pytest.raises(PluginError):
        execute(run, plan, InlineExecutor())
    again = open_session(session.save()).runs[run.id]
    assert (again.status, again.n_draws) == ("failed", 0)


def _annotated(columns, rows=7):
    rng = np.random.default_rng(3)
    table = {}
    for number in range(columns):
        table[f"note {number}"] = (
            rng.normal(size=rows),
            rng.integers(0, 9, rows),
            rng.random(rows) < 0.5,
            np.array([f"t{item}" for item in rng.integers(0, 20, rows)]),
            np.array([None, *["word"] * (rows - 1)], dtype=object),
            rng.normal(size=rows).astype(np.float32),
        )[number % 6]
    return table


def _wide_session(columns, rows=7):
    names = tuple(f"r{number}" for number in range(rows))
    table = _annotated(columns, rows)
    values = np.arange(float(rows * rows)).reshape(rows, rows)
    session = Session()
    session.add_dataset(Dataset("d", values, names, names, row_table=table, column_table=table))
    session.add_dataset(Dataset("v", np.arange(rows) % 2, names, kind="categorical", categories=("n", "y"), row_table=table))  # fmt: skip
    return session


@pytest.mark.parametrize("columns", [3, 501, 1300])
def test_annotation_columns_keep_order_type_and_texts_however_many_they_are(tmp_path, columns):
    session = _wide_session(columns)
    path = session.save(tmp_path / "s.plaidwork")
    again = open_session(path)
    for name, old in session.datasets.items():
        new = again.datasets[name]
        assert list(new.row_table) == list(old.row_table)
        assert same(dict(new.row_table), dict(old.row_table))
        assert same(dict(new.column_table), dict(old.column_table))
        assert [c.dtype for c in new.row_table.values()] == [c.dtype for c in old.row_table.values()]
    with h5py.File(path) as file:
        assert len(file["data/d/obs"]) == (columns + 1 if columns < 500 else 1)


def test_annotation_columns_written_one_by_one_are_still_read(tmp_path, monkeypatch):
    """As earlier versions wrote them, with the order as attribute."""
    session = _wide_session(40)
    monkeypatch.setattr(datasets, "MOST_COLUMNS", 10_000)
    path = session.save(tmp_path / "s.plaidwork")
    new, old = open_session(path).datasets["d"], session.datasets["d"]
    assert list(new.row_table) == list(old.row_table)
    assert same(dict(new.row_table), dict(old.row_table))


def test_columns_that_say_texts_which_are_not_there_are_refused(tmp_path, monkeypatch):
    path = _wide_session(501).save(tmp_path / "s.plaidwork")
    monkeypatch.setattr(session_file, "probe", lambda *args, **options: None)
    with h5py.File(path, "r+") as file:
        del file["checksums"]
        file["data/d/uns/plaidwork_columns/obs/texts/values"][0, 0] = 10_000
    with pytest.raises(SessionError, match="texts that are not there"):
        open_session(path).datasets["d"].row_table["note 3"]


def test_a_declared_width_allocates_no_more_than_the_texts_need(tmp_path, monkeypatch):
    path = _wide_session(501).save(tmp_path / "s.plaidwork")
    monkeypatch.setattr(session_file, "probe", lambda *args, **options: None)
    with h5py.File(path, "r+") as file:
        del file["checksums"]
        widths = file["data/d/uns/plaidwork_columns/obs/texts/width"]
        widths[...] = np.where(widths[...] > 0, 2_000_000_000, 0)
    table, before = open_session(path).datasets["d"].row_table, _wide_session(501).datasets["d"].row_table
    assert same(dict(table), dict(before))
    assert max(column.dtype.itemsize for column in table.values()) < 100


def test_empty_session(tmp_path):
    again = open_session(Session().save(tmp_path / "s.plaidwork"))
    assert (again.datasets, again.runs, again.views, again.notes, again.read_only) == ({}, {}, {}, "", "")


def test_removed_things_are_gone_after_a_save(tmp_path):
    session, run = _session()
    session.add_dataset(toy_data(name="other"))
    path = session.save(tmp_path / "s.plaidwork")
    session.remove_run(run.id)
    session.remove_dataset("other")
    session.views = {}
    session.save()
    again = open_session(path)
    assert list(again.datasets) == ["toy data"]
    assert again.runs == {}


def test_session_without_a_name_needs_a_path():
    with pytest.raises(SessionError, match="no file name"):
        Session().save()


def test_changed_data_drop_the_names_of_the_axes(tmp_path):
    import h5py

    session, run = _session()
    path = session.save(tmp_path / "s.plaidwork")
    with h5py.File(path) as file:
        assert file[f"runs/{run.id}/inference/posterior/row"].asstr()[0] == "Zeile/0 ä"
    data = session.datasets["toy data"]
    session.replace_dataset("toy data", data.take(0, np.arange(6)[::-1], Step("turned")))
    session.save()
    with h5py.File(path) as file:
        assert file[f"runs/{run.id}/inference/posterior/row"][0] == 0


@pytest.mark.parametrize("kind", ["whole", "columns", "bits", "by parts"])
def test_digests_known_from_writing_are_those_of_the_file(tmp_path, kind):
    """Large arrays are not read again for the seal: what is noted of them while they are written has to be what stands there."""
    values, parts = np.random.default_rng(1).normal(size=(1250, 1001)), {}
    with open_new(tmp_path / "f.h5") as file:
        writer = Writer(file, parts=parts)
        writer.array(file, "small", values[0])
        match kind:
            case "whole":
                writer.array(file, "x", values)
            case "columns":
                writer.array(file, "x", values[:, ::2])
            case "bits":
                writer.array(file, "x", values > 0, compress=False)
            case _:
                some = (values[start : start + 300] for start in range(0, 1250, 300))
                writer.stream(file, "x", values.shape, values.dtype, some)
        writer.array(file, "y", values)
        writer.finish()
    found = Parts.of(tmp_path / "f.h5", (tmp_path / "f.h5").stat().st_size)
    assert len(parts) > 0.8 * len(found.table) / DIGEST
    for number, digest in parts.items():
        assert digest == found.table[number * DIGEST : (number + 1) * DIGEST]
    assert Parts.of(tmp_path / "f.h5", found.length, parts) == found
    with h5py.File(tmp_path / "f.h5") as file:
        reader = Reader(file)
        for dataset in ("small", "x", "y"):
            reader.array(file[dataset])
        reader.check_rest()
