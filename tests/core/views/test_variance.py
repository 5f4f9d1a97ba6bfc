"""Shares of the variance as a picture: colours, bars and names on one axis, totals, groups of samples."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from tests.core.views.drawn import drawn

SHARES = np.array([[0.4, 0.01, 0.0, np.nan], [0.1, 0.0004, 0.2, 0.05]])
RESULTS = {
    "shares": Result(SHARES, ("view", "factor")),
    "view": Result(np.array(["Drugs", "Genes"]), ("view",)),
    "parts": Result(np.stack([SHARES / 2, SHARES * 2]), ("group", "view", "factor")),
    "group": Result(np.array(["early", "late"]), ("group",)),
}
VIEW = View("variance", "V", {"values": "shares"})
BY_GROUP = View("variance", "V", {"values": "shares", "by_group": "parts", "groups": "group"})


def test_cells_bars_and_totals_tell_the_same():
    picture = drawn(VIEW, RESULTS)
    cells, bars = picture.panels
    (mark,) = cells.marks
    assert picture.headline == "4 factors explain 41 % of Drugs and 35 % of Genes"
    assert mark.labels[4:] == ("40.0", "1.0", "0", "–")
    assert mark.labels[1] == "< 0.1"
    assert mark.text(4) == "factor 1 explains of Drugs: 40.0 %"
    assert [mark.items(k)[1] for k in (0, 5)] == [(0,), (1,)]
    assert bars.marks[0].text(2).startswith("Factor 3: Drugs 0")
    assert [(end.at, end.text) for end in cells.ends] == [(1, "41 %"), (0, "35 %")]
    assert picture.table["Factor"][-1] == "all factors"
    assert picture.table["Drugs"][:2].tolist() == [0.4, 0.01]
    assert picture.layers == "factor"
    assert bars.title.endswith("square-root scale")


def test_the_scale_decides_how_weak_factors_show():
    root, even = (drawn(VIEW, RESULTS, {"scale": scale}) for scale in ("root", "linear"))
    weak, half = (picture.panels[0].marks[0] for picture in (root, even))
    assert weak.values[1, 1] / weak.limits[1] == pytest.approx(np.sqrt(0.01 / 0.4))
    assert half.values[1, 1] / half.limits[1] == pytest.approx(0.01 / 0.4)
    assert (root.legend[-1].ends, even.legend[-1].ends) == (("0", "10", "40"), ("0", "20", "40"))
    assert even.panels[1].y.scale == "linear"


def test_a_group_of_samples_is_shown_alone():
    picture = drawn(BY_GROUP, RESULTS, {"Samples": "late"})
    assert picture.headline.endswith("in the samples “late”")
    assert picture.table["Drugs"][0] == 0.8


def test_many_views_have_no_bars():
    shares = np.full((7, 3), 0.1)
    picture = drawn(VIEW, {"shares": Result(shares, ("view", "factor"))})
    assert len(picture.panels) == 1
    assert {end.color for end in picture.panels[0].ends} == {"neutral"}
    empty = drawn(VIEW, {"shares": Result(np.zeros((2, 0)), ("view", "factor"))})
    assert empty.empty[0] == "Nothing to show"
