"""Regions of a matrix: their outlines, and tags that cover no other."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from plaidwork.core.pictures import Regions
from plaidwork.gui.pictures.frame import Frame, Pixels
from plaidwork.gui.pictures.style import Style, mixed
from plaidwork.gui.theme import ink_on

FADED, FADED_TAG = 0.25, 0.6
"""Opacity of outlines and tags while another region is chosen."""
_LINE, _CHOSEN_LINE, _PAD, _LONGEST = 2.0, 3.0, 6.0, 180.0


def region_parts(mark: Regions, frame: Frame, region: int) -> list[QRectF]:
    """Rectangles of a region in view; parts closer than two pixels are one."""
    across, along = _runs(mark.columns[region], frame.x), _runs(mark.rows[region], frame.y)
    return [QRectF(x0, y0, x1 - x0, y1 - y0) for y0, y1 in along for x0, x1 in across]


def _runs(mask: np.ndarray, axis: Pixels) -> list[list[float]]:
    """(start, end) in pixels of the runs of a mask, cut a place beyond what the axis shows."""
    low, high = axis.scaling.low - 1, axis.scaling.high + 1
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))) - 0.5
    runs = edges.reshape(-1, 2)
    runs = np.clip(runs[(runs[:, 1] > low) & (runs[:, 0] < high)], low, high)
    merged: list[list[float]] = []
    for first, last in np.round(axis.all_at(runs)).tolist():
        if merged and first - merged[-1][1] < 2:
            merged[-1][1] = last
        else:
            merged.append([first, last])
    return merged


def tag_places(mark: Regions, frame: Frame, style: Style) -> dict[int, tuple[QRectF, str]]:
    """Where the tag of each region stands that has room for one, and what it says; the regions above choose first."""
    metrics = style.metrics()
    found: dict[int, tuple[QRectF, str]] = {}
    for region in _order(mark)[::-1]:
        parts = [part.intersected(frame.area) for part in region_parts(mark, frame, region)]
        parts = [part for part in parts if part.width() > 3 and part.height() > 3]
        if not parts:
            continue
        largest = max(parts, key=lambda part: part.width() * part.height())
        other = mark.chosen >= 0 and region != mark.chosen
        for text in (mark.short[region],) if other else (mark.tags[region], mark.short[region]):
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, _LONGEST)
            wide = metrics.horizontalAdvance(shown) + 2 * _PAD
            place = _free(
                largest, wide, metrics.height() + 4, frame.area, [rect for rect, _ in found.values()]
            )
            if place is not None:
                found[region] = place, shown
                break
    return found


def _free(part: QRectF, wide: float, high: float, view: QRectF, taken: list[QRectF]) -> QRectF | None:
    """A spot inside the part, or hanging over it, that covers no other tag."""
    left = min(part.left(), view.right() - wide - 1)
    spots = [(left, part.top() + step * (high + 2)) for step in range(5)]
    spots += [
        (max(part.right() - wide, view.left() + 1), part.top() + step * (high + 2)) for step in range(3)
    ]
    spots += [(left, part.top() - high)]
    for x, y in spots:
        y = min(max(y, view.top() + 1), view.bottom() - high - 1)
        spot = QRectF(max(x, view.left() + 1), y, wide, high)
        inside = spot.top() < part.bottom() + 1
        if inside and not any(spot.adjusted(-1, -1, 1, 1).intersects(other) for other in taken):
            return spot
    return None


def _order(mark: Regions) -> list[int]:
    """From below to above."""
    return sorted(range(len(mark)), key=lambda region: region == mark.chosen)


def paint_regions(mark: Regions, painter: QPainter, frame: Frame, style: Style) -> None:
    """Outlines, then the tags."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    smooth = painter.testRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for region in _order(mark):
        painter.setOpacity(FADED if 0 <= mark.chosen != region else 1.0)
        width = _CHOSEN_LINE if region == mark.chosen else _LINE
        inner = [_inner(part, width / 2) for part in region_parts(mark, frame, region)]
        for ink, wide in (("surface", width + 2), ("text", width)):
            pen = QPen(style.color(ink), wide)
            pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
            painter.setPen(pen)
            painter.drawRects(inner)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
    painter.setOpacity(1.0)
    painter.setFont(style.font())
    for region, (place, text) in tag_places(mark, frame, style).items():
        color = style.color(
            "text" if mark.color_of(region) == "control" and region == mark.chosen else mark.color_of(region)
        )
        painter.fillRect(place.adjusted(-1, -1, 1, 1), style.color("surface"))
        if 0 <= mark.chosen != region:
            color = mixed(color, style.color("surface"), FADED_TAG)
        painter.fillRect(place, color)
        painter.setPen(ink_on(color))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


def _inner(part: QRectF, inset: float) -> QRectF:
    """The rectangle whose line lies within a part; one thinner than its line is drawn as a line."""
    found = part.adjusted(inset, inset, -inset, -inset)
    if min(found.width(), found.height()) > 0:
        return found
    wide, high = max(found.width(), 0.5), max(found.height(), 0.5)
    return QRectF(found.center().x() - wide / 2, found.center().y() - high / 2, wide, high)
