"""Rows under the titles that hold labels of the columns: told with a way to use them, never read as numbers that are missing."""

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers._label_rows import rows_of_labels
from plaidwork.core.errors import DataError


def panel(rows=("class,ALL,AML,ALL,AML,CLL,CLL",), genes=12):
    numbers = np.random.default_rng(1).normal(8, 1, (genes, 6)).round(2)
    body = [f"G{i},{','.join(map(str, line))}" for i, line in enumerate(numbers)]
    return "\n".join(["gene,a,b,c,d,e,f", *rows, *body]) + "\n"


def test_classes_under_the_titles_become_labels_of_the_columns(write):
    path = write(panel())
    found = issue(preview(path), "Row 2 holds labels of the columns, not numbers")
    assert (found.severity, found.detail) == ("error", "“ALL”, “AML”, “CLL”")
    assert found.fix == ("Use it as labels of the columns", "label_rows", 1)
    assert not [one for one in preview(path).issues if "no numbers" in one.message.replace(found.message, "")]
    mended = preview(path, label_rows=1)
    assert (mended.n_rows, [one for one in mended.issues if one.severity == "error"]) == (12, [])
    data = read_dataset(path, {"label_rows": 1})
    assert data.shape == (12, 6)
    assert data.column_table["class"].tolist() == ["ALL", "AML", "ALL", "AML", "CLL", "CLL"]
    assert data.samples_in == "columns"


def test_several_rows_numbers_among_them_and_columns_that_are_left_out(write):
    path = write(panel(("class,ALL,AML,ALL,AML,CLL,CLL", "site,x,x,y,y,x,y")))
    found = issue(preview(path), "Rows 2 to 3 hold labels of the columns")
    assert found.fix == ("Use them as labels of the columns", "label_rows", 2)
    data = read_dataset(path, {"label_rows": 2, "skip": ["b"]})
    assert data.column_table["site"].tolist() == ["x", "y", "y", "x", "y"]
    ages = write(panel(("age,40,50,60,41,NA,51",)), "q.csv")
    assert not [one for one in preview(ages).issues if "labels of the columns" in one.message], (
        "may be a gene"
    )
    found = read_dataset(ages, {"label_rows": 1}).column_table["age"]
    np.testing.assert_array_equal(found, [40, 50, 60, 41, np.nan, 51])


def test_without_the_option_it_is_refused_with_its_row_and_the_way(write):
    with pytest.raises(
        DataError, match="row 2: expected numbers, found labels of the columns: “ALL”"
    ) as caught:
        read_dataset(write(panel()))
    assert "label_rows" in str(caught.value)
    with pytest.raises(DataError, match="must leave rows of numbers: 13 rows stand below the titles"):
        read_dataset(write(panel()), {"label_rows": 13})
    with pytest.raises(DataError, match="label_rows must be"):
        read_dataset(write(panel()), {"label_rows": -1})


def test_rows_of_other_texts_are_none():
    numbers = [(i, ["g", *(str(i * k) for k in range(1, 6))]) for i in range(3, 20)]
    assert rows_of_labels([(2, ["class", "A", "B", "A", "B", "A"]), *numbers], ()) == 1
    assert rows_of_labels([(2, ["id", "v", "w", "x", "y", "z"]), *numbers], ()) == 0, "all differ"
    assert rows_of_labels([(2, ["class", "A", "", "", "B", "A"]), *numbers], ("",)) == 0, "too few"
    assert rows_of_labels([(2, ["class", "A", "1", "A", "B", "A"]), *numbers], ()) == 0, "a number among them"
    assert rows_of_labels([(2, ["a", "A", "A"]), *[(i, ["g", "1", "2"]) for i in range(3, 20)]], ()) == 0
