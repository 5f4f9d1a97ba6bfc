"""Items by two factors, coloured by what is known of them, with the lines at which a classifier decides."""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.counting import plural
from plaidwork.core.pictures import Axis, Line, Mark, Panel, Picture, Points, Texts, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.decision import GRID, Planes, decision_lines, load_planes
from plaidwork.core.views.scores import (
    NOTHING,
    Scores,
    choose_colour,
    colours_of,
    legend_of,
    load_scores,
    points_of,
    told,
    zeros_of,
)
from plaidwork.core.views.sources import Sources

_ROUND = np.linspace(0, 2 * np.pi, 97)
_WIDER = 3.0
"""Lines are drawn over so many times the span of the points, since equal axes may reach further."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Roles and options of :func:`load_scores`.

    ``planes`` (T, G, K + 1) are linear classifiers of the factors, the offset last, one set for each group of items;
    ``centres`` (T, K), ``spread`` (T,) and ``share`` (T,) are of these groups. The line between the classes and a circle
    for each group are drawn with the points, then with equal axes. Options besides: ``x`` and ``y`` (numbers of factors
    from 1, or names); without them the two with the largest coefficients, else the first two.
    """
    data = load_scores(sources)
    planes = load_planes(sources, len(data.factors))
    if not data.values.size:
        why = "The run has found nothing for this picture."
        return Picture(sources.view.title, empty=("Nothing to show", why))
    x, y = _axes(data, planes, sources, choices)
    several = len(data.factors) > 1
    line = planes is not None and several and choices.flag("line", "Decision line", True)
    grouped = planes is not None and len(planes.groups) > 0
    circles = grouped and choices.flag("groups", "Groups", True)
    first = data.first if data.colouring(data.first) is not None else data.telling()
    asked = choose_colour(data, choices, first, NOTHING)
    shown = colours_of(data, asked)
    across = data.values[:, x] if several else np.arange(1, len(data.values) + 1, dtype=float)
    x_name = data.axis(x) if several else f"{data.word}, as given"
    y_name, up = data.axis(y), data.values[:, y]
    points = points_of(
        across,
        up,
        data.names,
        data.kind,
        shown,
        lambda i: told(data.names, i, shown, (x_name, across[i]), (y_name, up[i])),
    )
    lines = _lines(data, planes, x, y, grouped) if planes is not None and line else ()
    marks: list[Mark] = [*zeros_of(points), points, *lines]
    if planes is not None and circles:
        marks += _circles(planes, x, y)
    notes = data.counted(data.values[:, [x, y]], shown, asked)
    notes += "; line: decision, the other scores at their means" if lines else ""
    notes += "; circles: one standard deviation of a group" if circles else ""
    if line and not lines:
        notes += "; the decision line lies outside, the other scores at their means"
    by = f"{data.factors[x]} and {data.factors[y]}" if several else data.factors[0]
    return Picture(
        f"{capital(plural(data.word))} by {by}",
        data.doc,
        (Panel(tuple(marks), Axis(x_name), Axis(y_name), equal=grouped and several, fills=True),),
        notes,
        legend_of(shown),
        data.table(asked),
        layers=data.dim,
    )


def _axes(data: Scores, planes: Planes | None, sources: Sources, choices: ViewChoices) -> tuple[int, int]:
    """Numbers of the factors across and up."""
    first = planes.strongest if planes is not None else (0, 1)
    x = _factor(data, sources, "x", first[0])
    y = _factor(data, sources, "y", first[1] if x != first[1] else first[0])
    x = choices.among("x", "Across", data.factors, x, of="layer", unlike="y")
    return x, choices.among("y", "Up", data.factors, y, unlike="x")


def _factor(data: Scores, sources: Sources, option: str, default: int) -> int:
    wanted = sources.view.options.get(option, default + 1)
    if isinstance(wanted, int):
        return min(max(0, wanted - 1), len(data.factors) - 1)
    return data.factors.index(wanted) if wanted in data.factors else default


def _lines(data: Scores, planes: Planes, x: int, y: int, wider: bool) -> tuple[Mark, ...]:
    """The lines between the classes with the other scores at their means; equal axes may show more of them."""
    ends = []
    for k in (x, y):
        scale = Axis().scaling(data.values[:, k])
        more = (_WIDER - 1) / 2 * (scale.high - scale.low) if wider else 0.0
        ends.append((scale.low - more, scale.high + more))
    middle = np.nan_to_num(np.nanmean(data.values, axis=0))
    pieces = decision_lines(planes, middle, x, y, ends[0], ends[1], round(GRID * (_WIDER if wider else 1)))
    return tuple(
        Line(piece[:, 0], piece[:, 1], width, color=color, held=False)
        for width, color in ((4.6, "surface"), (2.4, "text"))
        for piece in pieces
    )


def _circles(planes: Planes, x: int, y: int) -> list[Mark]:
    """A circle of one standard deviation around the centre of every group, its cross and its name."""
    used = planes.groups
    a, b, spread = planes.centres[used, x], planes.centres[used, y], planes.spread[used]
    marks: list[Mark] = []
    for p, q, r in zip(a, b, spread, strict=True):
        for width, color, dashed in ((3.6, "surface", False), (1.6, "text", True)):
            places = p + r * np.cos(_ROUND), q + r * np.sin(_ROUND)
            marks.append(Line(*places, width, dashed=dashed, color=color, held=False))
    marks.append(Points(a, b, 10.0, shapes=np.full(len(used), 5), color="text", held=False))
    names = tuple(f"Group {t + 1}" for t in used)
    marks.append(Texts(a, b, names, side="above", tagged=True, color="text", held=False))
    return marks
