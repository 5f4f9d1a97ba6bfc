"""*Run on*: a cluster is described, tried and used from the window; the draws are those of this computer."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from gui_toys import ToyRegistry, settle
from gui_toys import matrix as toy_matrix
from PySide6.QtCore import Qt

from plaidwork.core.errors import SettingError
from plaidwork.core.inference import cluster_link
from plaidwork.core.inference.cluster_link import TLS, WorkerFacts
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import open_session
from plaidwork.core.study import Study
from plaidwork.gui.monitor.live_page import LivePage
from plaidwork.gui.run_places import RunPlaces
from plaidwork.gui.settings import Settings
from plaidwork.gui.setup import SetupPage
from plaidwork.gui.setup.cluster_dialog import ClusterDialog
from plaidwork.gui.setup.presets import PresetStore
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import SlowWalk, plan, toy_registry

LONG = 60_000


class _Cluster:
    """Answers as a cluster does, without one."""

    threads, dashboard, alive = 3, "http://10.0.0.1:8787/status", True

    def __init__(self, workers):
        self._workers, self.closed = workers, False

    def workers(self):
        return self._workers

    def close(self):
        self.closed = True


@pytest.fixture
def settings(tmp_path):
    return Settings(tmp_path / "config")


@pytest.fixture
def places(qapp, settings):
    made = RunPlaces(settings)
    made.available = True
    yield made
    assert wait_for_tasks(20_000)
    made.close()


@pytest.fixture
def dialog(qtbot, places):
    made = ClusterDialog(places)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
    return made


def workers(**other):
    here = cluster_link.versions()
    return [WorkerFacts("tcp://10.0.0.2:1", here), WorkerFacts("tcp://10.0.0.3:1", {**here, **other})]


def answering(monkeypatch, found):
    opened = []

    def connected(place):
        opened.append(place)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(Place, "connected", connected)
    return opened


def test_the_choice_is_kept_and_comes_back(places, settings):
    assert places.chosen is None
    place = Place(cluster="tls://10.0.0.1:8786", tls=TLS("ca.pem", "cert.pem", "key.pem"))
    places.describe(place)
    assert RunPlaces(settings).chosen == place
    places.use_cluster(False)
    again = RunPlaces(settings)
    assert again.chosen is None
    assert again.cluster == place


def test_a_damaged_entry_is_as_if_there_were_none(places, settings):
    settings.set("cluster/address", "local:none")
    settings.set("cluster/used", True)
    assert RunPlaces(settings).chosen is None


@pytest.mark.parametrize("wrong", ["local:0", "local:", "tcp://a b"])
def test_an_address_that_is_none_is_told_and_nothing_is_chosen(qtbot, dialog, places, wrong):
    qtbot.keyClicks(dialog.address, wrong)
    qtbot.keyClick(dialog.address, Qt.Key.Key_Return)
    assert f"“{wrong}”" in dialog.verdict.text()
    assert dialog.isVisible()
    assert places.cluster is None


def test_two_of_three_files_are_told(qtbot, dialog):
    qtbot.keyClicks(dialog.address, "tls://10.0.0.1:8786")
    qtbot.keyClicks(dialog.files["ca"], "ca.pem")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    assert "three files" in dialog.verdict.text()


def test_what_answers_is_told_and_the_dashboard_opens_only_by_a_click(qtbot, dialog, places, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "plaidwork.gui.setup.cluster_dialog.QDesktopServices.openUrl",
        lambda url: asked.append(url.toString()),
    )
    cluster = _Cluster(workers())
    opened = answering(monkeypatch, cluster)
    qtbot.keyClicks(dialog.address, "tcp://10.0.0.1:8786")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    assert dialog.test_button.text() == "Stop waiting"
    qtbot.waitUntil(lambda: "2 workers answer" in dialog.verdict.text(), timeout=20_000)
    assert opened == [Place(cluster="tcp://10.0.0.1:8786")]
    assert "On all workers: plaidwork" in dialog.details.text()
    assert "numba" in dialog.details.text()
    assert dialog.dashboard.text() == f"Dashboard: {cluster.dashboard}"
    assert asked == []
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    assert asked == [cluster.dashboard]
    qtbot.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert places.chosen == Place(cluster="tcp://10.0.0.1:8786")
    assert not dialog.isVisible()
    assert not cluster.closed


def test_other_versions_are_told_before_anything_starts(qtbot, dialog, monkeypatch):
    answering(monkeypatch, _Cluster(workers(numpy="0.1")))
    qtbot.keyClicks(dialog.address, "tcp://10.0.0.1:8786")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "versions differ" in dialog.verdict.text(), timeout=20_000)
    assert dialog.details.text().startswith("numpy is 0.1, here ")
    assert "on 1 of 2 workers." in dialog.details.text()
    assert "On tcp://10.0.0.3:1: " in dialog.details.text()
    assert dialog.verdict.color == "error"


def test_what_was_tried_and_not_used_is_let_go(qtbot, dialog, places, monkeypatch):
    cluster = _Cluster(workers())
    answering(monkeypatch, cluster)
    qtbot.keyClicks(dialog.address, "local:2")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "2 workers" in dialog.verdict.text(), timeout=20_000)
    assert not cluster.closed
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: cluster.closed, timeout=20_000)
    assert places.chosen is None


def test_nobody_answers_and_another_address_forgets_it(qtbot, dialog, monkeypatch):
    answering(monkeypatch, SettingError("No dask scheduler answers at tcp://10.0.0.1:8786."))
    qtbot.keyClicks(dialog.address, "tcp://10.0.0.1:8786")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "No dask scheduler" in dialog.verdict.text(), timeout=20_000)
    qtbot.keyClicks(dialog.address, "7")
    assert dialog.verdict.text() == ""


@pytest.fixture
def page(qtbot, places, tmp_path):
    bench = Workbench(ToyRegistry(), places=places)
    bench.add_dataset(toy_matrix())
    page = SetupPage(bench, presets=PresetStore(tmp_path / "presets"))
    qtbot.addWidget(page)
    page.resize(900, 700)
    with qtbot.waitActive(page):
        page.show()
    yield page
    settle()


def test_the_page_switches_between_here_and_there(qtbot, page, places):
    places.describe(Place(cluster="local:2"))
    form = page.place_form
    assert form.control.current == "cluster"
    assert "local:2" in form.note.text()
    form.control.set_current("here")
    assert places.chosen is None
    assert "this computer" in form.note.text()
    page.set_model(page.spec.id)
    assert page.place_form.control.current == "here"


def test_a_cluster_that_was_never_described_asks_which(qtbot, page, places):
    page.place_form.control.set_current("cluster")
    assert page.place_form.control.current == "here"
    (dialog,) = page.window().findChildren(ClusterDialog)
    qtbot.keyClicks(dialog.address, "local:2")
    qtbot.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert page.place_form.control.current == "cluster"
    assert places.chosen == Place(cluster="local:2")


def test_without_dask_the_page_says_how_to_get_it(qtbot, places, tmp_path):
    places.available = False
    places.describe(Place(cluster="local:2"))
    assert places.chosen is None
    bench = Workbench(ToyRegistry(), places=places)
    bench.add_dataset(toy_matrix())
    page = SetupPage(bench, presets=PresetStore(tmp_path))
    qtbot.addWidget(page)
    page.show()
    assert not page.place_form.control.isEnabled()
    assert not page.place_form.describe_button.isEnabled()
    assert "pip install 'plaidwork[cluster]'" in page.place_form.note.text()
    settle()


@pytest.fixture
def bench(places):
    made = Workbench(toy_registry(), places=places)
    yield made
    for run in made.active_runs():
        made.stop(run)
    assert made.wait(20_000)
    wait_for_tasks()


def test_a_cluster_that_is_not_there_is_told_and_the_run_stays(qtbot, bench, places, monkeypatch):
    answering(monkeypatch, SettingError("No dask scheduler answers at tcp://10.0.0.1:8786."))
    places.describe(Place(cluster="tcp://10.0.0.1:8786"))
    with qtbot.waitSignal(bench.notified, timeout=20_000) as told:
        run = bench.start(plan())
    qtbot.waitUntil(lambda: not bench.active_runs(), timeout=20_000)
    assert "No dask scheduler" in told.args[2]
    assert run.status == "stopped"
    assert run.resumable
    places.use_cluster(False)
    bench.resume(run)
    qtbot.waitUntil(lambda: run.status == "done", timeout=20_000)
    same(run, alone(plan()))
    assert places.where(run) == ""


def test_a_stop_does_not_wait_for_a_connection(qtbot, bench, places, monkeypatch):
    import threading

    gate = threading.Event()

    def connected(place):
        gate.wait(30)
        raise SettingError("late")

    monkeypatch.setattr(Place, "connected", connected)
    places.describe(Place(cluster="tcp://10.0.0.1:8786"))
    run = bench.start(plan())
    bench.stop(run)
    qtbot.waitUntil(lambda: not bench.active_runs(), timeout=5_000)
    assert run.status == "stopped"
    gate.set()


def alone(asked):
    run = Run.from_plan(asked)
    execute(run, asked, InlineExecutor())
    return run


def same(first, second):
    for one, other in zip(first.chains, second.chains, strict=True):
        assert np.array_equal(one.trace.rows(), other.trace.rows(), equal_nan=True)
    for variable in first.spec.variables:
        assert np.array_equal(first.draws[variable.name], second.draws[variable.name], equal_nan=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_real_cluster_from_the_dialog_to_the_draws(qtbot, bench, places, dialog):
    pytest.importorskip("distributed")
    qtbot.keyClicks(dialog.address, "local:2")
    qtbot.mouseClick(dialog.test_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "2 workers answer" in dialog.verdict.text(), timeout=LONG)
    assert dialog.verdict.color == "ok"
    assert dialog.dashboard.text().startswith("Dashboard: http://127.0.0.1:")
    qtbot.keyClick(dialog.address, Qt.Key.Key_Return)
    run = bench.start(plan())
    qtbot.waitUntil(lambda: run.status == "done", timeout=LONG)
    assert any("local:2" in line.text for line in run.log)
    same(run, alone(plan()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pause_stop_and_a_session_found_again(qtbot, bench, places, tmp_path):
    """Pause and stop reach the workers; what a lost window had saved goes on there, to the same draws."""
    pytest.importorskip("distributed")
    places.describe(Place(cluster="local:2"))
    asked = plan(SlowWalk, draws=1500)
    run = bench.start(asked)
    page = LivePage(bench, run)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: run.sweeps_done > 20, timeout=LONG)
    assert page.side_panel().where.text() == "Running on the cluster local:2"
    bench.pause(run)
    qtbot.wait(1000)
    held = run.sweeps_done
    qtbot.wait(700)
    assert run.sweeps_done == held
    bench.file.save(tmp_path / "s.plaidwork")  # as the window keeps a session against a crash
    assert wait_for_tasks(20_000)
    bench.unpause(run)
    qtbot.waitUntil(lambda: run.sweeps_done > held, timeout=LONG)
    bench.stop(run)
    qtbot.waitUntil(lambda: not bench.active_runs(), timeout=LONG)
    assert run.status == "stopped"
    assert run.resumable

    bench.set_session(open_session(tmp_path / "s.plaidwork"))
    (found,) = bench.session.runs.values()
    assert 0 < found.sweeps_done < asked.schedule.sweeps("mcmc") * 2
    bench.resume(found)
    qtbot.waitUntil(lambda: found.status == "done", timeout=LONG)
    assert places.where(found) == "local:2"
    same(found, alone(plan(toys.Walk, draws=1500)))


def search():
    """Three fits of the toy model."""
    asked = plan()
    return Study.grid(asked.model, asked.inputs, seeds=(1, 2, 3), schedule=asked.schedule)


def test_a_search_whose_cluster_is_not_there_says_so_once_and_waits(qtbot, bench, places, monkeypatch):
    opened = answering(monkeypatch, SettingError("No dask scheduler answers at tcp://10.0.0.1:8786."))
    places.describe(Place(cluster="tcp://10.0.0.1:8786"))
    study, told = search(), []
    bench.notified.connect(lambda kind, title, text, details: told.append((kind, text)))
    with qtbot.waitSignal(bench.studies.ended, timeout=20_000):
        bench.studies.start(study)
    assert told == [("error", "No dask scheduler answers at tcp://10.0.0.1:8786.")]
    assert len(opened) == 1
    assert [job.status for job in study.jobs] == ["waiting"] * 3
    places.use_cluster(False)
    with qtbot.waitSignal(bench.studies.ended, timeout=20_000):
        bench.studies.start(study)
    assert [job.status for job in study.jobs] == ["done"] * 3


def test_a_search_can_be_stopped_while_its_cluster_is_being_reached(qtbot, bench, places, monkeypatch):
    asked, answered = threading.Event(), threading.Event()

    def connected(place):
        asked.set()
        answered.wait(20)
        raise SettingError("No dask scheduler answers.")

    monkeypatch.setattr(Place, "connected", connected)
    places.describe(Place(cluster="tcp://10.0.0.1:8786"))
    study = search()
    try:
        with qtbot.waitSignal(bench.studies.ended, timeout=10_000):
            bench.studies.start(study)
            assert asked.wait(10)
            bench.studies.stop(study.id)
        assert [job.status for job in study.jobs] == ["waiting"] * 3
    finally:
        answered.set()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_search_on_a_real_cluster_has_the_draws_of_one_here(qtbot, bench, places):
    pytest.importorskip("distributed")
    places.describe(Place(cluster="local:2"))
    assert places.fits_at_once() >= 4
    study = search()
    bench.studies.start(study, places.fits_at_once())
    assert bench.studies.where(study.id) == "local:2"
    with qtbot.waitSignal(bench.studies.ended, timeout=LONG):
        pass
    assert bench.studies.where(study.id) == ""
    here = search()
    here.run(lambda control: InlineExecutor(control))
    for there, job in zip(study.jobs, here.jobs, strict=True):
        assert there.status == "done"
        same(there.run, job.run)
