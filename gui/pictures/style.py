"""Colours and fonts of one drawing: of the window as it is, or of a sheet of paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from plaidwork.core.pictures import Color
from plaidwork.gui import tokens
from plaidwork.gui.palettes import contrast, lut
from plaidwork.gui.theme import theme

_READ = 4.5
"""Contrast of words to their ground at least."""


@dataclass(frozen=True)
class Style:
    """``scheme`` "light" or "dark"; ``scale`` multiplies the sizes of all texts; ``high`` is high contrast."""

    scheme: str
    scale: float = 1.0
    high: bool = False

    def color(self, color: Color) -> QColor:
        """A token, a grey ("grey0" is the strongest, "grey3" the palest), or the colour of a category (neutral beyond the last)."""
        if isinstance(color, str):
            if color.startswith("grey") and color[4:].isdigit():
                return QColor(tokens.GREYS[self.scheme][int(color[4:])])
            if color in tokens.COLORS:
                return QColor(tokens.color_code(color, self.scheme, self.high))
            raise KeyError(f"no colour token {color!r}")
        threads = tokens.CATEGORIES[self.scheme]
        return QColor(threads[color]) if 0 <= color < len(threads) else self.color("neutral")

    def ink(self, color: Color) -> QColor:
        """A colour for words: as it is, or nearer to that of texts until it is read on the surface."""
        return QColor(_ink(self.scheme, self.high, color))

    def lut(self, name: str) -> np.ndarray:
        """(256, 4) uint8 table of a colour map."""
        return lut(name, self.scheme)

    def font(self, role: str = "caption") -> QFont:
        """Font of a type role."""
        font = theme().font(role)
        font.setPointSizeF(font.pointSizeF() * self.scale)
        return font

    def metrics(self, role: str = "caption") -> QFontMetricsF:
        """Sizes of texts in a type role."""
        return QFontMetricsF(self.font(role))


def mixed(ink: QColor, ground: QColor, share: float) -> QColor:
    """So much of one colour over another, opaque."""
    pairs = zip(ink.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(share * a + (1 - share) * b) for a, b in pairs))


@lru_cache(maxsize=256)
def _ink(scheme: str, high: bool, color: Color) -> str:
    found, ground, text = (Style(scheme, high=high).color(one) for one in (color, "surface", "text"))
    inks = (mixed(found, text, share).name() for share in (1.0, 0.85, 0.7, 0.55, 0.4))
    return next((ink for ink in inks if contrast(ink, ground.name()) >= _READ), text.name())


def screen_style() -> Style:
    """The look of the window now."""
    return Style(theme().scheme, high=theme().high_contrast)


def paper_style(points: float, scheme: str = "light") -> Style:
    """A look whose axis texts have so many points."""
    return Style(scheme, points / theme().font("caption").pointSizeF())
