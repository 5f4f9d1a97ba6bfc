"""The tasks of a sweep over a large matrix with profiles over the columns: sums shared among threads, decisions one after the other.

A column, and a row of the residual, is added up in the order of small data whoever does it, so draws are the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import in_python
from plaidwork.plugins.plaid.fields import Flags, Floats
from plaidwork.plugins.plaid.kernels import profile_evidence, profile_moves, profile_records, profile_scan
from plaidwork.plugins.plaid.kernels.profile_records import Plane
from plaidwork.plugins.plaid.kernels.records import Law
from plaidwork.plugins.plaid.large import BESIDE, ONE
from plaidwork.plugins.plaid.sharing import shared

TOGGLE = 3.0
"""Nanoseconds of a cell of a row that is tried."""
AHEAD, CALM = 400_000, 32
"""Nanoseconds of work on rows that are tried at once, and rows that stay on their sides before that: what was tried is lost once a row changes."""

fill_plane = shared(profile_records.fill_plane, lambda x, *rest: 4.0 * BESIDE * x.shape[0])
"""A plane, a column a unit."""

statistics = in_python(
    profile_evidence.profile_statistics,
    sum_blocks_columns=shared(
        profile_evidence.sum_blocks_columns,
        lambda plane, rows, columns, sums: ONE * rows.sum() * columns.mean(),
    ),
)
levels = in_python(profile_evidence.profile_levels, profile_statistics=statistics)
marginal = in_python(profile_evidence.log_marginal_profiles, profile_statistics=statistics)
residual = in_python(
    profile_evidence.profile_residual,
    fill_residual=shared(
        profile_evidence.fill_residual, lambda plane, *rest: 4.0 * BESIDE * plane.y.shape[1]
    ),
)
sums_over_rows = in_python(
    profile_scan.sums_over_rows,
    add_to_columns=shared(
        profile_scan.add_to_columns, lambda plane, residual, chosen, sums: 2.0 * BESIDE * chosen.size
    ),
)
try_rows = shared(
    profile_scan.try_rows,
    lambda plane, residual, weights, pulls, picked, z1, ahead: TOGGLE * max(picked.size, 1),
)


def row_pass(
    rng: np.random.Generator, plane: Plane, values: Floats, z1: Flags, z2: Flags, law: Law, target: Flags
) -> float:
    """``profile_scan.row_pass``: where rows stay on their sides, what the next ones would add is found before it is their turn."""
    picked, size = np.flatnonzero(z2), z1.size
    weights, pulls = sums_over_rows(plane, values, z1)
    sums = plane, values, weights, pulls, picked, z1
    count = max(2 * CALM, int(AHEAD / (TOGGLE * max(picked.size, 1))))
    ahead, known = np.empty((size, 3)), 0
    so_far = 0, profile_scan.toggled(*sums[:5], 0, 0.0), int(z1.sum()), 0.0
    while True:
        at, *rest = so_far
        so_far = profile_scan.draw_rows(rng, *sums, law, target, ahead, at, known, CALM, *rest)
        at = so_far[0]
        if at == size:
            return float(so_far[3])
        known = min(size, at + count)
        try_rows(*sums, ahead, at, known)


column_pass = in_python(profile_scan.column_pass, sums_over_rows=sums_over_rows)
pass_new = in_python(profile_scan.pass_new, row_pass=row_pass, column_pass=column_pass)
run_profile_tasks = in_python(
    profile_moves.run_profile_tasks,
    profile_residual=residual,
    profile_levels=levels,
    log_marginal_profiles=marginal,
    scan_profile_block=in_python(
        profile_scan.scan_profile_block,
        row_pass=row_pass,
        column_pass=column_pass,
        sums_over_rows=sums_over_rows,
    ),
    profile_birth_death=in_python(
        profile_moves.profile_birth_death,
        profile_levels=levels,
        profile_residual=residual,
        log_marginal_profiles=marginal,
        launch_profile=in_python(profile_moves.launch_profile, column_pass=column_pass, pass_new=pass_new),
        pass_new=pass_new,
    ),
    profile_exchange=in_python(profile_moves.profile_exchange, log_marginal_profiles=marginal),
)
