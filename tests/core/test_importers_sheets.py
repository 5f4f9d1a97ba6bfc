"""Sheets of Excel and OpenDocument files, and Parquet: what their cells become, and what is told about them."""

import builtins
import datetime

import numpy as np
import pytest
from told_issues import issue

from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.data.importers._column import read_annotations
from plaidwork.core.errors import DataError


def preview(path, **options):
    return find_reader(path).preview(path, options)


def book(path, rows, merged=(), errors=(), others=()):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Data"
    for place, value in rows.items():
        sheet[place] = value
        if place in errors:
            sheet[place].data_type = "e"
    for span in merged:
        sheet.merge_cells(span)
    for name in others:
        workbook.create_sheet(name)["A1"] = 1
    workbook.save(path)
    return path


PLAIN = {"A1": "id", "B1": "x", "C1": "y", "A2": "s1", "B2": 1.234, "C2": 2, "A3": "s2", "B3": 0.1, "C3": 3}


def test_numbers_of_a_sheet_are_what_they_are(tmp_path):
    path = book(tmp_path / "a.xlsx", PLAIN)
    assert not preview(path).unclear
    data = read_dataset(path)
    assert data.values.tolist() == [[1.234, 2.0], [0.1, 3.0]]
    assert (data.row_names, data.column_names) == (("s1", "s2"), ("x", "y"))
    assert data.source.options["sheet"] == "Data"
    assert read_dataset(path, data.source.options).digest() == data.digest()


def test_numbers_kept_as_text_do_not_change_the_others(tmp_path):
    data = read_dataset(book(tmp_path / "a.xlsx", PLAIN | {"B2": "2,5", "C2": 1.234}))
    assert data.values.tolist() == [[2.5, 1.234], [0.1, 3.0]]


def test_one_of_several_sheets_has_to_be_chosen(tmp_path):
    path = book(tmp_path / "a.xlsx", PLAIN, others=("More", "Notes"))
    shown = preview(path)
    assert shown.unclear["sheet"] == "The file holds 3 sheets: Data, More, Notes."
    assert [name for name, _ in shown.choices["sheet"]] == ["Data", "More", "Notes"]
    with pytest.raises(DataError, match="Choose one with the option “sheet”"):
        read_dataset(path)
    assert read_dataset(path, {"sheet": "Data"}).shape == (2, 2)
    with pytest.raises(DataError, match="no sheet “Gone” with cells"):
        read_dataset(path, {"sheet": "Gone"})


def test_dates_errors_truth_values_and_merged_cells_are_told(tmp_path):
    cells = {
        "B3": "id", "C3": "when", "D3": "x", "E3": "ok",
        "B4": "s1", "C4": datetime.date(2024, 5, 1), "D4": 1.5, "E4": True,
        "B5": "s2", "C5": datetime.date(2024, 5, 2), "D5": "#DIV/0!", "E5": False,
        "B6": "s3", "C6": datetime.date(2024, 5, 3), "D6": 2.5, "E6": True,
        "B7": "s4", "C7": "late", "D7": 3.5, "E7": True,
    }  # fmt: skip
    path = book(tmp_path / "a.xlsx", cells, merged=["D6:D7"], errors=["D5"])
    shown = preview(path)
    assert issue(shown, "3 cells hold a date or time").places[0] == "C4  2024-05-01"
    assert issue(shown, "1 cell holds an error of the spreadsheet").detail == "First: D5  #DIV/0!"
    assert issue(shown, "1 group of cells is merged").fix[1:] == ("merged", "fill")
    assert issue(shown, "4 cells hold TRUE or FALSE").fix[1:] == ("truth", "numbers")
    assert issue(shown, "2 empty rows and 1 empty column before the table")
    assert issue(shown, "1 cell with “#DIV/0!” is no number").detail == "First: row 5, column D “x”"
    chosen = {"missing": "usual, #DIV/0!", "merged": "fill", "truth": "numbers"}
    data = read_dataset(path, chosen)
    np.testing.assert_array_equal(data.values, [[1.5, 1], [np.nan, 0], [2.5, 1], [2.5, 1]])
    assert list(data.row_table["when"]) == ["2024-05-01", "2024-05-02", "2024-05-03", "late"]
    assert "hold a date or time" in data.notes


def test_a_sheet_as_table_of_labels(tmp_path):
    path = book(
        tmp_path / "a.xlsx", {"A1": "id", "B1": "class", "A2": "s1", "B2": "u", "A3": "s2", "B3": "v"}
    )
    table = read_annotations(path)
    assert table.names == ("s1", "s2")
    assert list(table.columns["class"]) == ["u", "v"]


def test_open_document(tmp_path):
    opendocument = pytest.importorskip("odf.opendocument")
    pytest.importorskip("python_calamine")
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    def text(words, **options):
        cell = TableCell(valuetype="string", **options)
        cell.addElement(P(text=words))
        return cell

    document, table = opendocument.OpenDocumentSpreadsheet(), Table(name="Data")
    document.spreadsheet.addElement(table)
    for cells in (
        (text("id"), text("x"), text("y")),
        (text("s1"), TableCell(valuetype="float", value="1.5"), TableCell(valuetype="float", value="2")),
        (
            text("s2", numberrowsspanned=2),
            text("#N/A", formula="of:=NA()"),
            TableCell(valuetype="float", value="3"),
        ),
        (text("s3"), TableCell(valuetype="float", value="2.5"), TableCell(valuetype="float", value="4")),
    ):
        row = TableRow()
        for cell in cells:
            row.addElement(cell)
        table.addElement(row)
    path = tmp_path / "a.ods"
    document.save(str(path))
    shown = preview(path)
    assert issue(shown, "1 cell holds an error of the spreadsheet").detail == "First: B3  #N/A"
    assert issue(shown, "1 group of cells is merged").detail == "First: A3:A4"
    np.testing.assert_array_equal(read_dataset(path).values, [[1.5, 2], [np.nan, 3], [2.5, 4]])


def test_damaged_spreadsheet(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK\3\4 cut off")
    with pytest.raises(DataError, match=r"a.xlsx cannot be read"):
        read_dataset(path)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("a.xlsx", "python_calamine", "excel"),
        ("a.ods", "python_calamine", "excel"),
        ("a.parquet", "pyarrow", "parquet"),
    ],
)
def test_without_the_extra_the_message_says_what_to_install(tmp_path, monkeypatch, name, package, extra):
    path = tmp_path / name
    path.write_bytes(b"any")
    real = builtins.__import__

    def without(wanted, *args, **options):
        if wanted.split(".")[0] == package:
            raise ImportError(wanted)
        return real(wanted, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError) as caught:
        read_dataset(path)
    assert caught.value.hint == f'Install it with: pip install "plaidwork[{extra}]"'
    (found,) = preview(path).issues
    assert (found.severity, found.detail) == ("error", caught.value.hint)


# -- Parquet ------------------------------------------------------------------------------------------------


def parquet(path, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    files.write_table(pyarrow.table(columns), path)
    return path


def test_parquet(tmp_path):
    path = parquet(
        tmp_path / "a.parquet", id=["a", "b"], x=[1, 2], y=[1.5, None], group=["u", "u"], on=[True, False]
    )
    shown = preview(path)
    assert shown.roles == ("name", "value", "value", "label", "value")
    data = read_dataset(path)
    np.testing.assert_array_equal(data.values, [[1, 1.5, 1], [2, np.nan, 0]])
    assert (data.row_names, data.column_names) == (("a", "b"), ("x", "y", "on"))
    assert list(data.row_table["group"]) == ["u", "u"]
    assert read_dataset(path, data.source.options).digest() == data.digest()
    assert read_dataset(path, {"skip": ["y"], "labels": ["on", "group"]}).column_names == ("x",)


def test_parquet_numbers_that_cannot_be_represented(tmp_path):
    path = parquet(tmp_path / "a.parquet", id=["a", "b"], x=[1, 2**53 + 1], y=[1.5, float("inf")])
    assert issue(preview(path), "more digits than can be kept").other[1:] == ("inexact", "missing")
    with pytest.raises(DataError, match=r"row 2, column 2 “x”: “9007199254740993”"):
        read_dataset(path)
    with pytest.raises(DataError, match=r"row 2, column 3 “y”: expected a finite number"):
        read_dataset(path, {"inexact": "nearest"})
    assert read_dataset(path, {"inexact": "missing", "infinite": "missing"}).n_missing == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,c\n1,2,3\n", "is no spreadsheet: it holds plain text. Let its name end in .csv"),
        (b"PK\x03\x04" + bytes(60), "it is damaged or cut off"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), "is no spreadsheet, whatever it is called"),
    ],
)
def test_what_is_no_spreadsheet_is_told_in_plain_words(tmp_path, content, words):
    path = tmp_path / "x.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        find_reader(path).read(path, {})
    assert words in str(caught.value)
    assert "EOCD" not in str(caught.value)


def test_dates_that_become_years_are_not_called_text(tmp_path):
    """Of a course they are read as years unasked, which one row says."""
    cells = {"B2": "Month", "C2": "sold"}
    for k in range(20):
        cells |= {f"B{3 + k}": datetime.date(2020 + k // 12, k % 12 + 1, 1), f"C{3 + k}": k % 7 + 0.5}
    path = book(tmp_path / "a.xlsx", cells)
    assert issue(preview(path), "Column B “Month” holds dates and is read as years")
    assert not [one for one in preview(path).issues if "read as text" in one.message]
    assert issue(preview(path, dates="labels"), "20 cells hold a date or time, read as text")
