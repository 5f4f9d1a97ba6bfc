"""What the pieces of a mark stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.errors import PictureError


@dataclass(frozen=True)
class Items:
    """What the pieces of a mark stand for: ``kind`` as in the selection of a run ("row", "column", "layer", or a dim of
    the model's own); ``index`` (n,) numbers of the items, -1 for none. What is not ``shared`` links marks of this picture only.

    Where a piece stands for several items or for none, ``piece`` (n,) is the number of the piece of each item.
    """

    kind: str
    index: np.ndarray
    piece: np.ndarray | None = None
    shared: bool = True

    def __post_init__(self) -> None:
        for name in ("index", "piece"):
            if getattr(self, name) is None:
                continue
            numbers = np.array(getattr(self, name), dtype=np.intp)
            if numbers.ndim != 1 or numbers.shape != np.shape(self.index):
                raise PictureError(
                    f"The items of a mark are a list of numbers. Found the shape {numbers.shape}."
                )
            numbers.setflags(write=False)
            object.__setattr__(self, name, numbers)

    @property
    def reach(self) -> int:
        """How many pieces a mark has at least that these belong to."""
        if self.piece is None:
            return len(self.index)
        return int(self.piece.max()) + 1 if len(self.piece) else 0

    def of(self, piece: int) -> tuple[int, ...]:
        """Numbers of the items of a piece."""
        if self.piece is None:
            return (int(self.index[piece]),) if self.index[piece] >= 0 else ()
        return tuple(self.index[self.piece == piece].tolist())

    def pieces(self, items: frozenset[int]) -> np.ndarray:
        """Numbers of the pieces that stand for one of these items."""
        hits = np.isin(self.index, np.fromiter(items, dtype=np.intp))
        return np.flatnonzero(hits) if self.piece is None else np.unique(self.piece[hits])
