"""Fits that are left on a cluster go on there without the program that started them, to the draws of an undisturbed fit."""

import os
import signal
import time

import numpy as np
import pytest
from toys import SCHEDULE, STEP_SECONDS, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.inference.cluster import Cluster, SentData
from plaidwork.core.inference.cluster_link import TLS
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session import left_fits as left_fits_module
from plaidwork.core.session.left_fits import LeftFit, adopt, fetched, forget, leave, left_fits
from plaidwork.core.session.session import Session

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STEP = 0.02


@pytest.fixture(scope="module")
def place():
    """A cluster that does not end with a client: its workers take their time for a step."""
    before = os.environ.get(STEP_SECONDS)
    os.environ[STEP_SECONDS] = str(STEP)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        if before is None:
            del os.environ[STEP_SECONDS]
        yield Place(cluster=made.scheduler_address)


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path))


def planned(draws, **params):
    schedule = SCHEDULE.with_(draws=draws)
    return make_plan(Walk(), {"X": as_dataset("X", matrix())}, params, schedule=schedule)


def begun(plan, sweeps):
    """A run that was stopped after about so many sweeps."""
    run, control = Run.from_plan(plan), Control()

    def stop(_run, event):
        if getattr(event, "sweep", 0) >= sweeps:
            control.stop()

    execute(run, plan, InlineExecutor(control), stop)
    assert run.status == "stopped"
    return run


def left(run, plan, place):
    """Leave it, and close the connection."""
    with place.connected() as cluster:
        return leave(run, plan, place, cluster)


def back(run, place, wait=0.0):
    """Ask for it after so many seconds; without a number once it has ended."""
    time.sleep(wait)
    with place.connected() as cluster:
        fit = left_fits()[run.id]
        while not wait and not cluster._client.get_dataset(fit.name).done():
            time.sleep(0.5)
        adopt(run, fetched(fit, run, cluster))
        cluster.let_go(fit.name)
    forget(run.id)


def same(run, plan):
    """Whether it ends as an undisturbed one; here, where it had not ended on a busy computer."""
    if run.status == "stopped":
        execute(run, plan, InlineExecutor())
    other = Run.from_plan(plan)
    execute(other, plan, InlineExecutor())
    assert run.status == other.status == "done"
    for one, two in zip(run.chains, other.chains, strict=True):
        assert np.array_equal(one.trace.rows(), two.trace.rows(), equal_nan=True)
        assert one.draws.count == two.draws.count
    for variable in run.spec.variables:
        assert np.array_equal(run.draws[variable.name], other.draws[variable.name], equal_nan=True)


def test_it_goes_on_alone_to_its_end(place):
    plan = planned(60)
    run = begun(plan, 20)
    left(run, plan, place)
    kept = run.sweeps_done
    back(run, place)
    assert run.sweeps_done > kept
    same(run, plan)
    assert left_fits() == {}


def test_on_an_encrypted_cluster_the_files_are_remembered(tmp_path):
    pytest.importorskip("cryptography")
    made = distributed.Security.temporary()
    names = {"ca": "tls_ca_file", "cert": "tls_client_cert", "key": "tls_client_key"}
    for name, field in names.items():
        (tmp_path / name).write_text(getattr(made, field))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, protocol="tls://", security=made, dashboard_address=None
    ) as there:
        place = Place(cluster=there.scheduler_address, tls=TLS(*(str(tmp_path / name) for name in names)))
        plan = planned(60)
        run = begun(plan, 20)
        left(run, plan, place)
        assert left_fits()[run.id].place == place
        kept = run.sweeps_done
        back(run, left_fits()[run.id].place)
        assert run.sweeps_done > kept
        same(run, plan)


def test_it_is_taken_back_on_the_way_and_goes_on_here(place):
    plan = planned(1500)
    run = begun(plan, 20)
    left(run, plan, place)
    back(run, place, wait=8)
    assert run.status == "stopped"
    assert 60 < run.sweeps_done < 2 * 3003
    assert any("Left on the cluster" in line.text for line in run.log)
    same(run, plan)


def test_one_that_has_not_begun_can_be_left(place):
    plan = planned(20)
    run = Run.from_plan(plan)
    left(run, plan, place)
    back(run, place)
    same(run, plan)


@pytest.mark.parametrize("dying", [0, 1, 2])
def test_workers_that_die_lose_nothing(place, dying, monkeypatch):
    """Either of them (one leads the fit), or both; what was reached before goes on from there."""
    monkeypatch.setattr("plaidwork.core.session.left_fits.KEEP_SECONDS", 0.5)
    plan = planned(100)
    run = begun(plan, 20)
    kept = run.sweeps_done
    left(run, plan, place)
    time.sleep(3)
    with place.connected() as cluster:
        workers = sorted(cluster._client.run(os.getpid).items())
        for _, number in workers if dying == 2 else [workers[dying]]:
            os.kill(number, signal.SIGKILL)
    back(run, place)
    said = [int(line.text.split()[6][:-1]) for line in run.log if "Another worker goes on" in line.text]
    assert all(sweep >= kept for sweep in said)
    assert said or dying < 2
    same(run, plan)


def test_one_that_has_ended_is_not_made_again(place):
    """The worker that has the end of a fit dies before somebody asks for it."""
    plan = planned(40)
    run = begun(plan, 20)
    fit = left(run, plan, place)
    with place.connected() as cluster:
        there = cluster._client.get_dataset(fit.name)
        while not there.done():
            time.sleep(0.2)
        (holder,) = next(iter(cluster._client.who_has([there]).values()))
        os.kill(cluster._client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)
    back(run, place)
    assert any(f"goes on from sweep {run.sweeps_done}," in line.text for line in run.log)
    same(run, plan)


def test_a_cluster_that_keeps_nothing_ends_no_fit_and_it_can_be_called_back(monkeypatch):
    class Full:
        """Its scheduler has no room; after some tries the fit is called back."""

        asked = 0

        def executor(self):
            return ThreadExecutor(Control())

        def kept(self, name):
            return b""

        def keep(self, name, content):
            raise OSError("no room")

        def is_called_back(self, name, seconds):
            self.asked += 1
            time.sleep(0.2)
            return self.asked > 8

    monkeypatch.setattr(Cluster, "around", classmethod(lambda _: Full()))
    monkeypatch.setenv(STEP_SECONDS, "0.02")
    plan = planned(100_000)
    run = begun(plan, 5)
    job = left_fits_module._LeftJob(
        Walk, plan.params, left_fits_module._packed(run), ("toys", "toys", "", ""), 0.1
    )
    came = left_fits_module._unpacked(left_fits_module.go_on_alone(job, SentData(plan.inputs), "n"))
    assert came.status == "stopped"
    assert sum("could not keep what was reached: no room" in line.text for line in came.log) >= 1


def test_a_failure_there_is_told_here(place):
    plan = planned(60, fail_at=40)
    run = begun(plan, 20)
    left(run, plan, place)
    back(run, place)
    assert run.status == "failed"
    assert any("The walk has ended." in line.text for line in run.log)


def test_one_that_was_taken_back_is_not_there_twice(place):
    plan = planned(20)
    run = Run.from_plan(plan)
    fit = left(run, plan, place)
    back(run, place)
    with place.connected() as cluster, pytest.raises(SessionError, match="does not know Walk any more"):
        fetched(fit, run, cluster)


def test_a_cluster_that_ends_with_the_program_is_no_place(place):
    plan = planned(20)
    with place.connected() as cluster, pytest.raises(SettingError, match="ends with this program"):
        leave(Run.from_plan(plan), plan, Place(cluster="local:2"), cluster)


def test_the_end_of_a_fit_that_ended_there_is_recorded():
    plan = planned(20)
    session = Session()
    run = session.add_run(plan)
    came = Run.from_plan(plan, run_id=run.id)
    execute(came, plan, InlineExecutor())
    adopt(run, came)
    assert (session.history[-1]["action"], session.history[-1]["status"]) == ("fit ended", "done")
    assert session.history[-1]["draws"] == run.n_draws > 0


def test_another_run_does_not_take_it(place):
    plan = planned(20)
    run, other = Run.from_plan(plan), Run.from_plan(plan)
    fit = left(run, plan, place)
    with place.connected() as cluster, pytest.raises(SessionError, match="is not Walk"):
        fetched(fit, other, cluster)


def test_a_damaged_record_is_no_fit(tmp_path):
    good = LeftFit("r", "Walk", "tcp://127.0.0.1:1", "n", "t")
    lines = {"r": vars(good), "other": vars(good), "few": {"run": "few"}, "odd": {**vars(good), "run": 5}}
    import json

    (tmp_path / "left_fits.json").write_text(json.dumps(lines))
    assert left_fits() == {"r": good}
