"""A stretch of a sweep over counts or links in one call."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.counts_draw import rates_of
from plaidwork.plugins.plaid.kernels.counts_levels import level_birth_death
from plaidwork.plugins.plaid.kernels.counts_lines import scan_with_levels
from plaidwork.plugins.plaid.kernels.counts_moves import birth_death
from plaidwork.plugins.plaid.kernels.counts_pairs import one_to_two
from plaidwork.plugins.plaid.kernels.counts_scan import scan_block


@njit(cache=True, nogil=True)
def run_count_tasks(rng, entries, rows, columns, theta, background, degrees, order, codes, law):
    """Scans of the blocks of ``order``, then the moves of ``codes``: 0 birth or death, 1 one to two or two to one,
    2 birth or death with the levels of its rows or columns, 3 pass over a random block in which rows and columns change
    their levels with their membership, 4 birth or death from a random row or column, half of them with levels.

    ``rows`` and ``columns`` are written to; ``degrees`` says whether rows and columns have levels.

    Returns
    -------
    rows, columns, theta, row levels, column levels : afterwards
    accepted : (5,) int64, how often the move of each code was accepted
    """
    accepted = np.zeros(5, np.int64)
    level, u, v, row_shape, column_shape = background
    rates, base = rates_of(entries, rows, columns, theta, level, u, v)
    for k in order:
        scan_block(rng, entries, rates, base, rows, columns, theta, k)
    for code in codes:
        seeded, with_levels = code == 4, code == 2
        if seeded and degrees[0] | degrees[1]:
            with_levels = rng.random() < 0.5
        if code == 0 or (seeded and not with_levels):
            rates, rows, columns, theta, done = birth_death(
                rng, entries, rates, base, rows, columns, theta, law, seeded
            )
        elif code == 1:
            rates, rows, columns, theta, done = one_to_two(
                rng, entries, rates, base, rows, columns, theta, law
            )
        elif with_levels:
            rates, base, rows, columns, theta, u, v, done = level_birth_death(
                rng,
                entries,
                rates,
                base,
                rows,
                columns,
                theta,
                (level, u, v, row_shape, column_shape),
                degrees,
                law,
                seeded,
            )
        else:
            rates, base, theta, u, v, done = scan_with_levels(
                rng,
                entries,
                rates,
                base,
                rows,
                columns,
                theta,
                (level, u, v, row_shape, column_shape),
                degrees,
                law,
            )
        accepted[code] += done
    return rows, columns, theta, u, v, accepted
