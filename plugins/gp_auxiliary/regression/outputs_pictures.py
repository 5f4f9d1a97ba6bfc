"""Pictures of several outputs: arrows and surfaces over two inputs, correlations between them."""

from __future__ import annotations

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

_STEP = 2
"""Of the places of a surface every so many have an arrow."""
_LONGEST = 1.4
"""Arrows are drawn so much longer than they are that the longest reach over so many gaps between them at most."""
_HEAD, _SPREAD = 0.28, 0.45
"""Length of an arrow's head as a share of it, and its angle to either side in radians."""
_CLEAR, _PALE = 2.0, 0.25
"""Length of an arrow in standard deviations from which it has its full colour; how pale it is at least."""
_SQUARE = 8.0
"""Ratio of the inputs' ranges up to which one unit is as long on both axes."""
_NONE = ("No map", "This picture needs two inputs or more.")


def arrows(store: ResultStore, choices: ViewChoices) -> Picture:
    """Two outputs as arrows over two inputs: what all groups share, and one group beside it."""
    if "output_names" not in store:
        return nothing()
    if "surface_mean" not in store or len(store.array("output_names")) != 2:
        return Picture("Arrows", empty=("No arrows", "They need two outputs, and two inputs or more."))
    names = [str(name) for name in store.array("output_names")]
    groups = [str(name) for name in store.array("surface_groups")]
    shown = [0]
    if len(groups) > 1:
        shown.append(1 + choices.among("group", "Group", groups[1:], each="group"))
    x, y = (store.array(f"surface_{axis}")[::_STEP] for axis in "xy")
    mean = store.array("surface_mean")[:, :, ::_STEP, ::_STEP]
    sd = store.array("surface_sd")[:, :, ::_STEP, ::_STEP]
    times = _times(mean, x, y)
    panels = tuple(
        _field(store, x, y, mean[:, g], sd[:, g], times, names, groups[g] if len(groups) > 1 else "")
        for g in shown
    )
    longer = "" if times == 1 else f", drawn {format_number(times, 2)} times as long as it is"
    where = f"the places of {names[0]} (across) and {names[1]} (up){longer}"
    table: dict[str, np.ndarray] = {}
    labels = [store[f"surface_{axis}"].label for axis in "xy"]
    places = np.tile(x, len(y)), np.repeat(y, len(x))
    table |= {label: np.tile(place, len(shown)) for label, place in zip(labels, places, strict=True)}
    if len(groups) > 1:
        table = {"Group": np.repeat([groups[g] for g in shown], mean[0, 0].size)} | table
    for p, name in enumerate(names):
        table[name] = np.concatenate([mean[p, g].ravel() for g in shown])
        table[f"sd of {name}"] = np.concatenate([sd[p, g].ravel() for g in shown])
    return Picture(
        OfOutput(store, 0).whole("headline"),
        f"{OfOutput(store, 0).whole('surface_note')} Arrows: {where}.",
        panels,
        "Pale: no clear direction, the arrow is shorter than two standard deviations",
        (Key("mean of the function", 2, "line"), Key("places of the data", "muted", "point")),
        table,
        grid=(340.0, 220.0) if len(panels) > 1 else None,
    )


def _times(mean: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """How much longer arrows are drawn: 1, 2, 5, 10 and so on, or parts of it."""
    length = float(np.hypot(mean[0], mean[1]).max())
    gap = max(abs(float(x[1] - x[0])), abs(float(y[1] - y[0])))
    if length <= 0:
        return 1.0
    most = _LONGEST * gap / length
    power = 10.0 ** np.floor(np.log10(most))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most * (1 + 1e-9)))


def _field(
    store: ResultStore,
    x: np.ndarray,
    y: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    times: float,
    names: list[str],
    title: str,
) -> Panel:
    """Arrows of one function (2, u, t) at places y (u,) and x (t,)."""
    tail = np.tile(x, len(y)), np.repeat(y, len(x))
    dx, dy = (times * part.ravel() for part in mean)
    tip = tail[0] + dx, tail[1] + dy
    length = np.hypot(mean[0], mean[1]).ravel()
    along = np.hypot(mean[0] * sd[0], mean[1] * sd[1]).ravel() / np.maximum(length, 1e-300)
    clear = np.clip(length / np.maximum(_CLEAR * along, 1e-300), _PALE, 1.0)
    marks: list[Points | Links] = [
        _places_of(store),
        Links(*tail, *tip, np.full(len(dx), 1.6), clear, color=2),
    ]
    for side in (-_SPREAD, _SPREAD):
        back_x = -_HEAD * (np.cos(side) * dx - np.sin(side) * dy)
        back_y = -_HEAD * (np.sin(side) * dx + np.cos(side) * dy)
        marks.append(Links(*tip, tip[0] + back_x, tip[1] + back_y, np.full(len(dx), 1.6), clear, color=2))

    def read(i: int) -> str:
        parts = [
            f"{name} {format_number(float(mean[p].ravel()[i]), 3)} (sd {format_number(float(sd[p].ravel()[i]), 2)})"
            for p, name in enumerate(names)
        ]
        return f"at {format_number(float(tail[0][i]), 3)}, {format_number(float(tail[1][i]), 3)}: {', '.join(parts)}"

    marks.append(Points(*tail, 4.0, color=2, read=read, name="place"))
    labels = [store[f"surface_{axis}"].label for axis in "xy"]
    square = 1.0 / _SQUARE <= np.ptp(x) / np.ptp(y) <= _SQUARE
    return Panel(
        tuple(marks), Axis(labels[0]), Axis(labels[1]), title=title, equal=bool(square), reads="near"
    )


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
    square = 1.0 / _SQUARE <= np.ptp(x) / np.ptp(y) <= _SQUARE
    axes = Axis(labels[0], margin=0), Axis(labels[1], margin=0)
    found = OfOutput(store, p)
    return Picture(
        found.text("headline"),
        found.text("surface_note"),
        (Panel((cells, _places_of(store)), *axes, equal=bool(square), reads="inside"),),
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
