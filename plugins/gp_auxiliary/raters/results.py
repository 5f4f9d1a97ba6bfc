"""What a fit of several raters found: who is strict, who is precise, what they agree on, what they would say."""

from __future__ import annotations

import itertools

import numpy as np

from plaidwork.core.api import Kept, ModelData, Result, Results, Table, format_rate
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.gp_auxiliary.classes.posterior import parameters
from plaidwork.plugins.gp_auxiliary.classes.results import new_inputs
from plaidwork.plugins.gp_auxiliary.raters.curves import consensus_curves
from plaidwork.plugins.gp_auxiliary.raters.posterior import TAILS, Places, Rated, at_places, panel
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings

"""Decimals of probabilities in tables: far below their Monte Carlo error."""
_UNIT = "One unit is the mean width of a grade."


def summarise_raters(kept: Kept, data: ModelData, params: RatedSettings) -> Results:
    """All results of the model."""
    fit = Rated.of(data, params)
    fixed = params["parameters"] == "fixed"
    places = at_places(kept, fit, fit.frame.x, fixed)
    names = np.array(fit.objects, dtype=str)
    results = rater_panel(kept, fit, params)
    results |= consensus_of(places, fit, names)
    results |= every_rating(places, fit, names)
    results |= consensus_curves(kept, fit, params)
    results |= parameters(kept, fit.prior, fit.frame, fixed)
    return results | limits_of_grades(kept, fit)


def rater_panel(kept: Kept, fit: Rated, params: RatedSettings) -> Results:
    """Offsets, scatter and agreement of the raters, each with a 95 % interval."""
    found = panel(kept, fit)
    raters, count = np.array(fit.raters, dtype=str), fit.ratings.per_rater
    ends = {
        name: np.quantile(getattr(found, name), TAILS, axis=0).T for name in ("offset", "sd", "agreement")
    }
    offset, sd, agreement = (
        found.offset.mean(axis=0),
        np.median(found.sd, axis=0),
        found.agreement.mean(axis=0),
    )
    precision = found.sd**-2.0
    low, high = np.quantile(precision, TAILS, axis=0)
    base = params["reference"].strip()
    origin = f"“{base}”" if base else "the average of the raters"
    columns = {"Rater": raters, "Ratings": count}
    for title, middle, (bottom, top) in (
        ("Offset", offset, ends["offset"].T),
        ("Scatter", sd, ends["sd"].T),
        ("Precision", np.median(precision, axis=0), (low, high)),
        ("Agreement", np.where(count > 0, agreement, np.nan), ends["agreement"].T),
    ):
        columns |= {title: middle, f"{title} 2.5 %": bottom, f"{title} 97.5 %": top}
    return {
        "rater": Result(raters, ("rater",)),
        "rating_count": Result(count.astype(float), ("rater",)),
        "offset": Result(offset, ("rater",), label="offset in grades"),
        "offset_interval": Result(ends["offset"], ("rater", "end")),
        "scatter": Result(sd, ("rater",), label="scatter in grades"),
        "scatter_interval": Result(ends["sd"], ("rater", "end")),
        "raters": Table(columns, label="Raters"),
        "offset_headline": _apart(raters, offset, ends["offset"], count),
        "offset_note": f"95 % intervals, from {origin}; to the right: higher grades for the same object. {_UNIT}",
        "scatter_headline": _precise(raters, sd, count),
        "scatter_note": f"Sd of a rater's judgement, 95 % intervals. {_UNIT}",
        "raters_note": "In mean widths of a grade; precision is 1 / scatter². Agreement: share of ratings that are the "
        "consensus's grade.",
    }


def _apart(raters: np.ndarray, offset: np.ndarray, ends: np.ndarray, count: np.ndarray) -> str:
    known = np.flatnonzero(count > 0)
    clear = [c for c in known if ends[c, 0] > 0 or ends[c, 1] < 0]
    if not clear:
        return "No rater is clearly stricter or more lenient than the others"
    most = max(clear, key=lambda c: abs(offset[c]))
    way = "higher" if offset[most] > 0 else "lower"
    return f"Rater {raters[most]} gives {abs(offset[most]):.2f} grades {way}"


def _precise(raters: np.ndarray, sd: np.ndarray, count: np.ndarray) -> str:
    known = np.flatnonzero(count > 0)
    if len(known) < 2:
        return f"Rater {raters[known[0]]} scatters by {sd[known[0]]:.2f} grades"
    first, last = known[np.argmin(sd[known])], known[np.argmax(sd[known])]
    return f"Rater {raters[last]} scatters by {sd[last]:.2f} grades, rater {raters[first]} by {sd[first]:.2f}"


def consensus_of(places: Places, fit: Rated, names: np.ndarray) -> Results:
    """The consensus of every object, rated or not."""
    grades = np.array(fit.frame.classes, dtype=str)
    top = places.grade.argmax(axis=1)
    number = np.zeros(len(names), dtype=np.int64)
    number[fit.frame.used] = np.bincount(fit.ratings.item, minlength=int(fit.frame.used.sum()))
    columns = {
        "Object": names,
        "Ratings": number,
        "Consensus": places.mean,
        "2.5 %": places.interval[:, 0],
        "97.5 %": places.interval[:, 1],
        "Grade": grades[top],
        **{f"P({grade})": places.grade[:, k] for k, grade in enumerate(grades)},
    }
    sure = int((places.grade.max(axis=1) > 0.9).sum())
    return {
        "grade": Result(grades, ("grade",)),
        "object": Result(names, ("object",)),
        "grade_probability": Result(places.grade, ("object", "grade"), label="probability"),
        "consensus": Table(columns, label="Objects"),
        "consensus_headline": f"The grade is sure to 90 % for {format_rate(sure, len(names))} objects",
        "consensus_note": f"{_scale(grades)} Averaged over {draws_text(places.draws, places.kept)}; 95 % intervals.",
    }


def limits_of_grades(kept: Kept, fit: Rated) -> Results:
    """The cut-points on the scale of the grades: k + 1/2 where all grades are equally wide."""
    grades = fit.frame.classes
    cuts = np.concatenate([chain.stack("cuts") for chain in kept.chains if chain.n_draws])
    placed = np.array([fit.on_grades(row, row) for row in cuts])
    names = np.array([f"{low} | {high}" for low, high in itertools.pairwise(grades)], dtype=str)
    widths = np.diff(placed.mean(axis=0))
    headline = "Two grades part in one place"
    if len(widths):
        widest = int(widths.argmax())
        headline = f"“{grades[widest + 1]}” is {widths[widest]:.2f} times as wide as the mean grade"
    return {
        "limit_headline": headline,
        "limit": Result(placed.mean(axis=0), ("cut",), label="place on the scale of the grades"),
        "limit_interval": Result(np.quantile(placed, TAILS, axis=0).T, ("cut", "end")),
        "limit_names": Result(names, ("cut",)),
        "limit_note": "1 is the middle of the first grade. The outermost limits fix the scale; 95 % intervals.",
    }


def _scale(grades: np.ndarray) -> str:
    return f"Consensus on the scale of the grades: 1 is the middle of “{grades[0]}”, {len(grades)} that of “{grades[-1]}”."


def every_rating(places: Places, fit: Rated, names: np.ndarray) -> Results:
    """What every rater gave and would give to every object."""
    grades = np.array(fit.frame.classes, dtype=str)
    given = np.full((len(names), fit.ratings.n_raters), -1, dtype=np.int64)
    given[np.flatnonzero(fit.frame.used)[fit.ratings.item], fit.ratings.rater] = fit.ratings.code
    flat = given.ravel()
    table = rating_table(places, fit, names)
    columns = dict(table.columns)
    columns = {
        "Object": columns.pop("Object"),
        "Rater": columns.pop("Rater"),
        "Given": np.where(flat >= 0, grades[np.maximum(flat, 0)], ""),
        **columns,
    }
    known = flat >= 0
    share = places.rating.reshape(len(flat), -1)[known]
    right = int((share.argmax(axis=1) == flat[known]).sum())
    return {
        "ratings": Table(columns, label="Ratings"),
        "ratings_note": f"{format_rate(right, int(known.sum()))} given ratings are the most probable ones of the "
        "fit, which saw them. Empty: not rated.",
        "rating_code": Result(flat[known], ("rating",)),
        "rating_probability": Result(share, ("rating", "grade"), label="probability"),
        "rating_part": Result(np.full(int(known.sum()), "fitted"), ("rating",)),
    }


def rating_table(places: Places, fit: Rated, names: np.ndarray) -> Table:
    """A row for every object and rater: the most probable grade and the probability of each."""
    grades = np.array(fit.frame.classes, dtype=str)
    share = places.rating.reshape(-1, len(grades))
    top = share.argmax(axis=1)
    columns = {
        "Object": np.repeat(names, fit.ratings.n_raters),
        "Rater": np.tile(np.array(fit.raters, dtype=str), len(names)),
        "Predicted": grades[top],
        "Probability": share[np.arange(len(top)), top],
        "± Monte Carlo": places.error.ravel(),
        **{f"P({grade})": share[:, k] for k, grade in enumerate(grades)},
    }
    return Table(columns, label="Ratings")


def predict_ratings(kept: Kept, data: ModelData, new_data: ModelData, params: RatedSettings) -> Results:
    """The consensus of new objects, and what each rater would say of them."""
    fit = Rated.of(data, params)
    values, names = new_inputs(fit.frame, new_data)
    places = at_places(kept, fit, fit.frame.scale(values), params["parameters"] == "fixed")
    grades = np.array(fit.frame.classes, dtype=str)
    columns = {
        "Object": names,
        "Consensus": places.mean,
        "2.5 %": places.interval[:, 0],
        "97.5 %": places.interval[:, 1],
        "Grade": grades[places.grade.argmax(axis=1)],
        **{f"P({grade})": places.grade[:, k] for k, grade in enumerate(grades)},
    }
    return {
        "consensus": Table(columns, label="Consensus"),
        "ratings": rating_table(places, fit, names),
        "probability": Result(places.grade, ("sample", "grade"), label="probability"),
    }
