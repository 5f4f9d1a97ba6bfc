"""The tasks of a sweep over many entries: what entries, rows and columns say shared among threads; all decisions one after the other.

Sums over entries are added up in the order of small data whoever makes their terms, so draws are the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import in_python, threads
from plaidwork.plugins.plaid.kernels import (
    counts_draw,
    counts_levels,
    counts_lines,
    counts_moves,
    counts_pairs,
    counts_scan,
    counts_tasks,
)
from plaidwork.plugins.plaid.kernels.counts_records import Entries, Side
from plaidwork.plugins.plaid.sharing import shared

LARGE = 200_000
"""Entries from which there are many: passes over them take milliseconds."""
TERM, FIT = 20.0, 250.0
"""Nanoseconds of a logarithm of an entry with what it is taken of; of an entry of a line whose level is fitted."""


def is_shared(entries: Entries) -> bool:
    """Whether the tasks of a sweep are those of this module: to the same draws, so that it may depend on the threads."""
    return entries.values.size >= LARGE and threads() > 1


def each_line(entries: Entries, side: Side) -> float:
    """Entries of a row, or column, on average."""
    return entries.values.size / max(side.start.size - 1, 1)


def _of_lines(entries: Entries, side: Side, *rest: object) -> float:
    return FIT * each_line(entries, side)


def _of_a_column(entries: Entries, *rest: object) -> float:
    return 2.0 * each_line(entries, entries.by_columns)


def _of_an_entry(*rest: object) -> float:
    return TERM


def _of_a_gain(entries: Entries, side: Side, rest: object, picked: np.ndarray, *more: object) -> float:
    size = len(entries.by_columns.start) + len(entries.by_rows.start) - len(side.start) - 1
    return TERM * each_line(entries, side) * float(picked.sum()) / max(size, 1)


fill_background = shared(counts_draw.fill_background, lambda *given: 3.0)
add_level = in_python(counts_scan.add_level, add_level_part=shared(counts_scan.add_level_part, _of_a_column))
inside_block = in_python(counts_scan.inside_block, find_inside=shared(counts_scan.find_inside, _of_a_column))
evidence = in_python(counts_scan.evidence, add_gains=shared(counts_scan.add_gains, _of_a_gain))
fit_level = in_python(
    counts_moves.fit_level, block_share=shared(counts_moves.block_share, lambda *given: 6.0)
)
log_weight = in_python(
    counts_moves.log_weight,
    inside_block=inside_block,
    gains_inside=shared(counts_moves.gains_inside, _of_an_entry),
)
base_of = in_python(counts_levels.base_of, fill_background=fill_background)
propose_lines = in_python(counts_levels.propose_lines, fit_lines=shared(counts_levels.fit_lines, _of_lines))
log_lines = in_python(counts_levels.log_lines, score_lines=shared(counts_levels.score_lines, _of_lines))

rates_of = in_python(counts_draw.rates_of, fill_background=fill_background, add_level=add_level)
log_likelihood = in_python(
    counts_draw.log_likelihood,
    rates_of=rates_of,
    inside_block=inside_block,
    log_entries=shared(counts_draw.log_entries, _of_an_entry),
)
draw_levels = in_python(counts_draw.draw_levels, rates_of=rates_of)

level_of = in_python(counts_moves.level_of, inside_block=inside_block, fit_level=fit_level)
pass_both = in_python(counts_moves.pass_both, level_of=level_of, evidence=evidence)
launch_from = in_python(counts_moves.launch_from, level_of=level_of, evidence=evidence, pass_both=pass_both)
launch = in_python(counts_moves.launch, launch_from=launch_from)
_proposals = {"pass_both": pass_both, "inside_block": inside_block, "fit_level": fit_level}
draw_block = in_python(counts_moves.draw_block, **_proposals)
score_block = in_python(counts_moves.score_block, **_proposals)
_moves = {
    "launch": launch,
    "draw_block": draw_block,
    "score_block": score_block,
    "log_weight": log_weight,
    "add_level": add_level,
}
run_count_tasks = in_python(
    counts_tasks.run_count_tasks,
    rates_of=rates_of,
    scan_block=in_python(counts_scan.scan_block, add_level=add_level, evidence=evidence),
    birth_death=in_python(counts_moves.birth_death, launch_from=launch_from, **_moves),
    one_to_two=in_python(
        counts_pairs.one_to_two,
        split_block=in_python(counts_pairs.split_block, **_moves),
        merge_blocks=in_python(counts_pairs.merge_blocks, **_moves),
    ),
    level_birth_death=in_python(
        counts_levels.level_birth_death,
        launch_from=launch_from,
        propose_lines=propose_lines,
        log_lines=log_lines,
        base_of=base_of,
        low_of=in_python(counts_levels.low_of, lower=shared(counts_levels.lower, lambda *given: 3.0 * TERM)),
        **_moves,
    ),
    scan_with_levels=in_python(
        counts_lines.scan_with_levels,
        shift_level=in_python(
            counts_lines.shift_level,
            turn_members=shared(counts_lines.turn_members, _of_lines),
            propose_lines=propose_lines,
            log_lines=log_lines,
        ),
        scan_lines=in_python(counts_lines.scan_lines, fit_turned=shared(counts_lines.fit_turned, _of_lines)),
        base_of=base_of,
    ),
)
