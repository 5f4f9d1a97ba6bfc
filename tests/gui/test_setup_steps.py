"""Settings of a fit that is being set up are taken back by the keys that take back edits of the session."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit

from plaidwork.gui.session_tree import DATA, NEW
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import dataset, toy_registry, window_on

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        made.workbench.add_dataset(dataset())
        made.show_session()
        made.activateWindow()
        yield made


@pytest.fixture
def page(window, qtbot):
    window.commands.set_up_fit(lambda page: page.set_model("toy.walk"))
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    qtbot.wait(10)
    return window.setup_page


def name(window):
    return window.workbench.editing.undo_name


def set_value(qtbot, page, field, value):
    field.set_value(value)
    qtbot.wait(10)


def stride(page):
    return page.form.field("stride")


def test_a_setting_comes_back_and_goes_again(window, page, qtbot):
    before, dirty = page.settings(), window.workbench.dirty
    told = list(window.workbench.session.history)
    set_value(qtbot, page, stride(page), 2.5)
    assert name(window) == f"Set “{stride(page).parameter.title}”"
    set_value(qtbot, page, page.schedule_form.field("seed"), 9)
    window.tree.select(DATA, "numbers")
    window.commands.undo()
    assert "Undone: Set “Seed”" in [label.text() for label in window.status.findChildren(QLabel)]
    assert window.tree.current() == (NEW, "")
    assert window.workspace.current_page() is page
    window.commands.undo()
    assert page.settings() == before
    window.commands.redo()
    window.commands.redo()
    qtbot.wait(10)
    assert (stride(page).value, page.schedule_form.seed) == (2.5, 9)
    assert not window.actions_by_key["redo"].isEnabled()
    assert window.workbench.session.history == told
    assert window.workbench.dirty == dirty


def test_what_is_typed_is_one_step_and_the_key_of_a_list_takes_it_back(window, page, qtbot):
    editor = stride(page).editor
    line = editor if isinstance(editor, QLineEdit) else editor.findChild(QLineEdit)
    before = stride(page).value
    line.selectAll()
    for letter in "1.75":
        qtbot.keyClicks(line, letter)
        qtbot.wait(10)
    assert stride(page).value == 1.75
    window.tree.setFocus()
    qtbot.keyClick(window.tree, Qt.Key.Key_Z, CTRL)
    assert stride(page).value == before
    assert name(window) == "Add “numbers”"
    qtbot.keyClick(window.tree, Qt.Key.Key_Z, CTRL | SHIFT)
    assert stride(page).value == 1.75


def test_another_model_is_a_step_and_settings_of_both_come_back(window, page, qtbot):
    set_value(qtbot, page, stride(page), 2.5)
    page.set_model("toy.climb")
    qtbot.wait(10)
    assert name(window) == f"Choose “{toys.Climb.spec.title}”"
    window.commands.undo()
    assert page.spec.id == "toy.walk"
    assert stride(page).value == 2.5
    window.commands.redo()
    assert page.spec.id == "toy.climb"
    window.commands.undo()
    window.commands.undo()
    assert stride(page).value != 2.5


def test_all_settings_at_once_are_one_step(window, page, qtbot):
    set_value(qtbot, page, stride(page), 2.5)
    set_value(qtbot, page, page.schedule_form.field("seed"), 9)
    page.reset()
    qtbot.wait(10)
    assert name(window) == "Set 2 settings"
    window.commands.undo()
    assert (stride(page).value, page.schedule_form.seed) == (2.5, 9)


def test_data_that_come_and_go_are_no_steps_of_the_set_up(window, page, qtbot):
    set_value(qtbot, page, stride(page), 2.5)
    window.workbench.add_dataset(dataset("others"))
    qtbot.wait(10)
    assert name(window) == "Add “others”"
    window.commands.undo()
    qtbot.wait(10)
    assert window.workbench.editing.redo_name == "Add “others”"
    assert name(window).startswith("Set ")
    window.commands.redo()
    qtbot.wait(10)
    assert name(window) == "Add “others”"


@pytest.mark.long
def test_the_steps_of_a_fit_that_was_started_are_forgotten(window, page, qtbot):
    set_value(qtbot, page, stride(page), 2.5)
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        page.start()
    assert name(window) == "Add “numbers”"
    window.tree.select(DATA, "numbers")
    window.commands.undo()  # which is told why it cannot be
    assert "numbers" in window.workbench.session.datasets
