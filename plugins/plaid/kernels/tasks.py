"""A stretch of a sweep in one call, so that small matrices do not pay for entering a kernel ten times a sweep."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import birth_death
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.joint_draw import draw_levels
from plaidwork.plugins.plaid.kernels.joint_scan import joint_scan
from plaidwork.plugins.plaid.kernels.pairs import exchange, recut
from plaidwork.plugins.plaid.kernels.scan import scan_blocks
from plaidwork.plugins.plaid.kernels.seeded import seeded_birth_death
from plaidwork.plugins.plaid.kernels.split_merge import split_merge


@njit(cache=True, nogil=True)
def run_tasks(
    rng,
    cells,
    rows,
    columns,
    theta,
    phi,
    counts,
    sums,
    order,
    codes,
    law,
    prior_share,
    count,
    draw,
    together,
    recuts,
):
    """Membership scans of the blocks of ``order``, then the moves of ``codes``, then the joint draw if ``draw``.

    Codes: 0 birth or death, 1 seeded birth or death, 2 split or merge, 3 exchange between two blocks, 4 ``recuts`` pairs of blocks cut another way.

    The scans write to ``rows, columns, theta``; after them, if ``count``, rows and columns are drawn into ``together``
    blocks at once, and the statistics brought up to date.

    Returns
    -------
    rows, columns, theta, phi, counts, sums : afterwards; theta and phi are new only with ``draw``
    squares : sum of squared residuals at the new levels; 0 without ``draw``
    accepted : (5,) int64, how often the move of each code was accepted
    """
    accepted = np.zeros(5, np.int64)
    squares = 0.0
    scan_blocks(rng, cells, rows, columns, theta, phi, order, law)
    if count:
        joint_scan(rng, cells, rows, columns, theta, phi, together, law)
        counts, sums = statistics(cells, rows, columns)
    for code in codes:
        if code == 0:
            rows, columns, counts, sums, done = birth_death(
                rng, cells, rows, columns, counts, sums, law, prior_share
            )
        elif code == 1:
            rows, columns, counts, sums, done = seeded_birth_death(
                rng, cells, rows, columns, counts, sums, law
            )
        elif code == 2:
            rows, columns, counts, sums, done = split_merge(rng, cells, rows, columns, counts, sums, law)
        elif code == 3:
            rows, columns, counts, sums, done = exchange(rng, cells, rows, columns, counts, sums, law)
        else:
            rows, columns, counts, sums, done = recut(rng, cells, rows, columns, counts, sums, law, recuts)
        accepted[code] += done
    if draw:
        phi, theta, squares = draw_levels(rng, cells, counts, sums, law)
    return rows, columns, theta, phi, counts, sums, squares, accepted
