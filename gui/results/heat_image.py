"""From sampled cells to pixels."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage

from plaidwork.core.pictures.pyramid import Sample


def paint_pixels(
    sample: Sample,
    limits: tuple[float, float],
    table: np.ndarray,
    hatch: tuple[QColor, QColor],
    ratio: int = 1,
) -> QImage:
    """The image of a sample.

    Parameters
    ----------
    limits : values at the first and last colour of ``table`` ((256, 4) uint8, RGBA)
    hatch : ground and line of missing cells, hatched every 6 logical pixels
    ratio : device pixels a logical one
    """
    low, high = limits
    scale = 255.999 / (high - low) if high > low else 0.0
    index = np.subtract(sample.cells, np.float32(low), dtype=np.float32)
    index *= np.float32(scale)
    np.clip(index, 0, 255, out=index)
    colors = np.ascontiguousarray(table).view("<u4").ravel()
    pixels = sample.spread(colors[index.astype(np.uint8)])
    if sample.known is not None:
        missing = sample.spread(sample.known <= 0)
        if missing.any():
            y, x = np.nonzero(missing)
            period = 6 * ratio
            lines = (x + y) % period < max(1, ratio)
            pixels[y, x] = np.where(lines, _pack(hatch[1]), _pack(hatch[0]))
    pixels = np.ascontiguousarray(pixels, dtype="<u4")
    h, w = pixels.shape
    image = QImage(pixels.data, w, h, 4 * w, QImage.Format.Format_RGBX8888)
    image.pixels = pixels  # type: ignore[attr-defined]  # keeps the memory alive
    return image


def _pack(color: QColor) -> np.uint32:
    return np.uint32(color.red() | color.green() << 8 | color.blue() << 16 | 255 << 24)
