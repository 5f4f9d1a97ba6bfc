"""Groupings that copies of few labels visit: found with their shares, and what is said where chains do not agree on them."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.plugins.gp_auxiliary.few_labels import modes
from plaidwork.plugins.gp_auxiliary.few_labels.model import near_length, with_length
from plaidwork.plugins.gp_auxiliary.few_labels.results import Tempered, doubt_of


def test_the_length_is_that_of_near_pairs():
    x = np.array([[0.0], [1.0], [3.0], [7.0], [15.0]])
    apart = sorted(abs(a - b) for i, a in enumerate(x[:, 0]) for b in x[:i, 0])
    assert near_length(x) == pytest.approx(np.quantile(apart, 0.1))
    assert near_length(np.zeros((3, 2))) == 1.0
    assert with_length({"gamma": 0.0}, x)["gamma"] == pytest.approx(near_length(x) ** -2)
    assert with_length({"gamma": 3.0}, x)["gamma"] == 3.0
    assert with_length({"gamma": 3.0, "many_inputs": True}, x)["gamma"] == 3.0
    many = np.tile(x, (1, 4))
    longer = with_length({"gamma": 0.0, "many_inputs": True}, many)["gamma"]
    assert longer == pytest.approx(near_length(many) ** -2 / (many.shape[1] / 2) ** 0.5)
    two = x[:, :2]
    assert with_length({"gamma": 0.0, "many_inputs": True}, two) == with_length({"gamma": 0.0}, two) | {
        "many_inputs": True
    }


def planted(shares: tuple[float, ...], draws: int = 100) -> list[np.ndarray]:
    """Chains that spend such a share of their draws in a grouping that puts 8 of 20 samples elsewhere."""
    first = np.repeat([0, 1], 10).astype(np.int8)
    second = np.where(np.arange(20) < 8, 1, first).astype(np.int8)
    return [np.array([first] * round(s * draws) + [second] * (draws - round(s * draws))) for s in shares]


def test_groupings_are_found_with_their_shares_in_every_chain():
    found = modes.find_modes(planted((0.7, 0.6)), 2)
    assert found.share == pytest.approx(np.array([[0.7, 0.6], [0.3, 0.4]]))
    assert found.differs.tolist() == [0, 8]
    assert found.counts.tolist() == [[10, 10], [2, 18]]


def tempered(*trips: int) -> Tempered:
    size = len(trips)
    empty = np.zeros((size, 3))
    return Tempered(
        [str(c + 1) for c in range(size)], empty, np.array(trips), np.full(size, 100), empty, empty
    )


def test_what_is_said_of_chains_that_do_not_agree():
    ladder, agreed = np.linspace(0, 1, 4), modes.agreement(planted((0.7, 0.6)), 2)
    apart = modes.agreement(planted((0.9, 0.4)), 2)
    assert (agreed.disputed, apart.disputed) == (0, 8)
    assert doubt_of(agreed, tempered(9, 9), ladder, 20) == ""
    assert "disagree about 8 of 20" in doubt_of(apart, tempered(9, 9), ladder, 20)
    assert "not chain 2" in doubt_of(agreed, tempered(9, 1), ladder, 20)
    assert "no chain" in doubt_of(agreed, tempered(1, 1), ladder, 20)
    assert doubt_of(agreed, tempered(0, 0), ladder[-1:], 20).startswith("The modes are not compared")
    assert "cannot be compared" in doubt_of(modes.agreement(planted((0.7,)), 2), tempered(9), ladder, 20)
    assert doubt_of(agreed, tempered(0, 0), ladder, 0) == ""
