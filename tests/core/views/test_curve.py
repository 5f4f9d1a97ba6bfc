"""Curves as pictures: stretches of their axis that are shaded."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Bands, Key, Line
from tests.core.views.drawn import drawn

VIEW = View("curve", "Noise", {"values": "density", "x": "place", "shaded": "null"})
RESULTS = {
    "density": Result(np.array([0.1, 0.0, 0.0, 0.3]), ("step",), label="density"),
    "place": Result(np.array([-3.0, -1.0, 1.0, 3.0]), ("step",), label="z"),
    "null": Result(np.array([[-2.0, 2.0]]), ("stretch", "bound"), label="null category"),
}


def test_a_stretch_is_shaded_from_end_to_end_and_named():
    picture = drawn(VIEW, RESULTS)
    panel = picture.panels[0]
    shade, line = panel.marks[0], panel.marks[-1]
    assert isinstance(shade, Bands)
    assert isinstance(line, Line)
    assert shade.x.tolist() == [-2.0, 2.0]
    up = panel.scaling("y")
    assert (shade.low < up.low).all()
    assert (shade.high > up.high).all()
    assert up.high < 0.5  # the axis up is that of the curve
    assert picture.legend == (Key("null category", shade.color),)


def test_without_it_there_is_none():
    plain = {name: result for name, result in RESULTS.items() if name != "null"}
    picture = drawn(VIEW, plain)
    assert picture.legend == ()
    assert not [mark for mark in picture.panels[0].marks if isinstance(mark, Bands)]


def test_pictures_side_by_side_are_called_by_what_differs():
    several = {"density": Result(np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.2]]), ("patient", "step"))}
    picture = drawn(View("curve", "Noise", "density"), several)
    offered = {choice.id: [text for _, text in choice.options] for choice in picture.choices}
    assert "By curve" in offered["beside"]  # not "By show", as the word before the choice is
    assert drawn(View("curve", "Noise", "density"), several, {"beside": "show"}).headline == "Noise, by curve"


def test_one_of_several_curves_says_which_it_is():
    """On paper there is no control that tells."""
    several = {"density": Result(np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.2]]), ("patient", "step"))}
    view = View("curve", "Noise", "density")
    assert drawn(view, several, {"show": "1"}).panels[0].title == "patient 2"
    assert drawn(view, several, {"show": "all"}).panels[0].title == ""
    assert drawn(view, {"density": Result(np.array([0.1, 0.2]), ("step",))}).panels[0].title == ""


@pytest.mark.parametrize(("count", "shown"), [(2, ["upper"]), (3, ["lower", "upper", "other"])])
def test_of_two_classes_one_is_shown_at_first(count, shown):
    """The band of one minus the other lay over it and hid it."""
    classes = np.array(["lower", "upper", "other"])[:count]
    share = np.full((count, 4), 1 / count)
    found = {
        "p": Result(share, ("class", "place"), label="probability"),
        "ends": Result(np.stack([share - 0.1, share + 0.1], axis=-1), ("class", "place", "end")),
        "class": Result(classes, ("class",)),
    }
    view = View("curve", "C", {"values": "p", "interval": "ends"})
    (panel,) = drawn(view, found).panels
    assert [mark.name for mark in panel.marks if isinstance(mark, Line)] == shown
    (panel,) = drawn(view, found, {"show": "all"}).panels
    assert len([mark for mark in panel.marks if isinstance(mark, Line)]) == count
