"""The views as arrays of the state, read a few features at a time so that no second copy of the data is ever made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Block
from plaidwork.plugins.group_factor.intercepts import one_by_group
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.state import Cells, Settings
from plaidwork.plugins.group_factor.views import best_constant, usable_columns

READ_CELLS = 131_072
"""Cells read at a time: 1 MB in float64."""


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


def _parts(block: Block, columns: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Values and known, (some features, N), and where these features lie among ``columns``."""
    step = max(1, READ_CELLS // max(1, block.shape[0]))
    for lo in range(0, len(columns), step):
        here = slice(lo, lo + step)
        known = block.observed[:, columns[here]].T
        yield here, block.values[:, columns[here]].T * known, known


def read_view(block: Block, word: str, params: Settings, group: np.ndarray, n_groups: int) -> ReadView:
    """One view; Gaussian features are centred in every sample group, unless they are taken as they are."""
    columns = usable_columns(block, word, group)
    d, n = len(columns), block.shape[0]
    member = (group[:, None] == np.arange(n_groups)).astype(float)
    count, mean = np.zeros((n_groups, d)), np.zeros((n_groups, d))
    for here, values, known in _parts(block, columns):
        count[:, here] = (known @ member).T
        mean[:, here] = (values @ member).T / np.maximum(count[:, here], 1)
    total, by_group = count.sum(axis=0), one_by_group(params, n_groups)
    centre = (mean * count).sum(axis=0) / np.maximum(total, 1)
    level = bool((total == n).all())
    float_type = np.dtype(params["dtype"])
    if word == "gaussian":
        mean *= params["centre_views"]
        square = np.zeros(d)
        for here, values, known in _parts(block, columns):
            square[here] = ((values - mean[:, here].T @ member.T) ** 2 * known).sum(axis=1)
        unit = 1.0
        if params["scale_views"]:
            unit = float(np.sqrt(square.sum() / max(1.0, total.sum()))) or 1.0
        arrays: Cells = {"y": np.empty((d, n), float_type)}
        if not level:
            arrays["known"] = np.empty((d, n), np.uint8)
        for here, values, known in _parts(block, columns):
            arrays["y"][here] = (values - mean[:, here].T @ member.T) * known / unit
            if not level:
                arrays["known"][here] = known
        variance = np.maximum(square / np.maximum(total, 1) / unit**2, 1e-300)
        nothing = np.zeros((n_groups, d) if by_group else d)
        return ReadView(GAUSSIAN, level, arrays, count, variance, nothing, nothing)
    kind = POISSON if word == "poisson" else BERNOULLI if params["bernoulli_bound"] == "jaakkola" else BOHNING
    arrays = {"y": np.empty((d, n), float_type if kind == POISSON else np.int8)}
    arrays["T" if kind == BERNOULLI else "B"] = np.zeros((d, n), float_type)
    for here, values, known in _parts(block, columns):
        arrays["y"][here] = np.where(known, values, -1)
    if by_group:
        centre = np.where(count > 0, mean, centre)
    null = best_constant(centre, count if by_group else total, word)
    return ReadView(kind, level and kind == BOHNING, arrays, count, np.ones(d), null, centre)
