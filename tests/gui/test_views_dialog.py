"""The dialog for several files, driven by clicks and keys: report, fixes, roles, names, one file looked at closely."""

from __future__ import annotations

import numpy as np
import pytest
from annotated_files import write_h5mu
from gui_toys import settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from plaidwork.gui.data.import_dialog import ImportDialog
from plaidwork.gui.data.views_dialog import ViewsDialog

RNG = np.random.default_rng(2)
WAIT = 20_000


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


def names(prefix, *numbers):
    return [f"{prefix}{number}" for number in numbers]


@pytest.fixture
def file(tmp_path):
    def write(name, rows, columns, title="sample"):
        lines = [",".join([title, *columns])]
        lines += [",".join([row, *map(str, RNG.normal(size=len(columns)).round(3))]) for row in rows]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def opened(qtbot):
    def open_(*paths):
        dialog = ViewsDialog(paths)
        qtbot.addWidget(dialog)
        dialog.show()
        ready(qtbot, dialog)
        return dialog

    return open_


def ready(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog.busy() and not dialog._typing.isActive(), timeout=WAIT)
    QApplication.processEvents()


def finish(qtbot, dialog):
    with qtbot.waitSignal(dialog.accepted, timeout=WAIT):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.datasets


def choose(qtbot, row, value):
    """Choose what a file is used for, with the keyboard."""
    view = row.use.view()
    row.use.showPopup()
    view.setCurrentIndex(row.use.model().index(row.use.findData(value), 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)


def test_two_views_and_a_table_need_one_click(qtbot, opened, file, tmp_path):
    people = tmp_path / "samples.csv"
    people.write_text("sample,sex\n" + "".join(f"s{i},m\n" for i in range(8)))
    dialog = opened(
        file("rna.csv", names("s", *range(6)), ["a", "b"]),
        people,
        file("prot.csv", names("s", 4, 5, 6), ["c"]),
    )
    assert dialog._note.text().startswith("7 samples, 2 of them with values in every view")
    assert [row.use.currentData() for row in dialog.rows] == ["view", "table", "view"]
    assert dialog.rows[0].line.text() == "6 samples × 2 features; 4 only here: s0, s1, s2, …"
    assert dialog.rows[1].line.text() == "1 column about samples; 7 of 8 names match"
    assert dialog._foot.text().startswith("Adds 2 views of 7 samples, 2 of them in every view")
    assert [view.name for view in dialog.picture.overview.views] == ["rna", "prot"]
    assert [row.accessibleName() for row in dialog.issues.rows] == ["No problem found in the files. "]
    rna, prot = finish(qtbot, dialog)
    assert (rna.name, prot.name) == ("rna", "prot")
    assert list(prot.row_table["sex"]) == ["m", "m", "m"]


def test_alike_names_are_joined_by_a_tick(qtbot, opened, file):
    dialog = opened(file("a.csv", ["T-01", "T-02", "x"], ["g"]), file("b.csv", ["t.01", "T.02", "x"], ["h"]))
    (row,) = dialog.issues.rows
    assert row.accessibleName().startswith("2 names differ in spelling only. “t.01” in b and “T-01”")
    assert not row.box.isChecked()
    assert "5 samples, 1 of them" in dialog._foot.text()
    row.box.setFocus()
    qtbot.keyClick(row.box, Qt.Key.Key_Space)
    ready(qtbot, dialog)
    assert "3 samples, 3 of them" in dialog._foot.text()
    assert dialog.issues.rows[0].box.isChecked()
    assert finish(qtbot, dialog)[1].row_names == ("T-01", "T-02", "x")


def test_a_turned_view_can_be_turned_back(qtbot, opened, file):
    one = file("a.csv", names("s", *range(5)), names("g", *range(9)))
    two = file("b.csv", names("h", *range(7)), names("s", *range(5)), title="gene")
    dialog = opened(one, two)
    assert "turned" in dialog.rows[1].line.text()
    assert dialog.import_button.isEnabled()
    box = dialog.issues.rows[0].box
    assert box.isChecked()
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    ready(qtbot, dialog)
    assert not dialog.import_button.isEnabled()
    assert dialog._foot.text() == "a has no sample in common with the other views"
    assert dialog._foot.color == "error"


def test_a_file_can_be_left_out(qtbot, opened, file):
    dialog = opened(file("a.csv", names("s", 1, 2), ["g"]), file("b.csv", names("t", 1, 2), ["h"]))
    assert not dialog.import_button.isEnabled()
    choose(qtbot, dialog.rows[1], "")
    ready(qtbot, dialog)
    assert dialog.rows[1].line.text() == "Left out"
    assert dialog._foot.text().startswith("Adds one matrix, 2 samples × 1 feature,")
    assert [data.name for data in finish(qtbot, dialog)] == ["a"]


def test_a_file_that_cannot_be_read_is_mended_in_its_own_dialog(qtbot, opened, file, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("sample,x,y\ns1,1.5,2\ns2,oops,3\n")
    dialog = opened(file("a.csv", names("s", 1, 2), ["g"]), bad)
    assert (
        dialog._foot.text()
        == "bad.csv, row 3, column 2 “x”: expected a number with a decimal point, found “oops”"
    )
    qtbot.mouseClick(dialog.rows[1].options_button, Qt.MouseButton.LeftButton)
    inner = dialog.findChild(ImportDialog)
    qtbot.waitUntil(lambda: not inner.busy(), timeout=WAIT)
    QApplication.processEvents()
    box = next(row.box for row in inner.issues.rows if row.box is not None)
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not inner.busy() and inner.import_button.isEnabled(), timeout=WAIT)
    with qtbot.waitSignal(inner.accepted, timeout=WAIT):
        qtbot.mouseClick(inner.import_button, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert np.isnan(finish(qtbot, dialog)[1].values[1, 0])


def test_views_get_other_names(qtbot, opened, tmp_path):
    mods = {
        "rna": (np.eye(3), {"names": names("s", 1, 2, 3)}, {"names": names("g", 1, 2, 3)}),
        "atac": (np.eye(2), {"names": names("s", 2, 3)}, {"names": names("k", 1, 2)}),
    }
    dialog = opened(write_h5mu(tmp_path / "m.h5mu", mods, {"names": names("s", 1, 2, 3)}))
    (row,) = dialog.rows
    assert [edit.text() for edit in row.edits] == ["rna", "atac"]
    row.edits[1].setFocus()
    row.edits[1].selectAll()
    qtbot.keyClicks(row.edits[1], "open")
    ready(qtbot, dialog)
    assert [data.name for data in finish(qtbot, dialog)] == ["rna", "open"]


def test_escape_adds_nothing(qtbot, opened, file):
    dialog = opened(file("a.csv", names("s", 1, 2), ["g"]), file("b.csv", names("s", 1, 2), ["h"]))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert dialog.datasets == []


def test_features_that_tell_nothing_are_named_before_the_import(qtbot, opened, file, tmp_path):
    flat = tmp_path / "flat.csv"
    flat.write_text("sample,same,gone,free\n" + "".join(f"s{i},5,,{i / 7:.3f}\n" for i in range(6)))
    dialog = opened(file("rna.csv", names("s", *range(6)), ["a", "b"]), flat)
    assert [row.accessibleName() for row in dialog.issues.rows] == [
        "flat: of 3 features 1 never varies and 1 has no value. They stay in the data, and tell no samples apart"
    ]
    assert dialog.import_button.isEnabled()
