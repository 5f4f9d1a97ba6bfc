"""A run is verified from the window: in the background, with a stop, by the engine of the command line."""

import pytest
from PySide6.QtCore import Qt
from toys import SCHEDULE, STEP_SECONDS, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session
from plaidwork.gui.monitor.settings_page import SettingsPage
from plaidwork.gui.verify_dialog import VerifyDialog
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import toy_registry


class _Bench:
    """What the dialog asks of a workbench."""

    def __init__(self):
        self.session, self.registry = Session(), self
        plan = make_plan(
            Walk(), {"X": self.session.add_dataset(as_dataset("X", matrix()))}, schedule=SCHEDULE
        )
        self.run = self.session.add_run(plan)
        execute(self.run, plan, InlineExecutor())

    def model(self, model_id):
        return Walk()


@pytest.fixture
def bench():
    return _Bench()


@pytest.fixture
def dialog(bench, qtbot):
    made = VerifyDialog(bench, bench.run)
    qtbot.addWidget(made)
    made.show()
    return made


def _verified(qtbot, dialog):
    dialog.go_button.click()
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)


def test_equal_to_the_bit(dialog, qtbot):
    dialog.sweeps.setValue(10**6)
    assert dialog.sweeps.value() == 15, "all there are"
    _verified(qtbot, dialog)
    assert dialog.verdict.text() == "Equal in 2 chains over 15 sweeps, to the bit."
    assert dialog.machine.text().startswith("Made and checked on ")
    assert dialog.run.status == "done"


def test_a_difference_is_told_with_its_sweep(dialog, qtbot):
    rows = dialog.run.chains[1].trace._rows
    rows[3, 1] += 0.5
    _verified(qtbot, dialog)
    assert dialog.verdict.text().startswith("Differs from sweep 4 on. Chain 2, sweep 4: trace level stored")


def test_rounding_elsewhere_names_both_processors(dialog, qtbot):
    dialog.run.environment = {**dialog.run.environment, "processor": "another"}
    rows = dialog.run.chains[1].trace._rows
    rows[10, 1] *= 1 + 1e-12
    _verified(qtbot, dialog)
    assert dialog.verdict.text().startswith("Equal within rounding in 2 chains over 15 sweeps")
    assert dialog.machine.text().startswith("Made on another")


def test_it_can_be_stopped(dialog, qtbot, monkeypatch):
    monkeypatch.setenv(STEP_SECONDS, "0.5")
    dialog.go_button.click()
    assert dialog.go_button.text() == "Stop"
    dialog.go_button.click()
    assert not dialog.busy()
    assert dialog.verdict.text() == "Stopped. Nothing was compared."
    assert dialog.go_button.text() == "Verify"


def test_data_that_have_changed_are_told(dialog, qtbot, bench):
    bench.session.datasets.clear()
    _verified(qtbot, dialog)
    assert "needs data that are not in the session" in dialog.verdict.text()


def test_the_page_of_settings_leads_to_it(bench, qtbot, monkeypatch):
    workbench = Workbench(toy_registry())
    workbench.set_session(bench.session)
    page = SettingsPage(workbench, bench.run)
    qtbot.addWidget(page)
    page.show()
    qtbot.mouseClick(page.verify_button, Qt.MouseButton.LeftButton)
    opened = page.window().findChild(VerifyDialog)
    assert opened.run is bench.run
    opened.close()
    monkeypatch.setattr(workbench, "phase", lambda run: "running")
    workbench.run_changed.emit(bench.run.id)
    assert not page.verify_button.isEnabled()
