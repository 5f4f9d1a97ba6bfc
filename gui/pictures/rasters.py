"""Marks as images: cells by their colour map, and points that are too many to be painted one by one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage

from plaidwork.core.pictures import Cells, Points, Raster
from plaidwork.core.pictures.pyramid import Sample
from plaidwork.gui.palettes import lut
from plaidwork.gui.pictures.frame import Frame, Pixels
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.pictures.swarm import pixels_of

MANY_POINTS = 4000
"""Points from here on are an image."""


def image_of(pixels: np.ndarray) -> QImage:
    """(h, w) uint32 as ARGB32 as an image of its own."""
    pixels = np.ascontiguousarray(pixels, dtype=np.uint32)
    high, wide = pixels.shape
    return QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied).copy()


def cells_image(mark: Raster, frame: Frame, style: Style, ratio: float) -> tuple[QImage, QRectF] | None:
    """The visible cells, averaged where several meet in a pixel and hatched where missing, and where the image goes."""
    n, m = mark.values.shape
    rows, columns = visible(frame.y, mark.y0, mark.y1, n), visible(frame.x, mark.x0, mark.x1, m)
    if rows is None or columns is None:
        return None
    left, right = (frame.x.at(mark.x0 + (mark.x1 - mark.x0) * place / m) for place in columns)
    first, last = (frame.y.at(mark.y0 + (mark.y1 - mark.y0) * place / n) for place in rows)
    target = QRectF(QPointF(left, min(first, last)), QPointF(right, max(first, last)))
    high, wide = (max(1, round(length * ratio)) for length in (target.height(), target.width()))
    sample = mark.pyramid.sample(rows, columns, high, wide)
    pixels = cell_pixels(sample, mark.limits, mark.map, style, max(1, round(ratio)), mark.clear)
    return image_of(pixels if first < last else pixels[::-1]), target


def cell_pixels(
    sample: Sample, limits: tuple[float, float], name: str, style: Style, ratio: int = 1, clear: bool = False
) -> np.ndarray:
    """(h, w) uint32 colours of sampled cells by a colour map, missing ones ``clear`` or hatched every 6 pixels."""
    pixels = sample.spread(_inks(sample.cells, limits, name, style))
    if sample.known is not None:
        missing = sample.spread(sample.known <= 0)
        y, x = np.nonzero(missing)
        lines = (x + y) % (6 * ratio) < max(1, ratio)
        ground, line = (np.uint32(style.color(color).rgba()) for color in ("border", "axis"))
        pixels = np.array(pixels)
        pixels[y, x] = np.uint32(0) if clear else np.where(lines, line, ground)
    return pixels


def shades(mark: Cells, style: Style) -> np.ndarray:
    """(n, m) uint32 colours of all cells, missing ones in that of borders."""
    known = np.isfinite(mark.values)
    inks = _inks(np.where(known, mark.values, mark.limits[0]), mark.limits, mark.map, style)
    return np.where(known, inks, np.uint32(style.color("border").rgba()))


def _inks(values: np.ndarray, limits: tuple[float, float], name: str, style: Style) -> np.ndarray:
    """uint32 colours of known values."""
    low, high = limits
    index = np.subtract(values, np.float32(low), dtype=np.float32)
    index *= np.float32(255.999 / (high - low))
    np.clip(index, 0, 255, out=index)
    return _packed(name, style.scheme)[index.astype(np.uint8)]


@lru_cache(maxsize=16)
def _packed(name: str, scheme: str) -> np.ndarray:
    """(256,) uint32 colours of a map."""
    table = lut(name, scheme).astype(np.uint32)
    return 0xFF000000 | table[:, 0] << 16 | table[:, 1] << 8 | table[:, 2]


def visible(scale: Pixels, low: float, high: float, count: int) -> tuple[float, float] | None:
    """The part of the cells that the axis shows, from one place between cells to another."""
    ends = np.array(sorted((scale.scaling.low, scale.scaling.high)))
    first, last = np.clip(np.sort((ends - low) / (high - low)) * count, 0, count).tolist()
    return (first, last) if last > first else None


def inks_of(mark: Points, style: Style) -> np.ndarray:
    """(n,) uint32 colours of all points, 0xffRRGGBB."""
    if mark.levels is None:
        colors, codes = mark.palette
        return np.array([style.color(color).rgba() for color in colors], dtype=np.uint32)[codes]
    low, high = mark.limits
    known = np.isfinite(mark.levels)
    steps = np.clip((np.where(known, mark.levels, low) - low) / ((high - low) or 1.0) * 255.999, 0, 255)
    table = style.lut(mark.map).astype(np.uint32)
    packed = 0xFF000000 | table[:, 0] << 16 | table[:, 1] << 8 | table[:, 2]
    pale = np.uint32(style.color("control").rgba())
    return np.where(known, packed[steps.astype(np.intp)], pale).astype(np.uint32)


def points_image(
    mark: Points, frame: Frame, style: Style, ratio: float, shown: np.ndarray | None = None
) -> tuple[QImage, QRectF]:
    """All points, or those ``shown`` (n,), as discs with a rim of the surface, the later ones on top."""
    area = frame.area
    wide, high = int(area.width() * ratio) + 1, int(area.height() * ratio) + 1
    radius = min(mark.size, 4.0) * ratio / 2
    edge = int(np.ceil(radius)) + 1
    x, y = pixels_of(mark, frame)
    x, y = (x - area.left()) * ratio, (y - area.top()) * ratio
    with np.errstate(invalid="ignore"):
        inside = (x >= -edge) & (x < wide + edge) & (y >= -edge) & (y < high + edge)
    if shown is not None:
        inside &= shown
    row_length = wide + 2 * edge + 2 * edge
    flat = (y[inside].astype(np.int64) + 2 * edge) * row_length + x[inside].astype(np.int64) + 2 * edge
    inks = inks_of(mark, style)[inside]
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
