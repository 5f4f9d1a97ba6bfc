"""Pictures of several outputs: arrows and surfaces over two inputs, correlations between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plaidwork.core.api import ResultStore, format_correlation, format_number
from plaidwork.core.api_pictures import (
    Axis,
    Cells,
    Key,
    Links,
    Matrix,
    Panel,
    Picture,
    Points,
    Ramp,
    ViewChoices,
)
from plaidwork.plugins.gp_auxiliary.regression.of_output import OfOutput, nothing

Color = str | int

_LONGEST, _STEPS = 1.7, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
"""Arrows are drawn so much longer than they are, by such a number or ten times it, that the longest reach over so many gaps between them."""
_HEAD, _SPREAD = 0.28, 0.45
"""Length of an arrow's head as a share of it, and its angle to either side in radians."""
_CLEAR, _PALE = 2.0, 0.25
"""Length of an arrow in standard deviations from which it has its full colour; how pale it is at least."""
_SQUARE = 8.0
"""Ratio of the inputs' ranges up to which one unit is as long on both axes."""
_NONE = ("No map", "This picture needs two inputs or more.")


def arrows(store: ResultStore, choices: ViewChoices) -> Picture:
    """Two outputs as arrows over two inputs: what all groups share, and over it one group."""
    if "output_names" not in store:
        return nothing()
    if "arrow_mean" not in store or len(store.array("output_names")) != 2:
        return Picture("Arrows", empty=("No arrows", "They need two outputs, and two inputs or more."))
    names = [str(name) for name in store.array("output_names")]
    groups = [str(name) for name in store.array("surface_groups")]
    shown = [0]
    if len(groups) > 1:
        shown.append(1 + choices.among("group", "Group", groups[1:], each="group"))
    places, mean, sd = (store.array(f"arrow_{name}") for name in ("places", "mean", "sd"))
    times = _times(mean, places)
    colors: list[Color] = ["muted", 2]
    colors = colors[-len(shown) :]
    marks: list[Links | Points] = [
        mark
        for g, color in zip(shown, colors, strict=True)
        for mark in _field(places, times * mean[:, g], mean[:, g], sd[:, g], color)
    ]
    words = [groups[g] if g else "shared" for g in shown]
    read = _reading(names, words, places, mean[:, shown], sd[:, shown])
    marks.append(Points(places[:, 0], places[:, 1], 5.0, color="text", read=read, name="place"))
    labels = [store[f"surface_{axis}"].label for axis in "xy"]
    drawn = "" if times == 1 else f"; 1 is drawn as {format_number(times, 2)}"
    table: dict[str, np.ndarray] = {
        label: np.tile(place, len(shown)) for label, place in zip(labels, places.T, strict=True)
    }
    if len(groups) > 1:
        table = {"Group": np.repeat([groups[g] for g in shown], len(places))} | table
    table |= _columns(names, mean[:, shown], sd[:, shown])
    found = OfOutput(store, 0)
    keys = [
        Key(word if g else "what all share", color, "line")
        for g, word, color in zip(shown, words, colors, strict=True)
    ]
    panel = Panel(
        tuple(marks),
        Axis(labels[0]),
        Axis(labels[1]),
        equal=_square(*np.ptp(places, axis=0)),
        fills=True,
        reads="near",
    )
    return Picture(
        found.whole("headline"),
        f"Means: {names[0]} to the right, {names[1]} upwards{drawn}.",
        (panel,),
        "Pale: no clear direction, shorter than two standard deviations",
        tuple(keys) if len(keys) > 1 else (Key("mean of the function", 2, "line"),),
        table,
    )


def _reading(
    names: list[str], words: list[str], places: np.ndarray, mean: np.ndarray, sd: np.ndarray
) -> Callable[[int], str]:
    """What is read out at each of the places (M, 2): mean and sd (P, G, M) of the outputs, by what each group is called."""

    def read(i: int) -> str:
        parts = [
            f"{word}: "
            + ", ".join(
                f"{name} {format_number(float(mean[p, g, i]), 3)} (sd {format_number(float(sd[p, g, i]), 2)})"
                for p, name in enumerate(names)
            )
            for g, word in enumerate(words)
        ]
        return f"at {format_number(float(places[i, 0]), 3)}, {format_number(float(places[i, 1]), 3)}; {'; '.join(parts)}"

    return read


def _columns(names: list[str], mean: np.ndarray, sd: np.ndarray) -> dict[str, np.ndarray]:
    """Mean and sd (P, G, M) of each output as columns, group after group."""
    found: dict[str, np.ndarray] = {}
    for name, means, sds in zip(names, mean, sd, strict=True):
        found |= {name: means.reshape(-1), f"sd of {name}": sds.reshape(-1)}
    return found


def _square(across: float, up: float) -> bool:
    """Whether one unit is to be as long on both axes, of inputs with these ranges."""
    return bool(1.0 / _SQUARE <= across / max(up, 1e-300) <= _SQUARE)


def _times(mean: np.ndarray, places: np.ndarray) -> float:
    """How much longer arrows are drawn at places (m, 2): of so many in the area of the inputs each has about a square."""
    length = float(np.hypot(mean[0], mean[1]).max())
    gap = float(np.sqrt(np.prod(np.maximum(np.ptp(places, axis=0), 1e-300)) / len(places)))
    if length <= 0:
        return 1.0
    most = _LONGEST * gap / length
    power = 10.0 ** np.floor(np.log10(most))
    return float(max(step * power for step in _STEPS if step * power <= most * (1 + 1e-9)))


def _field(
    places: np.ndarray, drawn: np.ndarray, mean: np.ndarray, sd: np.ndarray, color: Color
) -> list[Links]:
    """Arrows (2, m) from places (m, 2), of functions with these means and standard deviations (2, m)."""
    (dx, dy), tail = drawn, places.T
    tip = tail + drawn
    length = np.hypot(*mean)
    along = np.hypot(*(mean * sd)) / np.maximum(length, 1e-300)
    clear = np.clip(length / np.maximum(_CLEAR * along, 1e-300), _PALE, 1.0)
    widths = np.full(len(dx), 2.0)
    found = [Links(tail[0], tail[1], tip[0], tip[1], widths, clear, color=color)]
    for side in (-_SPREAD, _SPREAD):
        back_x = -_HEAD * (np.cos(side) * dx - np.sin(side) * dy)
        back_y = -_HEAD * (np.sin(side) * dx + np.cos(side) * dy)
        found.append(Links(tip[0], tip[1], tip[0] + back_x, tip[1] + back_y, widths, clear, color=color))
    return found


def _places_of(store: ResultStore) -> Points:
    """Where there are data."""
    points = store.array("surface_points")
    return Points(points[:, 0], points[:, 1], 5.0, color="muted")


def surface(store: ResultStore, choices: ViewChoices) -> Picture:
    """Mean of an output's function over two inputs, or its standard deviation."""
    if "output_names" not in store:
        return nothing()
    if "surface_mean" not in store:
        return Picture("Surface", empty=_NONE)
    names = [str(name) for name in store.array("output_names")]
    p = choices.among("output", "Output", names, each="output")
    groups = [str(name) for name in store.array("surface_groups")]
    g = choices.among("group", "Group", groups, each="group")
    uncertain = choices.flag("sd", "Standard deviation")
    values = store.array("surface_sd" if uncertain else "surface_mean")[p]
    low, high = float(values.min()), float(values.max())
    signed = low < 0 < high
    limits = (-max(-low, high), max(-low, high)) if signed else (low, high if high > low else low + 1.0)
    x, y = (store.array(f"surface_{axis}") for axis in "xy")
    half = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    what = f"{'sd' if uncertain else 'mean'} of the function of {names[p]}"
    tail = np.tile(x, len(y)), np.repeat(y, len(x))

    def read(i: int) -> str:
        value = format_number(float(values[g].ravel()[i]), 3)
        return f"at {format_number(float(tail[0][i]), 3)}, {format_number(float(tail[1][i]), 3)}: {value}"

    color = "loom" if signed else "tide"
    cells = Cells(
        values[g], x[0] - half[0], x[-1] + half[0], y[0] - half[1], y[-1] + half[1], map=color, limits=limits, smooth=True, read=read,
        name="surface",
    )  # fmt: skip
    labels = [store[f"surface_{axis}"].label for axis in "xy"]
    axes = Axis(labels[0], margin=0), Axis(labels[1], margin=0)
    found = OfOutput(store, p)
    return Picture(
        found.text("headline"),
        found.text("surface_note"),
        (Panel((cells, _places_of(store)), *axes, equal=_square(np.ptp(x), np.ptp(y)), reads="inside"),),
        "Points: places of the data",
        (Ramp.between(what, color, limits),),
        {labels[0]: tail[0], labels[1]: tail[1], what[:1].upper() + what[1:]: values[g].ravel()},
    )


def correlations(store: ResultStore, choices: ViewChoices) -> Picture:
    """Correlations of the outputs' functions or of their noise."""
    if "output_names" not in store:
        return nothing()
    kinds = ("functions", "noise")
    of = kinds[choices.among("of", "Of", ["Functions", "Noise"])]
    names = tuple(str(name) for name in store.array("output_names"))
    middle, ends = store.array(f"correlation_{of}"), store.array(f"correlation_{of}_interval")
    labels, reads = [], []
    for p, q in np.ndindex(middle.shape):
        value = format_correlation(float(middle[p, q]))
        low, high = (format_correlation(float(end)) for end in ends[p, q])
        labels.append(value if p == q else f"{value}\n{low} to {high}")
        reads.append(f"{names[p]} and {names[q]}: {value}" + ("" if p == q else f" ({low} to {high})"))
    size = len(names)
    cells = Cells(
        middle, -0.5, size - 0.5, -0.5, size - 0.5, map="loom", limits=(-1.0, 1.0), gap=2.0, labels=tuple(labels), read=tuple(reads),
        name="correlation",
    )  # fmt: skip
    across = Axis("", scale="category", names=names, above=True, turned=size > 6)
    panel = Panel(
        (cells,),
        across,
        Axis("", scale="category", names=names, down=True),
        most=150.0,
        highest=80.0,
        reads="inside",
        zoom="",
    )
    return Picture(
        OfOutput(store, 0).whole("correlation_headline"),
        OfOutput(store, 0).whole("correlation_note"),
        (panel,),
        legend=(
            Ramp.between(
                f"correlation of {'the functions' if of == 'functions' else 'the noise'}", "loom", (-1.0, 1.0)
            ),
        ),
        matrix=Matrix(middle, names, names, "Output"),
    )
