"""Mean of a block's rows, column by column: where the block stands out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.views.blocks import BlockData

_MOST_POINTS = 260
"""Columns drawn one by one; of more, neighbours are pooled."""
_MOST_CELLS = 600_000
"""Cells that quartiles are taken of; of more, every k-th row."""


@dataclass(frozen=True)
class Profile:
    """Per column shown: mean and quartiles of the block's rows, whether it belongs to the block, its names."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    inside: np.ndarray
    names: tuple[str, ...]
    groups: tuple[tuple[int, int, str], ...]


def profile_of(data: BlockData, rows: np.ndarray, columns: np.ndarray, strip: str) -> Profile | None:
    """Columns grouped by the classes of the strip (or in and out of the block), highest mean first in a group."""
    if not rows.any():
        return None
    part = data.values[rows]
    mean = column_means(part)
    some = part[:: max(1, part.size // _MOST_CELLS)]
    low, high = _quartiles(some)
    classes = data.strips[strip].classes if strip in data.strips else np.full(len(mean), "", dtype=object)
    names = list(dict.fromkeys(classes.tolist()))
    code = np.array([names.index(name) for name in classes])
    order = np.lexsort((-np.nan_to_num(mean), ~columns, code))
    bounds = np.flatnonzero(np.diff(code[order])) + 1
    starts = [0, *bounds.tolist()]
    groups = [(a, b, names[code[order[a]]]) for a, b in zip(starts, [*starts[1:], len(order)])]
    if strip not in data.strips:
        split = int(columns.sum())
        groups = [(0, split, "in the block"), (split, len(order), "not in it")]
        groups = [group for group in groups if group[1] > group[0]]
    item_names = tuple(data.column_names[i] for i in order)
    return _pooled(Profile(mean[order], low[order], high[order], columns[order], item_names, tuple(groups)))


def column_means(part: np.ndarray) -> np.ndarray:
    """Mean of each column over its known cells, NaN without any."""
    known = np.isfinite(part)
    count = known.sum(axis=0)
    total = np.where(known, part, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(part.shape[1], np.nan), where=count > 0)


def _quartiles(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper quartile of each column over its known cells; missing cells are sorted to the end."""
    ordered = np.sort(part, axis=0)
    count = np.isfinite(part).sum(axis=0)
    columns = np.arange(part.shape[1])
    found = []
    for share in (0.25, 0.75):
        at = np.maximum(count - 1, 0) * share
        low = np.floor(at).astype(np.intp)
        high = np.minimum(low + 1, np.maximum(count - 1, 0))
        found.append(ordered[low, columns] * (1 - (at - low)) + ordered[high, columns] * (at - low))
    return found[0], found[1]


def _pooled(profile: Profile) -> Profile:
    count = len(profile.mean)
    if count <= _MOST_POINTS:
        return profile
    key = (
        np.concatenate([np.full(b - a, k) for k, (a, b, _) in enumerate(profile.groups)]) * 2
        + ~profile.inside
    )
    width = int(np.ceil(count / _MOST_POINTS))
    starts = [0]
    for i in range(1, count):
        if key[i] != key[i - 1] or i - starts[-1] >= width:
            starts.append(i)
    ends = [*starts[1:], count]

    def mean(values: np.ndarray) -> np.ndarray:
        return np.array([values[a:b].mean() for a, b in zip(starts, ends)])

    names = tuple(
        profile.names[a] if b - a == 1 else f"{profile.names[a]} to {profile.names[b - 1]}"
        for a, b in zip(starts, ends)
    )
    places = np.searchsorted(starts, [b for _, b, _ in profile.groups])
    begin = [0, *places[:-1].tolist()]
    groups = tuple((a, int(b), g[2]) for a, b, g in zip(begin, places, profile.groups))
    inside = np.array([profile.inside[a] for a in starts])
    return Profile(mean(profile.mean), mean(profile.low), mean(profile.high), inside, names, groups)
