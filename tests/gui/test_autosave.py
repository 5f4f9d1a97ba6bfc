"""What is written against a crash while a fit goes on: found again, and written beside the thread of the window."""

import shutil
import threading

import h5py
import pytest

from plaidwork.core.session import recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui import main_window
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import SlowWalk, dataset, plan, toy_registry, window_on

WAIT = 20_000


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(main_window, "_AUTOSAVE", 50)
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        yield made


def _written_by(monkeypatch) -> list[str]:
    """Names of the threads that wrote arrays, one for each array."""
    found: list[str] = []
    real = h5py.Group.create_dataset

    def create(self, *args, **more):
        found.append(threading.current_thread().name)
        return real(self, *args, **more)

    monkeypatch.setattr(h5py.Group, "create_dataset", create)
    return found


@pytest.mark.long
def test_an_autosave_of_a_fit_under_way_leaves_the_window_alone(window, qtbot, monkeypatch, tmp_path):
    threads = _written_by(monkeypatch)
    session = Session(name="work")
    session.add_dataset(dataset("large", rows=400, columns=300))
    window.workbench.set_session(session)
    run = window.workbench.start(plan(SlowWalk, draws=100_000))
    found = recovery.recovery_file(recovery.recovery_key(session.uuid))
    qtbot.waitUntil(lambda: found.exists() and len(threads) > 20, timeout=WAIT)
    assert window.workbench.active_runs() == [run]
    assert threading.main_thread().name not in threads
    back = open_session(shutil.copy(found, tmp_path / "copy.plaidwork"))  # the next autosave replaces it
    assert back.runs[run.id].status == "stopped"
    assert set(back.datasets) == {"large", "numbers"}
