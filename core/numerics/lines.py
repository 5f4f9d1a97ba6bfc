"""Very many thin lines on a picture: smooth, half transparent, dashed or not, at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

DASH, PERIOD = 6.0, 10.0
"""Length of a dash, and of a dash with the gap behind it, in pixels times the width of the picture's unit."""


@njit(nogil=True, cache=True)
def draw_lines(
    pixels: np.ndarray,
    lines: np.ndarray,
    widths: np.ndarray,
    colors: np.ndarray,
    opacity: np.ndarray,
    dashed: np.ndarray,
    unit: float,
) -> None:
    """Draw over an opaque picture.

    Parameters
    ----------
    pixels : (h, w, 4) uint8, blue, green, red and one byte unused; changed in place
    lines : (e, 4) x and y of both ends in pixels, y down
    widths : (e,) in pixels
    colors : (e, 3) uint8, red, green, blue
    opacity : (e,) 0 to 1
    dashed : (e,) bool; dashes are counted from the first end
    unit : pixels a logical pixel, for the length of dashes
    """
    high, wide = pixels.shape[0], pixels.shape[1]
    for e in range(len(lines)):
        x0, y0, x1, y1 = lines[e, 0], lines[e, 1], lines[e, 2], lines[e, 3]
        steep = abs(y1 - y0) > abs(x1 - x0)
        if steep:
            x0, y0, x1, y1 = y0, x0, y1, x1
        last, across = (high, wide) if steep else (wide, high)
        begin = x0
        if x0 > x1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        length = x1 - x0
        slope = (y1 - y0) / length if length > 1e-9 else 0.0
        stretch = math.sqrt(1.0 + slope * slope)
        half = 0.5 * widths[e] * stretch
        red, green, blue = float(colors[e, 0]), float(colors[e, 1]), float(colors[e, 2])
        for x in range(max(0, int(math.floor(x0))), min(last - 1, int(math.floor(x1))) + 1):
            if dashed[e] and (abs(x + 0.5 - begin) * stretch / unit) % PERIOD > DASH:
                continue
            end = min(x + 1.0, x1) - max(float(x), x0)  # the first and the last pixel are covered in part
            y = y0 + (x + 0.5 - x0) * slope
            for row in range(int(math.floor(y - half - 0.5)), int(math.floor(y + half + 0.5)) + 1):
                if row < 0 or row >= across:
                    continue
                cover = min(half + 0.5 - abs(row + 0.5 - y), 1.0, 2.0 * half)
                if cover <= 0:
                    continue
                alpha = opacity[e] * cover * min(max(end, 0.0), 1.0)
                i, j = (x, row) if steep else (row, x)
                pixels[i, j, 0] = np.uint8(pixels[i, j, 0] + (blue - pixels[i, j, 0]) * alpha + 0.5)
                pixels[i, j, 1] = np.uint8(pixels[i, j, 1] + (green - pixels[i, j, 1]) * alpha + 0.5)
                pixels[i, j, 2] = np.uint8(pixels[i, j, 2] + (red - pixels[i, j, 2]) * alpha + 0.5)


def prepare() -> None:
    """Compile what draws the lines, in a worker thread, so that the first picture does not have to wait for it."""
    one, colors = np.zeros(1), np.zeros((1, 3), np.uint8)
    draw_lines(np.zeros((1, 1, 4), np.uint8), np.zeros((1, 4)), one, colors, one, np.zeros(1, bool), 1.0)
