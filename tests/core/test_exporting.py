"""Exports: plain files with every digit, and jobs and scripts that repeat a run bit for bit."""

import csv
import json
import runpy
import warnings

import numpy as np
import pytest
import scipy.sparse
from toys import Climb, Walk, matrix

from plaidwork.core.api import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.job import read_job
from plaidwork.core.session import fitting as one_call
from plaidwork.core.session.bundle import BundleWriter, file_name
from plaidwork.core.session.exporting import (
    export_run,
    export_session,
    job_toml,
    python_script,
)
from plaidwork.core.session.session import Session
from tests.registries import registry_of


@pytest.fixture
def toys(monkeypatch):
    found = registry_of(Walk, Climb)
    monkeypatch.setattr(one_call, "registry", lambda: found)


def _data(missing=True):
    values = matrix(6, 3)
    if missing:
        values[2, 1] = np.nan
    rows = ("plain", "with, comma", 'with "quote"', "NA", "ä β", "1")
    return Dataset(
        "my / data",
        values,
        rows,
        ("a", "b;c", "2"),
        unit="mm",
        row_table={"age": np.arange(6.0)},
        row_label="genes",
    )


def _run(model="toy.walk", missing=True):
    session = Session(name="S")
    return one_call.fit(model, {"X": _data(missing)}, seed=4, chains=2, draws=3, session=session), session


def _table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_numbers_keep_all_their_digits(tmp_path, toys):
    run, session = _run()
    export_session(session, tmp_path)
    values = session.datasets["my / data"].values
    head, *rows = _table(tmp_path / "data" / "my-data.csv")
    assert head == ["name", "a", "b;c", "2"]
    assert [row[0] for row in rows] == list(session.datasets["my / data"].row_names)
    read = np.array([[float(cell or "nan") for cell in row[1:]] for row in rows])
    assert np.array_equal(read, values, equal_nan=True)
    assert _table(tmp_path / "data" / "my-data.rows.csv")[1] == ["plain", "0.0"]
    traces = _table(tmp_path / "runs" / "Walk-1" / "traces.csv")
    assert traces[0] == ["chain", "sweep", "lp", "level"]
    assert float(traces[1][2]) == run.traces["lp"][0][0]


def test_run_alone(tmp_path, toys):
    run, session = _run()
    files = {
        path.relative_to(tmp_path / "out").as_posix() for path in export_run(run, tmp_path / "out", session)
    }
    assert {"run.json", "log.txt", "traces.csv", "draws.csv", "draws/place.npz", "draws/items.npz"} <= files
    assert {"results/place.csv", "results/table.csv", "results/words.md"} <= files
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["params"]["stride"] == 0.5
    assert record["declaration"]["id"] == "toy.walk"
    with np.load(tmp_path / "out" / "draws" / "place.npz") as stored:
        assert np.array_equal(stored["chain2"], run.draws["place"][1])
    place = _table(tmp_path / "out" / "results" / "place.csv")
    assert place[0] == ["column", "value"]
    assert place[1][0] == "a"


@pytest.mark.long
def test_run_for_other_programs(tmp_path, toys):
    run, session = _run()
    files = export_run(run, tmp_path / "out", session)
    assert tmp_path / "out" / "README.txt" in files
    assert "draws.nc" in (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz, anndata = pytest.importorskip("arviz"), pytest.importorskip("anndata")
        posterior = arviz.from_netcdf(str(tmp_path / "out" / "draws.nc")).posterior
        stored = anndata.read_h5ad(tmp_path / "out" / "data" / "my-data.h5ad")
    assert np.array_equal(posterior["place"].values, run.draws["place"])
    assert np.array_equal(stored.X, session.datasets["my / data"].values, equal_nan=True)
    assert stored.obs["age"].tolist() == list(range(6))


def test_failed_export_leaves_nothing(tmp_path, toys, monkeypatch):
    run, session = _run()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("plaidwork.core.session.store.exports.write_h5ad", full)
    with pytest.raises(SessionError, match="the disk is full"):
        export_run(run, tmp_path / "out", session)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("model", "missing"), [("toy.walk", True), ("toy.climb", False)])
def test_job_repeats_the_run(tmp_path, toys, model, missing):
    run, session = _run(model, missing)
    job = read_job(job_toml(run, session, tmp_path / "job.toml"))
    model = one_call.registry().model(job.model)
    plan = make_plan(
        model,
        job.load(model.spec),
        job.settings,
        schedule=run.spec.schedule.with_(**job.schedule),
        seed=job.seed,
        holdout=job.holdout,
    )
    assert plan.data_hash == run.data_hash
    assert (plan.params, plan.seed) == (run.params, run.seed)
    assert plan.schedule.sweeps(run.spec.algorithm) == run.schedule.sweeps(run.spec.algorithm)


@pytest.mark.parametrize(("model", "missing"), [("toy.walk", True), ("toy.climb", False)])
def test_script_repeats_the_run(tmp_path, toys, model, missing):
    run, session = _run(model, missing)
    runpy.run_path(str(python_script(run, session, tmp_path / "again.py")), run_name="__main__")
    from plaidwork.core import open_session

    (again,) = open_session(tmp_path / "again.plaidwork").runs.values()
    assert again.data_hash == run.data_hash
    for one, two in zip(run.chains, again.chains, strict=True):
        assert np.array_equal(one.trace.rows(), two.trace.rows())


def test_sparse_data_of_a_job_come_back_as_they_were(tmp_path, toys):
    run, session = _run()
    values = scipy.sparse.csr_matrix([[0, 0.1], [3, 1 / 3]])
    data = Dataset("my / data", values, ("a", "b c"), ("c", "NA"), unit="n")
    session.datasets["my / data"] = data
    (found,) = read_job(job_toml(run, session, tmp_path / "job.toml")).inputs["X"]
    again = found.load()
    assert again.is_sparse
    assert again.digest() == data.digest()
    assert again.unit == "n"


def test_missing_data_are_told(tmp_path, toys):
    run, session = _run()
    del session.datasets["my / data"]
    with pytest.raises(SessionError, match="not in the session"):
        job_toml(run, session, tmp_path / "job.toml")


def test_other_kinds_of_data(tmp_path):
    writer = BundleWriter(tmp_path)
    writer.dataset(Dataset("sparse", scipy.sparse.csr_matrix(2 * np.eye(2)), ("a", "b"), ("c", "d")))
    writer.dataset(
        Dataset("labels", np.array([1, -1]), ("a", "b"), kind="categorical", categories=("x", "y"))
    )
    writer.dataset(Dataset("labels", np.array([0.5, 1.5]), ("a", "b")))
    assert _table(tmp_path / "data" / "sparse.csv") == [
        ["row", "column", "value"],
        ["a", "c", "2.0"],
        ["b", "d", "2.0"],
    ]
    assert _table(tmp_path / "data" / "labels.csv") == [["name", "label"], ["a", "y"], ["b", ""]]
    assert _table(tmp_path / "data" / "labels-2.csv") == [["name", "value"], ["a", "0.5"], ["b", "1.5"]]


@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (2, 3, 2)])
def test_results_of_any_number_of_axes(tmp_path, toys, shape):
    run, session = _run()
    run.results = {"r": Result(np.arange(np.prod(shape, dtype=int)).reshape(shape), ("x",)[: len(shape)])}
    export_run(run, tmp_path, session)
    table = _table(tmp_path / "results" / "r.csv")
    cells = [cell for row in table[1:] for cell in (row[1:] if len(shape) == 2 else row[-1:])]
    assert [float(cell) for cell in cells] == list(range(int(np.prod(shape, dtype=int))))


@pytest.mark.parametrize(
    ("text", "name"), [("a/b", "a-b"), ("..", "unnamed"), ("Ä 1", "Ä-1"), ("", "unnamed")]
)
def test_file_names(text, name):
    assert file_name(text) == name
