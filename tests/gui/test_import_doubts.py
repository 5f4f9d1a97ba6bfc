"""The import dialog with every kind of doubt: told with its places, mended by a click, taken back by another."""

from __future__ import annotations

import numpy as np
import pytest
from annotated_files import write_h5ad
from gui_toys import settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.reading import builtin_readers
from plaidwork.core.data.reading_options import checked_options, options_of
from plaidwork.gui.data import ImportDialog
from plaidwork.gui.data.import_options import OptionsPanel
from plaidwork.gui.data.role_chips import RoleChip
from plaidwork.gui.data.values_model import ValuesModel
from plaidwork.gui.language import set_language
from plaidwork.gui.theme import theme


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def opened(qtbot, tmp_path):
    def open_(name: str, text: str = "") -> ImportDialog:
        path = tmp_path / name
        if text:
            path.write_text(text, encoding="utf-8")
        dialog = ImportDialog(path)
        qtbot.addWidget(dialog)
        with qtbot.waitActive(dialog):
            dialog.show()
        ready(qtbot, dialog)
        return dialog

    return open_


def ready(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=20_000)
    QApplication.processEvents()


def row_of(dialog, text):
    (found,) = [row for row in dialog.issues.rows if text in row.accessibleName()]
    return found


def click(qtbot, dialog, box) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center())
    ready(qtbot, dialog)


def pick(qtbot, dialog, name: str, text: str) -> None:
    combo = dialog.options.field(name).editor
    combo.setFocus()
    combo.showPopup()
    combo.view().setCurrentIndex(combo.model().index(combo.findText(text), 0))
    qtbot.keyClick(combo.view(), Qt.Key.Key_Return)
    ready(qtbot, dialog)


def imported(qtbot, dialog):
    with qtbot.waitSignal(dialog.accepted, timeout=20_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.dataset


TEXTS = "id;a;b\n" + "".join(
    f"s{i};{'n.d.' if i in (3, 7) else f'{i},5'};{'<0,05' if i == 4 else f'{i},25'}\n" for i in range(12)
)


def test_every_text_becomes_missing_by_one_click(qtbot, opened, tmp_path):
    dialog = opened("texts.csv", TEXTS)
    assert not dialog.import_button.isEnabled()
    first = row_of(dialog, "2 cells with “n.d.” are no numbers")
    assert first.box.text() == "Treat as missing"
    click(qtbot, dialog, first.box)
    assert not dialog.import_button.isEnabled()
    click(qtbot, dialog, row_of(dialog, "1 cell with “<0,05” is no number").box)
    assert dialog.import_button.isEnabled()
    assert row_of(dialog, "“n.d.”").box.isChecked(), "the second does not take the place of the first"
    click(qtbot, dialog, row_of(dialog, "“n.d.”").box)
    assert not dialog.import_button.isEnabled()
    click(qtbot, dialog, row_of(dialog, "“n.d.”").box)
    data = imported(qtbot, dialog)
    assert data.n_missing == 3
    assert {"n.d.", "<0,05"} <= set(data.source.options["missing"])
    assert read_dataset(tmp_path / "texts.csv", data.source.options).digest() == data.digest()


def test_a_text_with_a_comma_can_be_typed_as_missing(qtbot, opened):
    dialog = opened("texts.csv", TEXTS)
    line = dialog.options.field("missing").editor
    line.setFocus()
    line.setText('usual, n.d., "<0,05"')
    qtbot.keyClick(line, Qt.Key.Key_Tab)
    ready(qtbot, dialog)
    assert imported(qtbot, dialog).n_missing == 3


def test_percent_signs_have_two_readings(qtbot, opened):
    dialog = opened("p.tsv", "id\ta\tb\nx\t50 %\t1 234,5\ny\t12,5 %\t2 345,5\n")
    assert not dialog.import_button.isEnabled()
    click(qtbot, dialog, row_of(dialog, "percent sign").other_box)
    row = row_of(dialog, "percent sign")
    assert (row.box.isChecked(), row.other_box.isChecked()) == (False, True)
    click(qtbot, dialog, row.box)
    row = row_of(dialog, "percent sign")
    assert (row.box.isChecked(), row.other_box.isChecked()) == (True, False)
    click(qtbot, dialog, row_of(dialog, "a blank between groups").box)
    data = imported(qtbot, dialog)
    assert data.values.tolist() == [[50, 1234.5], [12.5, 2345.5]]
    assert (data.source.options["percent"], data.source.options["thousands"]) == ("number", " ")


def test_places_open_as_a_list(qtbot, opened):
    dialog = opened("texts.csv", TEXTS)
    row = row_of(dialog, "“n.d.”")
    assert row.places.isHidden()
    qtbot.mouseClick(row.list_button, Qt.MouseButton.LeftButton)
    assert row.places.text() == "row 5, column 2 “a”: “n.d.”\nrow 9, column 2 “a”: “n.d.”"
    assert row.places.isVisible()
    qtbot.mouseClick(row.list_button, Qt.MouseButton.LeftButton)
    assert row.places.isHidden()


def test_the_cell_of_a_doubt_is_found_behind_empty_lines(qtbot, opened):
    dialog = opened("gaps.csv", "id,a,b\n\n\nx,1.5,2\n\ny,oops,3\nz,2.5,4\n")
    qtbot.mouseClick(row_of(dialog, "“oops”"), Qt.MouseButton.LeftButton)
    assert dialog.table.currentIndex().data() == "oops"


def test_numbers_that_cannot_be_represented_wait_for_a_choice(qtbot, opened):
    dialog = opened("n.csv", "id,a,b\nx,9007199254740993,1.5\ny,2,1E-400\nz,3,1e400\n")
    for words in ("more digits", "too close to zero", "too large"):
        row = row_of(dialog, words)
        assert not row.box.isChecked()
    click(qtbot, dialog, row_of(dialog, "more digits").box)
    click(qtbot, dialog, row_of(dialog, "too large").box)
    assert dialog.import_button.isEnabled()
    np.testing.assert_array_equal(imported(qtbot, dialog).values, [[2.0**53, 1.5], [2, 0], [3, np.nan]])


def test_one_tick_mends_what_the_same_option_mends(qtbot, opened):
    dialog = opened("twice.csv", "gene,s,s\ng,1.5,2\ng,2.5,3\nh,3.5,4\n")
    click(qtbot, dialog, row_of(dialog, "1 row name occurs").box)
    assert row_of(dialog, "1 column name occurs").box.isChecked()
    click(qtbot, dialog, row_of(dialog, "1 column name occurs").box)
    assert not row_of(dialog, "1 row name occurs").box.isChecked()
    assert not dialog.import_button.isEnabled()


def test_a_sheet_is_picked(qtbot, opened, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    workbook = openpyxl.Workbook()
    for name, factor in (("First", 1), ("Second", 10)):
        sheet = workbook.create_sheet(name)
        for row in (("id", "a", "b"), ("x", 1.5 * factor, 2), ("y", 2.5, 3)):
            sheet.append(row)
    workbook.save(tmp_path / "book.xlsx")
    dialog = opened("book.xlsx")
    assert "“Sheet” has to be chosen" in dialog._foot.text()
    assert not dialog.import_button.isEnabled()
    pick(qtbot, dialog, "sheet", "Second")
    data = imported(qtbot, dialog)
    assert data.values[0, 0] == 15
    assert data.source.options["sheet"] == "Second"


def test_images_are_scaled_or_cropped_and_colours_kept(qtbot, opened, tmp_path):
    from PIL import Image

    (tmp_path / "pictures").mkdir()
    for number, size in enumerate([(4, 6), (4, 6), (5, 6)]):
        pixels = np.random.default_rng(number).integers(0, 256, (*size, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{number}.png")
    dialog = opened("pictures")
    assert not dialog.import_button.isEnabled()
    size = dialog.options.field("size").editor
    size.setFocus()
    size.setText("3 x 3")
    qtbot.keyClick(size, Qt.Key.Key_Tab)
    ready(qtbot, dialog)
    assert dialog.import_button.isEnabled()
    pick(qtbot, dialog, "resize", "Crop around the middle")
    assert size.text() == "3 × 3"
    pick(qtbot, dialog, "colour", "Red, green and blue")
    data = imported(qtbot, dialog)
    assert data.shape == (3, 27)
    options = {name: data.source.options[name] for name in ("resize", "size", "colour")}
    assert options == {"resize": "crop", "size": [3, 3], "colour": "colour"}


@pytest.mark.parametrize("reader", [reader.id for reader in builtin_readers()])
def test_every_declared_option_has_a_field_and_no_other(qtbot, reader):
    panel = OptionsPanel()
    qtbot.addWidget(panel)
    panel.set_reader(reader)
    assert panel.all_names == {option.name for option in options_of(reader)}


def test_further_options_reach_the_data(qtbot, opened):
    dialog = opened("plain.csv", "title of the table\nid,a,b,c\nx,1.5,2,u\ny,2.5,2,v\nz,,2,u\n")
    assert not dialog.options.fold.is_open
    qtbot.mouseClick(dialog.options.fold.head, Qt.MouseButton.LeftButton)
    for name, typed in (("skip_rows", "1"), ("skip", "c")):
        line = dialog.options.field(name).editor
        line.setFocus()
        line.setText(typed)
        qtbot.keyClick(line, Qt.Key.Key_Tab)
        ready(qtbot, dialog)
    for name in ("drop_constant_columns", "transpose"):
        click(qtbot, dialog, dialog.options.field(name).editor)
    pick(qtbot, dialog, "kind", "Real numbers")
    assert checked_options("delimited", dialog.state.given) == dialog.state.given
    data = imported(qtbot, dialog)
    assert (data.row_names, data.column_names) == (("a", "b"), ("x", "y"))
    assert data.kind == "real"


def test_only_one_column_is_read(qtbot, opened):
    dialog = opened(
        "classes.csv", "id,class,note\n" + "".join(f"s{i},{'uv'[i % 2]},n{i}\n" for i in range(6))
    )
    assert not dialog.import_button.isEnabled(), "no column of numbers"
    dialog.options.fold.set_open()
    pick(qtbot, dialog, "column", "Column “class”")
    assert row_of(dialog, "Only column 2 “class” is read, as labels: 2 classes")
    data = imported(qtbot, dialog)
    assert (data.kind, data.categories, data.shape) == ("categorical", ("u", "v"), (6,))


def test_a_file_of_labels_alone_is_one_column(qtbot, opened):
    dialog = opened("classes.csv", "id,class\n" + "".join(f"s{i},{'uv'[i % 2]}\n" for i in range(6)))
    assert row_of(dialog, "Only column 2 “class” is read, as labels: 2 classes")
    assert dialog.state.adds(dialog.state.axis_labels()).startswith("Adds one column, of 6 ")
    data = imported(qtbot, dialog)
    assert (data.kind, data.categories, data.shape) == ("categorical", ("u", "v"), (6,))


def test_a_line_that_is_not_understood_says_so(qtbot, opened):
    dialog = opened("plain.csv", "id,a,b\nx,1.5,2\ny,2.5,3\n")
    field = dialog.options.field("skip_rows")
    dialog.options.fold.set_open()
    field.editor.setFocus()
    field.editor.setText("two")
    qtbot.keyClick(field.editor, Qt.Key.Key_Tab)
    assert "“two” is not understood" in field.error.text
    assert "skip_rows" not in dialog.state.given


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_nothing_is_cut_off_in_a_low_window(qtbot, opened, mode):
    theme().set_mode(mode)
    dialog = opened("texts.csv", TEXTS)
    dialog.resize(1024, 640)
    QApplication.processEvents()
    assert (dialog.width(), dialog.height()) == (1024, 640)
    for row in dialog.issues.rows:
        assert row.height() >= row.sizeHint().height()
        for box in filter(None, (row.box, row.other_box)):
            assert row.rect().contains(box.geometry())
            assert box.width() >= box.sizeHint().width()
    dialog.options.fold.set_open()
    settle()
    scroll = dialog._left.findChild(QScrollArea)
    assert scroll.widget().width() <= scroll.viewport().width(), "the left side is cut off at its right"
    area = dialog.pane._issue_scroll
    assert area.verticalScrollBar().maximum() >= dialog.issues.height() - area.viewport().height()


def test_units_and_totals_are_left_out_by_a_click_each(qtbot, opened):
    body = "".join(f"P{i};{i},5;{2 * i},25\n" for i in range(12))
    dialog = opened("messung.csv", f"Probe;Länge;Gewicht\n;mm;kg\n{body}Summe;72,0;135,0\n")
    assert not dialog.import_button.isEnabled()
    click(qtbot, dialog, row_of(dialog, "Row 2 holds units").box)
    assert dialog.import_button.isEnabled(), "a total is told, and stays unless it is left out"
    click(qtbot, dialog, row_of(dialog, "1 row seems to sum up others").box)
    assert imported(qtbot, dialog).row_names == tuple(f"P{i}" for i in range(12))


def test_a_dense_matrix_of_an_annotated_file_may_stay_there(qtbot, opened, tmp_path):
    rows, columns = ({"names": [f"{word}{i}" for i in range(size)]} for word, size in (("s", 6), ("g", 4)))
    values = np.random.default_rng(1).normal(size=(6, 4)).astype("f4")
    dialog = opened(write_h5ad(tmp_path / "x.h5ad", values, rows, columns))
    qtbot.mouseClick(dialog.options.fold.head, Qt.MouseButton.LeftButton)
    pick(qtbot, dialog, "values_in", "Their file")
    data = imported(qtbot, dialog)
    assert data.stays
    assert np.array_equal(data.in_file.rows(0, 6), values)


DATES = "id,seen,a\n" + "".join(f"s{i},{1 + i % 9}/{2 + i % 7}/2024,{i}.5\n" for i in range(12))


def test_dates_become_years_by_one_click_and_what_comes_first_is_asked(qtbot, opened):
    dialog = opened("d.csv", DATES)
    row = row_of(dialog, "1 column holds dates")
    assert (row.box.text(), row.other_box.text()) == ("The day: read as years", "The month: read as years")
    click(qtbot, dialog, row.other_box)
    assert dialog.options.field("dates").editor.currentText() == "Years, the month comes first"
    data = imported(qtbot, dialog)
    assert data.column_names == ("seen", "a")
    assert data.values[0, 0] == pytest.approx(2024 + 1 / 366)


SOLD = "Month,sold\n" + "".join(f"{1949 + k // 12}-{k % 12 + 1:02d},{k % 7}.5\n" for k in range(36))


def test_dates_beside_amounts_are_years_which_one_click_undoes(qtbot, opened):
    dialog = opened("sold.csv", SOLD)
    dates = dialog.options.field("dates")
    assert (dates.editor.currentText(), dates.chip.isHidden()) == ("Years with decimals", False)
    row = row_of(dialog, "Column 1 “Month” holds dates and is read as years")
    assert row.box.text() == "Use the dates as names of the rows"
    click(qtbot, dialog, row.box)
    assert dialog.state.preview.roles == ("name", "value")
    assert dates.editor.currentText() == "Labels, or names of the rows"
    click(qtbot, dialog, row_of(dialog, "is read as years").box)
    assert dialog.state.preview.roles == ("value", "label"), "taken back"
    click(qtbot, dialog, row_of(dialog, "is read as years").box)
    click(qtbot, dialog, row_of(dialog, "1 column holds dates").box)
    assert dialog.state.preview.roles == ("value", "label"), "and by the other row"
    data = imported(qtbot, dialog)
    assert (data.column_names, data.unit, list(data.row_table)) == (("Month",), "years", ["sold"])


def test_amounts_that_are_measured_leave_the_dates_beside_them_years(qtbot, opened):
    dialog = opened("sold.csv", SOLD)
    click(qtbot, dialog, row_of(dialog, "is measured over time").box)
    assert dialog.state.preview.roles == ("value", "value")
    assert imported(qtbot, dialog).column_names == ("Month", "sold")


def test_the_foot_counts_what_will_be_left_out(qtbot, opened):
    text = "id,a,b,c\n" + "".join(f"s{i},{i}.5,2,{'' if i == 3 else i * i}\n" for i in range(12)) + "s12,,,\n"
    dialog = opened("foot.csv", text)
    assert "13 rows × 3 columns" in dialog.state.adds(("rows", "columns"))
    click(qtbot, dialog, row_of(dialog, "1 row has no value at all").box)
    click(qtbot, dialog, row_of(dialog, "1 column has the same value everywhere").box)
    assert "12 rows × 2 columns" in dialog.state.adds(("rows", "columns"))
    assert "12 rows × 2 columns" in dialog._foot.text()
    assert imported(qtbot, dialog).shape == (12, 2)


def test_classes_under_the_titles_are_used_by_one_click(qtbot, opened):
    body = "".join(f"G{i},{i}.5,{i}.25,{i}.75,{i}.1\n" for i in range(12))
    dialog = opened("panel.csv", f"gene,a,b,c,d\nclass,x,y,x,y\n{body}")
    assert not dialog.import_button.isEnabled()
    click(qtbot, dialog, row_of(dialog, "Row 2 holds labels of the columns").box)
    data = imported(qtbot, dialog)
    assert (data.shape, data.column_table["class"].tolist()) == ((12, 4), ["x", "y", "x", "y"])


def test_the_chips_of_the_roles_speak_german_and_titles_stay(qtbot, opened):
    set_language("de")
    try:
        dialog = opened(
            "w.csv", "id,missing,a,b\n" + "".join(f"s{i},u{i % 2},{i}.5,{i}.25\n" for i in range(9))
        )
        texts = [chip.text for chip in dialog.roles.findChildren(RoleChip)]
    finally:
        set_language("en")
    assert texts == ["id  Zeilenname", "missing  Label", "2 Spalten  Messwerte"]


# -- words and alleles that are measured --------------------------------------------------------------------------------------------


def test_pairs_of_alleles_are_told_and_read_as_they_are_by_a_click(qtbot, opened):
    pairs = ("1,1", "1,3", "3,3", "1,0", "3,1")
    rows = [f"P{i},{1 + i % 2},{','.join(pairs[(i + j) % 5] for j in range(6))}" for i in range(40)]
    titles = ",".join(f"loc{j}.a{k}" for j in range(6) for k in (1, 2))
    dialog = opened("family.csv", "\n".join([f"person,sex,{titles}", *rows]) + "\n")
    assert dialog.state.adds(("samples", "features")).startswith("Adds one matrix, 40 samples × 6 features")
    told = row_of(dialog, "6 pairs of columns look like alleles")
    assert told.box.text() == "Read them as they are"
    click(qtbot, dialog, told.box)
    assert dialog.state.given["alleles"] == []
    assert dialog.state.adds(("samples", "features")).startswith("Adds one matrix, 40 samples × 13 features")
    click(qtbot, dialog, row_of(dialog, "6 pairs of columns").box)
    data = imported(qtbot, dialog)
    assert data.column_names == tuple(f"loc{j}" for j in range(6))
    assert list(data.row_table) == ["sex"]


def test_columns_of_words_are_measured_by_a_click_and_labels_again_by_another(qtbot, opened):
    text = "person,sex,town,age\n" + "".join(
        f"P{i},{('man', 'woman')[i % 2]},{('A', 'B', 'C')[i % 3]},{20 + i}.5\n" for i in range(40)
    )
    dialog = opened("people.csv", text)
    told = row_of(dialog, "2 columns of words are labels, and not measured")
    assert told.box.text() == "Measure them as categories"
    click(qtbot, dialog, told.box)
    click(qtbot, dialog, row_of(dialog, "columns of words").box)
    assert dialog.state.given["categories"] == []
    click(qtbot, dialog, row_of(dialog, "columns of words").box)
    data = imported(qtbot, dialog)
    assert data.column_names == ("age", "sex", "town")
    shown = ValuesModel()
    shown.set_dataset(data)

    def cells() -> list[str]:
        return [shown.data(shown.index(1, column)) for column in range(shown.columnCount() - 1)]

    assert cells() == ["P1", "21.50", "", ""]  # until the numbers of these columns were looked at
    settle()
    assert cells() == ["P1", "21.50", "woman", "B"]
