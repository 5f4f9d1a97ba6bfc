"""Dates beside one column of amounts are read as years by themselves, which is told and undone by a click; no other dates are."""

import datetime

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import usual_choice
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.reading_alike import read_alike
from plaidwork.core.errors import DataError

MONTHS = [datetime.date(1949 + k // 12, k % 12 + 1, 1) for k in range(40)]
DAYS = [datetime.date(2020, 1, 20) + datetime.timedelta(days=k) for k in range(40)]


@pytest.fixture
def write(tmp_path):
    """The path of a file with that text."""

    def _write(text, name="x.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def table(cells, title="Month,sold", separator=",", amount="{k}.5"):
    """A row for each of the ``cells``, with an amount."""
    rows = [f"{cell}{separator}{amount.format(k=k % 7)}" for k, cell in enumerate(cells)]
    return "\n".join([title.replace(",", separator), *rows]) + "\n"


@pytest.mark.parametrize(
    ("cells", "title", "separator", "amount"),
    [
        ([f"{day:%Y-%m}" for day in MONTHS], "Month,sold", ",", "{k}.5"),
        ([f"{day:%Y-%m-%d}" for day in MONTHS], "observation_date,sold", ",", "1{k}"),
        ([f"{day:%d.%m.%Y}" for day in MONTHS], "Datum,sold", ";", "{k},5"),
        ([f"{day:%Y-%m}" for day in MONTHS], "Month,sold", ",", "11{k}.12345678901234"),
        ([f"{day.month}/{day.day}/{day.year}" for day in DAYS], "when,sold", ",", "{k}.5"),
        ([f"{day:%Y-%m-%d} 12:00" for day in DAYS], "stamp,sold", "\t", "{k}.5"),
        ([f"{day:%Y-%m-%d}" for day in reversed(DAYS)], "Date,sold", ",", "{k}.5"),
        ([f"{day:%Y-%m-%d}" for day in (*DAYS[1:3], DAYS[0], *DAYS[3:])], "Date,sold", ",", "{k}.5"),
        ([f"{day:%b %Y}" for day in MONTHS], "Month,sold", ",", "{k}.5"),
        ([f"{1949 + k // 4}Q{k % 4 + 1}" for k in range(40)], "Quarter,sold", ",", "{k}.5"),
        ([day.isoformat() for day in DAYS], "Date,Index", ",", "{k}.5"),
    ],
    ids=[
        "month",
        "ISO",
        "points",
        "all digits",
        "month first",
        "hours",
        "newest first",
        "one out of order",
        "month by name",
        "quarter",
        "index",
    ],
)
def test_dates_beside_amounts_are_the_years_of_a_course(write, cells, title, separator, amount):
    path = write(table(cells, title, separator, amount), "x.tsv" if separator == "\t" else "x.csv")
    when = title.partition(",")[0]
    shown = preview(path)
    assert (shown.roles, shown.options["dates"]) == (("value", "label"), "years")
    assert "dates" in shown.detected
    found = issue(shown, f"Column 1 “{when}” holds dates and is read as years")
    assert (found.severity, found.fix) == ("info", ("Use the dates as names of the rows", "dates", "labels"))
    assert found.other == ("Read as days since 1970", "dates", "days")
    amounts = title.partition(",")[2]
    issue(shown, f"Column 2 “{amounts}” is measured over time")
    assert len(shown.issues) == 2
    data = read_dataset(path)
    assert (data.shape, data.column_names, data.unit) == ((40, 1), (when,), "years")
    assert data.row_table[amounts].dtype == float
    outcome = Input("y", "vector", "real", dims=("sample",), samples="sample")
    assert str(usual_choice(data, outcome)) == f"x:row:{amounts}"
    again = read_dataset(path, data.source.options)
    assert again.digest() == data.digest(), "what is stored reads the same"


def test_it_is_undone_by_a_click_and_days_are_a_course_too(write):
    path = write(table([day.isoformat() for day in DAYS]))
    undone = preview(path, dates="labels")
    assert undone.roles == ("name", "value")
    assert issue(undone, "1 column holds dates and is not read as numbers").fix[1:] == ("dates", "years")
    data = read_dataset(path, {"dates": "labels"})
    assert (data.column_names, data.row_names[0], data.unit) == (("sold",), "2020-01-20", "")
    days = read_dataset(path, {"dates": "days"})
    assert (days.unit, list(days.row_table), np.diff(days.values[:, 0]).tolist()) == (
        "days",
        ["sold"],
        [1] * 39,
    )
    both = read_dataset(path, {"labels": []})
    assert (both.column_names, both.unit) == (("Month", "sold"), "")


@pytest.mark.parametrize(
    ("options", "roles"),
    [
        ({"names": 0}, ("name", "value")),
        ({"names": "Month"}, ("name", "value")),
        ({"labels": ["Month"]}, ("name", "value")),
        ({"labels": [0], "names": -1}, ("label", "value")),
        ({"names": -1, "labels": [], "skip": []}, ("value", "value")),
        ({"skip": [0]}, ("skip", "value")),
    ],
)
def test_what_somebody_said_of_the_columns_holds(write, options, roles):
    assert preview(write(table([day.isoformat() for day in DAYS])), **options).roles == roles


@pytest.mark.parametrize(
    "text",
    [
        table([day.isoformat() for day in DAYS], "date,sold,bought", amount="{k}.5,{k}.25"),
        table([day.isoformat() for day in DAYS[:9]]),
        table([day.isoformat() for day in DAYS * 2]),
        table(
            [day.isoformat() for day in DAYS[::3] + DAYS[1::3] + DAYS[2::3]][::-1][:20] + ["2019-01-01"] * 2
        ),
        table([DAYS[k * 17 % 40].isoformat() for k in range(40)]),
        table([f"{1 + k % 9}/{2 + k // 9}/2020" for k in range(40)]),
        table([day.isoformat() for day in DAYS], "date,id", amount="10{k}"),
        table([day.isoformat() for day in DAYS], "date,on", amount="1"),
        table([day.isoformat() for day in DAYS], "date,code", amount="00{k}"),
        table([day.isoformat() for day in DAYS], "date,who", amount="p{k}"),
        table([day.isoformat() if k % 9 else "" for k, day in enumerate(DAYS)]),
        table([day.isoformat() if k % 19 else "later" for k, day in enumerate(DAYS)]),
    ],
    ids=[
        "two amounts",
        "few",
        "twice",
        "back",
        "mixed",
        "day or month",
        "id",
        "one value",
        "codes",
        "words",
        "gaps",
        "no date",
    ],
)
def test_no_other_dates_are(write, text):
    shown = preview(write(text))
    assert "dates" not in shown.options
    assert not [one for one in shown.issues if "read as years" in one.message]


def test_new_dates_are_read_as_those_of_the_fit(write):
    """As of the months to come, without amounts too."""
    fitted = read_dataset(write(table([day.isoformat() for day in DAYS])))
    new = write("Month,sold\n2021-01-01,\n2021-07-02,\n2021-07-03,\n", "new.csv")
    assert read_alike(new, [fitted]).values[0, 0] == 2021
    alone = write("Month\n2021-01-01\n2021-07-02\n2021-07-03\n", "alone.csv")
    assert read_alike(alone, [fitted]).column_names == ("Month",)


def test_a_total_below_is_left_out_first(write):
    path = write(table([day.isoformat() for day in DAYS]) + "Total,120\n")
    shown = preview(path)
    assert shown.roles == ("name", "value")
    assert issue(shown, "1 row seems to sum up others").fix[1] == "drop_totals"
    assert preview(path, drop_totals=True).roles == ("value", "label")


def test_thousands_marks_are_asked_for_first(write):
    path = write(table([f"{day:%d.%m.%Y}" for day in MONTHS], "Datum,sold", ";", "1.{k}00,5"))
    shown = preview(path)
    assert (shown.roles, shown.issues[0].severity) == (("name", "value"), "error")
    data = read_dataset(path, {"thousands": "."})
    assert (data.unit, data.row_table["sold"][0]) == ("years", 1000.5)


@pytest.mark.parametrize("title", ["Month,sold", "year,sold"])
def test_a_word_far_below_is_told_and_becomes_missing_by_a_click(write, title):
    """Else all amounts would be texts, without a word."""
    times = [datetime.date(1800, 1, 1) + datetime.timedelta(days=k) for k in range(300)]
    text = table(times if title[0] == "M" else range(1500, 1800), title)
    lines = text.splitlines()
    lines[250] = lines[250].partition(",")[0] + ",closed"
    path = write("\n".join(lines) + "\n")
    found = issue(preview(path), "Column 2 “sold” is read as text, as 1 cell holds no number")
    assert (found.severity, found.detail, found.fix[:2]) == (
        "warning", "First: “closed”", ("Treat as missing", "missing"),
    )  # fmt: skip
    assert found.message in read_dataset(path).notes
    options = {"missing": ["", "closed"]}
    assert np.isnan(read_dataset(path, options).row_table["sold"]).sum() == 1
    assert not [one for one in preview(path, **options).issues if one.severity == "warning"]


def test_amounts_beside_years_have_a_decimal_mark_of_their_own(write):
    text = table(range(1900, 1940), "year,flow", ";", "{k},5")
    assert read_dataset(write(text)).row_table["flow"][:2].tolist() == [0.5, 1.5]


def test_of_whole_years_nothing_is_said_of_counts_and_of_one_column_in_the_singular(write):
    shown = preview(write(table(range(1900, 1940), "year,flow")))
    assert not [one for one in shown.issues if "counts" in one.message]
    one = "weight\n" + "".join(f"{60 + k % 17}\n" for k in range(40))
    found = issue(preview(write(one)), "look like grades or measurements, not like counts")
    assert found.detail == "none of them is 0, and they vary less than counts do"


def test_rows_are_called_by_their_dates_where_these_tell_them_apart(write):
    cells = [f"{day:%b %Y}" for day in MONTHS]
    assert read_dataset(write(table(cells))).row_names == tuple(cells)
    for other in ([*cells, cells[3]], [*cells, ""]):
        assert read_dataset(write(table(other)), {"dates": "years"}).row_names[3] == "row 4"


@pytest.mark.parametrize("title", ["Datum;Wert", "Version;Zeit", "Datum;Jahr"])
def test_dates_and_versions_that_are_labels_do_not_tell_the_decimal_mark(write, title):
    """Else the file would be refused: points and commas in words are no numbers."""
    dotted = [f"{1 + k // 3}.1.2020" if title[0] == "D" else f"1.{k % 3}.0" for k in range(30)]
    amount = "{k}" if title.endswith("Jahr") else "{k},5"
    shown = preview(write(table(dotted, title.replace(";", ","), ";", amount)))
    assert (shown.roles, shown.unclear) == (("label", "value"), {})


@pytest.mark.parametrize(
    ("below", "words", "fix"),
    [
        ("1,{k}.5", "10 numbers have thousands marks", ("thousands", ",")),
        ("1 {k}", "10 numbers have thousands marks", ("thousands", " ")),
        ("{k} %", "10 numbers have a percent sign", ("percent", "number")),
    ],
    ids=["comma", "blank", "percent"],
)
def test_marks_of_numbers_far_below_are_offered_to_be_read_not_to_be_left_out(write, below, words, fix):
    times = [datetime.date(1800, 1, 1) + datetime.timedelta(days=k) for k in range(300)]
    rows = [f"{day};{f'{k}.5' if k < 290 else below.format(k=k)}" for k, day in enumerate(times)]
    path = write("\n".join(["date;sold", *rows]))
    found = issue(preview(path), f"Column 2 “sold” is read as text, as {words}")
    assert (found.severity, found.fix[1:]) == ("warning", fix)
    sold = read_dataset(path, dict([fix])).row_table["sold"]
    assert (sold.dtype.kind, sold[0], sold[-1] in (1299.5, 1299, 299)) == ("f", 0.5, True)


def test_a_decimal_comma_far_below_is_seen_and_one_that_may_be_of_thousands_is_asked_for(write):
    """A text is not what is left of a course whose first amounts are whole."""
    times = [datetime.date(1800, 1, 1) + datetime.timedelta(days=k) for k in range(300)]
    rows = [f"{day};{k if k < 210 else f'{k},5'}" for k, day in enumerate(times)]
    path = write("\n".join(["date;sold", *rows]))
    assert preview(path).options["decimal"] == ","
    assert read_dataset(path).row_table["sold"][-1] == 299.5
    path.write_text(path.read_text().replace(",5", "").replace(";299", ";1,299"))
    assert next((one.severity, one.fix[1:]) for one in preview(path).issues) == ("error", ("decimal", "."))
    with pytest.raises(DataError, match=r"can be 1299 or 1.299"):
        read_dataset(path)
    assert read_dataset(path, {"decimal": "."}).row_table["sold"][-1] == 1299


def test_many_words_far_below_are_told_too(write):
    times = [datetime.date(1800, 1, 1) + datetime.timedelta(days=k) for k in range(300)]
    rows = [f"{day};{k if k < 201 else 'closed'}" for k, day in enumerate(times)]
    assert issue(preview(write("\n".join(["date;sold", *rows]))), "as 99 cells hold no number")


@pytest.mark.parametrize("how", ["%Y%m", "%Y%m%d"])
def test_figures_under_a_title_that_says_when_are_dates(write, how):
    """194912 is followed by 195001, at a step like any other."""
    path = write(table([f"{day:{how}}" for day in MONTHS]))
    shown = preview(path)
    assert (shown.roles, shown.options["dates"]) == (("value", "label"), "years-ymd")
    found = issue(shown, "Column 1 “Month” holds dates and is read as years")
    assert found.fix == ("Read as plain numbers", "dates", "labels")
    data = read_dataset(path)
    steps = np.diff(data.values[:, 0])
    assert (data.unit, data.row_names[12]) == ("years", f"{MONTHS[12]:{how}}")
    assert (steps.min(), steps.max()) == (pytest.approx(28 / 365), pytest.approx(31 / 365))
    assert read_dataset(path, {"dates": "days-ymd"}).values[1, 0] == -7639
    assert read_dataset(path, {"dates": "labels"}).values[0, 0] == int(f"{MONTHS[0]:{how}}")
    told = read_dataset(path, shown.options)
    np.testing.assert_array_equal(told.values, data.values)


@pytest.mark.parametrize(
    ("cells", "title"),
    [
        ([f"{day:%Y%m}" for day in MONTHS], "Length,sold"),
        ([f"{day:%Y%m}" for day in MONTHS[:12]], "Month,sold"),
        ([str(190_001 + k) for k in range(40)], "Time,sold"),
        ([f"{k}" for k in range(1949, 1989)], "Month,sold"),
    ],
    ids=["no time", "of one year", "counted", "years"],
)
def test_other_figures_stay_numbers(write, cells, title):
    data = read_dataset(write(table(cells, title)))
    assert data.values[0, 0] == float(cells[0])
