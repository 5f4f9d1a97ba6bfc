"""A spread that grows with the level of a course is told, and only that; a click takes logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import Dataset
from plaidwork.core.data.dataset import Step
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.gp_auxiliary.regression.growing import spread_grows

MONTHS = np.arange(144) / 12.0
SEASON = np.sin(2 * np.pi * MONTHS)


def in_proportion(noise: np.ndarray) -> np.ndarray:
    """Passengers, as it were: a season and noise in proportion to a rising level."""
    return 100.0 * np.exp(0.15 * MONTHS + 0.2 * SEASON + 0.05 * noise)


def share(make, period: float = 0.0, repeats: int = 200) -> float:
    """How often a spread is said to grow, of so many courses."""
    rng = generator(3)
    return float(np.mean([spread_grows(MONTHS, make(rng), period) for _ in range(repeats)]))


def test_a_spread_in_proportion_is_seen():
    assert share(lambda rng: in_proportion(rng.standard_normal(144)), 1.0) > 0.98
    trend = np.exp(0.18 * MONTHS)
    assert share(lambda rng: 100.0 * trend * np.exp(0.15 * rng.standard_normal(144))) > 0.9


@pytest.mark.parametrize(
    ("make", "period"),
    [
        (lambda rng: 100.0 + 36.0 * MONTHS + 20.0 * rng.standard_normal(144), 0.0),
        (lambda rng: 150.0 + 36.0 * MONTHS + 30.0 * SEASON + 10.0 * rng.standard_normal(144), 1.0),
        (lambda rng: 300.0 + 8.0 * np.cumsum(rng.standard_normal(144)), 0.0),
        (lambda rng: 50.0 + 20.0 * np.exp(0.25 * MONTHS) + 5.0 * rng.standard_normal(144), 0.0),
        (lambda rng: np.log(in_proportion(rng.standard_normal(144))), 1.0),
    ],
    ids=["trend", "season", "random walk", "growth alone", "logarithms"],
)
def test_nothing_else_is_taken_for_it(make, period):
    assert share(make, period) < 0.02


def test_counts_are_not_in_proportion():
    """The spread of counts grows as the root of their level."""
    assert share(lambda rng: 1.0 + rng.poisson(20.0 + 18.0 * MONTHS)) < 0.15


@pytest.mark.parametrize(
    "y",
    [
        np.zeros(144),
        np.full(144, 2.0),
        in_proportion(np.zeros(144)) - 120.0,
        in_proportion(np.zeros(144))[:20],
        np.zeros(0),
    ],
    ids=["zeros", "constant", "negative", "few", "none"],
)
def test_what_has_no_such_level(y):
    assert not spread_grows(MONTHS[: len(y)], y)
    assert not spread_grows(MONTHS[: len(y)], y, 1.0)


def test_logarithms_are_offered_and_then_no_more():
    rows = tuple(map(str, range(144)))
    x = Dataset("flights", MONTHS[:, None], rows, ("time",), unit="years")
    y = Dataset("flights: flown", in_proportion(generator(5).standard_normal(144)), rows)
    model = registry().model("gp_regression")
    plan = make_plan(model, {"X": [x], "y": [y]})
    assert plan.warnings[0].message.startswith("The spread of “flown” grows with its level")
    assert (plan.warnings[0].transform, plan.warnings[0].where) == ("log", "y")
    after = make_plan(model, {"X": [x], "y": [apply_step(y, Step("log"))]})
    assert not any("spread" in problem.message for problem in after.warnings)
