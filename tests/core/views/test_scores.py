"""Scatter, beeswarm and one feature against its fit as values: axes, classes, lines, what follows the selection."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Line, Points, Rule, Swarm
from plaidwork.core.views.colouring import colouring
from plaidwork.core.views.drawing import picture_of
from tests.core.views.drawn import drawn, sources

SCORES = np.random.default_rng(1).normal(size=(20, 3))
RESULTS = {
    "scores": Result(SCORES, ("patient", "factor"), label="score"),
    "kind": Result(np.array(["a", "b"] * 9 + ["", ""]), ("patient",), label="kind"),
}
SOURCE = {"values": "scores", "colour": "kind"}


def points(picture) -> Points:
    return next(mark for mark in picture.panels[0].marks if isinstance(mark, Points))


def test_a_scatter_has_every_item_with_its_class():
    picture = drawn(View("scatter", "S", SOURCE), RESULTS)
    mark = points(picture)
    np.testing.assert_array_equal(mark.x, SCORES[mark.of.index, 0])
    np.testing.assert_array_equal(mark.y, SCORES[mark.of.index, 1])
    assert mark.of.kind == "row"
    assert [key.text for key in picture.legend] == ["a", "b", "unknown"]
    assert mark.of.index[:2].tolist() == [18, 19]
    first = int(np.flatnonzero(mark.of.index == 0)[0])
    assert mark.text(first).startswith("patient 1: factor 1 ")
    assert mark.text(first).endswith(", kind a")
    assert mark.called_of(first) == "patient 1"
    assert not picture.panels[0].equal
    assert picture.layers == "factor"


def test_axes_follow_the_selection_and_differ():
    view = View("scatter", "S", SOURCE)
    for layer, up in ((2, "factor 2"), (1, "factor 1")):
        picture = picture_of(sources(view, RESULTS), {}, {"layer": (layer,)})
        assert picture.panels[0].x.label == f"factor {layer + 1}"
        assert picture.panels[0].y.label in (up, "factor 2")
        assert picture.panels[0].x.label != picture.panels[0].y.label
    beside = picture_of(sources(view, RESULTS), {"beside": "x"}, {"layer": (2,)})
    assert [panel.title for panel in beside.panels] == ["factor 1", "factor 2", "factor 3"]
    assert len({panel.marks[-1].x.tobytes() for panel in beside.panels}) == 3


def test_groups_make_the_axes_equal():
    planes = {
        "planes": Result(np.array([[[1.0, 0, 0, 0.2]], [[1.0, 0.5, 0, 0.1]]]), ("group", "c", "k")),
        "centres": Result(np.array([[-1.0, 0, 0], [1.0, 0, 0]]), ("group", "factor")),
        "spread": Result(np.array([0.5, 1.0]), ("group",)),
        "share": Result(np.array([0.5, 0.5]), ("group",)),
    }
    picture = drawn(
        View("scatter", "S", {"values": "scores", **{name: name for name in planes}}), RESULTS | planes
    )
    (panel,) = picture.panels
    assert panel.equal
    circles = [mark for mark in panel.marks if isinstance(mark, Line) and mark.dashed]
    for circle, (middle, radius) in zip(circles, ((-1, 0.5), (1, 1.0)), strict=True):
        np.testing.assert_allclose(np.hypot(circle.x - middle, circle.y), radius)
    assert (
        panel.scaling("x").high < SCORES[:, 0].max() + 0.3
    )  # what lies over the points does not widen the axes


@pytest.mark.parametrize("centre", ["median", "mean"])
def test_a_beeswarm_has_a_bar_at_the_middle_of_each_class(centre):
    view = View("beeswarm", "B", SOURCE, options={"split_by": "kind", "centre": centre})
    (panel,) = drawn(view, RESULTS).panels
    assert panel.x.names == ("a", "b", "unknown")
    assert panel.x.below == ("n = 9", "n = 9", "n = 2")
    bars = [mark for mark in panel.marks if isinstance(mark, Line) and mark.color == "text"]
    groups = SCORES[:18:2, 0], SCORES[1:18:2, 0], SCORES[18:, 0]
    assert [bar.y[0] for bar in bars] == pytest.approx([getattr(np, centre)(group) for group in groups])
    assert isinstance(panel.marks[0], Swarm)


def test_one_feature_follows_the_selected_column():
    weights = np.random.default_rng(2).normal(size=(3, 5))
    results = RESULTS | {
        "weights": Result(weights, ("factor", "drug")),
        "order": Result(np.tile([0, 1, 0, 1, -1], (20, 1)), ("patient", "drug")),
        "thresholds": Result(np.tile([-1.0, 1.0], (5, 1)), ("drug", "threshold")),
    }
    source = {
        "values": "scores",
        "weights": "weights",
        "matrix": "data:X",
        "order": "order",
        "thresholds": "thresholds",
    }
    view = View("feature_fit", "F", source)
    picture = picture_of(sources(view, results), {}, {"column": (1,)})
    mark = points(picture)
    np.testing.assert_allclose(mark.y, (SCORES @ weights[:, 1])[mark.of.index])
    assert picture.headline == "drug 2: 0 % of 20 patients in order"
    rules = [rule.at.tolist() for rule in picture.panels[0].marks if isinstance(rule, Rule) and rule.dashed]
    assert rules == [[-1.0, 1.0]]
    several = picture_of(sources(view, results), {"feature": "4"}, {"column": (1, 2)})
    assert several.headline == "drug 5 was left out of the fit"


def test_a_class_has_its_colour_whatever_row_comes_first():
    one = colouring("kind", np.array(["minus", "plus", "minus", ""], dtype=object))
    other = colouring("kind", np.array(["plus", "minus", "", "minus"], dtype=object))
    assert one.classes == other.classes == ("minus", "plus")
    assert one.codes.tolist() == [0, 1, 0, -1]
    assert other.codes.tolist() == [1, 0, -1, 0]
