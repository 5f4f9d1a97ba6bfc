"""The tour, driven by clicks and keys in the real window: it leads on, can be left anywhere, and covers and blocks nothing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from plaidwork.core.data.samples import Sample
from plaidwork.gui.actions import MENUS
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import theme
from plaidwork.gui.tour import Tour, first_tour
from plaidwork.gui.tour.steps import STEPS
from plaidwork.gui.tour.tour import SHOWN
from plaidwork.gui.welcome import ExampleCard
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import toy_registry, window_on
from tests.walk import complaints


@pytest.fixture
def sample(tmp_path):
    values = np.random.default_rng(1).normal(size=(8, 4))
    rows = [",".join(("", "a", "b", "c", "d"))] + [
        ",".join([f"r{i}", *map(str, row)]) for i, row in enumerate(values)
    ]
    (tmp_path / "x.csv").write_text("\n".join(rows))
    files = {"X": {"file": "x.csv", "options": {"names": 0, "header": True}}}
    schedule = {"chains": 2, "warmup": 5, "draws": 400, "thin": 1, "budget": 0.0}
    return Sample(
        id="toy",
        title="Numbers",
        line="Some numbers",
        model="toy.slow_walk",
        size="8 × 4",
        folder=tmp_path,
        files=files,
        schedule=schedule,
    )


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch, sample):
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        made.welcome.set_examples([(sample, "Slow walk")])
        made.activateWindow()
        yield made


@pytest.fixture
def tour(window):
    first_tour(window)
    return window.findChild(Tour)


def test_it_comes_by_itself_once(window, tmp_path):
    first_tour(window)
    (tour,) = window.findChildren(Tour)
    assert tour.bar.isVisible()
    tour.leave()
    first_tour(window)
    assert not tour.bar.isVisible()
    window.settings.sync()
    assert Settings(tmp_path / "config").flag(SHOWN)


@pytest.mark.long
def test_the_first_start_of_the_program_shows_it_and_no_other(qtbot, tmp_path, monkeypatch):
    from plaidwork.gui import app

    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "fresh"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    seen = []

    def closed_at_once():
        (shown,) = (w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible())
        seen.append([tour.bar.isVisible() for tour in shown.findChildren(Tour)])
        qtbot.addWidget(shown)
        shown.close()
        return 0

    monkeypatch.setattr(app.QApplication, "exec", staticmethod(closed_at_once))
    before = sys.excepthook
    try:
        for words in (["--example", "votes"], ["--safe-mode"], [], []):
            assert app.main(words) == 0
    finally:
        sys.excepthook = before
    assert seen == [[], [], [True], []]
    wait_for_tasks()


def test_who_has_worked_already_is_not_led(window, tmp_path):
    window.settings.add_recent(tmp_path / "a.plaidwork", "2 runs", "2026-01-01T10:00:00")
    first_tour(window)
    assert window.findChild(Tour) is None


def test_help_shows_it_again_from_the_first_step(window, tour, qtbot):
    assert "take_tour" in MENUS["Help"]
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tour.close_button, Qt.MouseButton.LeftButton)
    assert not tour.bar.isVisible()
    window.actions_by_key["take_tour"].trigger()
    assert tour.bar.isVisible()
    assert tour.step == 0
    assert window.findChildren(Tour) == [tour]


def test_buttons_lead_on_and_back_and_the_last_one_ends_it(tour, qtbot):
    assert not tour.back.isEnabled()
    for number in range(1, len(STEPS)):
        qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
        assert tour.step == number
        assert tour.title.text() == STEPS[number].title
        assert tour.accessibleName() == f"Tour, step {number + 1} of 5: {STEPS[number].title}"
        assert tour.accessibleDescription() == tour.text.text()
    assert tour.next.text() == "Done"
    qtbot.mouseClick(tour.back, Qt.MouseButton.LeftButton)
    assert (tour.step, tour.next.text()) == (3, "Next")
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    assert not tour.bar.isVisible()
    assert not tour.ring.isVisible()


def test_keys_lead_on_and_back_and_esc_leaves(window, tour, qtbot):
    assert QApplication.focusWidget() is tour.next
    for key, step in (
        (Qt.Key.Key_Return, 1),
        (Qt.Key.Key_Space, 2),
        (Qt.Key.Key_Enter, 3),
    ):
        qtbot.keyClick(QApplication.focusWidget(), key)
        assert tour.step == step
    window.welcome.import_button.setFocus()
    for key, step in (
        (Qt.Key.Key_Left, 2),
        (Qt.Key.Key_Right, 3),
        (Qt.Key.Key_Right, 4),
        (Qt.Key.Key_Left, 3),
    ):
        qtbot.keyClick(window.welcome.import_button, key, Qt.KeyboardModifier.AltModifier)
        assert tour.step == step
    assert window.welcome.import_button.hasFocus()
    tour.next.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert not tour.bar.isVisible()
    assert not tour.isAncestorOf(QApplication.focusWidget())


def test_esc_leaves_it_from_elsewhere_unless_it_is_of_use_there(window, tour, qtbot):
    window.welcome.import_button.setFocus()
    qtbot.keyClick(window.welcome.import_button, Qt.Key.Key_Escape)
    assert not tour.bar.isVisible()
    window.actions_by_key["take_tour"].trigger()
    window.welcome.set_open("Something")  # Esc leads back to it
    qtbot.keyClick(window.welcome.import_button, Qt.Key.Key_Escape)
    assert tour.bar.isVisible()


def test_f6_leads_to_it(window, tour, qtbot):
    window.welcome.import_button.setFocus()
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_F6)
        if tour.isAncestorOf(QApplication.focusWidget()):
            return
    raise AssertionError("the tour is not among the panes")


def test_it_follows_the_user_from_the_example_to_the_results(window, tour, qtbot):
    qtbot.waitUntil(tour.ring.isVisible)
    card = window.welcome.findChild(ExampleCard)
    assert tour.ring.geometry().contains(card.mapTo(window, card.rect().center()))
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.setup_page is not None and tour.step == 1, timeout=20_000)
    page = window.setup_page
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    start = page.foot.start
    qtbot.waitUntil(lambda: tour.ring.geometry().contains(start.mapTo(window, start.rect().center())))
    qtbot.waitUntil(start.isEnabled, timeout=20_000)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.current_run() is not None, timeout=20_000)
    assert tour.step == 2
    window.tree.setFocus()
    qtbot.waitUntil(lambda: tour.step == 3, timeout=60_000)
    assert window.tree.hasFocus(), "the tour has taken the focus"
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    save = window.header.tools["save"]
    qtbot.waitUntil(lambda: tour.ring.geometry().contains(save.mapTo(window, save.rect().center())))


def test_it_does_what_it_speaks_of_when_asked(window, tour, qtbot):
    assert tour.deed.text() == "Open the first example"
    qtbot.mouseClick(tour.deed, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.setup_page is not None and tour.step == 1, timeout=20_000)
    assert not tour.deed.isVisible()
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tour.deed.isVisible() and tour.deed.text() == "Start fit", timeout=20_000)
    qtbot.mouseClick(tour.deed, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.current_run() is not None, timeout=20_000)
    qtbot.waitUntil(lambda: not tour.deed.isVisible())
    assert QApplication.focusWidget() is not tour.deed
    tour.go(0)
    assert tour.deed.text() == "Show the welcome page"
    assert "on the welcome page" in tour.text.text()
    qtbot.mouseClick(tour.deed, Qt.MouseButton.LeftButton)
    assert window.centre.currentWidget() is window.welcome


def test_it_takes_no_room_from_what_is_above_and_no_clicks(window, tour, qtbot):
    window.resize(1024, 640)
    QApplication.processEvents()
    welcome = window.welcome
    below = tour.mapTo(window, tour.rect().topLeft()).y()
    assert welcome.mapTo(window, welcome.rect().bottomLeft()).y() < below
    assert tour.ring.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    assert QApplication.activeModalWidget() is None
    at = window.welcome.import_button
    assert window.childAt(at.mapTo(window, at.rect().center())) is at


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_step_fits_a_small_window(window, tour, qtbot, mode):
    theme().set_mode(mode)
    window.resize(1024, 640)
    heights = set()
    for number in range(len(STEPS)):
        tour.go(number)
        qtbot.wait(50)
        assert (window.width(), window.height()) == (1024, 640)
        shown = tour.text
        needed = shown.heightForWidth(shown.width())
        assert needed <= shown.height()
        assert not complaints(tour)
        heights.add(tour.height())
        assert all(
            one.accessibleName() or one.text() for one in tour.findChildren(QPushButton) if one.isVisible()
        )
        assert all(label.textFormat() == Qt.TextFormat.PlainText for label in tour.findChildren(QLabel))
    assert len(heights) == 1


def test_a_session_that_is_opened_meanwhile_keeps_its_place(window, tour, qtbot):
    """Data alone belong to no step: the tour stays where it is."""
    from tests.gui.window_tools import dataset

    tour.go(1)
    window.workbench.add_dataset(dataset())
    window.show_session()
    qtbot.wait(400)
    assert tour.step == 1
    assert "New fit" in tour.text.text()
    assert not tour.ring.isVisible()
