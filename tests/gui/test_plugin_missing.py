"""A session whose plugin is not installed: it says so, shows all results, and offers nothing that cannot work."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import dataset, plan, toy_registry, window_on
from tests.registries import registry_of


@pytest.fixture
def stored(qapp, qtbot, tmp_path):
    """A session file with one finished run of the walk."""
    workbench = Workbench(toy_registry())
    workbench.add_dataset(dataset())
    with qtbot.waitSignal(workbench.results_changed, timeout=20_000):
        workbench.start(plan(draws=20))
    wait_for_tasks()
    with qtbot.waitSignal(workbench.saved, timeout=20_000):
        workbench.file.save(tmp_path / "walk.plaidwork")
    return tmp_path / "walk.plaidwork"


@pytest.fixture
def window(stored, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(registry_of(toys.Climb)), tmp_path) as made:
        with qtbot.waitSignal(made.workbench.session_replaced, timeout=20_000):
            made.commands.open_path(stored)
        wait_for_tasks()
        QApplication.processEvents()
        yield made


def test_a_banner_names_the_model_and_the_plugin(window):
    banner = window.workspace.banner
    assert banner.isVisible()
    assert banner.current.title.startswith("Results only")
    assert "“Walk” 1.2 (toy.walk)" in banner.current.text
    assert "the plugin toys" in banner.current.text
    assert not banner._close.isVisible()
    window.tree.select("data", "numbers")
    assert not banner.isVisible()


def test_results_can_still_be_written_as_annotated_data(window, tmp_path, monkeypatch):
    asked = []

    def choose(parent, title, start, kinds, *more):
        asked.append((Path(start).suffix, kinds))
        return str(tmp_path / "walk"), "MuData (*.h5mu)"

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    window.actions_by_key["export_annotated"].trigger()
    wait_for_tasks()
    QApplication.processEvents()
    assert asked == [(".h5ad", "AnnData (*.h5ad);;MuData (*.h5mu)")]
    assert (tmp_path / "walk.h5mu").stat().st_size > 1000


def test_what_cannot_work_is_disabled(window, qtbot):
    actions = window.actions_by_key
    assert [
        key for key in ("start", "fit_again", "search", "pause", "stop") if actions[key].isEnabled()
    ] == []
    assert all(actions[key].isEnabled() for key in ("export_run", "new_fit", "rename", "remove", "save_as"))
    shown = [
        b.objectName() for b in window.header.findChildren(QPushButton) if b.objectName() and b.isVisible()
    ]
    assert shown == ["new_fit"]
    qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert window.current_run().status == "done"


def test_every_tab_opens_and_offers_nothing_new(window):
    run = window.current_run()
    for key in window.workspace.tab_keys():
        window.workspace.go_to(key)
        wait_for_tasks()
        QApplication.processEvents()
    assert window.messages.count == 0
    window.workspace.go_to(f"{run.id}/diagnostics")
    page = window.workspace.current_page()
    assert not [b for b in page.findChildren(QPushButton) if "more draws" in b.text()]
    window.workspace.go_to(f"{run.id}/analyses")
    assert window.workspace.current_page()._pane.title == "No analysis without the model"


def test_it_is_over_when_the_plugin_comes(window):
    registry = window.workbench.registry
    registry._catalogue["models"]["toy.walk"] = toys.Walk
    window.workbench.plugin_changed.emit("toy_plugin")
    window.plugin_watch._changed("toys")
    QApplication.processEvents()
    assert not window.workspace.banner.isVisible()
    assert window.actions_by_key["fit_again"].isEnabled()
