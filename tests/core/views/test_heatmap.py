"""Heat maps as pictures: colours, orders, groups of what is alike, names, and what rows and columns stand for."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Cells, Key, Outlines, Ramp, describe
from tests.core.views.drawn import drawn

LEVELS = np.random.default_rng(2).normal(size=(20, 5))
KINDS = np.repeat([0, 1, 2], (4, 3, 1))[np.array([0, 4, 1, 7, 5, 2, 6, 3])]
ALIKE = np.where(KINDS[:, None] == KINDS, 0.8, 0.1) + 0.2 * np.eye(8)


def heat(values, dims=("patient", "drug"), asked=None, label="", **options):
    results = {"values": Result(np.asarray(values, float), dims, label=label), "mark": Result(LEVELS, dims)}
    source = {"values": "values"} | ({"mark": "mark"} if options.pop("marked", False) else {})
    return drawn(View("heatmap", "Levels", source, options=options), results, asked)


def test_colours_are_found_or_given():
    picture = heat(LEVELS)
    (mark,) = picture.panels[0].marks
    assert (mark.map, mark.limits[0]) == ("loom", -mark.limits[1])
    (ramp,) = picture.legend
    assert isinstance(ramp, Ramp)
    assert ramp.ends[0].startswith("−")
    assert ramp.ends[2].startswith("+")
    given = heat(LEVELS, scale="sequential", minimum=0, maximum=1)
    assert (given.panels[0].marks[0].map, given.panels[0].marks[0].limits) == ("tide", (0, 1))
    assert given.legend[0].clipped == (True, True)
    holed = LEVELS.copy()
    holed[3, 2] = np.nan
    assert heat(holed).legend[0] == Key("missing", "border", "missing")
    assert heat(holed).panels[0].marks[0].text(17) == "patient 4, drug 3: missing"
    assert heat(np.zeros((0, 4))).empty[0] == "Nothing to show"


def test_rows_and_columns_are_in_order_and_stand_for_items():
    picture = heat(LEVELS, asked={"Order": "clustered"})
    (panel,), (mark,) = picture.panels, picture.panels[0].marks
    assert panel.y.down
    assert panel.x.turned
    assert set(panel.y.names) == {f"patient {i + 1}" for i in range(20)}
    order = mark.rows.index
    assert (mark.rows.kind, mark.columns.kind) == ("row", "column")
    assert panel.y.names == tuple(f"patient {i + 1}" for i in order)
    assert np.array_equal(mark.values, LEVELS[np.ix_(order, mark.columns.index)])
    assert np.array_equal(picture.matrix.values, mark.values)
    assert mark.items(7) == ("column", (int(mark.columns.index[2]),))
    assert picture.notes == "20 × 5, clustered"
    assert not np.array_equal(order, np.arange(20))
    plain = heat(LEVELS, order="by hand")
    assert plain.notes == "20 × 5, by hand"
    assert plain.panels[0].marks[0].labels[0] == f"{LEVELS[0, 0]:.2f}".replace("-", "−")
    assert [text for _, text in plain.choices[0].options] == ["By hand", "Clustered"]
    assert heat(LEVELS, cluster=False).choices == ()
    assert "patient 1\t" in describe(plain)


def test_a_layer_is_chosen_by_its_column():
    picture = heat(LEVELS, layer="column")
    assert picture.layers == "drug"
    assert picture.panels[0].marks[0].items(7) == ("layer", (2,))


def test_what_is_alike_is_square_clustered_and_told_by_its_groups():
    picture = heat(ALIKE, ("gene", "gene"), label="similarity")
    assert picture.headline == "Similarity: 2 groups above 0.5, the largest of 4 of 8 genes"
    (panel,) = picture.panels
    cells, frames = panel.marks
    assert isinstance(cells, Cells)
    assert isinstance(frames, Outlines)
    assert panel.equal
    assert panel.x.names == panel.y.names
    sizes = sorted((frames.x1 - frames.x0).tolist())
    assert sizes == [3, 4]
    for low, high in zip(frames.x0, frames.x1, strict=True):
        inside = slice(round(low + 0.5), round(high + 0.5))
        assert (cells.values[inside, inside] > 0.7).all()
    assert panel.aside[0] == "Groups above 0.5"
    assert panel.aside[1].startswith("4: ")
    given = heat(ALIKE, ("gene", "gene"), {"order": "given"}, label="similarity")
    assert len(given.panels[0].marks) == 1
    none = heat(np.eye(8), ("gene", "gene"), label="similarity")
    assert none.headline == "Similarity: no two genes above 0.5"
    assert heat(2 * ALIKE, ("gene", "gene"), label="distance").headline == "Distance"


@pytest.mark.parametrize("marked", [True, False])
def test_dots_stand_in_place_of_numbers(marked):
    (mark,) = heat(LEVELS, marked=marked).panels[0].marks
    assert (mark.dots is not None) == marked == (not mark.labels)
    assert not marked or np.array_equal(mark.dots, LEVELS > 0)


def test_a_large_matrix_is_ready_to_be_painted():
    (mark,) = heat(np.random.default_rng(0).normal(size=(600, 300))).panels[0].marks
    assert "pyramid" in vars(mark)
