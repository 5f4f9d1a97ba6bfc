"""A text that is read: wrapped to the width of its panel, with words of it marked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.marks import Color, Colors, Mark


@dataclass(frozen=True)
class Span:
    """The letters from ``start`` up to ``end`` of a text, on a ground of ``color`` that is as strong as ``strength`` from 0 to 1;
    underlined, or in reverse colours as what a search has found."""

    start: int
    end: int
    color: Color = 0
    strength: float = 1.0
    underlined: bool = False
    found: bool = False


@dataclass(frozen=True)
class Prose(Mark):
    """A text of some ``words``, which is one piece; a panel with it is as high as the text needs. ``spans`` are in order and do not overlap."""

    words: str
    spans: tuple[Span, ...] = ()
    color: Colors = field(default="text", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        last = 0
        for span in self.spans:
            if not last <= span.start <= span.end <= len(self.words):
                raise PictureError(f"{self._what} has marked words that are out of order, or beyond its end.")
            last = span.end

    def __len__(self) -> int:
        return 1

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the panel, from 0 to 1."""
        return np.array([0.5]), np.array([0.5])

    def extent(self, axis: str) -> np.ndarray:
        """The whole panel."""
        return np.array([0.0, 1.0])
