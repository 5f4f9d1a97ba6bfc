"""The inputs of a fit: views, sample groups, and the likelihood of every view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, SettingError, choice_of_each, per_matrix
from plaidwork.plugins.group_factor.settings import LIKELIHOODS
from plaidwork.plugins.group_factor.state import Settings

NAMES = {
    "gaussian": "Gaussian",
    "bernoulli": "Bernoulli",
    "poisson": "Poisson",
    "log": "Gaussian of log(1 + count)",
}
"""Likelihoods as they are written in a text."""
SMALL_COUNTS = 3.5
"""Mean of the counts of a view up to which the bound of the Poisson likelihood is tight enough to find factors (see NOTES.md)."""


def groups_of(data: ModelData) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the sample groups that occur, and the group (N,) of every sample; one without a name when none are given."""
    if "groups" not in data:
        return ("",), np.zeros(blocks_of(data)[0].shape[0], np.int64)
    block = data["groups"]
    present, group = np.unique(block.values, return_inverse=True)
    return tuple(block.categories[code] for code in present), group.astype(np.int64)


def group_means(values: np.ndarray, known: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """(G, d) means of the known among (d, N) values by sample group; 0 where there is none."""
    member = (group[:, None] == np.arange(n_groups)).astype(float)
    return ((values * known) @ member / np.maximum(known @ member, 1)).T


def blocks_of(data: ModelData) -> tuple[Block, ...]:
    return tuple(data["views"])


def view_names(blocks: tuple[Block, ...]) -> tuple[str, ...]:
    """Names of the views, made different where they are not."""
    names: list[str] = []
    for position, block in enumerate(blocks):
        name = block.name or f"view {position + 1}"
        names.append(name if name not in names else f"{name} ({position + 1})")
    return tuple(names)


def likelihoods_of(blocks: tuple[Block, ...], params: Settings) -> tuple[str, ...]:
    """Likelihood of every view: given by ``name = word`` parts, by a list of words in order, or guessed.

    Raises
    ------
    ModelError : a name that is not known, or as many words as there are no views.
    """
    names, usual = view_names(blocks), LIKELIHOODS.choices[0].value
    try:
        said = per_matrix(params["likelihoods"], names)
        found = choice_of_each(LIKELIHOODS, params, blocks, names)
    except SettingError as error:
        raise ModelError(f"“Likelihoods”: {error.message}", error.hint) from error
    if params["large_counts"] == "poisson":
        return found
    guessed = [word in ("", usual) for word in said]
    return tuple(
        "log" if mine and word == "poisson" and mean_of(block) > SMALL_COUNTS else word
        for block, word, mine in zip(blocks, found, guessed, strict=True)
    )


def mean_of(block: Block) -> float:
    """The mean of the known cells, 0 of none; also of values that stay in their file, as counts there are not fitted."""
    if block.stays:
        return 0.0
    known = max(1, int(np.count_nonzero(block.observed)))
    return float(np.sum(block.values, where=block.observed)) / known


def as_fitted(block: Block, word: str) -> tuple[Block, str]:
    """A view as the kernels get it, and its likelihood there: of counts as logarithms log(1 + count), which are Gaussian."""
    if word != "log":
        return block, word
    truth = None if block.truth is None else np.log1p(block.truth)
    return replace(block, values=np.log1p(block.values), truth=truth), "gaussian"
