"""Long tables: recognised or chosen, several views, missing combinations, repeated pairs, bad rows."""

import itertools

import numpy as np
import pytest

from plaidwork.core.data.importers import delimited, find_reader, read_dataset, read_datasets
from plaidwork.core.errors import DataError


def table(tmp_path, text, name="long.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def preview(path, **options):
    return find_reader(path).preview(path, options)


def rows(samples=4, features=3, head="sample,feature,value", leave=()):
    lines = [head]
    for i, j in itertools.product(range(samples), range(features)):
        if (i, j) not in leave:
            lines.append(f"s{i},f{j},{i}.{j}5")
    return "\n".join(lines) + "\n"


def test_recognised_by_its_titles(tmp_path):
    data = read_dataset(table(tmp_path, rows(leave={(1, 2), (3, 0)})))
    assert data.name == "long"
    assert data.row_names == ("s0", "s1", "s2", "s3")
    assert data.column_names == ("f0", "f1", "f2")
    assert (data.row_label, data.column_label) == ("samples", "features")
    expected = np.array([[i + j / 10 + 0.05 for j in range(3)] for i in range(4)])
    expected[1, 2] = expected[3, 0] = np.nan
    np.testing.assert_allclose(data.values, expected)
    assert data.source.options["layout"] == "long"
    assert [data.source.options[name] for name in ("sample", "feature", "value", "view")] == [0, 1, 2, -1]


def test_recognised_by_its_contents(tmp_path):
    path = table(tmp_path, rows(head="who,what,reading_of_it"))
    assert read_dataset(path).shape == (4, 3)
    seen = preview(path)
    assert seen.options["layout"] == "long"
    assert "layout" in seen.detected
    assert seen.makes == (("long", 4, 3),)


VIEWS = "view,patient,gene,expression,note\n" + "".join(
    f"{view},p{i},{view}{j},{i + j},n\n"
    for view, samples in (("rna", range(3)), ("meth", range(1, 4)))
    for i in samples
    for j in range(2)
)


def test_a_column_of_views_gives_several(tmp_path):
    path = table(tmp_path, VIEWS)
    rna, meth = read_datasets(path)
    assert (rna.name, meth.name) == ("rna", "meth")
    assert rna.row_names == ("p0", "p1", "p2")
    assert meth.row_names == ("p1", "p2", "p3")
    assert meth.column_names == ("meth0", "meth1")
    assert (rna.row_label, rna.column_label) == ("patients", "genes")
    np.testing.assert_array_equal(read_dataset(path, meth.source.options).values, meth.values)
    with pytest.raises(DataError, match="holds 2 views: rna, meth"):
        read_dataset(path)
    assert preview(path).makes == (("rna", 3, 2), ("meth", 3, 2))
    assert preview(path).roles == ("label", "name", "label", "value", "skip")


def test_columns_can_be_chosen(tmp_path):
    path = table(tmp_path, "a,b,c,d\n" + "".join(f"{i},{j},{i * j},7\n" for i in range(3) for j in range(3)))
    assert preview(path).options["layout"] == "wide"
    data = read_dataset(path, {"layout": "long", "sample": 0, "feature": "b", "value": "c"})
    np.testing.assert_array_equal(data.values, np.outer(range(3), range(3)))
    assert data.row_names == ("0", "1", "2")
    assert (
        dict(preview(path, layout="long", sample=0, feature=1, value=2).choices["sample"])[1] == "Column “b”"
    )


def test_a_matrix_is_not_taken_for_a_long_table(tmp_path):
    for text in (
        "sample,class,x\n" + "".join(f"s{i},{'ab'[i % 2]},{i}.5\n" for i in range(9)),
        "gene,s1,s2\n" + "".join(f"g{i},{i}.5,2\n" for i in range(9)),
        "sex,group,age\nm,a,5\nf,b,6\nm,a,7\nf,b,9\nm,b,9\n",
    ):
        assert preview(table(tmp_path, text)).options["layout"] == "wide"
    assert read_dataset(table(tmp_path, rows()), {"layout": "wide"}).shape == (12, 1)


def test_combinations_without_a_row_can_be_zeros(tmp_path):
    text = "doc,word,value\nd1,cat,2\nd1,dog,1\nd2,cat,NA\nd2,bird,4\nd3,dog,3\nd3,cat,1\n"
    path = table(tmp_path, text)
    issue = next(issue for issue in preview(path).issues if "without a row" in issue.message)
    assert (issue.severity, issue.detail) == ("warning", "3 of 9 cells")
    assert issue.fix == ("Take them as 0", "absent", "zero")
    assert issue.other == ("Keep them missing", "absent", "missing")
    assert np.isnan(read_dataset(path).values).sum() == 4
    found = read_dataset(path, {"absent": "zero"})
    assert found.kind == "count"
    assert np.isnan(found.values[1, 0]), "listed as missing"
    assert (found.values == 0).sum() == 3
    for said in ("zero", "missing"):
        assert not any("without a row" in issue.message for issue in preview(path, absent=said).issues)


def test_what_a_list_of_counts_does_not_name_is_not_there(tmp_path):
    text = "doc,word,count\nd1,cat,2\nd1,dog,1\nd2,cat,NA\nd2,bird,4\nd3,dog,3\nd3,cat,1\n"
    path = table(tmp_path, text)
    shown = preview(path)
    issue = next(issue for issue in shown.issues if "without a row" in issue.message)
    assert issue.message == "Combinations without a row become 0, as in a list of counts"
    assert (issue.severity, issue.detail, shown.options["absent"]) == ("info", "3 of 9 cells", "zero")
    assert issue.fix == ("Keep them missing", "absent", "missing")
    found = read_dataset(path)
    assert (found.kind, (found.values == 0).sum(), np.isnan(found.values).sum()) == ("count", 3, 1)
    assert found.source.options["absent"] == "zero"
    assert np.isnan(read_dataset(path, {"absent": "missing"}).values).sum() == 4
    with_zeros = table(tmp_path, text + "d3,bird,0\n")
    assert np.isnan(read_dataset(with_zeros).values).sum() == 3, "who lists zeros means to list all"


@pytest.mark.parametrize(("below", "missing"), [("d3,bird,1\n", 0), ("d3,bird,0\n", 3), ("d3,bird,0.5\n", 3)])
def test_of_a_long_list_of_counts_the_preview_says_what_holds(tmp_path, monkeypatch, below, missing):
    """The rows that are not read for it may hold a 0, which means that all are listed."""
    path = table(tmp_path, "doc,word,count\nd1,cat,2\nd1,dog,1\nd2,cat,3\nd2,bird,4\nd3,dog,3\n" + below)
    monkeypatch.setattr(delimited, "FULL_CHECK_BYTES", {False: 10})
    monkeypatch.setattr(delimited, "LONG_CHECK", 4)
    shown = preview(path)
    issue = next(issue for issue in shown.issues if "without a row" in issue.message)
    assert (
        issue.message
        == "Combinations without a row become 0 if all rows give counts from 1, as the first ones do"
    )
    assert (issue.severity, issue.detail) == ("info", "2 of 6 cells of the first 4 rows")
    assert issue.fix == ("Take them as 0", "absent", "zero")
    assert issue.other == ("Keep them missing", "absent", "missing")
    assert "absent" not in shown.options, "not known before all rows are"
    assert "absent" not in shown.detected
    assert np.isnan(read_dataset(path).values).sum() == missing
    said = preview(path, absent="zero")
    assert (said.options["absent"], "absent" in said.detected) == ("zero", False)
    assert not np.isnan(read_dataset(path, {"absent": "zero"}).values).any()


def test_what_becomes_of_them_is_shown_as_detected_once_all_rows_are_read(tmp_path):
    for head, said in (("sample,feature,value", "missing"), ("doc,word,count", "zero")):
        text = head + "\na,x,1\na,y,2\nb,x,2\nb,y,1\nc,x,2\n"
        shown = preview(table(tmp_path, text))
        assert (shown.options["absent"], "absent" in shown.detected) == (said, True)


def test_many_combinations_without_a_row_are_grouped_by_thousands(tmp_path):
    body = "".join(f"d{i // 3},w{i * 7 % 40},{1 + i % 2}\n" for i in range(120))
    shown = preview(table(tmp_path, f"doc,word,count\n{body}"))
    told = next(issue for issue in shown.issues if "without a row" in issue.message)
    assert told.detail == "1\u202f480 of 1\u202f600 cells"


def test_repeated_pairs_name_both_rows(tmp_path):
    path = table(tmp_path, rows(40, 3) + "s1,f1,9\ns2,f0,3\n")
    with pytest.raises(
        DataError, match=r"long\.csv: sample “s1”, feature “f1” occurs more than once \(rows 6 and 122\)"
    ):
        read_dataset(path)
    issue = next(issue for issue in preview(path).issues if issue.severity == "error")
    assert issue.message == "2 pairs of sample and feature occur more than once"
    assert issue.detail.endswith("rows 6 and 122")
    assert issue.fix == ("Take the mean of repeated values", "repeated", "mean")
    assert read_dataset(path, {"repeated": "mean"}).values[1, 1] == pytest.approx((1.15 + 9) / 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s9,f1,abc", "row 14, column 3 “value”: expected a number with a decimal point, found “abc”"),
        ("s9,f1,inf", "row 14, column 3 “value”: expected a finite number"),
        ("s9,,3", "row 14: expected a name of the feature, found an empty cell in column 2 “feature”"),
        (",f1,3", "row 14: expected a name of the sample"),
        ("s9,f1", "row 14: 2 fields found, 3 expected"),
    ],
)
def test_bad_rows(tmp_path, line, message):
    path = table(tmp_path, rows() + line + "\n")
    with pytest.raises(DataError, match=message):
        read_dataset(path, {"layout": "long"})
    found = preview(path, layout="long").issues
    assert found[0].severity == "error"
    assert found[0].row == 14


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "long", "sample": 0, "feature": 0}, "used twice"),
        ({"layout": "long", "sample": "who"}, "names a column “who”"),
        ({"layout": "long", "feature": 9}, "from 0 to 2"),
        ({"part": "rna"}, "no view “rna”"),
    ],
)
def test_wrong_choices(tmp_path, options, message):
    with pytest.raises(DataError, match=message):
        read_dataset(table(tmp_path, rows()), options)


def test_missing_values_and_decimal_commas(tmp_path):
    text = "sample;feature;value\n" + "".join(f"s{i};f{j};{i},{j}5\n" for i in range(3) for j in range(3))
    data = read_dataset(table(tmp_path, text + "s3;f0;NA\n"))
    assert data.values[2, 1] == 2.15
    assert np.isnan(data.values[3]).all()
