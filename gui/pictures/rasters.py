"""Marks as images: cells by their colour map, and points that are too many to be painted one by one."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from plaidwork.core.pictures import Cells, Points
from plaidwork.gui.pictures.frame import Frame, Pixels
from plaidwork.gui.pictures.style import Style

MANY_POINTS = 4000
"""Points from here on are an image."""


def image_of(pixels: np.ndarray) -> QImage:
    """(h, w) uint32 as ARGB32 as an image of its own."""
    pixels = np.ascontiguousarray(pixels, dtype=np.uint32)
    high, wide = pixels.shape
    return QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied).copy()


def cells_image(mark: Cells, frame: Frame, style: Style, ratio: float) -> tuple[QImage, QRectF] | None:
    """The visible cells, averaged where several meet in a pixel, and where the image goes."""
    n, m = mark.values.shape
    rows = _visible(frame.y, mark.y0, mark.y1, n)
    columns = _visible(frame.x, mark.x0, mark.x1, m)
    if rows is None or columns is None:
        return None
    values = mark.values[rows, columns]
    target = QRectF(
        frame.x.at(mark.x0 + (mark.x1 - mark.x0) * columns.start / m),
        frame.y.at(mark.y0 + (mark.y1 - mark.y0) * rows.stop / n),
        0,
        0,
    )
    target.setRight(frame.x.at(mark.x0 + (mark.x1 - mark.x0) * columns.stop / m))
    target.setBottom(frame.y.at(mark.y0 + (mark.y1 - mark.y0) * rows.start / n))
    values = averaged(values, round(target.height() * ratio), round(target.width() * ratio))
    return image_of(shades(mark, values, style)[::-1]), target


def shades(mark: Cells, values: np.ndarray, style: Style) -> np.ndarray:
    """ARGB32 of values by the colour map of their mark."""
    low, high = mark.limits
    with np.errstate(invalid="ignore"):
        steps = np.clip((values - low) / (high - low) * 255.999, 0, 255)
    known = np.isfinite(values)
    table = style.lut(mark.map).astype(np.uint32)
    packed = 0xFF000000 | table[:, 0] << 16 | table[:, 1] << 8 | table[:, 2]
    return np.where(known, packed[np.where(known, steps, 0).astype(np.intp)], style.color("border").rgba())


def _visible(scale: Pixels, low: float, high: float, count: int) -> slice | None:
    """Numbers of the cells of which some of the axis shows."""
    ends = sorted((scale.scaling.low, scale.scaling.high))
    shares = (np.array(ends) - low) / (high - low) * count
    first, last = max(0, int(np.floor(shares[0]))), min(count, int(np.ceil(shares[1])))
    return slice(first, last) if last > first else None


def averaged(values: np.ndarray, high: int, wide: int) -> np.ndarray:
    """Means of the known cells that meet in a pixel, where there are more cells than pixels."""
    n, m = values.shape
    if n <= 1.5 * high and m <= 1.5 * wide:
        return np.asarray(values)
    found = np.asarray(values, dtype=np.float32)
    missing = np.isnan(found)
    counts = None
    if missing.any():
        counts, found = (~missing).astype(np.float32), np.where(missing, np.float32(0), found)
    total = _summed(found, high, wide)
    weight = _summed(counts if counts is not None else np.ones((1, 1), np.float32), high, wide, (n, m))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / weight)


def _summed(values: np.ndarray, high: int, wide: int, shape: tuple[int, int] | None = None) -> np.ndarray:
    """Sums of the cells of each pixel; of a (1, 1) array sums of as many ones as ``shape`` has cells."""
    n, m = shape or values.shape
    row_starts = np.unique(np.arange(min(n, max(high, 1))) * n // min(n, max(high, 1)))
    column_starts = np.unique(np.arange(min(m, max(wide, 1))) * m // min(m, max(wide, 1)))
    if values.shape == (1, 1) != (n, m):
        return np.outer(np.diff(row_starts, append=n), np.diff(column_starts, append=m)).astype(np.float32)
    return np.add.reduceat(np.add.reduceat(values, row_starts, axis=0), column_starts, axis=1)


def points_image(mark: Points, frame: Frame, style: Style, ratio: float) -> tuple[QImage, QRectF]:
    """All points as discs with a rim of the surface, the later ones on top."""
    area = frame.area
    wide, high = int(area.width() * ratio) + 1, int(area.height() * ratio) + 1
    radius = min(mark.size, 4.0) * ratio / 2
    edge = int(np.ceil(radius)) + 1
    x = (frame.x.all_at(mark.x) - area.left()) * ratio
    y = (frame.y.all_at(mark.y) - area.top()) * ratio
    with np.errstate(invalid="ignore"):
        inside = (x >= -edge) & (x < wide + edge) & (y >= -edge) & (y < high + edge)
    row_length = wide + 2 * edge + 2 * edge
    flat = (y[inside].astype(np.int64) + 2 * edge) * row_length + x[inside].astype(np.int64) + 2 * edge
    if isinstance(mark.color, tuple):
        known = {color: style.color(color).rgba() for color in set(mark.color)}
        inks = np.array([known[color] for color in mark.color], dtype=np.uint32)[inside]
    else:
        inks = np.full(len(flat), style.color(mark.color).rgba(), dtype=np.uint32)
    single = np.zeros((high + 4 * edge) * row_length, dtype=np.uint32)
    single[flat] = inks
    where = np.flatnonzero(single)
    colors = single[where]
    out = np.zeros_like(single)
    for dy in range(-edge, edge + 1):
        for dx in range(-edge, edge + 1):
            if dx * dx + dy * dy <= radius * radius:
                out[where + dy * row_length + dx] = colors
    image = image_of(out.reshape(-1, row_length)[2 * edge : 2 * edge + high, 2 * edge : 2 * edge + wide])
    return image, QRectF(area.left(), area.top(), wide / ratio, high / ratio)
