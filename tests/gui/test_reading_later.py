"""The window reads what lies in a file in the background: tree, data, every tab of a run, set-up and saving."""

import threading

import numpy as np
import pytest
from PySide6.QtWidgets import QTableView

from plaidwork.core.data import glimpse
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.deferred import Deferred
from plaidwork.core.hdf5 import h5, seal
from plaidwork.core.hdf5.parts import PART, READS_PARTS
from plaidwork.gui.data import data_panel
from plaidwork.gui.tasks import wait_for_tasks
from tests.gui.result_runs import toy_run
from tests.gui.window_tools import window_on


@pytest.mark.long
@pytest.mark.skipif(not READS_PARTS, reason="an open file cannot be replaced on Windows")
def test_nothing_is_read_on_the_thread_of_the_window(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(seal, "_AT_ONCE", 0)
    monkeypatch.setattr(h5, "LARGE", 64)
    real, here, elsewhere = Deferred.get, [], []

    def get(self):
        if self.waits:
            (here if threading.current_thread() is threading.main_thread() else elsewhere).append(self.shape)
        return real(self)

    workbench, _ = toy_run()
    values = np.random.default_rng(1).normal(size=(40, 30))
    names = tuple(f"r{n}" for n in range(40)), tuple(f"c{n}" for n in range(30))
    workbench.add_dataset(Dataset("not fitted", values, *names))
    with window_on(workbench, tmp_path) as window:
        path = tmp_path / "s.plaidwork"
        window.show_session()
        with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
            window.workbench.file.save(path)
        monkeypatch.setattr(Deferred, "get", get)
        with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
            window.commands.open_path(path)
        session = window.workbench.session
        run = next(iter(session.runs.values()))
        window.tree.select("run", run.id)
        for key in window.workspace.tab_keys():
            window.workspace.go_to(key)
            wait_for_tasks(20_000)
            qapp.processEvents()
        for name in session.datasets:
            window.tree.select("data", name)
            window.workspace.current_page().switch.set_current("values")
            wait_for_tasks(20_000)
            qapp.processEvents()
        with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
            window.workbench.file.save(tmp_path / "t.plaidwork")
    assert elsewhere
    assert not here


@pytest.mark.long
@pytest.mark.skipif(not READS_PARTS, reason="an open file cannot be replaced on Windows")
def test_large_data_are_seen_before_they_are_read(qapp, qtbot, tmp_path, monkeypatch):
    """Blocks and values from every fifth row, which is said; the list of blocks counts all rows from the start."""
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(seal, "_AT_ONCE", 0)
    monkeypatch.setattr(h5, "LARGE", 64)
    real, may_read = Deferred.get, threading.Event()

    workbench, made = toy_run()
    data = next(iter(workbench.session.datasets.values()))
    rows, columns = data.shape
    monkeypatch.setattr(data_panel, "LARGE", 1)

    def get(self):
        if self.waits and self.shape == (rows, columns):
            assert may_read.wait(20)
        return real(self)

    with window_on(workbench, tmp_path) as window:
        path = tmp_path / "s.plaidwork"
        window.show_session()
        with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
            window.workbench.file.save(path)
        monkeypatch.setattr(glimpse, "LARGE", 1)
        monkeypatch.setattr(glimpse, "GLIMPSE", -(-rows // 5) * PART)
        monkeypatch.setattr(Deferred, "get", get)
        with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
            window.commands.open_path(path)
        try:
            window.tree.select("run", made.id)
            page = window.workspace.current_page()
            qtbot.waitUntil(lambda: page.canvas.ordered is not None, timeout=20_000)
            assert page.canvas.ordered.cells.values.shape == (-(-rows // 5), columns)
            assert "are shown, the others are being read" in page._foot.text()
            sizes = [page.blocks.size(block) for block in page.blocks.visible()]
            assert page.blocks.data.row_names[1] in page.search(page.blocks.data.row_names[1])  # not read yet
            window.tree.select("data", data.name)
            other = window.workspace.current_page()
            other.switch.set_current("values")
            table = QTableView
            qtbot.waitUntil(lambda: bool(other.findChildren(table)), timeout=20_000)
            assert other.findChildren(table)[0].model().rowCount() == -(-rows // 5)
            assert other._in_part.text().startswith("Values from ")
        finally:
            may_read.set()
        qtbot.waitUntil(lambda: not other._in_part.text(), timeout=20_000)
        assert [view.model().rowCount() for view in other.findChildren(table) if view.isVisible()] == [rows]
        window.tree.select("run", made.id)
        page = window.workspace.current_page()
        qtbot.waitUntil(lambda: page.canvas.ordered is not None, timeout=20_000)
        qtbot.waitUntil(lambda: len(page.canvas.ordered.row_order) == rows, timeout=20_000)
        assert page._foot.text().endswith("ordered by block")
        assert [page.blocks.size(block) for block in page.blocks.visible()] == sizes
