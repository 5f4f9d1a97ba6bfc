"""The window and files that others have open, have changed, or that are too large."""

import json
import socket
import subprocess
import sys

import pytest

from plaidwork.core.errors import LimitError
from plaidwork.core.session.lock import holder_of, lock_file
from plaidwork.core.session.recovery import Recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui import file_guard
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import dataset, toy_registry


@pytest.fixture
def path(tmp_path):
    session = Session("S")
    session.add_dataset(dataset())
    return session.save(tmp_path / "s.plaidwork")


@pytest.fixture
def bench(qtbot):
    made = Workbench(toy_registry())
    posted = made.posted = []
    made.message_posted.connect(posted.append)
    yield made
    made.guard.let_go()


def _done(qtbot, condition):
    qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)
    wait_for_tasks(1000)


def _opened(bench, path, qtbot):
    bench.file.open(path)
    _done(qtbot, lambda: bench.session.path == path)


def _press(message, text):
    dict(message.actions)[text]()


def _changed_by_another(path):
    other = open_session(path)
    other.add_dataset(dataset("theirs"))
    other.notes = "theirs"
    other.save()


def test_an_open_file_is_held_and_let_go(bench, path, qtbot):
    _opened(bench, path, qtbot)
    assert holder_of(path).mine
    bench.set_session(Session("other"))
    assert holder_of(path) is None


def test_a_file_that_another_computer_holds_is_read_only_until_it_is_taken_over(bench, path, qtbot):
    record = {"pid": 1, "started": "", "host": "far", "user": "ann", "time": "2026-01-02T03:04:05+00:00"}
    lock_file(path).write_text(json.dumps(record))
    _opened(bench, path, qtbot)
    assert bench.session.read_only.startswith("ann has “s.plaidwork” open on the computer far")
    taken = []
    bench.guard.take_over(lambda: taken.append(True))
    _done(qtbot, lambda: taken)
    assert bench.session.read_only == ""
    assert holder_of(path).mine


def test_a_file_that_another_program_has_open_is_taken_over_once_that_has_ended(qapp, qtbot, path, tmp_path):
    """Until then *Take over* says what to do first, and stays offered."""
    window = MainWindow(Workbench(toy_registry()), Settings(tmp_path / "config"))
    qtbot.addWidget(window)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    record = {"pid": other.pid, "started": "", "host": socket.gethostname(), "user": "ann", "time": ""}
    lock_file(path).write_text(json.dumps(record))
    window.commands.open_path(path)
    _done(qtbot, lambda: window.workbench.session.read_only)
    first = window.messages.current
    assert first.title == "Opened for reading only"
    assert "Close it there first" in first.text
    _press(first, "Take over")
    again = window.messages.current
    assert again.title == "It is still open elsewhere"
    assert window.workbench.session.read_only
    other.communicate(b"\n")
    _press(again, "Take over")
    _done(qtbot, lambda: not window.workbench.session.read_only)
    assert holder_of(path).mine
    window.workbench.guard.let_go()


def test_a_changed_file_is_merged_when_wanted(bench, path, qtbot):
    _opened(bench, path, qtbot)
    _changed_by_another(path)
    bench.session.notes = "ours"
    bench.file.save()
    _done(qtbot, lambda: bench.posted)
    assert bench.dirty
    assert open_session(path).notes == "theirs"
    assert [text for text, _ in bench.posted[0].actions] == [
        "Save as…",
        "Merge runs",
        "What differs",
        "Replace",
    ]
    _press(bench.posted[0], "Merge runs")
    _done(qtbot, lambda: "theirs" in bench.session.datasets and not bench.dirty)
    again = open_session(path)
    assert list(again.datasets) == ["numbers", "theirs"]
    assert again.notes == "ours\n\ntheirs"


def test_a_changed_file_is_replaced_when_wanted(bench, path, qtbot):
    _opened(bench, path, qtbot)
    _changed_by_another(path)
    bench.session.notes = "ours"
    bench.file.save()
    _done(qtbot, lambda: bench.posted)
    with qtbot.waitSignal(bench.saved, timeout=20_000):
        _press(bench.posted[0], "Replace")
    assert open_session(path).notes == "ours"
    assert open_session(path.with_name("s.plaidwork.bak")).notes == "theirs"


def test_a_file_that_is_too_large_is_offered_once_more(bench, path, qtbot, monkeypatch):
    def large(path, *, any_size):
        if not any_size:
            raise LimitError("“/data/x” has 9 bytes, more than 8.")
        return open_session(path)

    monkeypatch.setattr(file_guard, "open_session", large)
    bench.file.open(path)
    _done(qtbot, lambda: bench.posted)
    assert "more than 8" in bench.posted[0].text
    _press(bench.posted[0], "Open anyway")
    _done(qtbot, lambda: bench.session.path == path)


def test_every_piece_of_recovered_work_is_offered(qapp, qtbot, tmp_path):
    window = MainWindow(Workbench(toy_registry()), Settings(tmp_path / "config"))
    qtbot.addWidget(window)
    found = [
        Recovery(
            f"k{i}",
            f"work {i}",
            tmp_path / f"k{i}.plaidwork",
            None,
            f"2026-01-0{i + 1}T10:00:00+00:00",
            None,
            (2, 1),
        )
        for i in (2, 1, 0)
    ]
    before = window.messages.count
    window.commands.offer_recovery(found)
    assert window.messages.count == before + 3
    assert window.messages.current.title.startswith("Recovered work from 03 January")
    assert "It has no file yet; what was kept has 2 data sets and 1 run." in window.messages.current.text


def test_what_differs_from_a_changed_file_is_told(bench, path, qtbot):
    _opened(bench, path, qtbot)
    _changed_by_another(path)
    told = []
    bench.details_requested.connect(lambda *texts: told.append(texts))
    bench.file.save()
    _done(qtbot, lambda: bench.posted)
    _press(bench.posted[-1], "What differs")
    _done(qtbot, lambda: told)
    title, _, lines = told[0]
    assert title == "Compared with s.plaidwork"
    assert lines.splitlines() == [
        "theirs: Only s.plaidwork has it.",
        "notes: The notes differ.",
    ]
    bench.guard.compare(bench.session.save(path.with_name("t.plaidwork")))
    _done(qtbot, lambda: len(told) == 2)
    assert told[1][2] == "Both hold the same."
