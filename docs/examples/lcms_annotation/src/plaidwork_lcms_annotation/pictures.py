"""Pictures of the model's own: the map of the peaks, a compound against theory, errors against what is assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import ResultStore, format_count, format_fixed, format_number, format_probability
from plaidwork.core.api_pictures import (
    Axis,
    Bars,
    Intervals,
    Items,
    Key,
    Line,
    Outlines,
    Panel,
    Picture,
    Points,
    Texts,
    ViewChoices,
)
from plaidwork_lcms_annotation.patterns import Floats, Ints

NOTHING = ("No peak is explained", "No listed formula explains a peak in these draws.")
HIGHEST = 1.25
"""Top of the axes of heights, the largest height being 1: room for the words above it."""
MOST_NAMED = 25
"""Compounds that are named in the map, those of most peaks."""


@dataclass(frozen=True)
class Found:
    """What the pictures read of a run."""

    mz: Floats
    rt: Floats
    height: Floats
    name: Ints
    cluster: Ints
    ion: Ints
    sure: Floats
    formula: Ints
    adduct: Ints
    rank: Ints
    ion_mz: Floats
    beta: Floats
    texts: Ints
    compounds: Ints
    adducts: Ints
    scales: Floats
    prior: Floats

    def words(self, ion: int) -> str:
        """An ion with its formula."""
        return f"{self.texts[self.formula[ion]]} {self.short(ion)}"

    def short(self, ion: int) -> str:
        """An ion without its formula."""
        return str(self.adducts[self.adduct[ion]]) + (f", M+{self.rank[ion]}" if self.rank[ion] else "")

    def read(self, n: int) -> str:
        """A peak in words."""
        start = f"{self.name[n]}: m/z {self.mz[n]:.5f}, {self.rt[n]:.1f} s"
        if self.ion[n] < 0:
            return f"{start}, background"
        who = self.compounds[self.formula[self.ion[n]]]
        return f"{start}, {self.words(self.ion[n])} ({who}), probability {format_probability(self.sure[n])}"

    @property
    def ppm(self) -> Floats:
        """(N,) error of mass of the ion that each peak is, NaN for background."""
        near = self.ion >= 0
        out = np.full(len(self.mz), np.nan)
        out[near] = 1e6 * (np.log(self.mz[near]) - np.log(self.ion_mz[self.ion[near]]))
        return out


def found(results: ResultStore) -> Found:
    """The arrays of a run."""
    return Found(
        *(
            results.array(name)
            for name in (
                "peak_mz", "peak_rt", "peak_height", "peak_name", "typical_cluster", "typical_ion", "typical_probability",
                "ion_formula", "ion_adduct", "ion_rank", "ion_mz", "ion_beta", "listed_formula", "compound_names",
                "adduct", "error_scales", "height_prior",
            )
        )
    )  # fmt: skip


def load_map(results: ResultStore, choices: ViewChoices) -> Picture:
    """All peaks by time and mass, coloured by the adduct they are; a line joins the peaks of a compound."""
    run = found(results)
    near = run.ion >= 0
    kinds = np.where(near, run.adduct[np.where(near, run.ion, 0)], -1)
    used = [int(a) for a in np.unique(kinds[near])]
    sizes = 5.0 + 9.0 * _share(run.height)
    named = choices.flag("names", "Names", True)
    marks: list[Line | Points | Texts] = []
    for k in np.unique(run.cluster[near]):
        rows = np.flatnonzero(run.cluster == k)
        rows = rows[np.argsort(run.mz[rows])]
        if len(rows) > 1:
            marks.append(Line(run.rt[rows], run.mz[rows], 1.0, color="control", opacity=0.6))
    colors = tuple("neutral" if a < 0 else used.index(a) for a in kinds)
    order = np.argsort(near, kind="stable")  # background below
    marks.append(
        Points(
            run.rt[order], run.mz[order], sizes=sizes[order], shapes=np.where(near[order], 0, -1),
            color=tuple(colors[i] for i in order), name="peaks", read=lambda i: run.read(int(order[i])),
            of=Items("row", order), called=lambda i: str(run.name[order[i]]),
        )
    )  # fmt: skip
    if named:
        marks.append(_names(run))
    legend = [Key(str(run.adducts[a]), i, "point") for i, a in enumerate(used)]
    legend.append(Key("background", "neutral", "point"))
    explained = int(near.sum())
    return Picture(
        f"{explained} of {format_count(len(near))} peaks in {len(np.unique(run.cluster[near]))} compounds of the list",
        "Points are wider for larger intensities; a thin line joins the peaks of one compound.",
        (Panel(tuple(marks), Axis("time", "s"), Axis("m/z")),),
        "Named are the compounds of most peaks. Shown is the kept draw that is nearest to all.",
        tuple(legend),
        {
            "Peak": run.name,
            "m/z": run.mz,
            "Time (s)": run.rt,
            "Ion": np.array([run.words(i) if i >= 0 else "" for i in run.ion], object),
            "Probability": np.where(near, run.sure, np.nan),
        },
    )


def _names(run: Found) -> Texts:
    """The compounds of most peaks, each at its heaviest peak."""
    near = run.cluster >= 0
    labels, count = np.unique(run.cluster[near], return_counts=True)
    chosen = labels[np.argsort(-count, kind="stable")][:MOST_NAMED]
    tops = [int(rows[np.argmax(run.mz[rows])]) for rows in (np.flatnonzero(run.cluster == k) for k in chosen)]
    words = tuple(str(run.compounds[run.formula[run.ion[n]]]).split(" / ")[0] for n in tops)
    return Texts(run.rt[tops], run.mz[tops], words, halo=True)


def _share(values: Floats) -> Floats:
    """Values from 0 to 1 by their quantiles 0.02 and 0.98."""
    low, high = np.quantile(values, (0.02, 0.98)) if len(values) else (0.0, 1.0)
    return np.asarray(np.clip((values - low) / max(high - low, 1e-12), 0.0, 1.0))


@dataclass(frozen=True)
class Compound:
    """The peaks of one cluster beside all ions of the adducts that it has, in shares of the largest height."""

    run: Found
    mine: Ints
    """(n,) its peaks."""
    ions: Ints
    """(m,) ions of its formula, of the adducts that were found."""
    at: Ints
    """(n,) place of each peak among the ions."""
    height: Floats
    """(n,)"""
    expected: Floats
    """(m,)"""
    low: Floats
    high: Floats

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(m,) whether no peak is this ion."""
        return ~np.isin(np.arange(len(self.ions)), self.at)

    def read(self, i: int) -> str:
        """What is expected of an ion, in words."""
        ion, kind = self.ions[i], "not found" if self.missing[i] else "found"
        expected = format_number(self.expected[i], 3)
        return f"{self.run.words(ion)}, m/z {self.run.ion_mz[ion]:.5f}: {expected} expected, {kind}"


def load_spectrum(results: ResultStore, choices: ViewChoices) -> Picture:
    """The peaks of one compound above, below what theory says of them."""
    run = found(results)
    mine = _chosen_peaks(run, choices)
    if mine is None:
        return Picture(NOTHING[0], empty=NOTHING)
    one = _compound(run, mine)
    f, ions = int(run.formula[one.ions[0]]), one.ions
    return Picture(
        f"{run.compounds[f]} ({run.texts[f]}) at {run.rt[mine].mean():.0f} s: {len(np.unique(one.at))} of {len(ions)} "
        f"ions of its adducts",
        "Above the peaks, below the theory with one height for each adduct; heights are shares of the largest.",
        (_observed_panel(one), _expected_panel(one)),
        "Lines: 95 % of what such a peak would be. Hollow: expected and not found. Shown is the kept draw that is nearest to all.",
        (Key("observed", 0), Key("expected", 1)),
        {
            "Ion": np.array([run.short(int(i)) for i in ions], object),
            "m/z": run.ion_mz[ions],
            "Expected": one.expected,
            "Found": np.array(["no" if lost else "yes" for lost in one.missing], object),
        },
    )


def _chosen_peaks(run: Found, choices: ViewChoices) -> Ints | None:
    """Peaks of the compound that is chosen, those of most peaks offered first; None where there is none."""
    labels = np.unique(run.cluster[run.cluster >= 0])
    if not len(labels):
        return None
    members = [np.flatnonzero(run.cluster == k) for k in labels]
    members.sort(key=lambda mine: (-len(mine), float(run.rt[mine].mean())))
    texts = [_title(run, mine) for mine in members]
    return members[choices.among("compound", "Compound", texts, searched=True)]


def _compound(run: Found, mine: Ints) -> Compound:
    """Peaks of a cluster beside theory."""
    f, used = run.formula[run.ion[mine[0]]], np.unique(run.adduct[run.ion[mine]])
    ions = np.flatnonzero((run.formula == f) & np.isin(run.adduct, used))
    expected, low, high = expected_heights(run, mine, ions)
    height = np.exp(run.height[mine])
    top = max(float(height.max()), float(expected.max()))
    at = np.searchsorted(ions, run.ion[mine])
    return Compound(
        run, mine, ions, at, height / top, expected / top, low / top, np.minimum(high / top, HIGHEST)
    )


def _observed_panel(one: Compound) -> Panel:
    """Bars of the peaks, each with its error of mass."""
    run, mine, at = one.run, one.mine, one.at.astype(float)
    errors = tuple(f"{format_fixed(float(run.ppm[n]), 1, sign=True)} ppm" for n in mine)
    bars = Bars(
        at, 0 * at, one.height, 0.4, name="observed", color=0, read=lambda i: run.read(int(mine[i])),
        of=Items("row", mine),
    )  # fmt: skip
    names = tuple(run.short(int(i)) for i in one.ions)
    return Panel(
        (bars, Texts(at, one.height, errors, "above")),
        Axis(scale="category", names=names, ticks=False),
        Axis("observed", scale="sqrt", low=0.0, high=HIGHEST),
        reads="across",
        zoom="x",
    )


def _expected_panel(one: Compound) -> Panel:
    """Bars downwards of what theory expects, hollow where no peak is the ion."""
    run, x, expected = one.run, np.arange(len(one.ions), dtype=float), one.expected
    there, lost = np.flatnonzero(~one.missing), np.flatnonzero(one.missing)
    marks: list[Bars | Intervals | Outlines] = [
        Bars(
            x[there], 0 * expected[there], expected[there], 0.4, name="expected", color=1,
            read=lambda i: one.read(int(there[i])),
        ),
        Intervals(x, one.low, one.high, color="text"),
    ]  # fmt: skip
    if len(lost):
        marks.append(
            Outlines(
                x[lost] - 0.2, 0 * lost, x[lost] + 0.2, expected[lost], name="expected, not found", color=1,
                read=lambda i: one.read(int(lost[i])),
            )
        )  # fmt: skip
    names = tuple(run.short(int(i)) for i in one.ions)
    return Panel(
        tuple(marks),
        Axis(scale="category", names=names, below=tuple(f"{run.ion_mz[i]:.4f}" for i in one.ions)),
        Axis("expected", scale="sqrt", low=0.0, high=HIGHEST, down=True),
        reads="across",
        zoom="x",
    )


def _title(run: Found, mine: Ints) -> str:
    """A compound in the list of choices."""
    f = run.formula[run.ion[mine[0]]]
    count = len(mine)
    return f"{run.compounds[f]}, {run.texts[f]}, {run.rt[mine].mean():.0f} s ({count} peak{'s' if count > 1 else ''})"


def expected_heights(run: Found, mine: Ints, ions: Ints) -> tuple[Floats, Floats, Floats]:
    """Expected intensity of ions given the peaks of a cluster, with 95 % of what a peak would be: (m,) each."""
    level, spread = run.prior
    noise, prior = run.scales[2] ** 2, spread**2
    middle, wide = np.zeros(len(ions)), np.zeros(len(ions))
    for i, ion in enumerate(ions):
        same = mine[run.adduct[run.ion[mine]] == run.adduct[ion]]
        total = float((run.height[same] - level - np.log(run.beta[run.ion[same]])).sum())
        scale = noise + len(same) * prior
        middle[i] = level + prior * total / scale + math.log(run.beta[ion])
        wide[i] = 1.96 * math.sqrt(noise * prior / scale + noise)
    return np.exp(middle), np.exp(middle - wide), np.exp(middle + wide)


def load_errors(results: ResultStore, choices: ViewChoices) -> Picture:
    """Errors of the explained peaks beside the normal laws that the model takes them to follow."""
    run = found(results)
    if not (run.ion >= 0).any():
        return Picture(NOTHING[0], empty=NOTHING)
    ppm = run.ppm[run.ion >= 0]
    time = _within(run.rt, run.cluster)
    ratio = run.height.copy()
    ratio[run.ion >= 0] -= np.log(run.beta[run.ion[run.ion >= 0]])
    near = run.ion >= 0
    group = np.where(near, run.cluster * len(run.adducts) + run.adduct[np.where(near, run.ion, 0)], -1)
    ratio = _within(ratio, group)
    parts = [
        ("mass", "ppm", ppm, float(run.scales[0]), float(run.scales[3])),
        ("time", "s", time, float(run.scales[1]), 0.0),
        ("log ratio of isotopes", "", ratio, float(run.scales[2]), 0.0),
    ]
    panels = tuple(_histogram(*part) for part in parts)
    words = [
        f"{title} {format_number(float(np.sqrt(np.mean((x - bias) ** 2))), 2)}{' ' + unit if unit else ''} (assumed {format_number(sd, 2)})"
        for title, unit, x, sd, bias in parts
        if len(x)
    ]
    return Picture(
        f"Errors of {len(ppm)} explained peaks: {', '.join(words)}",
        "Where the bars are wider or narrower than the line, or beside it, a setting does not fit the data.",
        panels,
        "Peaks of the kept draw that is nearest to all; times and ratios are from the mean of their group, corrected for its size.",
        (Key("peaks", 0), Key("assumed", "text", "line")),
        grid=(300, 240),
    )


def _within(values: Floats, group: Ints) -> Floats:
    """Deviations from the mean of each group (N,) of two or more, spread as single errors are; group -1 is left out."""
    inside = group >= 0
    _, label = np.unique(group[inside], return_inverse=True)
    x, count = values[inside], np.bincount(label)
    mean = np.bincount(label, x) / count
    many = count[label] > 1
    return np.asarray((x - mean[label])[many] / np.sqrt(1.0 - 1.0 / count[label][many]))


def _histogram(title: str, unit: str, x: Floats, sd: float, bias: float) -> Panel:
    """One error: bars of density and the law that is assumed."""
    wide = max(4.0 * sd, float(np.abs(x - bias).max(initial=0.0)))
    edges = np.linspace(bias - wide, bias + wide, 25)
    count, _ = np.histogram(x, edges)
    middle, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    at = np.linspace(edges[0], edges[-1], 160)
    law = np.exp(-0.5 * ((at - bias) / sd) ** 2) / (sd * math.sqrt(2 * math.pi)) * width * max(len(x), 1)
    bars = Bars(
        middle, 0.0 * middle, count.astype(float), width * 0.96, name="peaks", color=0,
        read=lambda i: f"{edges[i]:.3g} to {edges[i + 1]:.3g}{' ' + unit if unit else ''}: {count[i]} peaks",
    )  # fmt: skip
    return Panel(
        (bars, Line(at, law, name="assumed", color="text")),
        Axis(f"error of {title}", unit),
        Axis("peaks", zero=True),
        reads="across",
    )
