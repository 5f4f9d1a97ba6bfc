"""What is said of values along a single input that recur, before the fit and in its results."""

from __future__ import annotations

from plaidwork.core.api import ModelData, Problem, Results, format_count, format_number
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, points_of_season, season_in
from plaidwork.plugins.gp_auxiliary.regression.seasons import recurs_text
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

_MOST_POINTS = 1000
"""Inducing points up to which a season is worth them."""


def season_problems(samples: Samples, data: ModelData, params: RegressionSettings) -> list[Problem]:
    """That values along a single input recur: what is fitted then, or what describes it where nothing does."""
    chosen = params["covariance"] == "chosen"
    if len(samples.season) and not chosen:
        return []
    period, output = season_in(samples, data)
    if not period:
        return []
    said = _told(samples, data, period, output)
    if len(samples.season):
        hint = "A trend and a season are fitted; another choice of “Covariance” leaves them out."
        return [Problem(said, hint, "covariance", "warning")]
    if chosen:
        points = points_of_season(samples, period)
        if points > _MOST_POINTS:
            return []
        hint = f"A season could be fitted with “Inducing points” at {format_count(points)}."
        return [Problem(said, hint, "inducing", "warning", settings={"inducing": points})]
    hint = f"“Trend and season” as covariance, with {format_number(period)} as “Period”, describes a season."
    settings = {"period": float(f"{period:.4g}"), "covariance": "seasonal"}
    return [Problem(said, hint, "covariance", "warning", settings=settings)]


def _told(samples: Samples, data: ModelData, period: float, output: int) -> str:
    name = samples.outputs[output] if samples.outputs else data["y"].name.rpartition(": ")[2]
    return recurs_text(name, period, data["X"].unit, samples.frame.columns[0])


def with_choice_told(
    results: Results, samples: Samples, data: ModelData, params: RegressionSettings
) -> Results:
    """The results with what was chosen from the data, where the settings leave it to them."""
    if params["covariance"] != "chosen" or "covariance_note" not in results:
        return results
    if not len(samples.season):
        return results | {
            "covariance_note": f"{results['covariance_note']} Chosen from the data: squared exponential."
        }
    period, output = season_in(samples, data)
    said = _told(samples, data, period, output)
    return results | {
        "along_note": f"{results['along_note']} {said} A trend and a season are fitted.",
        "covariance_note": f"{results['covariance_note']} {said} Chosen from the data: linear + matern32 + periodic * rbf.",
    }
