"""What is wrong with counts, links or settings before a fit, and what a fit will cost."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, Cost, ModelData, Problem, format_number
from plaidwork.plugins.plaid.checks import start_problems
from plaidwork.plugins.plaid.counts.entries import add_by_level, are_links, gaps, nonzero, observed_cells
from plaidwork.plugins.plaid.counts.fields import CountSettings
from plaidwork.plugins.plaid.fields import Floats

SECONDS_PER_ENTRY = 1.5e-7
"""Of one task; a rough figure, from which the set-up makes its first guess."""
SECONDS_PER_ITEM = 6e-8
LINKS_BY_LEVEL = 3
"""Times as long as counts take links whose blocks add in proportion to levels: each level is fitted to its row."""
LARGEST_COUNT = 1e9
OVERDISPERSED = 5.0
"""Variance over mean of the counts above 0 from which it is told. Blocks of different size alone seldom make so much."""


def _values(values: Floats, observed: int, params: CountSettings) -> list[Problem]:
    """What is wrong with the numbers of the matrix."""
    if observed == 0:
        return [
            Problem("The matrix has no observed cell.", "Choose another matrix or hold out fewer cells.", "X")
        ]
    if not len(values):
        return [Problem("All observed cells are 0.", "There is nothing to find blocks in.", "X")]
    if values.max() > LARGEST_COUNT:
        text = f"The largest count is {format_number(values.max())}. At most {format_number(LARGEST_COUNT)} can be fitted."
        return [
            Problem(text, "Choose “0/1: whether there is any” under “Cells are”, or divide the counts.", "X")
        ]
    same = len(values) == observed and (values.min() == values.max() or are_links(values, params))
    if same:
        text = f"All observed cells equal {values[0]:g}." if values.min() == values.max() else "No cell is 0."
        return [Problem(text, "Blocks need cells that differ.", "X")]
    return [*_whether_poisson(values, params), *_mostly_filled(values, observed, params)]


def _whether_poisson(values: Floats, params: CountSettings) -> list[Problem]:
    """A warning for counts that vary more than Poisson ones."""
    ratio = float(values.var() / values.mean())
    if are_links(values, params) or ratio < OVERDISPERSED:
        return []
    text = (
        f"The counts above 0 vary {format_number(ratio, 2)} times as much as Poisson counts of one rate would: blocks may stand "
        "for single large counts."
    )
    return [
        Problem(
            text, "“0/1: whether there is any” under “Cells are” finds the larger pattern.", "X", "warning"
        )
    ]


def _mostly_filled(values: Floats, observed: int, params: CountSettings) -> list[Problem]:
    """A note where nearly no cell is 0 and the counts are large: then the Gaussian model is the better description."""
    if are_links(values, params) or len(values) < 0.9 * observed or values.mean() < 10.0:
        return []
    text = "Nearly no cell is 0 and the counts are large: differences within Poisson noise will make many blocks."
    return [
        Problem(
            text, "Infinite plaid with the logarithm of the counts suits such data better.", "X", "warning"
        )
    ]


def _mirrored(block: Block, row: np.ndarray, column: np.ndarray, values: Floats) -> list[Problem]:
    """A note that a symmetric matrix tells everything twice."""
    if block.shape[0] != block.shape[1] or block.shape[0] < 3 or block.names[0] != block.names[1]:
        return []
    turned = np.lexsort((row, column))
    if not (np.array_equal(row, column[turned]) and np.array_equal(column, row[turned])):
        return []
    if not np.array_equal(values, values[turned]):
        return []
    text = "The matrix is symmetric, so that every link is told twice: blocks come in mirrored pairs and look surer than they are."
    return [Problem(text, "Read each pair as one block.", "X", "warning")]


def find_problems(data: ModelData, params: CountSettings) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    block: Block = data["X"]
    row, column, values = nonzero(block)
    found = _values(values, observed_cells(block), params)
    if not any(problem.severity == "error" for problem in found):
        found += _mirrored(block, row, column, values)
    return found + start_problems(data, params["start"], params["max_blocks"], "max_blocks", "At most")


def estimate_cost(block: Block, params: CountSettings) -> Cost:
    """Memory besides the data, and time of one sweep, for one chain with ten blocks."""
    entries = len(nonzero(block)[2]) + len(gaps(block)[0])
    launched = params["birth_death"] + params["one_to_two"] + params["seeded"]
    links = are_links(nonzero(block)[2], params)
    if add_by_level(links, params):
        tasks = 24 + 2 * launched + params["small_births"]
        tasks *= LINKS_BY_LEVEL if links else 1
    else:
        tasks = 12 + launched + params["level_births"] + 3 * params["level_scans"]
    items = float(sum(block.shape))
    seconds = tasks * (SECONDS_PER_ENTRY * entries + SECONDS_PER_ITEM * items)
    return Cost(80.0 * entries + 500.0 * items, seconds)
