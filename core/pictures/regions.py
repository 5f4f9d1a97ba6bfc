"""Regions: sets of rows by sets of columns of a matrix, which need not stand side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.marks import Mark


@dataclass(frozen=True)
class Regions(Mark):
    """Outlines around the cells of ``rows`` (L, n) and ``columns`` (L, m), bool by place, with a tag each.

    ``tags`` are the words on the tags, ``short`` those where there is no room. All outlines have the ink of texts, so that
    they share no hue with a map below; ``color`` is that of the tags. The region ``chosen`` lies above the others, which
    fade; -1 is none. Regions lie above those before them.
    """

    rows: np.ndarray
    columns: np.ndarray
    tags: tuple[str, ...]
    short: tuple[str, ...]
    chosen: int = -1
    arrays: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            mask = np.array(getattr(self, name), dtype=bool)
            if mask.ndim != 2 or len(mask) != len(self.tags) or len(self.tags) != len(self.short):
                raise PictureError(
                    f"{self._what} need {name} and words for each. Found the shape {mask.shape}."
                )
            mask.setflags(write=False)
            object.__setattr__(self, name, mask)
        super().__post_init__()

    def __len__(self) -> int:
        return len(self.tags)

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean places of the columns and of the rows."""
        found = []
        for mask in (self.columns, self.rows):
            count = np.maximum(mask.sum(axis=1), 1)
            found.append(np.where(mask.any(axis=1), mask @ np.arange(mask.shape[1]) / count, np.nan))
        return found[0], found[1]

    def extent(self, axis: str) -> np.ndarray:
        """They lie within the cells."""
        return np.zeros(0)
