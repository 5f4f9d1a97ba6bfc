"""The tasks of a sweep over a large matrix: sums over rows, or over columns, shared among threads; all decisions one after the other.

The sum of a row, or a column, is added up in the order of small data whoever does it, so draws are the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import in_python, threads
from plaidwork.plugins.plaid.fields import Flags
from plaidwork.plugins.plaid.kernels import (
    birth_death,
    blocks,
    joint_draw,
    joint_scan,
    pairs,
    scan,
    seeded,
    split_merge,
    tasks,
)
from plaidwork.plugins.plaid.kernels.records import Cells
from plaidwork.plugins.plaid.sharing import shared

LARGE = 6_000_000
"""Cells from which a matrix is large: below, waking threads for sums takes as much as they spare."""
ONE, BESIDE = 2.0, 0.3
"""Nanoseconds of a cell that is picked out of a row; of one in a stretch of a row."""


def is_shared(cells: Cells) -> bool:
    """Whether the tasks of a sweep are those of this module: to the same draws, so that it may depend on the threads."""
    return cells.x.size >= LARGE and threads() > 1


count_covered = shared(
    joint_draw.count_covered,
    lambda rows, columns, found: 0.1 * BESIDE * rows.sum() * columns.shape[1] / len(found),  # bytes
)


def covered_cells(rows: Flags, columns: Flags) -> int:
    """Number of cells in at least one block."""
    found = np.empty(rows.shape[1], np.int64)
    count_covered(rows, columns, found, 0, len(found))
    return int(found.sum())


picked_sums = in_python(
    scan.picked_sums,
    sum_picked=shared(scan.sum_picked, lambda cells, places, *rest: ONE * len(places)),
)
row_sums = in_python(
    scan.row_sums, sum_rows=shared(scan.sum_rows, lambda cells, places, *rest: ONE * len(places))
)
residual_sums = in_python(
    scan.residual_sums,
    take_blocks_off=shared(
        scan.take_blocks_off,
        lambda cells, rows, columns, theta, phi, picked, *rest: 0.0 if cells.full else ONE * picked.sum(),
    ),
)
column_sums = in_python(
    scan.column_sums,
    add_rows=shared(
        scan.add_rows, lambda cells, rows, columns, theta, phi, picked, *rest: BESIDE * picked.sum()
    ),
)
block_sum = in_python(
    blocks.block_sum,
    sum_block_rows=shared(blocks.sum_block_rows, lambda cells, along, picked, *rest: ONE * len(picked)),
)
scan_new = in_python(scan.scan_new, row_sums=row_sums, column_sums=column_sums)
scan_block = in_python(scan.scan_block, residual_sums=residual_sums, column_sums=column_sums)
scan_blocks = in_python(scan.scan_blocks, picked_sums=picked_sums, scan_block=scan_block)
scan_items_together = in_python(joint_scan.scan_items_together, row_sums=row_sums, column_sums=column_sums)
append_statistics = in_python(blocks.append_statistics, block_sum=block_sum)
try_pair = in_python(pairs.try_pair, count_again=in_python(pairs.count_again, block_sum=block_sum))
launch = in_python(birth_death.launch, column_sums=column_sums, scan_new=scan_new)
run_tasks = in_python(
    tasks.run_tasks,
    scan_blocks=scan_blocks,
    joint_scan=in_python(joint_scan.joint_scan, scan_items_together=scan_items_together),
    statistics=in_python(
        blocks.statistics,
        sum_blocks=shared(
            blocks.sum_blocks,
            lambda cells, rows, columns, *rest: ONE * rows.sum() * columns.sum() / max(len(rows), 1) ** 2,
        ),
    ),
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
    exchange=in_python(pairs.exchange, try_pair=try_pair),
    recut=in_python(pairs.recut, try_pair=try_pair),
)
