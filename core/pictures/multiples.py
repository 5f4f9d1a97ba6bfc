"""Small multiples: pictures of one kind side by side on the same scales, as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from plaidwork.core.pictures.cells import Raster
from plaidwork.core.pictures.marks import Mark
from plaidwork.core.pictures.picture import Key, Panel, Picture, Ramp
from plaidwork.core.pictures.points import Points
from plaidwork.core.pictures.scales import Axis

MOST = 12
"""Pictures side by side, at most."""
_CROWD, _SMALLER = 60, 0.65
"""Points from which on they are a crowd, and size of these to that in a large panel."""
GRID = (300.0, 240.0)
"""Least width and height of one, in pixels."""


def side_by_side(parts: Sequence[tuple[str, Picture]], headline: str, what: str) -> Picture:
    """One picture of several, each under its name, with the same ends of axes and the same ends of colour maps.

    Parameters
    ----------
    parts : name and picture of each; those without panels are named below.
    headline : of all. what : what the pictures are called, as a column of the table behind them.

    Axes of categories keep their own names where these differ. Colour maps whose legends tell different ends in other words
    than numbers keep them, and the notes say so.
    """
    shown = [(name, picture) for name, picture in parts if picture.panels]
    if not shown:
        return replace(parts[0][1], headline=headline) if parts else Picture(headline, empty=("Nothing", ""))
    legends = _one_ramp([picture for _, picture in shown], what)
    shown = [(name, replace(picture, legend=legend)) for (name, picture), legend in zip(shown, legends)]
    ramps = {tuple(key for key in picture.legend if isinstance(key, Ramp)) for _, picture in shown}
    alike = len(ramps) == 1
    columns: dict[int, list[Panel]] = {}
    for _, picture in shown:
        for number, panel in enumerate(picture.panels):
            columns.setdefault(number, []).append(panel)
    common = {number: _shared(panels, alike) for number, panels in columns.items()}
    counts = {len(picture.panels) for _, picture in shown}
    stacked = len(counts) == 1 and all(picture.grid is None for _, picture in shown)
    stack = counts.pop() if stacked else shown[0][1].stack
    panels = []
    for name, picture in shown:
        for number, panel in enumerate(picture.panels):
            made = common[number].pop(0)
            own = panel.title if len(picture.panels) > 1 else ""
            title = own if number % stack else ", ".join(filter(None, (name, own)))
            panels.append(replace(made, title=title))
    legend = dict.fromkeys(
        key for _, picture in shown for key in picture.legend if alike or not isinstance(key, Ramp)
    )
    captions = {picture.caption for _, picture in shown}
    notes = [] if alike else ["Colours have ends of their own in each."]
    missing = [name for name, picture in parts if not picture.panels]
    if missing:
        notes.append(f"Nothing to show for {', '.join(missing)}.")
    least = (GRID[0], GRID[1] * (1 + 0.4 * (stack - 1)))
    grids = [picture.grid or least for _, picture in shown]
    return Picture(
        headline,
        caption=captions.pop() if len(captions) == 1 else "",
        panels=tuple(panels),
        notes=" ".join(notes),
        legend=tuple(legend),
        table=_table(shown, what),
        grid=(max(wide for wide, _ in grids), max(high for _, high in grids)),
        stack=stack,
        layers=shown[0][1].layers,
    )


def _one_ramp(pictures: Sequence[Picture], what: str) -> list[tuple[Key | Ramp, ...]]:
    """Legends of pictures: with the same colour map from the lowest to the highest value of all, where each has only one of
    these, whose text begins as those of the others and whose ends are those of its cells."""
    own = [picture.legend for picture in pictures]
    ramps = [[key for key in legend if isinstance(key, Ramp)] for legend in own]
    if any(len(found) != 1 or found[0].limits is None for found in ramps):
        return own
    found = [one[0] for one in ramps]
    text = _together([ramp.text for ramp in found], what)
    if len({ramp.map for ramp in found}) > 1 or len(set(found)) == 1 or not text:
        return own
    for picture, ramp in zip(pictures, found, strict=True):
        marks = [mark for panel in picture.panels for mark in panel.marks if isinstance(mark, Raster)]
        if any(mark.map == ramp.map and mark.limits != ramp.limits for mark in marks):
            return own
    shared = replace(found[0], text=text)
    if len({(ramp.limits, ramp.clipped) for ramp in found}) > 1:
        ends = [ramp.limits for ramp in found if ramp.limits is not None]
        limits = min(low for low, _ in ends), max(high for _, high in ends)
        clipped = any(ramp.clipped[0] for ramp in found), any(ramp.clipped[1] for ramp in found)
        shared = Ramp.between(text, found[0].map, limits, clipped)
    return [tuple(shared if isinstance(key, Ramp) else key for key in legend) for legend in own]


def _together(texts: Sequence[str], what: str) -> str:
    """What texts have in common: "probability of the class" of "probability of left" and "probability of right"."""
    if len(set(texts)) == 1:
        return texts[0]
    places = zip(*(text.split() for text in texts))
    words = [one[0] for one in takewhile(lambda one: len(set(one)) == 1, places)]
    return " ".join([*words, "the", what.lower()] if words[-1:] == ["of"] else words)


def _shared(panels: Sequence[Panel], colours: bool) -> list[Panel]:
    """Panels of the same kind with the same ends."""
    x, y = (_common(panels, axis) for axis in ("x", "y"))
    cells = [mark for panel in panels for mark in panel.marks if isinstance(mark, Raster)]
    limits = (min(c.limits[0] for c in cells), max(c.limits[1] for c in cells)) if cells and colours else None
    made = []
    for panel, own_x, own_y in zip(panels, x, y):
        marks = tuple(
            replace(mark, limits=limits) if limits and isinstance(mark, Raster) else _smaller(mark)
            for mark in panel.marks
        )
        made.append(replace(panel, marks=marks, x=own_x, y=own_y))
    return made


def _smaller(mark: Mark) -> Mark:
    """Points of a crowd are smaller in a panel that is."""
    if not isinstance(mark, Points) or mark.sizes is not None or len(mark) < _CROWD:
        return mark
    return replace(mark, size=_SMALLER * mark.size)


def _common(panels: Sequence[Panel], axis: str) -> list[Axis]:
    """The axes "x" or "y" of panels, with one pair of ends where all are scales of numbers of one kind."""
    own: list[Axis] = [getattr(panel, axis) for panel in panels]
    if len({held.scale for held in own}) > 1 or own[0].scale == "category":
        return own
    scalings = [panel.scaling(axis) for panel in panels]
    low, high = min(s.low for s in scalings), max(s.high for s in scalings)
    return [replace(held, low=low, high=high) for held in own]


def _table(shown: Sequence[tuple[str, Picture]], what: str) -> dict[str, np.ndarray]:
    """The tables of all below each other, where they have the same columns."""
    titles = {tuple(picture.table) for _, picture in shown}
    if len(titles) != 1 or not titles.copy().pop() or what in titles.copy().pop():
        return {}
    lengths = [len(next(iter(picture.table.values()))) for _, picture in shown]
    names = np.repeat(np.array([name for name, _ in shown], dtype=object), lengths)
    return {what: names.astype(str)} | {
        title: np.concatenate([picture.table[title] for _, picture in shown]) for title in titles.pop()
    }
