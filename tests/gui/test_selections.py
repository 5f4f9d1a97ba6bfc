"""What can be done with selected items: by annotation, under a name, copied, as data sets of their own."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from plaidwork.core.session.subsets import items_of
from plaidwork.gui.results import selection_menu
from plaidwork.gui.selection import Selection
from plaidwork.gui.tasks import wait_for_tasks

from .result_runs import block_results, make_dataset, make_run


@pytest.fixture
def bench():
    """40 genes of three kinds, one of unknown kind."""
    dataset, rows, columns = make_dataset()
    kinds = np.array(["kinase", "R&D", "receptor", "kinase"] * 10, dtype=object)
    kinds[5] = ""
    dataset = dataset.with_(row_table={"kind": kinds, "size": np.arange(40.0)})
    return make_run(dataset, block_results(dataset, rows, columns))


def choose(bench, owner, *path):
    """Open the menu of a page and choose an entry by its words, as a click does."""
    workbench, run = bench
    menu = QMenu(owner)
    selection_menu.offer_selection(menu, workbench, run, owner)
    for words in path:
        action = next(a for a in menu.actions() if a.text().startswith(words))
        menu = action.menu() or menu
    action.trigger()


@pytest.fixture
def owner(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_items_by_annotation(bench, owner):
    workbench, run = bench
    items = items_of(run, workbench.session.datasets, "row")
    assert items.word == "genes"
    assert set(items.groups()) == {"kind"}  # numbers are no groups
    choose(bench, owner, "Select genes", "Where kind is", "R&&D (9)")
    chosen = workbench.selection(run).get("row")
    assert set(chosen) == {1 + 4 * i for i in range(10)} - {5}


def test_of_many_items_the_annotations_come_later(bench, owner, qtbot, monkeypatch):
    monkeypatch.setattr(selection_menu, "_AT_ONCE", 10)
    workbench, run = bench
    menu = QMenu(owner)
    selection_menu.offer_selection(menu, workbench, run, owner)
    genes = next(action.menu() for action in menu.actions() if action.text() == "Select genes")
    assert [action.text() for action in genes.actions()] == ["Reading the annotations"]
    qtbot.waitUntil(lambda: genes.actions()[0].text() == "Where kind is", timeout=20_000)
    (kinds,) = (action.menu() for action in genes.actions())
    next(action for action in kinds.actions() if action.text() == "R&&D (9)").trigger()
    assert set(workbench.selection(run).get("row")) == {1 + 4 * i for i in range(10)} - {5}
    selection_menu.offer_selection(late := QMenu(owner), workbench, run, owner)
    late.deleteLater()  # closed before the annotations are there
    qtbot.wait(50)
    wait_for_tasks()


def test_a_data_set_of_the_selected(bench, owner, qtbot):
    workbench, run = bench
    workbench.selection(run).set("row", (7, 3, 39, 500))
    before = next(iter(workbench.session.datasets.values()))
    with qtbot.waitSignal(workbench.data_changed, timeout=5000):
        choose(bench, owner, "Selected genes (3)", "New data set of these")
    made = list(workbench.session.datasets.values())[-1]
    assert made.name == f"{before.name}, 3 genes"
    assert made.row_names == tuple(before.row_names[i] for i in (3, 7, 39))
    assert np.array_equal(made.values, before.values[[3, 7, 39]])
    assert "3 genes selected by name" in [str(step) for step in made.steps]


def test_names_are_copied(bench, owner):
    workbench, run = bench
    workbench.selection(run).set("column", (2, 0))
    word = items_of(run, workbench.session.datasets, "column").word
    choose(bench, owner, f"Selected {word} (2)", "Copy names")
    names = next(iter(workbench.session.datasets.values())).column_names
    assert QApplication.clipboard().text() == f"{names[2]}\n{names[0]}"


def test_a_named_selection_is_kept_with_the_session(bench, owner, monkeypatch):
    workbench, run = bench
    monkeypatch.setattr(selection_menu, "ask_text", lambda *_: " mine ")
    workbench.selection(run).set("row", (1, 2))
    choose(bench, owner, "Selected genes", "Keep under a name")
    kept = run.view_settings["selection"]
    assert kept["named"] == {"mine": ["row", [1, 2]]}
    workbench.selection(run).set("row", ())
    choose(bench, owner, "Select genes", "“mine” (2)")
    assert workbench.selection(run).get("row") == (1, 2)
    again = Selection()
    again.restore(kept)
    assert again.as_dict() == kept
    assert workbench.dirty
    workbench.editing.undo()
    assert workbench.selection(run).named == {}
    assert workbench.selection(run).get("row") == (1, 2)
    assert run.view_settings["selection"]["named"] == {}
    workbench.editing.redo()
    assert workbench.selection(run).named == {"mine": ("row", (1, 2))}


@pytest.mark.parametrize(
    "named", [{"a": 1}, {"a": ["row", [-1]]}, {"a": ["row", ["x"]]}, {"a": [3, [1]]}, {"a": ["row"]}, [1.5]]
)
def test_what_a_file_says_of_named_selections_is_checked(named):
    selection = Selection()
    selection.restore({"named": named})
    assert selection.named == {}


def test_items_without_data_are_not_offered(bench, owner):
    workbench, run = bench
    workbench.session.datasets.clear()
    menu = QMenu(owner)
    selection_menu.offer_selection(menu, workbench, run, owner)
    assert not menu.actions()
