"""Other programs read the session file: xarray, ArviZ, anndata."""

import warnings

import h5py
import numpy as np
import pytest
import scipy.sparse
from toy import ToySampler, toy_data

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    session = Session("S")
    data = session.add_dataset(toy_data())
    session.add_dataset(
        Dataset("labels", [0, 1, -1, 0, 1, 1], data.row_names, kind="categorical", categories=("ja", "nein"))
    )
    values = scipy.sparse.random(6, 50, density=0.1, format="csr", random_state=1)
    session.add_dataset(Dataset("counts", values, data.row_names, tuple(map(str, range(50)))))
    plan = make_plan(ToySampler(), {"X": data}, schedule=ToySampler.spec.schedule.with_(draws=30))
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    return session, run, session.save(tmp_path_factory.mktemp("s") / "s.plaidwork")


def test_xarray(saved):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    _session, run, path = saved
    with xarray.open_datatree(path, group=f"/runs/{run.id}/inference", engine="h5netcdf") as tree:
        posterior = tree["posterior"].to_dataset().load()
        stats = tree["sample_stats"].to_dataset().load()
        warmup = tree["warmup_sample_stats"].to_dataset().load()
    assert posterior["theta"].dims == ("chain", "draw")
    assert posterior["loading"].dims == ("chain", "draw", "column")
    assert posterior["column"].values.tolist() == ["c0", "c1", "c2", "c3"]
    assert posterior["flags"].dtype == bool
    assert np.array_equal(posterior["loading"].values, run.draws["loading"])
    assert np.array_equal(posterior["flags"].values, run.draws["flags"])
    assert np.array_equal(stats["lp"].values, run.kept().kept_trace("lp"))
    assert np.array_equal(warmup["lp"].values, np.stack([trace[:4] for trace in run.traces["lp"]]))
    with xarray.open_dataset(path, group=f"/runs/{run.id}/ragged", engine="h5netcdf") as ragged:
        ragged.load()
    counts, rho = ragged["K_count"].values, ragged["rho"]
    assert np.array_equal(counts, run.draws["K"])
    flags = np.unpackbits(rho.values, axis=-1, bitorder="little", count=rho.attrs["n_bits"]).astype(bool)
    ends = np.cumsum(counts.ravel())
    assert np.array_equal(np.split(flags, ends)[31], run.chains[1].draws.get("rho", 1))


@pytest.mark.long
def test_arviz(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        _session, run, path = saved
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*InferenceData scheme.*")
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        data = arviz.InferenceData.from_netcdf(str(path), base_group=f"/runs/{run.id}/inference")
        assert set(data.groups()) >= {"posterior", "sample_stats", "warmup_sample_stats"}
        table = arviz.summary(data)
    assert table.loc["theta", "mean"] == pytest.approx(run.draws["theta"].mean(), abs=1e-3)


def test_anndata(saved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata")
        session, _, path = saved
        with h5py.File(path) as file:
            toy = anndata.io.read_elem(file["data/toy data"])
            labels = anndata.io.read_elem(file["data/labels"])
            counts = anndata.io.read_elem(file["data/counts"])
    assert np.array_equal(toy.X, session.datasets["toy data"].values, equal_nan=True)
    assert toy.obs_names.tolist() == list(session.datasets["toy data"].row_names)
    assert toy.obs["flag"].dtype == bool
    assert toy.obs["group%2Fx"].isna().tolist() == [False, True, False, False, False, False]
    assert labels.obs["labels"].astype(object).tolist()[:2] == ["ja", "nein"]
    assert scipy.sparse.issparse(counts.X)
    assert (session.datasets["counts"].values != counts.X).nnz == 0
