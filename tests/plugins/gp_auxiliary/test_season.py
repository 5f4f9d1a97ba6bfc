"""A season that the training data have is fitted without being asked for, and nothing else is taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core import fit
from plaidwork.core.api import Dataset, ModelData, ResultStore
from plaidwork.core.api_pictures import ViewChoices
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.gp_auxiliary.regression.pictures import residuals
from plaidwork.plugins.gp_auxiliary.regression.samples import make_samples, points_of_season

TIMES = 1949 + np.arange(144) / 12
MODELS = ["gp_regression", "gp_quick_regression"]


def seasonal(times: np.ndarray, noise: float = 0.2) -> np.ndarray:
    """A rising course that recurs after 1, and whose season grows."""
    since = times - times[0]
    season = (1 + 0.1 * since) * (np.sin(2 * np.pi * times) + 0.5 * np.cos(4 * np.pi * times))
    return 0.3 * since + season + noise * generator(1).standard_normal(len(times))


def given(
    x: np.ndarray, y: np.ndarray, test: np.ndarray | None = None, unit: str = "years"
) -> dict[str, object]:
    """Inputs (n,) and values (n,) or (n, P), with a split where some are for the test."""
    rows = tuple(map(str, range(len(x))))
    outputs = tuple(f"y{k}" for k in range(y.shape[1])) if y.ndim > 1 else ()
    data: dict[str, object] = {
        "X": Dataset("flights", x[:, None], rows, ("time",), unit=unit),
        "y": Dataset("flights: flown", y, rows, outputs),
    }
    if test is not None:
        data["split"] = Dataset("parts", test.astype(int), rows, (), "categorical", ("train", "test"))
    return data


def blocks(data: dict[str, object]) -> ModelData:
    model = registry().model("gp_regression")
    return model_data(
        model.spec, joined_inputs(model.spec, {name: [one] for name, one in data.items()}), 0, 0.0
    )


def begun(name: str, data: ModelData, **params: object) -> tuple[float, int]:
    """The period that a chain begins with, 0 without one, and how many parameters it has."""
    model = registry().model(name)
    settings = model.spec.check_params(params)
    state = model.init(data, settings, generator(1))
    season = state["fixed"]["season"]
    theta = state["theta"] if "theta" in state else state["optima"][0]
    return (float(season[0] * TIMES.std()) if len(season) else 0.0), len(theta)


@pytest.mark.parametrize("name", MODELS)
def test_a_season_is_fitted_where_the_values_recur(name):
    data = blocks(given(TIMES, seasonal(TIMES)))
    period, count = begun(name, data)
    assert period == pytest.approx(1.0, rel=1e-6)
    assert count == 9
    assert begun(name, data, covariance="rbf") == (0.0, 4)
    assert begun(name, data, covariance="seasonal", period=2.0)[0] == pytest.approx(2.0)
    noise = blocks(given(TIMES, generator(4).standard_normal(144)))
    assert begun(name, noise) == begun(name, noise, covariance="rbf")


def test_years_ahead_are_predicted_and_what_was_chosen_is_told():
    test = TIMES >= 1958
    data = given(TIMES, seasonal(TIMES), test)
    runs = [
        fit("gp_quick_regression", data, params, seed=1, chains=2, executor="inline")
        for params in ({}, {"covariance": "rbf"})
    ]
    left = residuals(ResultStore(runs[0]), ViewChoices({}))
    assert left.panels[0].x.label == "time", "over a single input to begin with"
    found, plain = (run.results for run in runs)
    assert float(found["rmse"].values) < 0.45 < 1.0 < float(plain["rmse"].values)
    assert "recur after about 1 year. A trend and a season are fitted." in found["along_note"]
    assert "Chosen from the data: linear + matern32 + periodic * rbf." in found["covariance_note"]
    assert not any(
        "hosen" in plain[note] or "recur" in plain[note] for note in ("along_note", "covariance_note")
    )


def test_without_a_season_the_draws_are_those_of_the_squared_exponential():
    data = given(TIMES[:40], generator(4).standard_normal(40))
    schedule = {"chains": 1, "warmup": 20, "draws": 5, "thin": 1, "executor": "inline"}
    chosen, plain = (
        fit("gp_regression", data, params, seed=1, **schedule) for params in ({}, {"covariance": "rbf"})
    )
    one, other = (
        np.array([run.kept().chains[0].draw("theta", k) for k in range(5)]) for run in (chosen, plain)
    )
    np.testing.assert_array_equal(one, other)
    assert "Chosen from the data: squared exponential." in chosen.results["covariance_note"]
    assert "recur" not in chosen.results["along_note"]


def test_test_samples_have_no_say():
    test = TIMES >= 1955
    noise = generator(4).standard_normal(144)
    for train, rest, wanted in ((seasonal(TIMES), noise, 1.0), (noise, seasonal(TIMES), 0.0)):
        data = blocks(given(TIMES, np.where(test, rest, train), test))
        samples = make_samples(data, registry().model("gp_regression").spec.check_params({}))
        season = samples.season * samples.frame.spread if len(samples.season) else np.zeros(1)
        assert season[0] == pytest.approx(wanted)


def test_one_of_several_outputs_is_enough():
    y = np.column_stack([generator(7).standard_normal(144), seasonal(TIMES)])
    assert begun("gp_regression", blocks(given(TIMES, y)))[0] == pytest.approx(1.0, rel=1e-6)


def told(
    model: str, data: dict[str, object], **params: object
) -> list[tuple[str, str, str, dict[str, object]]]:
    """What is said of a season before the fit: sentence, hint, field, what a click sets."""
    chosen = registry().model(model)
    settings = chosen.spec.check_params(params)
    found = chosen.validate(blocks(data), settings)
    return [(p.message, p.hint, p.where, dict(p.settings)) for p in found if "recur" in p.message]


def test_what_is_fitted_is_told_before_the_fit():
    data = given(TIMES, seasonal(TIMES))
    ((message, hint, where, settings),) = told("gp_regression", data)
    assert message == "“flown” seems to recur after about 1 year."
    assert hint.startswith("A trend and a season are fitted;")
    assert (where, settings) == ("covariance", {})
    assert told("gp_regression", given(TIMES, generator(4).standard_normal(144))) == []


def test_a_season_needs_so_many_inducing_points():
    data = given(TIMES, seasonal(TIMES))
    few, enough = {"form": "inducing", "inducing": 90}, {"form": "inducing", "inducing": 96}
    assert begun("gp_quick_regression", blocks(data), **few) == (0.0, 4)
    assert begun("gp_quick_regression", blocks(data), **enough)[0] == pytest.approx(1.0, rel=1e-6)
    ((_message, hint, where, settings),) = told("gp_quick_regression", data, **few)
    assert hint == "A season could be fitted with “Inducing points” at 96."
    assert (where, settings) == ("inducing", {"inducing": 96})
    ((_message, hint, where, settings),) = told("gp_quick_regression", data, **few | settings)
    assert (where, settings) == ("covariance", {})
    samples = make_samples(blocks(data), registry().model("gp_regression").spec.check_params({}))
    assert points_of_season(samples, 0.01) > 1000


def test_a_time_that_is_missing_hides_no_season():
    """It stands at the mean of the others, off their grid."""
    times = TIMES.copy()
    times[[17, 80]] = np.nan
    assert begun("gp_regression", blocks(given(times, seasonal(TIMES))))[0] > 0.0
    assert len(told("gp_regression", given(times, seasonal(TIMES)))) == 1
