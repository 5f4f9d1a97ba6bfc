"""Coefficients and effects as values: order, one scale for all lists, doubt, ratios, what a search may still show."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Links, Points
from plaidwork.core.views.drawing import picture_of
from tests.core.views.drawn import drawn, sources

WEIGHTS = np.array([[0.1, -2.0, 0.5, 0.0, 1.0], [3.0, 0.2, 0.0, 0.0, -0.4]])
RESULTS = {
    "weights": Result(WEIGHTS, ("factor", "drug"), label="weight"),
    "ends": Result(np.stack([WEIGHTS - 0.3, WEIGHTS + 0.3], axis=-1), ("factor", "drug", "end")),
    "odds": Result(np.array([0.1, 0.6, -0.2]), ("arm",), label="Odds ratio"),
}


def dots(panel) -> Points:
    return next(mark for mark in panel.marks if isinstance(mark, Points) and mark.read)


def test_the_strongest_come_first_and_zero_is_none_of_them():
    picture = drawn(View("coefficients", "W", "weights", options={"top": 3}), RESULTS)
    (panel,) = picture.panels
    assert panel.y.names == ("drug 2", "drug 5", "drug 3")
    assert panel.y.down
    assert dots(panel).of.index.tolist() == [1, 4, 2]
    (stems,) = (mark for mark in panel.marks if isinstance(mark, Links))
    assert (stems.x0 == 0).all()
    assert stems.x1.tolist() == [-2.0, 1.0, 0.5]
    assert picture.headline == "Factor 1: drug 2 is strongest (−2)"
    assert picture.more == ("top", {"drug 2": 1, "drug 5": 2, "drug 3": 3, "drug 1": 4})
    assert len(drawn(View("coefficients", "W", "weights"), RESULTS, {"top": 4}).panels[0].y.names) == 4


def test_all_lists_share_one_scale():
    view = View("coefficients", "W", {"values": "weights", "interval": "ends"}, options={"together": True})
    picture = drawn(view, RESULTS)
    assert [panel.title for panel in picture.panels] == ["Factor 1", "Factor 2"]
    low, high = picture.panels[0].x.low, picture.panels[0].x.high
    assert (low, high) == (picture.panels[1].x.low, picture.panels[1].x.high)
    assert low < -2.3
    assert high > 3.3
    first = dots(picture.panels[0])
    assert [first.color_of(k) for k in range(5)] == [4, 0, 0, "neutral", "neutral"]


@pytest.mark.parametrize(("times", "shared"), [(1.0, True), (40.0, False)])
def test_groups_in_unlike_units_have_scales_of_their_own(times, shared):
    """Weights of a tenth beside some of ten were all alike at zero."""
    found = {
        "weights": Result(WEIGHTS * np.array([1, 1, 1, times, times]), ("factor", "drug"), label="weight"),
        "view": Result(np.array(["a", "a", "a", "b", "b"]), ("drug",)),
    }
    picture = drawn(View("coefficients", "W", {"values": "weights", "group": "view"}), found)
    first, second = (panel.x for panel in picture.panels)
    assert ((first.low, first.high) == (second.low, second.high)) == shared
    assert first.low < -2.0
    assert second.high > times
    assert picture.notes.endswith("each list has its own scale") != shared
    apart = "Factor 1: strongest in their lists are drug 2 (−2), drug 5 (40)"
    assert picture.headline == ("Factor 1: drug 2 is strongest (−2)" if shared else apart)


def test_the_headline_is_of_the_group_that_is_shown():
    found = {
        "weights": Result(WEIGHTS, ("factor", "drug")),
        "view": Result(np.array(["a", "a", "a", "b", "b"]), ("drug",)),
    }
    view = View("coefficients", "W", {"values": "weights", "group": "view"})
    assert drawn(view, found, {"group": "2"}).headline == "Factor 1: drug 5 is strongest (1)"


def test_the_factor_follows_the_selection_unless_all_are_shown():
    for together, title in ((False, ["Factor 2: drugs"]), (True, ["Factor 1", "Factor 2"])):
        view = View("coefficients", "W", "weights", options={"together": together})
        picture = picture_of(sources(view, RESULTS), {}, {"layer": (1,)})
        assert [panel.title for panel in picture.panels] == title


def test_ratios_stand_on_a_logarithmic_axis():
    view = View("effects", "E", "odds", options={"ratio": True})
    (panel,) = drawn(view, RESULTS).panels
    assert dots(panel).x.tolist() == pytest.approx(np.exp([0.1, 0.6, -0.2]))
    scale = panel.scaling("x")
    assert scale.kind == "log"
    assert scale.low < np.exp(-0.2) < 1 < np.exp(0.6) < scale.high
    assert "1" in [tick.text for tick in scale.ticks(6)]
    assert [dots(panel).color_of(k) for k in range(3)] == [0, 0, 4]
    with_order = drawn(view, RESULTS, {"order": "value"}).panels[0]
    assert with_order.y.names == ("arm 2", "arm 1", "arm 3")


def test_zero_is_on_the_axis_of_effects_that_are_all_above_it():
    results = {"odds": Result(np.array([5.0, 6.0]), ("arm",))}
    scale = drawn(View("effects", "E", "odds"), results).panels[0].scaling("x")
    assert scale.low < 0 < 6 < scale.high
