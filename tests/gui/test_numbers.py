"""Numbers as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaidwork.gui import numbers as n

THIN, MINUS = "\u202f", "\u2212"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, f"1{THIN}000"),
        (-1234567, f"{MINUS}1{THIN}234{THIN}567"),
        (math.nan, "–"),
        (-math.inf, f"{MINUS}∞"),
    ],
)
def test_count(value, text):
    assert n.format_count(value) == text


@pytest.mark.parametrize(
    ("values", "decimals", "texts"),
    [
        ([1950, 1955, 1960], 0, ["1950", "1955", "1960"]),
        ([-1949.5, 0], 1, [f"{MINUS}1949.5", "0.0"]),
        ([5000, 10000], 0, [f"5{THIN}000", f"10{THIN}000"]),
        ([], 0, []),
    ],
)
def test_ticks_of_four_digits_are_without_spaces_as_years_are(values, decimals, texts):
    assert n.format_ticks(values, decimals) == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.50"),
        (1.0, "1"),
        (0.996, "> 0.99"),
        (0.9949, "0.99"),
        (0.001, "< 0.01"),
        (0, "0"),
        (1 - 1e-9, "> 0.99"),
        (1 - 2e-15, "1"),
    ],
)
def test_probability_is_one_only_when_exact(value, text):
    assert n.format_probability(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.02, "20 ms"),
        (0.4, "0.4 s"),
        (40, "40 s"),
        (72, "1 min 12 s"),
        (60, "1 min"),
        (7500, "2 h 5 min"),
        (3599.9, "1 h"),
        (100000, "1 d 4 h"),
        (math.inf, "–"),
    ],
)
def test_duration(seconds, text):
    assert n.format_duration(seconds) == text


def test_rough_duration_rounds_to_five_seconds():
    assert n.format_duration(43, rough=True) == "45 s"
    assert n.format_duration(28, rough=True) == "28 s"
    assert n.format_duration(6.2, rough=True) == "6 s"
    assert n.format_duration(0.09, rough=True) == "0 s"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1.2e6, "1.2 MB"), (60e6, "60 MB"), (999999, "1.0 MB")]
)
def test_bytes(count, text):
    assert n.format_bytes(count) == text


@pytest.mark.parametrize(
    ("value", "mcse", "text"),
    [
        (1.23456, 0.012, "1.235"),
        (1234.5, 25, f"1{THIN}234"),
        (123456.0, 1200.0, f"123{THIN}500"),
        (-0.00001, 0.01, "0.000"),
        (2.0, 0, "2"),
        (2.5, math.nan, "2.5"),
        (math.nan, 1, "–"),
    ],
)
def test_two_digits_of_the_error_decide(value, mcse, text):
    assert n.format_by_error(value, mcse) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.58, "58 %"), (1, "100 %"), (0.9999, "> 99 %"), (0.0001, "< 1 %"), (0.005, "< 1 %"), (0, "0 %")],
)
def test_percent(share, text):
    assert n.format_percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.88, f"{MINUS}0.88"), (1e-9, f"1e{MINUS}9"), (12345.678, f"12{THIN}346"), (3e12, "3e12"), (2.0, "2")],
)
def test_number(value, text):
    assert n.format_number(value) == text


def test_sign_and_no_negative_zero():
    assert n.format_fixed(0.8, 2, sign=True) == "+0.80"
    assert n.format_fixed(-0.001, 2) == "0.00"


@given(
    st.floats(-1e12, 1e12),
    st.floats(1e-9, 1e12),
    st.integers(3, 12),
)
def test_ticks_are_inside_in_steps_1_2_5(low, span, count):
    high = low + span
    if high - low < abs(low) * 1e-9:
        return
    ticks = n.nice_ticks(low, high, count)
    assert 3 <= len(ticks) <= 2.5 * count + 3
    step = ticks[1] - ticks[0]
    slack = 1e-6 * (high - low) + 1e-12 * abs(low)
    assert ticks[0] >= low - slack
    assert ticks[-1] <= high + slack
    first = step / 10 ** math.floor(math.log10(step) + 1e-6)
    assert min(abs(first - f) for f in (1, 2, 5, 10)) < 1e-2


def test_ticks_share_decimals():
    assert n.step_decimals(0.05) == 2
    assert n.step_decimals(0.2) == 1
    assert n.step_decimals(10) == 0
    assert n.nice_ticks(3, 3) == [3]
    assert n.nice_ticks(math.nan, 1) == []


def test_ends_of_a_scale_share_decimals():
    assert n.format_limits((0.0332, 0.688, 1.34)) == ["0.03", "0.69", "1.34"]
    assert n.format_limits((-3.14159, 0, 3.14159)) == [f"{MINUS}3.14", "0", "3.14"]
    assert n.format_limits((0, 0.5, 1)) == ["0", "0.5", "1.0"]
    assert n.format_limits((0, 10_000, 20_000)) == ["0", f"10{THIN}000", f"20{THIN}000"]
    assert n.format_limits((0, 5e-7, 1e-6)) == ["0", f"5e{MINUS}7", f"1e{MINUS}6"]
    assert n.format_limits((math.nan, 1.0, 2.0)) == ["–", "1", "2"]


@pytest.mark.parametrize(
    ("value", "text"), [(0.99996, "> 0.9999"), (1.0, "1"), (0.00001, "< 0.0001"), (math.nan, "–")]
)
def test_a_score_is_one_only_when_exact_at_any_number_of_decimals(value, text):
    assert n.format_probability(value, 4) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9999, "> 0.99"),
        (-0.9999, f"< {MINUS}0.99"),
        (2e-15 - 1, f"{MINUS}1"),
        (1.0, "1"),
        (-1.0, f"{MINUS}1"),
        (0.994, "0.99"),
        (-0.001, "0.00"),
    ],
)
def test_a_correlation_is_one_only_when_exact(value, text):
    assert n.format_correlation(value) == text


def test_rates_have_their_counts_and_losses_are_nothing_only_when_exact():
    assert n.format_rate(5, 84) == "5 of 84 (6 %)"
    assert n.format_rate(0, 0) == "0 of 0"
    assert n.format_rate(1999, 2000) == f"1{THIN}999 of 2{THIN}000 (> 99 %)"
    assert (n.format_loss(0.0), n.format_loss(1e-5), n.format_loss(1.2345)) == ("0", "< 0.001", "1.234")


def test_tables_and_pages_follow_the_same_rule():
    import numpy as np

    from plaidwork.core.draws.numbers import column_format
    from plaidwork.core.views.assessed import with_interval

    assert with_interval((0.999, 0.985, 1.0)) == "0.999 (0.985 to 1)"
    assert with_interval((1.0, 0.87, 1.0)) == "1 (0.87 to 1)"
    shown = column_format(np.array([0.99999, 0.5, 1.0]))
    assert [shown(value) for value in (0.99999, 0.5, 1.0)] == ["> 0.999", "0.500", "1"]
    assert [column_format(np.array([0.0, 2.5, 1.25]))(value) for value in (0.0, 2.5)] == ["0", "2.50"]
    three = column_format(np.array([2.4, 13.0, 0.125]), 3)
    assert [three(value) for value in (2.4, 13.0, 0.125)] == ["2.4", "13.0", "0.1"]
    assert column_format(np.array([0.99999, 1.5]))(0.99999) == "1.000", "no share"
    tiny = column_format(np.array([4e-102, 0.0241, 0.9]))
    assert [tiny(value) for value in (4e-102, 0.0241, 0.9)] == ["< 0.0001", "0.0241", "0.9000"]
    small = column_format(np.array([-4e-6, 0.0241, 0.9]))
    assert small(-4e-6) == "−4e−6", "no share"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.3, 2.2, [0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2]),
        (0.02, 60, [0.03, 0.1, 0.3, 1, 3, 10, 30]),
        (0.9, 1.31, [0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3]),
        (1e-9, 1e9, [1e-8, 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6, 1e8]),
    ],
)
def test_ratio_ticks_are_round(low, high, ticks):
    assert n.ratio_ticks(math.log(low) - 1e-9, math.log(high) + 1e-9, 9) == pytest.approx(ticks)
