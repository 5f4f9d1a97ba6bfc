"""Copies of a session from the menu, and what is said and asked about the files of linked data."""

import shutil

import h5py
import pytest
from PySide6.QtWidgets import QPushButton

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.session.copying import save_linked
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui import dialogs
from plaidwork.gui.commands import copies
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import StatePane
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import plan, toy_registry


@pytest.fixture
def window(qtbot, qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    made = MainWindow(Workbench(toy_registry()), Settings(tmp_path / "config"))
    yield made
    wait_for_tasks(20_000)
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "data" / "x.csv"
    path.parent.mkdir()
    path.write_text("id,a,b\nr1,1,2\nr2,3,5\nr3,4,1\n")
    return path


@pytest.fixture
def linked(window, csv, tmp_path):
    session = Session()
    session.add_dataset(read_dataset(csv))
    save_linked(session, tmp_path / "l.plaidwork", [csv.parent])
    return tmp_path / "l.plaidwork"


def _done(qtbot, reached):
    qtbot.waitUntil(lambda: bool(wait_for_tasks(20_000) and reached()), timeout=20_000)


def _open(qtbot, window, path):
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        window.commands.open_path(path)


def _titles(window):
    return [message.title for message in window.messages._messages]


def test_copies_are_saved_from_the_menu(qtbot, window, tmp_path, monkeypatch):
    actions = window.actions_by_key
    assert not any(actions[key].isEnabled() for key in ("save_without_data", "save_compact", "save_linked"))
    run = window.workbench.start(plan(draws=5))
    _done(qtbot, lambda: not run.active and run.results)
    qtbot.waitUntil(actions["save_compact"].isEnabled)
    monkeypatch.setattr(dialogs, "ask", lambda *_: "without")
    for key, stateless in (("save_without_data", False), ("save_compact", True)):
        target = tmp_path / f"{key}.plaidwork"
        monkeypatch.setattr(copies, "ask_save_path", lambda *_, target=target: target)
        actions[key].trigger()
        _done(qtbot, target.exists)
        found = open_session(target)
        assert not found.datasets
        assert [(one.title, one.stateless) for one in found.runs.values()] == [(run.title, stateless)]
    target = tmp_path / "none.plaidwork"
    monkeypatch.setattr(dialogs, "ask", lambda *_: "cancel")
    actions["save_compact"].trigger()
    assert wait_for_tasks(20_000)
    assert not target.exists()


def test_data_are_linked_and_put_in_again(qtbot, window, csv, tmp_path, monkeypatch):
    actions, target = window.actions_by_key, tmp_path / "c.plaidwork"
    window.workbench.add_dataset(read_dataset(csv))
    window.settings.set_folder("import", csv)
    window.refresh_buttons()
    assert actions["save_linked"].isEnabled()
    assert not actions["save_embedded"].isEnabled()
    monkeypatch.setattr(copies, "ask_save_path", lambda *_: target)
    actions["save_linked"].trigger()
    _done(qtbot, lambda: _titles(window) == ["Copy saved to c.plaidwork"])
    assert open_session(target).links
    window.workbench.set_dirty(False)
    _open(qtbot, window, target)
    qtbot.waitUntil(actions["save_embedded"].isEnabled)
    target = tmp_path / "d.plaidwork"
    actions["save_embedded"].trigger()
    _done(qtbot, target.exists)
    assert open_session(target).datasets["x"].digest() == read_dataset(csv).digest()


def test_a_missing_file_is_told_and_found(qtbot, window, linked, csv, tmp_path, monkeypatch):
    there = shutil.move(csv, tmp_path / "moved.csv")
    _open(qtbot, window, linked)
    _done(qtbot, lambda: _titles(window) == ["The values of “x” cannot be read"])
    session = window.workbench.session
    chosen = [str(linked), str(there)]
    monkeypatch.setattr(copies.QFileDialog, "getOpenFileName", lambda *_: (chosen.pop(0), ""))
    (message,) = window.messages._messages
    dict(message.actions)["Find file…"]()
    _done(qtbot, lambda: "This is not the file" in _titles(window))
    assert not session.datasets["x"].at_hand
    dict(message.actions)["Find file…"]()
    _done(qtbot, lambda: session.links and next(iter(session.links.values())).file == there)
    assert session.datasets["x"].values.shape == (3, 2)
    assert window.workbench.dirty
    window.workbench.set_dirty(False)


def test_a_missing_file_is_found_from_the_page_of_its_data(qtbot, window, linked, csv, tmp_path, monkeypatch):
    """After *Later* too: the page that has no values offers it."""
    moved = csv.rename(tmp_path / "moved.csv")
    _open(qtbot, window, linked)
    _done(qtbot, lambda: _titles(window))
    window.tree.select("data", "x")
    page = window.workspace.current_page()
    _done(qtbot, lambda: isinstance(page._pages.get("picture"), StatePane))
    assert page.picture.bar.isHidden()
    monkeypatch.setattr(copies.QFileDialog, "getOpenFileName", lambda *_: (str(moved), ""))
    (find,) = [
        item for item in page._pages["picture"].findChildren(QPushButton) if item.text() == "Find file…"
    ]
    find.click()
    _done(qtbot, lambda: page.picture.image is not None and page.picture.image._values.size)
    assert not page.picture.bar.isHidden()
    assert not _titles(window)
    window.workbench.set_dirty(False)


@pytest.mark.long
def test_a_strangers_files_are_asked_for(qtbot, window, linked):
    with h5py.File(linked, "r+") as file:
        file.create_group("of another program")
    _open(qtbot, window, linked)
    _done(qtbot, lambda: _titles(window) == ["Read the data from these files?"])
    session, (message,) = window.workbench.session, window.messages._messages
    window.show_session()
    window.tree.select("data", "x")
    _done(qtbot, lambda: True)
    assert not session.datasets["x"].at_hand
    dict(message.actions)["Read these files"]()
    _done(qtbot, lambda: session.datasets["x"].at_hand)
    window.workbench.set_dirty(False)
