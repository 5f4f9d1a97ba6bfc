"""One block becomes two, or two become one: what lets 0/1 data leave the bounding rectangle of two blocks."""

from __future__ import annotations

import math

from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.counts_moves import (
    appended,
    draw_block,
    dropped,
    launch,
    log_weight,
    score_block,
)
from plaidwork.plugins.plaid.kernels.counts_scan import add_level


@njit(cache=True, nogil=True)
def split_block(rng, entries, rates, base, rows, columns, theta, law):
    """Try to put two blocks in the place of one: both launched from its rows and columns, the second given the first.

    ``log A = log w(x) + log w(y | x) - log w(k) - log(K + 1) + log q(k | x u y) - log q(x | k) - log q(y | k, x)``.
    Returns as :func:`~plaidwork.plugins.plaid.kernels.counts_moves.birth_death`.
    """
    n_blocks = theta.size
    k = rng.integers(0, n_blocks)
    rest = rates.copy()
    add_level(entries, rest, base, rows[k], columns[k], -theta[k])
    z1, z2 = launch(rng, entries, rest, base, rows[k], columns[k], law)
    x1, x2, x, log_q = draw_block(rng, entries, rest, z1, z2, law)
    more = rest.copy()
    add_level(entries, more, base, x1, x2, x)
    z1, z2 = launch(rng, entries, more, base, rows[k], columns[k], law)
    y1, y2, y, log_other = draw_block(rng, entries, more, z1, z2, law)
    log_back = score_block(rng, entries, rest, x1 | y1, x2 | y2, rows[k], columns[k], theta[k], law)
    log_ratio = log_weight(entries, rest, x1, x2, x, law) + log_weight(entries, more, y1, y2, y, law)
    log_ratio += log_back - log_weight(entries, rest, rows[k], columns[k], theta[k], law)
    log_ratio -= log_q + log_other + math.log(n_blocks + 1.0)
    if math.log(rng.random()) >= log_ratio:
        return rates, rows, columns, theta, False
    add_level(entries, more, base, y1, y2, y)
    rows, columns, theta = rows.copy(), columns.copy(), theta.copy()
    rows[k], columns[k], theta[k] = x1, x2, x
    return more, append_row(rows, y1), append_row(columns, y2), appended(theta, y), True


@njit(cache=True, nogil=True)
def merge_blocks(rng, entries, rates, base, rows, columns, theta, law):
    """Try to put one block in the place of an ordered pair: the reverse of :func:`split_block`, scored alike."""
    n_blocks = theta.size
    first, second = rng.integers(0, n_blocks), rng.integers(0, n_blocks - 1)
    second += second >= first
    more = rates.copy()
    add_level(entries, more, base, rows[second], columns[second], -theta[second])
    rest = more.copy()
    add_level(entries, rest, base, rows[first], columns[first], -theta[first])
    z1, z2 = rows[first] | rows[second], columns[first] | columns[second]
    k1, k2, k, log_q = draw_block(rng, entries, rest, z1, z2, law)
    z1, z2 = launch(rng, entries, rest, base, k1, k2, law)
    log_back = score_block(rng, entries, rest, z1, z2, rows[first], columns[first], theta[first], law)
    z1, z2 = launch(rng, entries, more, base, k1, k2, law)
    log_back += score_block(rng, entries, more, z1, z2, rows[second], columns[second], theta[second], law)
    log_ratio = log_weight(entries, rest, k1, k2, k, law) - log_q + log_back + math.log(float(n_blocks))
    log_ratio -= log_weight(entries, rest, rows[first], columns[first], theta[first], law)
    log_ratio -= log_weight(entries, more, rows[second], columns[second], theta[second], law)
    if not math.log(rng.random()) < log_ratio:
        return rates, rows, columns, theta, False
    add_level(entries, rest, base, k1, k2, k)
    rows, columns, theta = rows.copy(), columns.copy(), theta.copy()
    rows[first], columns[first], theta[first] = k1, k2, k
    return rest, drop_row(rows, second), drop_row(columns, second), dropped(theta, second), True


@njit(cache=True, nogil=True)
def one_to_two(rng, entries, rates, base, rows, columns, theta, law):
    """A split or a merge, by a coin; nothing where there are too few blocks, or too many."""
    split = rng.random() < 0.5
    if split and 0 < theta.size < law.max_blocks:
        return split_block(rng, entries, rates, base, rows, columns, theta, law)
    if not split and theta.size > 1:
        return merge_blocks(rng, entries, rates, base, rows, columns, theta, law)
    return rates, rows, columns, theta, False
