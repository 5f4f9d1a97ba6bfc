"""No doubt is settled in silence: every one is told with its place, and mended only when asked for."""

import numpy as np
import pytest
from PIL import Image
from told_issues import issue, preview

from plaidwork.core.data.fit_inputs import noted
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.base import Added
from plaidwork.core.errors import DataError

# -- separators ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.tsv", "x.tab", "x.tsv.gz", "x.TAB"])
def test_files_that_are_called_so_are_read_at_tabs_first(write, name):
    path = write("id\tdose\trest\na\t50 %\t1 2 3\nb\t60 %\t4 5 6\nc\t70 %\t7 8 9\n", name)
    shown = preview(path)
    assert shown.options["delimiter"] == "\t"
    assert shown.header == ("id", "dose", "rest")
    assert issue(shown, "3 numbers have a percent sign").severity == "error"


def test_a_file_of_tabs_without_a_tab_says_so(write):
    shown = preview(write("id,a,b\nx,1.5,2\ny,2.5,3\n", "x.tsv"))
    assert shown.options["delimiter"] == ","
    assert "separated by commas" in issue(shown, "called .tsv but holds no tab").detail


# -- texts that are no numbers ------------------------------------------------------------------------------


def test_every_text_is_offered_as_missing_with_count_and_places(write):
    rows = [
        ("a", "1,5", "<0,05"),
        ("b", "n.d.", "2,5"),
        ("c", "n.d.", "n.d."),
        ("d", "2,5", "3,5"),
        ("e", "3,5", "4"),
    ]
    path = write("id;x;y\n" + "".join(";".join(row) + "\n" for row in rows))
    shown = preview(path)
    found = issue(shown, "3 cells with “n.d.” are no numbers")
    assert found.fix == ("Treat as missing", "missing", Added(("n.d.",)))
    assert found.places[:2] == ("row 3, column 2 “x”: “n.d.”", "row 4, column 2 “x”: “n.d.”")
    assert issue(shown, "1 cell with “<0,05” is no number").detail == "First: row 2, column 3 “y”"
    with pytest.raises(DataError, match="option “missing”"):
        read_dataset(path)
    data = read_dataset(path, {"missing": 'usual, n.d., "<0,05"'})
    assert data.n_missing == 4
    assert {"n.d.", "<0,05", "NA"} <= set(data.source.options["missing"])
    assert read_dataset(path, data.source.options).digest() == data.digest()


def test_the_same_in_a_table_of_one_row_per_value(write):
    rows = "".join(f"s{i},g{j},{i}.{j}5\n" for i in range(4) for j in range(3))
    path = write("sample,gene,value\n" + rows + "s4,g0,n.d.\ns4,g1,50 %\ns4\n")
    shown = preview(path)
    assert shown.options["layout"] == "long"
    found = issue(shown, "1 cell with “n.d.” is no number")
    assert (found.fix[1:], found.other) == (("missing", Added(("n.d.",))), None)
    assert issue(shown, "1 number has a percent sign").row == 15
    options = {"missing": "usual, n.d.", "percent": "number", "ragged": "drop"}
    assert read_dataset(path, options).values[4].tolist()[1] == 50
    assert not [entry for entry in preview(path, **options).issues if entry.severity == "error"]


def test_a_column_of_labels_with_numbers_among_them_is_told(write):
    path = write(
        "id,dose,b\n" + "".join(f"s{i},{i + 0.5 if i % 3 == 0 else 'n.d.'},{i}\n" for i in range(12))
    )
    found = issue(preview(path), "Column 2 “dose” is read as labels")
    assert found.detail == "4 of its first 12 cells are numbers"
    shown = preview(path, **{found.fix[1]: found.fix[2]})
    assert issue(shown, "8 cells with “n.d.” are no numbers").fix


def test_numbers_that_begin_with_0_are_codes(write):
    path = write("id,site,g1,g2\na,00123,1.5,2\nb,12000,2.5,1\nc,,0.5,2\nd,00123,0.2,9\n")
    found = issue(preview(path), "Column 2 “site” is read as labels")
    assert found.detail == "Numbers in it begin with 0, as codes do: “00123”"
    data = read_dataset(path)
    assert data.column_names == ("g1", "g2")
    assert list(data.row_table["site"]) == ["00123", "12000", "", "00123"]
    as_numbers = read_dataset(path, {found.fix[1]: found.fix[2]})
    assert as_numbers.values[0].tolist() == [123, 1.5, 2]
    assert "“site” is read as labels" in data.notes


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,a,b\nx,0,1\ny,0.5,010.5\n", ("a", "b")),  # zeros, and decimals
        ("id,a,b\nx,007,011\ny,002,012\n", ("a", "b")),  # all are so: a table of padded numbers
    ],
)
def test_other_zeros_are_numbers(write, text, columns):
    assert read_dataset(write(text)).column_names == columns


# -- marks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "mark", "value"),
    [
        ("1 234,5", " ", 1234.5),
        ("1\u202f234,5", " ", 1234.5),
        ("1'234.5", "'", 1234.5),
        ("1’234", "'", 1234.0),
        ("1,234,567", ",", 1234567.0),
        ("1.234.567", ".", 1234567.0),
        ("1,234.5", ",", 1234.5),
    ],
)
def test_thousands_marks_are_offered_never_applied(write, cell, mark, value):
    path = write(f"id|a|b\nx|{cell}|1\ny|{cell}|2\n")
    shown = preview(path)
    found = issue(shown, "between groups of three digits")
    assert found.fix[1:] == ("thousands", mark)
    assert shown.options["thousands"] == "none"
    with pytest.raises(DataError, match="option “thousands”"):
        read_dataset(path)
    data = read_dataset(path, {"thousands": mark})
    assert data.values[0, 0] == value
    assert data.source.options["thousands"] == mark


def test_one_comma_is_a_thousands_mark_where_another_number_has_two(write):
    path = write('id,price,n\na,"1,234",1\nb,"2,345,678",2\n')
    assert issue(preview(path), "2 numbers have a comma between groups").fix[1:] == ("thousands", ",")
    assert read_dataset(path, {"thousands": ","}).values[:, 0].tolist() == [1234, 2345678]


def test_percent_signs_are_offered_never_applied(write):
    path = write("id;a;b\nx;12,5 %;1\ny;7%;2\n")
    found = issue(preview(path), "2 numbers have a percent sign")
    assert found.fix == ("Leave out the sign (12.5)", "percent", "number")
    assert found.other == ("Read as a share (0.125)", "percent", "share")
    with pytest.raises(DataError, match="option “percent”"):
        read_dataset(path)
    assert read_dataset(path, {"percent": "number"}).values[:, 0].tolist() == [12.5, 7.0]
    assert read_dataset(path, {"percent": "share"}).values[:, 0].tolist() == [0.125, 0.07]


def test_thousands_and_decimal_mark_differ(write):
    with pytest.raises(DataError, match="both the decimal mark and the thousands mark"):
        read_dataset(write("a,b\n1,2\n"), {"decimal": ".", "thousands": "."})


# -- what a float cannot hold -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wide", "long"])
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("9007199254740993", "more digits than can be kept; it would become 9007199254740992"),
        ("1E-400", "too close to zero to be represented; it would become 0"),
        ("1e400", "too large to be represented"),
    ],
)
def test_numbers_that_cannot_be_represented_are_refused_with_their_place(write, name, cell, words):
    text = f"id,a,b\nx,1.5,2\ny,{cell},3\nz,4.5,5\n"
    if name == "long":
        text = f"sample,gene,value\nx,a,1.5\nx,b,{cell}\ny,a,3\ny,b,2\n"
    path = write(text)
    with pytest.raises(DataError, match=words) as caught:
        read_dataset(path)
    assert "row 3" in caught.value.message
    assert "column" in caught.value.message
    assert any(entry.severity == "error" and entry.row == 3 for entry in preview(path).issues)
    choice = {"infinite": "missing"} if cell == "1e400" else {"inexact": "missing"}
    assert read_dataset(path, choice).n_missing == 1
    if cell != "1e400":
        assert read_dataset(path, {"inexact": "nearest"}).n_missing == 0


def test_numbers_that_fit_are_not_told(write):
    shown = preview(write("a,b\n9007199254740992,0e-400\n2,1e300\n3,0.1\n"))
    assert not [entry for entry in shown.issues if entry.severity == "error"]


def test_a_column_of_long_numbers_is_refused_or_kept_as_label(write):
    path = write("id,a\nx,9007199254740993\ny,2\n")
    with pytest.raises(DataError, match=r"column 2 “a”, entry 1: “9007199254740993”"):
        read_dataset(path, {"column": "a"})
    assert read_dataset(path, {"column": "a", "kind": "categorical"}).categories == ("2", "9007199254740993")


def test_names_that_were_numbered_are_noted_and_said(write):
    path = write("gene,s,s\ng,1.5,2\ng,2.5,3\nh,3.5,4\n")
    options = {"rename_duplicates": True}
    data = read_dataset(path, options)
    assert "row names that occur more than once: “g”: twice, rows 1 and 2" in data.notes
    told = [one.text for one in noted({"X": (data,)}) if one.warn]
    assert any(
        "x: Numbers were added to column names that occur more than once: “s”: twice" in one for one in told
    )


# -- Matrix Market ------------------------------------------------------------------------------------------


def market(write, *entries):
    head = "%%MatrixMarket matrix coordinate real general\n"
    return write(f"{head}3 2 {len(entries)}\n" + "".join(f"{entry}\n" for entry in entries), "m.mtx")


def test_entries_given_twice_are_told(write):
    path = market(write, "1 1 2", "2 2 5", "1 1 4")
    found = issue(preview(path), "1 cell is given more than once")
    assert found.places == ("row 1, column 1: 2 entries (2, 4)",)
    assert [found.fix[1:], found.other[1:]] == [("repeated", "sum"), ("repeated", "mean")]
    with pytest.raises(DataError, match=r"given more than once. First: row 1, column 1: 2 entries"):
        read_dataset(path)
    assert read_dataset(path, {"repeated": "sum"}).values[0, 0] == 6
    assert read_dataset(path, {"repeated": "mean"}).values[0, 0] == 3


def test_entries_that_cannot_be_represented_are_told(write):
    path = market(write, "1 1 2", "3 2 9007199254740993")
    assert issue(preview(path), "1 number is not representable").detail.startswith("First: row 3, column 2")
    with pytest.raises(DataError, match=r"line 4 \(row 3, column 2\): “9007199254740993”"):
        read_dataset(path)
    assert read_dataset(path, {"inexact": "nearest"}).values[2, 1] == 2.0**53
    with pytest.raises(DataError, match=r"row 1, column 1\): “1e400” is too large"):
        read_dataset(market(write, "1 1 1e400"))
    with pytest.raises(DataError, match=r"row 1, column 1\): “1E-400” is too close to zero"):
        read_dataset(market(write, "1 1 1E-400", "2 2 0"))
    assert read_dataset(market(write, "1 1 0", "2 2 3")).values[1, 1] == 3


# -- images -------------------------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number, size in enumerate([(4, 6), (4, 6), (5, 6)]):
        pixels = rng.integers(0, 256, (*size, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def test_images_of_other_sizes_are_told_and_scaled_or_cropped(pictures):
    found = issue(preview(pictures), "1 image of 3 has another size than 4 × 6")
    assert found.places == ("2.png (5 × 6 pixels)",)
    assert (found.fix[1:], found.other[1:]) == (("resize", "scale"), ("resize", "crop"))
    with pytest.raises(DataError, match="option “resize”"):
        read_dataset(pictures)
    scaled = read_dataset(pictures, {"resize": "scale"})
    assert (scaled.image_shape, scaled.source.options["size"]) == ((4, 6), [4, 6])
    cropped = read_dataset(pictures, {"resize": "crop"})
    with Image.open(pictures / "2.png") as image:
        middle = np.asarray(image.convert("L"))[:4]
    assert np.array_equal(cropped.values[2], middle.ravel())
    assert read_dataset(pictures, cropped.source.options).digest() == cropped.digest()


def test_colours_given_up_are_told_and_can_be_kept(pictures):
    (pictures / "2.png").unlink()
    assert issue(preview(pictures), "2 images are in colour").fix[1:] == ("colour", "colour")
    data = read_dataset(pictures, {"colour": "colour"})
    assert data.shape == (2, 4 * 6 * 3)
    assert data.column_names[:3] == tuple(f"row 1, column 1, {name}" for name in ("red", "green", "blue"))
    with Image.open(pictures / "0.png") as image:
        assert np.array_equal(data.values[0], np.asarray(image).ravel())
    assert preview(pictures, colour="colour").n_columns == 72


# -- what a stranger's files hold -----------------------------------------------------------------------------


def test_titles_count_when_the_separator_is_found(write):
    rows = "".join(f"r{i},some words {i},other words {i % 3}\n" for i in range(12))
    shown = preview(write("id,what,why\n" + rows))
    assert (shown.options["delimiter"], shown.header) == (",", ("id", "what", "why"))


def test_values_that_lost_their_decimal_point_are_told_with_their_place(write):
    values = np.random.default_rng(0).gamma(2.0, 1.0, (40, 3)).round(4) + 9
    values[[4, 30], 1] *= 1e4
    rows = "".join(f"s{i}," + ",".join(f"{x:.10g}" for x in line) + "\n" for i, line in enumerate(values))
    shown = preview(write("id,a,b,c\n" + rows))
    found = issue(shown, "2 values lie far beyond the others of their columns")
    assert found.severity == "warning"
    assert found.detail.startswith("First: row “s4”, column “b”: ")
    assert len(found.places) == 2
    assert not [one for one in shown.issues if "skewed" in one.message], "logarithms do not mend it"


def test_heavy_tails_are_not_taken_for_lost_points(write):
    values = np.exp(np.random.default_rng(1).normal(0, 2.5, (400, 4)))
    rows = "".join(f"s{i}," + ",".join(f"{x:.6g}" for x in line) + "\n" for i, line in enumerate(values))
    assert not [one for one in preview(write("id,a,b,c,d\n" + rows)).issues if "far beyond" in one.message]


def test_a_title_of_two_meanings_does_not_say_where_samples_are(write):
    rows = "".join(f"P{i},{'ab'[i % 2]},{i}.5,{i * 2}.25\n" for i in range(9))
    assert preview(write("Probe,Behandlung,x,y\n" + rows)).options["samples_in"] == ""
    assert preview(write("gene,what,x,y\n" + rows)).options["samples_in"] == "columns"


def test_empty_labels_do_not_occur_twice(write):
    rows = "".join(f"r{i},{'' if i < 2 else f'day {i}'},{i}.5\n" for i in range(9))
    assert not [one for one in preview(write("id,day,x\n" + rows)).issues if "label" in one.message]


def test_one_row_of_another_length_is_left_out_in_good_english(write):
    shown = preview(write("id,a,b\nx,1,2\ny,1\nz,3,4\n"))
    assert issue(shown, "1 row has a number of fields").fix[0] == "Leave it out"
