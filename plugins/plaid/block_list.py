"""The block list, matched to the best draw, and who shares blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from plaidwork.core.api import Block, ChainView, Result, Results, Table, counted
from plaidwork.core.api_blocks import MatchedBlocks, match_blocks, pick_items
from plaidwork.core.api_draws import spread
from plaidwork.plugins.plaid.fields import Flags, Floats, Integers, Settings
from plaidwork.plugins.plaid.pooling import BlockDraw, Draw, Together, together

MOST_ITEMS = 600
CHECKED_DRAWS = 200
INTERVAL = 0.94


class More(NamedTuple):
    """What draws may have beside memberships, shifts, background and noise; draws stored by earlier versions may lack it."""

    layers: bool = False
    """Profiles or effects."""
    tails: bool = False
    """Degrees of freedom of the noise."""


def more_of(params: Settings) -> More:
    """What draws of a fit with these settings may have."""
    effects = params["effects"] or params["effects_if_needed"]
    return More(params["layer"] == "profile" or effects, params["noise"] != "normal")


def blocks_of(chain: ChainView, index: int, more: More) -> Draw:
    """The non-empty blocks of one draw, the background and the noise, and ``more``."""
    rows, columns, theta = (chain.draw(name, index) for name in ("Z1", "Z2", "theta"))
    kept: Flags = np.asarray(rows.any(axis=1) & columns.any(axis=1))
    phi, tau0 = (float(chain.draw(name, index)) for name in ("phi", "tau0"))
    draw = Draw(rows[kept], columns[kept], theta[kept], phi, tau0)
    if more.layers:
        draw = _with_layers(draw, chain, index, kept)
    if more.tails:
        freedom = chain.draw("freedom", index)
        draw = draw._replace(freedom=float(freedom[0]) if len(freedom) else None)
    return draw


def _with_layers(draw: Draw, chain: ChainView, index: int, kept: Flags) -> Draw:
    """The draw with profiles of these blocks, noise weights and effects, where the fit has them."""
    profile, *others = (
        chain.draw(name, index) for name in ("profile", "row_weight", "row_effect", "column_effect")
    )
    row_weight, row_effect, column_effect = (found[0] if len(found) else None for found in others)
    return draw._replace(
        profile=profile[kept] if len(profile) else None,
        row_weight=row_weight,
        row_effect=row_effect,
        column_effect=column_effect,
    )


def members_of(chain: ChainView, index: int) -> tuple[Flags, Flags]:
    """Rows (K, N1) and columns (K, N2) of the non-empty blocks of one draw."""
    rows, columns = chain.draw("Z1", index), chain.draw("Z2", index)
    kept = rows.any(axis=1) & columns.any(axis=1)
    return rows[kept], columns[kept]


def best_blocks(chains: Sequence[ChainView]) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of the draw with the highest log joint, largest first."""
    joints = [chain.stack("log_joint") for chain in chains]
    best = max(range(len(chains)), key=lambda c: joints[c].max())
    rows, columns = members_of(chains[best], int(joints[best].argmax()))
    order = np.argsort(-rows.sum(axis=1) * columns.sum(axis=1), kind="stable")
    return rows[order], columns[order]


def _matched(draws: Iterable[BlockDraw], reference: tuple[Flags, Flags]) -> MatchedBlocks:
    return match_blocks(((d.rows, d.columns, d.theta) for d in draws), reference, mass=INTERVAL)


def presence(
    chains: Sequence[Sequence[BlockDraw]], reference: tuple[Flags, Flags]
) -> tuple[Floats, Integers]:
    """Of each of the L blocks: share of the draws that have it, and the number of chains in which half of them do.

    Every chain counts alike, so that a block which one chain of many has found does not look certain; a chain's share
    is that of at most ``CHECKED_DRAWS`` of its draws, spread evenly.
    """
    shares = []
    for draws in chains:
        picked = np.sort(spread(len(draws))[:CHECKED_DRAWS])
        shares.append(_matched((draws[i] for i in picked), reference).present)
    found = np.array(shares).reshape(len(chains), len(reference[0]))
    return found.mean(axis=0), (found >= 0.5).sum(axis=0)


def block_results(
    draws: Sequence[BlockDraw],
    chains: Sequence[Sequence[BlockDraw]],
    reference: tuple[Flags, Flags],
    block: Block,
    label: str,
    doc: str = "posterior mean and 94 % interval",
) -> tuple[Results, MatchedBlocks]:
    """Block list and membership probabilities, every draw matched to the reference.

    ``draws`` are those that the list is of, ``chains`` the draws of every chain, whether it was left out or not; ``doc``
    says what “Shift” is.
    """
    matched = _matched(draws, reference)
    titles = np.array([f"Block {k + 1}" for k in range(len(matched))], dtype=object)
    results: Results = {
        "block_rows": Result(matched.row_probability, ("layer", "row"), label="Row membership"),
        "block_columns": Result(matched.column_probability, ("layer", "column"), label="Column membership"),
        "blocks": _block_table(draws, chains, reference, matched, titles, block.unit, label, doc),
    }
    for side, axis, probability in (
        ("row", 0, matched.row_probability),
        ("column", 1, matched.column_probability),
    ):
        columns: dict[str, np.ndarray] = {side.capitalize(): np.array(block.names[axis], dtype=object)}
        columns |= {str(title): share for title, share in zip(titles, probability, strict=True)}
        results[f"{side}_memberships"] = Table(columns, label=f"{side.capitalize()} memberships")
    return results, matched


def _block_table(
    draws: Sequence[BlockDraw],
    chains: Sequence[Sequence[BlockDraw]],
    reference: tuple[Flags, Flags],
    matched: MatchedBlocks,
    titles: np.ndarray,
    unit: str,
    label: str,
    doc: str,
) -> Table:
    """One line per block of the list."""
    present, in_chains = presence(chains, reference)
    columns = {
        "Block": titles,
        "Rows": (matched.row_probability >= 0.5).sum(axis=1),
        "Columns": (matched.column_probability >= 0.5).sum(axis=1),
        "Shift": matched.value_mean,
        "Low": matched.value_interval[:, 0],
        "High": matched.value_interval[:, 1],
    }
    doc = f"Shift: {doc}. "
    if draws and draws[0].profile is not None:
        by_spread = match_blocks(((d.rows, d.columns, d.spreads) for d in draws), reference, mass=INTERVAL)
        columns["Spread"] = by_spread.value_mean
        doc += "Spread: standard deviation of the block's profile over its columns, posterior mean. "
    columns["Present"] = present
    doc += "Present: share of the draws of all chains with the block."
    if len(chains) > 1:
        columns["Chains"] = in_chains
        doc += f" Chains: how many of the {counted(len(chains), 'chain')} have it in at least half of their draws."
    units = {title: unit for title in columns if title in ("Shift", "Low", "High", "Spread")}
    return Table(columns, units=units, label=label, doc=doc)


def shared_results(
    side: str, chains: Sequence[Sequence[BlockDraw]], probability: Floats, names: Sequence[str]
) -> tuple[Results, Together]:
    """Who shares blocks with whom on one side, over the draws of all chains, in the order of the block list.

    ``probability`` (L, n) is the membership of that list; the items most often in a block are taken where they are many.
    """
    chosen = pick_items(probability, MOST_ITEMS)
    found = together(
        [[draw.rows if side == "row" else draw.columns for draw in draws] for draws in chains], chosen
    )
    dim = f"{side}_by_block"  # a result called like the dim names its items
    results: Results = {
        dim: Result(
            np.array(names, dtype=object)[chosen].astype(np.str_),
            (dim,),
            label=f"{side.capitalize()}s in the order of the blocks",
            doc="those most often in a block" if len(chosen) < len(names) else "",
        ),
        f"{side}_comembership": Result(
            found.shared,
            (dim, dim),
            label=f"{side.capitalize()} co-membership",
            doc="Blocks that two share over the geometric mean of the blocks of each, summed over the draws of all chains.",
        ),
    }
    if np.isfinite(found.agreement):
        results[f"{side}_agreement"] = Result(
            np.array(found.agreement),
            label=f"Agreement of two halves of the chains on {side} co-membership",
            doc="Correlation between every second chain and the others, over pairs of different items.",
        )
    return results, found
