"""Dialogs that work in the background: answers of the last task of a name only, and none behind a closed dialog."""

import threading

import pytest
from shiboken6 import delete

from plaidwork.core.errors import DataError
from plaidwork.gui.task_dialog import TaskDialog, error_text, message_and_hint
from plaidwork.gui.tasks import wait_for_tasks

WAIT = 20_000


@pytest.fixture
def dialog(qtbot):
    made = TaskDialog("Read numbers")
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def gate():
    """Lets tasks go on; opened at the end whatever happens."""
    made = threading.Event()
    yield made
    made.set()
    assert wait_for_tasks(WAIT)


def test_an_answer_and_an_error_arrive_once_the_task_is_no_longer_busy(dialog, qtbot):
    heard = []
    dialog.begin("one", lambda task: 3, lambda value: heard.append((value, dialog.busy())), pytest.fail)
    assert dialog.busy()
    assert dialog.busy("one")
    assert not dialog.busy("other")
    qtbot.waitUntil(lambda: heard == [(3, False)], timeout=WAIT)

    def broken(task):
        raise DataError("No numbers.", "Choose another file.")

    dialog.begin(
        "one", broken, pytest.fail, lambda error, details: heard.append((error_text(error), details))
    )
    qtbot.waitUntil(lambda: len(heard) == 2, timeout=WAIT)
    assert heard[1][0] == "No numbers. Choose another file."
    assert "DataError" in heard[1][1]


def test_progress_arrives_as_it_is_reported(dialog, qtbot):
    heard, ended = [], []

    def work(task):
        task.report(0.5)
        task.report(2, 4, "rule")

    dialog.begin("one", work, ended.append, pytest.fail, lambda *told: heard.append(told))
    qtbot.waitUntil(lambda: bool(ended), timeout=WAIT)
    assert heard == [(0.5,), (2, 4, "rule")]


def test_a_task_replaces_the_one_of_its_name_and_no_other(dialog, qtbot, gate):
    heard = []

    def slow(task):
        gate.wait(20)
        return "old"

    dialog.begin("preview", slow, heard.append, pytest.fail)
    dialog.begin("preview", lambda task: "new", heard.append, pytest.fail)
    dialog.begin("facts", lambda task: "facts", heard.append, pytest.fail)
    qtbot.waitUntil(lambda: len(heard) == 2, timeout=WAIT)
    gate.set()
    assert wait_for_tasks(WAIT)
    qtbot.wait(20)
    assert sorted(heard) == ["facts", "new"]


@pytest.mark.parametrize("leave", ["accept", "reject", "close", "drop", "delete"])
def test_nothing_arrives_behind_a_closed_dialog(qtbot, gate, leave):
    made = TaskDialog("Read numbers")
    made.show()
    heard = []

    def slow(task):
        task.report(0.1)
        gate.wait(20)
        return "late"

    made.begin("one", slow, heard.append, heard.append, lambda share: heard.append(share))
    timer = made.later(0, lambda: heard.append("timer"))
    timer.start()
    if leave == "delete":
        delete(made)
    else:
        getattr(made, leave)()
    if leave == "drop":
        timer.stop()
        assert not made.busy()
    gate.set()
    assert wait_for_tasks(WAIT)
    qtbot.wait(30)
    assert heard == []
    if leave != "delete":
        made.deleteLater()


def test_a_timer_calls_once_after_it_was_started(dialog, qtbot):
    heard = []
    timer = dialog.later(5, lambda: heard.append(1))
    qtbot.wait(30)
    assert not heard
    timer.start()
    timer.start()
    qtbot.wait(60)
    assert heard == [1]


def test_errors_of_others_are_told_with_their_kind():
    assert error_text(KeyError("a")) == "KeyError: 'a'"
    assert message_and_hint(KeyError("a")) == ("KeyError: 'a'", "")
    assert message_and_hint(DataError("No numbers.", "Choose another.")) == ("No numbers.", "Choose another.")
