"""The tasks of a sweep over a large matrix: sums over rows, or over columns, shared among threads; all decisions one after the other.

The sum of a row, or a column, is added up in the order of small data whoever does it, so draws are the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import share, threads
from plaidwork.plugins.plaid.fields import Flags, Floats
from plaidwork.plugins.plaid.in_python import in_python
from plaidwork.plugins.plaid.kernels import (
    birth_death,
    blocks,
    joint_scan,
    pairs,
    scan,
    seeded,
    split_merge,
    tasks,
)
from plaidwork.plugins.plaid.kernels.joint_draw import count_covered
from plaidwork.plugins.plaid.kernels.records import Cells

LARGE = 4_000_000
"""Cells from which a matrix is large: a sum over it takes some milliseconds."""
PART = 60_000
"""Nanoseconds of work that are worth waking a thread, which takes some 20,000."""
ONE, BESIDE = 2.0, 0.3
"""Nanoseconds of a cell that is picked out of a row; of one in a stretch of a row."""


def least(units: int, nanoseconds: float) -> int:
    """Units of a part, where all ``units`` take so long."""
    return max(1, int(units * PART / max(nanoseconds, 1.0)))


def is_shared(cells: Cells) -> bool:
    """Whether the tasks of a sweep are those of this module: to the same draws, so that it may depend on the threads."""
    return cells.x.size >= LARGE and threads() > 1


def picked_sums(cells: Cells, picked: Flags) -> Floats:
    """As the kernel."""
    n_rows = cells.x.shape[0]
    found, (places, ends) = np.empty((len(picked), n_rows)), scan.places_of(picked)
    share(
        lambda lo, hi: scan.sum_picked(cells, places, ends, found, lo, hi),
        n_rows,
        least(n_rows, ONE * n_rows * len(places)),
    )
    return found


def row_sums(
    cells: Cells, rows: Flags, columns: Flags, theta: Floats, phi: float, picked: Flags, skip: int
) -> tuple[Floats, Floats]:
    """As the kernel."""
    n_rows = cells.x.shape[0]
    places, ends = scan.places_of(picked.reshape(1, -1))
    sums, numbers = np.empty((1, n_rows)), np.empty(n_rows)

    def work(lo: int, hi: int) -> None:
        scan.sum_picked(cells, places, ends, sums, lo, hi)
        scan.take_blocks_off(cells, rows, columns, theta, phi, picked, skip, sums[0], numbers, lo, hi)

    share(work, n_rows, least(n_rows, ONE * n_rows * len(places)))
    return sums[0], numbers


def residual_sums(
    cells: Cells,
    rows: Flags,
    columns: Flags,
    theta: Floats,
    phi: float,
    picked: Flags,
    skip: int,
    sums: Floats,
) -> tuple[Floats, Floats]:
    """As the kernel; quick where no cell is missing."""
    n_rows = cells.x.shape[0]
    numbers = np.empty(n_rows)
    share(
        lambda lo, hi: scan.take_blocks_off(
            cells, rows, columns, theta, phi, picked, skip, sums, numbers, lo, hi
        ),
        n_rows,
        least(n_rows, 0.0 if cells.full else ONE * n_rows * int(picked.sum())),
    )
    return sums, numbers


def column_sums(
    cells: Cells, rows: Flags, columns: Flags, theta: Floats, phi: float, picked: Flags, skip: int
) -> tuple[Floats, Floats]:
    """As the kernel."""
    n_columns = cells.x.shape[1]
    sums, numbers = np.zeros(n_columns), np.zeros(n_columns)
    share(
        lambda lo, hi: scan.add_rows(cells, rows, columns, theta, phi, picked, skip, sums, numbers, lo, hi),
        n_columns,
        least(n_columns, BESIDE * n_columns * int(picked.sum())),
    )
    return sums, numbers


def block_sum(cells: Cells, z1: Flags, z2: Flags) -> tuple[float, float]:
    """As the kernel."""
    along, picked = np.flatnonzero(z1), np.flatnonzero(z2)
    totals, counts = np.empty(len(along)), np.empty(len(along))
    share(
        lambda lo, hi: blocks.sum_block_rows(cells, along, picked, totals, counts, lo, hi),
        len(along),
        least(len(along), ONE * len(along) * len(picked)),
    )
    found: tuple[float, float] = blocks.centred_sum(cells, totals, counts)
    return found


def covered_cells(rows: Flags, columns: Flags) -> int:
    """Number of cells in at least one block."""
    found = np.empty(rows.shape[1], np.int64)
    share(
        lambda lo, hi: count_covered(rows, columns, found, lo, hi),
        len(found),
        least(len(found), 0.1 * BESIDE * int(rows.sum()) * columns.shape[1]),  # cells are bits here
    )
    return int(found.sum())


scan_new = in_python(scan.scan_new, row_sums=row_sums, column_sums=column_sums)
scan_block = in_python(scan.scan_block, residual_sums=residual_sums, column_sums=column_sums)
scan_blocks = in_python(scan.scan_blocks, picked_sums=picked_sums, scan_block=scan_block)
scan_items_together = in_python(joint_scan.scan_items_together, row_sums=row_sums, column_sums=column_sums)
append_statistics = in_python(blocks.append_statistics, block_sum=block_sum)
statistics = in_python(blocks.statistics, append_statistics=append_statistics)
launch = in_python(birth_death.launch, column_sums=column_sums, scan_new=scan_new)
run_tasks = in_python(
    tasks.run_tasks,
    scan_blocks=scan_blocks,
    joint_scan=in_python(joint_scan.joint_scan, scan_items_together=scan_items_together),
    statistics=statistics,
    birth_death=in_python(
        birth_death.birth_death,
        propose_block=in_python(birth_death.propose_block, launch=launch, scan_new=scan_new),
        launch=launch,
        scan_new=scan_new,
        append_statistics=append_statistics,
    ),
    seeded_birth_death=in_python(
        seeded.seeded_birth_death,
        pinned_pass=in_python(seeded.pinned_pass, scan_new=scan_new),
        append_statistics=append_statistics,
    ),
    split_merge=in_python(
        split_merge.split_merge,
        add_block=in_python(split_merge.add_block, append_statistics=append_statistics),
    ),
    exchange=in_python(pairs.exchange, count_again=in_python(pairs.count_again, block_sum=block_sum)),
)
