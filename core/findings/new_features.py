"""New samples beside the fitted ones: which of the fitted matrices each new one is, and its features in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.spec import Input
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import ModelError

_NAMED = 5
"""Names that are listed of those that one side lacks."""


@dataclass(frozen=True)
class Match:
    """A new matrix and the fitted one that it is taken for; names of features that one of them lacks."""

    new: str
    fitted: str
    n_matched: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    note: str = ""


def match_features(
    item: Input, fitted: Sequence[Block], new: Sequence[Block]
) -> tuple[tuple[Block, ...], list[Match]]:
    """New matrices under the names of the fitted ones that they are, with exactly their features, in their order.

    Several matrices are told apart by the features in common; a name in common decides between equals. Features that a
    new matrix lacks are missing cells where the input may have some, and 0 in sparse counts (a word that never occurs).

    Raises
    ------
    ModelError : a matrix without a fitted feature, more matrices than were fitted, or features that are needed.
    """
    blocks, messages = [], []
    for old, block in sorted(_pairs(item, fitted, new), key=lambda pair: pair[0]):
        made, match = _in_order(item, fitted[old], new[block])
        blocks.append(made)
        messages.append(match)
    return tuple(blocks), messages


def _pairs(item: Input, fitted: Sequence[Block], new: Sequence[Block]) -> list[tuple[int, int]]:
    from scipy.optimize import linear_sum_assignment

    if len(new) > len(fitted):
        raise ModelError(
            f"“{item.title}”: {counted(len(new), 'matrix')} {agree(len(new), 'was', 'were')} given; the fit has {len(fitted)}.",
            f"They are {', '.join(f'“{block.name}”' for block in fitted)}.",
        )
    if len(fitted) == 1:
        return [(0, 0)]
    known = [set(block.names[1]) for block in fitted]
    common = np.array([[len(names & set(block.names[1])) for block in new] for names in known], float)
    same = np.array([[0.5 * (block.name == old.name) for block in new] for old in fitted])
    old, there = linear_sum_assignment(-(common + same))
    return list(zip(old.tolist(), there.tolist(), strict=True))


def _in_order(item: Input, fitted: Block, block: Block) -> tuple[Block, Match]:
    wanted, own = fitted.names[1], block.names[1]
    if wanted == own:
        return replace(block, name=fitted.name), Match(block.name, fitted.name, len(wanted), (), ())
    index_of = {name: i for i, name in enumerate(own)}
    index = np.array([index_of.get(name, -1) for name in wanted], dtype=np.int64)
    if (index < 0).all():
        if len(own) == len(wanted) and (has_default_names(own) or has_default_names(wanted)):
            named = replace(block, name=fitted.name, names=(block.names[0], wanted))
            return named, Match(block.name, fitted.name, len(wanted), (), (), "by position: no names given")
        raise _strange(fitted, block)
    missing = tuple(name for name, i in zip(wanted, index, strict=True) if i < 0)
    known = set(wanted)
    extra = tuple(name for name in own if name not in known)
    counts = not isinstance(block.values, np.ndarray) or (item.sparse and item.dtype == "count")
    if missing and not (item.missing or counts):
        raise ModelError(
            f"“{block.name}” lacks {len(missing)} of the {counted(len(wanted), 'feature')} of the fit: {_listed(missing)}.",
            f"“{item.title}” cannot have missing cells.",
        )
    note = "absent ones count as 0" if missing and not item.missing else ""
    match = Match(block.name, fitted.name, len(wanted) - len(missing), missing, extra, note)
    return _taken(block, fitted, index, bool(item.missing)), match


def _taken(block: Block, fitted: Block, index: np.ndarray, gaps: bool) -> Block:
    """The columns at ``index``; those at -1 are not observed where there may be gaps, and 0."""
    inside, absent = np.maximum(index, 0), index < 0
    values, observed = block.values[:, inside], block.observed
    if isinstance(values, np.ndarray):
        values = np.where(absent, 0.0, values)
    elif absent.any():
        from scipy.sparse import diags_array

        values = (values @ diags_array((~absent).astype(float))).tocsr()
    if isinstance(observed, np.ndarray) and observed.shape == block.shape:
        observed = observed[:, inside] & ~absent if gaps else observed[:, inside] | absent
    names = (block.names[0], fitted.names[1])
    return replace(block, name=fitted.name, values=values, observed=observed, names=names)


def _strange(fitted: Block, block: Block) -> ModelError:
    turned = len(set(fitted.names[1]) & set(block.names[0]))
    if turned:
        return ModelError(
            f"The rows of “{block.name}” are {turned} of the {counted(len(fitted.names[1]), 'feature')} of the fit.",
            "New samples have to be its rows: turn it (Transform, Exchange rows and columns).",
        )
    return ModelError(
        f"“{block.name}” shares no feature with “{fitted.name}”, to which the model was fitted.",
        f"Features are found by name, such as “{fitted.names[1][0]}”; the new data have “{block.names[1][0]}”.",
    )


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(f"“{name}”" for name in names[:_NAMED]) + rest


def table_of(matches: Sequence[Match]) -> Table:
    """What was matched, what the new data lack, and what of them was passed over."""
    return Table(
        {
            "New data": np.array([match.new for match in matches], dtype=object),
            "Taken for": np.array([match.fitted for match in matches], dtype=object),
            "Matched": np.array([match.n_matched for match in matches]),
            "Missing": np.array([len(match.missing) for match in matches]),
            "Extra": np.array([len(match.extra) for match in matches]),
            "Which": np.array([_match_text(match) for match in matches], dtype=object),
        },
        label="Features found by name",
        doc="Missing: features of the fit that the new data lack. Extra: features of theirs that are not used.",
    )


def matches_text(matches: Sequence[Match], samples: int) -> str:
    """How many new samples there are, and how many features of the fit they have."""
    matched = sum(match.n_matched for match in matches)
    total = matched + sum(len(match.missing) for match in matches)
    return f"{counted(samples, 'new sample')} with {matched} of the {counted(total, 'feature')} of the fit"


def _match_text(match: Match) -> str:
    parts = [
        f"{word} {_listed(names)}"
        for word, names in (("missing", match.missing), ("extra", match.extra))
        if names
    ]
    return "; ".join([*parts, *([match.note] if match.note else [])]) or "all"
