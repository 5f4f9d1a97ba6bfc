"""Pictures side by side on the same scales."""

from dataclasses import replace

import numpy as np
import pytest

from plaidwork.core.pictures import Axis, Cells, Key, Panel, Picture, Points, Ramp
from plaidwork.core.pictures.multiples import side_by_side


def scatter(x, y, **more):
    return Picture("one", panels=(Panel((Points(x=x, y=y),)),), table={"x": x, "y": y}, **more)


def test_axes_and_tables_are_shared():
    made = side_by_side([("a", scatter([0, 1], [0, 5])), ("b", scatter([4, 9], [-3, 2]))], "All", "Set")
    assert [panel.title for panel in made.panels] == ["a", "b"]
    first, second = ((p.scaling("x"), p.scaling("y")) for p in made.panels)
    assert (first[0].low, first[0].high) == (second[0].low, second[0].high)
    assert first[0].low <= 0
    assert first[0].high >= 9
    assert first[1].low <= -3
    assert second[1].high >= 5
    assert list(made.table) == ["Set", "x", "y"]
    assert list(made.table["Set"]) == ["a", "a", "b", "b"]
    assert made.grid is not None


def test_categories_keep_their_names():
    def bars(names):
        return Picture("", panels=(Panel((Points(x=[0], y=[1.0]),), x=Axis(scale="category", names=names)),))

    made = side_by_side([("a", bars(("u",))), ("b", bars(("v", "w")))], "All", "Set")
    assert [panel.x.names for panel in made.panels] == [("u",), ("v", "w")]


def heat(values, ends):
    cells = Cells(values=np.array(values, dtype=float), x0=0, x1=1, y0=0, y1=1, limits=ends)
    legend = (Ramp("p", "tide", (str(ends[0]), "", str(ends[1]))), Key("known", 0))
    return Picture("", panels=(Panel((cells,)),), legend=legend)


def test_colours_are_shared_unless_told_otherwise():
    same = side_by_side([("a", heat([[0.2]], (0, 1))), ("b", heat([[0.9]], (0, 1)))], "All", "Set")
    assert {panel.marks[0].limits for panel in same.panels} == {(0, 1)}
    assert len(same.legend) == 2
    assert not same.notes
    other = side_by_side([("a", heat([[0.2]], (0, 1))), ("b", heat([[0.9]], (0, 4)))], "All", "Set")
    assert {panel.marks[0].limits for panel in other.panels} == {(0, 1), (0, 4)}
    assert "ends of their own" in other.notes
    assert not any(isinstance(key, Ramp) for key in other.legend)


def test_colours_told_by_numbers_have_the_ends_of_all():
    def told(ends, map_name="tide", text="weight"):
        cells = Cells(np.array([[0.2]]), 0, 1, 0, 1, map_name, ends)
        strip = Cells(np.array([[3.0]]), 0, 1, 0, 1, "greys", (0, 5))
        legend = (Key("known", 0), Ramp.between(text, map_name, ends, (False, ends[1] == 3)))
        return Picture("", panels=(Panel((strip,)), Panel((cells,))), legend=legend)

    made = side_by_side([("a", told((-2, 2), "loom")), ("b", told((-3, 3), "loom"))], "All", "Set")
    assert [panel.marks[0].limits for panel in made.panels] == [(0, 5), (-3, 3)] * 2
    (ramp,) = (key for key in made.legend if isinstance(key, Ramp))
    assert (ramp.ends, ramp.clipped, ramp.limits) == (("−3", "0", "+3"), (False, True), (-3, 3))
    assert not made.notes
    classes = [(name, told((0, 1), text=f"probability of {name}")) for name in ("left", "top")]
    (ramp,) = (key for key in side_by_side(classes, "All", "Class").legend if isinstance(key, Ramp))
    assert (ramp.text, ramp.ends) == ("probability of the class", ("0", "0.5", "1.0"))
    for other in (told((0, 4), "tide", "other"), told((0, 4), "loom")):
        apart = side_by_side([("a", told((0, 1))), ("b", other)], "All", "Set")
        assert "ends of their own" in apart.notes


def test_points_of_a_crowd_are_smaller_in_smaller_panels():
    for count, size in ((10, 8.0), (200, 5.2)):
        points = np.linspace(0, 1, count)
        made = side_by_side([(name, scatter(points, points)) for name in "ab"], "All", "Set")
        assert [panel.marks[0].size for panel in made.panels] == [size, size]


def test_colours_without_a_legend_have_the_ends_of_all():
    bare = [
        (name, replace(heat([[0.2]], ends), legend=())) for name, ends in (("a", (0, 1)), ("b", (-2, 0.5)))
    ]
    made = side_by_side(bare, "All", "Set")
    assert {panel.marks[0].limits for panel in made.panels} == {(-2, 1)}


def test_what_has_no_picture_is_named():
    made = side_by_side(
        [("a", scatter([0, 1], [0, 5])), ("b", Picture("", empty=("No draws", "")))], "", "Set"
    )
    assert len(made.panels) == 1
    assert "b" in made.notes


@pytest.mark.parametrize("tables", [({"x": [1]}, {"y": [1]}), ({"Set": [1]}, {"Set": [2]}), ({}, {})])
def test_tables_that_differ_are_left_out(tables):
    parts = [
        (name, Picture("", panels=(Panel((Points(x=[0], y=[1.0]),)),), table=table))
        for name, table in zip("ab", tables)
    ]
    assert not side_by_side(parts, "", "Set").table


def test_panels_below_each_other_stay_so():
    def two():
        points = Points(x=[0, 1], y=[0, 1])
        return Picture("", panels=(Panel((points,)), Panel((points,), title="below", height=3)))

    made = side_by_side([("a", two()), ("b", two())], "", "Set")
    assert made.stack == 2
    assert [panel.title for panel in made.panels] == ["a", "below", "b", "below"]
