"""The cells as the sweep keeps them, view by view, and tiles of the quadratic bound made of them.

Of a view of D features the state has, all (D, N), only what cannot be made anew in a tile (F: the setting ``dtype``):

===================  ========================  ==========================  ===========
kind                 T                         B                           y
===================  ========================  ==========================  ===========
Gaussian             tau where known           tau y                       F, 0 missing
Bernoulli, Jaakkola  kept, F, 0 missing        y - 1/2                     int8, -1 missing
Bernoulli, Böhning   1/4                       kept, F, 0 missing          int8, -1 missing
Poisson              0.25 + 0.17 y             kept, F, 0 missing          F, -1 missing
===================  ========================  ==========================  ===========

``known`` is there for Gaussian views with missing cells only. A Gaussian view that stays in its file (``blocks.py``) has ``shift``,
``unit`` and ``columns`` instead, of which ``y`` is made. Where T is one number per feature and sample group the view
is ``level``: one Gram matrix serves all its features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit

from plaidwork.plugins.group_factor.kernels import BERNOULLI, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.products import FAST, turned
from plaidwork.plugins.group_factor.state import Cells, Floats, Ints, Predictor

TILE_CELLS = 262_144
"""Cells of a tile: 1 MB in float32."""


@dataclass(frozen=True)
class Tile:
    """T and B of some features and samples; T is None where level, and begins at a row and column of its array."""

    T: np.ndarray | None
    B: np.ndarray
    T_at: tuple[int, int]


@dataclass(frozen=True)
class View:
    """A view of the state: its number, kind, features first..first+size-1 of all, arrays, T per group if level."""

    index: int
    kind: int
    first: int
    size: int
    level: bool
    arrays: Cells

    @property
    def stays(self) -> bool:
        """Whether the cells are made of a file, block by block."""
        return "shift" in self.arrays

    @property
    def summed(self) -> bool:
        """Whether it is known by its products with the factor values, and T is one number per feature and group."""
        return self.level and self.kind == GAUSSIAN

    @property
    def features(self) -> slice:
        return slice(self.first, self.first + self.size)


def view_of(state: Predictor, index: int) -> View:
    first = state["first"]
    arrays = state["cells"][str(index)]
    return View(
        index, int(state["kinds"][index]), int(first[index]), int(first[index + 1] - first[index]),
        bool(state["level"][index]), arrays,
    )  # fmt: skip


def views_of(state: Predictor) -> Iterator[View]:
    """The views that have a feature."""
    for index in range(len(state["kinds"])):
        view = view_of(state, index)
        if view.size:
            yield view


def parts_of(state: Predictor, lo: int, hi: int) -> Iterator[tuple[View, int, int]]:
    """The views that have some of features lo..hi-1, and which of them."""
    for view in views_of(state):
        below, above = max(lo, view.first), min(hi, view.first + view.size)
        if below < above:
            yield view, below, above


def level_of(state: Predictor, view: View) -> np.ndarray:
    """(G, D_m) T of a level view."""
    scale = state["scale"][:, view.features]
    return scale if view.kind == GAUSSIAN else np.full_like(scale, 0.25)


def of_samples(values: Floats, here: slice, group: Ints) -> Floats:
    """(d, n) the (G, D) numbers of some features, each sample with its group's."""
    return values[:, here].T[:, group]


def tile(
    state: Predictor,
    view: View,
    lo: int,
    hi: int,
    left: int = 0,
    right: int | None = None,
    shifted: bool = True,
) -> Tile:
    """T and B of features lo..hi-1 of the view and samples left..right-1; B less T <mu> when ``shifted``."""
    right = state["z"].shape[1] if right is None else right
    arrays, shape = view.arrays, (hi - lo, right - left)
    float_type = state["float"].dtype
    here = slice(view.first + lo, view.first + hi)
    one = shifted and state["mu"].ndim == 1
    mu = state["mu"][here] if one else np.zeros(hi - lo)
    B = np.empty(shape, float_type)
    groups = state["group"][left:right] if shifted and not one else None
    if view.kind == BERNOULLI:
        fill_bits(arrays["y"], arrays["T"], mu, lo, left, B)
        if groups is not None:
            B -= arrays["T"][lo:hi, left:right] * of_samples(state["mu"], here, groups)
        return Tile(arrays["T"], B, (lo, left))
    T = None if view.level else np.empty(shape, float_type)
    if view.kind == GAUSSIAN:
        scale = np.ascontiguousarray(state["scale"][:, here])
        fill_scaled(arrays["y"], scale, state["group"], lo, left, B)
        if T is not None:
            fill_scaled(arrays["known"], scale, state["group"], lo, left, T)
        return Tile(T, B, (0, 0))
    slope = 0.17 if view.kind == POISSON else 0.0
    if T is not None:
        fill_curvature(arrays["y"], slope, lo, left, T)
    fill_shifted(arrays["B"], arrays["y"], slope, mu, lo, left, B)
    if groups is not None:
        B -= (0.25 if T is None else T) * of_samples(state["mu"], here, groups)
    return Tile(T, B, (0, 0))


def across(state: Predictor, views: list[View], left: int, right: int) -> tuple[np.ndarray, np.ndarray]:
    """T and B - T <mu> of samples left..right-1, (samples, features of these views, none of which is level)."""
    float_type = state["float"].dtype
    shape = right - left, sum(view.size for view in views)
    T, B, at = np.empty(shape, float_type), np.empty(shape, float_type), 0
    for view in views:
        if view.kind == BERNOULLI:
            y = np.empty((right - left, view.size), np.int8)
            turned(view.arrays["T"], 0, left, view.size, T, at)
            turned(view.arrays["y"], 0, left, view.size, y, 0)
            one = state["mu"].ndim == 1
            mu = state["mu"][view.features] if one else np.zeros(view.size)
            fill_bits_across(y, T, mu.astype(float_type), at, B)
            if not one:
                part = slice(at, at + view.size)
                B[:, part] -= (
                    T[:, part] * of_samples(state["mu"], view.features, state["group"][left:right]).T
                )
        else:
            cells = tile(state, view, 0, view.size, left, right)
            turned(cells.T, *cells.T_at, view.size, T, at)
            turned(cells.B, 0, 0, view.size, B, at)
        at += view.size
    return T, B


@njit(nogil=True, cache=True, fastmath=FAST)
def fill_bits(y, T, mu, lo, left, B):
    """y - 1/2 - T mu, 0 where missing: there y is -1 and T is 0."""
    rows, columns = B.shape
    half = T.dtype.type(0.5)
    for r in range(rows):
        source, t, target = y[lo + r, left : left + columns], T[lo + r, left : left + columns], B[r]
        m = T.dtype.type(mu[r])
        for n in range(columns):
            bit = T.dtype.type(source[n])
            target[n] = min(bit + half + half, half + half) * (bit - half) - t[n] * m


@njit(nogil=True, cache=True, fastmath=FAST)
def fill_bits_across(y, T, mu, at, B):
    """The same into columns at..at+features-1 of B, whose rows are samples, as are those of y and T; mu in their type."""
    half = T.dtype.type(0.5)
    size = y.shape[1]
    for r in range(len(y)):
        source, t, target = y[r], T[r, at : at + size], B[r, at : at + size]
        for d in range(size):
            bit = T.dtype.type(source[d])
            target[d] = min(bit + half + half, half + half) * (bit - half) - t[d] * mu[d]


@njit(nogil=True, cache=True)
def fill_shifted(B, y, slope, mu, lo, left, out):
    """B - T mu with T = 1/4 + slope y, 0 where missing."""
    rows, columns = out.shape
    for r in range(rows):
        source, b, target = y[lo + r, left : left + columns], B[lo + r, left : left + columns], out[r]
        for n in range(columns):
            target[n] = b[n] - (0.25 + slope * source[n]) * mu[r] if source[n] >= 0 else 0.0


@njit(nogil=True, cache=True)
def fill_scaled(y, scale, group, lo, left, out):
    """``y`` times the noise precision of the feature and the sample's group."""
    rows, columns = out.shape
    for r in range(rows):
        source, target = y[lo + r, left : left + columns], out[r]
        if len(scale) == 1:
            for n in range(columns):
                target[n] = source[n] * scale[0, r]
        else:
            for n in range(columns):
                target[n] = source[n] * scale[group[left + n], r]


@njit(nogil=True, cache=True)
def fill_curvature(y, slope, lo, left, T):
    """1/4 + slope y, 0 where missing."""
    rows, columns = T.shape
    for r in range(rows):
        source, target = y[lo + r, left : left + columns], T[r]
        for n in range(columns):
            target[n] = 0.25 + slope * source[n] if source[n] >= 0 else 0.0


@njit(nogil=True, cache=True)
def fill_centred(y, centre, lo, out):
    """y less the feature's mean, 0 where missing (below 0)."""
    rows, columns = out.shape
    for r in range(rows):
        source, target = y[lo + r], out[r]
        for n in range(columns):
            target[n] = source[n] - centre[r] if source[n] >= 0 else 0.0


def in_tiles(n_rows: int, n_columns: int, least: int = 1) -> Iterator[tuple[int, int]]:
    """Ranges of rows that make tiles of ``TILE_CELLS``, each but the last a multiple of ``least``."""
    step = max(1, TILE_CELLS // max(1, n_columns * least)) * least
    for lo in range(0, n_rows, step):
        yield lo, min(n_rows, lo + step)


def known_of(view: View, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, N) where the cells are known."""
    if view.kind == GAUSSIAN:
        known = view.arrays.get("known")
        return np.ones((hi - lo, view.arrays["y"].shape[1]), bool) if known is None else known[lo:hi] > 0
    return view.arrays["y"][lo:hi] >= 0
