"""Processes that stay: the same numbers as other executors, few starts, and a process that is lost."""

import pickle
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse
from toy import ToySampler, same_chains, toy_data

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import ModelError, PluginError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.parcel import pack
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.inference.run import Run
from plaidwork.core.study import Study

SCHEDULE = ToySampler.spec.schedule.with_(chains=2, warmup=2, draws=10)


def _fit(executor, seed=1, **params):
    plan = make_plan(ToySampler(), {"X": toy_data()}, params, schedule=SCHEDULE, seed=seed)
    run = Run.from_plan(plan)
    execute(run, plan, executor)
    return run


@pytest.mark.slow
def test_many_fits_share_few_processes_and_have_the_same_numbers():
    study = Study.grid(ToySampler(), {"X": toy_data()}, seeds=range(1, 6), schedule=SCHEDULE)
    with ProcessPool(2) as pool:
        study.run(pool.executor, at_once=2)
        assert pool.started <= 2
        idle = list(pool._idle)
    assert study.count("done") == 5
    assert not any(worker.process.is_alive() for worker in idle)
    for job in study.jobs:
        assert same_chains(job.run, _fit(InlineExecutor(), job.seed))


@pytest.mark.long
def test_other_data_are_sent_to_the_process_that_held_the_first():
    other = toy_data(seed=5)
    with ProcessPool(1) as pool:
        for data in (toy_data(), other, toy_data()):
            plan = make_plan(ToySampler(), {"X": data}, schedule=SCHEDULE)
            run, alone = Run.from_plan(plan), Run.from_plan(plan)
            execute(run, plan, pool.executor())
            execute(alone, plan, InlineExecutor())
            assert same_chains(run, alone)
        assert pool.started == 1


@pytest.mark.slow
def test_a_process_that_is_lost_fails_its_fit_and_the_next_gets_another():
    plan = make_plan(ToySampler(), {"X": toy_data()}, {"fail": "die"}, schedule=SCHEDULE)
    run = Run.from_plan(plan)
    with ProcessPool(1) as pool:
        with suppress(PluginError):  # told only when nothing was kept
            execute(run, plan, pool.executor())
        assert run.status == "failed"
        assert any("ended with code 3" in line.text for line in run.log)
        assert _fit(pool.executor()).status == "done"
        assert pool.started >= 2


@pytest.mark.slow
def test_a_process_that_died_while_it_was_idle_is_replaced():
    with ProcessPool(1) as pool:
        _fit(pool.executor())
        (worker,) = pool._idle
        worker.process.kill()
        worker.process.join(20)
        assert _fit(pool.executor()).status == "done"


def test_a_stopped_pool_runs_nothing():
    control = Control()
    control.stop()
    with ProcessPool(1) as pool:
        run = _fit(pool.executor(control))
        assert run.status == "stopped"
        assert pool.started == 0


@pytest.mark.long
def test_a_failure_of_the_model_leaves_the_process_for_the_next():
    with ProcessPool(1) as pool:
        failed = _fit(pool.executor(), fail="step", seed=2)
        assert failed.status == "failed"
        assert "broke on purpose" in failed.log[-1].text
        np.testing.assert_array_equal(
            _fit(pool.executor()).draws["theta"], _fit(InlineExecutor()).draws["theta"]
        )
        assert pool.started == 1


@pytest.mark.long
def test_large_data_are_mapped_from_a_file_that_does_not_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("plaidwork.core.inference.parcel._APART", 64)
    parcel = pack({"X": (toy_data(),)})
    (file,) = tmp_path.iterdir()
    (found,) = parcel.inputs()["X"]
    parcel.discard()
    np.testing.assert_array_equal(found.values, toy_data().values)  # what is mapped stays
    assert not found.values.flags.writeable
    assert found.digest() == toy_data().digest()
    assert not file.exists()
    with ProcessPool(2) as pool:
        run = _fit(pool.executor())
    assert same_chains(run, _fit(InlineExecutor()))
    assert not list(tmp_path.iterdir())


def test_sparse_data_are_mapped_too(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("plaidwork.core.inference.parcel._APART", 64)
    values = scipy.sparse.random(30, 20, 0.2, "csr", random_state=np.random.default_rng(2))
    given = Dataset("S", values, tuple(map(str, range(30))), tuple(map(str, range(20))))
    parcel = pack({"X": (given,)})
    assert len(pickle.dumps(parcel)) < len(pickle.dumps({"X": (given,)}))
    (found,) = pickle.loads(pickle.dumps(parcel)).inputs()["X"]
    parcel.discard()
    assert found.digest() == given.digest()
    assert isinstance(found.values, scipy.sparse.csr_matrix)
    assert not any(getattr(found.values, name).flags.writeable for name in ("data", "indices", "indptr"))
    assert not list(tmp_path.iterdir())


def test_a_model_that_cannot_be_sent_runs_in_this_process_where_that_is_allowed():
    class Local(ToySampler):
        pass

    plan = make_plan(Local(), {"X": toy_data()}, schedule=SCHEDULE)
    run, alone = Run.from_plan(plan), Run.from_plan(plan)
    execute(alone, plan, InlineExecutor())
    steps = []
    with ProcessPool(2, here=lambda: steps.append(0)) as pool:
        execute(run, plan, pool.executor())
    assert run.status == "done"
    assert len(steps) > 24  # what a window calls to go first
    assert same_chains(run, alone)


@pytest.mark.slow
def test_processes_that_were_started_ahead_run_the_chains_and_few_stay():
    with ProcessPool(4, nice=3, keep=1) as pool:
        pool.warm(ToySampler, 1)
        assert len(pool._idle) == 1
        assert same_chains(_fit(pool.executor()), _fit(InlineExecutor()))
        assert pool.started == 2
        assert len(pool._idle) == 1


@pytest.mark.slow
def test_a_process_that_dies_of_a_model_is_not_followed_by_a_try_here(tmp_path, monkeypatch):
    """A class whose module ends the process that imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "deadly_elsewhere.py").write_text(
        "import multiprocessing, os\nif multiprocessing.parent_process():\n    os._exit(4)\n"
        "from toy import ToySampler\nclass Deadly(ToySampler):\n    pass\n"
    )
    model = __import__("deadly_elsewhere").Deadly()
    plan = make_plan(model, {"X": toy_data()}, schedule=SCHEDULE)
    with (
        ProcessPool(1, here=lambda: None) as pool,
        pytest.raises(ModelError, match="ended when it loaded the model"),
    ):
        execute(Run.from_plan(plan), plan, pool.executor())
