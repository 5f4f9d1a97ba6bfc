"""Edits of the session taken back in the window: keys, menus, the list, messages."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from plaidwork.core.session.session import Session, open_session
from plaidwork.gui.results.show_data import DataDialog
from plaidwork.gui.session_tree import DATA, NEW, RUN
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import SlowWalk, dataset, plan, toy_registry, window_on


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        made.activateWindow()
        yield made


@pytest.fixture
def runs(window, qtbot):
    """Two runs of data that are fitted."""
    found = []
    for _ in range(2):
        with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
            found.append(window.workbench.start(plan(draws=10)))
    window.workbench.add_dataset(dataset("others"))
    window.show_session()
    return found


def press(qtbot, window, keys):
    """Keys pressed in the list of the session."""
    window.tree.setFocus()
    qtbot.keyClick(window.tree, *keys)


UNDO = (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
REDO = (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
DELETE = (Qt.Key.Key_Delete,)


def test_delete_asks_nothing_and_the_message_brings_it_back(window, runs, qtbot):
    session = window.workbench.session
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, DELETE)
    assert list(session.runs.values()) == [runs[1]]
    assert window.messages.current.title == "Removed “Walk 1”"
    assert not window.tree.has(RUN, runs[0].id)
    button = next(b for b in window.messages.findChildren(QPushButton) if b.text() == "Undo")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert list(session.runs.values()) == runs
    assert window.tree.current() == (RUN, runs[0].id)
    assert window.workspace.current_key().startswith(runs[0].id)


def test_keys_and_the_menu_name_the_step(window, runs, qtbot):
    actions = window.actions_by_key
    assert actions["undo"].text() == "Undo: Add “others”"
    assert not actions["redo"].isEnabled()
    window.tree.select(RUN, runs[1].id)
    press(qtbot, window, DELETE)
    assert actions["undo"].text() == "Undo: Remove “Walk 2”"
    press(qtbot, window, UNDO)
    assert actions["redo"].text() == "Redo: Remove “Walk 2”"
    assert runs[1].id in window.workbench.session.runs
    assert window.messages.current is None or "Removed" not in window.messages.current.title
    press(qtbot, window, REDO)
    assert runs[1].id not in window.workbench.session.runs
    press(qtbot, window, UNDO)
    window.workbench.rename_run(runs[0], "another")
    assert not actions["redo"].isEnabled()


def test_data_take_their_runs_with_them_and_bring_them_back(window, runs, qtbot):
    session = window.workbench.session
    names = list(session.datasets)
    window.tree.select(DATA, "numbers")
    press(qtbot, window, DELETE)
    assert list(session.datasets) == ["others"]
    assert not session.runs
    assert window.messages.current.title == "Removed “numbers”"
    assert window.messages.current.text == "The runs “Walk 1” and “Walk 2” used it and went with it."
    press(qtbot, window, UNDO)
    assert list(session.datasets) == names
    assert list(session.runs.values()) == runs
    assert window.workbench.plan(runs[0]) is not None
    assert session.plan_of(runs[0], window.workbench.registry).data_hash == runs[0].data_hash


def test_the_offer_to_undo_goes_with_the_next_step(window, runs, qtbot):
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, DELETE)
    assert window.messages.has("removed")
    window.workbench.rename_run(runs[1], "another")
    assert not window.messages.has("removed")


def test_several_chosen_go_and_come_back_in_one_step(window, runs, qtbot):
    session = window.workbench.session
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, (Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier))
    assert window.tree.chosen_items() == [(RUN, run.id) for run in runs]
    press(qtbot, window, DELETE)
    assert not session.runs
    window.actions_by_key["undo"].trigger()
    assert list(session.runs.values()) == runs


@pytest.mark.long
def test_undo_after_a_save(window, runs, qtbot, tmp_path):
    session = window.workbench.session
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, DELETE)
    path = tmp_path / "a.plaidwork"
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        window.workbench.file.save(path)
    assert list(open_session(path).runs) == [runs[1].id]
    press(qtbot, window, UNDO)
    assert list(session.runs.values()) == runs
    assert window.workbench.dirty
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        window.workbench.file.save()
    assert list(open_session(path).runs) == [run.id for run in runs]


def test_a_run_under_way_stays_and_the_reason_is_told(window, qtbot):
    window.workbench.add_dataset(dataset())
    run = window.workbench.start(plan(SlowWalk, draws=5000))
    window.show_session()
    qtbot.waitUntil(lambda: run.active, timeout=20_000)
    window.tree.select(DATA, "numbers")
    press(qtbot, window, DELETE)
    assert window.messages.current.title == "Could not remove “numbers”"
    assert "is running. Stop it first." in window.messages.current.text
    assert list(window.workbench.session.datasets) == ["numbers"]
    press(qtbot, window, UNDO)  # that of adding the data
    assert window.messages.current.title == "Could not undo: Add “numbers”"
    assert f"used by {run.title}" in window.messages.current.text


def test_renames_notes_and_changes_of_data(window, runs, qtbot):
    workbench, session = window.workbench, window.workbench.session
    workbench.rename_run(runs[0], "first")
    workbench.editing.note_run(runs[0], "a")
    workbench.editing.note_run(runs[0], "ab")
    workbench.rename_dataset("numbers", "values")
    workbench.set_samples("values", "rows")
    workbench.editing.note_dataset("values", "from the clinic")
    for _ in range(5):
        press(qtbot, window, UNDO)
    assert (runs[0].title, runs[0].notes, list(session.datasets)) == ("Walk 1", "", ["numbers", "others"])
    assert window.tree.has(DATA, "numbers")
    assert runs[0].inputs == {"X": ("numbers",)}
    for _ in range(5):
        press(qtbot, window, REDO)
    assert (runs[0].title, runs[0].notes, list(session.datasets)) == ("first", "ab", ["values", "others"])
    assert session.datasets["values"].notes == "from the clinic"
    assert session.datasets["values"].samples_in == "rows"


def test_another_session_has_no_steps_of_the_one_before(window, runs, qtbot):
    assert window.actions_by_key["undo"].isEnabled()
    window.workbench.set_session(Session())
    assert not window.actions_by_key["undo"].isEnabled()


def test_the_record_of_actions_is_shown_and_written_as_csv(window, runs, qtbot, tmp_path):
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, DELETE)
    window.actions_by_key["show_actions"].trigger()
    (dialog,) = window.findChildren(DataDialog)
    dialog.to_csv(tmp_path / "a.csv")
    rows = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "Time (UTC),Action,About,Version"
    assert rows[1].split(",")[1:3] == ["Run removed", "“Walk 1”"]
    assert sum("Fit ended" in row for row in rows) == 2
    dialog.table.copy()
    assert "Run removed" in QApplication.clipboard().text()
    dialog.close()


def test_the_next_one_is_chosen_then_and_a_fit_that_is_set_up_stays(window, runs, qtbot):
    window.commands.set_up_fit(focus=["others"])
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    page = window.setup_page
    window.tree.select(RUN, runs[0].id)
    press(qtbot, window, DELETE)
    assert window.tree.current() == (RUN, runs[1].id)
    assert window.workspace.current_key().startswith(runs[1].id)
    window.tree.select(DATA, "others")
    press(qtbot, window, DELETE)
    assert window.tree.current() == (DATA, "numbers")
    press(qtbot, window, DELETE)
    assert window.centre.currentWidget() is window.welcome
    press(qtbot, window, UNDO)
    assert window.centre.currentWidget() is window.workspace
    window.tree.select(NEW, "")
    assert window.setup_page is page
    assert window.workspace.current_page() is page
    press(qtbot, window, DELETE)
    assert window.setup_page is page
    assert "numbers" in window.workbench.session.datasets
