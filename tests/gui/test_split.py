"""Views beside each other: kept with the session, commands go to the one with the focus, parted again."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLineEdit, QMenu

from plaidwork.core.session.session import open_session
from plaidwork.gui.page import Page
from plaidwork.gui.run_pages import BESIDE, part, put_beside, run_pages, splits_of
from plaidwork.gui.split_page import SplitPage
from plaidwork.gui.widgets.layouts import vertical
from tests.gui.factor_runs import factor_run
from tests.gui.window_tools import window_on


class Half(Page):
    """Notes what it was asked for."""

    def __init__(self):
        super().__init__()
        self.asked, self.field = [], QLineEdit()
        vertical(self.field, on=self)

    def export_picture(self, path):
        self.asked.append(path)
        return path

    def tick(self):
        self.asked.append("tick")


@pytest.fixture
def keys():
    workbench, run = factor_run()
    first, second = (info.key for info in run_pages(workbench, run)[:2])
    return workbench, run, first, second


def test_commands_go_to_the_half_with_the_focus(qtbot, tmp_path):
    one, other = Half(), Half()
    page = SplitPage([("One", lambda: one), ("Other", lambda: other)])
    qtbot.addWidget(page)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    assert page.front is one
    with qtbot.waitSignal(page.panel_changed):
        other.field.setFocus()
    assert page.export_picture(tmp_path / "a.png") == tmp_path / "a.png"
    assert (one.asked, other.asked) == ([], [tmp_path / "a.png"])
    page.tick()
    assert one.asked == ["tick"]


def test_pairs_are_kept_with_the_session(keys, tmp_path):
    workbench, run, first, second = keys
    key = put_beside(workbench, run, first, second)
    assert run_pages(workbench, run)[-1].key == key
    assert put_beside(workbench, run, first, second) == key
    assert splits_of(workbench, run) == [key]
    path = workbench.session.save(tmp_path / "s.plaidwork")
    assert open_session(path).views[BESIDE] == {run.id: [key]}
    part(workbench, run, key)
    assert key not in [info.key for info in run_pages(workbench, run)]


@pytest.mark.parametrize("kept", ["text", {"run": 3}, ["a"], [3], 3, {}])
def test_what_a_damaged_session_keeps_is_left_out(keys, kept):
    workbench, run, first, _ = keys
    workbench.session.views[BESIDE] = {run.id: kept} if not isinstance(kept, str) else kept
    assert splits_of(workbench, run) == []
    workbench.session.views[BESIDE] = {
        run.id: [f"{first} + {run.id}/view 99", "x", f"{first} + {first} + {first}"]
    }
    assert splits_of(workbench, run) == []


def test_the_window_puts_views_beside_each_other(keys, qtbot, tmp_path):
    workbench, run, first, _ = keys
    with window_on(workbench, tmp_path) as window:
        window.tree.select("run", run.id)
        menu = QMenu(window)
        window.commands.fill_tab_menu(menu, run, first)
        (inside,) = [action.menu() for action in menu.actions()]
        titles = [action.text() for action in inside.actions()]
        assert len(titles) == len(run_pages(workbench, run)) - 1
        inside.actions()[0].trigger()
        assert window.workspace.current_key() == splits_of(workbench, run)[0]
        page = window.workspace.current_page()
        assert isinstance(page, SplitPage)
        menu.clear()
        window.commands.fill_tab_menu(menu, run, window.workspace.current_key())
        assert [action.text() for action in menu.actions()] == ["Show them apart"]
        menu.actions()[0].trigger()
        assert splits_of(workbench, run) == []
        assert not isinstance(window.workspace.current_page(), SplitPage)
