"""Links: lines with widths, opacity and dashes, as one image on a screen where many are transparent, as shapes elsewhere."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter, QPen

from plaidwork.core.numerics.lines import draw_lines
from plaidwork.core.pictures import Links
from plaidwork.gui.pictures.frame import Frame
from plaidwork.gui.pictures.style import Style

_MANY, _SMOOTH = 400, 3000
"""Pale or transparent links from which they are an image, and opaque ones that are smooth at most."""
_VECTOR = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


def paint_links(mark: Links, painter: QPainter, frame: Frame, style: Style) -> None:
    """The links of which both ends have a place, the later ones on top."""
    lines = np.column_stack(
        [
            frame.x.all_at(mark.x0),
            frame.y.all_at(mark.y0),
            frame.x.all_at(mark.x1),
            frame.y.all_at(mark.y1),
        ]
    )
    seen = np.flatnonzero(np.isfinite(lines).all(axis=1))
    widths = np.ones(len(mark)) if mark.widths is None else np.asarray(mark.widths)
    opacity = np.asarray(mark.opacity)
    dashed = np.zeros(len(mark), bool) if mark.dashed is None else np.asarray(mark.dashed) > 0
    alone = (
        frame.panel.marks[0] is mark and not frame.panel.lines
    )  # nothing lies below, which the image would hide
    clear = len(seen) > _MANY and float(opacity[seen].min()) < 1
    if alone and clear and painter.paintEngine().type() not in _VECTOR:
        _as_image(mark, painter, frame, style, seen, lines, widths, opacity, dashed)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(seen) <= _SMOOTH)
    colors, numbers = mark.palette
    looks = np.column_stack([numbers, np.rint(2 * widths), np.rint(20 * opacity), dashed])
    for look, places in _alike(looks[seen]):
        number, halves, twentieths, dash = look
        ink = style.color(colors[int(number)])
        ink.setAlphaF(twentieths / 20)
        kind = Qt.PenStyle.DashLine if dash else Qt.PenStyle.SolidLine
        painter.setPen(QPen(ink, halves / 2, kind, Qt.PenCapStyle.FlatCap))
        painter.drawLines([QLineF(*line) for line in lines[seen[places]].tolist()])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _alike(looks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each row that occurs, in the order of first occurrence, and the places where it does."""
    if not len(looks):
        return []
    found, first, which = np.unique(looks, axis=0, return_index=True, return_inverse=True)
    ordered = np.argsort(which.ravel(), kind="stable")
    places = np.split(ordered, np.cumsum(np.bincount(which.ravel()))[:-1])
    return [(found[k], places[k]) for k in np.argsort(first)]


def _as_image(
    mark: Links,
    painter: QPainter,
    frame: Frame,
    style: Style,
    seen: np.ndarray,
    lines: np.ndarray,
    widths: np.ndarray,
    opacity: np.ndarray,
    dashed: np.ndarray,
) -> None:
    """Over the ground of the panel: a network has nothing below its links."""
    ratio, area = painter.device().devicePixelRatioF(), frame.area.toAlignedRect()
    pixels = np.empty((round(area.height() * ratio), round(area.width() * ratio), 4), dtype=np.uint8)
    ground = style.color("surface")
    pixels[:] = (ground.blue(), ground.green(), ground.red(), 255)
    inks, numbers = mark.palette
    colors = np.array([_rgb(style.color(color)) for color in inks], dtype=np.uint8)[numbers[seen]]
    at = (lines[seen] - np.tile([area.left(), area.top()], 2)) * ratio
    at = np.ascontiguousarray(at)
    draw_lines(pixels, at, widths[seen] * ratio, colors, opacity[seen], dashed[seen], float(ratio))
    high, wide = pixels.shape[:2]
    image = QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_RGB32)
    painter.drawImage(QRectF(area), image)


def _rgb(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()
