"""What the matrices of an input are taken as where nobody says: one rule for all models, which the form shows as it is fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter, ValueKind
from plaidwork.core.contract.model_data import Block
from plaidwork.core.contract.per_matrix import looks_together, per_matrix, suited
from plaidwork.core.data.together import go_together
from plaidwork.core.data.value_kinds import kind_of_pieces

_AT_ONCE = 100_000
"""Cells that are looked at together: no copy of a whole matrix."""


def whole_numbers(group: str) -> Hyperparameter:
    """The setting ``whole_numbers`` of a model that takes counts as such: whether whole numbers that are marked as ordered levels are counts.

    ``group`` is where the form shows it. Runs stored without it take them by their values alone.
    """
    return Hyperparameter(
        "whole_numbers", "choice", "marked", earlier="values", label="Whole numbers", group=group, advanced=True,
        doc="Of data marked as ordered levels (grades, measurements in whole units), where no likelihood is said.",
        choices=(
            Choice(value="marked", label="As the data are marked", doc="Ordered levels are numbers."),
            Choice(value="values", label="By the values alone", doc="Whole numbers from 0 on are counts."),
        ),
    )  # fmt: skip


def choice_of_each(
    parameter: Hyperparameter, params: Mapping[str, Any], blocks: Sequence[Block], names: Sequence[str]
) -> tuple[str, ...]:
    """The choice for each of the ``blocks``: the one that is said for its name, else the one that suits its values.

    ``parameter`` has a choice ``per`` matrix, the first of which stands for "by its values"; ``params`` has it and ``whole_numbers``. By
    their values 0 and 1 are yes or no, whole numbers from 0 on counts, and the rest real numbers; what is marked as ordered levels is that.

    Raises
    ------
    SettingError : a name that is not there, or as many bare choices as there are no matrices.
    """
    words, usual = per_matrix(params[parameter.name], names), parameter.choices[0].value
    marked = params["whole_numbers"] == "marked"
    return tuple(
        _taken(parameter, block, _kind(block, marked), params) if word in ("", usual) else word
        for word, block in zip(words, blocks, strict=True)
    )


def _taken(parameter: Hyperparameter, block: Block, kind: ValueKind, params: Mapping[str, Any]) -> str:
    """The choice by the values; what takes a look at all values is found where it matters."""
    matters = any(choice.above_mean and kind in choice.suits for choice in parameter.choices)
    columns, together = block.shape[1], True
    if looks_together(parameter, kind, columns, params):
        together = go_together(np.asarray(block.values[:]), block.observed)
    return suited(parameter, kind, columns, params, mean_of(block) if matters else 0.0, together)


def _kind(block: Block, marked: bool) -> ValueKind:
    return "ordinal" if marked and block.kind == "ordinal" else kind_of_pieces(_known_cells(block))


def mean_of(block: Block) -> float:
    """The mean of the known cells, 0 of none."""
    total, number = 0.0, 0
    for cells in _known_cells(block):
        total, number = total + float(cells.sum()), number + cells.size
    return total / max(1, number)


def _known_cells(block: Block) -> Iterator[np.ndarray]:
    step = max(1, _AT_ONCE // max(1, block.shape[1]))
    for lo in range(0, block.shape[0], step):
        yield block.values[lo : lo + step][block.observed[lo : lo + step]]
