"""Labels of the data, names that the user gives, and parts of an axis: told alike in every view."""

import csv

import numpy as np
import pytest
from asked import answering
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.session.exporting import export_run
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui.data import DataPage
from plaidwork.gui.data.label_choice import propose_labels
from plaidwork.gui.data.values_table import values_table
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.results.name_edit import NameEdit
from plaidwork.gui.session_tree import RUN
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from tests.gui.result_runs import VIEWS, block_results, make_dataset, make_run

SCORES = View("scatter", "Scores", {"values": "scores"})
TOGETHER = View("heatmap", "Together", {"values": "shared"}, options={"order": "by block"})
SHIFTS = View("coefficients", "Shifts", {"values": "member_weights"})
LISTED = View("table", "Blocks", {"values": "block_table"}, headline="told")


def typed(text):
    """An answer to a dialog that asks for a line of text."""

    def answer(dialog):
        field = dialog.findChild(QLineEdit)
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        return True

    return answer


def name_edit(page):
    """The line on which a name is edited where it stands."""
    return page.window().findChild(NameEdit)


@pytest.fixture
def bench():
    """Blocks in genes with symbols, of which some are known twice and one not at all."""
    dataset, rows, columns = make_dataset()
    symbols = np.array([f"SYM{i}" for i in range(40)], dtype=object)
    symbols[7], symbols[9], symbols[11] = "TP53", "TP53", ""
    dataset = dataset.with_(row_table={"symbol": symbols}, row_shown_by="symbol")
    results = block_results(dataset, rows, columns)
    some = np.arange(0, 20)
    names = np.array(dataset.row_names)[some]
    results["told"] = "Block 2 is the clearest of 3"
    results["scores"] = Result(results["column_probability"].values.T, ("column", "block"), label="Score")
    results["member_weights"] = Result(results["row_probability"].values, ("block", "row"), label="Weight")
    results["some_genes"] = Result(names, ("some_genes",), doc="those most often in a block")
    shared = np.clip(np.add.outer(some, some) / 40, 0, 1)
    results["shared"] = Result(shared, ("some_genes", "some_genes"), label="Co-membership")
    return make_run(dataset, results)


def test_labels_are_shown_and_names_still_found(bench, opened):
    _workbench, _run = bench
    page = opened(bench, SHIFTS)
    names = next(iter(page.loaded.table.values()))
    assert {"SYM0", "TP53 (gene 8)", "TP53 (gene 10)", "gene 12"} <= set(names.tolist())
    assert "gene 1" not in names
    assert page.search("gene 1")[:1]  # the name is still found
    heat = opened(bench, TOGETHER)
    assert heat.loaded.panels[0].y.names[:2] == ("SYM0", "SYM1")
    blocks = opened(bench, VIEWS[0])
    assert blocks.blocks.data.row_names[0] == "SYM0"
    assert "SYM2" in blocks.search("gene 3")


def test_a_part_of_an_axis_is_told(bench, opened):
    page = opened(bench, TOGETHER)
    assert "20 of 40 genes, those most often in a block" in page._caption.text()
    assert page._notes.text() == "20 × 20, by block"


def test_a_renamed_block_has_its_name_in_every_view_and_after_reopening(bench, opened, qtbot, tmp_path):
    workbench, _run = bench
    scores, table, shifts = (opened(bench, view) for view in (SCORES, LISTED, SHIFTS))
    shifts.choose("factor", "1")
    assert shifts.wait(20_000)
    assert shifts.found_item() == ("block", 1)
    shifts.rename_item()
    edited = name_edit(shifts)
    assert edited.geometry().contains(
        shifts.control("factor").mapTo(shifts.window(), shifts.control("factor").rect().center())
    )
    edited.setText("Cell cycle")
    qtbot.keyClick(edited, Qt.Key.Key_Return)
    for page in (scores, table, shifts):
        qtbot.waitUntil(lambda page=page: not page.busy)
    assert scores.control("x").findText("Cell cycle") == 1
    assert shifts.control("factor").findText("Cell cycle") == 2
    assert list(table.loaded.columns["Block"]) == ["Block 1", "Cell cycle", "Block 3"]
    assert table._headline.text() == "Cell cycle is the clearest of 3"
    workbench.session.save(tmp_path / "kept.plaidwork")
    again = open_session(tmp_path / "kept.plaidwork")
    stored = next(iter(again.runs.values()))
    assert stored.item_names == {"block": {"1": "Cell cycle"}}
    export_run(stored, tmp_path / "out", again)
    lines = list(csv.reader((tmp_path / "out/results/member_weights.csv").open()))
    assert lines[0][:2] == ["name", "SYM0"]
    assert lines[2][0] == "Cell cycle"
    labels = list(csv.reader((tmp_path / "out/labels/toy.rows.csv").open()))
    assert labels[:2] == [["name", "shown"], ["gene 1", "SYM0"]]


def test_an_empty_name_brings_the_one_of_the_model_back(bench, opened, qtbot):
    workbench, run = bench
    page = opened(bench, SCORES)
    workbench.name_item(run, "block", 0, "first")
    qtbot.waitUntil(lambda: page.control("x").itemText(0) == "first")
    workbench.selection(run).set("layer", (0,))
    page.rename_item()
    name_edit(page).clear()
    qtbot.keyClick(name_edit(page), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.control("x").itemText(0) == "block 1")
    assert run.item_names["block"] == {}


def test_names_of_the_data_are_not_the_users_to_give(bench):
    workbench, run = bench
    workbench.name_item(run, "row", 0, "mine")
    assert run.item_names == {}


def test_labels_are_chosen_on_the_data_page_for_every_view(opened, qtbot):
    dataset, rows, columns = make_dataset()
    table = {
        "symbol": np.array([f"SYM{i}" for i in range(40)], dtype=object),
        "chromosome": np.array([f"chr{i % 3}" for i in range(40)], dtype=object),
    }
    bench = make_run(dataset.with_(row_table=table), block_results(dataset, rows, columns))
    workbench, _ = bench
    blocks = opened(bench, VIEWS[0])
    assert blocks.blocks.data.row_names[0] == "gene 1"
    page = DataPage(workbench, "toy")
    qtbot.addWidget(page)
    page.show()
    page.switch.set_current("rows")
    page.show_part("rows")
    combo = page.findChild(QComboBox, "shown_by_rows")
    assert [combo.itemText(i) for i in range(combo.count())] == ["their names", "symbol"]
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    assert workbench.session.datasets["toy"].row_shown_by == "symbol"
    assert workbench.dirty
    qtbot.waitUntil(lambda: blocks.blocks.data.row_names[0] == "SYM0")
    table = values_table(page.dataset)
    qtbot.addWidget(table)
    assert table.model().value(0, 0) == "SYM0"


def test_symbols_are_proposed_after_an_import_and_numbers_are_not(qtbot):
    workbench = make_run(*_plain())[0]
    asked = []
    workbench.message_posted.connect(asked.append)
    ids = np.array([str(i) for i in range(40)], dtype=object)
    long = np.array([f"the gene of number {i} in the list" for i in range(40)], dtype=object)
    dataset = make_dataset()[0].with_(name="new", row_table={"number": ids, "words": long})
    propose_labels(workbench, workbench.add_dataset(dataset))
    assert not asked
    symbols = np.array([f"SYM{i // 2 * 2 if i < 4 else i}" for i in range(40)], dtype=object)
    dataset = dataset.with_(name="newer", row_table={"words": long, "symbol": symbols})
    propose_labels(workbench, workbench.add_dataset(dataset))
    assert asked[0].title == "Show genes by “symbol”?"
    asked[0].actions[0][1]()
    assert workbench.session.datasets["newer"].row_shown_by == "symbol"


def _plain():
    dataset, rows, columns = make_dataset()
    return dataset, block_results(dataset, rows, columns)


def test_f2_names_what_is_chosen_in_front_and_else_the_run(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    workbench, run = make_run(*_plain())
    window = MainWindow(workbench, Settings(tmp_path / "config"))
    try:
        window.show()
        window.show_session()
        window.tree.select(RUN, run.id)
        window.show_item(RUN, run.id)
        page = window.workspace.current_page()
        qtbot.waitUntil(lambda: getattr(page, "loaded", None) is not None and not page.busy)
        page.setFocus()
        assert page.found_item() is None
        with answering(typed("The run")):
            qtbot.keyClick(window, Qt.Key.Key_F2)
        assert run.title == "The run"
        workbench.selection(run).set("layer", (2,))
        if page._panel is not None:
            page._panel.hide()
        window.commands.rename()
        name_edit(page).setText("Cell cycle")
        qtbot.keyClick(name_edit(page), Qt.Key.Key_Return)
        assert run.title == "The run"
        assert run.item_names == {"block": {"2": "Cell cycle"}}
        window.tree.setFocus()
        monkeypatch.setattr(type(window.tree), "hasFocus", lambda self: True)
        with answering(typed("Another")):
            window.commands.rename()  # the run that is chosen in the list
        assert run.title == "Another"
    finally:
        wait_for_tasks()
        workbench.set_session(Session())
        window.close()
        window.deleteLater()
