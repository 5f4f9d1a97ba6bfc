"""Confusion as a picture: counts, shares, and which samples a cell stands for."""

from __future__ import annotations

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from tests.core.views.drawn import drawn

VIEW = View("confusion", "Confusion", {"labels": "codes", "probability": "share", "names": "class"})
CODES = np.array([0, 0, 0, 1, 1, -1, 1, 0])
TAKEN = np.array([0, 1, 0, 1, 1, 0, 0, 0])


def results(size: int = 2, codes=CODES, taken=TAKEN):
    return {
        "share": Result(np.eye(size)[taken] * 0.9 + 0.1 / size, ("patient", "class")),
        "codes": Result(codes, ("patient",)),
        "class": Result(np.array([f"class {k}" for k in range(size)]), ("class",)),
    }


def test_counts_are_told_and_a_cell_stands_for_its_samples():
    picture = drawn(VIEW, results(), shape=(8, 5))
    (panel,), (mark,) = picture.panels, picture.panels[0].marks
    assert picture.table["Predicted class 0"].tolist() == [3, 1]
    assert picture.table["Predicted class 1"].tolist() == [1, 2]
    assert panel.y.names == ("class 1", "class 0")  # the first class is at the top
    assert mark.values.tolist() == [[1 / 3, 2 / 3], [0.75, 0.25]]
    assert mark.labels == ("1\n33 %", "2\n67 %", "3\n75 %", "1\n25 %")
    assert mark.text(0).startswith("class 1 taken for class 0: 1 of 3, 33.3 % (")
    assert mark.text(2).startswith("class 0 found: 3 of 4, ")
    assert mark.items(1) == ("row", (3, 4))
    assert mark.items(2) == ("row", (0, 2, 7))
    assert mark.of.pieces(frozenset({1, 6})).tolist() == [0, 3]
    assert [(end.at, end.text) for end in panel.ends] == [(1, "of 4"), (0, "of 3")]
    assert "1 without a known class left out" in picture.notes


def test_samples_that_are_not_of_the_data_select_nothing():
    (mark,) = drawn(VIEW, results(), shape=(30, 5)).panels[0].marks
    assert mark.items(1) is None


def test_a_class_without_samples_has_cells_without_a_share():
    codes, taken = np.zeros(8, int), np.array([0, 1, 0, 0, 0, 0, 0, 0])
    (mark,) = drawn(VIEW, results(3, codes, taken), shape=(8, 5)).panels[0].marks
    assert np.isnan(mark.values[:2]).all()
    assert mark.labels[0] == "0"
    assert mark.items(0) is None


def test_nothing_stands_where_many_classes_leave_a_cell_empty():
    (mark,) = drawn(VIEW, results(12), shape=(8, 5)).panels[0].marks
    assert set(mark.labels) == {"", "1\n33 %", "2\n67 %", "3\n75 %", "1\n25 %"}
