"""Little room: tabs go into a menu, the side panel stays a click away, diagnostics scroll, wide windows hold all tabs."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QScrollArea, QWidget

from plaidwork.core.plugins.registry import registry
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.page import Page
from plaidwork.gui.results.option_row import OptionRow
from plaidwork.gui.run_pages import run_pages
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from plaidwork.gui.workspace import PageInfo, Workspace
from tests.gui.network_runs import LISTED, network_run
from tests.gui.result_runs import toy_run
from tests.gui.window_tools import window_on
from tests.walk import complaints, settle

TITLES = ("Blocks", "Memberships", "Co-membership", "Number of blocks", "Along one input", "Predictions")
WITH_PANEL = ("biclusters", "network", "image_grid")
WIDE, BESIDE_A_PANEL = 1209, 858
"""Width of the centre in a window of 1440 pixels, without and with a side panel."""


def workspace(qtbot, width):
    made = Workspace()
    qtbot.addWidget(made)
    made.resize(width, 400)
    made.show()
    own = [PageInfo(title, title, "chart", Page) for title in TITLES]
    common = [PageInfo(title, title, "target", Page, True) for title in ("Traces", "Settings")]
    made.set_pages([*own, *common])
    QApplication.processEvents()
    return made


def visible(made):
    return [made.tabs.tabText(i) for i in range(made.tabs.count()) if made.tabs.isTabVisible(i)]


def test_common_tabs_keep_only_their_icons_before_any_goes_into_the_menu(qtbot):
    made = workspace(qtbot, 1400)
    assert visible(made) == [*TITLES, "Traces", "Settings"]
    made.resize(
        sum(made.tabs.tabRect(i).width() for i in range(8)), 400
    )  # less the edges: a little too narrow
    assert visible(made) == [*TITLES, "", ""]
    assert made.tabs.tabToolTip(7) == "Settings"
    assert not made.tabs.tabIcon(7).isNull()
    assert not made.more.isVisible()


def test_what_does_not_fit_is_in_a_menu_and_the_tab_in_front_never(qtbot):
    made = workspace(qtbot, 520)
    assert visible(made)[0] == "Blocks"
    assert made.more.text() == f"{8 - len(visible(made))} more"
    assert made.tabs.tabRect(len(visible(made)) - 1).right() < made.more.x()

    def choose():
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(action for action in menu.actions() if action.text() == "Predictions").trigger()
        menu.close()

    QTimer.singleShot(0, made, choose)
    qtbot.mouseClick(made.more, Qt.MouseButton.LeftButton)
    assert made.current_key() == "Predictions"
    assert "Predictions" in visible(made)
    assert made.tabs.tabRect(5).right() < made.more.x()
    assert made.tabs.tabRect(0).x() == 0


def test_the_side_panel_is_a_click_away_and_stays(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    bench, run = toy_run()
    with window_on(bench, tmp_path) as window:
        window.show_session()
        window.resize(1024, 640)
        settle(window.workspace.current_page())
        assert not window.docks.side.isVisible()
        assert window.workspace.panel_button.text() == "Selection"
        qtbot.mouseClick(window.workspace.panel_button, Qt.MouseButton.LeftButton)
        settle(window.workspace.current_page())
        assert window.docks.side.isVisible()
        assert not window.workspace.panel_button.isVisible()
        assert complaints(window) == []
        window.workspace.go_to(f"{run.id}/settings")
        assert not window.docks.side.isVisible()
        window.workspace.go_to(f"{run.id}/view 0")
        assert window.docks.side.isVisible()
        window.actions_by_key["show_side"].trigger()
        assert not window.docks.side.isVisible()
        assert window.workspace.panel_button.isVisible()


def test_diagnostics_scroll_and_put_the_plots_below(qapp, qtbot, opened):
    bench, run = toy_run()
    page = DiagnosticsPage(bench, run)
    qtbot.addWidget(page)
    page.resize(820, 480)
    page.show()
    settle(page)
    if page._diagnosis is None or not page._diagnosis.quantities:
        page._content.show()
        page._empty.hide()
        settle(page)
    area = page.findChild(QScrollArea)
    assert area.verticalScrollBar().maximum() > 0
    assert (
        page.trace.mapTo(page, page.trace.rect().topLeft()).y()
        > page.table.mapTo(page, page.table.rect().topLeft()).y()
    )
    assert page.trace.height() >= 190
    page.resize(1200, 800)
    settle(page)
    assert page.trace.x() > page.table.width()


def test_the_tabs_of_every_model_fit_a_wide_window(qtbot):
    known = registry().load()
    bench = Workbench(known)
    for spec in known.specs():
        run = toy_run()[1]
        run.spec, run.params = spec, {p.name: p.default for p in spec.hyperparameters}
        made = Workspace()
        qtbot.addWidget(made)
        panel = any(view.kind in WITH_PANEL for view in spec.views)
        made.resize(BESIDE_A_PANEL if panel else WIDE, 400)
        made.show()
        made.set_pages([replace(info, make=Page) for info in run_pages(bench, run)])
        QApplication.processEvents()
        assert len(made.tab_keys()) > 4
        assert not made.more.isVisible(), (spec.id, visible(made))


def test_tabs_that_are_set_before_the_window_is_shown_have_a_height(qtbot):
    """A session that is opened with the program: the empty row was measured before."""
    holder = QWidget()
    qtbot.addWidget(holder)
    made = Workspace(holder)
    made.resize(1200, 400)
    made.layout().activate()
    assert made.tabs.count() == 0
    made.set_pages([PageInfo(title, title, "chart", Page) for title in TITLES[:3]])
    holder.resize(1200, 400)
    holder.show()
    QApplication.sendPostedEvents()
    assert made.tabs.height() > 20


def test_options_stand_nearer_where_that_saves_a_row(qtbot):
    fields = [QLabel("x") for _ in range(4)]
    for field in fields:
        field.setFixedSize(100, 20)
    row = OptionRow(*fields)
    qtbot.addWidget(row)
    wide, near, narrow = (row.layout().heightForWidth(width) for width in (470, 440, 430))
    assert wide == near == 20
    assert narrow > 40
    row.resize(440, 20)
    row.show()
    assert [field.x() for field in fields] == [0, 112, 224, 340]  # the last one at the right end


def test_choices_beyond_two_rows_are_a_click_away_and_kept(opened, qtbot):
    bench, run = network_run()
    page = opened((bench, run), LISTED)
    page.resize(1400, 640)
    settle(page)
    every, button = list(page.row._shown), page.row._more
    assert not button.isVisible()
    page.resize(520, 640)
    settle(page)
    aside = every[page.row._inline :]
    assert aside
    assert button.text() == f"{len(aside)} more"
    assert page.row.height() < 90
    assert not any(page.control(name).isVisible() for name in aside)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    popup = QApplication.activePopupWidget()
    assert all(page.control(name).isVisible() for name in aside)
    assert complaints(popup) == []
    layout = page.control("layout")
    layout.changed.emit("circle")
    popup.close()
    settle(page)
    assert "circle" in str(page._asked["layout"])
    page.resize(1400, 640)
    settle(page)
    assert not button.isVisible()
    assert all(page.control(name).isVisible() for name in page.row._shown)
    assert complaints(page) == []


@pytest.fixture
def twice(qapp):
    """Texts twice as large."""
    theme().set_text_scale(2.0)
    yield
    theme().set_text_scale(1.0)


def test_in_a_low_page_the_picture_has_the_room_and_its_words_are_a_click_away(twice, opened, qtbot):
    page = opened(network_run(), LISTED)
    page.set_head("A finding. " * 20, "How it was found. " * 30)
    page.resize(640, 900)
    settle(page)
    words, area = page._words_button, page.chart.parentWidget()
    assert page._caption.isVisible()
    assert not words.isVisible()
    page.resize(640, 440)
    settle(page)
    assert words.isVisible()
    assert not page._caption.isVisible()
    assert area.height() / page.height() > 0.6
    assert complaints(page) == []
    qtbot.mouseClick(words, Qt.MouseButton.LeftButton)
    popup = QApplication.activePopupWidget()
    told = [label.text() for label in popup.findChildren(QLabel)]
    assert told[:2] == [page._headline.text(), page._caption.text()]
    assert all(label.height() >= label.heightForWidth(label.width()) for label in popup.findChildren(QLabel))
    popup.close()
    page.resize(640, 900)
    settle(page)
    assert page._caption.isVisible()
    assert not words.isVisible()
    page.resize(640, 440)
    page.put_on_paper()
    assert not page._caption.isHidden()
