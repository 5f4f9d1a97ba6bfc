"""What is wrong or noteworthy with data and settings, before a fit."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData, Params, Problem
from plaidwork_lcms_annotation.adducts import AdductError
from plaidwork_lcms_annotation.elements import FormulaError, parse_formula
from plaidwork_lcms_annotation.peaks import (
    LISTS,
    MEASURES,
    Lists,
    adducts_of,
    formula_texts,
    measures_of,
    nearest_ppm,
    prepared_lists,
    read_peaks,
)

SHORT_RUN = 90.0
"""Runs that are shorter, in s, may have their times in minutes."""
MOST_NAMED = 3


def find_problems(data: ModelData, params: Params) -> list[Problem]:
    """Errors alone where there are any; warnings else."""
    found = _peak_problems(data["peaks"]) + _list_problems(data["formulas"]) + _setting_problems(params)
    if "weights" in data:
        found += _weight_problems(data["weights"])
    if any(problem.severity == "error" for problem in found):
        return found
    lists = data.prepared(prepared_lists, params, LISTS)
    return found + (_outside(lists, data["peaks"], params) or _match_problems(lists, params))


def _named(block: Block, rows: np.ndarray) -> str:
    """The first of some rows by name."""
    shown = ", ".join(str(block.names[0][i]) for i in rows[:MOST_NAMED])
    return shown + (f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else "")


def _peak_problems(block: Block) -> list[Problem]:
    columns = measures_of(block)
    if columns is None:
        titles = ", ".join(str(name) for name in block.names[1][:8])
        return [
            Problem(
                f"The table of peaks needs columns called mz, rt and intensity. Found: {titles}.",
                "Further replicates are called mz.2, rt.2, intensity.2 and so on.",
                "peaks",
            )
        ]
    peaks = read_peaks(block)
    found = []
    for place, name in enumerate(MEASURES):
        values, known = block.values[:, columns[:, place]], block.observed[:, columns[:, place]]
        wrong = ~np.isfinite(values) | ((values <= 0) & (name != "rt"))
        bad = np.flatnonzero((known & wrong).any(axis=1))
        if len(bad):
            what = "must be a number" if name == "rt" else "must be above 0"
            found.append(
                Problem(
                    f"{name} {what}. Found otherwise in {_named(block, bad)}.", "Remove these peaks.", "peaks"
                )
            )
    if found:
        return found
    empty = np.flatnonzero(~peaks.seen.any(axis=1))
    if len(empty):
        hint = "A peak needs all three in one replicate at least."
        return [Problem(f"m/z, time or intensity is missing in {_named(block, empty)}.", hint, "peaks")]
    times = peaks.rt[peaks.seen]
    if len(times) > 1 and np.ptp(times) < SHORT_RUN:
        message = f"All times lie within {np.ptp(times):.3g} s. Are they minutes?"
        return [Problem(message, "Times are taken as seconds.", "peaks", severity="warning")]
    return []


def _list_problems(block: Block) -> list[Problem]:
    wrong = []
    for code, text in enumerate(formula_texts(block)):
        try:
            parse_formula(text)
        except FormulaError as error:
            wrong.append((code, text, str(error)))
    if not wrong:
        return []
    code, text, why = wrong[0]
    rows = np.flatnonzero(block.values == code)
    name = f" of {block.names[0][rows[0]]} (row {rows[0] + 1})" if len(rows) else ""
    more = f" {len(wrong) - 1} more cannot be read either." if len(wrong) > 1 else ""
    return [Problem(f"The formula “{text}”{name} {why}.{more}", "Correct the list of formulas.", "formulas")]


def _weight_problems(block: Block) -> list[Problem]:
    bad = np.flatnonzero(~np.isfinite(block.values) | (block.values < 0))
    if len(bad):
        return [
            Problem(f"Weights must be 0 or more. Found otherwise in {_named(block, bad)}.", "", "weights")
        ]
    return [] if block.values.sum() > 0 else [Problem("All weights are 0.", "", "weights")]


def _setting_problems(params: Params) -> list[Problem]:
    where = f"adducts_{params['polarity']}"
    found = []
    try:
        wrong = [
            adduct.name
            for adduct in adducts_of(params)
            if (adduct.charge > 0) != (params["polarity"] == "positive")
        ]
        if wrong:
            found.append(
                Problem(f"{wrong[0]} has a charge of the other polarity.", "", where, severity="warning")
            )
    except AdductError as error:
        hint = (
            "One adduct after the other, with semicolons between: name, copies of M, charge, added, removed."
        )
        found.append(Problem(str(error), hint, where))
    if params["mz_low"] >= params["mz_high"]:
        found.append(Problem("The lowest m/z is not below the highest.", "", "mz_low"))
    if params["priors"] == "given" and params["run_start"] >= params["run_end"]:
        found.append(Problem("The run ends before it starts.", "", "run_end"))
    return found


def _outside(lists: Lists, block: Block, params: Params) -> list[Problem]:
    """Peaks that are no listed ion and lie where background cannot be."""
    peaks, none = lists.peaks, np.diff(lists.candidates.first) == 0
    mz = np.exp(peaks.log_mz)
    rows = np.flatnonzero(
        none & (peaks.seen & ((mz < params["mz_low"]) | (mz > params["mz_high"]))).any(axis=1)
    )
    if len(rows):
        seen = mz[peaks.seen]
        message = f"m/z lies outside {params['mz_low']:g} to {params['mz_high']:g} in {_named(block, rows)}."
        hint = (
            f"Set the range of the instrument: the peaks lie between {seen.min():.1f} and {seen.max():.1f}."
        )
        return [Problem(message, hint, "mz_low" if seen.min() < params["mz_low"] else "mz_high")]
    late = peaks.seen & ((peaks.rt < params["run_start"]) | (peaks.rt > params["run_end"]))
    rows = np.flatnonzero(none & late.any(axis=1))
    if params["priors"] == "given" and len(rows):
        message = f"The time lies outside the run as it is set in {_named(block, rows)}."
        return [Problem(message, "Set start and end of the run, or take them from the data.", "run_end")]
    return []


def _match_problems(lists: Lists, params: Params) -> list[Problem]:
    if not len(lists.positions.formula):
        return [Problem("No listed formula has an ion in the range of the instrument.", "", "formulas")]
    if not len(lists.candidates.position):
        near, wide = nearest_ppm(lists.peaks, lists.positions), lists.window * 1e6
        message = f"No peak lies within {wide:.3g} ppm of any listed ion; the nearest is {near:.3g} ppm off."
        hint = "Check the calibration, the polarity and the adducts, or allow a larger error of mass."
        return [Problem(message, hint, "ppm", severity="warning")]
    return []
