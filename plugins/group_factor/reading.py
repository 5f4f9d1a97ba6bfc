"""The views as the fit reads them, some samples at a time: no second copy of the data is ever made, and one that stays in its file is
never in memory as a whole."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.api import Block, unlike_scales, usual_variances
from plaidwork.plugins.group_factor.intercepts import one_by_group
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.products_level import SAMPLES, add_moments, fill_centred_block
from plaidwork.plugins.group_factor.state import Cells, Floats, Settings

PIECE = 1 << 25
"""Bytes of a block of samples, about; a block has a multiple of ``SAMPLES``."""
NONE = np.zeros((0, 0), bool)
"""In place of which cells are known, where all are."""
JUDGED, LEAST_ROWS = 1_000_000, 100
"""Cells by which scales are judged, about, and rows at least."""
USUAL_SPREAD = 0.1, 5.0
"""Standard deviations of a view for which the priors and the start are made (see NOTES.md)."""
_found: weakref.WeakKeyDictionary[Any, dict[bytes, Moments]] = weakref.WeakKeyDictionary()
_one = threading.Lock()


@dataclass(frozen=True)
class Moments:
    """Of all m columns of a view, (G, m) by sample group: known cells, their mean, squares about it, and their extremes; and some rows
    (., m), NaN where not known, with their groups (.,)."""

    count: Floats
    mean: Floats
    square: Floats
    low: Floats
    high: Floats
    some: Floats
    some_groups: np.ndarray

    @cached_property
    def usual(self) -> Floats:
        """(m,) variance within sample groups without what a few outliers add, by some rows."""
        parts = [self.some[self.some_groups == g] for g in range(len(self.count))]
        known = np.array([(~np.isnan(part)).sum(axis=0) for part in parts])
        total = np.array([usual_variances(part) for part in parts]) * known
        return np.asarray(total.sum(axis=0) / np.maximum(known.sum(axis=0), 1))

    @property
    def varies(self) -> np.ndarray:
        """(m,) whether there is more than one value in some sample group."""
        return np.asarray((self.high > self.low).any(axis=0))

    def squares(self, shift: Floats) -> Floats:
        """(m,) sums of squares about ``shift`` (G, m)."""
        return np.asarray((self.square + self.count * (self.mean - shift) ** 2).sum(axis=0))


@dataclass(frozen=True)
class ReadView:
    """A view of D features in the state's form: see ``cells`` for ``arrays``.

    ``count`` (G, D) known cells, ``variance`` (D,) of a Gaussian feature, ``null`` the best constant on the scale of x,
    ``centre`` the mean of what is in ``y``: (D,), or (G, D) where groups have intercepts of their own.
    """

    kind: int
    level: bool
    arrays: Cells
    count: np.ndarray
    variance: np.ndarray
    null: np.ndarray
    centre: np.ndarray


def samples_at_once(n_features: int) -> int:
    """Samples of a block."""
    return max(1, PIECE // (4 * SAMPLES * max(1, n_features))) * SAMPLES


def block_memory(blocks: tuple[Block, ...]) -> float:
    """About the bytes of a block of samples: the rows as read, the cells made of them, and tiles."""
    wide = sum(block.shape[1] for block in blocks if block.stays)
    return 3.0 * 8 * wide * samples_at_once(wide) if wide else 0.0


def rows_of(block: Block, lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, m) cells of samples lo..hi-1, and which are known; without rows where all are."""
    if block.stays:
        return np.ascontiguousarray(block.values.rows(lo, hi)), NONE
    return block.values[lo:hi], block.observed[lo:hi]


def blocks_of_samples(block: Block) -> Iterator[tuple[int, int]]:
    """Where the blocks of samples begin and end."""
    n, step = block.shape[0], samples_at_once(block.shape[1])
    for lo in range(0, n, step):
        yield lo, min(n, lo + step)


def moments(block: Block, group: np.ndarray) -> Moments:
    """Those of a view; of one that stays in its file they are found once."""
    if not block.stays:
        return _moments(block, group)
    with _one:  # another chain waits
        found = _found.setdefault(block.values, {})
        key = np.ascontiguousarray(group).tobytes()
        if key not in found:
            found[key] = _moments(block, group)
        return found[key]


def _moments(block: Block, group: np.ndarray) -> Moments:
    shape = int(group.max(initial=0)) + 1, block.shape[1]
    count, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    near, picked = np.zeros(shape[1]), _some_rows(*block.shape)
    some = []
    for lo, hi in blocks_of_samples(block):
        values, known = rows_of(block, lo, hi)
        rows = picked[(picked >= lo) & (picked < hi)] - lo
        some.append(np.where(known[rows] if len(known) else True, values[rows], np.nan))
        if lo == 0:  # about the mean, so that little is lost when it is taken off the squares
            begin = values[:SAMPLES].astype(float)
            there = known[:SAMPLES] if len(known) else np.ones(begin.shape, bool)
            near = (begin * there).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        add_moments(values, known, group[lo:hi], near, count, first, second, low, high)
    mean = first / np.maximum(count, 1)
    centre = np.where(count > 0, near + mean, 0.0)
    square = np.maximum(second - first * mean, 0.0)
    return Moments(count, centre, square, low, high, np.concatenate(some), group[picked])


def _some_rows(n: int, m: int) -> np.ndarray:
    """Rows of (n, m) cells by which scales are judged, evenly spread."""
    return np.arange(0, n, max(1, min(n // LEAST_ROWS, n * m // JUDGED)))


def best_constant(mean: np.ndarray, count: np.ndarray, word: str) -> np.ndarray:
    """Maximum likelihood constant on the scale of x, kept finite for features without events."""
    if word == "bernoulli":
        share = np.clip(mean, 1e-6, 1 - 1e-6)
        return np.log(share) - np.log1p(-share)
    rate = np.maximum(mean, 1e-6)
    return rate + np.log(-np.expm1(-rate))


def usable_columns(block: Block, word: str, group: np.ndarray | None = None) -> np.ndarray:
    """Columns with something to learn: a known cell, and for Gaussian views more than one value in some sample group."""
    if word != "gaussian":
        return np.flatnonzero(block.observed.any(axis=0))
    return np.flatnonzero(
        moments(block, np.zeros(block.shape[0], np.int64) if group is None else group).varies
    )


def scales_features(found: Moments, columns: np.ndarray, params: Settings) -> bool:
    """Whether the features of a Gaussian view are divided by their standard deviations."""
    choice = params["scale_features"]
    return choice == "all" or (choice == "unlike" and unlike_scales(found.usual[columns]))


def units_of(found: Moments, columns: np.ndarray, params: Settings) -> Floats:
    """What the fitted ``columns`` of a Gaussian view are divided by: each by its standard deviation around its means (or 0), or all by that
    of the view, or nothing."""
    if not len(columns):
        return np.ones(0)
    square, count = (
        found.squares(found.mean * params["centre_views"])[columns],
        found.count[:, columns].sum(axis=0),
    )
    if scales_features(found, columns, params):
        unit = np.sqrt(square / np.maximum(count, 1))
        return np.asarray(np.where(unit > 0, unit, 1.0))
    whole = float(np.sqrt(square.sum() / max(1.0, count.sum()))) or 1.0
    one = (
        whole
        if params["scale_views"]
        else spread_of(found, columns)
        if scales_view(found, columns, params)
        else 1.0
    )
    return np.full(len(columns), one)


def spread_of(found: Moments, columns: np.ndarray) -> float:
    """The standard deviation of the ``columns`` of a view within sample groups, a few outliers apart."""
    return float(np.sqrt(found.usual[columns].mean()))


def scales_view(found: Moments, columns: np.ndarray, params: Settings) -> bool:
    """Whether a Gaussian view whose features are not scaled one by one is divided by its spread, which is far from 1."""
    low, high = USUAL_SPREAD
    return params["scale_features"] == "unlike" and not low <= (spread_of(found, columns) or 1.0) <= high


def read_view(block: Block, word: str, params: Settings, group: np.ndarray) -> ReadView:
    """One view; Gaussian features are centred in every sample group, unless they are taken as they are."""
    columns, found = usable_columns(block, word, group), moments(block, group)
    count, mean = found.count[:, columns], found.mean[:, columns]
    total, by_group = count.sum(axis=0), one_by_group(params, len(count))
    level = bool((total == block.shape[0]).all())
    if word == "gaussian":
        shift = found.mean * params["centre_views"]
        unit = units_of(found, columns, params)
        arrays = _gaussian_cells(
            block, columns, group, np.ascontiguousarray(shift[:, columns]), unit, level, params
        )
        square = found.squares(shift)[columns]
        variance = np.maximum(square / np.maximum(total, 1) / unit**2, 1e-300)
        nothing = np.zeros(count.shape if by_group else len(columns))
        return ReadView(GAUSSIAN, level, arrays, count, variance, nothing, nothing)
    centre = (mean * count).sum(axis=0) / np.maximum(total, 1)
    kind = POISSON if word == "poisson" else BERNOULLI if params["bernoulli_bound"] == "jaakkola" else BOHNING
    float_type, shape = np.dtype(params["dtype"]), (len(columns), block.shape[0])
    arrays = {"y": np.empty(shape, float_type if kind == POISSON else np.int8)}
    arrays["T" if kind == BERNOULLI else "B"] = np.zeros(shape, float_type)
    for lo, hi in blocks_of_samples(block):
        values, known = rows_of(block, lo, hi)
        arrays["y"][:, lo:hi] = np.where(known[:, columns], values[:, columns], -1).T
    if by_group:
        centre = np.where(count > 0, mean, centre)
    null = best_constant(centre, count if by_group else total, word)
    return ReadView(kind, level and kind == BOHNING, arrays, count, np.ones(len(columns)), null, centre)


def _gaussian_cells(
    block: Block,
    columns: np.ndarray,
    group: np.ndarray,
    shift: Floats,
    unit: Floats,
    level: bool,
    params: Settings,
) -> Cells:
    """The cells of a Gaussian view, or how they are made of the file each time."""
    if block.stays:
        return {"shift": shift, "unit": unit, "columns": columns}
    shape = len(columns), block.shape[0]
    arrays: Cells = {"y": np.empty(shape, params["dtype"])}
    if not level:
        arrays["known"] = np.empty(shape, np.uint8)
    for lo, hi in blocks_of_samples(block):
        values, known = rows_of(block, lo, hi)
        fill_centred_block(values, columns, known, group[lo:hi], shift, unit, lo, arrays["y"])
        if not level:
            arrays["known"][:, lo:hi] = known[:, columns].T
    return arrays
