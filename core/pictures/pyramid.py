"""A matrix at several resolutions, so that any part of it is drawn by area averaging in a few ms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEAST = 512
"""An axis is halved while it is longer than this."""
_SHORT = 6
"""Groups up to this length are summed by gathering."""


@dataclass(frozen=True, slots=True)
class Level:
    """Means of ``row_step`` × ``column_step`` cells, 0 where nothing is known; ``known`` is the share known."""

    mean: np.ndarray
    known: np.ndarray | None
    row_step: int
    column_step: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A part of the matrix for h × w pixels.

    ``cells`` (a, b) float32 and ``known`` (a, b) or None; pixel (y, x) shows cell
    ``(rows[y], columns[x])``, where None stands for one cell per pixel.
    """

    cells: np.ndarray
    known: np.ndarray | None
    rows: np.ndarray | None
    columns: np.ndarray | None

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values per cell as values per pixel."""
        if self.rows is not None:
            values = values.take(self.rows, axis=0)
        return values if self.columns is None else values.take(self.columns, axis=1)


class Pyramid:
    """Built where views are loaded, read where they are painted; never changes."""

    def __init__(
        self,
        values: np.ndarray,
        row_order: np.ndarray | None = None,
        column_order: np.ndarray | None = None,
    ) -> None:
        values = np.asarray(values, dtype=np.float32)
        if row_order is not None:
            values = values.take(row_order, axis=0)
        if column_order is not None:
            values = values.take(column_order, axis=1)
        self.shape: tuple[int, int] = values.shape
        self.values = values
        finite = np.isfinite(values)
        known = None if finite.all() else finite.astype(np.float32)
        mean = values if known is None else np.where(finite, values, np.float32(0))
        self.levels = [Level(np.ascontiguousarray(mean), known, 1, 1)]
        while (coarser := _halve(self.levels[-1])) is not None:
            self.levels.append(coarser)

    @property
    def has_missing(self) -> bool:
        return self.levels[0].known is not None

    def sample(
        self,
        rows: tuple[float, float],
        columns: tuple[float, float],
        h: int,
        w: int,
        coarse: bool = False,
    ) -> Sample:
        """The part ``rows[0] <= row < rows[1]`` (columns likewise) for h × w pixels.

        With ``coarse`` a pixel may show the mean of a somewhat larger patch, which is several times faster.
        """
        per_y, per_x = (rows[1] - rows[0]) / h, (columns[1] - columns[0]) / w
        level = self.levels[0]
        for other in self.levels:
            fits = other.row_step <= max(1.0, per_y) and other.column_step <= max(1.0, per_x)
            if coarse:
                fits = other.row_step * other.column_step <= 2 * max(1.0, per_y) * max(1.0, per_x)
            if fits:
                level = other
        mean, known = level.mean, level.known
        top, bottom, row_starts, row_index = _cut(rows, h, level.row_step, mean.shape[0])
        left, right, col_starts, col_index = _cut(columns, w, level.column_step, mean.shape[1])
        mean = mean[top:bottom, left:right]
        known = None if known is None else known[top:bottom, left:right]
        if known is not None and (row_starts is not None or col_starts is not None):
            mean = mean * known
        mean = _reduce(_reduce(mean, row_starts, 0), col_starts, 1)
        if known is not None:
            reduced = _reduce(_reduce(known, row_starts, 0), col_starts, 1)
            if reduced is not known:
                mean = np.divide(mean, reduced, out=np.zeros_like(mean), where=reduced > 0)
            known = reduced
        return Sample(mean, known, row_index, col_index)


def _halve(level: Level) -> Level | None:
    mean, known = level.mean, level.known
    row_step, column_step = level.row_step, level.column_step
    if max(mean.shape) <= _LEAST:
        return None
    if known is not None:
        mean = mean * known
    for axis in (0, 1):
        if mean.shape[axis] > _LEAST:
            mean = _pair(mean, axis)
            known = None if known is None else _pair(known, axis)
            row_step, column_step = (row_step * 2, column_step) if axis == 0 else (row_step, column_step * 2)
    if known is not None:
        mean = np.divide(mean, known, out=np.zeros_like(mean), where=known > 0)
    return Level(mean, known, row_step, column_step)


def _pair(values: np.ndarray, axis: int) -> np.ndarray:
    """Means of neighbours; an odd last one stays alone."""
    even, odd = (values[::2], values[1::2]) if axis == 0 else (values[:, ::2], values[:, 1::2])
    out = np.empty(even.shape, values.dtype)
    pairs = (slice(len(odd)),) if axis == 0 else (slice(None), slice(odd.shape[1]))
    part = out[pairs]
    np.add(even[pairs], odd, out=part)
    part *= np.float32(0.5)
    if part.shape != out.shape:
        alone = (slice(-1, None),) if axis == 0 else (slice(None), slice(-1, None))
        out[alone] = even[alone]
    return out


def _cut(
    span: tuple[float, float], pixels: int, step: int, length: int
) -> tuple[int, int, np.ndarray | None, np.ndarray | None]:
    """Cells [first, last) of a level under the pixels; their groups (many cells a pixel) or index (few)."""
    low, high = span[0] / step, span[1] / step
    per_pixel = (high - low) / pixels
    if per_pixel <= 1:
        index = np.clip(np.floor(low + (np.arange(pixels) + 0.5) * per_pixel), 0, length - 1).astype(np.intp)
        first, last = int(index[0]), int(index[-1]) + 1
        return first, last, None, index - first
    starts = np.clip(np.floor(low + np.arange(pixels) * per_pixel), 0, length - 1).astype(np.intp)
    first, last = int(starts[0]), int(min(max(np.ceil(high - 1e-9), starts[-1] + 1), length))
    return first, last, starts - first, None


def _reduce(values: np.ndarray, starts: np.ndarray | None, axis: int) -> np.ndarray:
    """Means of the groups that begin at ``starts``."""
    if starts is None or len(starts) == values.shape[axis]:
        return values
    counts = np.diff(starts, append=values.shape[axis])
    longest = int(counts.max())
    if longest > _SHORT:
        total = np.add.reduceat(values, starts, axis=axis)
    else:  # a few whole gathers beat many short sums
        total = values.take(starts, axis=axis)
        for k in range(1, longest):
            at = np.minimum(starts + k, values.shape[axis] - 1)
            part = values.take(at, axis=axis)
            if int(counts.min()) <= k:
                weight = (counts > k).astype(np.float32)
                part *= weight[:, None] if axis == 0 else weight
            total += part
    share = (1 / np.maximum(counts, 1)).astype(np.float32)
    total *= share[:, None] if axis == 0 else share
    return np.asarray(total)
