"""Tasks: outcomes and what they held come back to the GUI thread; cycles are collected there and nowhere else."""

from __future__ import annotations

import threading
import weakref

import pytest
from PySide6.QtCore import QObject

from plaidwork.gui.tasks import Cancelled, Task, run_task, wait_for_tasks


class Held:
    """Notes in which thread it was let go."""

    def __init__(self, gone: list[threading.Thread]) -> None:
        weakref.finalize(self, lambda: gone.append(threading.current_thread()))


def test_outcomes_arrive_on_this_thread_in_order(qtbot):
    heard: list[tuple[str, object]] = []
    threads = set()

    def work(task: Task) -> str:
        threads.add(threading.current_thread())
        for share in (0.25, 0.5, 1.0):
            task.report(share)
        return "value"

    run_task(
        work,
        lambda value: heard.append(("done", value)),
        progress=lambda share: heard.append(("share", share)),
    )
    qtbot.waitUntil(lambda: len(heard) == 4, timeout=20_000)
    assert heard == [("share", 0.25), ("share", 0.5), ("share", 1.0), ("done", "value")]
    assert threading.main_thread() not in threads


def test_an_error_and_a_cancel(qtbot):
    failed: list[str] = []
    run_task(lambda task: 1 / 0, None, lambda error, details: failed.append(details))
    qtbot.waitUntil(lambda: bool(failed), timeout=20_000)
    assert "ZeroDivisionError" in failed[0]

    go = threading.Event()
    stopped: list[bool] = []

    def work(task: Task) -> None:
        go.wait(20)
        try:
            task.check()
        except Cancelled:
            stopped.append(True)
            raise

    task = run_task(work, lambda value: pytest.fail("cancelled"), lambda *args: pytest.fail("cancelled"))
    task.cancel()
    go.set()
    qtbot.waitUntil(lambda: task.finished, timeout=20_000)
    assert stopped == [True]
    assert wait_for_tasks()


def test_what_a_task_held_is_let_go_on_this_thread(qtbot):
    gone: list[threading.Thread] = []
    for end in (lambda: None, lambda: 1 / 0):
        held = Held(gone)
        task = run_task(lambda task, held=held, end=end: (held, end()), None, lambda error, details: None)
        del held
        qtbot.waitUntil(lambda task=task: task.finished, timeout=20_000)
    qtbot.waitUntil(lambda: len(gone) == 2, timeout=20_000)
    assert set(gone) == {threading.main_thread()}


def test_cycles_are_collected_on_this_thread(qtbot):
    """Tasks that make much garbage, and widgets' cycles left lying: without the collector the pool deletes them."""
    gone: list[threading.Thread] = []

    def work(task: Task) -> int:
        return len([{i: [i]} for i in range(20_000)])

    done: list[int] = []
    for _ in range(30):
        owner = QObject()
        owner.held = Held(gone)
        owner.cycle = owner
        del owner
        run_task(work, done.append)
    qtbot.waitUntil(lambda: len(done) == 30, timeout=20_000)
    litter: list[list[int]] = []

    def enough() -> bool:
        litter.extend([i] for i in range(2000))  # until the collector sees a reason to look
        return len(gone) == 30

    qtbot.waitUntil(enough, timeout=20_000)
    assert set(gone) == {threading.main_thread()}
