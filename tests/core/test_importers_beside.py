"""Rows that are no observations, as spreadsheets have them: units under the titles, totals at the bottom."""

import numpy as np
import pytest
from told_issues import preview

from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.data.importers._beside import like_unit, names_total
from plaidwork.core.data.importers._row_numbers import titled_number
from plaidwork.core.errors import DataError

_TITLES = "Probe;Länge;Gewicht;Dichte"
_UNITS = ";mm;kg;[g/cm³]"
_BODY = "".join(f"P{i};{i},5;{2 * i},25;{i % 3},75\n" for i in range(1, 9))
_TOTAL = "Summe;40,0;74,0;12,5"


@pytest.fixture
def german(tmp_path):
    def _write(units=True, total=True, titles=_TITLES, body=_BODY):
        path = tmp_path / "messung.csv"
        lines = [titles, *([_UNITS] if units else []), *body.splitlines(), *([_TOTAL] if total else [])]
        path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig")
        return path

    return _write


def fixes(shown):
    return {issue.fix[1]: issue for issue in shown.issues if issue.fix}


def test_units_are_told_once_and_one_click_leaves_them_out(german):
    path = german(total=False)
    shown = preview(path)
    assert [issue.message for issue in shown.issues if issue.severity == "error"] == [
        "Row 2 holds units, not numbers"
    ]
    told = fixes(shown)["drop_units"]
    assert (told.row, told.detail) == (2, "“mm”, “kg”, “[g/cm³]”")
    assert told.fix == ("Leave it out", "drop_units", True)
    mended = preview(path, drop_units=True)
    assert not [issue for issue in mended.issues if issue.severity != "info"]
    assert (mended.n_rows, mended.cells[0][0], mended.rows[0]) == (8, "P1", 3)


def test_a_read_refuses_units_and_says_which_option_helps(german):
    with pytest.raises(DataError, match="row 2: expected numbers, found units: “mm”, “kg”") as refused:
        read_dataset(german())
    assert "drop_units" in refused.value.hint


def test_totals_are_told_kept_unless_asked_and_noted(german):
    path = german(units=False)
    told = fixes(preview(path))["drop_totals"]
    assert (told.severity, told.row) == ("warning", 10)
    assert told.detail == "Row 10 is called “Summe”"
    kept = read_dataset(path)
    assert kept.row_names[-1] == "Summe"
    assert "1 row seems to sum up others" in kept.notes, "the command line tells what is noted"


def test_with_both_left_out_only_observations_remain(german):
    found = read_dataset(german(), {"drop_units": True, "drop_totals": True})
    assert found.row_names == tuple(f"P{i}" for i in range(1, 9))
    np.testing.assert_array_equal(found.values[:, 0], np.arange(1, 9) + 0.5)
    assert found.notes == ""
    assert found.source.options["drop_units"]
    assert found.source.options["drop_totals"]


def test_the_options_leave_a_table_without_such_rows_as_it_is(german):
    path = german(units=False, total=False)
    assert not {"drop_units", "drop_totals"} & fixes(preview(path)).keys()
    plain, asked = read_dataset(path), read_dataset(path, {"drop_units": True, "drop_totals": True})
    np.testing.assert_array_equal(plain.values, asked.values)


def test_a_total_below_numbered_rows_can_be_left_out(german):
    body = "".join(f"{i};{i},5;{2 * i},25;{i % 3},75\n" for i in range(1, 9))
    path = german(units=False, titles=_TITLES.replace("Probe", "Nr"), body=body)
    assert "drop_totals" in fixes(preview(path))
    assert read_dataset(path, {"drop_totals": True}).shape[0] == 8


def test_a_first_row_of_gaps_or_odd_words_is_no_row_of_units(german):
    for first in ("P0;n.d.;1,5;2,5", "P0;n.d.;k.A.;defekt", "P0;;;"):
        shown = preview(german(units=False, total=False, body=f"{first}\n{_BODY}"))
        assert "drop_units" not in fixes(shown), first


def test_units_of_a_spreadsheet_are_told_too(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["Probe", "Länge", "Anteil"],
        [None, "mm", "%"],
        *([f"P{i}", i + 0.5, i / 7] for i in range(6)),
        ["Gesamt:", 18, 2.1],
    ):
        book.active.append(row)
    path = tmp_path / "messung.xlsx"
    book.save(path)
    assert {"drop_units", "drop_totals"} <= fixes(preview(path)).keys()
    assert read_dataset(path, {"drop_units": True, "drop_totals": True}).shape == (6, 2)


@pytest.mark.parametrize("text", ["mm", "°C", "%", "mg/l", "mg/dL", "kg m^-3", "[Stück]", "(a.u.)", "µmol/l"])
def test_units(text):
    assert like_unit(text)


@pytest.mark.parametrize("text", ["n.d.", "control", "NA", "low", "TP53", "k.A.", "<0,05"])
def test_no_units(text):
    assert not like_unit(text)


def test_names_of_totals():
    for word in ("Summe", "TOTAL", "Grand total", "Gesamtsumme:", "Sum"):
        assert names_total([word, "3"]) == word
    assert names_total(["", "Total", "3"]) == "Total"
    for word in ("Total cholesterol", "summer", "SUMO1", "P1"):
        assert not names_total([word, "3"])


NUMBERED = "".join(f"{i};{i},5;{2 * i},25;{i % 3},75\n" for i in range(1, 9))


@pytest.mark.parametrize("title", ["Nr", "No.", "Lfd. Nr.", "#", "ID", "patient_no"])
@pytest.mark.parametrize("total", [False, True])
def test_a_first_column_that_is_titled_as_numbers_names_the_rows(german, title, total):
    path = german(units=False, total=total, titles=_TITLES.replace("Probe", title), body=NUMBERED)
    found = read_dataset(path, {"drop_totals": True})
    assert found.row_names == tuple(str(i) for i in range(1, 9))
    assert found.column_names == ("Länge", "Gewicht", "Dichte")
    if total:
        kept = fixes(preview(path))
        assert "missing" not in kept, "a total below the numbers is no bad cell"
        assert read_dataset(path).row_names[-1] == "Summe"


def test_a_column_of_identifiers_is_read_as_labels_and_that_is_told(tmp_path):
    """Anywhere in the table, some of them twice, it holds labels; another title, or numbers that come back often, are a measurement."""
    rng = np.random.default_rng(0)
    number = rng.permutation(np.arange(20)) * 137 + 1004
    number[3] = number[4]

    def told(title, values):
        path = tmp_path / "persons.csv"
        rows = [f"p{k},{rng.normal():.2f},{value}" for k, value in enumerate(values)]
        path.write_text("\n".join([f"name,x,{title}", *rows]) + "\n", encoding="utf-8")
        return [issue for issue in find_reader(path).preview(path, {}).issues if "identif" in issue.message]

    (issue,) = told("ID", number)
    assert (issue.severity, issue.message) == ("warning", "Column 3 “ID” is an identifier")
    read = read_dataset(tmp_path / "persons.csv")
    assert (read.column_names, list(read.row_table)) == (("x",), ["ID"])
    name, value = issue.fix[1:]
    assert read_dataset(tmp_path / "persons.csv", {name: value}).column_names == ("x", "ID")
    assert told("Pat.-ID", [f"{one}.0" for one in number])
    assert told("PatientID", number)
    (maybe,) = told("copy number", number)
    assert maybe.detail == "It is read as a measurement"
    assert read_dataset(tmp_path / "persons.csv").column_names == ("x", "copy number")
    assert not told("weight", number)
    assert not told("index", np.arange(20) % 5)
    assert told("index", np.arange(20) % 12 + 1)
    assert not told("weight", np.arange(20) % 12 + 1)
    assert not told("ID", number + 0.5)


def test_a_column_that_counts_the_rows_can_be_left_out(german, tmp_path):
    """A time is a measurement until the user says otherwise; a number beside names is a label."""
    path = german(units=False, total=False, titles=_TITLES.replace("Probe", "Stunde"), body=NUMBERED)
    told = fixes(preview(path))["names"]
    assert (told.severity, told.column) == ("info", 1)
    assert read_dataset(path).column_names[0] == "Stunde"
    assert preview(path, names=0).roles[0] == "name"
    assert told.other is not None
    assert told.other[1] == "skip"
    body = "".join(f"P{i};{i};{2 * i},25;{i % 3},75\n" for i in range(1, 9))
    beside = german(units=False, titles="Probe;Lfd. Nr.;Gewicht;Dichte", body=body)
    told = fixes(preview(beside))["labels"]
    assert (told.severity, told.message) == ("warning", "Column 2 “Lfd. Nr.” is an identifier")
    assert preview(beside).roles == ("name", "label", "value", "value")
    assert preview(beside, labels=[]).roles == ("name", "value", "value", "value")
    only = tmp_path / "only.csv"
    only.write_text("name,count\n" + "".join(f"P{i},{i}\n" for i in range(9)))
    assert "skip" not in fixes(preview(only)), "nothing would be left"


@pytest.mark.parametrize("title", ["Temperature", "Casino", "Minimum", "Pseudo-no-show", "grid"])
def test_titles_that_number_nothing(title):
    assert not titled_number(title)


def test_the_mark_at_the_end_of_a_text_is_no_cell_and_what_cannot_be_seen_is_written_out(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes(b"name,x,y\r\na,1,2\r\nb,3,6.2\x1a")
    assert read_dataset(path).values.tolist() == [[1, 2], [3, 6.2]]
    path.write_bytes(b"name,x,y\r\na,1,2\r\nb,3,6.2\r\n\x1a")
    assert read_dataset(path).shape == (2, 2)
    path.write_bytes(b"name,x,y\na,1,2\nb,3,6.2\x07\n")
    with pytest.raises(DataError, match=r"found “6.2\\x07”"):
        read_dataset(path)


# -- totals below what a preview reads -------------------------------------------------------------------------


@pytest.mark.parametrize(("last", "told"), [("Total,{a},{b}", True), ("r,1,2", False), ("Sum,1,2", False)])
def test_totals_at_the_end_of_a_long_file_are_told_before_it_is_read(tmp_path, last, told):
    """A preview reads the first rows of a long file only; a row is called Sum as the department Somme is."""
    rng = np.random.default_rng(1)
    numbers = rng.integers(10, 99, (280_000, 2))
    body = [f"r{i},{a},{b}" for i, (a, b) in enumerate(numbers.tolist())]
    path = tmp_path / "long.csv"
    end = last.format(a=numbers[:, 0].sum(), b=numbers[:, 1].sum())
    path.write_text("\n".join(["name,a,b", *body, end, ""]), encoding="utf-8")
    shown = preview(path)
    assert [one for one in shown.issues if "were checked" in one.message], "the file is long"
    found = [one for one in shown.issues if "seems to sum up others" in one.message]
    assert bool(found) == told
    if told:
        assert (found[0].row, found[0].fix) == (280_002, ("Leave it out", "drop_totals", True))
        assert not [one for one in preview(path, drop_totals=True).issues if "sum up" in one.message]


def test_remarks_above_the_titles_are_skipped_and_told(tmp_path):
    body = "".join(f"s{i}\t{i}.5\t{i}.25\n" for i in range(9))
    path = tmp_path / "w.tsv"
    path.write_text(
        f"# station Hohenstein, hourly\n# exported 2023-06-01\nname\ta\tb\n{body}", encoding="utf-8"
    )
    (found,) = preview(path).issues
    assert (found.severity, found.message) == ("info", "2 rows of remarks above the titles are skipped")
    assert found.detail == "Row 1 holds “# station Hohenstein, hourly”"
    data = read_dataset(path)
    assert (data.shape, data.column_names) == ((9, 2), ("a", "b"))
    assert data.source.options["skip_rows"] == 2
    assert read_dataset(path, data.source.options).digest() == data.digest()
    path.write_text(f"Station Hohenstein\nname\ta\tb\n{body}", encoding="utf-8")
    with pytest.raises(DataError, match="below a heading"):
        read_dataset(path)
