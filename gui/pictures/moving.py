"""A picture that takes long to paint, while it is zoomed or moved: as it was painted last, at its new place and size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap

from plaidwork.gui.pictures.axes import paint_ground
from plaidwork.gui.pictures.frame import Frame
from plaidwork.gui.pictures.style import Style

SETTLE, SLOW = 90, 0.04
"""Milliseconds without a movement after which the picture is painted anew, and seconds of painting from which it waits."""


@dataclass(frozen=True)
class LastPaint:
    """What was painted, and the only panel of it."""

    pixmap: QPixmap
    frame: Frame


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
