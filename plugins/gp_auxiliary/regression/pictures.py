"""Pictures of a regression: the fit along an input, predicted against observed values, residuals, calibration."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from plaidwork.core.api import ResultStore, format_number, format_percent
from plaidwork.core.api_pictures import Axis, Bands, Key, Line, Panel, Picture, Points, Rule, ViewChoices
from plaidwork.plugins.gp_auxiliary.regression.of_output import OfOutput, nothing, of_output

_PARTS = (("fitted", "fitted", 0), ("test", "test", 1))
_LEVELS = np.arange(0.05, 1.0, 0.05)
_NAMED = 5
"""Samples farthest from their prediction that are named."""


def _of(what: str, output: str) -> str:
    return what if output == "value" else f"{what} {output}"


def _numbers(values: np.ndarray, digits: int = 4) -> tuple[str, ...]:
    return tuple(format_number(float(value), digits) for value in values)


def _keys(part: np.ndarray) -> tuple[Key, ...]:
    """A key for each part, where there are two."""
    present = [(text, color) for word, text, color in _PARTS if (part == word).any()]
    return tuple(Key(text, color, "point", color) for text, color in present) if len(present) > 1 else ()


def _colors(part: np.ndarray) -> tuple[int, ...]:
    return tuple(np.where(part == "test", 1, 0).tolist())


def fit_along(store: ResultStore, choices: ViewChoices) -> Picture:
    """Mean, band of the function, band of a new observation, and the data."""
    if "along_mean" not in store:
        return nothing()
    results, output = of_output(store, choices)
    names = [str(name) for name in results.array("along_names")]
    k = choices.among("column", "Along", names, each="column")
    x, part = results.array("along_x")[k], results.array("point_part")
    found = [results.array(f"along_{name}") for name in ("mean", "function", "observation")]
    here = np.ones(len(part), dtype=bool)
    if "along_groups" in results:
        groups = [str(name) for name in results.array("along_groups")]
        g = choices.among("group", "Group", groups, each="group")
        found = [values[g] for values in found]
        code = int(results.array("along_codes")[g])
        here = (results.array("point_group") == code) | (code < 0)
    mean, function, observation = (values[k] for values in found)

    def read(i: int) -> str:
        f, y = _numbers(function[i]), _numbers(observation[i])
        return (
            f"{names[k]} {format_number(float(x[i]), 5)}: {format_number(float(mean[i]), 4)}, function {f[0]} to {f[1]}, "
            f"new observation {y[0]} to {y[1]}"
        )

    points = _points(results, results.array("point_x")[:, k], results.array("point_y"), here, size=6.0)
    marks = (
        Bands(x, observation[:, 0], observation[:, 1], 0.13, color=2, name="new observation"),
        Bands(x, function[:, 0], function[:, 1], 0.32, color=2, name="function"),
        points,
        Line(x, mean, 2.2, color=2, name="mean", read=read),
    )
    table = {
        names[k]: x,
        "Mean": mean,
        "Function 5 %": function[:, 0],
        "Function 95 %": function[:, 1],
        "Observation 5 %": observation[:, 0],
        "Observation 95 %": observation[:, 1],
    }
    return Picture(
        results.text("headline"),
        results.text("along_note"),
        (Panel(marks, Axis(names[k], margin=0), Axis(output), reads="across"),),
        legend=(Key("mean of the function", 2, "line"), *(_keys(part) or (Key("data", 0, "point"),))),
        table=table,
    )


def noise_along(store: ResultStore, choices: ViewChoices) -> Picture:
    """The noise's standard deviation along an input."""
    if "noise_along" not in store:
        return nothing()
    results, _output = of_output(store, choices)
    names = [str(name) for name in results.array("along_names")]
    k = choices.among("column", "Along", names, each="column")
    x, sd, ends = (results.array(name)[k] for name in ("along_x", "noise_along", "noise_interval"))
    marks = (Bands(x, ends[:, 0], ends[:, 1], 0.25, color=2), Line(x, sd, 2.2, color=2, name="noise sd"))
    return Picture(
        results.text("headline"),
        results.text("noise_note"),
        (Panel(marks, Axis(names[k], margin=0), Axis("noise sd", low=0), reads="across"),),
        table={names[k]: x, "Noise sd": sd, "5 %": ends[:, 0], "95 %": ends[:, 1]},
    )


def _points(results: OfOutput, x: np.ndarray, y: np.ndarray, here: np.ndarray, size: float = 7.0) -> Points:
    """Those of the samples with a known value that are wanted, each with its name, value and prediction in words."""
    names, observed = results.array("point_names")[here], results.array("point_y")[here]
    mean, ends = results.array("point_predicted")[here], results.array("point_interval")[here]

    def read(i: int) -> str:
        low, high = _numbers(ends[i])
        return (
            f"{names[i]}: observed {format_number(float(observed[i]), 4)}, predicted {format_number(float(mean[i]), 4)} "
            f"({low} to {high})"
        )

    part = results.array("point_part")[here]
    color = _colors(part)  # and its shape, which is told apart in grey too
    return Points(x[here], y[here], size, shapes=color, color=color, read=read, called=tuple(map(str, names)))


def observed_against_predicted(store: ResultStore, choices: ViewChoices) -> Picture:
    """Observed values over predicted ones, and the line on which they would be equal."""
    if "point_y" not in store:
        return nothing()
    results, output = of_output(store, choices)
    observed, mean = results.array("point_y"), results.array("point_predicted")
    both = np.array([min(observed.min(), mean.min()), max(observed.max(), mean.max())])
    marks = (
        Line(both, both, 1.2, dashed=True, color="text"),
        _points(results, mean, observed, np.ones(len(mean), dtype=bool)),
    )
    part = results.array("point_part")
    return Picture(
        results.text("headline"),
        results.text("point_note"),
        (Panel(marks, Axis(_of("predicted", output)), Axis(_of("observed", output)), reads="near"),),
        "Dashed: predicted and observed are equal",
        _keys(part),
        _table(results),
    )


def _table(results: OfOutput) -> dict[str, np.ndarray]:
    ends = results.array("point_interval")
    return {
        "Sample": results.array("point_names"),
        "Part": results.array("point_part"),
        "Observed": results.array("point_y"),
        "Predicted": results.array("point_predicted"),
        "5 %": ends[:, 0],
        "95 %": ends[:, 1],
    }


def residuals(store: ResultStore, choices: ViewChoices) -> Picture:
    """Observed less predicted over predicted values or over an input, a single one to begin with; the farthest named."""
    if "point_y" not in store:
        return nothing()
    results, output = of_output(store, choices)
    mean = results.array("point_predicted")
    gap = results.array("point_y") - mean
    inputs = [str(name) for name in results.array("along_names")] if "along_names" in results else []
    k = choices.among(
        "over", "Over", [_of("predicted", output), *inputs], int(len(inputs) == 1), each="quantity"
    )
    x, under = (results.array("point_x")[:, k - 1], inputs[k - 1]) if k else (mean, _of("predicted", output))
    names = results.array("point_names")
    far = np.argsort(-np.abs(gap), kind="stable")[:_NAMED]
    told = ", ".join(f"{names[i]} ({format_number(float(gap[i]), 3)})" for i in far)
    marks = (Rule(np.zeros(1), "y"), _points(results, x, gap, np.ones(len(mean), dtype=bool)))
    return Picture(
        results.text("residual_headline"),
        results.text("point_note"),
        (
            Panel(
                marks,
                Axis(under),
                Axis(_of("observed less predicted", output)),
                reads="near",
            ),
        ),
        f"Farthest: {told}",
        _keys(results.array("point_part")),
        {**_table(results), "Residual": gap},
    )


def calibration(store: ResultStore, choices: ViewChoices) -> Picture:
    """Share of the values inside central intervals of each size, with where it would be by chance."""
    if "point_rank" not in store:
        return nothing()
    results, _output = of_output(store, choices)
    part, rank = results.array("point_part"), results.array("point_rank")
    judged = part == "test" if (part == "test").any() else part == "fitted"
    away = 2.0 * np.abs(rank[judged] - 0.5)
    count = int(judged.sum())
    share = np.array([(away <= level + 1e-12).mean() for level in _LEVELS])
    low, high = (binom.ppf(p, count, _LEVELS) / count for p in (0.025, 0.975))
    ends = np.array([0.0, 1.0])

    def read(i: int) -> str:
        return (
            f"intervals of {format_percent(_LEVELS[i])}: {format_percent(share[i])} of {count} values inside"
        )

    marks = (
        Bands(_LEVELS, low, high, 0.25, color="neutral", name="by chance"),
        Line(ends, ends, 1.2, dashed=True, color="text"),
        Line(_LEVELS, share, 2.0, color=1 if (part == "test").any() else 0, name="observed", read=read),
    )
    return Picture(
        results.text("calibration_headline"),
        results.text("calibration_note"),
        (
            Panel(
                marks,
                Axis("size of the interval", low=0, high=1),
                Axis("share of the values inside", low=0, high=1),
                reads="across",
            ),
        ),
        table={"Interval": _LEVELS, "Inside": share, "By chance from": low, "By chance to": high},
    )
