"""Annotation strips painted above the blocks of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtGui import QColor

from plaidwork.core.views.strips import STEPS, Strip
from plaidwork.gui.theme import theme

STRIP = 12
"""Pixels across a strip."""


def shade_color(shade: int) -> QColor:
    """Colour of a shade in the current scheme."""
    return theme().grey_step(shade) if shade >= 0 else theme().color("border")


def strip_pixels(strip: Strip, order: np.ndarray, span: tuple[float, float], length: int) -> np.ndarray:
    """(length,) colours (0xffRRGGBB) of the items in view."""
    at = span[0] + (np.arange(length) + 0.5) * (span[1] - span[0]) / length
    shades = strip.shades[order[np.clip(at.astype(np.intp), 0, len(order) - 1)]]
    table = np.array([shade_color(shade).rgb() for shade in (-1, *range(STEPS))], dtype=np.uint32)
    return table[shades + 1]


def legend_of(strip: Strip) -> list[tuple[Callable[[], QColor], str]]:
    """Colours, as functions that follow the scheme, and what they mean."""
    return [(partial(shade_color, shade), text) for shade, text in strip.legend]
