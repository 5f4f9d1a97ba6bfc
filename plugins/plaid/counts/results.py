"""Results of counts and links: the blocks as of every plaid model, expected cells, and what speaks against them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plaidwork.core.api import ChainView, Kept, ModelData, Results, format_fixed, format_percent
from plaidwork.core.api_draws import spread
from plaidwork.plugins.plaid.counts.draws import CountDraw, draw_of
from plaidwork.plugins.plaid.fields import Integers
from plaidwork.plugins.plaid.kernels.counts_records import Entries
from plaidwork.plugins.plaid.results import Reading, summarise_blocks
from plaidwork.plugins.plaid.wording import AT_CAP

LARGEST_PICTURE = 25_000_000
"""Cells up to which fit and coverage of all of them are made (100 MB each)."""
MOST_FIT_CELLS, ROUGH_FIT_CELLS = 400_000_000, 40_000_000
"""Draws times cells that the mean fit is taken over, at the end and while the chains go on."""
EXPECTED = 0.5
"""Cells that are expected to hold so much are looked at for overdispersion: in others a count above 0 is a rare event."""
OVERDISPERSED = 2.0
"""Squared residuals over expected counts from which Poisson is doubted."""
FEWEST_CELLS = 50


def fit_of(links: bool, rough: bool) -> Callable[[Sequence[CountDraw], tuple[int, ...]], np.ndarray]:
    """The mean, over draws spread evenly, of expected counts or of probabilities of a 1."""

    def fit(draws: Sequence[CountDraw], shape: tuple[int, ...]) -> np.ndarray:
        cells = max(shape[0] * shape[1], 1)
        most = max(20, (ROUGH_FIT_CELLS if rough else MOST_FIT_CELLS) // cells)
        chosen = np.sort(spread(len(draws))[:most])
        total = np.zeros(shape, np.float32)
        for index in chosen.tolist():
            rates = draws[index].rates()
            total += -np.expm1(-rates) if links else rates
        return total / np.float32(len(chosen))

    return fit


def dispersion(entries: Entries, fit: np.ndarray) -> tuple[float, int]:
    """Squared residuals over expected counts, of the cells expected to hold ``EXPECTED`` and more; and how many they are.

    Missing cells are left out. 1 for Poisson counts at their rates.
    """
    wanted = fit >= EXPECTED
    for j in range(fit.shape[1]):
        side = entries.by_columns
        wanted[side.gap_item[side.gap_start[j] : side.gap_start[j + 1]], j] = False
    count, expected = int(wanted.sum()), fit[wanted].sum(dtype=float)
    if not count:
        return 1.0, 0
    inside = wanted[entries.row, entries.column]
    at = fit[entries.row[inside], entries.column[inside]].astype(float)
    values = entries.values[inside]
    # a cell at 0 leaves the square of what was expected; cells above 0 differ from that by x (x - 2 fit)
    squares = float((fit[wanted].astype(float) ** 2).sum()) + float((values * (values - 2.0 * at)).sum())
    return squares / float(expected), count


def count_doubts(entries: Entries, numbers: Sequence[Integers], most: int, fit: np.ndarray | None) -> str:
    """What the model holds against its own draws: one clause, empty when nothing."""
    share = float((np.concatenate(numbers) >= most).mean())
    found, cells = (1.0, 0) if fit is None or entries.links else dispersion(entries, fit)
    varies = cells >= FEWEST_CELLS and found >= OVERDISPERSED
    advice = "; with “Cells are” set to 0/1 larger blocks may show" if varies else ""
    if share >= AT_CAP:
        return (
            f"The number of blocks reached its limit: {format_percent(share)} of the draws have {most}, as many as “At most” "
            f"allows{advice}"
        )
    if varies:
        return (
            f"Counts vary {format_fixed(found, 1)} times as much around the fit as Poisson counts would, so that some blocks "
            f"may stand for single large counts{advice}"
        )
    return ""


def about_levels(blocks: int, levels: bool) -> str:
    """What to say where rows and columns have levels and no block is sure beside another: a sentence, empty otherwise."""
    if not levels or blocks > 1:
        return ""
    return (
        "A block that is the only one can be taken over by the levels of its rows and columns, as their product describes it as "
        "well: to look for one, switch “Rows differ in level” off."
    )


def summarise_counts(
    kept: Kept, data: ModelData, most: int, entries: Entries, levels: bool, by_level: bool
) -> Results:
    """All results of a run over counts or links; ``levels``: of rows and of columns both; ``by_level``: blocks add in proportion to them."""

    def read(chain: ChainView, index: int) -> CountDraw:
        return draw_of(chain, index, entries.links, by_level)

    shape = data["X"].shape
    reading = Reading(
        read,
        fit_of(entries.links, kept.under_way),
        lambda numbers, fit: count_doubts(entries, numbers, most, fit),
        (
            "what the block adds to the expected count of a cell whose row and column have level 1"
            if by_level
            else "what the block adds to the expected count of each of its cells"
        )
        + (" (a cell is 1 when that count is above 0)" if entries.links else "")
        + ", posterior mean and 94 % interval",
        shape[0] * shape[1] <= LARGEST_PICTURE,
        lambda blocks: about_levels(blocks, levels),
    )
    return summarise_blocks(kept, data, most, reading)
