"""Which piece of a mark is meant: by the pointer, by the keys, by the items that are selected."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF

from plaidwork.core.pictures import Bands, Bars, Cells, Mark, Picture, Points, Raster, Swarm
from plaidwork.gui.pictures.frame import Frame, Layout
from plaidwork.gui.pictures.swarm import pixels_of

_NEAR, _ON, _AROUND, _TITLE = 40.0, 8.0, 8.0, 20.0
"""Pixels within which a piece is near, or the pointer on a point, around a panel that still belong to it, and of its title."""


@dataclass(frozen=True)
class Spot:
    """One piece of a mark of a panel, by their numbers."""

    panel: int
    mark: int
    piece: int


def mark_of(picture: Picture, spot: Spot) -> Mark:
    """The mark that a spot is in."""
    return picture.panels[spot.panel].marks[spot.mark]


def text_of(picture: Picture, spot: Spot) -> str:
    """A spot in words."""
    return mark_of(picture, spot).text(spot.piece)


def readable(picture: Picture) -> list[tuple[int, int]]:
    """Panel and mark of everything that says something, in order."""
    return [
        (p, k)
        for p, panel in enumerate(picture.panels)
        for k, mark in enumerate(panel.marks)
        if mark.read is not None and len(mark)
    ]


def named_pieces(mark: Mark, across: tuple[str, ...], up: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """A piece of each name on an axis of categories: of cells one for each column and row, of others all."""
    if isinstance(mark, Cells):
        n, m = mark.values.shape
        yield from (((n - 1) * m + k, name) for k, name in enumerate(across[:m]))
        yield from ((k * m, name) for k, name in reversed(list(enumerate(up[:n]))))
        return
    for names, places in zip((across, up), mark.middles(), strict=True):
        for piece in np.flatnonzero(np.isfinite(places)) if names else ():
            if 0 <= (k := round(float(places[piece]))) < len(names):
                yield int(piece), names[k]


def position(mark: Mark, frame: Frame, piece: int) -> QPointF:
    """Where the read-out of a piece points at."""
    if isinstance(mark, Swarm):
        across, up = pixels_of(mark, frame)
        return QPointF(across[piece], up[piece])
    x, y = mark.middle(piece)
    return QPointF(frame.x.at(x), frame.y.at(y))


def spot_at(picture: Picture, layout: Layout, at: QPointF) -> Spot | None:
    """What the pointer means; None where there is nothing."""
    for p, frame in enumerate(layout.frames):
        area = frame.area.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND)
        if frame.panel.reads == "whole":
            area.setTop(area.top() - _TITLE)
        if frame.panel.reads == "row":
            area.setLeft(frame.left)
            area.setRight(frame.right)
        if not area.contains(at):
            continue
        marks = [(k, mark) for k, mark in enumerate(frame.panel.marks) if mark.read is not None and len(mark)]
        readers = {"near": _near, "across": _across, "inside": _inside, "over": _over, "row": _row}
        readers["whole"] = _first
        found = readers[frame.panel.reads](marks, frame, at)
        if found is not None:
            return Spot(p, *found)
    return None


def _first(marks: list[tuple[int, Mark]], frame: Frame, at: QPointF) -> tuple[int, int] | None:
    return (marks[0][0], 0) if marks else None


def _near(
    marks: list[tuple[int, Mark]], frame: Frame, at: QPointF, reach: float = _NEAR
) -> tuple[int, int] | None:
    best, found = reach, None
    for k, mark in marks:
        x, y = pixels_of(mark, frame)
        close = np.flatnonzero((np.abs(x - at.x()) < best) & (np.abs(y - at.y()) < best))
        away = np.hypot(x[close] - at.x(), y[close] - at.y())
        if len(close) and float(away.min()) < best:
            best, found = float(away.min()), (k, int(close[away.argmin()]))
    return found


def surrounded(
    picture: Picture, layout: Layout, panel: int, path: list[QPointF]
) -> tuple[str, tuple[int, ...]]:
    """Kind and numbers of the items of the points of a panel inside a path; an empty kind when none can be."""
    frame = layout.frames[panel]
    outline = np.array([(point.x(), point.y()) for point in path])
    kind, found = "", []
    for mark in frame.panel.marks:
        if isinstance(mark, Points) and mark.of is not None and kind in ("", mark.of.kind):
            kind = mark.of.kind
            inside = inside_of(outline, *pixels_of(mark, frame))
            found.append(mark.of.index[inside if mark.of.piece is None else inside[mark.of.piece]])
    items = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.intp)
    return kind, tuple(items[items >= 0].tolist())


def inside_of(outline: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which places (n,) lie inside a closed outline (p, 2): those from which a line to the right crosses it an odd number
    of times."""
    inside = np.zeros(len(x), dtype=bool)
    low, high = outline.min(axis=0), outline.max(axis=0)
    near = np.flatnonzero((x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]))
    across, up = x[near], y[near]
    odd = np.zeros(len(near), dtype=bool)
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if y0 != y1:
            odd ^= ((y0 > up) != (y1 > up)) & (across < x0 + (up - y0) / (y1 - y0) * (x1 - x0))
    inside[near] = odd
    return inside


def _across(marks: list[tuple[int, Mark]], frame: Frame, at: QPointF) -> tuple[int, int] | None:
    """The nearest place along x, and of several marks the one nearest in height there."""
    best, found = np.inf, None
    for k, mark in marks:
        x, y = pixels_of(mark, frame)
        if not np.isfinite(x).any():
            continue
        i = int(np.nanargmin(np.abs(x - at.x())))
        if abs(y[i] - at.y()) < best:
            best, found = abs(y[i] - at.y()), (k, i)
    return found


def _row(marks: list[tuple[int, Mark]], frame: Frame, at: QPointF) -> tuple[int, int] | None:
    """The place nearest in height."""
    best, found = np.inf, None
    for k, mark in marks:
        y = pixels_of(mark, frame)[1]
        if np.isfinite(y).any() and float(np.nanmin(np.abs(y - at.y()))) < best:
            found = (k, int(np.nanargmin(np.abs(y - at.y()))))
            best = float(abs(y[found[1]] - at.y()))
    return found


def _inside(marks: list[tuple[int, Mark]], frame: Frame, at: QPointF) -> tuple[int, int] | None:
    for k, mark in reversed(marks):
        if isinstance(mark, Raster):
            piece = _cell(mark, frame, at)
        elif isinstance(mark, Bands):
            piece = _between(mark, frame, at)
        elif isinstance(mark, Bars):
            piece = _bar(mark, frame, at)
        else:
            continue
        if piece >= 0:
            return k, piece
    return None


def _over(marks: list[tuple[int, Mark]], frame: Frame, at: QPointF) -> tuple[int, int] | None:
    """The point that the pointer is on, else the area."""
    points: list[tuple[int, Mark]] = [(k, mark) for k, mark in marks if isinstance(mark, Points)]
    return _near(points, frame, at, _ON) or _inside(marks, frame, at)


def _cell(mark: Raster, frame: Frame, at: QPointF) -> int:
    n, m = mark.values.shape
    column = int(np.floor((frame.x.value(at.x()) - mark.x0) / (mark.x1 - mark.x0) * m))
    row = int(np.floor((frame.y.value(at.y()) - mark.y0) / (mark.y1 - mark.y0) * n))
    return row * m + column if 0 <= row < n and 0 <= column < m else -1


def _between(mark: Bands, frame: Frame, at: QPointF) -> int:
    i = int(np.nanargmin(np.abs(frame.x.all_at(mark.x) - at.x())))
    value = frame.y.value(at.y())
    return i if mark.low[i] <= value <= mark.high[i] else -1


def _bar(mark: Bars, frame: Frame, at: QPointF) -> int:
    """The bar in whose slot the pointer is: at any height where the bars stand alone, else within the bar."""
    value, height = frame.x.value(at.x()), frame.y.value(at.y())
    i = int(np.nanargmin(np.abs(mark.x - value)))
    alone = sum(isinstance(other, Bars) for other in frame.panel.marks) == 1
    if abs(mark.x[i] - value) > (max(mark.width, 1.0) if alone else mark.width) / 2:
        return -1
    return i if alone or min(mark.low[i], mark.high[i]) <= height <= max(mark.low[i], mark.high[i]) else -1


def alike(picture: Picture, spot: Spot) -> Iterator[Spot]:
    """All pieces that stand for the same item, the spot itself included; one that stands for several is alone."""
    mark = mark_of(picture, spot)
    items = mark.items(spot.piece)
    if isinstance(mark, Cells) and mark.of is None:  # the cell, not its whole row or column
        yield spot
    if items is None or len(items[1]) > 1:
        if mark.of is not None or not isinstance(mark, Cells):
            yield spot
        return
    yield from spots_of(picture, items[0], frozenset(items[1]))


def spots_of(
    picture: Picture, kind: str, items: frozenset[int], without: Set[tuple[int, int]] = frozenset()
) -> Iterator[Spot]:
    """All pieces that stand for one of these items, ``without`` those of some marks of panels."""
    for p, panel in enumerate(picture.panels):
        for k, mark in enumerate(panel.marks):
            if mark.of is not None and mark.of.kind == kind and (p, k) not in without:
                for piece in mark.of.pieces(items):
                    yield Spot(p, k, int(piece))


def stepped(picture: Picture, spot: Spot | None, step: int, jump: int, across: int = 1) -> Spot | None:
    """Where the keys lead: ``step`` pieces along a mark, in the order of x, or ``jump`` marks on.

    Over cells, and over the panels of a grid, ``across`` in a row, they lead as over tiles.
    """
    marks = readable(picture)
    if not marks:
        return None
    if picture.panels[marks[0][0]].reads == "row":
        return _stepped_rows(picture, marks, spot, step, jump)
    if spot is None:  # strips belong to the panel below them
        first = next((place for place in marks if not picture.panels[place[0]].strip), marks[0])
        mark = mark_of(picture, Spot(*first, 0))
        if isinstance(mark, Cells):
            return Spot(*first, 0 if _down(picture, first[0]) else len(mark) - mark.values.shape[1])
        order = _order(mark)
        return Spot(*first, int(order[0 if step >= 0 else -1]))
    mark = mark_of(picture, spot)
    if isinstance(mark, Cells):
        up = jump if _down(picture, spot.panel) else -jump
        if (found := _neighbour(mark, spot.piece, step, up)) is not None:
            return Spot(spot.panel, spot.mark, found)
    place = marks.index((spot.panel, spot.mark))
    if picture.grid is not None:
        place = min(max(place + step + jump * across, 0), len(marks) - 1)
        return Spot(*marks[place], min(spot.piece, len(mark_of(picture, Spot(*marks[place], 0))) - 1))
    panel, number = marks[(place + jump) % len(marks)]
    other = mark_of(picture, Spot(panel, number, 0))
    if isinstance(mark, Cells) or isinstance(other, Cells):
        return Spot(
            panel, number, _below(other, mark.middle(spot.piece)[0], (jump < 0) != _down(picture, panel))
        )
    order, old = _order(other), _order(mark)
    at = int(np.flatnonzero(old == spot.piece)[0])
    return Spot(panel, number, int(order[min(max(at + step, 0), len(order) - 1)]))


def _stepped_rows(
    picture: Picture, marks: list[tuple[int, int]], spot: Spot | None, step: int, jump: int
) -> Spot:
    """Up and down over the rows of a panel, by many with Page, and left and right to other panels."""
    panel = marks[0][0] if spot is None else spot.panel
    if abs(step) == 1:
        panels = list(dict.fromkeys(p for p, _ in marks))
        panel = panels[min(max(panels.index(panel) + step, 0), len(panels) - 1)]
    heights = [
        (number, mark_of(picture, Spot(p, number, 0)).middles()[1]) for p, number in marks if p == panel
    ]
    rows = [(float(y[piece]), number, piece) for number, y in heights for piece in range(len(y))]
    rows = sorted(row for row in rows if row[0] == row[0])
    if spot is None:
        return Spot(panel, *rows[0][1:])
    height = mark_of(picture, spot).middle(spot.piece)[1]
    at = min(
        range(len(rows)), key=lambda k: (abs(rows[k][0] - height), rows[k][1:] != (spot.mark, spot.piece))
    )
    by = jump if abs(step) < 2 else step
    return Spot(panel, *rows[min(max(at + by, 0), len(rows) - 1)][1:])


def _down(picture: Picture, panel: int) -> bool:
    return picture.panels[panel].y.down


def _neighbour(mark: Cells, piece: int, along: int, up: int) -> int | None:
    """The cell so many columns and rows away, at the edge for columns; None beyond the last row."""
    n, m = mark.values.shape
    row, column = divmod(piece, m)
    inside = 0 <= row + up < n
    return (row + up) * m + min(max(column + along, 0), m - 1) if inside else None


def _below(mark: Mark, x: float, first: bool) -> int:
    """The piece that is nearest across; of cells in the first or the last row."""
    if not isinstance(mark, Cells):
        return int(np.nanargmin(np.abs(mark.middles()[0] - x)))
    n, m = mark.values.shape
    column = int((x - mark.x0) / (mark.x1 - mark.x0) * m)
    return (0 if first else n - 1) * m + min(max(column, 0), m - 1)


def _order(mark: Mark) -> np.ndarray:
    return np.argsort(mark.middles()[0], kind="stable")
