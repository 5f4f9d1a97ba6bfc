"""Runs with known compounds: the example, fresh ones drawn alike, and what nearest mass alone would say of them."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from exact import model_data

import plaidwork_lcms_annotation as package
from plaidwork.core.api import Clock, ModelData, passes
from plaidwork_lcms_annotation.confidence import Counts, Draw
from plaidwork_lcms_annotation.model import LcmsAnnotation
from plaidwork_lcms_annotation.peaks import Lists
from plaidwork_lcms_annotation.state import terms_of

SAMPLE = Path(package.__file__).parent / "samples" / "metabolites"
FOUR = "M+H, 1, 1, H; M+Na, 1, 1, Na; M+K, 1, 1, K; M+H-H2O, 1, 1, H, H2O"
DECOYS = 900
"""Random formulas at the end of the list of the example; 103 names of real ones come before."""
MODEL = LcmsAnnotation()


@dataclass(frozen=True)
class Planted:
    """Peaks with what they are: (N,) formula, adduct, isotope as texts, empty for background."""

    data: ModelData
    truth: list[tuple[str, str, str]]


def rows_of(name: str) -> list[dict[str, str]]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def formulas() -> list[str]:
    return [row["formula"] for row in rows_of("formulas.csv")]


def example() -> Planted:
    values = [[float(row[name]) for name in ("mz", "rt", "intensity")] for row in rows_of("peaks.csv")]
    truth = [(row["formula"], row["adduct"], row["isotope"]) for row in rows_of("truth.csv")]
    return Planted(model_data(values, formulas()), truth)


def fresh(seed: int, compounds: int, background: int, ppm: float, rt_sd: float) -> Planted:
    """A run drawn like the example: real formulas, four adducts, isotopes above a limit of detection."""
    listed = formulas()
    real = len(dict.fromkeys(listed[: len(rows_of("formulas.csv")) - DECOYS]))
    return drawn(np.random.default_rng(seed), listed, real, FOUR, compounds, background, ppm, rt_sd)


def drawn(
    rng: np.random.Generator,
    listed: list[str],
    real: int,
    adducts: str,
    compounds: int,
    background: int,
    ppm: float,
    rt_sd: float,
) -> Planted:
    """Peaks of ``compounds`` of the first ``real`` different formulas of a list, the first adduct always and each other one in two
    of five, and of background."""
    empty = model_data([[200.0, 10.0, 1.0], [300.0, 900.0, 1.0]], listed)
    params = MODEL.spec.check_params({"adducts_positive": adducts})
    lists = terms_of(empty, params).lists
    place = lists.positions
    values, truth = [], []
    for f in rng.choice(real, compounds, replace=False):
        time, height = rng.uniform(30.0, 1170.0), rng.normal(13.0, 1.2)
        mine = slice(place.first[f], place.first[f + 1])
        for a in range(len(lists.adducts)):
            if a and rng.random() > 0.4:
                continue
            level = height + (rng.normal(-1.0, 0.7) if a else 0.0)
            for ion in place.first[f] + np.flatnonzero(place.adduct[mine] == a):
                y = level + place.log_beta[ion] + 0.25 * rng.standard_normal()
                if y > math.log(8000.0):
                    off = ppm * 1e-6 * rng.standard_normal()
                    rt = time + rt_sd * rng.standard_normal()
                    values.append([math.exp(place.log_mz[ion] + off), max(rt, 0.0), math.exp(y)])
                    truth.append((lists.texts[f], lists.adducts[a].name, str(place.rank[ion])))
    for _ in range(background):
        mz = math.exp(rng.uniform(math.log(80.0), math.log(1000.0)))
        values.append([mz, rng.uniform(0.0, 1200.0), math.exp(rng.normal(12.0, 1.5))])
        truth.append(("", "", ""))
    return Planted(model_data(values, listed), truth)


@dataclass(frozen=True)
class Answer:
    """The likeliest ion of each peak with its probability, and confidences of the formulas."""

    lists: Lists
    best: np.ndarray
    probability: np.ndarray
    levels: np.ndarray

    def named(self) -> list[tuple[str, str, str]]:
        place, lists = self.lists.positions, self.lists
        return [
            (lists.texts[place.formula[p]], lists.adducts[place.adduct[p]].name, str(place.rank[p]))
            if p >= 0
            else ("", "", "")
            for p in self.best
        ]


def fitted(planted: Planted, params, sweeps: int = 60, warmup: int = 20, chains: int = 2) -> Answer:
    """Two short chains, as the figures are stated for."""
    data = planted.data
    lists = terms_of(data, params).lists
    counts = Counts(lists, chains)
    for chain in range(chains):
        rng = np.random.Generator(np.random.PCG64DXSM(chain + 1))
        state = MODEL.init(data, params, rng)
        for sweep in range(sweeps):
            for _ in passes(MODEL, state, data, params, rng, Clock(sweep, warmup)):
                pass
            if sweep >= warmup:
                drawn = MODEL.draws(state, data, params)
                counts.add(
                    Draw(chain, drawn["assigned_peak"], drawn["assigned_cluster"], drawn["assigned_position"])
                )
    shares = counts.peaks()
    best, probability = shares.nth(0)
    best = np.where(probability >= shares.background, best, -1)
    return Answer(lists, best, probability, counts.levels()[1])


def nearest(planted: Planted, params) -> Answer:
    """The closest ion by mass within the window, and nothing else."""
    lists = terms_of(planted.data, params).lists
    near = lists.candidates
    best = np.full(len(planted.truth), -1)
    for n in range(len(best)):
        mine = np.arange(near.first[n], near.first[n + 1])
        if len(mine):
            best[n] = near.position[mine[np.argmin(np.abs(near.off[mine, 0]))]]
    return Answer(lists, best, np.ones(len(best)), np.zeros((0, 0)))


def score(planted: Planted, answer: Answer) -> dict[str, float]:
    """Shares of planted peaks that are right in formula, adduct and isotope, and of background that is annotated."""
    said = answer.named()
    inside = [one == true for one, true in zip(said, planted.truth) if true[0]]
    outside = [bool(one[0]) for one, true in zip(said, planted.truth) if not true[0]]
    return {"right": float(np.mean(inside)), "annotated": float(np.mean(outside)), "planted": len(inside)}


def average_precision(planted: Planted, answer: Answer, level: int = 2) -> float:
    """Of the list ordered by a level; ties by the next level, then against the answer."""
    true = np.isin(np.array(answer.lists.texts), sorted({one[0] for one in planted.truth if one[0]}))
    order = np.lexsort((true, -answer.levels[:, level], -answer.levels[:, level - 1]))
    hits = true[order]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())
