"""Messages: the reason of a failure first, a list behind the count, gone with the session, room for every line."""

import shutil

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton

from plaidwork.core.session.session import Session
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets import MessageBar
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import dataset, plan, toy_registry, window_on


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        yield made


def fail(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.show_session()
    window.commands._start_plan(plan(fail_at=20), "")
    run = window.current_run()
    qtbot.waitUntil(lambda: run.status == "failed" and bool(run.results), timeout=20_000)
    QApplication.processEvents()
    return run


@pytest.mark.long
def test_a_failed_fit_shows_its_reason_first_and_offers_what_helps(window, qtbot):
    fail(window, qtbot)
    assert window.messages.count == 1
    message = window.messages.current
    assert message.kind == "error"
    assert "2 of 2 chains failed" in message.title
    assert message.text.startswith("The walk has ended.")
    shown = [b for b in window.header.findChildren(QPushButton) if b.objectName() and not b.isHidden()]
    assert [(b.objectName(), b.text()) for b in shown] == [("fit_again", "Change settings")]
    qtbot.mouseClick(shown[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    assert window.setup_page.settings()[0]["fail_at"] == 20


def test_messages_leave_with_their_session_but_not_those_about_the_program(window, qtbot):
    fail(window, qtbot)
    window.messages.post("warn", "The plugin late takes long to load", lasting=True)
    window.workbench.set_session(Session())
    assert [message.title for message in window.messages._messages] == ["The plugin late takes long to load"]


def test_the_count_opens_a_list_of_all_messages(qtbot):
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.resize(900, 60)
    bar.show()
    for kind, title in (("error", "First & worst"), ("info", "Second"), ("ok", "Third")):
        bar.post(kind, title)
    assert bar._more.text() == "and 2 more"
    seen = []

    def choose():
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        seen.extend(action.text() for action in menu.actions() if action.text())
        menu.actions()[2].trigger()
        menu.close()

    QTimer.singleShot(0, bar, choose)
    qtbot.mouseClick(bar._more, Qt.MouseButton.LeftButton)
    assert seen == ["Third", "Second", "First && worst", "Close all"]
    assert bar.current.title == "First & worst"
    assert bar.count == 3


@pytest.mark.parametrize("width", [700, 1000, 1400])
def test_the_height_asked_for_has_room_for_every_line(qtbot, width):
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.resize(width, 60)
    bar.show()
    asked = []
    bar.fits.connect(asked.append)
    actions = [("Show what can be done", lambda: None), ("Details", lambda: None), ("Copy", lambda: None)]
    words = "Some words that do not fit beside the buttons. "
    for count in (1, 2, 3, 4):
        bar.post("warn", "A title", words * count, actions)
        at_once = asked[-1]
        bar.setFixedHeight(at_once)
        QApplication.processEvents()
        label = bar._text
        assert label.heightForWidth(label.width()) <= label.height()
        assert not bar._title.geometry().intersects(label.geometry())


def test_large_texts_leave_the_window_its_room_and_all_words_a_button(qtbot):
    """Twice the size in a small window: at most four lines, the rest on demand; usual texts are whole at once."""
    words = "Rater 2 gives 0.49 grades lower. 500 draws in 24 s of CPU time. Ended by its budget, after 625 sweeps per chain."
    heights, cut = {}, {}
    try:
        for scale in (1.0, 2.0):
            theme().set_text_scale(scale)
            bar = MessageBar()
            qtbot.addWidget(bar)
            bar.resize(1008, 60)
            bar.post(
                "warn",
                "Gaussian process 1 finished, but 4 of 4 quantities have not settled yet",
                words,
                [("Show results", int)],
            )
            QApplication.processEvents()
            heights[scale], cut[scale] = bar.sizeHint().height(), bar.read_all.isVisible()
            if scale == 2.0:
                assert heights[scale] <= 4 * bar._text.fontMetrics().lineSpacing() + 16
                assert bar._icon.pixmap().deviceIndependentSize().width() > 20, "icons grow with the words"
                qtbot.mouseClick(bar.read_all, Qt.MouseButton.LeftButton)
                assert bar.sizeHint().height() > heights[scale]
                assert not bar.read_all.isVisible()
    finally:
        theme().set_text_scale(1.0)
    assert cut == {1.0: False, 2.0: True}


def test_a_session_whose_folder_has_gone_is_saved_elsewhere_with_one_click(
    window, qtbot, tmp_path, monkeypatch
):
    window.workbench.add_dataset(dataset())
    gone = tmp_path / "gone"
    gone.mkdir()
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        window.workbench.file.save(gone / "work.plaidwork")
    shutil.rmtree(gone)
    wait_for_tasks()
    window.commands.save()
    qtbot.waitUntil(lambda: window.messages.count == 1, timeout=20_000)
    message = window.messages.current
    assert message.title == "Could not save"
    assert message.text.startswith(f"The folder “{gone}” does not exist. Your work is still open")
    found = tmp_path / "found.plaidwork"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *asked: (str(found), ""))
    (press,) = [b for b in window.messages.findChildren(QPushButton) if b.text() == "Save as…"]
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        qtbot.mouseClick(press, Qt.MouseButton.LeftButton)
    assert found.exists()
