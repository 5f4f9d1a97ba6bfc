"""Results become data by the menu: what is offered is ticked, made in the background, and in front."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QDialog, QListWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.core.session.session import Session
from plaidwork.gui.session_tree import RUN
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import window_on


@pytest.fixture
def window(qtbot, tmp_path):
    rng = np.random.default_rng(3)
    session = Session("votes")
    values = (rng.random((12, 8)) < 0.5).astype(float)
    data = Dataset(
        "votes", values, tuple(f"m{k}" for k in range(12)), tuple(f"v{k}" for k in range(8)), kind="binary"
    )
    fit("binary_pca", {"Y": session.add_dataset(data)}, {"factors": 2}, chains=1, warmup=2, draws=4, budget=0,
        session=session, executor="inline")  # fmt: skip
    workbench = Workbench(registry())
    workbench.set_session(session)
    with window_on(workbench, tmp_path) as made:
        yield made


@pytest.mark.long
def test_ticked_results_become_data_in_one_step(window, qtbot, monkeypatch):
    run = next(iter(window.workbench.session.runs.values()))
    window.tree.select(RUN, run.id)
    seen = []

    def press(dialog):
        dialog.show()
        listed = dialog.findChild(QListWidget)
        seen.extend(listed.item(k).text() for k in range(listed.count()))
        listed.setCurrentRow(2)
        qtbot.keyClick(listed, Qt.Key.Key_Space)
        qtbot.mouseClick(dialog.findChild(QAbstractButton, "go"), Qt.MouseButton.LeftButton)
        return dialog.result()

    monkeypatch.setattr(QDialog, "exec", press)
    window.actions_by_key["results_as_data"].trigger()
    qtbot.waitUntil(lambda: len(window.workbench.session.datasets) == 3, timeout=10_000)
    assert seen == [
        "Score, of samples (12 × 2)", "Sd of the score, of samples (12 × 2)", "Loading, of features (8 × 2)"
    ]  # fmt: skip
    names = [*window.workbench.session.datasets]
    assert window.current_dataset() == names[1] == f"{run.title}: Score"
    window.actions_by_key["undo"].trigger()
    assert [*window.workbench.session.datasets] == ["votes"]
