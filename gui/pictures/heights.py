"""How high a picture has to be, and is at most: in a window, which scrolls, and on paper."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QRectF

from plaidwork.core.pictures import Panel, Picture
from plaidwork.gui.pictures.frame import (
    ENDLESS,
    UP,
    Layout,
    aspect,
    cell_of,
    cells_of,
    columns_of,
    has_room_beside,
    lower_part,
    most_high,
    room_below,
    whole_height,
)
from plaidwork.gui.pictures.keys import legend_of
from plaidwork.gui.pictures.prose import prose_of
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.tokens import space

_OFTEN = 0.6
"""Share of the width that panels with names at their ends mostly have."""
_MAP, _FREE = 12, 6
"""Lines of text that a map with equal units is high at least above other panels, and a panel of any height beside a picture
of its own."""


def most_height(picture: Picture, width: float, style: Style) -> float:
    """Height beyond which a picture so wide gains nothing; very large where it may have any."""
    _, legend = legend_of(picture.legend, QRectF(0, 0, width, 1), style)
    if picture.grid is None:
        return legend + whole_height(picture.panels, width, style)
    across = columns_of(picture, width, style)
    _, high = cell_of(picture, QRectF(0, 0, width, ENDLESS), style, across)
    return legend + math.ceil(cells_of(picture) / across) * (high + space.L)


def least_height(picture: Picture, width: float, style: Style, scrolls: bool = False) -> float:
    """Height at which no panel of a grid, and no map above others, is lower than it has to be, and all of a text is seen.

    What ``scrolls`` asks for more than paper, which is as high as somebody wants: panels beside other pictures count too."""
    _, legend = legend_of(picture.legend, QRectF(0, 0, width, 1), style)
    if picture.grid is None and any(prose_of(panel) for panel in picture.panels):
        return legend + whole_height(picture.panels, width, style)
    if picture.grid is None:
        maps = _with_maps(picture.panels, width, style, scrolls)
        alone = replace(maps[0], x=maps[0].beside) if maps and maps[0].beside else None
        low = whole_height((alone,), width, style) if alone else 0.0
        if alone and has_room_beside(picture.panels, QRectF(0, 0, width, low), style):
            return legend + low
        return legend + whole_height(maps, width, style) if maps else 0.0
    rows = math.ceil(cells_of(picture) / columns_of(picture, width, style))
    return legend + rows * (picture.grid[1] * style.scale + space.L)


def _with_maps(panels: tuple[Panel, ...], width: float, style: Style, scrolls: bool) -> tuple[Panel, ...]:
    """Panels in lines that can be read: maps with equal units, alone where that scrolls, and panels of any height beside others
    that are pictures too; nothing of other pictures."""
    own = scrolls and lower_part(panels) > 2
    alone = len(panels) < 2
    if not all(panel.height or panel.equal or own for panel in panels) or (alone and not scrolls):
        return ()
    most, map_ = width / style.metrics().height(), _FREE if alone else _MAP
    least: list[float] = [
        0.0 if panel.height else min(map_, most * aspect(panel)) if panel.equal else float(_FREE)
        for panel in panels
    ]
    free, lines = sum(least), sum(panel.height for panel in panels)
    share = min(1.0, free / 2 / lines) if own and free else 1.0
    return tuple(
        replace(panel, height=high or panel.height * share) for panel, high in zip(panels, least, strict=True)
    )


def shortage(layout: Layout, style: Style) -> float:
    """Pixels by which panels below each other are too low for the texts of their ticks, or reach beyond the room."""
    if not layout.frames or layout.across > 1:
        return 0.0
    last, line = layout.frames[-1], style.metrics().height()
    end = last.area.bottom() + room_below(last.panel, style, layout.rect, last.x.scaling)
    short = max(end - layout.rect.bottom(), 0.0)
    for frame in layout.frames:
        panel, area = frame.panel, frame.area
        if panel.height or panel.y.scale == "category" or not panel.y.ticks or prose_of(panel):
            continue
        wide = _OFTEN * (frame.right - area.left()) if panel.equal else area.width()
        most = wide * aspect(panel) if panel.equal else most_high(panel, style, wide)
        short += max(min(len(frame.y.ticks(UP)) * line, most) - area.height(), 0.0)
    return short
