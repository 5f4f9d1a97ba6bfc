"""What a person can press, choose or write has a name for a screen reader, on every tab, the data page and the set-up."""

import pytest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
)

from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit
from plaidwork.core.session.session import Session
from plaidwork.gui.session_tree import DATA, RUN
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import factor_dataset
from tests.gui.window_tools import window_on

CONTROLS = (
    QAbstractButton, QComboBox, QLineEdit, QAbstractSlider, QAbstractSpinBox, QAbstractItemView, QPlainTextEdit,
)  # fmt: skip
QTS_OWN = (QScrollBar, QHeaderView)


def nameless(window):
    """Controls in sight that say neither by a name nor by their text what they are; parts of a control belong to it."""
    found = set()
    for kind in CONTROLS:
        for one in window.findChildren(kind):
            if isinstance(one, QTS_OWN) or isinstance(one.parent(), CONTROLS) or not one.isVisible():
                continue
            text = one.text() if isinstance(one, QAbstractButton) else ""
            if not (one.accessibleName() or text):
                found.add(f"{type(one).__name__} in {type(one.parent()).__name__}")
    return found


@pytest.mark.long
def test_every_control_has_a_name(qtbot, tmp_path):
    session = Session("factors")
    data = session.add_dataset(factor_dataset(30, 12))
    run = fit(
        "group_factor",
        {"views": data},
        {"n_factors": 3},
        chains=1,
        max_sweeps=4,
        session=session,
        executor="inline",
    )
    workbench = Workbench(registry())
    workbench.set_session(session)
    with window_on(workbench, tmp_path) as window:
        window.tree.select(RUN, run.id)
        for index in range(window.workspace.tabs.count()):
            window.workspace.tabs.setCurrentIndex(index)
            wait_for_tasks(20_000)
            qtbot.wait(20)
            assert not nameless(window), window.workspace.tabs.tabText(index)
        window.tree.select(DATA, data.name)
        wait_for_tasks(20_000)
        assert not nameless(window)
        window.actions_by_key["new_fit"].trigger()
        wait_for_tasks(20_000)
        qtbot.wait(20)
        assert not nameless(window)
