"""Places of maps and curves, and what is made of an answer that does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.api import axis_places, random_test
from plaidwork.core.contract.model import Result
from plaidwork.core.findings.response import checked_response


def test_places_cover_the_values_and_a_tenth_beyond():
    values = np.array([1.0, np.nan, 3.0, 2.0])
    assert axis_places(values, 5) == pytest.approx([0.8, 1.4, 2.0, 2.6, 3.2])
    assert axis_places(np.full(4, 7.0), 3) == pytest.approx([6, 7, 8])
    assert axis_places(np.full(4, np.nan), 3) == pytest.approx([-1, 0, 1])


def test_a_value_whose_decimal_point_was_lost_does_not_rule_the_axis():
    values = np.append(np.random.default_rng(0).normal(10, 1, 500), [9.56e14, 1035.0])
    places = axis_places(values, 40)
    assert 5 < places[0] < places[-1] < 15
    skewed = np.append(np.random.default_rng(0).normal(0.08, 0.01, 500), 0.46)
    assert axis_places(skewed, 40)[-1] > 0.46


def test_answers_for_other_rows_are_refused():
    with pytest.raises(ValueError, match="shape"):
        checked_response({"p": Result(np.zeros(3))}, 4, frozenset({"p"}))
    found = checked_response({"p": Result(np.zeros(4)), "q": Result(np.zeros(2))}, 4, frozenset({"p"}))
    assert list(found) == ["p"]


def test_a_share_of_each_class():
    codes = np.array([0] * 10 + [1] * 4 + [2] + [-1] * 5)
    places = random_test(codes, 0.5)
    assert np.bincount(codes[places], minlength=3).tolist() == [5, 2, 0]
    assert np.array_equal(places, random_test(codes, 0.5))
    assert len(random_test(np.full(4, -1), 0.5)) == 0
