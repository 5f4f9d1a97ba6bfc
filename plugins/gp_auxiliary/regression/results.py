"""What a regression found: the fit along each input, predictions and how far they can be trusted, the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import (
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    axis_places,
    format_count,
    format_number,
    format_percent,
)
from plaidwork.core.numerics.psis import smooth_weights
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.regression.mixture import Mixture
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted, Moments, moments_of
from plaidwork.plugins.gp_auxiliary.regression.noise_results import student_results, varying_results
from plaidwork.plugins.gp_auxiliary.regression.parameters import parameter_results
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.shared.covariance import SAME, has_term
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

MOST_INPUTS = 12
"""Inputs along which the fit is shown: the most relevant ones of more."""
_ONE, _EACH = 200, 60
"""Places along a single input, and along each of several."""
_A_PERIOD, _A_LENGTH, _MOST = 20, 4, 1000
"""Places in each period of a single input that recurs, in each length of a function of it, and along it at most."""
MOST_GROUPS = 12
"""Groups whose functions are shown: the largest ones of more."""
NEW_GROUP = "New group"
LEFT_OUT, TEST = "Fitted, each left out", "Test"


def summarise_draws(kept: Kept, samples: Samples, data: ModelData, params: RegressionSettings) -> Results:
    """All results of a regression."""
    if kept.n_draws == 0:
        return {"headline": "No draw is kept yet."}
    if samples.outputs:
        from plaidwork.plugins.gp_auxiliary.regression.outputs_results import summarise_outputs

        return summarise_outputs(kept, samples, data, params)
    frame = samples.frame
    fitted = Fitted.of(samples, params)
    prior = fitted.prior()
    inputs, lines = along_places(kept, prior, samples)
    groups, along = shown_groups(samples, params), lines.reshape(-1, frame.x.shape[1])
    places = np.concatenate([np.tile(along, (len(groups), 1)), frame.x])
    codes = np.concatenate([np.repeat(groups, len(along)), samples.codes])
    found = moments_of(kept, fitted, places, codes)
    names = np.array(data["X"].names[0] or np.arange(1, len(frame.x) + 1), dtype=str)
    own = predicted(found, len(groups) * len(along), samples)
    results = along_inputs(found, inputs, lines, groups, samples)
    results |= points_of(own, samples, inputs, names, samples.known)
    if len(groups) > 1:
        results["point_group"] = Result(samples.codes[samples.known], ("point",))
    results |= judged(own, samples)
    results |= parameter_results(kept, prior, samples)
    weights = np.full(len(frame.x), np.nan)
    if fitted.law.kind == "student":
        table = results["covariance"]
        assert isinstance(table, Table)
        more, weights[frame.used] = student_results(kept, samples, table)
        results |= more
    if fitted.law.kind == "varying":
        results |= varying_results(found, (lines.shape[0], lines.shape[1]), samples)
    results["headline"] = f"{results['headline']}; {results.pop('noise_text')}"
    # of a column beside a table the data set is called “TABLE: TITLE”
    results["value_name"] = data["y"].name.rpartition(": ")[2]
    results["predictions"] = table_of(own, samples, names)
    if fitted.law.kind == "student":
        table = results["predictions"]
        assert isinstance(table, Table)
        results["predictions"] = Table({**table.columns, "Weight": weights}, label="Predictions")
    results["prediction_note"] = (
        f"Averaged over {draws_text(len(found.mean), found.kept)}. Intervals of 90 % for a new observation. Of fitted samples what "
        "all others say (each left out); of the rest what the fit says."
    )
    return results


def shown_groups(samples: Samples, params: RegressionSettings) -> np.ndarray:
    """Numbers of the groups whose functions are shown, first -1 for one that is not in the fit; that alone where groups do not matter."""
    if not (has_term(params, SAME) or params["noise"] == "groups"):
        return np.array([-1])
    counts = np.bincount(samples.codes[samples.frame.used], minlength=len(samples.labels))
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    return np.array([-1, *largest])


@dataclass(frozen=True, slots=True)
class Own:
    """What is expected at each sample, in units of the values: left out where it is fitted.

    Attributes
    ----------
    law : of a new observation, (s, n), standardised.
    mean, sd : (n,) of it.
    interval : (n, 2) central interval of 90 %.
    density : (n,) log density of the known value, in nats per unit of the values; NaN where it is not known.
    rank : (n,) probability of less than the known value.
    """

    law: Mixture
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    density: np.ndarray
    rank: np.ndarray


def own_of(law: Mixture, samples: Samples) -> Own:
    """From the laws of the standardised observations of all samples."""
    y = (samples.values - samples.centre) / samples.spread
    unknown = ~samples.known
    density, rank = law.log_density(y) - np.log(samples.spread), law.below(y)
    density[unknown], rank[unknown] = np.nan, np.nan
    return Own(
        law,
        samples.centre + samples.spread * law.centre(),
        samples.spread * law.sd(),
        samples.centre + samples.spread * law.interval(),
        density,
        rank,
    )


def predicted(found: Moments, start: int, samples: Samples) -> Own:
    """Of all samples, which are the places from ``start`` on."""
    log_weights, _khat = smooth_weights(-found.left_out_density(samples.y))
    return weighed(found, start, samples, log_weights)


def weighed(found: Moments, start: int, samples: Samples, log_weights: np.ndarray) -> Own:
    """Of all samples, which are the places from ``start`` on; with the weights (s, N) of draws for each that is left out."""
    law, used = found.observation(slice(start, None)), samples.frame.used
    left_out = found.left_out(log_weights)
    mean, variance, weights = law.mean.copy(), law.variance.copy(), law.weights.copy()
    mean[:, used], variance[:, used], weights[:, used] = left_out.mean, left_out.variance, left_out.weights
    return own_of(Mixture(mean, variance, weights), samples)


def along_places(kept: Kept, prior: Prior, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (L,) of the inputs shown, and standardised inputs (L, t, D) along each, the others at their medians."""
    frame = samples.frame
    size = frame.x.shape[1]
    shown = np.arange(size)
    theta = np.concatenate([chain.stack("theta") for chain in kept.chains if chain.n_draws])
    own = [i for i, p in enumerate(prior.covariance.parameters) if p.kind == "gamma" and p.column >= 0]
    if own:
        gamma = np.full(size, -np.inf)
        for i in own:
            column = prior.covariance.parameters[i].column
            gamma[column] = max(gamma[column], float(np.median(theta[:, i])))
        shown = np.argsort(-gamma, kind="stable")
    shown = shown[:MOST_INPUTS]
    count = _ONE if size == 1 else _EACH
    if size == 1 and len(samples.season):
        count = min(max(count, int(_A_PERIOD * np.ptp(frame.x) / samples.season[0])), _MOST)
    lengths = [i for i, p in enumerate(prior.covariance.parameters) if p.kind == "gamma"]
    if size == 1 and lengths:
        a_length = np.exp(0.5 * np.median(theta[:, lengths], axis=0).max())  # how many in a unit
        count = int(np.clip(_A_LENGTH * a_length * np.ptp(frame.x), count, _MOST))
    lines = np.tile(np.median(frame.x, axis=0), (len(shown), count, 1))
    for k, column in enumerate(shown.tolist()):
        lines[k, :, column] = axis_places(frame.x[:, column], count)
    return shown, lines


def along_inputs(
    found: Moments, inputs: np.ndarray, lines: np.ndarray, groups: np.ndarray, samples: Samples
) -> Results:
    """The function and its two bands along each input shown, of several groups (g,) for each of them."""
    shape, frame = lines.shape[:2], samples.frame
    if len(groups) > 1:
        shape = (len(groups), *shape)
    count = int(np.prod(shape))
    function = Mixture.even(found.mean[:, :count], found.variance[:, :count])
    observation = found.observation(slice(0, count))

    def values(standardised: np.ndarray) -> np.ndarray:
        return np.asarray(samples.centre + samples.spread * standardised).reshape(
            *shape, *standardised.shape[1:]
        )

    x = np.stack([lines[k, :, d] * frame.spread[d] + frame.centre[d] for k, d in enumerate(inputs)])
    rest = (
        " The other inputs are at their medians, so the points lie off the curve by more than noise."
        if len(frame.columns) > 1
        else ""
    )
    dims: tuple[str, ...] = ("along", "place")
    of_groups: Results = {}
    if len(groups) > 1:
        dims = ("shown_group", *dims)
        names = [NEW_GROUP, *(samples.labels[code] for code in groups[1:])]
        of_groups = {
            "along_groups": Result(np.array(names, dtype=str), ("shown_group",)),
            "along_codes": Result(groups, ("shown_group",)),
        }
        rest += f" “{NEW_GROUP}”: what the groups share, with the band of one that is not in the fit."
    return of_groups | {
        "along_mean": Result(values(function.centre()), dims),
        "along_function": Result(values(function.interval()), (*dims, "end")),
        "along_observation": Result(values(observation.interval()), (*dims, "end")),
        "along_x": Result(x, ("along", "place")),
        "along_names": Result(np.array([frame.columns[d] for d in inputs]), ("along",)),
        "along_note": f"Bands of 90 %: darker where the function is, paler where a new observation is.{rest}",
    }


def points_of(
    own: Own, samples: Samples, inputs: np.ndarray, names: np.ndarray, known: np.ndarray
) -> Results:
    """The samples of a mask (n,), those with a known value, of several outputs a value of one of them."""
    frame = samples.frame
    x = (frame.x * frame.spread + frame.centre)[known][:, inputs]
    return {
        "point_x": Result(x, ("point", "along")),
        "point_y": Result(np.where(samples.known, samples.values, np.nan)[known], ("point",)),
        "point_part": Result(np.where(frame.test[known], "test", "fitted"), ("point",)),
        "point_names": Result(names[known], ("point",)),
        "point_predicted": Result(own.mean[known], ("point",)),
        "point_interval": Result(own.interval[known], ("point", "end")),
        "point_rank": Result(own.rank[known], ("point",)),
        "point_note": "Test samples as the fit predicts them, fitted ones as all others do (each left out).",
    }


def judged(own: Own, samples: Samples) -> Results:
    """Scores by part of the samples; the test decides where there is one."""
    masks = {TEST: samples.frame.test & samples.known, LEFT_OUT: samples.frame.used & samples.known}
    masks = {word: mask for word, mask in masks.items() if mask.any()}
    rows = [scores_of(own, samples.values, mask) for mask in masks.values()]
    columns = {title: np.array([row[title] for row in rows]) for title in rows[0]}
    word, mask = next(iter(masks.items()))
    first = rows[0]
    of = "test samples" if word == TEST else "samples (each left out)"
    explained = first["Explained"]
    said = (
        f"; {format_percent(explained)} of the variance explained"
        if np.isfinite(explained) and explained > 0
        else ""
    )
    gap, number = np.abs(samples.values - own.mean)[mask], format_count(int(mask.sum()))
    return {
        "measures": Table(
            {"Samples": np.array([*masks]), **columns},
            {"Explained": "share", "In 90 % interval": "share"},
            label="Scores",
            words=("Samples",),
        ),
        "measures_note": "RMSE: typical error, the root of the mean squared error, in units of the values. NLPD: log loss, the mean negative log density of the "
        "observed values (nats); smaller is better. Explained: share of the variance.",
        "rmse": Result(np.array(first["RMSE"]), label=f"RMSE, {of}"),
        "nlpd": Result(np.array(first["NLPD"]), label=f"NLPD, {of}"),
        "headline": f"{number} {of}: typical error {format_number(first['RMSE'], 3)}, "
        f"log loss {format_number(first['NLPD'], 3)}{said}",
        "residual_headline": f"Half of {number} {of} are predicted to within {format_number(float(np.median(gap)), 3)}",
        **calibration(own, mask, of),
    }


def scores_of(own: Own, values: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    """Of the samples of a mask (n,)."""
    gap = (values - own.mean)[mask]
    total = float(((values[mask] - values[mask].mean()) ** 2).sum())
    inside = (own.interval[mask, 0] <= values[mask]) & (values[mask] <= own.interval[mask, 1])
    return {
        "Number": int(mask.sum()),
        "RMSE": float(np.sqrt((gap**2).mean())),
        "NLPD": float(-own.density[mask].mean()),
        "Explained": 1.0 - float((gap**2).sum()) / total if total > 0 else np.nan,
        "In 90 % interval": float(inside.mean()),
    }


def calibration(own: Own, mask: np.ndarray, of: str) -> Results:
    """How many values lie in the intervals of 90 %, in words."""
    inside = float((np.abs(own.rank[mask] - 0.5) <= 0.45).mean())
    return {
        "calibration_headline": f"{format_percent(inside)} of {format_count(int(mask.sum()))} {of} are in their 90 % intervals",
        "calibration_note": "Shares of the values inside central intervals, of all sizes. Grey: where the shares would be with 95 % "
        "if the intervals were right.",
    }


def table_of(own: Own, samples: Samples, names: np.ndarray) -> Table:
    """A row per sample."""
    part = np.where(samples.frame.test, "test", np.where(samples.known, "fitted", "no value"))
    observed = np.where(samples.known, samples.values, np.nan)
    return Table(
        {
            "Sample": names,
            "Part": part,
            "Observed": observed,
            "Predicted": own.mean,
            "sd": own.sd,
            "5 %": own.interval[:, 0],
            "95 %": own.interval[:, 1],
            "Residual": observed - own.mean,
            "Log density": own.density,
        },
        label="Predictions",
    )
