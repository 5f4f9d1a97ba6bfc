"""Chains on the workers of a dask cluster: the same draws as here, also when a worker dies."""

import os
import signal
import threading

import numpy as np
import pytest
from toys import SCHEDULE, Climb, Walk, matrix

from plaidwork.core.cli import main
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import ModelError, SettingError
from plaidwork.core.inference.cluster import Cluster
from plaidwork.core.inference.cluster_link import TLS, differences
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.events import Swept
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import open_session
from plaidwork.core.study.study import Study

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def cluster():
    with Cluster("local:2") as found:
        yield found


def planned(model=None, schedule=SCHEDULE, **params):
    return make_plan(model or Walk(), {"X": as_dataset("X", matrix())}, params, schedule=schedule)


def fitted(plan, executor, progress=None):
    run = Run.from_plan(plan)
    execute(run, plan, executor, progress)
    return run


def same(first, second):
    for one, other in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(one.trace.rows(), other.trace.rows(), equal_nan=True)
        assert one.draws.count == other.draws.count
    for variable in first.spec.variables:
        assert np.array_equal(first.draws[variable.name], second.draws[variable.name], equal_nan=True)


@pytest.mark.parametrize("model", [Walk, Climb])
def test_the_numbers_are_those_of_this_thread(cluster, model):
    same(fitted(planned(model()), cluster.executor()), fitted(planned(model()), InlineExecutor()))


def test_a_stopped_fit_goes_on_here(cluster):
    plan, control = planned(schedule=SCHEDULE.with_(draws=400)), Control()

    def stop(run, event):
        if isinstance(event, Swept) and event.sweep > 5:
            control.stop()

    run = fitted(plan, cluster.executor(control), stop)
    assert run.status == "stopped"
    execute(run, plan, InlineExecutor())
    same(run, fitted(plan, InlineExecutor()))


def test_a_chain_whose_worker_dies_goes_on_elsewhere(cluster):
    plan, killed = planned(schedule=SCHEDULE.with_(draws=600)), threading.Event()

    def kill(run, event):
        if isinstance(event, Swept) and event.sweep > 20 and not killed.is_set():
            killed.set()
            workers = cluster._client.run(os.getpid)
            os.kill(next(iter(workers.values())), signal.SIGKILL)

    run = fitted(plan, cluster.executor(), kill)
    assert killed.is_set()
    assert run.status == "done"
    same(run, fitted(plan, InlineExecutor()))


def test_a_failure_of_the_model_is_told(cluster):
    with pytest.raises(ModelError, match="The walk has ended"):
        fitted(planned(fail_at=4), cluster.executor())


def test_other_versions_are_refused(cluster, monkeypatch):
    monkeypatch.setattr(cluster, "_checked", set())
    monkeypatch.setattr(
        "plaidwork.core.inference.cluster_link.environment", lambda: {**environment(), "numpy": "0.1"}
    )
    with pytest.raises(SettingError, match=r"numpy is .* and 0\.1 here"):
        cluster.check(planned())


def test_nobody_answers():
    with pytest.raises(SettingError, match="local:N"):
        Cluster("local:none")


def test_an_encrypted_cluster_takes_only_those_with_its_files(tmp_path):
    pytest.importorskip("cryptography")
    from distributed import LocalCluster, Security

    made = Security.temporary()
    names = {"ca": "tls_ca_file", "cert": "tls_client_cert", "key": "tls_client_key"}
    for name, field in names.items():
        (tmp_path / name).write_text(getattr(made, field))
    files = TLS(*(str(tmp_path / name) for name in names))
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        protocol="tls://",
        security=made,
        processes=False,
        dashboard_address=None,
    ) as there:
        with Cluster(there.scheduler_address, files) as found:
            assert found.alive
            assert differences(found.workers()) == []
            same(fitted(planned(), found.executor()), fitted(planned(), InlineExecutor()))
        assert not found.alive
        with pytest.raises(SettingError, match="no file"):
            Cluster(there.scheduler_address, TLS("none.pem", files.cert, files.key))
    with pytest.raises(SettingError, match="three files"):
        TLS(files.ca)


def test_a_cluster_and_an_executor_exclude_each_other():
    for executor in ("processes", "inline", InlineExecutor()):
        with pytest.raises(SettingError, match="exclude each other"):
            Place(executor, "local:2")
    assert Place("threads", "local:2").cluster == "local:2"


def test_the_command_line(tmp_path, capsys):
    matrix = tmp_path / "x.csv"
    np.savetxt(matrix, np.random.default_rng(1).normal(size=(20, 8)), delimiter=",", fmt="%.4f")
    words = [
        "-i",
        f"X={matrix}",
        "--set",
        "blocks=2",
        "--chains",
        "2",
        "--warmup",
        "5",
        "--draws",
        "10",
        "--force",
    ]
    for name, more in {"here": [], "there": ["--cluster", "local:2"]}.items():
        assert (
            main(["fit", "bayesian_plaid", *words, *more, "--out", str(tmp_path / f"{name}.plaidwork")]) == 0
        )
    here, there = (open_session(tmp_path / f"{name}.plaidwork") for name in ("here", "there"))
    same(*(next(iter(session.runs.values())) for session in (here, there)))
    assert "Cluster: 2 chains at a time" in capsys.readouterr().out
    assert (
        main(
            ["fit", "bayesian_plaid", *words, "--cluster", "local:2", "--executor", "processes", "--out", "n"]
        )
        == 2
    )
    assert "exclude each other" in capsys.readouterr().err


def test_a_study_shares_the_workers(cluster):
    study = Study.grid(
        Walk(),
        {"X": as_dataset("X", matrix())},
        {"stride": [0.2, 0.5]},
        metric="lp",
        seeds=(1, 2),
        schedule=SCHEDULE,
    )
    study.run(cluster.executor, at_once=2)
    assert [job.status for job in study.jobs] == ["done"] * 4
