"""What pictures of clusterings look like, of one model or another: who is together with whom, and profiles of clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import column_format, counted, format_count, format_fixed, format_probability
from plaidwork.core.api_pictures import (
    Axis,
    Bars,
    Cells,
    End,
    Items,
    Matrix,
    Outlines,
    Panel,
    Picture,
    Ramp,
    ViewChoices,
    area_categories,
)

STRIP = 0.035
"""Width of the strip of groups, as a share of that of the map."""
MOST_NAMED = 24
MOST_COLUMNS = 40
FAR = 2.5
"""Standard deviations at which the colours of the profiles end."""


@dataclass(frozen=True)
class Grouping:
    """Who is together with whom: ``together`` (q, q) of the samples ``shown`` (q,) with names ``samples`` (q,), in the order of the
    groups; ``labels`` (n,), -1 for samples that have no place, and ``certainty`` (n,) of all samples, ``names`` (C,) of the groups."""

    together: np.ndarray
    shown: np.ndarray
    samples: np.ndarray
    labels: np.ndarray
    certainty: np.ndarray
    names: np.ndarray


def draw_groups(found: Grouping, headline: str, caption: str, layers: str) -> Picture:
    """The square map, its groups framed."""
    together, shown, samples = found.together, found.shown, found.samples
    labels, certainty, names = found.labels, found.certainty, found.names
    group, count, inside = labels[shown], len(shown), int((labels >= 0).sum())
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], count)
    hues, sizes = area_categories(len(names)), np.bincount(labels[labels >= 0])

    def read(piece: int) -> str:
        i, j = divmod(piece, count)
        if i == j:
            sure = format_probability(float(certainty[shown[i]]))
            return f"{samples[i]}: {names[group[i]]}, certainty {sure}"
        return f"{samples[i]} and {samples[j]}: together with probability {format_probability(float(together[i, j]))}"

    rows = Items("row", shown)
    cells = Cells(
        together, 0.0, count, 0.0, count, name="probability to be together", read=read, rows=rows, columns=rows,
        called=lambda piece: str(samples[piece // count]),
    )  # fmt: skip
    gap, width = STRIP * count / 2, STRIP * count
    at = starts.astype(float)
    strip = Bars(
        np.full(len(at), -gap - width / 2), at, ends, width, name="groups",
        color=tuple(hues[group[start]] for start in starts), of=Items("row", shown, np.repeat(np.arange(len(at)), ends - starts)),
        read=tuple(f"{names[group[start]]}: {counted(int(sizes[group[start]]), 'sample')}" for start in starts),
    )  # fmt: skip
    frames = Outlines(at, at, ends, ends, 1.0, color="text", held=False)
    largest = np.argsort(starts - ends, kind="stable")[:MOST_NAMED]
    told = tuple(
        End((starts[p] + ends[p]) / 2, f"{names[group[starts[p]]]} ({sizes[group[starts[p]]]})", "muted")
        for p in sorted(largest)
    )
    part = (
        f" {format_count(count)} of {counted(inside, 'sample')}, evenly from all groups."
        if count < inside
        else ""
    )
    square = Panel(
        (cells, strip, frames), Axis("samples, by group", ticks=False, line=False, margin=0.0),
        Axis("samples, by group", ticks=False, line=False, down=True, margin=0.0), ends=told, equal=True, reads="over", lines=False,
    )  # fmt: skip
    return Picture(
        headline, caption + part, (square,),
        "Frames and the strip at the left: the clusters. Blocks that are pale, or joined by colour outside the frames, are uncertain.",
        (Ramp.between("probability to be together", "tide", (0.0, 1.0)),),
        matrix=Matrix(together, tuple(map(str, samples)), tuple(map(str, samples)), "sample"), layers=layers,
    )  # fmt: skip


@dataclass(frozen=True)
class Profiled:
    """Means of clusters by column ``value`` (C, R), ``interval`` (C, R, 2), and ``far`` (C, R) in standard deviations from all samples."""

    value: np.ndarray
    interval: np.ndarray
    far: np.ndarray
    columns: np.ndarray
    names: np.ndarray


def draw_profiles(found: Profiled, headline: str, caption: str, choices: ViewChoices, layers: str) -> Picture:
    """The map of the columns in which clusters differ most."""
    value, interval, far, columns, names = found.value, found.interval, found.far, found.columns, found.names
    ordered = choices.pick("order", "Columns", [("differing", "Most differing first"), ("given", "As given")])
    spread = far.max(axis=0) - far.min(axis=0) if len(names) > 1 else np.abs(far).max(axis=0)
    chosen = np.argsort(-spread, kind="stable")[:MOST_COLUMNS]
    chosen = chosen if ordered == "differing" else np.sort(chosen)
    k, rows = len(names), len(chosen)
    pairs = [(j, c) for j in chosen for c in range(k)]

    told = {
        j: column_format(np.append(interval[:, j].ravel(), value[:, j]), 3) for j in chosen
    }  # as many decimals in all clusters

    def interval_text(c: int, j: int) -> str:
        return " to ".join(told[j](end) for end in interval[c, j])

    cells = Cells(
        far[:, chosen].T, -0.5, k - 0.5, -0.5, rows - 0.5, map="loom", limits=(-FAR, FAR), gap=2.0, name="means of the clusters",
        labels=tuple(f"{told[j](value[c, j])}\n{interval_text(c, j)}" for j, c in pairs),
        read=tuple(
            f"{columns[j]} in {names[c]}: {told[j](value[c, j])} ({interval_text(c, j)}), "
            f"{format_fixed(float(far[c, j]), 1, sign=True)} standard deviations from all samples"
            for j, c in pairs
        ),
        columns=Items("layer", np.arange(k)) if layers else None,
    )  # fmt: skip
    part = (
        f" The {rows} of {counted(len(columns), 'column')} in which they differ most."
        if rows < len(columns)
        else ""
    )
    panel = Panel(
        (cells,),
        Axis("", scale="category", names=tuple(map(str, names)), above=True, turned=k > 8),
        Axis("", scale="category", names=tuple(str(columns[j]) for j in chosen), down=True),
        most=170.0, highest=44.0, reads="inside", zoom="",
    )  # fmt: skip
    table = {"Column": np.array([str(columns[j]) for j in chosen], object)}
    return Picture(
        headline, caption + part, (panel,), "",
        (Ramp.between("standard deviations from all samples", "loom", (-FAR, FAR), (bool((far < -FAR).any()), bool((far > FAR).any()))),),
        {**table, **{str(names[c]): value[c, chosen] for c in range(k)}}, layers=layers,
    )  # fmt: skip
