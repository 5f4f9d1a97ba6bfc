"""Order of rows and columns in which overlapping blocks are as unbroken as possible.

Items with the same memberships (a pattern) stay together, so patterns are ordered. Going through them from "no block"
to "no block", the parts of all blocks together are half the sum of Hamming distances between neighbours: a travelling
salesman's path, built by cheapest insertion and improved by moving and reversing pieces.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.counting import counted

_MOST_PATTERNS = 120
"""Patterns that the improvement moves; rarer ones are only inserted."""


def order_blocks(
    rows: np.ndarray,
    cols: np.ndarray,
    *,
    focus: int | None = None,
    row_means: np.ndarray | None = None,
    column_means: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Order of rows and of columns that shows each block in as few parts as possible.

    Parameters
    ----------
    rows, cols : (L, n), (L, m) bool memberships, overlapping or not; L may be 0
    focus : index of a block that must come first and unbroken
    row_means, column_means : (n,), (m,) numbers that order items of equal memberships, high first (NaN last); without
        them such items keep their order

    Returns
    -------
    row_order, col_order : (n,), (m,) int64, permutations: ``X[row_order][:, col_order]`` is the ordered picture.
        Items in no block come last.

    Notes
    -----
    Deterministic. Raises ``ValueError`` for shapes that do not fit and ``IndexError`` for a focus outside the list.
    """
    rows, cols = np.asarray(rows, dtype=bool), np.asarray(cols, dtype=bool)
    if rows.ndim != 2 or cols.ndim != 2 or len(rows) != len(cols):
        raise ValueError(f"rows must be (L, n) and cols (L, m), got {rows.shape} and {cols.shape}")
    if focus is not None and not 0 <= focus < len(rows):
        raise IndexError(f"focus {focus} of {counted(len(rows), 'block')}")
    return _order_side(rows, focus, row_means), _order_side(cols, focus, column_means)


def block_rectangles(
    rows: np.ndarray, cols: np.ndarray, row_order: np.ndarray, col_order: np.ndarray
) -> list[list[tuple[int, int, int, int]]]:
    """The parts of every block in the ordered picture, to be outlined.

    Parameters
    ----------
    rows, cols : (L, n), (L, m) bool
    row_order, col_order : permutations as from :func:`order_blocks` (or a choice of items)

    Returns
    -------
    Per block the maximal rectangles ``(row_start, row_stop, col_start, col_stop)``, in positions, stop excluded,
    most cells first (ties: top left first); empty for a block without cells.
    """
    rows, cols = np.asarray(rows, dtype=bool)[:, row_order], np.asarray(cols, dtype=bool)[:, col_order]
    out = []
    for in_rows, in_cols in zip(rows, cols, strict=True):
        col_runs = _runs(in_cols)
        parts = [(a, b, c, d) for a, b in _runs(in_rows) for c, d in col_runs]
        out.append(sorted(parts, key=lambda part: (-(part[1] - part[0]) * (part[3] - part[2]), part)))
    return out


def _runs(inside: np.ndarray) -> list[tuple[int, int]]:
    """(start, stop) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]


def _order_side(sets: np.ndarray, focus: int | None, means: np.ndarray | None) -> np.ndarray:
    """Order of one side: ``sets`` (L, q) bool, ``means`` (q,) or None; (q,) int64."""
    n_items = sets.shape[1]
    if means is None:
        within = np.zeros(n_items)
    else:
        within = np.asarray(means, dtype=float)
        if within.shape != (n_items,):
            raise ValueError(f"means must have one number per item, {n_items}, got shape {within.shape}")
        within = np.where(np.isnan(within), np.inf, -within)
    if len(sets) == 0 or n_items == 0:
        return np.lexsort((within,)) if n_items else np.empty(0, np.int64)
    patterns, pattern_of, counts = _patterns(sets)
    position = np.full(len(patterns), len(patterns))
    path = _order_patterns(patterns, counts, focus)
    position[path] = np.arange(len(path))
    return np.lexsort((within, position[pattern_of]))


def _patterns(sets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Different memberships (p, L) bool, which one each item has (q,), and how many items have it (p,)."""
    packed = np.ascontiguousarray(np.packbits(sets, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, pattern_of, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return sets[:, first].T, pattern_of.reshape(-1), counts


def _order_patterns(patterns: np.ndarray, counts: np.ndarray, focus: int | None) -> np.ndarray:
    """Order of the patterns that are in a block: indices. Blocks without a common item go one after the other."""
    label = _components(patterns)
    groups = [np.flatnonzero(label == value) for value in np.unique(label[label >= 0])]
    if focus is not None:
        groups.sort(key=lambda group: not patterns[group, focus].any())
    pieces = []
    for group in groups:
        mine = patterns[group]
        first = focus if focus is not None and mine[:, focus].any() else None
        pieces.append(group[_best_path(mine, counts[group], first)])
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


def _components(patterns: np.ndarray) -> np.ndarray:
    """(p,) lowest block that a pattern is joined to by chains of overlap; -1 for the empty pattern."""
    n_blocks = patterns.shape[1]
    as_float = patterns.astype(np.float32)
    joined = as_float.T @ as_float > 0
    root = np.arange(n_blocks)
    while True:
        lowest = np.where(joined, root[None, :], n_blocks).min(axis=1, initial=n_blocks)
        lowest = np.minimum(root, lowest)
        if np.array_equal(lowest, root):
            break
        root = lowest
    return np.where(patterns.any(axis=1), root[patterns.argmax(axis=1)], -1)


def _best_path(patterns: np.ndarray, counts: np.ndarray, focus: int | None) -> np.ndarray:
    """Order of the patterns (p, L) of one component: a permutation of their indices, the best of a few starts."""
    weights = np.ones(patterns.shape[1])
    start = np.zeros(patterns.shape[1])
    if focus is not None:
        weights[focus] = 1000.0 + 10.0 * len(weights)
        start[focus] = 1.0
    by_count = np.lexsort((np.arange(len(patterns)), -counts))
    kept, rare = by_count[:_MOST_PATTERNS], by_count[_MOST_PATTERNS:]
    nodes = np.vstack([start, patterns[kept], np.zeros(patterns.shape[1])])
    distance = _hamming(nodes, nodes, weights)
    n_kept = len(kept)
    starts = [
        np.arange(n_kept),
        np.lexsort((np.arange(n_kept), patterns[kept].sum(axis=1))),
        np.lexsort(patterns[kept].T[::-1])[::-1],
    ]
    tries = max(1, min(len(starts), 4000 // max(1, n_kept**2)))
    best, best_score = None, None
    for order in starts[:tries]:
        path = _improve(_insert(order + 1, distance), distance)
        score = _score(patterns[kept[path - 1]], counts[kept[path - 1]])
        if best_score is None or score < best_score:
            best, best_score = path, score
    assert best is not None
    out = kept[best - 1] if len(rare) == 0 else _insert_rare(best, kept, rare, patterns, nodes, weights)
    if focus is None and _descends(patterns[out], counts[out]):
        out = out[::-1]
    return out


def _hamming(a: np.ndarray, b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(p, r) sum of the weights of the blocks in which a pattern of a and one of b differ."""
    a, b = a.astype(float), b.astype(float)
    return (a @ weights)[:, None] + (b @ weights)[None, :] - 2.0 * (a * weights) @ b.T


def _insert(order: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Path through the nodes of ``order``, each put where it costs least; node 0 and the last one are the ends."""
    path = np.array([0, len(distance) - 1])
    for node in order:
        to_path = distance[node, path]
        cost = to_path[:-1] + to_path[1:] - distance[path[:-1], path[1:]]
        path = np.insert(path, int(np.argmin(cost)) + 1, node)
    return path[1:-1]


def _improve(path: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Move or reverse pieces of the path while that shortens it (at most a number of times set by its length)."""
    sequence = np.concatenate([[0], path, [len(distance) - 1]])
    for _ in range(max(3, min(200, 800_000 // len(sequence) ** 2))):
        d = distance[np.ix_(sequence, sequence)]
        change, build = _best_reversal(d)
        for length in (1, 2, 3):
            other, other_build = _best_move(d, length)
            if other < change:
                change, build = other, other_build
        if change > -1e-9:
            break
        sequence = sequence[build]
    return sequence[1:-1]


def _best_reversal(d: np.ndarray) -> tuple[float, np.ndarray]:
    """Least change of length by reversing positions i..j, and the new order of positions."""
    n = len(d)
    step = np.diagonal(d, 1)
    change = d[:-2, 1:-1] + d[1:-1, 2:] - step[:-1, None] - step[None, 1:]
    change = np.where(np.tri(n - 2, k=-1, dtype=bool), 0.0, change)
    i, j = np.unravel_index(int(np.argmin(change)), change.shape)
    order = np.arange(n)
    order[i + 1 : j + 2] = order[i + 1 : j + 2][::-1]
    return float(change[i, j]), order


def _best_move(d: np.ndarray, length: int) -> tuple[float, np.ndarray]:
    """Least change of length by moving ``length`` neighbours elsewhere, turned or not, and the new order."""
    n = len(d)
    n_pieces = n - 1 - length
    if n_pieces < 1:
        return 0.0, np.arange(n)
    step = np.diagonal(d, 1)
    first = np.arange(1, n_pieces + 1)
    last = first + length - 1
    freed = step[first - 1] + step[last] - d[first - 1, last + 1]
    straight = d[first, :-1] + d[last, 1:]
    turned = d[last, :-1] + d[first, 1:]
    change = np.minimum(straight, turned) - step[None, :] - freed[:, None]
    gap = np.arange(n - 1)
    change[(gap >= first[:, None] - 1) & (gap <= last[:, None])] = 0.0
    i, k = np.unravel_index(int(np.argmin(change)), change.shape)
    piece = np.arange(first[i], last[i] + 1)
    if turned[i, k] < straight[i, k]:
        piece = piece[::-1]
    head, tail = np.arange(k + 1), np.arange(k + 1, n)
    return float(change[i, k]), np.concatenate([np.setdiff1d(head, piece), piece, np.setdiff1d(tail, piece)])


def _score(ordered: np.ndarray, counts: np.ndarray) -> tuple[int, float, int]:
    """Broken blocks, items outside the largest part (in shares of their block), parts; low is good."""
    broken, outside, n_parts = 0, 0.0, 0
    for inside in ordered.T:
        sizes = [int(counts[a:b].sum()) for a, b in _runs(inside)]
        if sizes:
            broken += len(sizes) > 1
            outside += 1.0 - max(sizes) / sum(sizes)
            n_parts += len(sizes)
    return broken, round(outside, 12), n_parts


def _insert_rare(
    path: np.ndarray,
    kept: np.ndarray,
    rare: np.ndarray,
    patterns: np.ndarray,
    nodes: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Put the rare patterns into the cheapest gaps of the path, all at once."""
    ends = np.concatenate([nodes[:1], nodes[path], nodes[-1:]])
    to_path = _hamming(patterns[rare], ends, weights)
    steps = np.abs(np.diff(ends, axis=0)) @ weights
    gap = np.argmin(to_path[:, :-1] + to_path[:, 1:] - steps, axis=1)
    left = to_path[np.arange(len(rare)), gap]
    position = np.concatenate([np.arange(1, len(path) + 1) - 0.5, gap])
    order = np.lexsort((np.concatenate([np.zeros(len(path)), left]), position))
    return np.concatenate([kept[path - 1], rare])[order]


def _descends(ordered: np.ndarray, counts: np.ndarray) -> bool:
    """Whether blocks of higher number come first, by the covariance of number and mean position."""
    stop = np.cumsum(counts)
    middle = stop - counts / 2.0
    size = ordered.T @ counts
    present = size > 0
    position = (ordered.T @ (counts * middle))[present] / size[present]
    number = np.arange(len(present))[present]
    return bool(np.sum((number - number.mean()) * position) < 0)
