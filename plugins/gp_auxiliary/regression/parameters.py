"""The parameters of covariance and noise in words and units of the data."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, Result, Results, Table, counted, format_number
from plaidwork.plugins.gp_auxiliary.classes.posterior import parameters
from plaidwork.plugins.gp_auxiliary.regression.between import correlation_of
from plaidwork.plugins.gp_auxiliary.regression.law import FLOOR, law_of
from plaidwork.plugins.gp_auxiliary.regression.outputs import outputs_law
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples
from plaidwork.plugins.gp_auxiliary.shared.covariance import Parameter
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

_LITTLE = 0.8
"""Share of the prior's interval from which the data say little of a parameter."""
_AT_FLOOR = 3.0


def parameter_results(kept: Kept, prior: Prior, samples: Samples) -> Results:
    """Posterior beside prior, lengths and noise in units of the data, and what the data say little about."""
    sampled = kept.spec.algorithm == "mcmc"
    results = parameters(kept, prior, samples.frame, not sampled)
    theta = np.concatenate([chain.stack("theta") for chain in kept.chains if chain.n_draws])
    table = results["covariance"]
    assert isinstance(table, Table)
    if not sampled:
        table = Table({title.replace("Given", "Best"): found for title, found in table.columns.items()})
    results["covariance"] = in_units(table, prior, samples)
    if samples.outputs:
        return {**results, **of_outputs(theta, prior, samples)}
    results["covariance_note"] = (
        "Amplitudes and variances are of standardised values, γ = 1 / length² of standardised inputs; lengths, periods and noise sd are in units "
        f"of the data.{little_said(theta, prior)}"
    )
    results["relevance_note"] = "A short length may mean a rough function of the input, not an important one."
    noise = samples.spread * np.sqrt(np.array([law_of(prior).noises(row) for row in theta]))
    each = np.median(noise, axis=0)
    ends = [format_number(float(end), 3) for end in (each.min(), each.max())]
    text = f"noise sd {ends[0]}" if len(each) == 1 else f"noise sd of the groups {ends[0]} to {ends[1]}"
    if each.max() < samples.spread * np.sqrt(_AT_FLOOR * FLOOR):
        text = "the noise is at its smallest possible value, as if the values had none"
    results["noise_text"] = text
    return results


def of_outputs(theta: np.ndarray, prior: Prior, samples: Samples) -> Results:
    """What the parameters of several outputs (t, parameters) say in words."""
    law = outputs_law(prior)
    noise = samples.spread * np.sqrt([law.noise.variances(law.apart(row)[2]) for row in theta])
    told = [
        f"{name} {format_number(float(sd), 3)}"
        for name, sd in zip(samples.outputs, np.median(noise, axis=0), strict=True)
    ]
    several = f" and {counted(len(told) - 3, 'more output')}" if len(told) > 3 else ""
    shown = [
        f"(1 + r) / (1 − r) of the {parameter.name}" if parameter.kind == "tie" else parameter.name
        for parameter in law.parameters
    ]
    more = ""
    if law.functions.form == "full" and law.functions.size > 2:
        more = " Correlations of later outputs are given those before them; Outputs shows them plainly."
    return {
        "parameter": Result(np.array(shown), ("parameter",)),
        "covariance_note": "An amplitude² of an output is the variance of its function, of standardised values; ratios say how it is shared by "
        "the terms of the covariance. γ = 1 / length² of standardised inputs; lengths, periods and noise sd are in units of the data."
        f"{more}{little_said(theta, prior)}",
        "relevance_note": "A short length may mean rough functions of the input, not an important one.",
        "noise_text": f"noise sd {', '.join(told[:3])}{several}",
    }


def as_shown(parameter: Parameter, theta: np.ndarray) -> np.ndarray:
    """Values of a parameter as tables have them: a correlation, or the exponential."""
    if parameter.kind == "tie":
        return correlation_of(theta)
    return np.asarray(np.exp(theta) / (1.0 + np.exp(theta)) if parameter.kind == "share" else np.exp(theta))


def in_units(table: Table, prior: Prior, samples: Samples) -> Table:
    """The table with further rows: lengths of the inputs, periods, sd of the noise."""
    rows: list[tuple[str, int, float]] = []
    noises: list[int] = []
    columns = samples.frame.columns
    for i, parameter in enumerate(prior.covariance.parameters):
        if parameter.kind == "gamma" and (parameter.column >= 0 or len(columns) == 1):
            unit = float(samples.frame.spread[max(parameter.column, 0)])
            name = parameter.name.replace("γ", "length")
            rows.append((name, i, unit))
        elif parameter.kind == "period":
            season = samples.frame.spread[int(samples.season[1])]
            rows.append((parameter.name.replace("standardised period", "period"), i, float(season)))
        elif parameter.kind == "noise":
            name = parameter.name.replace("variance", "sd")
            rows.append(
                (name, i, float(np.ravel(samples.spread)[len(noises)] if samples.outputs else samples.spread))
            )
            noises.append(i)
    found = {title: list(column) for title, column in table.columns.items()}
    for title in [title for title in found if title != "Parameter"]:
        for i, parameter in enumerate(prior.covariance.parameters):
            if parameter.kind in ("tie", "share"):
                found[title][i] = float(as_shown(parameter, np.log(found[title][i])))
    turned = {"5 %": "95 %", "95 %": "5 %", "Prior 5 %": "Prior 95 %", "Prior 95 %": "Prior 5 %"}
    for name, i, unit in rows:
        found["Parameter"].append(name)
        kind = prior.covariance.parameters[i].kind
        for title in [title for title in found if title != "Parameter"]:
            source = turned.get(title, title) if kind == "gamma" else title
            value = float(table.columns[source][i])
            found[title].append(
                unit * value
                if kind == "period"
                else unit * np.sqrt(value + FLOOR)
                if kind == "noise"
                else unit / np.sqrt(value)
            )
    return Table({title: np.array(column) for title, column in found.items()}, label=table.label)


def little_said(theta: np.ndarray, prior: Prior) -> str:
    """Which parameters, of draws (t, P), are about as unknown as before, as a sentence; empty for none."""
    if len(theta) < 20:
        return ""
    low, high = np.quantile(theta, [0.05, 0.95], axis=0)
    wide = (high - low) > _LITTLE * 2 * 1.645 * prior.covariance.prior_sd
    names = [p.name for p, is_wide in zip(prior.covariance.parameters, wide, strict=True) if is_wide]
    if not names:
        return ""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f" The data say little about: {'; '.join(names[:4])}{more}."
