"""Bars and posterior densities as values: heights, the words above them, and the scale of their axis."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Bars, Points
from tests.core.views.drawn import drawn


def test_a_bar_is_as_high_as_its_number_says():
    shares = np.array([0.1, 0.55, 0.15, 0.2])
    results = {
        "p": Result(shares, ("k",), label="probability"),
        "k": Result(np.arange(2, 6), ("k",), label="number"),
    }
    picture = drawn(View("bars", "Number", {"values": "p", "x": "k"}), results)
    assert picture.headline == "Number: most probably 3 (probability 0.55)"
    (panel,) = picture.panels
    (mark,) = (mark for mark in panel.marks if isinstance(mark, Bars))
    np.testing.assert_array_equal(mark.high, shares)
    np.testing.assert_array_equal(mark.low, 0)
    assert panel.x.names == ("2", "3", "4", "5")
    assert [float(label) for label in mark.labels] == pytest.approx(shares.tolist())
    assert mark.text(3) == "Number 5: 0.20"
    assert panel.scaling("y").low == 0


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([250.0, 30.1, 57.8, 27.03], ("250", "30", "58", "27")),
        ([0.402, 0.23, 0.0188, 0.0101], ("0.402", "0.230", "0.019", "0.010")),
        ([124, 54, 0], ("124", "54", "0")),
        ([90_000.0, 0.5], ("90\u202f000", "0.5")),
    ],
)
def test_labels_of_bars_have_the_same_decimals(values, labels):
    picture = drawn(View("bars", "B", {"values": "p"}), {"p": Result(np.array(values), ("k",))})
    assert picture.panels[0].marks[0].labels == labels


def density(middle: float, wide: float, at: np.ndarray) -> np.ndarray:
    return np.exp(-(((at - middle) / wide) ** 2) / 2) / wide


@pytest.mark.parametrize("log", [True, False])
def test_what_is_known_much_better_is_counted_on_the_axis_of_the_values(log):
    """The first of three quantities is known much better than its prior says."""
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(400, 3)) * [0.1, 1.0, 1.0] + 1.0
    at = np.tile(np.linspace(-4, 6, 200), (3, 1))
    results = {
        "draws": Result(draws, ("draw", "length")),
        "prior": Result(density(1.0, 1.0, at), ("length", "place")),
        "x": Result(at, ("length", "place")),
    }
    source = {"values": "draws", "prior": "prior", "x": "x"}
    picture = drawn(View("posterior", "P", source, options={"log": log, "dim": "length"}), results)
    assert picture.headline == "1 of 3 lengths is known much better than beforehand"
    assert [panel.x.scale for panel in picture.panels] == ["log" if log else "linear"] * 3
    assert ("logarithmic axes" in picture.notes) == log
    for k, panel in enumerate(picture.panels):
        median = np.median(draws[:, k])
        (dot,) = (mark for mark in panel.marks if isinstance(mark, Points))
        assert float(dot.x[0]) == pytest.approx(np.exp(median) if log else median)


def test_none_is_a_word():
    rng = np.random.default_rng(6)
    at = np.tile(np.linspace(-4, 6, 200), (2, 1))
    results = {
        "draws": Result(rng.normal(1, 1, (300, 2)), ("draw", "length")),
        "prior": Result(density(1.0, 1.0, at), ("length", "place")),
        "x": Result(at, ("length", "place")),
    }
    source = {"values": "draws", "prior": "prior", "x": "x"}
    picture = drawn(View("posterior", "P", source, options={"dim": "length"}), results)
    assert picture.headline == "None of 2 lengths is known much better than beforehand"
    assert picture.caption.startswith("Much better: ")
