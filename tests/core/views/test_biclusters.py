"""Blocks as a picture: order, outlines, strips, threshold, what can be shown."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Regions
from tests.core.views.drawn import drawn

ROWS, COLUMNS = np.zeros((2, 20)), np.zeros((2, 5))
ROWS[0, [3, 9, 14]], COLUMNS[0, [1, 4]] = 0.9, 1.0
ROWS[1, [0, 9]], COLUMNS[1, [2, 4]] = 0.7, 0.6
RESULTS = {
    "rows": Result(ROWS, ("block", "patient")),
    "cols": Result(COLUMNS, ("block", "drug")),
    "fit": Result(np.zeros((20, 5)), ("patient", "drug")),
}
SOURCE = {"matrix": "data:X", "rows": "rows", "cols": "cols", "fit": "fit"}


def blocks(asked=None, **options):
    return drawn(View("biclusters", "Blocks", SOURCE, options=options), RESULTS, asked)


def test_members_stand_together_and_are_outlined():
    picture = blocks()
    (panel,) = picture.panels
    cells, regions = panel.marks
    assert isinstance(regions, Regions)
    assert regions.tags == ("Block 1", "Block 2")
    assert [mask.sum() for mask in regions.rows] == [3, 2]
    assert set(cells.rows.index[regions.rows[0]]) == {3, 9, 14}
    assert set(cells.columns.index[regions.columns[1]]) == {2, 4}
    for mask in (*regions.rows, *regions.columns):
        places = np.flatnonzero(mask)
        assert places[-1] - places[0] == len(places) - 1
    data = np.arange(100.0).reshape(20, 5)
    assert np.array_equal(picture.matrix.values, data[np.ix_(cells.rows.index, cells.columns.index)])
    place = int(np.flatnonzero(cells.rows.index == 9)[0]) * 5 + int(
        np.flatnonzero(cells.columns.index == 4)[0]
    )
    assert cells.text(place).endswith(", in Block 2, Block 1")
    assert picture.headline == "2 blocks cover 9 % of the matrix"
    assert picture.notes.endswith("ordered by block")


def test_the_threshold_and_what_is_shown_are_choices():
    picture = blocks({"Membership at least": 0.8})
    assert picture.panels[0].marks[1].tags == ("Block 1",)
    assert blocks(threshold=0.8).panels[0].marks[1].tags == ("Block 1",)
    none = blocks({"threshold": 0.95})
    assert none.empty[0] == "No block at this threshold"
    assert "The strongest has 0.90" in none.empty[1]
    fit = blocks({"Show": "Fit"}).panels[0].marks[0]
    assert not fit.values.any()
    residual = blocks({"show": "residual"}).panels[0].marks[0]
    assert residual.limits[0] == -residual.limits[1]


@pytest.mark.parametrize(
    "levels", [np.array(["high", "low"] * 10), np.full(20, np.nan)], ids=["words", "none"]
)
def test_a_column_of_rows_that_is_called_level_and_is_none_is_left_alone(levels):
    found = drawn(
        View("biclusters", "Blocks", {**SOURCE, "row_list": "row_list", "column_list": "column_list"}),
        {**RESULTS, "row_list": Table({"Level": levels}), "column_list": Table({"Level": np.zeros(5)})},
    )
    assert np.array_equal(np.sort(found.matrix.values.ravel()), np.arange(100.0)), "the data as they are"
