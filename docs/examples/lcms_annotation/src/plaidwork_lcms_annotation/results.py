"""What a fit found: tables of formulas and peaks, what the pictures are drawn from, and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import (
    Kept,
    ModelData,
    Params,
    Result,
    Results,
    Table,
    format_count,
    format_percent,
)
from plaidwork_lcms_annotation.confidence import (
    LEVELS,
    Counts,
    Draw,
    PeakShares,
    counted,
    draws_of,
    quantiles,
)
from plaidwork_lcms_annotation.patterns import Floats, Ints
from plaidwork_lcms_annotation.peaks import Lists
from plaidwork_lcms_annotation.state import Terms, terms_of

LEAST = 0.01
"""Smallest probability of level 1 with which a formula is listed."""
LIKELY = 0.5
MOST_NAMES = 4


def summarise_draws(kept: Kept, data: ModelData, params: Params) -> Results:
    """All results, over the draws of all chains."""
    terms = terms_of(data, params)
    lists = terms.lists
    found = counted(kept, lists)
    shares, (by_chain, levels) = found.peaks(), found.levels()
    names = compound_names(data, lists)
    shown = np.flatnonzero(levels[:, 0] >= LEAST)
    combined = levels.mean(axis=1)
    order = np.lexsort((-levels[shown, 0], -combined[shown], -levels[shown, 1]))
    shown = shown[order]
    results: Results = {}
    results |= _formulas(found, shares, lists, names, shown, by_chain, levels)
    results |= _peaks(shares, lists, names, data)
    results |= _adducts(found, lists, shown)
    results |= _pictured(shares, terms, names, kept, data)
    results |= _texts(levels, shares, lists)
    return results


def compound_names(data: ModelData, lists: Lists) -> list[str]:
    """Of each formula the names of its compounds, as one text."""
    block = data["formulas"]
    mine: list[list[str]] = [[] for _ in lists.texts]
    for name, code in zip(block.names[0], block.values, strict=True):
        if code >= 0:
            mine[code].append(str(name))
    return [
        " / ".join(one[:MOST_NAMES]) + (f" and {len(one) - MOST_NAMES} more" if len(one) > MOST_NAMES else "")
        for one in mine
    ]


def ion_words(lists: Lists, position: int) -> str:
    """An ion as it is written in tables: the adduct, and the isotope where it is not the lightest."""
    place = lists.positions
    rank = int(place.rank[position])
    return str(lists.adducts[place.adduct[position]].name) + (f", M+{rank}" if rank else "")


def _formulas(
    found: Counts,
    shares: PeakShares,
    lists: Lists,
    names: list[str],
    shown: Ints,
    by_chain: Floats,
    levels: Floats,
) -> dict[str, Any]:
    times, occurrences = _times(shares, lists), found.occurrences()
    adducts = found.adducts(1)
    worst = np.ptp(by_chain[:, :, 1], axis=0)
    columns: dict[str, Any] = {
        "Compound": np.array([names[f] for f in shown], object),
        "Formula": np.array([lists.texts[f] for f in shown], object),
    }
    columns |= {f"Level {j + 1}": levels[shown, j] for j in (1, 0, *range(2, LEVELS))}
    columns |= {
        "Combined": levels[shown].mean(axis=1),
        "Occurrences": occurrences[shown],
        "Time": times[shown, 1],
        "Earliest": times[shown, 0],
        "Latest": times[shown, 2],
        "Adducts": np.array(
            [
                ", ".join(a.name for a, p in zip(lists.adducts, adducts[f], strict=True) if p >= LIKELY)
                for f in shown
            ],
            object,
        ),
        "Chains differ by": worst[shown],
    }
    percents = dict.fromkeys(
        [f"Level {j + 1}" for j in range(LEVELS)] + ["Combined", "Chains differ by"], "share"
    )
    seconds = dict.fromkeys(("Time", "Earliest", "Latest"), "s")
    decimals = dict.fromkeys(seconds, 1) | {"Occurrences": 2}
    return {
        "formulas": Table(
            columns, units=percents | seconds, label="formulas and how sure they are", decimals=decimals
        ),
        "levels": Result(levels, ("listed_formula", "level"), label="probability of at least so many ions"),
        "occurrences": Result(
            occurrences, ("listed_formula",), label="expected clusters of two ions or more"
        ),
        "listed_formula": Result(np.array(lists.texts, object), ("listed_formula",)),
    }


def _times(shares: PeakShares, lists: Lists) -> Floats:
    """(F, 3) quantiles 0.05, 0.5 and 0.95 of the times of the peaks of each formula over the draws, s; NaN without any."""
    times = np.full((len(lists.texts), 3), np.nan)
    seen, rt = lists.peaks.seen, lists.peaks.rt
    mean = (rt * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
    formula = lists.positions.formula[shares.position]
    order = np.argsort(formula, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(formula[order])) + 1):
        if len(part):
            times[formula[part[0]]] = quantiles(
                mean[shares.peak[part]], shares.count[part], (0.05, 0.5, 0.95)
            )
    return times


def _peaks(shares: PeakShares, lists: Lists, names: list[str], data: ModelData) -> dict[str, Any]:
    place, peaks = lists.positions, lists.peaks
    (best, first), (other, second) = shares.nth(0), shares.nth(1)
    lead = peaks.seen.argmax(axis=1)
    at = np.arange(len(lead)), lead
    near = best >= 0
    error = np.full(len(best), np.nan)
    error[near] = 1e6 * (peaks.log_mz[at][near] - place.log_mz[best[near]])

    def words(position: Ints) -> Any:
        return np.array(
            [f"{lists.texts[place.formula[p]]} {ion_words(lists, p)}" if p >= 0 else "" for p in position],
            object,
        )

    columns = {
        "Peak": np.array(data["peaks"].names[0], object),
        "m/z": np.exp(peaks.log_mz[at]),
        "Time": peaks.rt[at],
        "Intensity": np.exp(peaks.height[at]),
        "Ion": words(best),
        "Probability": first,
        "Compound": np.array([names[place.formula[p]] if p >= 0 else "" for p in best], object),
        "Error of mass": error,
        "Second": words(other),
        "Probability of second": second,
        "Background": np.clip(shares.background, 0.0, 1.0),
    }
    units = {"Time": "s", "Error of mass": "ppm"}
    units |= dict.fromkeys(("Probability", "Probability of second", "Background"), "share")
    return {
        "peaks_table": Table(
            columns,
            units=units,
            label="peaks and what they are",
            decimals={"m/z": 5, "Time": 1, "Error of mass": 2},
        )
    }


def _adducts(found: Counts, lists: Lists, shown: Ints) -> dict[str, Any]:
    if not len(shown):
        shown = np.arange(min(1, len(lists.texts)))
    one, two = (found.adducts(least)[shown] for least in (1, 2))
    return {
        "adduct_probability": Result(
            one, ("shown_formula", "adduct"), label="probability of at least one isotope"
        ),
        "adduct_twice": Result(
            two, ("shown_formula", "adduct"), label="probability of at least two isotopes"
        ),
        "shown_formula": Result(np.array([lists.texts[f] for f in shown], object), ("shown_formula",)),
        "adduct": Result(np.array([adduct.name for adduct in lists.adducts], object), ("adduct",)),
    }


def _pictured(
    shares: PeakShares, terms: Terms, names: list[str], kept: Kept, data: ModelData
) -> dict[str, Any]:
    """Numbers that pictures are drawn from: peaks, ions, and the draw nearest to all."""
    lists = terms.lists
    place, peaks = lists.positions, lists.peaks
    best, probability = shares.nth(0)
    best = np.where(probability >= np.clip(shares.background, 0, 1), best, -1)
    typical = _typical(kept, shares)
    cluster = np.full(len(best), -1)
    position = np.full(len(best), -1)
    cluster[typical.peak] = np.unique(typical.cluster, return_inverse=True)[1]
    position[typical.peak] = typical.position
    own = np.zeros(len(best))
    rows = np.flatnonzero(position[shares.peak] == shares.position)
    own[shares.peak[rows]] = shares.share[rows]
    lead = np.arange(len(best)), peaks.seen.argmax(axis=1)
    scales = np.concatenate([chain.stack("scales") for chain in kept.chains if chain.n_draws]).mean(axis=0)
    return {
        "peak_mz": Result(np.exp(peaks.log_mz[lead]), ("peak",), label="m/z"),
        "peak_rt": Result(peaks.rt[lead], ("peak",), unit="s", label="time"),
        "peak_height": Result(peaks.height[lead], ("peak",), label="log intensity"),
        "peak_name": Result(np.array(data["peaks"].names[0], object), ("peak",), label="name"),
        "best_ion": Result(best, ("peak",), label="number of the likeliest ion, -1 for background"),
        "best_probability": Result(probability, ("peak",), label="its probability"),
        "typical_cluster": Result(cluster, ("peak",), label="cluster in the draw nearest to all"),
        "typical_ion": Result(position, ("peak",), label="ion in the draw nearest to all"),
        "typical_probability": Result(own, ("peak",), label="probability of that ion"),
        "ion_formula": Result(place.formula, ("ion",), label="number of the formula of each ion"),
        "ion_adduct": Result(place.adduct, ("ion",), label="number of its adduct"),
        "ion_rank": Result(place.rank, ("ion",), label="its excess in nominal mass"),
        "ion_mz": Result(np.exp(place.log_mz), ("ion",), label="its m/z"),
        "ion_beta": Result(
            np.exp(place.log_beta), ("ion",), label="its height beside the largest isotope of the adduct"
        ),
        "compound_names": Result(
            np.array(names, object), ("listed_formula",), label="compounds of each formula"
        ),
        "height_prior": Result(np.array([terms.level, np.sqrt(terms.height_prior)]), ("height",)),
        "error_scales": Result(
            scales, ("scale",), label="errors of mass, time and log ratio, bias of masses"
        ),
    }


def _typical(kept: Kept, shares: PeakShares) -> Draw:
    """The draw whose ions are the likeliest, peak by peak; the first of such."""
    return max(draws_of(kept), key=shares.fit)


def _texts(levels: Floats, shares: PeakShares, lists: Lists) -> dict[str, Any]:
    n = len(shares.background)
    sure, likely = int((levels[:, 1] >= 0.95).sum()), int((levels[:, 1] >= LIKELY).sum())
    explained = int((shares.background < LIKELY).sum())
    total = len(lists.texts)
    formulas = "formula is" if total == 1 else "formulas are"
    texts: dict[str, Any] = {
        "headline": (
            f"{likely} of {format_count(total)} listed {formulas} likely with two ions or more; "
            f"{explained} of {format_count(n)} peaks are explained"
        ),
        "peaks_headline": (
            f"{explained} of {format_count(n)} peaks are explained by listed formulas, "
            f"{format_percent(1 - explained / n)} are more likely background"
        ),
        "formulas_caption": (
            f"Level 2 is the probability that two different ions or more of the formula belong together, and so on; {sure} formulas "
            f"have 95 % or more. Names that share a formula cannot be told apart. Confidence is relative to the list: a compound "
            f"that is not listed can only be background, or be taken for a neighbour. Listed from {format_percent(LEAST)} of level 1 on."
        ),
        "peaks_caption": (
            "The likeliest ion of each peak with its probability, the second, and the probability that it is none of the listed ions."
        ),
        "adducts_caption": "Probability that at least one isotope of an adduct of the formula was found; formulas in the order of the table.",
    }
    return texts
