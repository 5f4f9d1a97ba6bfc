"""What is said of the results: headlines, captions, and what the model holds against its own draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plaidwork.core.api import Block, agree, counted, format_correlation, format_fixed, format_percent
from plaidwork.core.api_draws import distribution
from plaidwork.plugins.plaid.checks import MOSTLY
from plaidwork.plugins.plaid.fields import Flags, Floats, Integers
from plaidwork.plugins.plaid.pooling import Score, Together
from plaidwork.plugins.plaid.tails import share_of_one_value

FEW = 0.5
"""Share of the blocks of a draw that most draws share, below which the blocks are not what a run has found."""
AT_CAP = 0.01
"""Share of the draws with the largest number of blocks allowed from which it is told."""
_ALIKE = ((0.9, "much alike"), (0.5, "partly alike"), (-math.inf, "hardly alike"))
"""Least correlation of two halves of the chains, and how that is called."""


class Findings(NamedTuple):
    """What the words are made of.

    ``numbers`` are the numbers of blocks of the draws, by chain that the list is of; ``covered`` the share of the cells that are
    in blocks; ``present`` (L,) the share of all
    draws with each block of the list; ``survives`` (chains,) which chains it is of; ``most`` the largest number of
    blocks where it is inferred, else None.
    """

    numbers: Sequence[Integers]
    covered: float
    present: Floats
    survives: Flags
    shared: Mapping[str, Together]
    score: Score | None
    most: int | None

    @property
    def sure(self) -> int:
        """How many blocks are in at least half of the draws."""
        return int((self.present >= 0.5).sum())

    @property
    def typical(self) -> float:
        """Mean number of blocks of a draw."""
        return float(np.concatenate(self.numbers).mean())

    @property
    def scattered(self) -> bool:
        """Whether draws have blocks, but mostly others than each other: as many sums of them fit nearly alike."""
        return self.typical >= 2 and self.sure < FEW * self.typical


def best_chains(count: int) -> str:
    return "best chain" if count == 1 else counted(count, "best chain")


def texts(findings: Findings, thinned: str) -> dict[str, str]:
    """Headline and caption of the blocks and of the co-membership, and where draws share few blocks the view that the run opens on.
    Blocks are counted when half of the draws have them."""
    found = {
        "headline": _headline(findings),
        "caption": _sentences(
            [*_number_text(findings), _about_chains(findings)],
            [_where_to_look(findings), _score(findings)],
        )
        + thinned,
        "shared_caption": _shared_caption(findings),
    }
    if findings.scattered:
        found["opens_on"] = f"Co-membership/{_firmer_side(findings).capitalize()}s"
    return found | {f"{side}s_headline": _shared_headline(side, findings) for side in ("row", "column")}


def _headline(findings: Findings) -> str:
    sure, total, used = findings.sure, len(findings.survives), int(findings.survives.sum())
    best = "" if used == total else f" in the {best_chains(used)}"
    covered = format_percent(findings.covered)
    if findings.scattered:
        blocks = counted(round(findings.typical), "block")
        return (
            f"About {blocks}{best} cover {covered} of the matrix; most draws share {sure or 'none'} of them"
        )
    if not sure:
        return f"No block found{best}"
    return f"{counted(sure, 'block')} {agree(sure, 'covers', 'cover')} {covered} of the matrix{best}"


def _firmer_side(findings: Findings) -> str:
    """Rows or columns: where two halves of the chains agree more."""
    return max(findings.shared, key=lambda side: np.nan_to_num(findings.shared[side].agreement, nan=-1.0))


def _sentences(parts: Sequence[str], more: Sequence[str]) -> str:
    first = "; ".join(part for part in parts if part)
    found = [f"{first[:1].upper()}{first[1:]}."] if first else []
    return " ".join([*found, *(sentence for sentence in more if sentence)])


def _number_text(findings: Findings) -> list[str]:
    """How sure the number of blocks is, where it was inferred."""
    if findings.most is None:
        return []
    sure, verb = findings.sure, "shared" if findings.scattered else "counted"
    values, probability = distribution(np.concatenate(findings.numbers))
    mode = int(values[probability.argmax()])
    if mode != sure:
        return [f"{verb} are blocks in at least half of the draws; a single draw most often has {mode}"]
    share = dict(zip(values.tolist(), probability.tolist(), strict=True)).get(sure, 0.0)
    return [f"{format_percent(share)} of the draws have {counted(sure, 'block')}"]


def _about_chains(findings: Findings) -> str:
    """Which chains the list is of, and how many blocks each has; empty for a single chain."""
    total, used = len(findings.survives), int(findings.survives.sum())
    if total == 1:
        return ""
    if used == 1:
        return f"from the best of {counted(total, 'chain')}, {agree(total - 1, 'the other', 'the others')} ended clearly below it"
    low, high = (f"{mean:.1f}" for mean in sorted(k.mean() for k in findings.numbers)[:: used - 1])
    each = (
        f"with {low} blocks on average in each" if low == high else f"with {low} to {high} blocks on average"
    )
    if used == total:
        return f"from {counted(total, 'chain')} {each}"
    others = agree(total - used, "the other", "the others")
    return f"from the {used} best of {counted(total, 'chain')} {each}; {others} ended clearly below"


def _where_to_look(findings: Findings) -> str:
    """Where to look when the chains have different blocks."""
    if len(findings.survives) < 2 or (findings.survives.all() and not findings.scattered):
        return ""
    return "What all chains say together is under Co-membership."


def _score(findings: Findings) -> str:
    if findings.score is None:
        return ""
    return (
        f"Held-out cells have a log density of {format_fixed(findings.score.mean, 3)} each over all chains "
        f"(standard error {format_fixed(findings.score.error, 3)})."
    )


def _shared_headline(side: str, findings: Findings) -> str:
    agreement = findings.shared[side].agreement
    if math.isnan(agreement):
        return f"Which {side}s share blocks"
    alike = next(word for least, word in _ALIKE if agreement >= least)
    return f"Which {side}s share blocks: {alike} in two halves of the chains, correlation {format_correlation(agreement)}"


def _shared_caption(findings: Findings) -> str:
    total = len(findings.survives)
    found = ["Blocks that two share, in proportion to the blocks of each."]
    if total > 1 and (findings.scattered or not findings.survives.all()):
        found.insert(
            0,
            f"Over all {counted(total, 'chain')}: read it as far as two halves of them correlate, as their blocks differ.",
        )
    elif total > 1:
        found.insert(0, f"Over all {counted(total, 'chain')}.")
    return " ".join([*found, _score(findings)]).strip()


def doubts(block: Block, numbers: Sequence[Integers], most: int | None) -> str:
    """What the model holds against its own draws: one clause, empty when nothing."""
    if most is not None:
        share = float((np.concatenate(numbers) >= most).mean())
        if share >= AT_CAP:
            return (
                f"The number of blocks reached its limit: {format_percent(share)} of the draws have {most}, as many as "
                "“At most” allows. Blocks of constant shift may not suit these data"
            )
    value, share = share_of_one_value(block)
    if share > MOSTLY:
        return (
            f"Most cells have one value: {format_percent(share)} of them are {value:g}, which Gaussian noise around "
            "blocks does not describe"
        )
    return ""
