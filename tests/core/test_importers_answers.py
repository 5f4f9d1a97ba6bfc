"""What people bring: answers in words, headings above a table, chromosomes among samples, copies of columns and rows."""

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import usual_choice
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.base import Added
from plaidwork.core.errors import DataError

_AGREE = ("Disagree", "Slightly agree", "Agree", "strongly  agree")
_IN_ORDER = "Disagree < Slightly agree < Agree < strongly agree"


def survey(answers, rows=24):
    """Three questions with the answers, one of yes and no, a town that is no answer, and an age; a gap here and there."""
    lines = ["person,q1,q2,q3,smokes,town,age"]
    for i in range(rows):
        given = [answers[(i * step + i // 5) % len(answers)] for step in (1, 2, 3)]
        given[i % 3] = "" if i % 7 == 0 else given[i % 3]
        lines.append(f"P{i},{','.join(given)},{'yes' if i % 3 else 'no'},town {i % 4},{20 + i}")
    return "\n".join(lines) + "\n"


# -- answers in words -----------------------------------------------------------------------------------------


def test_answers_in_words_are_labels_and_one_click_makes_numbers_of_them(write):
    path = write(survey(_AGREE))
    shown = preview(path)
    assert shown.roles.count("value") == 1
    found = issue(shown, "4 columns hold answers in words, and are read as labels")
    assert found.severity == "warning"  # more of them than of what would be measured
    assert found.fix == ("Read them as numbers", "answers", f"{_IN_ORDER}; no < yes")
    mended = preview(path, answers=found.fix[2])
    assert mended.roles == ("name", *["value"] * 4, "label", "value")
    assert not [
        issue for issue in mended.issues if issue.severity != "info"
    ]  # an age among them is not told either
    data = read_dataset(path, {"answers": found.fix[2]})
    assert data.column_names == ("q1", "q2", "q3", "smokes", "age")
    np.testing.assert_array_equal(data.values[1], [2, 3, 4, 1, 21])
    assert np.isnan(data.values[7, 1])
    assert list(data.row_table) == ["town"]


def test_two_answers_are_0_and_1(write):
    path = write(
        "id,a,b\n" + "".join(f"p{i},{'yes' if i % 2 else 'No'},{'no' if i % 3 else ''}\n" for i in range(9))
    )
    data = read_dataset(path, {"answers": "no < yes"})
    assert data.kind == "binary"
    np.testing.assert_array_equal(data.values[:3], [[0, np.nan], [1, 0], [0, 0]])


def test_answers_of_unknown_order_are_told_with_what_to_write(write):
    path = write(survey(("blau", "rot", "grün")))
    found = issue(preview(path), "answers in words")  # of yes and no the order is known
    assert found.fix == ("Read them as numbers", "answers", "no < yes")
    text = "id,a,b,c,n\n" + "".join(
        f"p{i},{','.join(('blau', 'rot', 'grün')[(i * k) % 3] for k in (1, 2, 4))},{i}.5\n" for i in range(9)
    )
    found = issue(preview(write(text)), "3 columns hold answers in words")
    assert found.fix == ("Measure them as categories", "categories", Added((1, 2, 3)))
    assert not [
        other for other in preview(write(text)).issues if "not measured" in other.message
    ]  # told once
    assert "give their order under “Answers in order”" in found.detail
    data = read_dataset(write(text), {"answers": "blau < rot < grün"})
    assert data.shape == (9, 4)


def test_answers_in_a_long_table(write):
    path = write(
        "person,item,answer\n"
        + "".join(f"p{i},q{j},{_AGREE[(i + j) % 4]}\n" for i in range(6) for j in range(3))
    )
    given = {"layout": "long", "sample": "person", "feature": "item", "value": "answer", "answers": _IN_ORDER}
    np.testing.assert_array_equal(read_dataset(path, given).values[0], [1, 2, 3])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("never", "needs two answers or more"),
        ("never < ", "needs two answers or more"),
        ("no < yes < No", "“no” twice"),
        ("no < yes; yes < no", "gives “yes” two numbers, 1 and 0"),
    ],
)
def test_an_order_that_is_none_is_refused(write, given, words):
    with pytest.raises(DataError, match=words):
        read_dataset(write(survey(_AGREE)), {"answers": given})


def test_an_answer_that_is_not_in_the_order_is_told_with_its_place(write):
    path = write(survey(("no", "yes", "don't know")))
    with pytest.raises(
        DataError, match="row 3, column 3 “q2”: expected a number with a decimal point, found “don't know”"
    ):
        read_dataset(path, {"answers": "no < yes", "names": 0, "labels": [5]})


# -- headings above a table -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading",
    [
        "Study of weights,,,\n,,,\n",
        "Study of weights\n\n",
        "Study of weights, 2024\nby the clinic\n",
        ",,Results,\n\n",
    ],
)
def test_a_heading_above_the_table_is_told_once(write, heading):
    body = "id,crp,leuko,age\n" + "".join(f"p{i},{i}.5,{2 * i}.25,{20 + i}\n" for i in range(8))
    path = write(heading + body)
    shown = preview(path)
    errors = [issue for issue in shown.issues if issue.severity == "error"]
    assert [issue.message for issue in errors] == [
        "The names of the columns seem to stand in row 3, below a heading"
    ]
    assert errors[0].fix == ("Read the table from there", "skip_rows", 2)
    with pytest.raises(DataError, match="below a heading") as refused:
        read_dataset(path)
    assert "“skip_rows” (2)" in refused.value.hint
    data = read_dataset(path, {"skip_rows": 2})
    assert (data.shape, data.column_names) == ((8, 3), ("crp", "leuko", "age"))


@pytest.mark.parametrize(
    "text",
    [
        "id,a,b,c,d\nx,1,2,3,4\ny,,,,5\nz,1,,,\n",
        "x,,,,\ny,1,2,3,4\nz,1,2,3,4\n",  # a first row of gaps, then numbers
        ",a,b,c,d\nx,1,2,3,4\n",
        "a,b\n1,2\n3,4\n",
    ],
)
def test_tables_with_gaps_have_no_heading(write, text):
    assert not [issue for issue in preview(write(text)).issues if "heading" in issue.message]


# -- whole numbers beside labels --------------------------------------------------------------------------------


def test_a_chromosome_is_told_among_the_samples(write):
    rng = np.random.default_rng(1)
    lines = ["ProbeID,Symbol,Chromosome,Start," + ",".join(f"S{j}" for j in range(24))]
    for i in range(30):
        lines.append(
            f"{1000 + i}_at,AB{i % 9},{1 + i % 22},{9 * i},"
            + ",".join(f"{v:.4f}" for v in rng.normal(7, 1, 24))
        )
    path = write("\n".join(lines) + "\n")
    found = issue(preview(path), "“Chromosome”, “Start” hold whole numbers, all others fractions")
    assert found.fix == ("Use them as labels", "labels", Added((2, 3)))
    assert read_dataset(path, {"labels": [1, 2, 3]}).shape == (30, 24)


def test_an_age_among_other_measurements_is_not_told(write):
    rng = np.random.default_rng(2)
    titles = "id,a,b,age,d,e,f,g,h,i,j"
    rows = [",".join(f"{v:.2f}" for v in rng.normal(size=9)).split(",") for _ in range(20)]
    body = [",".join([f"p{i}", *row[:2], str(20 + i), *row[2:]]) for i, row in enumerate(rows)]
    assert not [
        issue
        for issue in preview(write("\n".join([titles, *body]) + "\n")).issues
        if "fractions" in issue.message
    ]


def test_an_age_among_answers_in_words_is_not_told(write):
    body = "".join(f"p{i},{','.join(_AGREE[(i * k) % 4] for k in range(1, 7))},{20 + i}\n" for i in range(12))
    shown = preview(write(f"id,a,b,c,d,e,f,age\n{body}"), answers=_IN_ORDER)
    assert shown.roles.count("value") == 7
    assert not [issue for issue in shown.issues if "fractions" in issue.message]


# -- copies -----------------------------------------------------------------------------------------------------


def test_copies_of_columns_and_rows_are_told(write):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(25, 4)).round(3)
    values = np.column_stack([values, values[:, 1]])
    values[20] = values[2]
    text = "id,a,b,c,d,b again\n" + "".join(
        f"p{i},{','.join(map(str, row))}\n" for i, row in enumerate(values)
    )
    path = write(text)
    shown = preview(path)
    column = issue(shown, "1 column has the same values as an earlier one")
    assert (column.detail, column.fix) == ("“b again” as “b”", ("Leave it out", "skip", Added((5,))))
    row = issue(shown, "1 row has the same values as an earlier one")
    assert (row.detail, row.fix) == ("“p20” as “p2”", None)
    assert read_dataset(path, {"skip": [5]}).shape == (25, 4)


def test_rows_of_grades_may_be_alike(write):
    text = "id,a,b,c\n" + "".join(f"p{i},{1 + i % 3},{1 + i % 2},{1 + i % 3}\n" for i in range(30))
    messages = [issue.message for issue in preview(write(text)).issues]
    assert "1 column has the same values as an earlier one" in messages
    assert not [message for message in messages if message.startswith(("28 rows", "24 rows"))]


def test_a_row_with_a_single_value_is_not_the_same_everywhere(write):
    text = "id,a,b\n" + "".join(f"p{i},{i}.5,{'' if i % 4 == 0 else i + 1}\n" for i in range(24))
    assert not [issue for issue in preview(write(text)).issues if "same value everywhere" in issue.message]


# -- marks, totals, skewness --------------------------------------------------------------------------------------


def test_a_mark_that_can_be_only_one_is_offered(write):
    path = write("id,n,share\n" + "".join(f'p{i},"21{i},230",4{i}.8\n' for i in range(9)))
    found = issue(preview(path), "The decimal mark cannot be told")
    assert found.fix == ("It is the point: 210,230 is 210230", "decimal", ".")
    assert found.other is None
    np.testing.assert_array_equal(read_dataset(path, {"decimal": "."}).values[0], [210230, 40.8])


def test_a_mark_that_may_be_either_is_offered_both_ways(write):
    path = write("id;n;m\n" + "".join(f"p{i};1,23{i};2,50{i}\n" for i in range(9)))
    found = issue(preview(path), "The decimal mark cannot be told")
    assert found.fix == ("It is the point: 1,230 is 1230", "decimal", ".")
    assert found.other == ("It is the comma: 1,230 is 1.230", "decimal", ",")


def test_a_department_called_somme_is_no_total(write):
    lines = ["place,men,women", *(f"P{i},{500 + 7 * i},{480 + 9 * i}" for i in range(20)), "Somme,510,490"]
    path = write("\n".join(lines) + "\n")
    assert not [issue for issue in preview(path).issues if "sum up" in issue.message]
    total = f"Somme,{sum(500 + 7 * i for i in range(20))},{sum(480 + 9 * i for i in range(20))}"
    assert issue(preview(write("\n".join([*lines[:-1], total]) + "\n")), "1 row seems to sum up others")


def test_columns_in_different_units_are_not_skewed(write):
    rng = np.random.default_rng(4)
    columns = [scale * (2 + rng.uniform(size=60)) for scale in (0.01, *[1] * 8, 600)]
    body = "\n".join(
        ",".join(map(str, (f"p{i}", *row))) for i, row in enumerate(np.column_stack(columns).round(4))
    )
    assert not [
        i for i in preview(write(f"id,a,b,c,d,e,f,g,h,i,j\n{body}\n")).issues if "skewed" in i.message
    ]
    body = "\n".join(
        ",".join(map(str, (f"p{i}", *row))) for i, row in enumerate(rng.lognormal(0, 1.5, (60, 5)).round(4))
    )
    assert issue(preview(write(f"id,a,b,c,d,e\n{body}\n")), "All values are positive and strongly skewed")


def test_dates_that_come_back_are_no_labels_to_tell_apart(write):
    days = [f"{1 + i % 20:02d}.11.2023" for i in range(30)]
    body = "".join(f"p{i},{day},{i}.5\n" for i, day in enumerate(days))
    assert not [
        issue for issue in preview(write(f"id,day,a\n{body}")).issues if "more than once" in issue.message
    ]


# -- outcomes among numbers -----------------------------------------------------------------------------------


def test_numbers_that_are_called_like_an_outcome_are_labels_and_stay_numbers(write):
    text = "a,b,c,Target\n" + "".join(f"{i}.5,{i * i},{i % 3}.25,{i % 2}\n" for i in range(12))
    shown = preview(write(text))
    found = issue(shown, "Column 4 “Target” is called like an outcome")
    assert (found.severity, found.fix) == ("info", ("Read as numbers", "labels", []))
    data = read_dataset(write(text))
    assert data.column_names == ("a", "b", "c")
    assert data.row_table["Target"].tolist() == [i % 2 for i in range(12)]
    few = "a,target\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(12))
    assert read_dataset(write(few)).column_names == ("a", "target"), "one other column is no table of inputs"


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("y", "Column 4 “y” is called like an outcome"),
        ("quality", "Column 4 “quality” may be the outcome, as a column says which rows are for a test"),
    ],
)
def test_where_a_column_says_which_rows_are_for_a_test_few_whole_numbers_are_the_outcome(write, title, said):
    rows = [f"{i}.5,{i * i}.25,{i % 3}.25,{i % 4}" for i in range(12)]
    parts = "".join(f"{row},{'train' if i % 3 else 'test'}\n" for i, row in enumerate(rows))
    found = issue(preview(write(f"a,b,c,{title},set\n{parts}")), said)
    assert (found.severity, found.fix) == ("info", ("Read as numbers", "labels", [4]))
    data = read_dataset(write(f"a,b,c,{title},set\n{parts}"))
    assert (data.column_names, sorted(data.row_table)) == (("a", "b", "c"), sorted([title, "set"]))
    halves = "".join(f"{row},{'Training' if i % 3 else 'Holdout'}\n" for i, row in enumerate(rows))
    assert read_dataset(write(f"a,b,c,{title},set\n{halves}")).column_names == ("a", "b", "c")
    groups = "".join(f"{row},{'north' if i % 3 else 'south'}\n" for i, row in enumerate(rows))
    assert read_dataset(write(f"a,b,c,{title},set\n{groups}")).column_names == ("a", "b", "c", title)


def test_the_true_class_and_which_rows_are_labelled_are_no_measurements(write):
    """As in sets for few labels, where the true class is known and the model is told that of some rows."""
    text = "x1,x2,y_true,labelled\n" + "".join(f"{i}.5,{i * i}.25,{i % 2},{int(i < 4)}\n" for i in range(12))
    shown = preview(write(text))
    issue(shown, "Column 3 “y_true” is called like an outcome")
    found = issue(shown, "Column 4 “labelled” says which rows are labelled")
    assert (found.severity, found.fix) == ("info", ("Read as numbers", "labels", [2]))
    data = read_dataset(write(text))
    assert (data.column_names, sorted(data.row_table)) == (("x1", "x2"), ["labelled", "y_true"])
    amounts = text.replace(",1\n", ",2.5\n")
    assert "labelled" in read_dataset(write(amounts)).column_names, "shares of a dye, say"


@pytest.mark.parametrize(
    "times",
    [range(1871, 1891), [1949 + k / 12 for k in range(20)], [f"2021-03-{k + 1:02d}" for k in range(20)]],
    ids=["years", "months", "dates"],
)
def test_what_is_measured_over_time_is_what_the_time_explains(write, times):
    rows = [f"{time},{k % 7}.5" for k, time in enumerate(times)]
    text = "\n".join(["Time,flow", *rows]) + "\n"
    options = {"dates": "years"} if isinstance(times[0], str) else {}
    found = issue(preview(write(text), **options), "Column 2 “flow” is measured over time")
    assert (found.severity, found.fix) == ("info", ("Read as numbers", "labels", []))
    data = read_dataset(write(text), options)
    assert (data.shape, data.column_names, list(data.row_table)) == ((20, 1), ("Time",), ["flow"])
    mostly_apart = (
        "\n".join(["Time,flow", *(f"{time},{min(k, 18)}.5" for k, time in enumerate(times))]) + "\n"
    )
    assert not any(
        "more than once" in told.message for told in preview(write(mostly_apart), **options).issues
    )
    outcome = Input("y", "vector", "real", dims=("sample",), samples="sample")
    assert str(usual_choice(data, outcome)).endswith(":row:flow")


@pytest.mark.parametrize(
    "text",
    [
        "time,a,b\n" + "".join(f"{k},{k % 7}.5,{k % 5}.5\n" for k in range(20)),
        "time,a\n" + "".join(f"{k % 5},{k % 7}.5\n" for k in range(20)),
        "dose,a\n" + "".join(f"{k},{k % 7}.5\n" for k in range(20)),
        "time,day\n" + "".join(f"{k},{k % 7}.5\n" for k in range(20)),
        "time,a\n" + "".join(f"{k},{k % 7}.5\n" for k in range(6)),
    ],
    ids=["several courses", "times again", "no time", "two times", "few"],
)
def test_what_may_be_something_else_than_a_course_is_measured_with_its_time(write, text):
    assert len(read_dataset(write(text)).column_names) == len(text.split("\n")[0].split(","))


def table_over_time(title="year", first=1800, n=12, columns=10, cell="0", step=1):
    """A time and so many columns of 0 and 1, but for the last cell."""
    rows = [f"{first + step * k}" + f",{k % 2}" * columns for k in range(n)]
    rows[-1] = rows[-1][: rows[-1].rindex(",")] + f",{cell}"
    return "\n".join([",".join([title, *(f"c{chr(97 + k)}" for k in range(columns))]), *rows]) + "\n"


@pytest.mark.parametrize(
    "asked", [{}, {"cell": "17"}, {"title": "Jahr", "step": -5}, {"title": "Day", "first": 1}]
)
def test_a_time_beside_many_counts_is_no_count(write, asked):
    """Else 1800 would be the largest count of all; it is told, and one click measures it."""
    shown = preview(write(table_over_time(**asked)))
    found = issue(shown, f"Column 1 “{asked.get('title', 'year')}” is a time, and all others hold counts")
    assert (found.severity, found.fix) == ("info", ("Read as numbers", "labels", []))
    assert found.other == ("Use it as row names", "names", 0)
    data = read_dataset(write(table_over_time(**asked)))
    assert (data.kind, data.shape) == ("count" if asked.get("cell") else "binary", (12, 10))
    assert list(data.row_table) == [asked.get("title", "year")]


@pytest.mark.parametrize(
    "asked",
    [{"columns": 3}, {"cell": "0.5"}, {"cell": "-1"}, {"title": "size"}, {"step": 0}, {"n": 4}],
    ids=["on which a few may depend", "amounts", "below 0", "title", "one year", "four rows"],
)
def test_any_other_time_is_measured(write, asked):
    text = table_over_time(**asked)
    assert read_dataset(write(text)).column_names[0] == text.partition(",")[0]
    years = table_over_time().replace("1805", "1905")
    assert read_dataset(write(years)).column_names[0] == "year", "it does not go on by the same"


def test_a_matrix_of_correlations_is_told(write):
    rng = np.random.default_rng(1)
    found = np.corrcoef(rng.standard_normal((5, 30))).round(3)

    def told(values):
        body = "\n".join(",".join(map(str, (f"t{i}", *row))) for i, row in enumerate(values))
        return [
            i for i in preview(write(f"id,t0,t1,t2,t3,t4\n{body}\n")).issues if "correlations" in i.message
        ]

    assert [issue.severity for issue in told(found)] == ["warning"]
    assert told(found - 1e-15 * np.eye(5)), "as it was computed and not rounded"
    for other in (found + 0.5 * np.triu(np.ones((5, 5)), 1) * found, found + np.eye(5), np.eye(5)):
        assert not told(other)
