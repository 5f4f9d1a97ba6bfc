"""Names in the list of a session that is too narrow for them."""

import pytest
from PySide6.QtGui import QFontMetrics

from plaidwork.gui.cut_names import cut_name
from plaidwork.gui.session_tree import SessionTree
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import dataset, toy_registry


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(theme().font("body"))


def _cut(names, metrics, wide="levels, rows stand"):
    width = metrics.horizontalAdvance(wide)
    shown = [cut_name(name, names, metrics, width) for name in names]
    assert all(metrics.horizontalAdvance(text) <= width for text in shown)
    return shown


def test_copies_of_copies_do_not_look_the_same(metrics):
    names = ["levels", "levels, rows standardised", "levels, rows standardised, columns standardised"]
    whole, first, second = _cut(names, metrics)
    assert whole == "levels"
    assert first.startswith("levels")
    assert first.endswith("ised")
    assert second.startswith("levels…columns")


def test_what_differs_in_the_middle_is_shown(metrics):
    names = [f"levels of all genes, {word} standardised" for word in ("rows", "columns")]
    first, second = _cut(names, metrics)
    assert "rows" in first
    assert "columns" in second


def test_numbers_at_the_end_are_seen(metrics):
    names = ["levels, rows standardised", "levels, rows standardised 2", "levels, rows standardised 12"]
    assert len(set(_cut(names, metrics))) == 3


def test_the_list_of_a_session_paints_them_apart(qtbot):
    workbench = Workbench(toy_registry())
    for name in ("levels, rows standardised", "levels, rows standardised, columns standardised"):
        workbench.add_dataset(dataset(name))
    tree = SessionTree(workbench)
    qtbot.addWidget(tree)
    tree.resize(190, 200)
    tree.show()
    group = tree.topLevelItem(0)
    rows = [tree.visualItemRect(group.child(number)) for number in (0, 1)]
    first, second = (tree.viewport().grab(row).toImage() for row in rows)
    line = first.height() // 2  # of the name; the line below is of the size
    assert first.copy(0, 0, first.width(), line) != second.copy(0, 0, second.width(), line)
