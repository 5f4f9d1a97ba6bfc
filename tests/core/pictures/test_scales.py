"""Axes: ends from marks, places on even and uneven scales, ticks."""

import numpy as np
import pytest

from plaidwork.core.errors import PictureError
from plaidwork.core.pictures import Axis, Scaling


def test_ends_are_taken_from_the_marks_with_a_margin():
    found = Axis().scaling(np.array([0.0, 10.0, np.nan]))
    assert (found.low, found.high) == (-0.5, 10.5)
    assert Axis(zero=True).scaling(np.array([2.0, 10.0])).low == 0
    assert Axis(zero=True).scaling(np.array([-2.0, -1.0])).high == 0
    assert Axis(low=0, high=1).scaling(np.array([5.0])) == Scaling("linear", 0, 1)
    assert Axis().scaling(np.array([])).high == 1
    assert Axis().scaling(np.array([3.0])).low < 3 < Axis().scaling(np.array([3.0])).high


@pytest.mark.parametrize(
    "scaling",
    [Scaling("linear", -3, 7), Scaling("log", 0.02, 400), Scaling("sqrt", 0, 90), Scaling("sqrt", 4, 90)],
)
def test_places_and_values_are_inverse(scaling):
    shares = np.linspace(0, 1, 11)
    values = np.array([scaling.value(share) for share in shares])
    assert np.allclose(scaling.shares(values), shares)
    part = scaling.part(0.25, 0.5)
    assert part.shares(np.array([scaling.value(0.375)]))[0] == pytest.approx(0.5)
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize("count", [3, 5, 9])
@pytest.mark.parametrize(
    "scaling", [Scaling("log", 0.013, 4000), Scaling("log", 2, 7), Scaling("sqrt", 0, 3.3e5)]
)
def test_uneven_ticks_stand_apart(scaling, count):
    ticks = scaling.ticks(count)
    places = scaling.shares(np.array([tick.value for tick in ticks]))
    assert 2 <= len(ticks) <= 2 * count + 1
    assert (np.diff(places) >= 0.49 / count).all()
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9


def test_even_ticks_share_their_decimals():
    assert [tick.text for tick in Scaling("linear", 0, 0.3).ticks(4)] == ["0.0", "0.1", "0.2", "0.3"]
    assert Scaling("linear", -4, 4).ticks(3)[0].text == "\u22124"
    assert Scaling("linear", 0, 3e9).ticks(3)[-1].text == "3e9"
    assert [tick.text for tick in Scaling("linear", 1949, 1961).ticks(3)] == ["1950", "1955", "1960"]


def test_categories_have_their_names():
    scaling = Axis(scale="category", names=("a", "b", "c")).scaling(np.array([]))
    assert [(tick.value, tick.text) for tick in scaling.ticks(1)] == [(0, "a"), (1, "b"), (2, "c")]
    assert scaling.shares(np.array([1.0]))[0] == 0.5


def test_an_uneven_scale_is_named():
    assert Axis("counts", scale="sqrt").title == "counts, square-root scale"
    assert Axis("time", "h").title == "time, h"
    assert Axis().title == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scale": "loglog"}, "one of linear, log, sqrt, category"),
        ({"low": 2, "high": 1}, "the lower first"),
        ({"low": float("nan")}, "two numbers"),
        ({"scale": "log", "low": 0}, "begins above 0"),
        ({"scale": "sqrt", "low": -1}, "begins at 0"),
        ({"scale": "category"}, "needs the names"),
    ],
)
def test_what_no_axis_can_be(given, told):
    with pytest.raises(PictureError, match=told):
        Axis(**given)
