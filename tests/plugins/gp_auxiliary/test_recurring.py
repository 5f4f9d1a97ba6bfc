"""Seasons are found where there are some, with gaps too, and not in what only wanders."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import Dataset
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.plugins.gp_auxiliary.regression.model import Regression
from plaidwork.plugins.gp_auxiliary.regression.recurring import autocorrelation, period_of

TIMES = 1949 + np.arange(144) / 12


def seasonal(times: np.ndarray, noise: float = 0.2) -> np.ndarray:
    """A rising course that recurs after 1."""
    return (
        0.3 * (times - times[0])
        + np.sin(2 * np.pi * times)
        + noise * generator(1).standard_normal(len(times))
    )


def test_the_autocorrelation_is_that_of_the_definition_without_what_is_missing():
    values = generator(2).standard_normal(40)
    values[[3, 4, 17]] = np.nan
    wanted = [np.nanmean(values[lag:] * values[: len(values) - lag]) for lag in range(9)]
    np.testing.assert_allclose(autocorrelation(values, 8), np.array(wanted) / wanted[0], atol=1e-12)
    assert not autocorrelation(np.zeros(10), 3).any()


@pytest.mark.parametrize("left_out", [[], [5, 6, 50, 99]], ids=["all", "with gaps"])
def test_a_season_is_found_at_its_period_in_any_order(left_out):
    times = np.delete(TIMES, left_out)
    mixed = generator(3).permutation(len(times))
    assert period_of(times[mixed], seasonal(times)[mixed]) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("times", "values"),
    [
        (TIMES, generator(4).standard_normal(144)),
        (TIMES, generator(5).standard_normal(144).cumsum()),
        (TIMES, 0.3 * TIMES**2),
        (np.cumsum(generator(6).uniform(0.02, 0.2, 144)), np.sin(np.arange(144) / 2)),
        (np.repeat(TIMES[:72], 2), np.repeat(seasonal(TIMES[:72]), 2)),
        (TIMES[:20], seasonal(TIMES[:20])),
        (TIMES[[*range(40), 143]], seasonal(TIMES[[*range(40), 143]])),
        (np.ones(30), np.arange(30.0)),
        (np.zeros(0), np.zeros(0)),
    ],
    ids=["noise", "walk", "trend", "uneven", "twice", "few", "far", "no time", "nothing"],
)
def test_nothing_else_recurs(times, values):
    assert period_of(times, values) == 0.0


def told(x: np.ndarray, y: np.ndarray, **params: object) -> list[str]:
    """What is said of a season."""
    rows = tuple(map(str, range(len(x))))
    outputs = tuple(f"y{k}" for k in range(y.shape[1])) if y.ndim > 1 else ()
    data = {
        "X": [Dataset("flights", x, rows, ("time", "dose")[: x.shape[1]])],
        "y": [Dataset("flights: flown", y, rows, outputs)],
    }
    model = Regression()
    settings = {item.name: item.default for item in model.spec.hyperparameters} | params
    found = model.validate(model_data(model.spec, joined_inputs(model.spec, data), 0, 0.0), settings)
    return [
        problem.message
        for problem in found
        if problem.where == "covariance" and problem.severity == "warning"
    ]


def test_a_season_is_told_before_the_fit_where_no_term_recurs():
    x, y = TIMES[:, None], seasonal(TIMES)
    assert told(x, y) == ["“flown” seems to recur after about 1 of “time”."]
    assert told(x, y, covariance="seasonal") == []
    assert told(np.column_stack([x, y]), y) == [], "of several inputs"
    assert told(x, np.column_stack([generator(7).standard_normal(144), y])) == [
        "“y1” seems to recur after about 1 of “time”."
    ]
