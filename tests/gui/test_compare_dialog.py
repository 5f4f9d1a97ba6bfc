"""Runs beside each other in the window: what is ticked is compared in the background, and can be exported."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from plaidwork.gui.results.compare_dialog import PAIRS, SCORES, SETTINGS, CompareDialog
from tests.core.views.test_comparing import two_runs


@pytest.fixture
def dialog(qtbot):
    session, runs = two_runs()
    made = CompareDialog(session, [run.id for run in runs])
    made.show()
    done(qtbot, made)
    yield made
    made.close()


def done(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog.busy() and not dialog._soon.isActive(), timeout=20_000)


def go_to(qtbot, dialog, part):
    dialog.part.set_current(part)
    dialog.part.changed.emit(part)
    done(qtbot, dialog)


def test_what_both_found_comes_first(dialog):
    assert dialog.headline.text() == "3 of 3 factors of Finder 1 found again in Finder 2"
    assert dialog.picture is not None
    assert dialog.export_button.isEnabled()


def test_each_part_is_shown(dialog, qtbot):
    go_to(qtbot, dialog, PAIRS)
    assert len(dialog.picture.panels) == 3
    go_to(qtbot, dialog, SCORES)
    assert dialog.picture is None
    assert dialog.pane.title == "No scores"
    go_to(qtbot, dialog, SETTINGS)
    columns = dialog.table.model.columns()
    assert list(columns) == ["", "Finder 1", "Finder 2"]
    assert "Width" in list(columns[""])
    assert not dialog.export_button.isEnabled()


def test_what_is_ticked_decides(dialog, qtbot):
    dialog.runs.item(1).setCheckState(Qt.CheckState.Unchecked)
    done(qtbot, dialog)
    assert dialog.pane.title == "Nothing to compare yet"
    chains = [row for row in range(dialog.runs.count()) if "chain" in dialog.runs.item(row).text()]
    assert len(chains) == 4  # two of each run
    dialog.runs.item(1).setCheckState(Qt.CheckState.Checked)
    done(qtbot, dialog)
    assert dialog.picture is not None


def test_of_one_run_its_chains_are_ticked(qtbot):
    session, runs = two_runs()
    dialog = CompareDialog(session, [runs[0].id])
    assert dialog.chosen == [(runs[0].id, 0), (runs[0].id, 1)]
    done(qtbot, dialog)  # it has no draws, so nothing that could be paired
    assert dialog.pane.title == "Nothing to pair"
    dialog.close()


def test_what_a_search_knows_stands_beside(qtbot):
    session, runs = two_runs()
    table = {"": ["Log density"], "Fit 1": ["-3"], "Fit 2": ["-4"]}
    dialog = CompareDialog(session, [run.id for run in runs], None, table)
    go_to(qtbot, dialog, SETTINGS)
    assert list(dialog.table.model.columns()) == ["", "Fit 1", "Fit 2"]
    dialog.close()


def test_the_picture_in_front_is_exported(dialog, monkeypatch):
    from plaidwork.gui.results import compare_dialog

    asked = []

    class Asked:
        def __init__(self, picture, proposed, origin, parent):
            asked.append((picture, str(proposed)))

        def open(self):
            pass

    monkeypatch.setattr(compare_dialog, "PaperDialog", Asked)
    dialog.export()
    assert asked == [(dialog.picture, "Compared_comparison_agreement")]


def test_the_numbers_of_chains_can_be_read(qtbot):
    """They stand at the end of a line that begins with the title of the run."""
    session, runs = two_runs()
    runs[0].title = "Binary principal components 12"
    dialog = CompareDialog(session, [runs[0].id])
    qtbot.addWidget(dialog)
    dialog.show()
    done(qtbot, dialog)
    assert dialog.runs.sizeHintForColumn(0) <= dialog.runs.viewport().width()
    assert dialog.runs.item(2).toolTip() == "Binary principal components 12, chain 1"
