"""Every bundled example, from its card to a file and back, with all that can be looked at on the way.

The fast version fits for a few sweeps and looks at each example once; the slow one fits at the defaults of the example
and looks in both sizes and both schemes.
"""

from __future__ import annotations

import logging

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from sparing import some

from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.gui.group_page import GroupPage
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.walk import complaints, options, settle

SIZES = ((1440, 900), (1024, 640))
SCHEMES = ("light", "dark")
SHORT = {"chains": 2, "warmup": 3, "draws": 6, "thin": 1, "max_sweeps": 5}
_PATIENCE = 15
SAMPLES = bundled_samples()
QUICK = tuple(sample for sample in SAMPLES if sample.id == "votes")
"""Components, and cells that are filled, in small data; the others take seconds."""


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    made = MainWindow(Workbench(registry()), Settings(tmp_path / "config"))
    made.show()
    yield made
    for run in made.workbench.active_runs():
        made.workbench.stop(run)
    made.workbench.wait(10_000)
    wait_for_tasks()
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()
    wait_for_tasks()


class Tour:
    """Goes through a window, and keeps what is wrong and where it was seen."""

    def __init__(self, window: MainWindow, qtbot, thorough: bool) -> None:
        self.window, self.qtbot, self.thorough = window, qtbot, thorough
        self.wrong: dict[str, str] = {}

    def look(self, where: str) -> None:
        """Judge all that is visible, once nested layouts have come to rest."""
        found = complaints(self.window)
        for _ in range(_PATIENCE):
            if not found:
                return
            self.qtbot.wait(20)
            found = complaints(self.window)
        for words in found:
            self.wrong.setdefault(words, f"{self.window.width()} {theme().mode}: {where}")

    def messages(self, where: str) -> None:
        """No warning, and no error."""
        for message in self.window.messages._messages:
            verdict = message.key.startswith("end ")
            if message.kind == "error" or (message.kind == "warn" and not verdict):
                self.wrong.setdefault(f"{message.title}. {message.text}", where)

    def show(self, size: tuple[int, int], scheme: str) -> None:
        """Another size of the window and another scheme."""
        theme().set_mode(scheme)
        self.window.resize(*size)
        QApplication.processEvents()

    def views(self) -> None:
        """Every tab, every view in a tab, and what can be chosen there."""
        workspace = self.window.workspace
        for key in workspace.tab_keys():
            workspace.go_to(key)
            page = workspace.current_page()
            titles = page.choice._keys if isinstance(page, GroupPage) else [""]
            for title in titles:
                if title:
                    page.choice.set_current(title)
                shown = page.front if title else page
                where = " / ".join(part for part in (key.partition("/")[2], title) if part)
                self.view(shown, where)

    def view(self, page, where: str) -> None:
        """One view as it opens, and with each other choice."""
        settle(page)
        self.look(where)
        for name, choose in options(page, most=6 if self.thorough else 1):
            choose()
            settle(page)
            self.look(f"{where}, {name}")


def fit(tour: Tour, sample, short: bool) -> None:
    """The card of an example, its set-up, and the fit."""
    window, qtbot = tour.window, tour.qtbot
    window.commands.open_example(sample)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=60_000)
    settle(window.setup_page)
    wait_for_tasks()
    QApplication.processEvents()
    tour.look("set-up")
    if short:
        page = window.setup_page
        page.fill(page.inputs(), sample.params, {**sample.schedule, **SHORT}, sample.seed)
    window.actions_by_key["start"].trigger()
    qtbot.waitUntil(lambda: window.current_run() is not None, timeout=60_000)
    run = window.current_run()
    qtbot.waitUntil(lambda: not run.active and bool(run.results), timeout=1_200_000 if not short else 300_000)
    wait_for_tasks(60_000)
    QApplication.processEvents()
    assert run.status == "done"
    tour.messages("fit")


def save_and_reopen(tour: Tour, path, monkeypatch) -> None:
    """Export, save, open again: the same tab is in front, and nothing is told."""
    window, qtbot = tour.window, tour.qtbot
    run, front = window.current_run(), window.workspace.current_key()
    folder = path.parent / "export"
    folder.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *a, **k: str(folder))
    window.commands.export_run()
    wait_for_tasks(60_000)
    QApplication.processEvents()
    assert any(folder.rglob("*.csv"))
    with qtbot.waitSignal(window.workbench.saved, timeout=60_000):
        window.workbench.file.save(path)
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=60_000):
        window.commands.open_path(path)
    wait_for_tasks(60_000)
    QApplication.processEvents()
    assert window.current_run().id == run.id
    assert window.workspace.current_key() == front
    settle(window.workspace.current_page())
    tour.look("opened again")
    tour.messages("opened again")


def tell(tour: Tour, caplog) -> None:
    logged = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    run = tour.window.current_run()
    logged += [line.text for line in run.log if line.level == "error"]
    words = [f"{where}\n    {what}" for what, where in tour.wrong.items()]
    found = [*logged, *words]
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("sample", some(SAMPLES, QUICK), ids=lambda sample: sample.id)
def test_an_example_can_be_looked_at_in_full(window, qtbot, tmp_path, monkeypatch, caplog, sample):
    tour = Tour(window, qtbot, thorough=False)
    place = SAMPLES.index(sample)
    tour.show(SIZES[1], SCHEMES[place % 2])
    fit(tour, sample, short=True)
    tour.views()
    save_and_reopen(tour, tmp_path / "example.plaidwork", monkeypatch)
    tour.messages("views")
    tell(tour, caplog)


@pytest.mark.slow
@pytest.mark.timeout(2400)  # every option of every tab in four looks takes many minutes on a busy machine
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
def test_an_example_fitted_at_its_defaults(window, qtbot, tmp_path, monkeypatch, caplog, sample):
    tour = Tour(window, qtbot, thorough=True)
    tour.show(SIZES[0], SCHEMES[0])
    fit(tour, sample, short=False)
    for size in SIZES:
        for scheme in SCHEMES:
            tour.show(size, scheme)
            tour.views()
    save_and_reopen(tour, tmp_path / "example.plaidwork", monkeypatch)
    tour.messages("views")
    tell(tour, caplog)
