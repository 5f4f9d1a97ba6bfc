"""The picture of a factor along time, or of its values where the samples were taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plaidwork.core.api import ResultStore, format_number, format_percent
from plaidwork.core.api_pictures import Axis, Bands, Key, Line, Panel, Picture, Points, Ramp, ViewChoices
from plaidwork.plugins.group_factor.along import LEAST


def course(store: ResultStore, choices: ViewChoices) -> Picture:
    """A factor chosen among all: over time with the curve of its smooth part, over place in colour."""
    if "places" not in store:
        return Picture(
            "Over time or place", empty=("Nothing to show", "No time or place was given to this fit.")
        )
    factors = [str(name) for name in store.array("factor")]
    share = np.asarray(store["smoothness"].columns["Smooth share"])
    k = choices.among("factor", "Factor", factors, int(np.argmax(share)), each="factor")
    z, names = store.array("scores")[:, k], tuple(str(name) for name in store.array("sample"))
    places, axes = store.array("places"), [str(name) for name in store.array("place_names")]
    head, note = f"{store['along_headline']}; {factors[k]} does not", str(store["along_note"])
    if share[k] >= LEAST:
        head = f"{store['along_headline']}; of {factors[k]} {format_percent(float(share[k]))} of the variance is smooth"
    told = [" and ".join(format_number(float(x), 4) for x in row) for row in places]

    def read(i: int) -> str:
        return f"{names[i]}, {told[i]}: {format_number(float(z[i]), 3)}"

    if len(axes) > 1:
        return _map(places, z, axes, names, read, head, note, factors[k])
    x, mean, ends = store.array("course_x"), store.array("course")[k], store.array("course_interval")[k]
    marks = (
        Bands(x, ends[:, 0], ends[:, 1], 0.28, color=2, name="95 % interval"),
        Points(places[:, 0], z, 7.0, color=0, read=read, called=names),
        Line(x, mean, 2.2, color=2, name="smooth part"),
    )
    table = {axes[0]: x, "Smooth part": mean, "2.5 %": ends[:, 0], "97.5 %": ends[:, 1]}
    return Picture(
        head,
        note,
        (Panel(marks, Axis(axes[0]), Axis(f"{factors[k]}, factor value"), reads="near"),),
        legend=(Key("smooth part", 2, "line"), Key("samples", 0, "point")),
        table=table,
    )


def _map(
    places: np.ndarray,
    z: np.ndarray,
    axes: list[str],
    names: tuple[str, ...],
    read: Callable[[int], str],
    head: str,
    note: str,
    factor: str,
) -> Picture:
    """The samples at their first two coordinates."""
    most = float(np.abs(z).max(initial=0.0)) or 1.0
    points = Points(
        places[:, 0], places[:, 1], 9.0, levels=z, map="loom", limits=(-most, most), read=read, called=names
    )
    table = {"Sample": np.array(names, dtype=object), axes[0]: places[:, 0], axes[1]: places[:, 1], factor: z}
    return Picture(
        head,
        note,
        (Panel((points,), Axis(axes[0]), Axis(axes[1]), reads="near", equal=True),),
        legend=(Ramp.between(f"{factor}, factor value", "loom", (-most, most)),),
        table=table,
    )
