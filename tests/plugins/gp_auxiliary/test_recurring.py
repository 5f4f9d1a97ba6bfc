"""Seasons are found where there are some, with gaps too, and not in what only wanders."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import Dataset
from plaidwork.core.data.importers._dates import as_numbers
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


def months(first: int, n: int, step: int = 1) -> list[datetime]:
    """So many first days of a month, from a month of 1949 on."""
    return [datetime(1949 + k // 12, k % 12 + 1, 1) for k in range(first - 1, first - 1 + n * step, step)]


def every(hours: int, n: int) -> list[datetime]:
    """So many times from 2019 on, through a leap year where they last."""
    return [datetime(2019, 3, 4) + timedelta(hours=hours * k) for k in range(n)]


@pytest.mark.parametrize("unit", ["years", "days"])
@pytest.mark.parametrize("gaps", [False, True], ids=["all", "with gaps"])
@pytest.mark.parametrize(
    ("times", "lag", "days"),
    [
        (months(1, 144), 12, 365.25),
        (months(3, 60), 12, 365.25),
        ([time - timedelta(days=1) for time in months(2, 144)], 12, 365.25),
        (months(1, 80, 3), 4, 365.25),
        (months(1, 60, 12), 11, 11 * 365.25),
        (every(7 * 24, 200), 13, 91),
        (every(24, 900), 7, 7),
        (every(1, 900), 24, 1),
    ],
    ids=["months", "from March", "ends of months", "quarters", "years", "weeks", "days", "hours"],
)
def test_calendars_go_in_even_steps_though_months_and_years_do_not(times, lag, days, gaps, unit):
    places = np.arange(len(times))
    if gaps:
        places = np.delete(places, [5, 6, 17, 29, 30, 31])
    seconds = np.array([(times[place] - datetime(1970, 1, 1)).total_seconds() for place in places])
    y = 0.02 * places + np.sin(2 * np.pi * places / lag) + 0.2 * generator(8).standard_normal(len(places))
    period = period_of(as_numbers(seconds, unit), y)
    assert period * (365.25 if unit == "years" else 1.0) == pytest.approx(days, rel=4e-3)


def test_times_at_random_are_never_even():
    draws = generator(9)
    for _ in range(200):
        n = int(draws.integers(24, 150))
        gaps = draws.uniform(0.8, 1.2, n), draws.uniform(0.5, 1.5, n), draws.exponential(1.0, n)
        for x in (*map(np.cumsum, gaps), np.sort(draws.uniform(0, 10, n))):
            assert period_of(x, np.sin(2 * np.pi * np.arange(n) / 6)) == 0.0


def test_a_broad_peak_is_taken_at_its_top():
    """Noise makes peaks on its slopes, and with the first of them 52.2 weeks were 51.1 on average; the standard error is 0.2."""
    places = np.arange(260)
    season = np.sin(2 * np.pi * places / 52.18)
    found = [period_of(places, season + 0.4 * generator(k).standard_normal(260)) for k in range(40)]
    assert np.mean(found) == pytest.approx(52.18, abs=0.8)


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


def told(
    x: np.ndarray, y: np.ndarray, title: str = "time", unit: str = "", **params: object
) -> list[tuple[str, float]]:
    """What is said of a season where the covariance is given, and the period that a click sets."""
    rows = tuple(map(str, range(len(x))))
    outputs = tuple(f"y{k}" for k in range(y.shape[1])) if y.ndim > 1 else ()
    data = {
        "X": [Dataset("flights", x, rows, (title, "dose")[: x.shape[1]], unit=unit)],
        "y": [Dataset("flights: flown", y, rows, outputs)],
    }
    model = Regression()
    settings = {item.name: item.default for item in model.spec.hyperparameters}
    settings |= {"covariance": "rbf"} | params
    found = model.validate(model_data(model.spec, joined_inputs(model.spec, data), 0, 0.0), settings)
    return [
        (problem.message, problem.settings["period"])
        for problem in found
        if problem.where == "covariance" and problem.severity == "warning"
    ]


def test_a_season_is_told_before_the_fit_where_no_term_recurs():
    x, y = TIMES[:, None], seasonal(TIMES)
    assert told(x, y) == [("“flown” seems to recur after about 1 in units of “time”.", 1.0)]
    assert told(x, y, covariance="seasonal") == []
    assert told(np.column_stack([x, y]), y) == [], "of several inputs"
    assert told(x, np.column_stack([generator(7).standard_normal(144), y])) == [
        ("“y1” seems to recur after about 1 in units of “time”.", 1.0)
    ]


@pytest.mark.parametrize(
    ("step", "lag", "title", "unit", "words", "period"),
    [
        (1 / 12, 12, "Month", "years", "1 year", 1.0),
        (1 / 12, 3, "Month", "years", "3 months", 0.25),
        (7 / 365.25, 52, "date", "years", "1 year", 1.0),
        (1 / 365.25, 7, "date", "years", "7 days", 0.01917),
        (1 / 8766, 12, "date", "years", "12 hours", 0.001369),
        (1.0, 11, "Year", "", "11 years", 11.0),
        (1.0, 7, "date", "days", "7 days", 7.0),
        (30.44, 12, "date", "days", "1 year", 365.2),
        (1.0, 12, "month", "", "12 in units of “month”", 12.0),
    ],
)
def test_the_period_is_told_in_units_of_time(step, lag, title, unit, words, period):
    places = np.arange(260)
    y = np.sin(2 * np.pi * places / lag) + 0.1 * generator(3).standard_normal(260)
    x = 1990 + step * places
    message, setting = told(x[:, None], y, title, unit)[0]
    assert message == f"“flown” seems to recur after about {words}."
    assert setting == pytest.approx(period, rel=1e-3)
