"""What a regression of several outputs found: of each the results of a single one, all of them jointly, and how they are correlated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.api import (
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    format_count,
    format_number,
    format_percent,
)
from plaidwork.core.numerics.psis import smooth_weights
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted
from plaidwork.plugins.gp_auxiliary.regression.outputs import outputs_law
from plaidwork.plugins.gp_auxiliary.regression.outputs_moments import (
    OutputsMoments,
    log_densities,
    mixed_density,
    outputs_moments,
)
from plaidwork.plugins.gp_auxiliary.regression.parameters import parameter_results
from plaidwork.plugins.gp_auxiliary.regression.results import (
    LEFT_OUT,
    TEST,
    Own,
    along_inputs,
    along_places,
    judged,
    points_of,
    shown_groups,
    table_of,
    weighed,
)
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.regression.surfaces import surface_results
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

STACKED = (
    "along_mean",
    "along_function",
    "along_observation",
    "point_y",
    "point_predicted",
    "point_interval",
    "point_rank",
)
"""Results of which every output has its own: those have a first axis more."""
TEXTS = ("headline", "residual_headline", "calibration_headline")
"""Words of which every output has its own, under the name with ``_of`` behind it."""
_TOLD = 3
"""Outputs that a headline tells of."""
ALL = "all together"


def summarise_outputs(kept: Kept, samples: Samples, data: ModelData, params: RegressionSettings) -> Results:
    """All results of a regression of several outputs."""
    frame, fitted = samples.frame, Fitted.of(samples, params)
    prior = fitted.prior()
    inputs, lines = along_places(kept, prior, samples)
    groups, along = shown_groups(samples, params), lines.reshape(-1, frame.x.shape[1])
    start = len(groups) * len(along)
    places = np.concatenate([np.tile(along, (len(groups), 1)), frame.x])
    codes = np.concatenate([np.repeat(groups, len(along)), samples.codes])
    found = outputs_moments(kept, fitted, places, codes)
    names = np.array(data["X"].names[0] or np.arange(1, len(frame.x) + 1), dtype=str)
    y = (samples.values - samples.centre) / samples.spread
    known = samples.observed[frame.used]
    log_weights, _khat = smooth_weights(-found.left_out_density(y[frame.used], known))
    parts, owns = [], []
    for p in range(len(samples.outputs)):
        one, moments = samples.of_output(p), found.of_output(p)
        own = weighed(moments, start, one, log_weights)
        part = along_inputs(moments, inputs, lines, groups, one)
        part |= points_of(own, one, inputs, names, samples.known)
        part |= judged(own, one)
        parts.append(part)
        owns.append(own)
    results = stacked(parts)
    results["output_names"] = Result(np.array(samples.outputs, dtype=str), ("output",))
    if len(groups) > 1:
        results["point_group"] = Result(samples.codes[samples.known], ("point",))
    joint = joint_density(found, start, y, samples, log_weights)
    results |= scores(parts, joint, samples)
    results |= parameter_results(kept, prior, samples)
    results["covariance_note"] = f"{results['covariance_note']} Here {results.pop('noise_text')}."
    results |= correlations(kept, fitted)
    results |= surface_results(kept, fitted, samples, params)
    results["predictions"] = table_of_all(owns, samples, names)
    results["prediction_note"] = (
        f"Averaged over {draws_text(len(found.mean), found.kept)}. Intervals of 90 % for a new observation. Of fitted samples what all "
        "others say (each left out with all its values); of the rest, and of values that are not known, what the fit says."
    )
    return results


def stacked(parts: Sequence[Results]) -> Results:
    """The results of all outputs, numbers of each along a first axis."""
    results = dict(parts[0])
    for name in STACKED:
        first = parts[0][name]
        assert isinstance(first, Result)
        values = np.stack([part[name].values for part in parts])  # type: ignore[union-attr]
        results[name] = Result(values, ("output", *first.dims), label=first.label)
    for name in TEXTS:
        results[f"{name}_of"] = Result(np.array([str(part[name]) for part in parts]), ("output",))
    return results


def joint_density(
    found: OutputsMoments, start: int, y: np.ndarray, samples: Samples, log_weights: np.ndarray
) -> np.ndarray:
    """(n,) log densities, per unit of the values, of all known values of each sample at once; left out where it is fitted."""
    used, observed = samples.frame.used, samples.observed
    single = log_densities(found.observations(slice(start, None)), y, observed)
    density = mixed_density(single, np.zeros(single.shape))
    density[used] = mixed_density(found.left_out_density(y[used], observed[used]), log_weights)
    return np.asarray(density - observed @ np.log(samples.spread))


def scores(parts: Sequence[Results], joint: np.ndarray, samples: Samples) -> Results:
    """Scores of every output by part of the samples, and of all together."""
    tables = [part["measures"] for part in parts]
    titles = [title for title in tables[0].columns if title != "Samples"]  # type: ignore[union-attr]
    columns: dict[str, list[object]] = {title: [] for title in ("Output", "Samples", *titles)}
    masks = {TEST: samples.frame.test & samples.known, LEFT_OUT: samples.frame.used}
    masks = {word: mask for word, mask in masks.items() if mask.any()}
    nlpd = {word: float(-joint[mask].mean()) for word, mask in masks.items()}
    distance = {}
    for word, mask in masks.items():
        squares = 0.0
        for name, table in zip(samples.outputs, tables, strict=True):
            there = table.columns  # type: ignore[union-attr]
            at = np.flatnonzero(np.asarray(there["Samples"]) == word)
            if not len(at):
                continue
            columns["Output"].append(name)
            for title in ("Samples", *titles):
                columns[title].append(there[title][at[0]])
            squares += float(there["RMSE"][at[0]]) ** 2
        distance[word] = float(np.sqrt(squares))
        row = {
            "Output": ALL,
            "Samples": word,
            "Number": int(mask.sum()),
            "RMSE": distance[word],
            "NLPD": nlpd[word],
        }
        for title, column in columns.items():
            column.append(row.get(title, np.nan))
    word, mask = next(iter(masks.items()))
    of = "test samples" if word == TEST else "samples (each left out)"
    first = [table.columns for table in tables]  # type: ignore[union-attr]
    told = [_told(name, found) for name, found in zip(samples.outputs, first, strict=True)]
    if len(told) > _TOLD:
        ends = [
            format_number(float(end), 3) for end in _ends(np.array([found["RMSE"][0] for found in first]))
        ]
        told = [f"typical errors of the {len(told)} outputs {ends[0]} to {ends[1]}"]
    return {
        "measures": Table(
            {title: np.array(column) for title, column in columns.items()},
            {"Explained": "share", "In 90 % interval": "share"},
            label="Scores",
            words=("Samples",),
        ),
        "measures_note": "RMSE: typical error, the root of the mean squared error, in units of the values; of all outputs together the root of the sum of their "
        "squares, a distance where they have one unit. NLPD: log loss, the mean negative log density of the observed values (nats), of all "
        "together that of each sample's values jointly; smaller is better. Explained: share of the variance.",
        "rmse": Result(np.array(distance[word]), label=f"RMSE of all outputs, {of}"),
        "nlpd": Result(np.array(nlpd[word]), label=f"NLPD, {of}"),
        "headline": f"{format_count(int(mask.sum()))} {of}: log loss {format_number(nlpd[word], 3)}; {', '.join(told)}",
    }


def _ends(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _told(name: str, found: object) -> str:
    """The share that is explained of one output, or its RMSE, from its columns of scores."""
    rmse, explained = (float(found[title][0]) for title in ("RMSE", "Explained"))  # type: ignore[index]
    if np.isfinite(explained) and explained > 0:
        return f"{format_percent(explained)} of {name} explained"
    return f"typical error of {name} {format_number(rmse, 3)}"


def correlations(kept: Kept, fitted: Fitted) -> Results:
    """Correlations between the outputs of functions and of noise: medians and intervals of 90 %."""
    law = outputs_law(fitted.prior())
    theta = np.concatenate([chain.stack("theta") for chain in kept.chains if chain.n_draws])
    results: Results = {}
    for name, place, between in (("functions", 1, law.functions), ("noise", 2, law.noise)):
        draws = np.array([between.correlations(law.apart(row)[place]) for row in theta])
        low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95], axis=0)
        dims = ("output", "other_output")
        results[f"correlation_{name}"] = Result(middle, dims, label=f"correlation of {name}")
        results[f"correlation_{name}_interval"] = Result(np.stack([low, high], axis=-1), (*dims, "end"))
    results["correlation_headline"] = correlation_headline(results, fitted.outputs)
    results["correlation_note"] = (
        "Of the functions: whether two outputs rise and fall together along the inputs. Of the noise: whether one sample's values "
        "lie off them to the same side. Medians and intervals of 90 %."
    )
    return results


def correlation_headline(results: Results, outputs: tuple[str, ...]) -> str:
    """The strongest clear correlation in words."""
    found = []
    for name in ("functions", "noise"):
        middle, ends = results[f"correlation_{name}"], results[f"correlation_{name}_interval"]
        assert isinstance(middle, Result)
        assert isinstance(ends, Result)
        clear = np.tril((ends.values[..., 0] > 0) | (ends.values[..., 1] < 0), -1)
        size = np.where(clear, np.abs(middle.values), 0.0)
        p, q = np.unravel_index(int(size.argmax()), size.shape)
        if size[p, q] > 0:
            value = format_number(float(middle.values[p, q]), 2)
            are = "are" if name == "functions" else "is"
            found.append(f"the {name} of “{outputs[q]}” and “{outputs[p]}” {are} correlated ({value})")
    said = "; ".join(found)
    return said[:1].upper() + said[1:] if said else "No two outputs are clearly correlated"


def table_of_all(owns: Sequence[Own], samples: Samples, names: np.ndarray) -> Table:
    """A row per sample and output."""
    tables = [table_of(own, samples.of_output(p), names).columns for p, own in enumerate(owns)]
    columns = {title: np.stack([table[title] for table in tables], axis=1).ravel() for title in tables[0]}
    size = len(names)
    columns["Part"] = np.where(
        columns["Part"] == "no value",
        np.repeat(np.where(samples.frame.used, "fitted, no value", "no value"), len(owns)),
        columns["Part"],
    )
    return Table(
        {
            "Sample": columns.pop("Sample"),
            "Output": np.tile(np.array(samples.outputs, dtype=str), size),
            **columns,
        },
        label="Predictions",
    )
