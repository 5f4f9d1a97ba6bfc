"""What the draws say without labels, and the block list matched to the best draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.api import Block, ChainView, Kept, ModelData, Result, Results, Table, format_percent
from plaidwork.core.api_blocks import comembership, coverage, match_blocks, nmi_overlap_ishiguro, pick_items
from plaidwork.core.api_draws import ByChain, distribution, rank_chains, spread, standard_error
from plaidwork.core.numerics.used_draws import told
from plaidwork.plugins.plaid.state import true_blocks

MOST_DRAW_CELLS, ROUGH_DRAW_CELLS = 20_000_000_000, 1_000_000_000
"""Draws times cells summed in one summary, at the end (less than a minute) and while the chains go on."""
MOST_ITEMS = 600
CHUNK_VALUES = 2_000_000
INTERVAL = 0.94

Draw = tuple[np.ndarray, np.ndarray, np.ndarray, float]


def blocks_of(chain: ChainView, index: int) -> Draw:
    """Rows, columns and shifts of the non-empty blocks of one draw, and the background."""
    rows, columns, theta = (chain.draw(name, index) for name in ("Z1", "Z2", "theta"))
    kept = rows.any(axis=1) & columns.any(axis=1)
    return rows[kept], columns[kept], theta[kept], float(chain.draw("phi", index))


def picked_draws(chains: Sequence[ChainView], cells: int, rough: bool) -> list[tuple[ChainView, int]]:
    """The draws that are summed: all, or as many, spread evenly, as are not too many for the size of the matrix."""
    pairs = [(chain, index) for chain in chains for index in range(chain.n_draws)]
    most = int(max(20, (ROUGH_DRAW_CELLS if rough else MOST_DRAW_CELLS) // max(cells, 1)))
    return pairs if len(pairs) <= most else [pairs[i] for i in np.sort(spread(len(pairs))[:most])]


def thinned_words(picked: Sequence[tuple[ChainView, int]], chains: Sequence[ChainView]) -> str:
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
        f" Memberships and fit are averaged over {told(len(picked), every)} (Monte Carlo error of the mean number of "
        f"blocks over them: {error:.2g})."
    )


def mean_fit(draws: Sequence[Draw], shape: tuple[int, ...]) -> np.ndarray:
    """Posterior mean of background and layers: (n, m) float32, in products of a few draws at a time."""
    total = np.zeros(shape, np.float32)
    total += np.float32(np.mean([phi for *_, phi in draws]))
    at_once = max(1, CHUNK_VALUES // sum(shape))
    rows = [(draw, k) for draw in draws for k in range(len(draw[2]))]
    for first in range(0, len(rows), at_once):
        part = rows[first : first + at_once]
        left = np.array([draw[0][k] for draw, k in part], np.float32)
        right = np.array([draw[1][k] * np.float32(draw[2][k] / len(draws)) for draw, k in part], np.float32)
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
            values.append(nmi_overlap_ishiguro(*blocks_of(chain, int(joint.argmax()))[:2], *truth))
        for column, value in zip(columns.values(), [*values, "yes" if survives[c] else "no"], strict=True):
            column.append(value)
    return Table({title: np.array(column) for title, column in columns.items()}, label="Chains", doc=reason)


def best_blocks(chains: Sequence[ChainView]) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of the draw with the highest log joint, largest first."""
    joints = [chain.stack("log_joint") for chain in chains]
    best = max(range(len(chains)), key=lambda c: joints[c].max())
    rows, columns, *_ = blocks_of(chains[best], int(joints[best].argmax()))
    order = np.argsort(-rows.sum(axis=1) * columns.sum(axis=1), kind="stable")
    return rows[order], columns[order]


def block_results(
    draws: Sequence[Draw], others: Sequence[Draw], reference: tuple[np.ndarray, np.ndarray], block: Block
) -> tuple[Results, np.ndarray]:
    """Block list and membership probabilities, every draw matched to the reference; share of draws with each.

    ``others`` are draws of chains that did not survive: they only count in the column *Present*, so that a block
    which one chain of many has found does not look certain.
    """
    matched = match_blocks(((r, c, t) for r, c, t, _ in draws), reference, mass=INTERVAL)
    present = matched.present
    if others and len(present):
        elsewhere = match_blocks(((r, c, t) for r, c, t, _ in others), reference, mass=INTERVAL).present
        present = (len(draws) * present + len(others) * elsewhere) / (len(draws) + len(others))
    titles = np.array([f"Block {k + 1}" for k in range(len(matched))], dtype=object)
    table = Table(
        {
            "Block": titles,
            "Rows": (matched.row_probability >= 0.5).sum(axis=1),
            "Columns": (matched.column_probability >= 0.5).sum(axis=1),
            "Shift": matched.value_mean,
            "Low": matched.value_interval[:, 0],
            "High": matched.value_interval[:, 1],
            "Present": present,
        },
        units=dict.fromkeys(("Shift", "Low", "High"), block.unit),
        label="Blocks",
        doc="Shift: posterior mean and 94 % interval. Present: share of the draws of all chains with the block.",
    )
    results: Results = {
        "block_rows": Result(matched.row_probability, ("layer", "row"), label="Row membership"),
        "block_columns": Result(matched.column_probability, ("layer", "column"), label="Column membership"),
        "blocks": table,
    }
    for side, axis, probability in (
        ("row", 0, matched.row_probability),
        ("column", 1, matched.column_probability),
    ):
        names = np.array(block.names[axis], dtype=object)
        columns: dict[str, np.ndarray] = {side.capitalize(): names}
        columns |= {str(title): share for title, share in zip(titles, probability, strict=True)}
        results[f"{side}_memberships"] = Table(columns, label=f"{side.capitalize()} memberships")
        chosen = pick_items(probability, MOST_ITEMS)
        memberships = (draw[0] if axis == 0 else draw[1] for draw in draws)
        shared = comembership(memberships, chosen)
        dim = f"{side}_by_block"  # a result called like the dim names its items
        results[dim] = Result(
            names[chosen].astype(np.str_),
            (dim,),
            label=f"{side.capitalize()}s in the order of the blocks",
            doc="those most often in a block" if len(chosen) < len(names) else "",
        )
        results[f"{side}_comembership"] = Result(
            shared,
            (dim, dim),
            label=f"{side.capitalize()} co-membership",
            doc="Probability that two share a block.",
        )
    return results, matched.present


def _about_chains(numbers: Sequence[np.ndarray], survives: np.ndarray) -> str:
    """Which chains the results are of, and how many blocks each has; empty for a single chain."""
    total, used = len(survives), int(survives.sum())
    if total == 1:
        return ""
    if used == 1:
        return f"from the best of {total} chains, the others ended clearly below it"
    low, high = (f"{mean:.1f}" for mean in sorted(k.mean() for k in numbers)[:: used - 1])
    each = (
        f"with {low} blocks on average in each" if low == high else f"with {low} to {high} blocks on average"
    )
    if used == total:
        return f"from {total} chains {each}"
    return f"from the {used} best of {total} chains {each}; the others ended clearly below"


def texts(
    numbers: Sequence[np.ndarray],
    covered: np.ndarray,
    present: np.ndarray,
    survives: np.ndarray,
    inferred: bool,
) -> dict[str, str]:
    """Headline and caption. Blocks are counted when at least half of the draws contain them.

    ``inferred`` says whether the number of blocks was: the caption then tells how sure it is.
    """
    sure = int((present >= 0.5).sum())
    values, probability = distribution(np.concatenate(numbers))
    share = dict(zip(values.tolist(), probability.tolist(), strict=True)).get(sure, 0.0)
    mode = int(values[probability.argmax()])
    noun = "block" if sure == 1 else "blocks"
    verb = "covers" if sure == 1 else "cover"
    parts = [_about_chains(numbers, survives)]
    if inferred and mode == sure:
        parts.insert(0, f"{format_percent(share)} of the draws have {sure} {noun}")
    elif inferred:
        parts.insert(
            0, f"counted are blocks in at least half of the draws; a single draw most often has {mode}"
        )
    caption = "; ".join(part for part in parts if part)
    return {
        "headline": f"{sure} {noun} {verb} {format_percent(float((covered >= 0.5).mean()))} of the matrix"
        if sure
        else "No block found",
        "caption": caption[:1].upper() + caption[1:] + "." if caption else "",
    }


def summarise_draws(kept: Kept, data: ModelData) -> Results:
    """All results of a plaid run, from the chains that survive the ranking by log joint."""
    block: Block = data["X"]
    if kept.n_draws == 0:
        return {"headline": "No draws yet", "caption": ""}
    survives, reason = ranked_chains(kept)
    used = [chain for chain, keep in zip(kept.chains, survives, strict=True) if keep and chain.n_draws]
    if not used:
        used = [chain for chain in kept.chains if chain.n_draws]
    cells = int(np.prod(block.shape))
    picked = picked_draws(used, cells, kept.under_way)
    draws = [blocks_of(chain, index) for chain, index in picked]
    left_out = [chain for chain in kept.chains if chain.n_draws and chain not in used]
    others = [blocks_of(chain, index) for chain, index in picked_draws(left_out, cells, kept.under_way)]
    results, present = block_results(draws, others, best_blocks(used), block)
    covered = coverage(draws)
    numbers = [chain.kept_trace("n_blocks").astype(int) for chain in used]
    values, probability = distribution(np.concatenate(numbers))
    inferred = any(variable.name == "alpha" for variable in kept.spec.variables)
    words = texts(numbers, covered, present, survives, inferred)
    words["caption"] = f"{words['caption']}{thinned_words(picked, used)}".strip()
    return {
        **results,
        "fit": Result(mean_fit(draws, block.shape), ("row", "column"), unit=block.unit, label="Fitted"),
        "coverage": Result(covered, ("row", "column"), label="In any block"),
        "k_values": Result(values, ("size",), label="Number of blocks"),
        "k_probability": Result(probability, ("size",), label="Probability"),
        "chains": chain_table(kept, survives, reason, data),
        **words,
    }
