"""What the draws say without labels, and the block list matched to the best draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from plaidwork.core.api import Block, ChainView, Kept, ModelData, Result, Results, Table
from plaidwork.core.api_blocks import coverage, nmi_overlap_ishiguro
from plaidwork.core.api_draws import ByChain, distribution, rank_chains, spread, standard_error
from plaidwork.core.numerics.used_draws import draws_text
from plaidwork.plugins.plaid.block_list import (
    More,
    best_blocks,
    block_results,
    blocks_of,
    members_of,
    shared_results,
)
from plaidwork.plugins.plaid.fields import Floats, Integers
from plaidwork.plugins.plaid.large import covered_cells
from plaidwork.plugins.plaid.pooling import BlockDraw, Draw, held_out_score
from plaidwork.plugins.plaid.state import true_blocks
from plaidwork.plugins.plaid.wording import Findings, best_chains, doubts, texts

MOST_DRAW_CELLS, ROUGH_DRAW_CELLS = 20_000_000_000, 1_000_000_000
"""Draws times cells summed in one summary, at the end (less than a minute) and while the chains go on."""
CHUNK_VALUES = 2_000_000
NORMAL_FROM = 30.0
"""Degrees of freedom from which Student's t is as good as normal."""

DrawT = TypeVar("DrawT", bound=BlockDraw)

NOTHING_YET: Results = {
    "headline": "No draws yet",
    "caption": "",
    "rows_headline": "No draws yet",
    "columns_headline": "No draws yet",
    "shared_caption": "",
}


def picked_draws(chains: Sequence[ChainView], cells: int, rough: bool) -> list[tuple[ChainView, int]]:
    """The draws that are summed: all, or as many, spread evenly, as are not too many for the size of the matrix."""
    pairs = [(chain, index) for chain in chains for index in range(chain.n_draws)]
    most = int(max(20, (ROUGH_DRAW_CELLS if rough else MOST_DRAW_CELLS) // max(cells, 1)))
    return pairs if len(pairs) <= most else [pairs[i] for i in np.sort(spread(len(pairs))[:most])]


def thinned_text(picked: Sequence[tuple[ChainView, int]], chains: Sequence[ChainView]) -> str:
    """How many draws were averaged, and with what Monte Carlo error; empty when it was all."""
    every = sum(chain.n_draws for chain in chains)
    if len(picked) == every:
        return ""
    place, total = {id(chain): c for c, chain in enumerate(chains)}, ByChain([c.n_draws for c in chains])
    numbers = [chain.kept_trace("n_blocks") for chain in chains]
    for chain, index in picked:
        total.add(place[id(chain)], index, numbers[place[id(chain)]][index])
    error = float(standard_error(total.chains(), total.batches()))
    return (
        f" Memberships and fit are averaged over {draws_text(len(picked), every)} (Monte Carlo error of the mean number of "
        f"blocks over them: {error:.2g})."
    )


def mean_fit(draws: Sequence[Draw], shape: tuple[int, ...]) -> np.ndarray:
    """Posterior mean of background and layers: (n, m) float32, in products of a few draws at a time."""
    total = np.zeros(shape, np.float32)
    total += np.float32(np.mean([draw.phi for draw in draws]))
    at_once = max(1, CHUNK_VALUES // sum(shape))
    for draw in draws:
        if draw.row_effect is not None and draw.column_effect is not None:
            total += ((draw.row_effect[:, None] + draw.column_effect) / len(draws)).astype(np.float32)
    rows = [(draw, k) for draw in draws for k in range(len(draw.theta))]
    for first in range(0, len(rows), at_once):
        part = rows[first : first + at_once]
        left = np.array([draw.rows[k] for draw, k in part], np.float32)
        right = np.array([draw.layer(k, len(draws)) for draw, k in part], np.float32)
        # one strip of rows at a time: the product is never held whole beside the total
        for top in range(0, shape[0], 512):
            total[top : top + 512] += left[:, top : top + 512].T @ right
    return total


def ranked_chains(kept: Kept) -> tuple[np.ndarray, str]:
    """Which chains survive, and the rule in one sentence; see ``rank_chains``."""
    return rank_chains([chain.stack("log_joint") for chain in kept.chains])


def chain_table(kept: Kept, survives: np.ndarray, reason: str, data: ModelData) -> Table:
    """One line per chain; NMI of its best draw when the truth is given."""
    truth = true_blocks(data)
    columns: dict[str, list] = {
        title: [] for title in ("Chain", "Log joint best", "Log joint mean", "Blocks mean", "Blocks mode")
    }
    if truth is not None:
        columns["NMI"] = []
    columns["Used"] = []
    for c, chain in enumerate(kept.chains):
        if chain.n_draws == 0:
            continue
        joint, k = chain.stack("log_joint"), chain.kept_trace("n_blocks").astype(int)
        values = [chain.chain + 1, joint.max(), joint.mean(), k.mean(), int(np.bincount(k).argmax())]
        if truth is not None:
            values.append(nmi_overlap_ishiguro(*members_of(chain, int(joint.argmax())), *truth))
        for column, value in zip(columns.values(), [*values, "yes" if survives[c] else "no"], strict=True):
            column.append(value)
    return Table({title: np.array(column) for title, column in columns.items()}, label="Chains", doc=reason)


@dataclass(frozen=True)
class Reading(Generic[DrawT]):
    """How the draws of a model are read and what is said of them.

    ``read`` gives one draw; ``fit`` the mean of what draws expect in the cells of a shape, (n, m) float32; ``doubt`` what the
    model holds against its draws, given the numbers of blocks by chain and that fit; ``doc`` what “Shift” means in the list.
    ``whole`` says whether pictures of all cells are made;
    ``note`` is a sentence of the caption, given how many blocks are sure, empty when there is nothing to say; ``levels`` the posterior
    means of what rows (N1,) and columns (N2,) have beside the blocks, by side, where there is such.
    """

    read: Callable[[ChainView, int], DrawT]
    fit: Callable[[Sequence[DrawT], tuple[int, ...]], np.ndarray]
    doubt: Callable[[Sequence[Integers], np.ndarray | None], str]
    doc: str = "posterior mean and 94 % interval"
    whole: bool = True
    note: Callable[[int], str] = lambda blocks: ""
    levels: Callable[[Sequence[DrawT]], Mapping[str, Floats]] = lambda draws: {}


def summarise_draws(kept: Kept, data: ModelData, most: int | None, more: More) -> Results:
    """All results of a plaid run of numbers. ``most`` is the largest number of blocks where that number is inferred, else None;
    ``more`` what draws have beside blocks of one shift."""

    def read(chain: ChainView, index: int) -> Draw:
        return blocks_of(chain, index, more)

    reading = Reading(
        read,
        mean_fit,
        lambda numbers, fit: doubts(data["X"], numbers, most),
        note=lambda blocks: tails_text(kept, more),
        levels=mean_effects,
    )
    return summarise_blocks(kept, data, most, reading)


def tails_text(kept: Kept, more: More) -> str:
    """A sentence on the noise of a fit with heavy tails; empty with normal noise."""
    freedom = [
        found for chain in kept.chains if more.tails for found in chain.iterate("freedom") if found.size
    ]
    if not freedom:
        return ""
    if np.mean(freedom) >= NORMAL_FROM:
        return (
            f"The noise could have heavy tails, those of Student's t, but with {np.mean(freedom):.0f} degrees of freedom on average it is as "
            "good as normal."
        )
    return (
        f"The noise has heavy tails, those of Student's t with {np.mean(freedom):.1f} degrees of freedom on average, so that single values far "
        "out are no blocks."
    )


def mean_effects(draws: Sequence[Draw]) -> dict[str, Floats]:
    """Posterior means of row and of column effects, by side; none where there are none."""
    rows = [draw.row_effect for draw in draws if draw.row_effect is not None]
    columns = [draw.column_effect for draw in draws if draw.column_effect is not None]
    found = {"row": rows, "column": columns}
    return {side: np.mean(effects, axis=0) for side, effects in found.items() if effects}


def with_levels(table: Table, levels: Floats, unit: str) -> Table:
    """A table of memberships with the level of each row or column beside its name."""
    (name, names), *rest = table.columns.items()
    units = {**table.units, "Level": unit} if unit else table.units
    doc = "Level: what a row or column has in all its cells beside the blocks (its effect), posterior mean."
    return replace(table, columns={name: names, "Level": levels, **dict(rest)}, units=units, doc=doc)


def summarise_blocks(kept: Kept, data: ModelData, most: int | None, reading: Reading[DrawT]) -> Results:
    """All results of a run: blocks from the chains that survive the ranking by log joint, co-membership from all."""
    block: Block = data["X"]
    if kept.n_draws == 0:
        return NOTHING_YET
    survives, reason = ranked_chains(kept)
    if not survives.any():
        survives = np.array([chain.n_draws > 0 for chain in kept.chains])
    every = [chain for chain in kept.chains if chain.n_draws]
    used = [chain for chain, keep in zip(kept.chains, survives, strict=True) if keep and chain.n_draws]
    picked = picked_draws(every, int(np.prod(block.shape)), kept.under_way)
    by_chain = [[reading.read(chain, index) for chain, index in picked if chain is one] for one in every]
    draws = [draw for chain, found in zip(every, by_chain, strict=True) if chain in used for draw in found]
    label = "Blocks" if len(used) == len(every) else f"Blocks of the {best_chains(len(used))}"
    results, matched = block_results(draws, by_chain, best_blocks(used), block, label, reading.doc)
    shared = {}
    for side, found, names in zip(
        ("row", "column"), (matched.row_probability, matched.column_probability), block.names, strict=True
    ):
        more, shared[side] = shared_results(side, by_chain, found, names)
        results |= more
    for side, levels in reading.levels(draws).items():
        table = results[f"{side}_memberships"]
        assert isinstance(table, Table)
        results[f"{side}_memberships"] = with_levels(table, levels, block.unit)
    fit = reading.fit(draws, block.shape) if reading.whole else None
    if fit is None:
        covered = float(np.mean(np.concatenate([chain.kept_trace("covered") for chain in used])))
    else:
        coverages = coverage((draw.rows, draw.columns) for draw in draws)
        covered = float((coverages >= 0.5).mean())
        results["fit"] = Result(fit, ("row", "column"), unit=block.unit, label="Fitted")
        results["coverage"] = Result(coverages, ("row", "column"), label="In any block")
    numbers = [chain.kept_trace("n_blocks").astype(int) for chain in used]
    values, probability = distribution(np.concatenate(numbers))
    score = held_out_score(by_chain, block)
    if score is not None:
        results["held_out_density"] = Result(
            np.array(score.mean),
            label="Held-out log density",
            doc="Mean log predictive density of the held-out cells over the draws of all chains, in nats per cell.",
        )
    findings = Findings(numbers, covered, matched.present, survives, shared, score, most)
    if (
        not findings.scattered
    ):  # then the blocks of the list are what has been found, and what they cover is said
        sure = matched.present >= 0.5
        members = matched.row_probability[sure] >= 0.5, matched.column_probability[sure] >= 0.5
        findings = findings._replace(covered=covered_cells(*members) / math.prod(block.shape))
    wording = texts(findings, thinned_text([pair for pair in picked if pair[0] in used], used))
    note = reading.note(int((matched.present >= 0.5).sum()))
    if note:
        wording["caption"] = f"{wording['caption']} {note}".strip()
    doubt = reading.doubt(numbers, fit)
    if doubt:
        wording["doubt"] = doubt
    return {
        **results,
        "k_values": Result(values, ("size",), label="Number of blocks"),
        "k_probability": Result(probability, ("size",), label="Probability"),
        "chains": chain_table(kept, survives, reason, data),
        **wording,
    }
