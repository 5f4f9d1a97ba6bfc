"""What pages say of a run that has kept draws while its results, or the judgement of them, are still being worked out."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.errors import ModelError
from plaidwork.core.inference.run import Run
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import plan
from tests.registries import registry_of


class Waits(toys.Walk):
    """A walk whose results come when the test lets them, with the names of what its draws are of."""

    let_go = threading.Event()
    fails = False
    spec = replace(
        toys.Walk.spec,
        id="toy.waits",
        title="Waits",
        views=(View("posterior", "Places", {"values": "draws:place", "names": "called"}),),
    )

    def summarise(self, kept, data, params):
        assert self.let_go.wait(20)
        if self.fails:
            raise ModelError("It cannot be summed up.", "Walk less.")
        return {"called": Result(np.array(["north", "east", "south", "west"]), ("column",))}


@pytest.fixture
def workbench(qapp):
    Waits.let_go.clear()
    Waits.fails = False
    made = Workbench(registry_of(Waits))
    yield made
    Waits.let_go.set()
    assert made.wait(20_000)
    wait_for_tasks()
    qapp.processEvents()


def _ended(workbench, qtbot):
    run = workbench.start(plan(Waits))
    qtbot.waitUntil(lambda: run.status == "done" and not workbench.active_runs(), timeout=60_000)
    return run


def test_a_page_says_that_results_are_on_their_way_and_shows_them_with_their_names(workbench, qtbot, opened):
    run = _ended(workbench, qtbot)
    page = opened((workbench, run), run.spec.views[0])
    assert page.state == "The results are being worked out"
    Waits.let_go.set()
    qtbot.waitUntil(lambda: page.state == "" and page.loaded is not None, timeout=60_000)
    assert [panel.title for panel in page.loaded.panels] == ["north", "east", "south", "west"]


def test_a_page_that_was_there_before_the_end_says_so_too(workbench, qtbot, opened, monkeypatch):
    monkeypatch.setenv(toys.STEP_SECONDS, "0.01")
    run = workbench.start(plan(Waits))
    page = opened((workbench, run), run.spec.views[0])
    assert page.state in ("Nothing to show yet", "The results are being worked out")
    qtbot.waitUntil(lambda: not workbench.active_runs(), timeout=60_000)
    qtbot.waitUntil(lambda: page.state == "The results are being worked out", timeout=60_000)


def test_results_that_fail_are_no_longer_on_their_way(workbench, qtbot, opened):
    Waits.fails = True
    run = _ended(workbench, qtbot)
    page = opened((workbench, run), run.spec.views[0])
    Waits.let_go.set()
    qtbot.waitUntil(lambda: page.state != "The results are being worked out", timeout=60_000)
    assert page.state == "No result yet"
    assert "No results have been worked out" in page.reason


def test_the_diagnostics_say_that_draws_are_being_judged(workbench, qtbot, monkeypatch):
    let_go, judge = threading.Event(), Run.diagnosis
    monkeypatch.setattr(Run, "diagnosis", lambda run: (let_go.wait(20), judge(run))[1])
    Waits.let_go.set()
    run = _ended(workbench, qtbot)
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    page.show()
    QApplication.processEvents()
    assert page._empty.title == "The draws are being judged"
    assert "100 draws" in page._empty.text
    let_go.set()
    qtbot.waitUntil(page._content.isVisible, timeout=60_000)


def test_the_diagnostics_of_a_run_that_has_kept_nothing(workbench, qtbot):
    run = workbench.session.add_run(plan(Waits))
    run.status = "running"
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    assert page._empty.title == "Nothing to judge yet"
    run.status = "stopped"
    page.refresh()
    assert page._empty.title == "Nothing to judge"
