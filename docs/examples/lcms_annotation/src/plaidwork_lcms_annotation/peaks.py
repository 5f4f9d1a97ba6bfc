"""What a fit derives from its inputs once: peaks, positions of the formulas, and which position may be which peak."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from plaidwork.core.api import Block, ModelData, Params
from plaidwork_lcms_annotation.adducts import Adduct, parse_adducts
from plaidwork_lcms_annotation.elements import ISOTOPES, FormulaError, parse_formula
from plaidwork_lcms_annotation.patterns import Floats, Ints, Positions, positions_of

MEASURES = ("mz", "rt", "intensity")
TINY = 1e-300
WIDE = 4.0
"""Standard deviations at which errors of mass are cut off."""
ROOM = 6e-6
"""How much further masses are looked for where the scales are inferred."""
LISTS = ("ppm", "scales", "polarity", "adducts_positive", "adducts_negative", "top", "mz_low", "mz_high")
"""Settings on which :func:`prepared_lists` depends."""


class Peaks(NamedTuple):
    """Peaks as they were measured: (N, R) each, R replicates; 0 where a replicate was not seen."""

    log_mz: Floats
    rt: Floats
    """s."""
    height: Floats
    """Logarithm of the intensity."""
    seen: np.ndarray
    """(N, R) bool."""


class Theory(NamedTuple):
    """What the formulas say, for the kernels."""

    adduct: Ints
    """(P,)"""
    log_beta: Floats
    """(P,)"""
    log_weight: Floats
    """(F,) logarithm of the prior probability of each formula; -inf where it has no position."""
    log_share: Floats
    """(F,) logarithm of 1 / number of positions."""


class Candidates(NamedTuple):
    """Positions that lie near each peak: those of peak n are first[n]..first[n + 1], by formula, adduct, isotope."""

    first: Ints
    """(N + 1,)"""
    formula: Ints
    """(C,)"""
    position: Ints
    """(C,)"""
    adduct: Ints
    """(C,)"""
    off: Floats
    """(C, R) observed minus expected log m/z; 0 where not seen."""
    active: Ints
    """(N',) peaks that have any."""


class Lists(NamedTuple):
    """All that chains share."""

    peaks: Peaks
    texts: tuple[str, ...]
    """Formulas as they are listed."""
    adducts: tuple[Adduct, ...]
    positions: Positions
    theory: Theory
    candidates: Candidates
    window: float
    """Half width of what lies near, in log m/z."""


def measures_of(block: Block) -> Ints | None:
    """(R, 3) columns of m/z, time and intensity of the replicates; None where titles do not tell."""
    found: dict[tuple[str, int], int] = {}
    for place, title in enumerate(block.names[1]):
        match = re.fullmatch(r"(mz|m/z|rt|intensity)(?:\.([1-9]\d*))?", title.strip().lower())
        if match:
            key = match[1].replace("/", ""), int(match[2] or 1)
            if key in found:
                return None
            found[key] = place
    numbers = sorted({number for _, number in found})
    if not numbers or any((name, number) not in found for number in numbers for name in MEASURES):
        return None
    return np.array([[found[name, number] for name in MEASURES] for number in numbers], np.int64)


def read_peaks(block: Block) -> Peaks:
    """The peaks; a replicate counts as seen where m/z, time and intensity are known."""
    columns = measures_of(block)
    assert columns is not None, "validate() refuses such tables"
    seen = np.ascontiguousarray(block.observed[:, columns].all(axis=2))
    mz, rt, intensity = (
        np.ascontiguousarray(np.where(seen, block.values[:, columns[:, i]], 1.0)) for i in range(3)
    )
    return Peaks(
        np.log(np.maximum(mz, TINY)), np.where(seen, rt, 0.0), np.log(np.maximum(intensity, TINY)), seen
    )


def formula_texts(block: Block) -> tuple[str, ...]:
    """The formulas that are listed, each once."""
    return tuple(text.strip() for text in block.categories)


def atoms_of(texts: tuple[str, ...]) -> Ints:
    """(F, elements) atoms; none of a text that is not a formula, which ``validate`` refuses."""
    rows = []
    for text in texts:
        try:
            rows.append(parse_formula(text))
        except FormulaError:
            rows.append((0,) * len(ISOTOPES))
    return np.array(rows, np.int64).reshape(len(texts), len(ISOTOPES))


def adducts_of(params: Params) -> tuple[Adduct, ...]:
    """The adducts of the polarity. Raises ``AdductError``."""
    return parse_adducts(params[f"adducts_{params['polarity']}"])


def window_of(params: Params) -> float:
    """Half width, in log m/z, of what may be the same ion."""
    return float(WIDE * params["ppm"] * 1e-6 + (ROOM if params["scales"] == "inferred" else 0.0))


def log_weights(data: ModelData, positions: Positions) -> Floats:
    """(F,) log prior probabilities: the weights of the names of each formula summed, or all alike."""
    codes, possible = data["formulas"].values, positions.number > 0
    weight: Floats = np.ones(len(possible))
    if "weights" in data:
        known = codes >= 0
        weight = np.bincount(codes[known], data["weights"].values[known], len(possible)).astype(float)
    weight = np.where(possible, weight, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weight / max(weight.sum(), 1e-300)))


def library(data: ModelData, params: Params) -> tuple[tuple[str, ...], tuple[Adduct, ...], Positions]:
    """Formulas, adducts, and where their ions lie within the range of the instrument."""
    texts, adducts = formula_texts(data["formulas"]), adducts_of(params)
    place = positions_of(atoms_of(texts), adducts, params["top"], params["mz_low"], params["mz_high"])
    return texts, adducts, place


def prepared_lists(data: ModelData, params: Params) -> Lists:
    """Made once for all chains."""
    peaks = read_peaks(data["peaks"])
    texts, adducts, place = library(data, params)
    count = np.maximum(place.number, 1)
    theory = Theory(place.adduct, place.log_beta, log_weights(data, place), -np.log(count))
    window = window_of(params)
    near = find_candidates(peaks, place, theory.log_weight, window)
    return Lists(peaks, texts, adducts, place, theory, near, window)


def find_candidates(peaks: Peaks, place: Positions, log_weight: Floats, window: float) -> Candidates:
    """Positions within the window of a peak in all replicates where it was seen."""
    n, replicates = peaks.log_mz.shape
    order = np.argsort(place.log_mz, kind="stable")
    ordered = place.log_mz[order]
    lead = peaks.seen.argmax(axis=1)  # a replicate where it was seen
    at = peaks.log_mz[np.arange(n), lead]
    low = np.searchsorted(ordered, at - window, "left")
    high = np.where(peaks.seen.any(axis=1), np.searchsorted(ordered, at + window, "right"), low)
    count = high - low
    peak = np.repeat(np.arange(n), count)
    inside = np.arange(len(peak)) - np.repeat(np.cumsum(count) - count, count)
    position = order[np.repeat(low, count) + inside]
    off = np.where(peaks.seen[peak], peaks.log_mz[peak] - place.log_mz[position][:, None], 0.0)
    keep = (np.abs(off) <= window).all(axis=1) & np.isfinite(log_weight[place.formula[position]])
    peak, position, off = peak[keep], position[keep], off[keep]
    order = np.lexsort((position, peak))  # positions are numbered by formula, adduct, isotope
    peak, position, off = peak[order], position[order], np.ascontiguousarray(off[order])
    first = np.searchsorted(peak, np.arange(n + 1))
    return Candidates(
        first,
        place.formula[position],
        position,
        place.adduct[position],
        off.reshape(len(position), replicates),
        np.flatnonzero(np.diff(first)),
    )


def nearest_ppm(peaks: Peaks, place: Positions) -> float:
    """Distance in ppm of the closest pair of a peak and a listed ion; infinite where there is none."""
    if not len(place.log_mz):
        return math.inf
    ordered, values = np.sort(place.log_mz), peaks.log_mz[peaks.seen]
    at = np.searchsorted(ordered, values)
    gaps = [np.abs(ordered[np.clip(at + step, 0, len(ordered) - 1)] - values) for step in (-1, 0)]
    return float(np.min(gaps)) * 1e6
