"""The Plugins window, by clicks: states and causes, switches, checks, installing and uninstalling."""

from __future__ import annotations

import threading
import zipfile

import pytest
from asked import answering
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from wheels_made import either_way, make_wheel, model_source  # noqa: F401

from plaidwork.core.checks import Report, Row
from plaidwork.core.errors import ModelError
from plaidwork.core.plugins.registry import Registry
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.plugins import PluginsDialog, dialog, facts
from plaidwork.gui.plugins.install_dialog import InstallDialog
from plaidwork.gui.plugins.kept_checks import kept_check
from plaidwork.gui.plugins.table import CHECKS, STATE, load_time
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import size, theme
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import settled_picture

RATERS = '"""Raters."""\n\nimport ordinal_tools\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty plugin folder and settings of the test's own; pip stays offline."""
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    import sys

    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "plugins").mkdir()
    yield tmp_path / "plugins"
    for name in [n for n, m in sys.modules.items() if str(tmp_path) in str(getattr(m, "__file__", ""))]:
        del sys.modules[name]


def put(folder, tmp_path, name, source, version="0.1.0", point=None, **options):
    """A distribution as `plugin install` leaves it, without the time that pip takes."""
    wheel = make_wheel(tmp_path / "made", name, version, source=source, point=point or name, **options)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")


@pytest.fixture
def open_dialog(qtbot, folder):
    """Opens the window on a fresh registry and waits until all is loaded."""
    shown = []

    def make(**options):
        made = PluginsDialog(Workbench(Registry(**options)), None, Settings())
        qtbot.addWidget(made)
        made.show()
        qtbot.waitUntil(lambda: made.registry.settled and not made._busy, timeout=20_000)
        assert wait_for_tasks()
        QApplication.processEvents()
        shown.append(made)
        return made

    yield make
    for made in shown:
        made.close()
        made.workbench.deleteLater()
    wait_for_tasks()


@pytest.fixture
def mixed(folder, tmp_path):
    """One good, one failed, one of another interface."""
    put(folder, tmp_path, "raters", RATERS, "0.2.0")
    put(folder, tmp_path, "guest_level", model_source(), point="level")
    other = model_source("guest.mix").replace("summary=", "api=(2, 0), summary=")
    put(folder, tmp_path, "old_mixture", other, "0.9.1")


def click(qtbot, widget):
    assert widget.isVisible()
    assert widget.isEnabled()
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def row_of(made, name):
    return made.table.shown_names.index(name)


def cell(made, name, column, role=Qt.ItemDataRole.DisplayRole):
    return made.table.model().index(row_of(made, name), column).data(role)


def click_row(qtbot, made, name):
    view = made.table
    rect = view.visualRect(view.model().index(row_of(made, name), 0))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert made.table.chosen_name == name


def idle(qtbot, made, timeout=20_000):
    qtbot.waitUntil(lambda: made._busy is None, timeout=timeout)


# -- what is shown -------------------------------------------------------------------------------------


def test_states_by_icon_and_word_and_the_failed_one_first(open_dialog, mixed):
    made = open_dialog()
    found = len(made.table.shown_names)
    assert made.counted.text() == f"{found} found, {found - 2} in use, 1 failed, 1 not compatible."
    assert cell(made, "level", STATE) == "OK"
    assert cell(made, "raters", STATE) == "Failed"
    assert cell(made, "old_mixture", STATE) == "Not compatible"
    for name in ("level", "raters", "old_mixture"):
        assert not cell(made, name, STATE, Qt.ItemDataRole.DecorationRole).isNull()
    row = [made.table.model().index(row_of(made, "level"), column).data() for column in range(8)]
    assert row[2:5] == ["0.1.0", "folder", "1.0"]
    assert row[6:] == ["MIT", "–"]
    assert row[5].endswith((" ms", " s"))
    assert made.table.chosen_name in ("raters", "old_mixture")


def test_a_failed_plugin_shows_its_cause_with_the_line(open_dialog, mixed, qtbot):
    made = open_dialog()
    click_row(qtbot, made, "raters")
    card = made.card
    assert card.title.text() == "raters 0.2.0 failed while loading"
    assert "It needs “ordinal_tools”, which is not installed." in card.text.text()
    lines = card.code.toPlainText().splitlines()
    assert lines == [
        "site/raters.py, line 3", "    import ordinal_tools", "ModuleNotFoundError: No module named 'ordinal_tools'"
    ]  # fmt: skip
    assert "install the missing package" in card.to_do.text()
    assert not card.buttons["check"].isVisible()
    click(qtbot, card.copy_button)
    copied = QGuiApplication.clipboard().text()
    assert "Plugin: raters 0.2.0" in copied
    assert "Traceback" in copied


def test_an_incompatible_plugin_names_both_versions(open_dialog, mixed, qtbot):
    made = open_dialog()
    click_row(qtbot, made, "old_mixture")
    assert made.card.title.text() == "old_mixture 0.9.1 does not fit this version of Plaidwork"
    assert "API 2.0" in made.card.text.text()
    assert not made.card.code.isVisible()


def test_a_good_plugin_shows_its_models(open_dialog, mixed, qtbot):
    made = open_dialog()
    click_row(qtbot, made, "level")
    assert made.card.lines[0].text() == "Level: One level for all cells."
    assert not made.card.buttons["reload"].isVisible()  # only in developer mode
    click_row(qtbot, made, "plaid")
    assert made.card.lines[0].text()
    assert "2 analyses" in " ".join(label.text() for label in made.card.lines)
    assert not made.card.buttons["uninstall"].isVisible()


def test_nothing_selected_and_no_guests(open_dialog, qtbot):
    made = open_dialog()
    assert made.card._nothing.title == "No added plugins yet"
    assert "plaidwork plugin new" in made.card._nothing.accessibleName()
    assert made.card._nothing.isVisible()


def test_the_table_has_room_while_nothing_is_selected(open_dialog, qtbot):
    made = open_dialog()
    made.search.setText("no plugin is called so")
    made.search.clear()
    qtbot.waitUntil(lambda: made.table.viewport().height() > 5 * size.ROW_DIALOG, timeout=20_000)


def test_nothing_selected_with_guests(open_dialog, folder, tmp_path):
    put(folder, tmp_path, "guest_level", model_source(), point="level")
    made = open_dialog()
    assert made.card._nothing.title == "No plugin selected"


def test_search_and_nothing_found(open_dialog, mixed, qtbot):
    made = open_dialog()
    made.search.setFocus()
    qtbot.keyClicks(made.search, "failed")
    assert made.table.shown_names == ["raters"]
    made.search.clear()
    qtbot.keyClicks(made.search, "guest.level")
    assert made.table.shown_names == ["level"]
    qtbot.keyClicks(made.search, "xyz")
    assert made.table.shown_names == []
    assert made.card._nothing.title == "Nothing found"

    def visible():
        return [b for b in made.card._nothing.findChildren(QPushButton) if b.isVisible()]

    qtbot.waitUntil(lambda: bool(visible()), timeout=20_000)
    click(qtbot, visible()[0])
    assert len(made.table.shown_names) > 3


def test_sorting_by_state(open_dialog, mixed, qtbot):
    made = open_dialog()
    made.table.choose("raters")
    made.table.sortByColumn(STATE, Qt.SortOrder.AscendingOrder)
    assert made.table.shown_names[:2] == ["raters", "old_mixture"]
    assert made.table.chosen_name == "raters"


def test_news_from_another_thread_is_shown(open_dialog, mixed, qtbot):
    made = open_dialog()
    thread = threading.Thread(target=made.registry.disable, args=("level",))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: cell(made, "level", STATE) == "Disabled", timeout=20_000)


def test_load_times_are_short_words():
    assert [load_time(seconds) for seconds in (0.0001, 0.038, 0.9999, 12.3)] == [
        "1 ms",
        "38 ms",
        "1.0 s",
        "12 s",
    ]


def test_a_cause_without_a_frame_is_still_told():
    from plaidwork.core.plugins.registry import PluginFault, PluginInfo

    info = PluginInfo(
        "a", "a", "folder", state="failed", faults=[PluginFault("a", "", "", "", "KeyError: 'x'")]
    )
    assert facts.cause_of(info).text == "KeyError: 'x'"
    assert facts.cause_of(PluginInfo("a", "a", "folder")) is None


# -- switches ------------------------------------------------------------------------------------------


def test_disable_and_enable_hold_for_the_next_start(open_dialog, mixed, qtbot):
    made = open_dialog()
    click_row(qtbot, made, "level")
    click(qtbot, made.card.buttons["disable"])
    idle(qtbot, made)
    assert cell(made, "level", STATE) == "Disabled"
    assert made.card.title.text() == "level 0.1.0 is disabled"
    assert not made.registry.has("guest.level")
    assert Registry().plugin("level").state == "disabled"
    click(qtbot, made.card.buttons["enable"])
    idle(qtbot, made)
    assert cell(made, "level", STATE) == "OK"
    assert made.registry.has("guest.level")
    assert Registry().plugin("level").state == "ok"


def test_a_failed_plugin_is_loaded_again_once_it_is_mended(open_dialog, folder, qtbot):
    path = folder / "mended.py"
    path.write_text("import ordinal_tools\n")
    made = open_dialog()
    click_row(qtbot, made, "mended")
    path.write_text(model_source("guest.mended") + "# now longer\n")
    click(qtbot, made.card.buttons["reload"])
    idle(qtbot, made)
    assert cell(made, "mended", STATE) == "OK"
    assert made.card.lines[0].text().startswith("Level:")


def test_developer_mode_offers_to_reload_and_is_remembered(open_dialog, folder, qtbot):
    path = folder / "own.py"
    path.write_text(model_source("guest.own"))
    made = open_dialog()
    click_row(qtbot, made, "own")
    qtbot.mouseClick(made.developer, Qt.MouseButton.LeftButton, pos=made.developer.rect().center())
    assert made.developer.isChecked()
    path.write_text(model_source("guest.own", title="Another level"))
    click(qtbot, made.card.buttons["reload"])
    idle(qtbot, made)
    assert made.card.lines[0].text().startswith("Another level:")
    assert Settings().flag(dialog.DEVELOPER)


def test_what_cannot_be_written_is_told(open_dialog, mixed, qtbot, tmp_path):
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "plugins.json").mkdir()
    made = open_dialog()
    click_row(qtbot, made, "level")
    click(qtbot, made.card.buttons["disable"])
    idle(qtbot, made)
    assert made.messages.current.title == "Could not disable level"


def test_safe_mode_is_said_and_can_be_left(open_dialog, mixed, qtbot):
    made = open_dialog(safe_mode=True)
    assert "Safe mode" in made.counted.text()
    assert made.messages.current.title == "Safe mode"
    assert "level" not in made.table.shown_names
    (load,) = [b for b in made.messages.findChildren(QPushButton) if b.text() == "Load them"]
    click(qtbot, load)
    idle(qtbot, made)
    assert cell(made, "level", STATE) == "OK"


def test_folders_open_in_the_desktop(open_dialog, mixed, qtbot, monkeypatch, folder):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    made = open_dialog()
    click_row(qtbot, made, "level")
    click(qtbot, made.card.buttons["show_folder"])
    click(qtbot, made.folder_button)
    assert opened == [str(folder / "site"), str(folder)]


def test_write_your_own_shows_the_command(open_dialog, qtbot):
    made = open_dialog()
    with answering("close"):
        click(qtbot, made.write_button)


# -- checks --------------------------------------------------------------------------------------------


def _report(outcome):
    rows = [
        Row("traces", "traces are returned as declared", "passed", 0.1),
        Row(
            "geweke[default]",
            "Geweke: the sampler leaves its prior as it is",
            outcome,
            0.1,
            "level is off.",
            "",
        ),
    ]
    return Report("guest.level", "0.1.0", "quick", 1, rows)


def test_a_check_shows_progress_and_its_result_is_kept(open_dialog, mixed, qtbot, monkeypatch):
    go = threading.Event()

    def check(models, level, told):
        assert (models, level) == (["guest.level"], "quick")
        told(0, 0, "")
        while not go.wait(0.02):
            told(17, 59, "same seed, same draws")
        return [_report("failed")]

    monkeypatch.setattr(dialog, "check_in_process", check)
    made = open_dialog()
    click_row(qtbot, made, "level")
    with answering("quick"):
        click(qtbot, made.card.buttons["check"])
    qtbot.waitUntil(lambda: "17 of 59, same seed" in made.card.doing.text(), timeout=20_000)
    assert made.card.bar.value() == 288
    assert not made.card.buttons["disable"].isEnabled()
    go.set()
    idle(qtbot, made)
    assert cell(made, "level", CHECKS) == "1 failed"
    assert "1 passed, 1 failed" in made.card.checked.text()
    assert "Geweke" in made.card.code.toPlainText()
    assert "level is off." in made.card.code.toPlainText()
    assert kept_check(made.registry.plugin("level"))["level"] == "quick"
    made.close()
    again = open_dialog()
    assert cell(again, "level", CHECKS) == "1 failed"


def test_a_check_can_be_cancelled(open_dialog, mixed, qtbot, monkeypatch):
    ended = threading.Event()

    def check(models, level, told):
        try:
            while True:
                told(1, 59, "a check")
                ended.wait(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(dialog, "check_in_process", check)
    made = open_dialog()
    click_row(qtbot, made, "level")
    with answering("full"):
        click(qtbot, made.card.buttons["check"])
    qtbot.waitUntil(made.card.cancel_button.isVisible, timeout=20_000)
    click(qtbot, made.card.cancel_button)
    assert made._busy is None
    assert ended.wait(20)
    assert cell(made, "level", CHECKS) == "–"
    assert made.card.buttons["check"].isEnabled()


def test_checks_that_break_are_told(open_dialog, mixed, qtbot, monkeypatch):
    def check(models, level, told):
        raise ModelError("The checks of guest.level ended without a result.")

    monkeypatch.setattr(dialog, "check_in_process", check)
    made = open_dialog()
    click_row(qtbot, made, "level")
    with answering("quick"):
        click(qtbot, made.card.buttons["check"])
    idle(qtbot, made)
    assert made.messages.current.title == "Could not check level"


def test_not_agreed_is_not_checked(open_dialog, mixed, qtbot, monkeypatch):
    monkeypatch.setattr(dialog, "check_in_process", lambda *a: pytest.fail("checked"))
    made = open_dialog()
    click_row(qtbot, made, "level")
    with answering("cancel"):
        click(qtbot, made.card.buttons["check"])
    assert made._busy is None


def test_a_result_of_another_version_does_not_count(folder, tmp_path):
    from plaidwork.core.plugins.registry import PluginInfo
    from plaidwork.gui.plugins.kept_checks import FILE, forget_check, keep_check

    info = PluginInfo("level", "guest_level", "folder", "0.1.0")
    keep_check(info, {"ok": True, "passed": 3, "failed": 0, "skipped": 1, "failures": []})
    assert kept_check(info)["passed"] == 3
    assert kept_check(PluginInfo("level", "guest_level", "folder", "0.2.0")) is None
    forget_check("level")
    assert kept_check(info) is None
    (tmp_path / "config" / FILE).write_text('{"level": {"version": "0.1.0", "ok": "yes"}}')
    assert kept_check(info) is None


# -- install and uninstall -----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("either_way")
def test_install_asks_what_and_where_and_uninstall_removes(open_dialog, folder, tmp_path, qtbot):
    wheel = make_wheel(tmp_path / "made", needs=("numpy",))
    made = open_dialog()
    seen = []

    def name_it(shown):
        qtbot.keyClicks(shown.field, str(wheel))
        assert not (folder / "site").exists()
        click(qtbot, shown.go_button)
        return True

    def agree(shown):
        if shown.offer is None:
            return False
        seen.extend([shown.headline.text(), shown.site.text(), shown.where.text()])
        assert not (folder / "site").exists()
        click(qtbot, shown.go_button)
        return True

    with answering(name_it, agree):
        click(qtbot, made.install_button)
    idle(qtbot, made)
    assert seen[:2] == ["Install guest-level 0.1.0?", str(folder / "site")]
    assert cell(made, "level", STATE) == "OK"
    assert made.table.chosen_name == "level"
    assert made.registry.has("guest.level")
    assert "is installed" in made.messages.current.title

    with answering("uninstall"):
        click(qtbot, made.card.buttons["uninstall"])
    idle(qtbot, made)
    assert "level" not in made.table.shown_names
    assert not made.registry.has("guest.level")
    assert not (folder / "site").exists()


def test_what_cannot_be_installed_is_said_in_the_dialog(qtbot, folder, tmp_path):
    bad = tmp_path / "bad-1-py3-none-any.whl"
    bad.write_bytes(b"no zip")
    shown = InstallDialog()
    qtbot.addWidget(shown)
    shown.show()
    assert not shown.go_button.isEnabled()
    qtbot.keyClicks(shown.field, str(bad))
    qtbot.keyClick(shown.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not shown.busy() and shown.message.isVisible(), timeout=20_000)
    assert "is not a wheel" in shown.message.text()
    assert shown.field.property("invalid") is True
    assert shown.offer is None
    qtbot.keyClicks(shown.field, "x")
    assert not shown.message.isVisible()
    shown.close()


@pytest.mark.long
def test_back_and_stop(qtbot, folder, tmp_path, monkeypatch):
    from plaidwork.core.plugins import plugin_install

    shown = InstallDialog()
    qtbot.addWidget(shown)
    shown.show()
    wheel = make_wheel(tmp_path / "made")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(wheel), ""))
    click(qtbot, shown.browse_button)  # looks up at once
    qtbot.waitUntil(lambda: shown.offer is not None, timeout=20_000)
    click(qtbot, shown.back_button)
    assert shown.offer is None
    assert shown.field.isVisible()

    ended = threading.Event()

    def slow(what, say, folder):
        try:
            while True:
                say("Looking for guest-level")
                ended.wait(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(plugin_install, "look_up", slow)
    click(qtbot, shown.go_button)
    assert shown.cancel_button.text() == "Stop"
    qtbot.waitUntil(lambda: "Looking for guest-level" in shown.message.text(), timeout=20_000)
    click(qtbot, shown.cancel_button)
    assert ended.wait(20)
    assert shown.isVisible()
    assert shown.go_button.isEnabled()
    click(qtbot, shown.cancel_button)
    assert not shown.isVisible()
    wait_for_tasks()


# -- the window ----------------------------------------------------------------------------------------


def test_the_command_opens_one_window_that_closes_with_the_main_one(qtbot, folder, tmp_path, mixed):
    window = MainWindow(Workbench(Registry()), Settings(tmp_path / "config"))
    qtbot.addWidget(window)
    window.show()
    window.actions_by_key["plugins"].trigger()
    window.commands.show_plugin("raters")
    (shown,) = window.findChildren(PluginsDialog)
    assert shown.isVisible()
    qtbot.waitUntil(lambda: shown.table.chosen_name == "raters", timeout=20_000)
    wait_for_tasks()
    window.close()
    qtbot.waitUntil(lambda: not window.findChildren(PluginsDialog), timeout=20_000)
    wait_for_tasks()


@pytest.mark.long
def test_a_switch_of_colours_leaves_nothing_behind(open_dialog, mixed, qtbot):
    made = open_dialog()
    made.table.choose("raters")
    made.close_button.setFocus()
    before = settled_picture(made, qtbot)
    theme().set_mode("dark")
    dark = settled_picture(made, qtbot)
    theme().set_mode("light")
    qtbot.waitUntil(lambda: made.grab().toImage() == before, timeout=20_000)
    assert dark != before
    assert dark.pixelColor(2, 2).lightness() < 60


def test_a_narrow_window_leaves_out_what_matters_least(open_dialog, mixed):
    made = open_dialog()
    assert not any(made.table.isColumnHidden(column) for column in range(8))
    made.resize(made.minimumSizeHint())
    QApplication.processEvents()
    assert [column for column in range(8) if made.table.isColumnHidden(column)]
    assert not made.table.isColumnHidden(STATE)
    assert not made.table.isColumnHidden(CHECKS)
    assert made.table.horizontalScrollBar().maximum() == 0
    made.resize(960, 720)
    QApplication.processEvents()
    assert not any(made.table.isColumnHidden(column) for column in range(8))


def test_closing_while_plugins_load_is_quiet(folder, qtbot):
    """A plugin that takes its time; the window goes before it is there."""
    (folder / "slow.py").write_text("import time\ntime.sleep(0.5)\n" + model_source("guest.slow"))
    registry = Registry()
    made = PluginsDialog(Workbench(registry), None, Settings())
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    made.show()
    qtbot.waitUntil(lambda: any(info.name == "slow" for info in registry.plugins), timeout=20_000)
    assert not registry.settled
    with qtbot.captureExceptions() as errors:
        made.close()
        qtbot.waitUntil(lambda: registry.settled, timeout=20_000)
        wait_for_tasks()
        qtbot.wait(50)
    assert errors == []
    assert registry.plugin("slow").state == "ok"


def test_it_fits_the_smallest_window_and_the_keys(open_dialog, mixed, qtbot):
    made = open_dialog()
    assert made.minimumSizeHint().width() <= 1024
    assert made.minimumSizeHint().height() <= 640
    made.search.setFocus()
    for _ in range(12):
        qtbot.keyClick(QApplication.focusWidget() or made, Qt.Key.Key_Tab)
        if made.close_button.hasFocus():
            break
    assert made.close_button.hasFocus()
    qtbot.keyClick(made, Qt.Key.Key_Escape)
    assert not made.isVisible()


@pytest.mark.slow
def test_the_real_suite_runs_from_the_window(open_dialog, mixed, qtbot):
    made = open_dialog()
    click_row(qtbot, made, "level")
    with answering("quick"):
        click(qtbot, made.card.buttons["check"])
    qtbot.waitUntil(lambda: made.card.bar.value() > 0, timeout=60_000)
    idle(qtbot, made, timeout=120_000)
    kept = kept_check(made.registry.plugin("level"))
    assert kept["passed"] > 30
    assert cell(made, "level", CHECKS) in (f"{kept['passed']} passed", f"{kept['failed']} failed")
