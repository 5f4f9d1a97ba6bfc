"""The window driven by clicks and keys, on toy models."""

import threading
from pathlib import Path

import pytest
from asked import answering
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton
from shiboken6 import isValid

from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.session.session import Session
from plaidwork.gui.actions import ACTIONS, MENUS, RECENT, SEPARATOR, TOOLBAR, action_info
from plaidwork.gui.commands import Commands
from plaidwork.gui.commands.fits import FitCommands
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import theme
from plaidwork.gui.window_bars import room_on
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import SlowWalk, dataset, plan, settled_picture, toy_registry


@pytest.fixture
def window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    made = MainWindow(Workbench(toy_registry()), Settings(tmp_path / "config"))
    made.resize(1280, 800)
    made.show()
    yield made
    for run in made.workbench.active_runs():
        made.workbench.stop(run)
    made.workbench.wait(20_000)
    wait_for_tasks()
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()


def click(qtbot, window, name):
    """Click the header button of a command."""
    found = [
        b for b in window.header.findChildren(QPushButton) if b.objectName() == name and not b.isHidden()
    ]
    qtbot.mouseClick(found[-1], Qt.MouseButton.LeftButton)


def test_every_command_is_declared_in_a_menu_and_has_a_method():
    used = {key for keys in MENUS.values() for key in keys} - {SEPARATOR, RECENT}
    assert used <= set(ACTIONS)
    assert set(TOOLBAR) <= set(ACTIONS)
    assert set(ACTIONS) - used == set()
    for key in ACTIONS:
        assert callable(getattr(Commands, key))


def test_an_unknown_command_says_what_was_meant():
    with pytest.raises(KeyError, match="did you mean 'save_as'"):
        action_info("saveas")


def test_no_shortcut_is_taken_twice():
    shortcuts = [info.shortcut for info in ACTIONS.values() if info.shortcut]
    assert len(shortcuts) == len(set(shortcuts))


def test_menus_open_by_keys(window, qtbot):
    titles = [action.text() for action in window.menuBar().actions()]
    letters = [title[title.index("&") + 1].lower() for title in titles]
    assert len(letters) == len(MENUS) == len(set(letters))
    qtbot.keyClick(window, Qt.Key.Key_F10)
    first, second = window.menuBar().actions()[:2]
    assert window.menuBar().activeAction() is first
    assert first.menu().isVisible()
    qtbot.keyClick(first.menu(), Qt.Key.Key_Right)
    assert second.menu().isVisible()
    qtbot.keyClick(second.menu(), Qt.Key.Key_Escape)
    assert not second.menu().isVisible()


def test_an_empty_session_shows_the_welcome_page(window):
    assert window.centre.currentWidget() is window.welcome
    assert not window.docks.session.isVisible()
    assert window.minimumSizeHint().width() <= 1024


def test_examples_are_called_by_their_models_once_these_are_loaded(window):
    """Until then only their ids are known."""
    sample = next(iter(bundled_samples()))
    window.welcome.set_examples([(sample, "Hdp topics")])
    (card,) = window.welcome._cards
    window.welcome.set_examples([(sample, "Topics, number inferred")])
    assert window.welcome._cards == [card], "one that is looked at stays"
    assert card.model.text() == f"Topics, number inferred  ·  {sample.size}"


def test_a_click_on_an_example_is_answered_while_it_is_being_loaded(window, qtbot, monkeypatch):
    """The models may take ten seconds; of two clicks the last counts."""
    let_go, samples = (
        threading.Event(),
        [sample for sample in bundled_samples() if sample.model == "infinite_plaid"][:2],
    )
    load = type(samples[0]).load
    monkeypatch.setattr(type(samples[0]), "load", lambda sample: (let_go.wait(20), load(sample))[1])
    monkeypatch.setattr(FitCommands, "set_up_fit", lambda *_: None)  # the models of these tests are others
    window.welcome.set_examples([(sample, "Plaid") for sample in samples])
    try:
        for card in window.welcome._cards:
            qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
            title = f"Opening the example “{samples[window.welcome._cards.index(card)].title}”"
            qtbot.waitUntil(
                lambda said=title: getattr(window.messages.current, "title", "") == said, timeout=5_000
            )
    finally:
        let_go.set()
    qtbot.waitUntil(
        lambda: window.messages.current is None or "Opening" not in window.messages.current.title,
        timeout=20_000,
    )
    wait_for_tasks()
    QApplication.processEvents()
    assert window.workbench.session.name == samples[1].title


@pytest.mark.parametrize("meanwhile", ["opened", "imported"])
def test_an_example_does_not_replace_what_is_opened_while_it_is_being_loaded(
    window, qtbot, monkeypatch, meanwhile
):
    let_go = threading.Event()
    sample = next(sample for sample in bundled_samples() if sample.model == "infinite_plaid")
    load = type(sample).load
    monkeypatch.setattr(type(sample), "load", lambda sample: (let_go.wait(20), load(sample))[1])
    monkeypatch.setattr(FitCommands, "set_up_fit", lambda *_: None)
    try:
        window.commands.open_example(sample)
        if meanwhile == "opened":
            window.workbench.set_session(Session(name="Mine"))
        else:
            window.workbench.session.name = "Mine"
            window.workbench.add_dataset(dataset())
    finally:
        let_go.set()
    wait_for_tasks()
    QApplication.processEvents()
    assert window.workbench.session.name == "Mine"
    assert len(window.workbench.session.datasets) == (meanwhile == "imported")
    assert not any("Opening" in message.title for message in window.messages._messages)


def test_start_pause_stop_by_the_header_and_keys(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.show_session()
    window.commands._start_plan(plan(SlowWalk, draws=2000), "")
    run = window.current_run()
    assert window.workspace.tabs.tabText(0) == "Live"
    qtbot.waitUntil(lambda: run.n_draws > 4, timeout=20_000)
    click(qtbot, window, "pause")
    qtbot.waitUntil(lambda: run.status == "paused", timeout=20_000)
    assert "paused" in window.status._text.text()
    qtbot.keyClick(window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: run.status == "running", timeout=20_000)
    qtbot.waitUntil(lambda: "sweep" in window.status._progress.text(), timeout=20_000)
    click(qtbot, window, "stop")
    qtbot.waitUntil(lambda: run.status == "stopped" and bool(run.results), timeout=20_000)
    qtbot.waitUntil(lambda: window.messages.count > 0, timeout=20_000)
    assert "stopped" in window.messages.current.title
    qtbot.waitUntil(lambda: bool(window.header.findChild(QPushButton, "start").isVisible()), timeout=20_000)
    assert window.header.findChild(QPushButton, "start").text() == "Resume"
    focus = QApplication.focusWidget()
    assert not isinstance(focus, QPushButton) or focus.window() is not window or focus.objectName() == "start"


def test_what_can_be_done_with_results_is_offered_as_soon_as_they_are_there(window, qtbot):
    """They come after the end of the run was told."""
    window.workbench.add_dataset(dataset())
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=20), "")
    qtbot.waitUntil(lambda: window.messages.count > 0, timeout=20_000)
    run = window.current_run()
    found, run.results = run.results, {}
    window.workbench.run_changed.emit(run.id)
    offered = [window.actions_by_key[key] for key in ("compare_runs", "export_run", "results_as_data")]
    assert not any(action.isEnabled() for action in offered)
    run.results = found
    window.workbench.results_changed.emit(run.id)
    assert all(action.isEnabled() for action in offered)


def test_the_message_at_the_end_tells_when_chains_disagree(window, qtbot, monkeypatch):
    from plaidwork.core.draws.diagnostics import Verdict

    doubt = Verdict("error", "The chains found different solutions", "")
    monkeypatch.setattr(window.workbench, "verdict", lambda run: doubt)
    window.workbench.add_dataset(dataset())
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=20), "")
    run = window.current_run()
    message = window.messages.current  # the verdict was there before the results
    assert (message.kind, message.title) == (
        "warn",
        f"{run.title} finished, but the chains found different solutions",
    )
    window.messages.close_current()
    window.workbench.run_changed.emit(run.id)
    assert window.messages.count == 0, "what was closed stays closed"


@pytest.mark.long
def test_one_verdict_is_told_everywhere_and_the_mark_beside_results_leads_to_it(window, qtbot):
    """A walk has not settled: traces, diagnostics, tree, status bar, message and results say so in the same words."""
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
    from plaidwork.gui.results.page import ResultPage

    window.workbench.add_dataset(dataset())
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=60), "")
    run = window.current_run()
    qtbot.waitUntil(lambda: window.workbench.verdict(run) is not None, timeout=20_000)
    verdict = run.diagnosis().verdict
    assert window.workbench.verdict(run) is verdict
    assert not verdict.settled
    assert verdict.word.lower() in window.tree.currentItem().toolTip(0)
    assert verdict.phrase in window.status._text.text()
    assert verdict.phrase in window.messages.current.title
    window.workspace.go_to(f"{run.id}/traces")
    live = window.workspace.current_page()
    assert live._figures["verdict"].value == verdict.word
    assert live._figures["left"].value == "Done", "the page was not in front when the fit ended"
    window.workspace.go_to(f"{run.id}/view 0")
    page = window.workspace.current_page()
    assert isinstance(page, ResultPage)
    qtbot.waitUntil(page._doubt.isVisible, timeout=20_000)
    assert (page._doubt.text, page._doubt.kind) == (verdict.word, verdict.kind)
    qtbot.mouseClick(page._doubt, Qt.MouseButton.LeftButton)
    page = window.workspace.current_page()
    assert isinstance(page, DiagnosticsPage)
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    assert page._diagnosis.verdict is verdict


@pytest.mark.long
def test_save_close_reopen_and_resume(window, qtbot, tmp_path, monkeypatch):
    path = tmp_path / "walks.plaidwork"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(path), ""))
    window.workbench.add_dataset(dataset())
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=20), "")
    assert window.isWindowModified()
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        qtbot.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert path.exists()
    assert not window.isWindowModified()
    qtbot.keyClick(
        window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    assert window.centre.currentWidget() is window.welcome
    recent = window.settings.recent()
    assert recent[0]["path"] == str(path)
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        window.welcome.recent_chosen.emit(str(path))
    run = window.current_run()
    assert run is not None
    assert run.title == "Walk 1"

    def type_draws(dialog):
        field = dialog.findChild(QLineEdit)
        field.selectAll()
        qtbot.keyClicks(field, "30")
        return True

    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000), answering(type_draws, "go"):
        qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert run.schedule.draws == 50
    assert run.n_draws == 100


@pytest.mark.parametrize(("key", "closed"), [("cancel", False), ("discard", True)])
def test_unsaved_changes_are_asked_about(window, qtbot, key, closed):
    window.workbench.add_dataset(dataset())
    with answering(key):
        assert window.commands.may_close() is closed


def test_closing_stops_running_chains(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.commands._start_plan(plan(SlowWalk, draws=100_000), "")
    run = window.current_run()
    qtbot.waitUntil(lambda: run.sweeps_done > 2, timeout=20_000)
    with answering("discard"):
        assert window.close()
    qtbot.waitUntil(lambda: not window.workbench.active_runs(), timeout=20_000)
    assert run.status == "stopped"


def test_the_set_up_page_starts_a_fit_by_keyboard(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.show_session()
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    assert window.tree.current()[0] == "new"
    window.setup_page.set_model("toy.walk")
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        qtbot.keyClick(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert window.current_run().title == "Walk 1"


def test_an_open_set_up_is_there_again_after_a_look_at_the_data(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.show_session()
    window.commands.new_fit()
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    first = window.setup_page
    first.set_model("toy.climb")
    window.tree.select("data", "numbers")
    qtbot.wait(20)  # what was to be deleted is
    assert window.workspace.current_key() == "data/numbers"
    window.tree.select("new", "")
    assert window.workspace.current_page() is window.setup_page is first
    assert first.isVisible()
    assert first.spec.id == "toy.climb"
    window.commands.new_fit()
    qtbot.waitUntil(lambda: window.setup_page is not first, timeout=20_000)
    qtbot.waitUntil(lambda: not isValid(first), timeout=20_000)
    assert window.workspace.current_page() is window.setup_page


def test_a_dropped_session_opens(window, qtbot, tmp_path):
    session = Session(name="dropped")
    session.add_dataset(dataset())
    path = session.save(tmp_path / "dropped.plaidwork")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPoint(100, 100),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        window.dropEvent(event)  # Qt takes drop events from the platform only
    assert window.current_dataset() == "numbers"


def test_files_dropped_together_are_imported_in_one_dialog(window, qtbot, tmp_path):
    from plaidwork.gui.data.views_dialog import ViewsDialog

    mime = QMimeData()
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for number, path in enumerate(paths):
        path.write_text(
            f"sample,a{number},b{number}\n" + "".join(f"s{i},{i}.5,{i * i}.25\n" for i in range(6))
        )
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPoint(100, 100),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )

    def take(dialog):
        if isinstance(dialog, ViewsDialog) and dialog.import_button.isEnabled():
            qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
            return True
        return False

    with answering(take):
        window.dropEvent(event)
        qtbot.waitUntil(lambda: len(window.workbench.session.datasets) == 2, timeout=20_000)
    assert list(window.workbench.session.datasets) == ["one", "two"]
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)


def test_a_missing_recent_file_is_told_and_can_be_forgotten(window, qtbot):
    window.settings.add_recent(Path("/nowhere/gone.plaidwork"), "x", "2026-01-01T00:00:00+00:00")
    window.commands.open_path(Path("/nowhere/gone.plaidwork"))
    assert window.messages.current.title == "gone.plaidwork was not found"
    buttons = [b for b in window.messages.findChildren(QPushButton) if b.text() == "Take off the list"]
    qtbot.waitUntil(buttons[-1].isVisible, timeout=20_000)
    qtbot.mouseClick(buttons[-1], Qt.MouseButton.LeftButton)
    assert window.settings.recent() == []


def test_colours_switch_live_and_back(window, qtbot):
    window.workbench.add_dataset(dataset())
    window.show_session()
    before = settled_picture(window, qtbot)
    window.actions_by_key["dark"].trigger()
    assert theme().scheme == "dark"
    assert window.grab().toImage() != before
    window.actions_by_key["light"].trigger()
    qtbot.waitUntil(lambda: window.grab().toImage() == before, timeout=20_000)
    assert window.settings.text("theme") == "light"


def test_the_palette_finds_and_runs_a_command(window, qtbot):
    from plaidwork.gui.command_palette import CommandPalette

    palette = CommandPalette(list(window.actions_by_key.values()), window)
    qtbot.addWidget(palette)
    palette.show()
    qtbot.keyClicks(palette.field, "dark")
    assert palette.list.count() >= 1
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert theme().scheme == "dark"


def test_tabs_panes_and_palette_are_reached_by_keys(window, qtbot):
    window.workbench.add_dataset(dataset())
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=20), "")
    window.activateWindow()
    first = window.workspace.current_key()
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.current_key() != first
    window.tree.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is not window.tree


def test_damaged_settings_do_not_stop_the_start(tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "plaidwork.ini").write_bytes(b"\x00\xff[[[\n===\n")
    settings = Settings(folder)
    assert settings.recent() == []
    settings.set("theme", "dark")
    assert settings.text("theme") == "dark"


def test_a_page_that_cannot_be_made_says_so_and_spares_the_others(window, qtbot):
    from plaidwork.gui.page import Page, PanePage
    from plaidwork.gui.workspace import PageInfo

    def broken():
        raise ValueError("no such thing")

    window.show_workspace()
    window.workspace.set_pages([PageInfo("a", "Broken", "info", broken), PageInfo("b", "Fine", "info", Page)])
    page = window.workspace.current_page()
    assert isinstance(page, PanePage)
    assert "no such thing" in page.pane._text.text()
    window.workspace.step(1)
    assert type(window.workspace.current_page()) is Page


def test_a_window_leaves_room_for_its_frame_on_a_screen_of_its_size(window):
    size = window.sizeHint().boundedTo(room_on(window.sizeHint(), window.style()))
    assert 16 <= window.sizeHint().height() - size.height() <= 60, "title bar and edges"


def test_a_session_that_was_opened_by_a_relative_path_is_found_from_any_folder(
    window, qtbot, tmp_path, monkeypatch
):
    Session(name="mine").save(tmp_path / "mine.plaidwork")
    monkeypatch.chdir(tmp_path)
    window.commands.open_path(Path("mine.plaidwork"))
    qtbot.waitUntil(lambda: bool(window.settings.recent()), timeout=20_000)
    monkeypatch.chdir("/")
    assert window.settings.recent()[0]["path"] == str((tmp_path / "mine.plaidwork").resolve())
    assert window.settings.folder("open") == str(tmp_path.resolve())
