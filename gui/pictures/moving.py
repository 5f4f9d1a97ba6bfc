"""A picture that takes long to paint, while it is zoomed or moved: as it was painted last, at its new place and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures import Picture
from plaidwork.gui.pictures.axes import paint_ground
from plaidwork.gui.pictures.frame import Frame, Layout
from plaidwork.gui.pictures.paint import paint_picture
from plaidwork.gui.pictures.style import Style

SETTLE, SLOW = 90, 0.04
"""Milliseconds without a movement after which the picture is painted anew, and seconds of painting from which it waits."""


@dataclass(frozen=True)
class LastPaint:
    """What was painted, and the only panel of it."""

    pixmap: QPixmap
    frame: Frame


def painted_of(
    widget: QWidget,
    picture: Picture,
    layout: Layout,
    style: Style,
    selected: Mapping[str, frozenset[int]],
) -> tuple[QPixmap, LastPaint | None]:
    """The picture in the size of a widget; kept for movements when it has one panel and takes long."""
    begun, ratio = perf_counter(), widget.devicePixelRatioF()
    pixmap = QPixmap(widget.size() * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(style.color("surface"))
    painter = QPainter(pixmap)
    paint_picture(painter, picture, layout, style, selected)
    painter.end()
    slow = perf_counter() - begun >= SLOW and len(layout.frames) == 1
    return pixmap, LastPaint(pixmap, layout.frames[0]) if slow else None


def paint_moved(painter: QPainter, last: LastPaint, frame: Frame, style: Style) -> None:
    """The ground of the panel as it is, its marks as they were painted."""
    painter.drawPixmap(0, 0, last.pixmap)
    below = QRectF(frame.left, frame.area.top(), frame.right - frame.left, painter.device().height())
    painter.fillRect(below, style.color("surface"))
    paint_ground(painter, frame, style)
    before = [axis.scaling for axis in (last.frame.x, last.frame.y)]
    across, up = (
        axis.all_at(np.array([scaling.low, scaling.high]))
        for axis, scaling in zip((frame.x, frame.y), before, strict=True)
    )
    target = QRectF(across[0], min(up), across[1] - across[0], abs(up[1] - up[0]))
    ratio, area = last.pixmap.devicePixelRatioF(), last.frame.area
    source = QRectF(area.left() * ratio, area.top() * ratio, area.width() * ratio, area.height() * ratio)
    painter.save()
    painter.setClipRect(frame.area)
    painter.drawPixmap(target, last.pixmap, source)
    painter.restore()
