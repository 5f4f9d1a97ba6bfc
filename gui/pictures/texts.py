"""Words in a picture: beside their places, with a halo, and apart from each other."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPen

from plaidwork.core.pictures import Texts
from plaidwork.gui.pictures.frame import Frame
from plaidwork.gui.pictures.style import Style

_LONGEST, _HALO, _OVER = 150.0, 4.4, 4.0
"""Pixels of the longest words that seek room for themselves, of the halo, and that words may reach over the right end."""


def paint_texts(mark: Texts, painter: QPainter, frame: Frame, style: Style) -> None:
    """All words that have a place, or those for which there is room."""
    metrics = style.metrics()
    painter.setFont(style.font())
    ground = style.color("surface")
    ground.setAlphaF(0.85)
    halo = QPen(style.color("surface"), _HALO)
    halo.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    for i, box, words in (
        free_places(mark, frame, style) if mark.side == "free" else beside_places(mark, frame, style)
    ):
        at = QPointF(box.left(), box.center().y() + (metrics.ascent() - metrics.descent()) / 2)
        if mark.tagged:
            painter.fillRect(box.adjusted(-3, -1, 3, 1), ground)
        if mark.halo:
            painter.strokePath(_outline(style.font(), words).translated(at), halo)
        painter.setPen(style.ink(mark.color_of(i)))
        painter.drawText(at, words)


@lru_cache(maxsize=1024)
def _outline(font: QFont, words: str) -> QPainterPath:
    """Words as a path from the origin on.

    Kept, so that the same picture is painted alike to the bit: made anew it is a unit of FreeType (1/64 pixel) off here and
    there, by which letters Qt has drawn before.
    """
    path = QPainterPath()
    path.addText(QPointF(), font, words)
    return path


def _placed(mark: Texts, frame: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels of all words, and the numbers of those that have a place."""
    x, y = frame.x.all_at(mark.x), frame.y.all_at(mark.y)
    return x, y, np.flatnonzero(np.isfinite(x) & np.isfinite(y))


def beside_places(mark: Texts, frame: Frame, style: Style) -> list[tuple[int, QRectF, str]]:
    """On the side that the mark says, within the panel where they have a place in it; of tags that meet only the first."""
    metrics = style.metrics()
    x, y, known = _placed(mark, frame)
    found: list[tuple[int, QRectF, str]] = []
    for i in known.tolist():
        wide, high = metrics.horizontalAdvance(mark.words[i]), metrics.height()
        inside = frame.left <= x[i] <= frame.area.right()
        left = {"right": x[i] + 4, "left": x[i] - 4 - wide}.get(mark.side, x[i] - wide / 2)
        if mark.tagged:
            left = min(max(left, frame.area.left() + 3), frame.area.right() + _OVER - wide - 3)
        elif mark.side == "right" and inside:
            left = min(left, frame.area.right() + _OVER - wide)
        top = y[i] - high / 2 - (high if mark.side == "above" else 0)
        box = QRectF(left, top, wide, high)
        if not (mark.tagged and any(box.adjusted(-3, 0, 3, 0).intersects(other) for _, other, _ in found)):
            found.append((i, box, mark.words[i]))
    return found


def free_places(mark: Texts, frame: Frame, style: Style) -> list[tuple[int, QRectF, str]]:
    """Right, left, above or below, whichever meets no other words, none of their points and not the edge."""
    metrics = style.metrics()
    x, y, known = _placed(mark, frame)
    clear = np.zeros(len(mark)) if mark.clear is None else np.asarray(mark.clear)
    room = frame.area.adjusted(-6, -6, 6, 6)
    inside = [i for i in known.tolist() if room.contains(x[i], y[i])]
    taken = [QRectF(x[i] - clear[i], y[i] - clear[i], 2 * clear[i], 2 * clear[i]) for i in inside]
    found = []
    for i in inside:
        words = metrics.elidedText(mark.words[i], Qt.TextElideMode.ElideRight, _LONGEST)
        wide, high, away = metrics.horizontalAdvance(words) + 2, metrics.height(), clear[i] + 3
        tries = (
            QRectF(x[i] + away, y[i] - high / 2, wide, high),
            QRectF(x[i] - away - wide, y[i] - high / 2, wide, high),
            QRectF(x[i] - wide / 2, y[i] - away - high, wide, high),
            QRectF(x[i] - wide / 2, y[i] + away, wide, high),
        )
        for box in tries:
            if room.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                found.append((i, box, words))
                break
    return found
