"""Draws from the prior: peaks of formulas and background, and tiny data to compile with."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import ndtr, ndtri

from plaidwork.core.api import Block, Dataset, ModelData, Params, State
from plaidwork_lcms_annotation.patterns import Floats, Ints, Positions, positions_of
from plaidwork_lcms_annotation.peaks import MEASURES, adducts_of, atoms_of, window_of
from plaidwork_lcms_annotation.state import (
    ALPHA_PRIOR,
    BACKGROUND_PRIOR,
    BIAS,
    BIAS_SPREAD,
    PPM,
    RATIO_SD,
    RT_SD,
    SCALE_SPREAD,
    new_state,
)

CLOSE = ("C6H12O6", "C5H12N2O5", "C4H12N4O4", "C7H16O5")
"""Formulas that lie close to each other: with two carbons and four hydrogens more, and so on, where more are asked for."""


def formulas(count: int) -> tuple[str, ...]:
    """Formulas to simulate with, the same each time."""
    found = []
    for i in range(count):
        more, base = divmod(i, len(CLOSE))
        carbon, rest = CLOSE[base][1:].split("H", 1)
        hydrogen = rest[:2]
        found.append(f"C{int(carbon) + more}H{int(hydrogen) + 2 * more}{rest[2:]}")
    return tuple(found)


def simulate_all(
    params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
) -> tuple[dict[str, Dataset], State]:
    """Data and state; the numbers of the prior are those of the settings, whatever these say of the data."""
    n, count = shapes["peaks"][0], shapes["formulas"][0]
    place = _positions(params, count)
    eps, alpha = float(params["background"]), float(params["alpha"])
    if params["rates"] == "inferred":
        eps = float(rng.beta(*BACKGROUND_PRIOR))
        alpha = float(rng.gamma(ALPHA_PRIOR[0]) / ALPHA_PRIOR[1])
    cluster, position = np.full(n, -1), np.full(n, -1)
    sizes: list[int] = []
    named: list[int] = []
    for i in range(n):
        if rng.random() < eps:
            continue
        weights = np.cumsum([*sizes, alpha])
        k = min(int(np.searchsorted(weights, rng.random() * weights[-1], side="right")), len(sizes))
        if k == len(sizes):
            sizes.append(0)
            named.append(int(rng.choice(np.flatnonzero(place.number > 0))))
        sizes[k] += 1
        cluster[i] = k
        position[i] = rng.integers(place.first[named[k]], place.first[named[k] + 1])
    state = new_state(cluster, position, params)
    state["alpha"], state["background"] = alpha, eps
    if params["scales"] == "inferred":
        state["scales"][:BIAS] *= np.exp(SCALE_SPREAD * rng.standard_normal(BIAS))
        state["scales"][BIAS] = BIAS_SPREAD * rng.standard_normal()
    return simulate_peaks(state, params, shapes, rng), state


def simulate_peaks(
    state: State, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
) -> dict[str, Dataset]:
    """Peaks given clusters and positions: times and intensities of the clusters are drawn anew."""
    (n, width), count = shapes["peaks"], shapes["formulas"][0]
    place, replicates = _positions(params, count), max(1, width // len(MEASURES))
    values = np.zeros((n, width))
    titles = [f"{name}{f'.{r + 1}' if r else ''}" for r in range(replicates) for name in MEASURES]
    titles += [f"other {i + 1}" for i in range(width - len(titles))]
    for r in range(replicates):
        values[:, 3 * r : 3 * r + 3] = _replicate(
            state["cluster"], state["position"], state["scales"], place, params, rng
        )
    names = tuple(f"peak {i + 1}" for i in range(n))
    listed = Dataset(
        "formulas", np.arange(count), tuple(f"compound {i + 1}" for i in range(count)), kind="categorical",
        categories=formulas(count),
    )  # fmt: skip
    return {"peaks": Dataset("peaks", values, names, tuple(titles[:width])), "formulas": listed}


def _positions(params: Params, count: int) -> Positions:
    atoms = atoms_of(formulas(count))
    return positions_of(atoms, adducts_of(params), params["top"], params["mz_low"], params["mz_high"])


def _replicate(
    cluster: Ints, position: Ints, scales: Floats, place: Positions, params: Params, rng: np.random.Generator
) -> Floats:
    """(n, 3) m/z, time and intensity of one replicate."""
    n, inside = len(cluster), cluster >= 0
    start, end = params["run_start"], params["run_end"]
    label, at = cluster[inside], position[inside]
    log_mz = rng.uniform(math.log(params["mz_low"]), math.log(params["mz_high"]), n)
    log_mz[inside] = place.log_mz[at] + 1e-6 * _errors(scales, 1e6 * window_of(params), len(at), rng)
    rt = rng.uniform(start, end, n)
    centre = 0.5 * (start + end) + 0.25 * (end - start) * rng.standard_normal(n + 1)
    rt[inside] = centre[label] + scales[RT_SD] * rng.standard_normal(len(at))
    spread = math.hypot(params["level_spread"], scales[RATIO_SD])
    height = params["level"] + spread * rng.standard_normal(n)
    adducts = int(place.adduct.max(initial=0)) + 1
    own = params["level"] + params["level_spread"] * rng.standard_normal((n + 1, adducts))
    height[inside] = (
        own[label, place.adduct[at]] + place.log_beta[at] + scales[RATIO_SD] * rng.standard_normal(len(at))
    )
    return np.column_stack([np.exp(log_mz), rt, np.exp(height)])


def _errors(scales: Floats, window: float, count: int, rng: np.random.Generator) -> Floats:
    """Errors of mass in ppm: normal around the common one, cut off at the window."""
    low, high = ndtr((np.array([-window, window]) - scales[BIAS]) / scales[PPM])
    drawn = scales[BIAS] + scales[PPM] * ndtri(rng.uniform(low, high, count))
    return np.asarray(np.clip(drawn, -window * (1 - 1e-9), window * (1 - 1e-9)))


def tiny_data() -> ModelData:
    """Data with which every kernel is called once."""
    values = np.array(
        [[181.07066, 10.0, 1e5], [182.07411, 11.0, 7e3], [203.05261, 10.5, 4e4], [300.0, 40.0, 1e4]]
    )
    names = tuple(f"p{i}" for i in range(len(values)))
    known = np.ones(values.shape, bool)
    peaks = Block("peaks", values, known, None, (names, MEASURES))
    listed = Block("formulas", np.array([0]), np.ones(1, bool), None, (("glucose",),), ("C6H12O6",))
    return ModelData({"peaks": peaks, "formulas": listed})
