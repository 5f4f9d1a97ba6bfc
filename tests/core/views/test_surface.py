"""Probability maps as pictures: what is drawn over the colours, equal units, columns along the line."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.draws.numbers import format_number
from plaidwork.core.pictures import Cells, Hatch, Line, Points, Rule, Texts
from tests.core.views.drawn import drawn

SOURCE = {
    "values": "share",
    "x": "across",
    "y": "up",
    "points": "places",
    "labels": "codes",
    "null": "nothing",
}
X, Y = np.linspace(-2, 2, 21), np.linspace(-1, 1, 11)
SHARE = 1 / (1 + np.exp(-4 * X[None, :] + 0 * Y[:, None]))
RESULTS = {
    "share": Result(np.stack([1 - SHARE, SHARE]), ("class", "up", "across")),
    "across": Result(X, ("across",), label="a"),
    "up": Result(Y, ("up",), label="b"),
    "places": Result(np.array([[-1.0, 0.5], [1.0, -0.5], [0.0, 0.0]]), ("point", "axis")),
    "codes": Result(np.array([0, 1, -1]), ("point",)),
    "nothing": Result(0.9 * np.exp(-4 * X[None, :] ** 2 + 0 * Y[:, None]), ("up", "across")),
}


def kinds(picture) -> list[type]:
    return [type(mark) for mark in picture.panels[0].marks]


def test_everything_lies_over_the_map_in_its_order():
    picture = drawn(View("surface", "M", SOURCE), RESULTS)
    assert kinds(picture) == [Cells, Hatch, Line, Line, Line, Texts, Points, Points, Rule]
    cells, _, edges, _, boundary = picture.panels[0].marks[:5]
    assert (cells.map, cells.limits) == ("soft_loom", (0.0, 1.0))
    assert np.nanmax(np.abs(boundary.x)) < 0.01
    assert np.unique(np.round(np.abs(edges.x[np.isfinite(edges.x)]), 1)).tolist() == [0.4]
    assert picture.panels[0].marks[7].read[1] == "point 2, class 2: a 1, b \N{MINUS SIGN}0.5"
    assert [(key.text, key.shape) for key in picture.legend[:-1]] == [
        ("class 1", 0),
        ("class 2", 1),
        ("class not known", -1),
    ]


def test_a_point_of_which_a_value_is_missing_has_no_place():
    """At the mean that stands in for it, it looked measured."""
    places = np.array([[-1.0, 0.5], [np.nan, -0.5], [0.0, 0.0], [9.0, 0.0]])
    codes = Result(np.array([0, 1, -1, 1]), ("point",))
    picture = drawn(
        View("surface", "M", SOURCE),
        RESULTS | {"places": Result(places, ("point", "axis")), "codes": codes},
    )
    shown = [mark for mark in picture.panels[0].marks if isinstance(mark, Points)]
    assert sum(len(mark.x) for mark in shown) == 3
    assert picture.notes.startswith("4 points, 1 without a place as a value is missing, 1 outside of the map")


def test_what_is_not_wanted_is_left_out():
    asked = dict.fromkeys(("contours", "data", "band", "cut"), False)
    picture = drawn(View("surface", "M", SOURCE), RESULTS, asked)
    assert kinds(picture) == [Cells, Line]
    assert len(picture.panels) == 1


def test_the_curves_follow_the_line():
    up = {
        **RESULTS,
        "share": Result(np.stack([1 - SHARE, SHARE]) * (1 + Y[None, :, None]) / 2, ("class", "up", "across")),
    }
    for at in (-0.5, 0.8):
        picture = drawn(View("surface", "M", SOURCE), up, {"line": at})
        line = picture.panels[1].marks[1]
        assert np.interp(0.0, line.x, line.y) == pytest.approx(0.5 * (1 + at) / 2, abs=1e-3)
        assert picture.panels[1].x.label == f"a, where b is {format_number(at)}"


@pytest.mark.parametrize(("settings", "equal"), [({}, False), ({"ard": False}, True), ({"ard": True}, False)])
def test_units_are_equal_where_the_settings_say_so(settings, equal):
    picture = drawn(View("surface", "M", SOURCE, options={"equal": settings}), RESULTS)
    assert picture.panels[0].equal is equal


def test_one_place_is_no_map():
    few = {
        **RESULTS,
        "share": Result(np.ones((2, 1, 21)), ("class", "up", "across")),
        "up": Result(np.zeros(1)),
    }
    assert drawn(View("surface", "M", SOURCE), few).empty[0] == "A map needs two inputs"


def test_beside_the_map_are_the_samples_of_each_class():
    """Those without data have none, and a map that needs the height leaves more of it to itself."""
    picture = drawn(View("surface", "M", SOURCE, options={"equal": {"ard": False}}), RESULTS)
    (first, *lines), low = picture.panels[0].aside, picture.panels[1].height
    assert first.endswith(" by class")
    assert lines == ["class 1: 1", "class 2: 1", "class not known: 1"]
    assert low < drawn(View("surface", "M", SOURCE), RESULTS).panels[1].height
    bare = {role: name for role, name in SOURCE.items() if role not in ("points", "labels")}
    assert drawn(View("surface", "M", bare), RESULTS).panels[0].aside == ()
