"""A session that is closed while a fit runs on a cluster finds it again when it is opened."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QDialog

from plaidwork.core.errors import SettingError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor, ThreadExecutor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.run import Run
from plaidwork.core.session import left_fits
from plaidwork.core.session.session import Session
from plaidwork.gui.run_places import RunPlaces
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import SlowWalk, plan, toy_registry, window_on

LONG = 60_000
ADDRESS = "tcp://10.0.0.1:8786"


class _Cluster:
    """A cluster in this process: a fit that is left waits, and ends when it is asked for."""

    threads, dashboard, alive = 2, "", True

    def __init__(self):
        self.left, self.gone, self.refuses = {}, [], ""

    def executor(self, control):
        return ThreadExecutor(control)

    def leave(self, name, task, job, plan):
        if self.refuses:
            raise SettingError(self.refuses)
        self.left[name] = (job, plan)

    def ask_back(self, name, seconds, given_up):
        if self.refuses:
            raise TimeoutError
        job, plan = self.left[name]
        run = left_fits._unpacked(job.session)
        execute(run, plan, InlineExecutor())
        return left_fits._packed(run)

    def let_go(self, name):
        self.gone.append(name)
        self.left.pop(name, None)

    def close(self):
        pass


@pytest.fixture
def cluster(monkeypatch):
    made = _Cluster()
    monkeypatch.setattr(Place, "connected", lambda place: made)
    return made


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    places = RunPlaces(Settings(tmp_path / "config"))
    places.available = True
    places.describe(Place(cluster=ADDRESS))
    with window_on(Workbench(toy_registry(), places=places), tmp_path) as made:
        yield made
    places.close()


def running(window, qtbot, path):
    """A fit under way in a session that has a file."""
    bench = window.workbench
    run = bench.start(plan(SlowWalk, draws=400))
    qtbot.waitUntil(lambda: run.sweeps_done > 20, timeout=LONG)
    bench.file.save(path)
    assert wait_for_tasks(20_000)
    QApplication.processEvents()
    return run


def answer(monkeypatch, choice):
    """Choose in the next dialog; what it offers and says."""
    seen = []

    def exec_(dialog):
        labels = [label.text() for label in dialog.findChildren(type(dialog.layout().itemAt(0).widget()))]
        seen.extend(labels)
        dialog.findChild(object, choice).click()
        return dialog.result()

    monkeypatch.setattr(QDialog, "exec", exec_)
    return seen


def messages(window):
    return [message.title for message in window.messages._messages]


def same(run):
    other = Run.from_plan(plan(toys.Walk, draws=400))
    execute(other, plan(toys.Walk, draws=400), InlineExecutor())
    for variable in run.spec.variables:
        assert np.array_equal(run.draws[variable.name], other.draws[variable.name], equal_nan=True)


def test_it_is_left_at_the_question_and_comes_back_with_the_session(
    window, qtbot, cluster, tmp_path, monkeypatch
):
    bench, path = window.workbench, tmp_path / "s.plaidwork"
    run = running(window, qtbot, path)
    seen = answer(monkeypatch, "leave")
    assert window.commands.may_close()
    assert any("can go on there while the session is closed" in text for text in seen)
    assert list(left_fits.left_fits()) == [run.id]
    kept = run.sweeps_done
    bench.set_session(Session())
    bench.file.open(path)
    qtbot.waitUntil(
        lambda: run.id in bench.session.runs and bench.session.runs[run.id].status == "done", timeout=LONG
    )
    found = bench.session.runs[run.id]
    assert found is not run
    assert found.sweeps_done > kept
    same(found)
    qtbot.waitUntil(lambda: bool(found.results), timeout=LONG)
    qtbot.waitUntil(
        lambda: f"{run.title} is back from the cluster {ADDRESS}" in messages(window), timeout=LONG
    )
    assert cluster.gone == []  # no file has it yet
    bench.file.save()
    qtbot.waitUntil(lambda: bool(cluster.gone), timeout=LONG)
    assert left_fits.left_fits() == {}


def test_what_cannot_be_left_keeps_the_window_open_and_says_why(
    window, qtbot, cluster, tmp_path, monkeypatch
):
    run = running(window, qtbot, tmp_path / "s.plaidwork")
    cluster.refuses = "The workers have another numpy."
    answer(monkeypatch, "leave")
    assert not window.commands.may_close()
    assert "1 fit could not be left on the cluster" in messages(window)
    assert run.resumable
    assert left_fits.left_fits() == {}


def test_a_fit_of_this_computer_is_not_offered_to_stay(window, qtbot, cluster, tmp_path, monkeypatch):
    window.workbench.places.use_cluster(False)
    run = running(window, qtbot, tmp_path / "s.plaidwork")
    seen = answer(monkeypatch, "save")
    assert window.commands.may_close()
    assert not any("cluster" in text for text in seen)
    assert run.status == "stopped"


def test_one_that_does_not_answer_is_told_and_can_be_given_up(window, qtbot, cluster, tmp_path, monkeypatch):
    bench, path = window.workbench, tmp_path / "s.plaidwork"
    run = running(window, qtbot, path)
    answer(monkeypatch, "leave")
    assert window.commands.may_close()
    cluster.refuses = "nobody"
    bench.set_session(Session())
    bench.file.open(path)
    title = f"{run.title} has not come back from the cluster {ADDRESS}"
    qtbot.waitUntil(lambda: title in messages(window), timeout=LONG)
    found = bench.session.runs[run.id]
    assert bench.left.holds(found)
    told = next(message for message in window.messages._messages if message.title == title)
    dict(told.actions)["Give it up"]()
    assert not bench.left.holds(found)
    assert left_fits.left_fits() == {}
    bench.places.use_cluster(False)
    bench.resume(found)
    qtbot.waitUntil(lambda: found.status == "done", timeout=LONG)
    same(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_cluster_goes_on_while_the_session_is_closed(window, qtbot, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    bench, path = window.workbench, tmp_path / "s.plaidwork"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        bench.places.describe(Place(cluster=made.scheduler_address))
        run = running(window, qtbot, path)
        answer(monkeypatch, "leave")
        assert window.commands.may_close()
        kept = run.sweeps_done
        bench.set_session(Session())
        bench.places.clusters.close()
        qtbot.wait(6000)
        bench.file.open(path)
        qtbot.waitUntil(
            lambda: run.id in bench.session.runs and bench.session.runs[run.id].status == "done", timeout=LONG
        )
        found = bench.session.runs[run.id]
        assert found.sweeps_done > kept
        same(found)
        bench.file.save()
        qtbot.waitUntil(lambda: not left_fits.left_fits(), timeout=LONG)
        assert wait_for_tasks(20_000)
        bench.places.clusters.close()
