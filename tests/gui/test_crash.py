"""What went wrong is told, copied and saved; a crash is told at the next start, once."""

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFileDialog, QPushButton

from plaidwork.gui import crash, dialogs
from plaidwork.gui.app import make_window
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks


@pytest.fixture
def window(qapp, qtbot, tmp_path):
    made = make_window(Settings(tmp_path / "settings"))
    qtbot.addWidget(made)
    return made


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_crash_is_told_once(window, tmp_path, monkeypatch):
    folder = tmp_path / "crashes"
    code = (
        "import os, sys; from pathlib import Path; from plaidwork.gui.crash import CrashFile\n"
        "kept = CrashFile(Path(sys.argv[1]))\nos.kill(os.getpid(), 11)"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], check=False)
    assert done.returncode == -signal.SIGSEGV
    (text,) = found = crash.take_crashes(folder)
    assert "Segmentation fault" in text
    assert crash.take_crashes(folder) == []
    crash._offer(window, found)
    message = window.messages.current
    assert message.title == "Plaidwork ended by itself the last time"
    shown = []
    monkeypatch.setattr(window.commands, "show_details", lambda *texts: shown.append(texts))
    crash._offer(window, found)
    window.messages.current.actions[0][1]()
    assert "Segmentation fault" in shown[0][2]
    assert "numba: " in shown[0][2]


def test_files_of_running_and_of_quiet_processes(tmp_path):
    kept = crash.CrashFile(tmp_path)
    own = tmp_path / f"{os.getpid()}.txt"
    assert own.exists()
    (tmp_path / f"{os.getppid()}.txt").write_text("still running")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"{gone.pid}.txt").touch()  # killed, with nothing to tell
    assert crash.take_crashes(tmp_path) == []
    assert sorted(tmp_path.iterdir()) == sorted([own, tmp_path / f"{os.getppid()}.txt"])
    kept.close()
    assert not own.exists()


def test_a_folder_that_cannot_be_written_costs_no_start(tmp_path):
    (tmp_path / "file").touch()
    crash.CrashFile(tmp_path / "file" / "crashes").close()


def test_details_are_copied_and_saved(window, tmp_path, monkeypatch):
    path = tmp_path / "report.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), "Text (*.txt)"))

    def press(dialog: QDialog) -> int:
        by_text = {made.text(): made for made in dialog.findChildren(QPushButton)}
        by_text["Copy"].click()
        by_text["Save…"].click()
        return 0

    monkeypatch.setattr(QDialog, "exec", press)
    text = crash.report(window, "ValueError: it broke")
    dialogs.show_text(window, "What went wrong", text)
    wait_for_tasks()
    assert path.read_text(encoding="utf-8") == text == QGuiApplication.clipboard().text()
    assert text.startswith("ValueError: it broke\n\nVersions\n")
