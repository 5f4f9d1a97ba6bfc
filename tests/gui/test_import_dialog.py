"""The import dialog on real files: detection, choices, fixes, errors, annotations."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from gui_toys import settle
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QScrollArea

from plaidwork.core.data.importers import delimited
from plaidwork.gui.data import ImportDialog
from plaidwork.gui.data.import_state import ImportState, same
from plaidwork.gui.data.issue_list import LEAST, IssueRow
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import Label
from tests.walk import complaints


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def opened(qtbot, tmp_path):
    def open_(name: str, text: str | bytes) -> ImportDialog:
        path = tmp_path / name
        if isinstance(text, str):
            path.write_text(text, encoding="utf-8")
        else:
            path.write_bytes(text)
        dialog = ImportDialog(path)
        qtbot.addWidget(dialog)
        with qtbot.waitActive(dialog):
            dialog.show()
        ready(qtbot, dialog)
        return dialog

    return open_


def ready(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)
    QApplication.processEvents()  # rows made anew are laid out and shown


def finish(qtbot, dialog):
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.dataset


def pick(qtbot, dialog, name: str, text: str) -> None:
    """Choose in a combo box with the keyboard."""
    combo = dialog.options.field(name).editor
    combo.setFocus()
    combo.showPopup()
    view = combo.view()
    place = combo.findText(text)
    assert place >= 0, [combo.itemText(k) for k in range(combo.count())]
    view.setCurrentIndex(combo.model().index(place, 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    ready(qtbot, dialog)


GOOD = "gene,text,s1,s2,s3\n" + "".join(f"g{i},t{i},{i}.5,{i}.25,-{i}.125\n" for i in range(40))


def test_good_file_needs_one_click(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    assert dialog._note.text().startswith("40 rows and 5 columns found.")
    assert dialog.roles.texts == ["gene  row name", "text  label", "3 columns  measurements"]
    assert dialog._foot.text() == "Adds one matrix, 40 genes × 3 samples, to this session (about 960 B)"
    assert not dialog.options.field("delimiter").chip.isHidden()
    assert [row.accessibleName() for row in dialog.issues.rows] == ["No problem found in all rows. "]
    data = finish(qtbot, dialog)
    assert data.shape == (40, 3)
    assert (data.row_label, data.column_label, data.name) == ("genes", "samples", "good")
    np.testing.assert_array_equal(data.values[3], [3.5, 3.25, -3.125])
    assert list(data.row_table) == ["text"]


def test_enter_imports(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        qtbot.keyClick(dialog, Qt.Key.Key_Return)


def test_names_of_axes_and_matrix(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    for edit, text in ((dialog.name_edit, "mine"), (dialog.label_edits[0], "probes")):
        edit.setFocus()
        edit.selectAll()
        qtbot.keyClicks(edit, text)
    assert "40 probes × 3 samples" in dialog._foot.text()
    data = finish(qtbot, dialog)
    assert (data.name, data.row_label) == ("mine", "probes")


def test_other_separator_reads_again(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    pick(qtbot, dialog, "delimiter", "Tab")
    field = dialog.options.field("delimiter")
    assert field.chip.isHidden()
    assert not field.again.isHidden()
    assert not dialog.import_button.isEnabled()
    assert dialog._foot.color == "error"
    qtbot.mouseClick(field.again, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert dialog.import_button.isEnabled()
    assert not field.chip.isHidden()


def test_unclear_decimal_mark_has_to_be_chosen(qtbot, opened):
    text = "gene;a;b\n" + "".join(f"g{i};1,{100 + i};2,{200 + i}\n" for i in range(10))
    dialog = opened("unclear.csv", text)
    field = dialog.options.field("decimal")
    assert field.editor.currentIndex() == -1
    assert "can be" in field.error.text
    assert not dialog.import_button.isEnabled()
    assert dialog._foot.text().startswith("“Decimal mark” has to be chosen")
    pick(qtbot, dialog, "decimal", "Comma  1,25")
    assert field.error.text == ""
    data = finish(qtbot, dialog)
    assert data.values[0, 0] == 1.1


def test_decimal_comma_is_detected(qtbot, opened):
    dialog = opened("comma.csv", "id;a;b\n" + "".join(f"r{i};{i},5;{i},25\n" for i in range(9)))
    assert dialog.options.field("decimal").editor.currentText() == "Comma  1,25"
    assert finish(qtbot, dialog).values[2].tolist() == [2.5, 2.25]


BAD = "gene,a,b\n" + "".join(f"g{i},{i}.5,{'oops' if i == 25 else f'{i}.25'}\n" for i in range(60))


def test_bad_cell_stops_and_is_shown(qtbot, opened):
    dialog = opened("bad.csv", BAD)
    assert not dialog.import_button.isEnabled()
    row = dialog.issues.rows[0]
    assert "is no number" in row.accessibleName()
    assert row.box is not None
    assert not row.box.isChecked()
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    index = dialog.table.currentIndex()
    assert index.data() == "oops"
    assert dialog.table.visualRect(index).intersects(dialog.table.viewport().rect())
    qtbot.mouseClick(row.box, Qt.MouseButton.LeftButton, pos=row.box.rect().center())
    ready(qtbot, dialog)
    assert dialog.import_button.isEnabled()
    assert dialog.issues.rows[0].box.isChecked()
    assert "oops" in dialog.options.field("missing").editor.text()
    data = finish(qtbot, dialog)
    assert data.n_missing == 1
    assert np.isnan(data.values[25, 1])


def test_fix_can_be_taken_back(qtbot, opened):
    dialog = opened("bad.csv", BAD)
    for wanted in (True, False):
        qtbot.keyClick(dialog.issues.rows[0].box, Qt.Key.Key_Space)
        ready(qtbot, dialog)
        assert dialog.import_button.isEnabled() is wanted


def test_ragged_rows(qtbot, opened):
    dialog = opened("ragged.csv", GOOD + "g99,t,1.5\n")
    assert not dialog.import_button.isEnabled()
    assert "number of fields" in dialog.issues.rows[0].accessibleName()
    qtbot.keyClick(dialog.issues.rows[0].box, Qt.Key.Key_Space)
    ready(qtbot, dialog)
    assert finish(qtbot, dialog).shape == (40, 3)


def test_repeated_names_are_listed_before_they_are_numbered(qtbot, opened):
    dialog = opened("twice.csv", "gene,a,b\n" + "".join(f"g{min(i, 30)},{i}.5,1.25\n" for i in range(33)))
    row = next(row for row in dialog.issues.rows if "occurs more than once" in row.accessibleName())
    assert "“g30”: 3 times, rows 32, 33 and 34" in row.accessibleName()
    assert not row.box.isChecked()
    assert not dialog.import_button.isEnabled()
    qtbot.mouseClick(row.box, Qt.MouseButton.LeftButton, pos=row.box.rect().center())
    ready(qtbot, dialog)
    assert "log" not in dialog.state.given
    data = finish(qtbot, dialog)
    assert data.row_names[-2:] == ("g30 (2)", "g30 (3)")
    assert data.source.options["rename_duplicates"] is True


def test_number_changing_fix_is_offered_unticked(qtbot, opened):
    rng = np.random.default_rng(2)
    rows = "".join(
        f"g{i}," + ",".join(f"{v:.4f}" for v in np.exp(2 * rng.normal(size=4))) + "\n" for i in range(50)
    )
    dialog = opened("skewed.csv", "gene,a,b,c,d\n" + rows)
    row = next(row for row in dialog.issues.rows if "skewed" in row.accessibleName())
    assert not row.box.isChecked()
    qtbot.keyClick(row.box, Qt.Key.Key_Space)
    ready(qtbot, dialog)
    data = finish(qtbot, dialog)
    assert [step.name for step in data.steps] == ["log"]


def test_missing_tokens_are_typed(qtbot, opened):
    dialog = opened(
        "tokens.csv",
        "gene,a,b\n" + "".join(f"g{i},{i}.5,{'?' if i % 9 == 0 else '1.5'}\n" for i in range(40)),
    )
    edit = dialog.options.field("missing").editor
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "NA, ?")
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    ready(qtbot, dialog)
    assert dialog.import_button.isEnabled()
    assert finish(qtbot, dialog).n_missing == 5


def test_roles_by_menu(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    menu = dialog.roles.open_menu()
    sub = menu.actions()[2].menu()
    assert menu.actions()[2].text() == "s1"
    assert [a.text() for a in sub.actions() if a.isChecked()] == ["Use as measurements"]
    sub.actions()[3].trigger()
    menu.close()
    ready(qtbot, dialog)
    assert dialog.roles.texts[-2:] == ["s1  left out", "2 columns  measurements"]
    data = finish(qtbot, dialog)
    assert data.column_names == ("s2", "s3")


def test_samples_in_rows_by_radio(qtbot, opened):
    dialog = opened("good.csv", GOOD)
    buttons = dialog.options.field("samples_in").radios.buttons()
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton, pos=QPoint(8, buttons[0].height() // 2))
    ready(qtbot, dialog)
    assert dialog.state.given["samples_in"] == "rows"


def test_sample_classes(qtbot, opened, tmp_path):
    (tmp_path / "good_samples.csv").write_text("sample,class,age\ns3,A,5\ns1,B,7\nother,A,8\n")
    dialog = opened("good.csv", GOOD)
    assert dialog.classes.suggest_button.text() == "Use good_samples.csv"
    qtbot.mouseClick(dialog.classes.suggest_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.classes.annotations is not None)
    assert dialog.classes.match.text == "2 of 3 names match"
    assert dialog.classes.match.kind == "warn"
    data = finish(qtbot, dialog)
    assert list(data.column_table["class"]) == ["B", "", "A"]
    np.testing.assert_array_equal(data.column_table["age"], [7, np.nan, 5])


def test_classes_that_match_nothing(qtbot, opened, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("sample,class\nx,A\ny,B\n")
    dialog = opened("good.csv", GOOD)
    dialog.set_classes(other)
    qtbot.waitUntil(lambda: dialog.classes.annotations is not None)
    assert dialog.classes.match.text == "no name matches"
    qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.messages.count == 1, timeout=20_000)
    assert "No name of other.csv occurs in the data" in dialog.messages.current.title
    qtbot.mouseClick(dialog.classes.remove_button, Qt.MouseButton.LeftButton)
    assert finish(qtbot, dialog).column_table == {}


def test_npz_with_several_arrays(qtbot, tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, first=np.ones((4, 3)) / 3, second=np.zeros((6, 2)) + 0.5)
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    dialog.show()
    ready(qtbot, dialog)
    assert not dialog.import_button.isEnabled()
    combo = dialog.options.field("array").editor
    pick(qtbot, dialog, "array", combo.itemText(1))
    data = finish(qtbot, dialog)
    assert data.shape == (6, 2)


def test_late_error_keeps_the_dialog_and_shows_the_cell(qtbot, opened):
    from plaidwork.core.errors import DataError

    dialog = opened("good.csv.gz", gzip.compress(GOOD.encode()))

    class Broken:
        def read(self, path, options, progress):
            raise DataError(
                "good.csv.gz, row 31, column 4 “s2”: expected a number, found “bad”.", "Mend the cell."
            )

    reader, dialog._reader = dialog._reader, Broken()
    qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.messages.count == 1, timeout=20_000)
    assert "found “bad”" in dialog.messages.current.title
    assert dialog.messages.current.text == "Mend the cell."
    index = dialog.table.currentIndex()
    assert (index.row(), index.column()) == (29, 3)
    assert dialog.dataset is None
    dialog._reader = reader
    assert finish(qtbot, dialog).shape == (40, 3)


def test_reading_can_be_stopped(qtbot, opened, monkeypatch):
    dialog = opened("good.csv", GOOD)

    class Slow:
        def read(self, path, options, progress):
            import time

            for step in range(500):
                progress(step / 500)
                time.sleep(0.01)

    dialog._reader = Slow()
    qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog._bar.value() > 0, timeout=20_000)
    assert "Reading good.csv" in dialog._foot.text()
    assert dialog.cancel_button.text() == "Stop reading"
    qtbot.mouseClick(dialog.cancel_button, Qt.MouseButton.LeftButton)
    assert dialog.isVisible()
    assert dialog.import_button.isEnabled()
    assert dialog.cancel_button.text() == "Cancel"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert dialog.dataset is None


def test_unknown_format_and_empty_file(qtbot, opened):
    dialog = opened("thing.xyz", "1")
    assert "is of no format" in dialog._refusal.title
    assert not dialog.import_button.isEnabled()
    empty = opened("empty.csv", "")
    assert not empty.import_button.isEnabled()


def test_narrow(opened):
    assert opened("good.csv", GOOD).minimumSizeHint().width() <= 1000


def test_state_tells_zero_from_false():
    assert not same(0, False)
    assert same([1, 2], (1, 2))
    state = ImportState()
    assert state.obstacle == "Reading the head of the file"


LONG = "view,patient,gene,value\n" + "".join(
    f"{view},p{i},{view}{j},{i}.{j}\n" for view in ("rna", "meth") for i in range(5) for j in range(3)
)


def test_long_table_gives_a_matrix_for_each_view(qtbot, opened):
    dialog = opened("long.csv", LONG)
    field = dialog.options.field("layout")
    assert field.editor.currentText() == "One row per value"
    assert not field.chip.isHidden()
    assert dialog.options.field("feature").editor.currentText() == "Column “gene”"
    assert dialog._foot.text().startswith("Adds 2 matrices, rna, meth")
    assert dialog.roles.isHidden()
    finish(qtbot, dialog)
    assert [(data.name, data.shape) for data in dialog.datasets] == [("rna", (5, 3)), ("meth", (5, 3))]
    assert dialog.datasets[0].row_label == "patients"


def test_long_table_without_views(qtbot, opened):
    dialog = opened("long.csv", LONG)
    pick(qtbot, dialog, "view", "None: one matrix")
    assert dialog._foot.text().startswith("Adds one matrix, 5 patients × 6 features")
    pick(qtbot, dialog, "layout", "A matrix")
    assert not dialog.roles.isHidden()


def test_layer_of_an_annotated_file(qtbot, tmp_path):
    from annotated_files import write_h5ad

    names = {"names": ["a", "b", "c"], "batch": ["x", "y", "x"]}
    path = write_h5ad(tmp_path / "c.h5ad", np.eye(3), names, {"names": ["g", "h", "i"]}, twice=2 * np.eye(3))
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    dialog.show()
    ready(qtbot, dialog)
    assert [edit.text() for edit in dialog.label_edits] == ["samples", "features"]
    pick(qtbot, dialog, "layer", "Layer “twice”")
    data = finish(qtbot, dialog)
    assert data.values[1, 1] == 2
    assert list(data.row_table["batch"]) == ["x", "y", "x"]


def test_folder_of_images(qtbot, tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(8):
        folder = tmp_path / "digits" / f"digit {3 + 2 * (number % 2)}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (4, 5)).astype(np.uint8)).save(folder / f"{number}.png")
    dialog = ImportDialog(tmp_path / "digits")
    qtbot.addWidget(dialog)
    dialog.show()
    ready(qtbot, dialog)
    assert dialog._foot.text().startswith("Adds one matrix, 8 images × 20 pixels")
    data = finish(qtbot, dialog)
    assert data.image_shape == (4, 5)
    assert set(data.row_table["label"]) == {"digit 3", "digit 5"}


def test_while_the_head_is_read_nothing_is_called_detected(qtbot, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,a,b\nx,1.5,2\ny,2.5,3\n")
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    assert dialog.options.field("decimal").chip.isHidden()
    assert dialog.options.field("decimal").again.isHidden()
    assert dialog.table._empty == "Reading the file"
    ready(qtbot, dialog)
    assert not dialog.options.field("decimal").chip.isHidden()
    assert dialog.table._empty == "No rows to show"


def test_of_a_file_that_cannot_be_read_only_what_may_help_is_asked(qtbot, opened):
    dialog = opened("x.csv", "")
    qtbot.waitUntil(lambda: dialog.state.preview is not None)
    assert not dialog.options.field("delimiter").isHidden()
    assert all(dialog.options.field(name).isHidden() for name in ("sample", "feature", "value", "view"))


def test_what_is_said_of_a_finding_is_whole(qtbot, opened):
    """Beside a long message there is room for it in several lines only."""
    body = "".join(f"{i}.5,{i}.25,{3 + i % 3},{('train', 'test')[i // 20]}\n" for i in range(40))
    dialog = opened("wine.csv", f"acid,sugar,quality,set\n{body}")
    (row,) = dialog.issues.rows
    detail = next(label for label in row.findChildren(Label) if label.text().startswith("It is read as"))
    assert not detail.cut(detail.width())
    assert row.height() > LEAST
    assert complaints(dialog) == []


def test_of_a_packed_file_the_first_rows_are_shown(qtbot, opened, monkeypatch):
    """How many there are of a long one is known at its end only."""
    monkeypatch.setattr(delimited, "FULL_CHECK_BYTES", (1000, 1000))
    body = "".join(f"d{i // 20},w{(i * 7) % 997},{1 + i % 3}\n" for i in range(40_000))
    dialog = opened("counts.csv.gz", gzip.compress(f"doc,word,count\n{body}".encode()))
    assert dialog.pane._line.text().startswith("first ")
    assert dialog._note.text() == "Check how it was read; nothing is changed in your file."


@pytest.fixture
def twice(qapp):
    """Texts twice as large."""
    theme().set_text_scale(2.0)
    yield
    theme().set_text_scale(1.0)


def test_with_large_texts_it_fits_a_small_screen_and_nothing_is_cut(twice, opened):
    body = "".join(f"{i};{i},5;{2 * i},25;{i % 3},75;group {i % 2}\n" for i in range(1, 9))
    dialog = opened(
        "table.csv", f"Nr;Length;Weight;Density;Place\n;mm;kg;[g/cm³];\n{body}Summe;40,0;74,0;12,5;\n"
    )
    assert dialog.minimumSizeHint().width() <= 1024
    assert complaints(dialog) == []
    dialog.resize(1024, 640)
    QApplication.processEvents()
    chips = dialog.roles._chips
    assert chips.height() >= chips.heightForWidth(chips.width()), "all chips of the roles are seen"
    assert dialog.table.height() > 4 * size.ROW
    (scroll,) = dialog._left.findChildren(QScrollArea)
    assert scroll.widget().width() <= scroll.viewport().width(), "the settings are not cut at the right"
    for row in dialog.findChildren(IssueRow):
        drawn = row._icon.pixmap()
        assert drawn.width() / drawn.devicePixelRatio() <= row._icon.width()


@pytest.mark.parametrize(
    ("title", "words"),
    [("ProbeID", "probes"), ("patient_id", "patients"), ("Gene Symbol", "genes"), ("lipid", "lipids")],
)
def test_rows_are_called_after_what_is_named_not_after_the_kind_of_names(title, words):
    from plaidwork.core.data.importers import Preview

    shown = Preview(
        Path("x.csv"), (title, "a"), (), ("name", "value"), {"samples_in": "columns"}, frozenset()
    )
    assert ImportState(preview=shown).axis_labels() == (words, "samples")
