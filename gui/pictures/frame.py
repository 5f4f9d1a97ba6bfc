"""Where everything of a picture stands: panels, axes and legend in a rectangle, with margins made from the texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from PySide6.QtCore import QRectF

from plaidwork.core.pictures import Bars, Panel, Picture, Scaling, Tick
from plaidwork.gui.pictures.keys import LegendPlace, legend_of
from plaidwork.gui.pictures.names import LONGEST, beside_rows, shown_names, upright_names, widest_of
from plaidwork.gui.pictures.prose import prose_height, prose_of
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.tokens import space

ACROSS, UP = 84.0, 50.0
"""Pixels from tick to tick, about."""
_WIDEST, ENDLESS = 640.0, 1e5
"""Pixels of the widest panel of a grid, and of a sheet that is high enough for all."""
_ASIDE = 110.0
"""Pixels of the room that lines beside a panel need."""
GAUGE = 60.0
"""Pixels of the bar before a name beside a panel."""
_LARGER, _CUT = 1.1, 0.35
"""How much larger a panel is at least for the one below it to stand beside it, and the share of the width that
this one then has at least."""
_MUCH = 0.1
"""Share of the height from which names that stand below a square matrix as well as beside it are written once."""
_OWN = 3
"""Lines of text of a panel of so many lines beyond which it is a picture of its own, which leaves more of a small room to others."""
Window = tuple[float, float]
WHOLE: Window = (0.0, 1.0)


@dataclass(frozen=True)
class Pixels:
    """A scale on the pixels from ``start`` to ``end``."""

    scaling: Scaling
    start: float
    end: float

    def at(self, value: float) -> float:
        """Pixel of a value."""
        return float(self.all_at(np.array([value]))[0])

    def all_at(self, values: np.ndarray) -> np.ndarray:
        """Pixels of values."""
        return self.start + self.scaling.shares(values) * (self.end - self.start)

    def value(self, pixel: float) -> float:
        """Value at a pixel."""
        return self.scaling.value((pixel - self.start) / (self.end - self.start))

    def ticks(self, gap: float) -> tuple[Tick, ...]:
        """Ticks about ``gap`` pixels apart."""
        return self.scaling.ticks(max(3, int(abs(self.end - self.start) / gap)))


@dataclass(frozen=True)
class Zoom:
    """What part is shown, as shares of the whole scales: of x for all panels, of y by panel."""

    x: Window = WHOLE
    y: Mapping[int, Window] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether all is shown."""
        return self.x == WHOLE and all(window == WHOLE for window in self.y.values())


@dataclass(frozen=True)
class Frame:
    """Place of one panel: ``area`` holds the marks, ``right`` is where its room ends."""

    panel: Panel
    area: QRectF
    x: Pixels
    y: Pixels
    left: float
    right: float
    zoomed: bool = False
    upright: float = 0.0
    """Height of the names below when they are written upright."""
    kept: dict[int, np.ndarray] = field(default_factory=dict)
    """What was worked out for marks in this frame, by their id."""


@dataclass(frozen=True)
class Layout:
    """All of a picture in its rectangle."""

    frames: tuple[Frame, ...]
    legend: tuple[LegendPlace, ...]
    rect: QRectF
    across: int = 1


def lay_out(picture: Picture, rect: QRectF, style: Style, zoom: Zoom | None = None) -> Layout:
    """Places of all parts of a picture."""
    zoom = zoom or Zoom()
    legend, used = legend_of(picture.legend, rect, style)
    room = rect.adjusted(0, used, 0, 0)
    if picture.grid is None:
        arranged = _side_by_side if has_room_beside(picture.panels, room, style) else _frames
        return Layout(arranged(picture.panels, room, style, zoom), legend, rect)
    across = _tiles_across(picture, room, style) or columns_of(picture, room.width(), style)
    wide, high = cell_of(picture, room, style, across)
    shown = _tile_width(picture, wide, high, style)
    frames: list[Frame] = []
    for k in range(cells_of(picture)):
        x = room.left() + (k % across) * (wide + space.L)
        y = room.top() + (k // across) * (high + space.L)
        stack = picture.panels[k * picture.stack : (k + 1) * picture.stack]
        rows = any(panel.reads == "row" for panel in stack)
        cell = QRectF(x, y, shown if rows else min(shown, _WIDEST * style.scale), high)
        frames += _frames(stack, cell, style, Zoom())
    return Layout(tuple(frames), legend, rect, across)


def cell_of(picture: Picture, room: QRectF, style: Style, across: int) -> tuple[float, float]:
    """Width and height of a panel of a grid, or of a stack of them, with so many in a row."""
    assert picture.grid is not None
    rows = math.ceil(cells_of(picture) / across)
    wide = (room.width() + space.L) / across - space.L
    high = min((room.height() + space.L) / rows - space.L, 2 * picture.grid[1] * style.scale)
    return wide, min(high, whole_height(picture.panels[: picture.stack], wide, style))


def _tile_width(picture: Picture, wide: float, high: float, style: Style) -> float:
    """Width of what is shown in a cell of a grid: less than the cell where a tile can be no higher."""
    tile = picture.panels[0]
    if not (tile.equal and not tile.zoom):
        return wide
    around = whole_height(picture.panels[: picture.stack], wide, style) - wide * aspect(tile)
    return min(wide, (high - around) / aspect(tile))


def whole_height(stack: tuple[Panel, ...], wide: float, style: Style) -> float:
    """Height that panels so wide take where they may take any."""
    across = stack[0].scaling("x")
    sheet = QRectF(0, 0, wide, ENDLESS)
    return _spans(stack, sheet, style, across)[-1][1] + room_below(stack[-1], style, sheet, across)


def _tiles_across(picture: Picture, room: QRectF, style: Style) -> int:
    """So many in a row that tiles, which are always shown whole, are the largest; 0 where panels are no tiles."""
    tile = picture.panels[0]
    if picture.grid is None or not (tile.equal and not tile.zoom):
        return 0
    best, found = 0.0, 0
    for across in range(columns_of(picture, room.width(), style), 0, -1):
        large = _tile_width(picture, *cell_of(picture, room, style, across), style)
        if large > best + 0.5:
            best, found = large, across
    return found


def aspect(panel: Panel) -> float:
    """Height to width of an equal panel."""
    x, y = panel.scaling("x"), panel.scaling("y")
    return (y.high - y.low) / (x.high - x.low)


def cells_of(picture: Picture) -> int:
    """How many panels, or stacks of panels, a grid has."""
    return len(picture.panels) // picture.stack


def columns_of(picture: Picture, width: float, style: Style) -> int:
    """Panels (or stacks of them) of a row of a grid, so that rows are about equally long; 1 for panels below each other."""
    if picture.grid is None:
        return 1
    count = cells_of(picture)
    most = max(1, int((width + space.L) / (picture.grid[0] * style.scale + space.L)))
    return max(1, math.ceil(count / max(1, math.ceil(count / most))))


def lower_part(panels: Iterable[Panel]) -> int:
    """The part of a small room that panels of so many lines have: one in so many."""
    return 3 if max((panel.height for panel in panels), default=0) > _OWN else 2


def room_below(panel: Panel, style: Style, rect: QRectF, across: Scaling) -> float:
    """Room below the marks: tick texts and the name of the axis."""
    upright = upright_names(panel, style, rect, across)
    if upright:
        high = style.metrics().height()
        return upright + space.S + (high + space.XS if panel.x.title else 0.0)
    return 2.0 if panel.x.above else _along(panel, style)


def _along(panel: Panel, style: Style) -> float:
    """Height of the tick texts and the name of x."""
    high = style.metrics().height()
    ticks = high + space.XS + (high if panel.x.below else 0.0) if panel.x.ticks else 2.0
    return ticks + (high + space.XS if panel.x.title else 0.0)


def _top(panel: Panel, style: Style) -> float:
    """Room above the marks: the title, labels of bars or half a tick text."""
    title = style.metrics("strong").height() + space.S if panel.title else 0.0
    if panel.x.above:
        return title + _along(panel, style)
    if any(isinstance(mark, Bars) and mark.labels for mark in panel.marks):
        return title + style.metrics("strong").height()
    if panel.columns and not panel.title:
        return style.metrics().height() + space.S
    return title + (
        style.metrics().height() / 2 if panel.height == 0 and panel.y.scale != "category" else 0.0
    )


def _named_once(panel: Panel, rect: QRectF, style: Style) -> Panel:
    """A square matrix without the names below it, where these are some of those beside it and take much of a low room."""
    names = panel.x.names
    if not panel.equal or names != panel.y.names or len(names) * style.metrics().height() < rect.height():
        return panel
    much = upright_names(panel, style, rect, panel.scaling("x")) > _MUCH * rect.height()
    return replace(panel, x=replace(panel.x, ticks=False)) if much else panel


def _frames(panels: tuple[Panel, ...], rect: QRectF, style: Style, zoom: Zoom) -> tuple[Frame, ...]:
    if zoom.whole:
        panels = tuple(_named_once(panel, rect, style) for panel in panels)
    across = panels[0].scaling("x").part(*zoom.x)
    spans = _spans(panels, rect, style, across)
    ups = [
        Pixels(
            panel.scaling("y").part(*zoom.y.get(i, WHOLE)), *((start, end) if panel.y.down else (end, start))
        )
        for i, (panel, (start, end)) in enumerate(zip(panels, spans, strict=True))
    ]
    left, right = _sides(panels, ups, rect, style)
    frames: list[Frame] = []
    for panel, (start, end), up in zip(panels, spans, ups, strict=True):
        whole = panels[0].scaling("x")
        area = QRectF(left, start, right - left, end - start)
        if panel.equal and panel.fills:
            whole, tall = _alike(area, whole, panel.scaling("y"))
            up = Pixels(tall.part(*zoom.y.get(len(frames), WHOLE)), end, start)
        across = whole.part(*zoom.x)
        if panel.equal and not panel.fills:
            area, up = _equal(area, across, up)
        along = Pixels(panel.scaling("x") if panel.own else across, area.left(), area.right())
        upright = upright_names(panel, style, rect, across)
        frames.append(Frame(panel, area, along, up, rect.left(), rect.right(), not zoom.whole, upright))
    return tuple(frames)


def has_room_beside(panels: tuple[Panel, ...], rect: QRectF, style: Style) -> bool:
    """Whether the second of two panels stands beside the first, which becomes larger by that; whatever part is shown."""
    if len(panels) != 2 or panels[0].beside is None or not panels[0].equal:
        return False
    alone, above = _beside_one(panels[0], rect, style, Zoom()), _frames(panels, rect, style, Zoom())[0]
    return alone.area.width() >= _LARGER * above.area.width()


def _beside_one(panel: Panel, rect: QRectF, style: Style, zoom: Zoom) -> Frame:
    """The panel beside which another one stands."""
    room = QRectF(rect.left(), rect.top(), (1 - _CUT) * rect.width() - space.XL, rect.height())
    (first,) = _frames((replace(panel, x=panel.beside or panel.x),), room, style, zoom)
    return replace(first, right=first.area.right())


def _side_by_side(panels: tuple[Panel, ...], rect: QRectF, style: Style, zoom: Zoom) -> tuple[Frame, ...]:
    """Two panels beside each other, equally high, on one scale across."""
    first, other = _beside_one(panels[0], rect, style, zoom), replace(panels[1], height=0.0)
    left, end = first.right + space.XL, first.area.bottom() + room_below(other, style, rect, first.x.scaling)
    room = QRectF(left, rect.top(), rect.right() - left, end - rect.top())
    (second,) = _frames((other,), room, style, Zoom(zoom.x, {0: zoom.y.get(1, WHOLE)}))
    return first, replace(second, zoomed=first.zoomed)


def _spans(panels: tuple[Panel, ...], rect: QRectF, style: Style, across: Scaling) -> list[Window]:
    """Top and bottom of every panel: fixed lines for some, the others share what is left."""
    line = style.metrics().height()
    rooms = [(_top(panel, style), room_below(panel, style, rect, across)) for panel in panels]
    below = [*panels[1:], panels[-1]]
    gaps = [
        space.XS if panel.strip or other.own else space.M for panel, other in zip(panels, below, strict=True)
    ]
    around = sum(map(sum, rooms)) + sum(gaps[:-1])
    texts = {
        id(panel): prose_height(mark, rect.width() - 2, style)
        for panel in panels
        if (mark := prose_of(panel))
    }
    around += sum(texts.values())
    flexible = [panel for panel in panels if panel.height == 0 and id(panel) not in texts]
    lines = sum(panel.height for panel in panels)
    if flexible and lines > 2:  # the others have most of a small room
        line = max(min(line, (rect.height() - around) / lower_part(panels) / lines), 1.0)
    fixed = around + lines * line
    left = rect.height() - fixed
    shares: dict[int, float] = {}
    for panel in sorted(
        flexible, key=lambda panel: most_high(panel, style, rect.width())
    ):  # the low ones leave room to the others
        high = min(max(left / (len(flexible) - len(shares)), 3 * line), most_high(panel, style, rect.width()))
        shares[id(panel)], left = high, left - high
    spans, y = [], rect.top()
    for panel, (top, bottom), gap in zip(panels, rooms, gaps, strict=True):
        high = texts.get(id(panel)) or panel.height * line or shares[id(panel)]
        spans.append((y + top, y + top + high))
        y += top + high + bottom + gap
    return spans


def most_high(panel: Panel, style: Style, wide: float) -> float:
    """Pixels that a panel is high at most, in a room so wide."""
    if panel.equal and not panel.zoom:
        return wide * aspect(panel)
    if not panel.highest:
        return math.inf
    up = panel.scaling("y")
    return panel.highest * style.scale * (up.high - up.low)


def _sides(panels: tuple[Panel, ...], ups: list[Pixels], rect: QRectF, style: Style) -> Window:
    """Left and right end of the marks of all panels."""
    left = rect.left() + max(
        (_left(panel, up, style, rect) for panel, up in zip(panels, ups, strict=True)), default=0
    )
    right = rect.right() - max((_right(panel, style, rect.width()) for panel in panels), default=0)
    right = max(right, left + 40)
    for panel, up in zip(panels, ups, strict=True):
        if panel.widest:
            right = min(right, left + panel.widest * abs(up.end - up.start))
        if panel.most:
            across = panels[0].scaling("x")
            right = min(right, left + panel.most * max(across.high - across.low, 1.0))
        if panel.equal and not panel.fills:
            across = panels[0].scaling("x")
            unit = abs(up.end - up.start) / (up.scaling.high - up.scaling.low)
            right = min(right, left + unit * (across.high - across.low))
    return left, right


def _equal(area: QRectF, across: Scaling, up: Pixels) -> tuple[QRectF, Pixels]:
    """The area made smaller so that a unit is as long across as up; it stays at the left and the top."""
    wide, high = across.high - across.low, up.scaling.high - up.scaling.low
    unit = min(area.width() / wide, area.height() / high)
    found = QRectF(area.left(), area.top(), unit * wide, unit * high)
    ends = (found.top(), found.bottom())
    return found, Pixels(up.scaling, *(ends if up.start < up.end else ends[::-1]))


def _alike(area: QRectF, across: Scaling, up: Scaling) -> tuple[Scaling, Scaling]:
    """Both scales made to reach further, about their middles, so that a unit is as long across as up."""
    wide, high = across.high - across.low, up.high - up.low
    unit = min(area.width() / wide, area.height() / high)
    more = (area.width() / unit - wide) / 2, (area.height() / unit - high) / 2
    return tuple(  # type: ignore[return-value]
        Scaling(old.kind, old.low - extra, old.high + extra, old.names)
        for old, extra in zip((across, up), more, strict=True)
    )


def _left(panel: Panel, up: Pixels, style: Style, rect: QRectF) -> float:
    metrics = style.metrics()
    if panel.y.scale == "category":
        names = shown_names(up.scaling) if panel.y.ticks else []
        widest = min(widest_of(names, metrics), LONGEST, 0.35 * rect.width())
    else:
        widest = widest_of([tick.text for tick in up.ticks(UP)] if panel.y.ticks else [], metrics)
    named = metrics.height() + space.XS if panel.y.title else 0.0
    return 1 + widest + (space.S if widest else 0) + named


def _right(panel: Panel, style: Style, width: float) -> float:
    metrics = style.metrics()
    if panel.columns:
        return sum(wide for _, wide in beside_rows(panel, style, width))
    names = [
        metrics.horizontalAdvance(text) for text in (*(end.text for end in panel.ends), panel.ends_title)
    ]
    gauge = GAUGE + space.S if any(end.share is not None for end in panel.ends) else 0.0
    if panel.own or (panel.equal and not panel.zoom) or prose_of(panel):
        return 1.0
    return min(max(names) + gauge, LONGEST) + space.S if panel.ends else float(space.M)


def beside(frame: Frame, style: Style) -> QRectF | None:
    """Room for lines beside a panel and the names at its end; None when there is too little."""
    ends = widest_of([end.text for end in frame.panel.ends], style.metrics())
    left = frame.area.right() + space.XL + ends
    if frame.right - left < _ASIDE:
        return None
    return QRectF(left, frame.area.top(), frame.right - left, frame.area.height())
