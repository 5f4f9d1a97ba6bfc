"""Dates become numbers when that is asked for, and day and month are never guessed."""

import datetime
import re

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers._dates import as_numbers, orders_of, seconds_of
from plaidwork.core.errors import DataError

DAYS = [datetime.date(2023, 12, 20) + datetime.timedelta(days=9 * i) for i in range(12)]


@pytest.fixture
def write(tmp_path):
    def _write(how, separator=",", rows=DAYS, name="x.csv"):
        lines = [separator.join(("id", "seen", "dose"))]
        mark = "," if separator == ";" else "."
        lines += [separator.join((f"p{i}", day.strftime(how), f"{i}{mark}5")) for i, day in enumerate(rows)]
        path = tmp_path / name
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return _write


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("2024-11-03", "ymd", (2024, 11, 3)),
        ("2024/11/3", "ymd", (2024, 11, 3)),
        ("2024-11", "ymd", (2024, 11, 1)),
        ("03.11.2024", "dmy", (2024, 11, 3)),
        ("3/11/2024", "mdy", (2024, 3, 11)),
        ("2024-11-03T06:30:00Z", "ymd", (2024, 11, 3, 6, 30)),
        ("2024-11-03 06:30", "ymd", (2024, 11, 3, 6, 30)),
        ("1969-12-31", "ymd", (1969, 12, 31)),
        ("Nov 2024", "ymd", (2024, 11, 1)),
        ("NOV2024", "ymd", (2024, 11, 1)),
        ("2024Nov", "ymd", (2024, 11, 1)),
        ("2024 März", "ymd", (2024, 3, 1)),
        ("2024M07", "ymd", (2024, 7, 1)),
        ("2024Q3", "ymd", (2024, 7, 1)),
        ("Q4/2024", "ymd", (2024, 10, 1)),
        ("2024/Q4", "ymd", (2024, 10, 1)),
        ("3-Nov-2024", "ymd", (2024, 11, 3)),
        ("3. November 2024", "ymd", (2024, 11, 3)),
        ("September 3, 2024", "ymd", (2024, 9, 3)),
        ("31 Nov 2024", "ymd", None),
        ("Ma 2024", "ymd", None),
        ("Gen 2024", "ymd", None),
        ("2024Q5", "ymd", None),
        ("202411", "ymd", None),
        ("2024M13", "ymd", None),
        ("31/11/2024", "dmy", None),
        ("2024.5", "ymd", None),
        ("3/11/24", "dmy", None),
        ("2024-11-03", "dmy", None),
    ],
)
def test_a_date_in_its_order(text, order, expected):
    found = seconds_of(text, order)
    if expected is None:
        assert found is None
    else:
        assert found == (datetime.datetime(*expected) - datetime.datetime(1970, 1, 1)).total_seconds()


def test_orders_are_told_by_days_above_twelve_only():
    assert orders_of(["3/4/2024", "11/5/2024", "13/6/2024"]) == ["dmy"]
    assert orders_of(["4/3/2024", "5/11/2024", "6/13/2024"]) == ["mdy"]
    assert orders_of(["4/3/2024", "5/11/2024", "6/12/2024"]) == ["dmy", "mdy"]
    assert orders_of(["4.3.2024", "5.11.2024", "6.12.2024"]) == ["dmy"]
    assert orders_of(["13/3/2024", "3/13/2024", "6/12/2024"]) == []
    assert orders_of(["2024-01-02"]) == []


def test_years_and_days():
    seconds = np.array([seconds_of("2024-07-02", "ymd"), np.nan, seconds_of("2023-01-01", "ymd"), -86_400.0])
    np.testing.assert_allclose(as_numbers(seconds, "years"), [2024.5, np.nan, 2023, 1969 + 364 / 365])
    np.testing.assert_allclose(as_numbers(seconds, "days-dmy"), [19906, np.nan, 19358, -1])


@pytest.mark.parametrize(("how", "separator"), [("%Y-%m-%d", ","), ("%d.%m.%Y", ";"), ("%m/%d/%Y", ",")])
def test_one_click_makes_numbers_of_dates(write, how, separator):
    path = write(how, separator)
    shown = preview(path)
    found = issue(shown, "1 column holds dates and is not read as numbers")
    assert found.fix == ("Read as years", "dates", "years")
    assert found.other == ("Read as days since 1970", "dates", "days")
    mended = preview(path, dates="years")
    assert mended.roles == ("name", "value", "value")
    assert not [one for one in mended.issues if "dates" in one.message]
    data = read_dataset(path, {"dates": "days"})
    assert data.column_names == ("seen", "dose")
    assert np.diff(data.values[:, 0]).tolist() == [9] * 11
    assert data.values[:, 1].tolist() == [i + 0.5 for i in range(12)], (
        "the decimal mark is that of the numbers"
    )
    assert read_dataset(path).row_table["seen"][0] == DAYS[0].strftime(how), "nothing is done unasked"


def test_what_comes_first_is_asked_where_nothing_tells(write):
    rows = [datetime.date(2024, 1 + i, 2 + i) for i in range(9)]
    path = write("%d/%m/%Y", rows=rows)
    found = issue(preview(path), "holds dates")
    assert "begins with the day or with the month" in found.detail
    assert (found.fix[2], found.other[2]) == ("years-dmy", "years-mdy")
    assert list(read_dataset(path, {"dates": "years"}).row_table) == ["seen"], "not guessed"
    for order, expected in (("days-dmy", rows[0]), ("days-mdy", datetime.date(2024, 2, 1))):
        first = read_dataset(path, {"dates": order}).values[0, 0]
        assert first == (expected - datetime.date(1970, 1, 1)).days


def test_dates_that_named_the_rows_and_gaps_among_dates(tmp_path):
    path = tmp_path / "m.csv"
    lines = [f"{day.isoformat() if i != 4 else 'NA'},{i}.25" for i, day in enumerate(DAYS)]
    path.write_text("\n".join(["seen,co2", *lines]), encoding="utf-8")
    data = read_dataset(path, {"dates": "years"})
    assert (data.column_names, data.n_missing) == (("seen", "co2"), 1)


def test_a_cell_that_is_no_date_is_told_with_its_place(write):
    rows = [*DAYS * 3]
    path = write("%d.%m.%Y", rows=rows)
    text = path.read_text(encoding="utf-8").replace("29.12.2023", "31.11.2023", 1)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=re.escape("row 3, column 2 “seen”")) as caught:
        read_dataset(path, {"dates": "years"})
    assert "31.11.2023" in str(caught.value)


def test_another_word_is_refused(write):
    with pytest.raises(DataError, match="dates must be one of"):
        read_dataset(write("%Y-%m-%d"), {"dates": "months"})


@pytest.mark.parametrize("text", ["2020", "44100", "1.5", "1e3", "later"])
def test_a_number_among_dates_is_told_and_not_read_as_seconds_since_1970(tmp_path, text):
    days = [np.datetime64("2020-01-01") + k for k in range(300)]
    rows = [f"{day if k != 250 else text},{k % 7}.5" for k, day in enumerate(days)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["when,sold", *rows]))
    found = issue(preview(path), f"1 cell with “{text}” is no date")
    assert (found.severity, found.row, found.column) == ("error", 252, 1)
    with pytest.raises(DataError, match=f"row 252, column 1 “when”: expected a date, found “{text}”"):
        read_dataset(path)
    data = read_dataset(path, {"missing": ["", text]})
    assert np.flatnonzero(np.isnan(data.values[:, 0])).tolist() == [250]


def test_empty_cells_that_are_not_missing_do_not_stop_the_reading(tmp_path):
    """They are no dates either."""
    path = tmp_path / "x.csv"
    rows = [f"{1 + k}.1.2020" if k != 5 else "" for k in range(30)]
    path.write_text("\n".join(["when;sold", *(f"{day};{k}" for k, day in enumerate(rows))]))
    assert preview(path, missing=["NA"]).options["missing"]
    assert issue(preview(path, missing=["NA"], dates="years"), "1 cell with “” is no date")


@pytest.mark.parametrize(
    ("form", "words"), [("{k}.1.2020", "“1.1.2020”, …"), ("1/{k}/2020", "whether “1/1/2020”")]
)
def test_the_example_of_dates_is_a_date(tmp_path, form, words):
    path = tmp_path / "x.csv"
    days = ["unknown", *(form.format(k=k % 12 + 1) for k in range(24))]
    path.write_text("\n".join(["when;dose;age", *(f"{day};{k}.5;{k * k}" for k, day in enumerate(days))]))
    assert words in issue(preview(path), "1 column holds dates and is not read as numbers").detail


def test_the_first_second_of_1970_is_not_missing_where_a_zero_is(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("when,dose\n" + "".join(f"{1969 + k}-01-01,{k}\n" for k in range(12)))
    data = read_dataset(path, {"missing": ["", "0"]})
    assert (data.values[1, 0], np.isnan(data.row_table["dose"][0])) == (1970, True)
