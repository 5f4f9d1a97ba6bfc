"""What the analysis of survival shows: ratios, a table, curves by thirds, and the words for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Params, Result, Results, Table, counted, format_fixed, format_number
from plaidwork.plugins.factor_tools.common import listed, p_text
from plaidwork.plugins.factor_tools.cox import Curve, kaplan_meier
from plaidwork.plugins.factor_tools.hazards import Hazard, Hazards
from plaidwork.plugins.factor_tools.survival_times import Watched

THIRDS = ("lowest third", "middle third", "highest third")
FEW_EVENTS = 10
"""Events for each covariate of a model below which it is said that they are few."""


@dataclass(frozen=True, slots=True)
class Third:
    """Items of a third of a factor's values: how many, their events, and their curve."""

    name: str
    n: int
    events: int
    curve: Curve


def hazard_results(
    watched: Watched, found: Hazards, factors: Sequence[str], dim: str, params: Params
) -> Results:
    """Results of the models, by factor."""
    ratios = np.array([one.log_ratio for one in found.factors])
    return {
        dim: Result(np.array(factors), (dim,)),
        "log_ratio": Result(
            ratios[:, 0],
            (dim,),
            label="Hazard ratio of one standard deviation",
            doc="Logarithms of the hazard ratios.",
        ),
        "log_ratio_interval": Result(ratios[:, 1:], (dim, "side")),
        "reason": Result(np.array([one.reason for one in found.factors]), (dim,)),
        "adjusted": Result(found.adjusted, (dim,), label="Adjusted p"),
        "survival": _table(watched, found, factors, params),
        "headline": _headline(watched, found, factors, params),
        "ratio_caption": f"Above 1: the event comes sooner where the factor is high. {_about(watched, params)}",
        "caption": _caption(watched, found, factors, params),
    }


def _table(watched: Watched, found: Hazards, factors: Sequence[str], params: Params) -> Table:
    order = sorted(
        range(len(factors)), key=lambda k: (_last(float(found.adjusted[k])), _last(found.factors[k].p))
    )
    rows = [found.factors[k] for k in order]

    def column(of: Sequence[float]) -> np.ndarray:
        return np.array(of, dtype=float)

    columns = {
        "Factor": np.array([factors[k] for k in order]),
        "Hazard ratio": np.exp(column([one.log_ratio.value for one in rows])),
        "Low": np.exp(column([one.log_ratio.low for one in rows])),
        "High": np.exp(column([one.log_ratio.high for one in rows])),
        "Adjusted p": found.adjusted[order],
        "Concordance": column([one.concordance.value for one in rows]),
        "Concordance low": column([one.concordance.low for one in rows]),
        "Concordance high": column([one.concordance.high for one in rows]),
        "p": column([one.p for one in rows]),
        "Wald p": column([one.wald for one in rows]),
        "Proportional p": column([one.proportional for one in rows]),
        "n": np.full(len(rows), len(watched.time)),
        "Events": np.full(len(rows), int(watched.event.sum())),
    }
    if any(one.reason for one in rows):
        columns["Note"] = np.array([one.reason and f"not estimable: {one.reason}" for one in rows])
    return Table(
        columns,
        label="Factors and survival",
        doc=f"Hazard ratio of one standard deviation, with its {100 * params['interval']:g} % interval (Wald); p of the "
        "likelihood ratio; concordance of the factor alone.",
    )


def _last(value: float) -> float:
    """For sorting: NaN after all others."""
    return 2.0 if value != value else value


def _headline(watched: Watched, found: Hazards, factors: Sequence[str], params: Params) -> str:
    if not np.isfinite(found.adjusted).any():
        return "Nothing could be tested"
    k = int(np.nanargmin(found.adjusted + 1e-9 * np.array([_last(one.p) for one in found.factors])))
    one, p = found.factors[k], found.adjusted[k]
    if p > params["significance"]:
        tested = int(np.isfinite(found.adjusted).sum())
        return f"None of {counted(tested, 'factor')} goes with {watched.time_name}: smallest adjusted {p_text(p)}"
    if one.reason:
        return f"{factors[k]} goes with {watched.time_name}: {one.reason}, adjusted {p_text(p)}"
    return (
        f"{factors[k]} goes with {watched.time_name}: hazard ratio {_ratio_text(one)}, adjusted {p_text(p)}"
    )


def _ratio_text(one: Hazard) -> str:
    value, low, high = (format_number(math.exp(end), 3) for end in one.log_ratio)
    return f"{value} ({low} to {high})"


def _about(watched: Watched, params: Params) -> str:
    """How many items and events there were, of what, and what else was in the model."""
    parts = [
        f"{counted(int(watched.event.sum()), 'event')} (“{watched.event_name}”) among {len(watched.time):,} {watched.items}",
        f"{100 * params['interval']:g} % intervals",
    ]
    if params["model"] == "together":
        parts.append("each factor beside all others")
    if watched.adjusted:
        parts.append(f"adjusted for {', '.join(watched.adjusted)}")
    return "; ".join(parts) + "."


def _caption(watched: Watched, found: Hazards, factors: Sequence[str], params: Params) -> str:
    parts = [_about(watched, params)]
    covariates = watched.others.shape[1] + (len(factors) if params["model"] == "together" else 1)
    events = int(watched.event.sum())
    if events < FEW_EVENTS * covariates:
        parts.append(
            f"Few events: {events} for {counted(covariates, 'covariate')} of a model, where {FEW_EVENTS} for each are the "
            "usual least."
        )
    if found.whole is not None:
        low, high = format_fixed(found.whole.low, 2), format_fixed(found.whole.high, 2)
        parts.append(
            f"Concordance of all together: {format_fixed(found.whole.value, 2)} ({low} to {high}), judged on the items fitted."
        )
    bent = [
        name
        for name, one in zip(factors, found.factors, strict=True)
        if one.proportional <= params["significance"] / len(factors)
    ]
    if bent:
        parts.append(f"The hazard ratio changes with time: {listed(bent, 4)}.")
    if watched.left_out:
        parts.append(f"Left out: {', '.join(watched.left_out)}.")
    return " ".join(parts)


def curves_of(watched: Watched, k: int, level: float) -> list[Third]:
    """Curves of the thirds of a factor that have items; values that are equal stay together."""
    x = watched.scores[:, k]
    if not np.isfinite(x).all():
        return []
    third = np.searchsorted(np.quantile(x, [1 / 3, 2 / 3]), x, side="left")
    found = []
    for g, name in enumerate(THIRDS):
        time, event = watched.time[third == g], watched.event[third == g]
        if len(time):
            found.append(Third(name, len(time), int(event.sum()), kaplan_meier(time, event, level)))
    return found


def curve_results(
    watched: Watched,
    curves: Sequence[Sequence[Third]],
    chosen: np.ndarray,
    factors: Sequence[str],
    params: Params,
) -> Results:
    """The table of all thirds, and steps to draw for the factors chosen that have curves."""
    rows = [(factors[k], third) for k, thirds in enumerate(curves) for third in thirds]
    drawn = [int(k) for k in chosen if curves[int(k)]]
    results: Results = {
        "thirds": Table(
            {
                "Factor": np.array([name for name, _ in rows], dtype=str),
                "Values": np.array([third.name for _, third in rows], dtype=str),
                "n": np.array([third.n for _, third in rows], dtype=int),
                "Events": np.array([third.events for _, third in rows], dtype=int),
                "Median time": np.array([third.curve.median for _, third in rows], dtype=float),
            },
            label="By thirds",
        ),
        "thirds_caption": f"Median: the first {watched.time_name} at which at most half are left without the event (Kaplan and "
        "Meier); none where more are left at the end.",
        "curves_of": Result(np.array([factors[k] for k in drawn], dtype=str), ("curves_of",)),
    }
    for i, k in enumerate(drawn):
        results |= _steps(i, curves[k], factors[k], watched, params)
    return results


def _steps(i: int, thirds: Sequence[Third], factor: str, watched: Watched, params: Params) -> Results:
    """The curves of a factor as steps: just before and just after each time at which one changes or ends."""
    changes = np.unique(np.concatenate([[*third.curve.time, third.curve.end] for third in thirds]))
    # the value just before a time is that just after the last change before it
    before = np.concatenate([[0.0], changes[:-1]])
    found = np.stack([_between(third.curve, before, changes) for third in thirds])
    dim, step = f"third_{i}", f"step_{i}"
    names = [f"{third.name}, {third.events} of {third.n}" for third in thirds]
    return {
        dim: Result(np.array(names), (dim,)),
        f"curve_{i}": Result(found[..., 0], (dim, step), label="Share without the event"),
        f"curve_interval_{i}": Result(found[..., 1:], (dim, step, "side")),
        f"curve_time_{i}": Result(
            np.concatenate([[0.0], np.repeat(changes, 2)]), (step,), label=watched.time_name
        ),
        f"curve_headline_{i}": _curve_headline(factor, thirds, watched),
        f"curve_caption_{i}": f"Kaplan-Meier curves of the {watched.items} in thirds of {factor}, with "
        f"{100 * params['interval']:g} % intervals; beside each: events of all in the third.",
    }


def _between(curve: Curve, before: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """(2 t + 1, 3) value and interval at 0, and just before and just after each change."""
    left = curve.at(before)
    left[changes > curve.end] = np.nan
    return np.concatenate([curve.at(np.zeros(1)), np.stack([left, curve.at(changes)], axis=1).reshape(-1, 3)])


def _curve_headline(factor: str, thirds: Sequence[Third], watched: Watched) -> str:
    first, last = thirds[0], thirds[-1]
    if first is last:
        return f"{factor} and {watched.time_name}"
    return (
        f"{factor}: {first.events} of {first.n} {watched.items} have the event in the {first.name}, {last.events} of {last.n} in "
        f"the {last.name}"
    )
