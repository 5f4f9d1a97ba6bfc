"""A session opens as it was left: item and tab in front, order of tabs, choices of every view, selection."""

import pytest
from asked import answering
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from plaidwork.core.session.session import open_session
from plaidwork.core.views.blocks import MODES
from plaidwork.gui.group_page import GroupPage
from plaidwork.gui.page import Page
from plaidwork.gui.results.choices import Choices
from plaidwork.gui.results.option_row import Labelled, OptionRow
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import DataTable, SegmentedControl, SliderField
from tests.gui.result_runs import toy_run
from tests.gui.window_tools import window_on


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    workbench, _ = toy_run()
    with window_on(workbench, tmp_path) as made:
        made.show_session()
        yield made


def shown(window):
    """The page in front once it is drawn."""
    page = window.workspace.current_page()
    assert page.wait(20_000)
    return page


def reopen(window, qtbot, path):
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        window.commands.open_path(path)
    wait_for_tasks()


@pytest.mark.long
def test_tab_order_choices_and_selection_come_back(window, qtbot, tmp_path):
    run = window.current_run()
    keys = window.workspace.tab_keys()
    page = shown(window)
    qtbot.mouseClick(page.mode._group.button(list(MODES).index("fit")), Qt.MouseButton.LeftButton)
    assert page._mode == "fit"
    page.threshold.slider.setFocus()
    qtbot.keyClick(page.threshold.slider, Qt.Key.Key_PageUp)
    window.workbench.selection(run).set("layer", (1,))
    window.workspace.tabs.moveTab(2, 0)
    window.workspace.go_to(keys[2])
    shown(window).control("order").set_current("given")
    assert shown(window).wait(20_000)
    assert not window.workbench.dirty
    path = tmp_path / "left.plaidwork"
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        window.workbench.file.save(path)
    reopen(window, qtbot, path)
    again = window.current_run()
    assert again is not run
    assert window.workspace.tab_keys() == [keys[2], *keys[:2], *keys[3:]]
    assert window.workspace.current_key() == keys[2]
    assert shown(window).control("order").current == "given"
    assert window.workbench.selection(again).get("layer") == (1,)
    window.workspace.go_to(keys[0])
    page = shown(window)
    assert page._mode == "fit"
    assert page.mode.current == "fit"
    assert page.threshold.value == pytest.approx(0.6)
    assert page.blocks.selection.threshold == pytest.approx(0.6)
    assert page.blocks.selected == 1


def test_each_run_and_dataset_has_its_own_tab_in_front(window, qtbot):
    run = window.current_run()
    window.workspace.go_to(f"{run.id}/settings")
    name = next(iter(window.workbench.session.datasets))
    window.tree.select("data", name)
    assert window.workspace.current_key() == f"data/{name}"
    window.tree.select("run", run.id)
    assert window.workspace.current_key() == f"{run.id}/settings"


@pytest.mark.long
def test_looking_is_kept_without_a_question_and_never_over_the_work_of_others(window, qtbot, tmp_path):
    path = tmp_path / "looked.plaidwork"
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        window.workbench.file.save(path)
    run = window.current_run()
    window.workspace.go_to(f"{run.id}/settings")
    assert window.commands.may_close()  # a question would wait for ever
    kept = open_session(path)
    assert kept.views["window"]["tabs"][f"run {run.id}"]["front"] == f"{run.id}/settings"

    window.workspace.go_to(f"{run.id}/traces")
    kept.notes = "written by another window"
    kept.save()
    assert window.commands.may_close()
    assert open_session(path).notes == "written by another window"


def test_what_is_not_saved_is_still_asked_for(window, qtbot):
    window.workbench.touch()
    with answering("cancel"):
        assert not window.commands.may_close()


def test_the_view_of_a_group_comes_back(qtbot):
    kept, noted = {}, []
    views = [("Weights", Page), ("Scores", Page)]
    page = GroupPage(views, kept, lambda: noted.append(1))
    qtbot.addWidget(page)
    page.show()
    assert kept == {}
    qtbot.mouseClick(page.choice._group.button(1), Qt.MouseButton.LeftButton)
    assert kept == {"view": "Scores"}
    assert noted
    again = GroupPage(views, kept)
    qtbot.addWidget(again)
    assert again.choice.current == "Scores"
    assert again.front is again._pages["Scores"]


class Board(QWidget):
    """A control of every kind, in a row of options and beside it."""

    def __init__(self):
        super().__init__()
        self.mode = SegmentedControl(["Data", "Fit"])
        self.top = SliderField("", 1, 30, 5, step=1)
        self.by = SearchPicker()
        self.by.set_sections({"": ["Nothing"], "Columns": ["age", "sex"]}, "Nothing")
        self.of = QComboBox()
        self.of.addItems(["first", "second", "third"])
        self.lines = QCheckBox("Lines")
        self.table = DataTable({"Name": ["b", "a"], "Size": [1.0, 2.0]})
        named = [("Show", self.mode), ("Strongest", self.top), ("Colour by", self.by), ("Of", self.of)]
        row = OptionRow(*(Labelled(text, control) for text, control in named), self.lines, parent=self)
        row.adjustSize()
        self.table.setParent(self)


def test_every_kind_of_control_is_kept_without_help_of_the_page(qtbot):
    kept, told = {}, []
    board = Board()
    qtbot.addWidget(board)
    board.show()
    choices = Choices(kept, lambda: told.append(1), board)
    choices.adopt(board)
    with choices.quiet():
        board.top.set_value(9)
    assert kept == {}
    qtbot.mouseClick(board.mode._group.button(1), Qt.MouseButton.LeftButton)
    board.top.slider.setFocus()
    qtbot.keyClick(board.top.slider, Qt.Key.Key_Right)
    board.by.take("sex")
    board.of.setFocus()
    qtbot.keyClick(board.of, Qt.Key.Key_Down)
    qtbot.mouseClick(board.lines, Qt.MouseButton.LeftButton)
    board.table.sort_by("Name", True)
    assert kept == {
        "Show": "Fit",
        "Strongest": 10.0,
        "Colour by": "sex",
        "Of": "second",
        "Lines": True,
        "DataTable": ["Name", True],
    }
    assert told

    again = Board()
    qtbot.addWidget(again)
    restored = Choices(kept, lambda: None, again)
    restored.adopt(again)
    restored.restore()
    assert (again.mode.current, again.top.value, again.by.currentText()) == ("Fit", 10.0, "sex")
    assert (again.of.currentText(), again.lines.isChecked()) == ("second", True)
    assert again.table.sorting() == ["Name", True]


def test_a_choice_that_is_not_offered_yet_waits_until_it_is(qtbot):
    kept = {"Colour by": "weight", "Show": 7, "Strongest": "many"}
    board = Board()
    qtbot.addWidget(board)
    choices = Choices(kept, lambda: None, board)
    choices.adopt(board)
    choices.restore()
    assert board.by.currentText() == "Nothing"
    board.by.set_sections({"": ["Nothing"], "Columns": ["weight"]}, "Nothing")
    choices.restore()
    assert board.by.currentText() == "weight"


def test_the_welcome_page_leads_back_to_the_open_session(window, qtbot):
    key = window.workspace.current_key()
    window.actions_by_key["welcome"].trigger()
    assert window.centre.currentWidget() is window.welcome
    qtbot.mouseClick(window.welcome.back_button, Qt.MouseButton.LeftButton)
    assert window.centre.currentWidget() is window.workspace
    assert window.workspace.current_key() == key
    assert window.docks.session.isVisible()
    window.actions_by_key["welcome"].trigger()
    qtbot.keyClick(window.welcome, Qt.Key.Key_Escape)
    assert window.centre.currentWidget() is window.workspace
