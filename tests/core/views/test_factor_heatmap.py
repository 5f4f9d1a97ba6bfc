"""The strongest columns of a factor as a picture: rows by weight, items by score, strips, the factor that is selected."""

from __future__ import annotations

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Cells
from plaidwork.core.views.drawing import picture_of
from plaidwork.core.views.strips import strip_of, strip_panel
from tests.core.views.drawn import sources

SCORES = np.random.default_rng(3).normal(size=(20, 2))
WEIGHTS = np.array([[0.5, -2.0, 0.0, 1.0, -0.1], [0.0, 0.0, 3.0, 0.0, 0.0]])
RESULTS = {"scores": Result(SCORES, ("patient", "factor")), "weights": Result(WEIGHTS, ("factor", "drug"))}
VIEW = View("factor_heatmap", "Heat map", {"values": "scores", "weights": "weights", "matrix": "data:X"})


def heat(asked=None, selected=None):
    return picture_of(sources(VIEW, RESULTS), asked, selected)


def test_rows_by_weight_and_items_by_score():
    picture = heat({"Strongest": 3})
    profile, cells = picture.panels[0].marks[0], picture.panels[-1].marks[0]
    order = np.argsort(SCORES[:, 0], kind="stable")
    assert isinstance(cells, Cells)
    assert picture.panels[-1].y.names == ("+ drug 4", "+ drug 1", "− drug 2")
    assert np.array_equal(cells.columns.index, order)
    data = np.arange(100.0).reshape(20, 5)
    assert np.array_equal(cells.values, data[order][:, [3, 0, 1]].T)
    assert np.allclose(profile.low + profile.high, SCORES[order, 0])
    assert profile.items(4) == cells.items(4) == ("row", (int(order[4]),))
    assert picture.headline == "Factor 1: the 3 strongest, patients by score"
    assert picture.panels[0].strip
    assert "values" not in [choice.id for choice in picture.choices]  # nothing says what the fit expects


def test_the_selected_factor_is_shown():
    picture = heat({"factor": "0"}, {"layer": (1,)})
    assert picture.panels[-1].y.names == ("+ drug 3",)
    assert picture.layers == "factor"
    by_row = heat({"Scale": "By row"}).panels[-1].marks[0]
    assert np.allclose(by_row.values.mean(axis=1), 0)
    assert np.allclose(by_row.values.std(axis=1), 1)


def test_strips_have_greys_with_what_they_mean():
    order = np.array([2, 0, 1, 3])
    names = tuple("abcd"[i] for i in order)
    classes = strip_of("class", np.array(["x", "x", "y", ""], dtype=object))
    (cells,) = strip_panel(classes, order, names, "row").marks
    assert np.array_equal(cells.values, [[0, 1, 1, np.nan]], equal_nan=True)
    assert cells.text(0) == "c: class y"
    assert cells.text(3) == "d: class unknown"
    assert cells.items(0) == ("row", (2,))
    assert [key.text for key in classes.keys] == ["class: x", "y", "unknown"]
    numbers = strip_of("age", np.array([1.5, 2.25, np.nan, 4.0]))
    (cells,) = strip_panel(numbers, np.arange(4), tuple("abcd")).marks
    assert np.allclose(cells.values, [[0, 0.3, np.nan, 1]], equal_nan=True)
    assert cells.text(1) == "b: age 2.25"
    assert [key.color for key in numbers.keys] == ["grey3", "grey0", "border"]
    assert strip_of("same", np.ones(4)) is None
