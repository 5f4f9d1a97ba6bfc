"""Delimited text: what is detected, what is asked, what is refused and in which words."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told_issues import issue

from plaidwork.core.data.importers import find_reader, read_dataset
from plaidwork.core.data.importers._column import read_annotations
from plaidwork.core.data.importers._numbers import DEFAULT_MISSING
from plaidwork.core.data.importers._text import format_tokens, parse_tokens
from plaidwork.core.data.importers.base import Added
from plaidwork.core.data.importers.delimited import DelimitedReader
from plaidwork.core.errors import DataError

PLAIN = "gene,about,s1,s2,s3\ng1,first,0.5,1.25,-3\ng2,second,NA,1e-3,7\ng3,third,2,,8\n"


def preview(path, **options):
    return DelimitedReader().preview(path, options)


def test_plain_table(write):
    data = read_dataset(write(PLAIN))
    assert data.name == "x"
    assert data.row_names == ("g1", "g2", "g3")
    assert data.column_names == ("s1", "s2", "s3")
    assert list(data.row_table["about"]) == ["first", "second", "third"]
    assert (data.row_label, data.column_label, data.kind) == ("genes", "samples", "real")
    np.testing.assert_array_equal(data.values, [[0.5, 1.25, -3], [np.nan, 1e-3, 7], [2, np.nan, 8]])
    assert data.source.file == "x.csv"
    assert len(data.source.sha256) == 64
    assert data.source.options["delimiter"] == ","


def test_options_in_force_read_the_same_again(write):
    path = write(PLAIN.replace(",", ";"))
    data = read_dataset(path)
    assert read_dataset(path, data.source.options).digest() == data.digest()


@pytest.mark.parametrize(
    ("mark", "name"), [(",", "a.csv"), ("\t", "a.tsv"), (";", "a.csv"), ("|", "a.txt"), ("  ", "a.txt")]
)
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_compression_and_marks(write, mark, name, packed, encoding):
    text = PLAIN.replace(",,", ",NA,").replace("first", "für").replace(",", mark)
    data = read_dataset(write(text, name + packed, encoding))
    assert data.shape == (3, 3)
    assert data.row_table["about"][0] == "für"
    assert data.column_names[0] == "s1"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines(write, end):
    data = read_dataset(write(end.join(["a,b", "1.5,2", "", "3,4", ""])))
    np.testing.assert_array_equal(data.values, [[1.5, 2], [3, 4]])


def test_quotes_hold_separators_and_line_ends(write):
    data = read_dataset(write('id,about,x,y\ng1,"a, ""b""\nc",1.5,2\ng2,d,3,4\n'))
    assert data.row_table["about"][0] == 'a, "b"\nc'


def test_quotes_in_columns_of_blanks(write):
    data = read_dataset(write('id about x y\ng1 "a b" 1.5  2\n g2 c 3 4\n', "x.txt"))
    assert list(data.row_table["about"]) == ["a b", "c"]


def test_header_as_r_writes_it(write):
    data = read_dataset(write("s1 s2\ng1 1.5 2\ng2 3 4\n", "x.txt"))
    assert data.row_names == ("g1", "g2")
    assert data.column_names == ("s1", "s2")


def test_separator_at_the_end_of_rows_does_not_shift_columns(write):
    path = write("a,b\n1.5,2,\n3,4,\n")
    data = read_dataset(path, {"drop_empty_columns": True})
    assert data.column_names == ("a", "b")
    np.testing.assert_array_equal(data.values, [[1.5, 2], [3, 4]])


def test_header_as_pandas_writes_it(write):
    data = read_dataset(write(",0,1,2\n0,1.5,2,3\n1,4,5,6\n"))
    assert data.row_names == ("0", "1")
    assert data.column_names == ("0", "1", "2")


def test_no_header_no_names(write):
    data = read_dataset(write("1,2\n3,4\n"))
    assert data.row_names == ("row 1", "row 2")
    assert data.column_names == ("column 1", "column 2")
    assert data.row_label == "rows"


def test_sentences_are_labels_and_no_names(write):
    """Unless their title says that they are names: descriptions of genes may be as long."""
    said = [f"the room was clean and quiet, number {k}" for k in range(6)]
    for title, named in (("review", False), ("name", True), ("", True)):
        lines = [f"{title},stars,price", *(f'"{text}",{k},{k / 2}' for k, text in enumerate(said))]
        data = read_dataset(write("\n".join(lines) + "\n"))
        assert data.column_names == ("stars", "price")
        assert (data.row_names == tuple(said)) == named
        assert ("review" in data.row_table) == (not named)


def test_a_file_of_labels_alone_is_read_as_labels(write):
    path = write("id,class\ng1,ALL\ng2,AML\ng3,ALL\ng4,\n")
    data = read_dataset(path)
    assert (data.kind, data.categories, data.values.tolist()) == (
        "categorical",
        ("ALL", "AML"),
        [0, 1, 0, -1],
    )
    assert data.row_names == ("g1", "g2", "g3", "g4")
    assert issue(preview(path), "Only column 2 “class” is read, as labels: 2 classes")
    with pytest.raises(DataError, match="has no column of numbers") as several:
        read_dataset(write("id,class,batch\ng1,ALL,a\ng2,AML,b\ng3,ALL,a\n"))
    assert "“column”" in several.value.hint
    assert "“class”, “batch”" in several.value.hint
    with pytest.raises(DataError, match="has no column of numbers"):
        read_dataset(write("id,text\na,one dog\nb,two cats\nc,three birds\n"))


def test_columns_can_be_given_roles(write):
    path = write("id,age,x,y\n1,30,0.5,2\n2,41,1.5,3\n")
    data = read_dataset(path, {"labels": ["age"], "skip": ["y"]})
    assert data.column_names == ("x",)
    assert list(data.row_table["age"]) == [30.0, 41.0]
    assert preview(path, labels=["age"], skip=["y"]).roles == ("name", "label", "value", "skip")
    assert read_dataset(path, {"names": -1}).column_names == ("id", "age", "x", "y")
    assert read_dataset(path, {"labels": "age", "skip": "y"}).column_names == ("x",)


def test_codes_stay_text(write):
    data = read_dataset(write("id,code,x,y\na,007,0.5,1\nb,012,1.5,2\n"), {"labels": ["code"]})
    assert list(data.row_table["code"]) == ["007", "012"]


def test_labels_of_one_title_are_kept_apart(write):
    data = read_dataset(write("id,t,t,x\na,u,v,0.5\nb,w,z,1.5\n"), {"names": 0, "labels": [1, 2]})
    assert {title: list(column) for title, column in data.row_table.items()} == {
        "t": ["u", "w"],
        "t (2)": ["v", "z"],
    }


def test_axis_words(write):
    path = write("id,x,y\na,0.5,1\nb,1.5,2\n")
    assert read_dataset(path, {"samples_in": "columns"}).column_label == "samples"
    assert read_dataset(path, {"samples_in": "rows"}).row_label == "samples"
    turned = read_dataset(path, {"samples_in": "rows", "transpose": True})
    assert (turned.row_names, turned.column_names, turned.column_label) == (("x", "y"), ("a", "b"), "samples")
    np.testing.assert_array_equal(turned.values, [[0.5, 1.5], [1, 2]])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [("1 0\n0 NA", "binary"), ("1 0\n0 3", "count"), ("1 0\n0 -3", "real"), ("1 0\n0 1.5", "real")],
)
def test_kind(write, cells, kind):
    assert read_dataset(write(cells, "x.txt")).kind == kind


def test_kind_asked_for_is_checked(write):
    path = write("a,b\n1,2\n3,4\n")
    assert read_dataset(path, {"kind": "real"}).kind == "real"
    with pytest.raises(DataError, match=r"binary values need 0 and 1 only. Found “2”"):
        read_dataset(path, {"kind": "binary"})


# --- decimal marks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a;b\n1,5;2\n0,123;-4,25\n", [[1.5, 2], [0.123, -4.25]]),
        ("a;b\n1,234;2,5\n3;4\n", [[1.234, 2.5], [3, 4]]),
        ("a;b\n1.234;2.5\n3;4\n", [[1.234, 2.5], [3, 4]]),
        ("a;b\n12345,678;2\n3;4\n", [[12345.678, 2], [3, 4]]),
    ],
)
def test_decimal_mark_is_detected_where_it_is_certain(write, text, values):
    np.testing.assert_array_equal(read_dataset(write(text)).values, values)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a;b\n1,234;2\n3;4\n", "“1,234” can be 1234 or 1.234"),
        ("a;b\n1.234;2\n3;4\n", "“1.234” can be 1234 or 1.234"),
        ("a;b\n1.5;2\n3;2,5\n", "Both marks occur: “1.5” and “2,5”"),
        ("a;b\n1,23,4.5;2\n3;4\n2;3\n", "“1,23,4.5” has marks that can be read in two ways"),
        ("a;b\n1,234,567;2\n3;4,5\n", "Both marks occur: “1,234,567” and “4,5”"),
        ('a,b\n"1,234",2\n3,4\n', "“1,234” can be 1234 or 1.234"),
    ],
)
def test_unclear_decimal_mark_is_asked_for(write, text, reason):
    path = write(text)
    shown = preview(path)
    assert reason in shown.unclear["decimal"]
    assert shown.options["decimal"] == ""
    assert "decimal" not in shown.detected
    assert issue(shown, "decimal mark cannot be told").severity == "error"
    with pytest.raises(DataError, match="the decimal mark cannot be told") as caught:
        read_dataset(path)
    assert reason in caught.value.message
    assert "Choose the decimal mark" in caught.value.hint


def test_chosen_decimal_mark_settles_it(write):
    path = write("a;b\n1,234;2\n3;4\n")
    assert read_dataset(path, {"decimal": ","}).values[0, 0] == 1.234
    data = read_dataset(path, {"decimal": "."})
    assert data.values[0, 0] == 1234
    assert "thousands" in data.notes
    assert not preview(path, decimal=".").unclear


@pytest.mark.parametrize("late", ["1,234", "2,5", "1.234.567"])
def test_mark_that_contradicts_late_in_a_long_file(write, late):
    path = write("a;b\n" + "1.5;2\n" * 5000 + f"3;{late}\n")
    with pytest.raises(DataError, match=r"row 5002, column 2 “b”: the decimal mark cannot be told"):
        read_dataset(path)
    assert preview(path).unclear["decimal"]


def test_unsure_mark_that_is_never_settled_in_a_long_file(write):
    path = write("a;b\n" + "1;2\n" * 1000 + "3;1,234\n")
    with pytest.raises(DataError, match="the decimal mark cannot be told"):
        read_dataset(path)


def test_point_is_not_decimal_when_comma_was_chosen(write):
    path = write("a;b\n1,5;2.5\n3;4\n")
    with pytest.raises(
        DataError, match=r"x.csv, row 2, column 2 “b”: expected a number with a decimal comma, found “2.5”"
    ):
        read_dataset(path, {"decimal": ","})


# --- numbers are never altered -----------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([",", "."]),
)
def test_text_to_value_to_text(tmp_path_factory, rows, mark):
    path = tmp_path_factory.mktemp("round") / "x.csv"
    lines = [";".join(repr(value).replace(".", mark) for value in row) for row in rows]
    path.write_text("a;b;c\n" + "\n".join(lines) + "\n")
    data = read_dataset(path, {"decimal": mark, "header": True, "names": -1, "labels": []})
    back = [";".join(repr(float(value)).replace(".", mark) for value in row) for row in data.values]
    assert back == lines


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?", fullmatch=True)
)
def test_every_number_is_float_of_its_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("text") / "x.csv"
    path.write_text(f"a;b\n{text};1\n")
    options = {"decimal": ".", "header": True, "names": -1, "labels": [], "inexact": "nearest"}
    data = read_dataset(path, options)
    assert data.values[0, 0] == float(text)


@pytest.mark.parametrize("text", ["1_000", "٣", "0x10", "1e", "1.2.3", "12 3", "--1", "5%"])
def test_texts_that_are_no_numbers(write, text):
    path = write(f"a;b\n1.5;2\n{text};3\n2.5;3\n")
    with pytest.raises(DataError, match=r"row 3, column 1 “a”: expected a number"):
        read_dataset(path)


def test_numeric_missing_token(write):
    data = read_dataset(write("a,b\n-999,1.5\n2,-999\n"), {"missing": ["-999"]})
    np.testing.assert_array_equal(data.values, [[np.nan, 1.5], [2, np.nan]])


@pytest.mark.parametrize(
    "token", ["NA", "na", "NaN", "nan", "", " ", "null", "NULL", ".", "-", "N/A", "None"]
)
def test_missing_tokens(write, token):
    assert read_dataset(write(f"a,b\n{token},1.5\n2,3\n")).n_missing == 1


def test_token_text():
    assert parse_tokens("NA, empty, -") == ("NA", "", "-")
    assert format_tokens(("NA", "", "-")) == "NA, empty, -"
    tokens = ("<0,05", 'a "b"', "", "n.d.")
    assert parse_tokens(format_tokens(tokens)) == tokens
    assert parse_tokens("usual, n.d.") == (*DEFAULT_MISSING, "n.d.")


# --- what is wrong -----------------------------------------------------------------------------------------


def test_ragged_row(write):
    path = write("a,b,c\n1,2,3\n4,5\n6,7,8\n9,9,9,9\n")
    with pytest.raises(DataError, match=r"x.csv, row 3: 2 fields found, 3 expected"):
        read_dataset(path)
    found = issue(preview(path), "2 rows have a number of fields other than 3")
    assert (found.severity, found.row, found.detail) == ("error", 3, "First: row 3 has 2")
    assert found.fix[1:] == ("ragged", "drop")
    np.testing.assert_array_equal(read_dataset(path, {"ragged": "drop"}).values, [[1, 2, 3], [6, 7, 8]])


def test_short_rows_can_be_filled(write):
    data = read_dataset(write("a,b,c\n1,2,3\n4,5\n6,7,8\n"), {"ragged": "pad"})
    np.testing.assert_array_equal(data.values[1], [4, 5, np.nan])


def test_cell_that_is_no_number(write):
    path = write("id,a,b\nx,1.5,2\ny,3,high\nz,5,6\n")
    with pytest.raises(
        DataError, match=r"x.csv, row 3, column 3 “b”: expected a number with a decimal point, found “high”"
    ):
        read_dataset(path)
    found = issue(preview(path), "1 cell with “high” is no number")
    assert (found.row, found.column, found.severity) == (3, 3, "error")
    assert found.fix == ("Treat as missing", "missing", Added(("high",)))
    assert read_dataset(path, {"missing": "usual, high"}).n_missing == 1


def test_cells_that_are_no_numbers(write):
    cells = [2, "high", 6, "low", 2, "mid", 3, "top", 4, "max", 5, "min", 1, 2]
    path = write("id,a,b\n" + "".join(f"n{i},{i}.5,{cell}\n" for i, cell in enumerate(cells)))
    found = issue(preview(path), "6 cells in column 3 “b” are no numbers")
    assert found.fix == ("Use the column as a label", "labels", Added((2,)))
    assert found.other == ("Treat as missing", "missing", Added(("high", "low", "mid", "top", "max", "min")))
    assert found.places[1] == "row 5, column 3 “b”: “low”"
    assert list(read_dataset(path, {"labels": ["b"]}).row_table["b"]) == [str(cell) for cell in cells]


def test_bad_cell_in_the_middle_of_a_batch(write):
    path = write("a,b\n" + "1.5,2\n" * 3000 + "1.5,x\n" + "1.5,2\n" * 3000)
    with pytest.raises(DataError, match=r"row 3002, column 2 “b”.*found “x”"):
        read_dataset(path)


@pytest.mark.parametrize("text", ["inf", "-Infinity"])
def test_infinite_values(write, text):
    path = write(f"a,b\n1.5,2\n3,{text}\n")
    with pytest.raises(DataError, match=f"row 3, column 2 “b”: expected a finite number, found “{text}”"):
        read_dataset(path)
    found = issue(preview(path), "1 value is infinite")
    assert read_dataset(path, {found.fix[1]: found.fix[2]}).n_missing == 1


def test_repeated_names(write):
    path = write("gene,s,s,t\na,1.5,2,3\nb,4,5,6\na,7,8,9\na,1,2,4\n")
    with pytest.raises(DataError, match=r"row name “a” occurs more than once \(rows 1, 3 and 4\)"):
        read_dataset(path)
    found = issue(preview(path), "1 row name occurs more than once")
    assert (found.severity, found.fix[1:]) == ("error", ("rename_duplicates", True))
    assert found.places == ("“a”: 3 times, rows 2, 4 and 5",)
    assert issue(preview(path), "1 column name").places == ("“s”: twice, columns 2 and 3",)
    data = read_dataset(path, {"rename_duplicates": True})
    assert data.row_names == ("a", "b", "a (2)", "a (3)")
    assert data.column_names == ("s", "s (2)", "t")
    assert not [e for e in preview(path, rename_duplicates=True).issues if "name" in e.message]


def test_repeated_labels(write):
    path = write(
        "id,about,x,y\n" + "".join(f"g{i},{'same' if i < 2 else i * 'k'},0.5,{i}\n" for i in range(6))
    )
    found = issue(preview(path), "1 label occurs more than once")
    data = read_dataset(path, {found.fix[1]: found.fix[2]})
    assert list(data.row_table["about"])[:3] == ["same (g0)", "same (g1)", "kk"]


def test_empty_and_constant_lines(write):
    path = write("id,a,b,c\nx,1.5,,3\ny,,,\nz,2,,3\nw,4,NA,3\n")
    shown = preview(path)
    assert issue(shown, "1 row has no value at all").detail == "“y”"
    assert issue(shown, "1 column has no value at all").detail == "“b”"
    assert issue(shown, "1 column has the same value everywhere").detail == "“c”"
    options = {entry.fix[1]: entry.fix[2] for entry in shown.issues if entry.fix}
    data = read_dataset(path, options)
    assert (data.row_names, data.column_names) == (("x", "z", "w"), ("a",))
    assert [str(step) for step in data.steps][-1] == "1 of 2 columns left out (constant)"
    assert not preview(path, **options).issues


def test_few_columns_may_be_alike_by_chance_in_a_row(write):
    body = "".join(f"s{i},{i % 3},{i % 4}\n" for i in range(24))
    assert not [
        told for told in preview(write(f"id,visit,hour\n{body}")).issues if "same value" in told.message
    ]


def test_names_filled_with_spaces_are_told_in_one_line(write):
    body = "".join(f"s{i},{i}.25,{i}.5,{i}.75\n" for i in range(24))
    shown = preview(write(f"id,a,b,c\ncontrol{' ' * 40}1,3.25,3.5,3.75\n{body}"))
    assert issue(shown, "1 row has the same values as an earlier one").detail == "“s3” as “control 1”"


def test_logarithms_are_offered_never_taken(write):
    values = np.exp(np.random.default_rng(1).normal(0, 2, size=(30, 4)))
    path = write("a,b,c,d\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist()))
    found = issue(preview(path), "All values are positive and strongly skewed")
    assert (found.severity, found.fix[1:]) == ("info", ("log", "log"))
    assert not re.search(r"e[+-]", found.detail), "numbers for people have no exponent"
    np.testing.assert_array_equal(read_dataset(path).values, values)
    data = read_dataset(path, {"log": "log"})
    np.testing.assert_array_equal(data.values, np.log(values))
    assert [step.name for step in data.steps] == ["log"]
    assert read_dataset(path, {"log": True}).digest() == data.digest()


def test_not_utf8(write):
    path = write("name,x,y\nmüller,1.5,2\nb,3,4\n", encoding="latin-1")
    with pytest.raises(DataError, match=r"x.csv is not UTF-8: byte 0xFC at position 11, row 2"):
        read_dataset(path)
    shown = preview(path)
    assert shown.unclear["encoding"]
    assert shown.issues[0].fix == ("Read as Latin-1", "encoding", "latin-1")
    assert shown.cells[0][0] == "müller"
    assert read_dataset(path, {"encoding": "latin-1"}).row_names == ("müller", "b")


def test_neither_utf8_nor_a_table(write):
    shown = preview(write(b"a\xe9,b\n1,2\n"), skip_rows=5)
    assert [entry.severity for entry in shown.issues] == ["error", "error"]


def test_not_utf8_far_into_the_file(write):
    body = b"a,b\n" + b"1.5,2\n" * 30_000 + b"\xe9,2\n"
    with pytest.raises(DataError, match=r"byte 0xE9 at position 180005, row 30002"):
        read_dataset(write(body))


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "x.csv", "holds no rows"),
        (b"\n\n", "x.csv", "holds no rows"),
        (b"a,b\n", "x.csv", "no column of numbers|no rows of numbers"),
        (b"PK\x03\x04\0\0", "x.csv", "is not a text file"),
        (b"id,a,b\nx,y,u\nz,w,v\n", "x.csv", "has no column of numbers"),
    ],
)
def test_files_that_hold_no_table(write, content, name, message):
    path = write(content, name)
    with pytest.raises(DataError, match=message):
        read_dataset(path)
    assert preview(path).issues[0].severity == "error"


def test_damaged_gzip(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 20000)[:-20])
    with pytest.raises(DataError, match="cannot be uncompressed"):
        read_dataset(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError, match="cannot be uncompressed"):
        read_dataset(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "x"}, "option delimiter must be one of"),
        ({"decimal": "x"}, "option decimal must be"),
        ({"encoding": "ebcdic"}, "option encoding must be one of"),
        ({"samples_in": "x"}, "option samples_in must be"),
        ({"names": "nobody"}, "names a column “nobody” that is not in the file"),
        ({"labels": [99]}, "needs a column from 0 to 4. Found “99”"),
        ({"kind": "odd"}, "kind must be one of real, count, binary, ordinal, categorical. Found “odd”"),
    ],
)
def test_options_are_checked(write, options, message):
    with pytest.raises(DataError, match=message):
        read_dataset(write(PLAIN), options)


def test_unknown_format_and_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"a.doc is of no format.*csv"):
        find_reader(tmp_path / "a.doc")
    with pytest.raises(DataError, match="does not exist"):
        read_dataset(tmp_path / "a.csv")


# --- preview, progress, columns ----------------------------------------------------------------------------


def test_preview(write):
    shown = preview(write(PLAIN))
    assert shown.header == ("gene", "about", "s1", "s2", "s3")
    assert shown.roles == ("name", "label", "value", "value", "value")
    assert shown.cells[1] == ("g2", "second", "NA", "1e-3", "7")
    assert (shown.n_rows, shown.n_columns) == (3, 5)
    assert {"delimiter", "decimal", "header", "names", "samples_in", "encoding", "missing"} <= shown.detected
    assert shown.choices["names"][0] == (0, "Column “gene”")
    assert "delimiter" not in preview(write(PLAIN), delimiter=",").detected


def test_preview_of_a_long_file(write):
    path = write("a,b\n" + "1.5,2\n" * 500_000)
    shown = preview(path)
    assert len(shown.cells) <= 200
    assert shown.n_rows == 500_000
    assert issue(shown, "The first 200 rows were checked").severity == "info"


@pytest.mark.long
def test_progress_and_cancel(write):
    path = write("a,b\n" + "1.5,2\n" * 200_000)
    seen = []
    read_dataset(path, None, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 5

    def stop(share):
        if share > 0.3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        read_dataset(path, None, stop)


def test_one_column_as_labels_or_vector(write):
    path = write("sample,class,age\na,x,30\nb,NA,41.5\nc,w,NA\n")
    labels = read_dataset(path, {"column": "class"})
    assert (labels.kind, labels.categories, labels.name) == ("categorical", ("w", "x"), "class")
    assert labels.values.tolist() == [1, -1, 0]
    ages = read_dataset(path, {"column": 2})
    assert (ages.kind, ages.shape, ages.row_names) == ("real", (3,), ("a", "b", "c"))
    np.testing.assert_array_equal(ages.values, [30, 41.5, np.nan])
    assert read_dataset(path, {"column": "age", "kind": "categorical"}).categories == ("30", "41.5")
    with pytest.raises(DataError, match=r"expected numbers, found “x” in entry 1"):
        read_dataset(path, {"column": "class", "kind": "real"})


def test_table_of_annotations(write):
    table = read_annotations(write("sample,class,age\na,x,30\nb,y,NA\n"))
    assert table.names == ("a", "b")
    assert list(table.columns["class"]) == ["x", "y"]
    np.testing.assert_array_equal(table.columns["age"], [30, np.nan])
    with pytest.raises(DataError, match="at least one column of labels"):
        read_annotations(write("sample\na\nb\n"))
