"""The inputs of a fit: views, sample groups, and the likelihood of every view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, SettingError, choice_of_each
from plaidwork.plugins.group_factor.settings import LIKELIHOODS
from plaidwork.plugins.group_factor.state import Settings

NAMES = {
    "gaussian": "Gaussian",
    "bernoulli": "Bernoulli",
    "poisson": "Poisson",
    "log": "Gaussian of log(1 + count)",
}
"""Likelihoods as they are written in a text."""


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


def places_of(data: ModelData) -> np.ndarray | None:
    """(N, p) where the samples are in time or place; None when that is not given."""
    if "along" not in data:
        return None
    values = np.asarray(data["along"].values, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def coordinates_of(block: Block) -> tuple[str, ...]:
    """Names of the coordinates; a column beside a table is called by its title alone."""
    return tuple(block.names[1]) if block.values.ndim == 2 else (block.name.rpartition(": ")[2],)


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
    try:
        return choice_of_each(LIKELIHOODS, params, blocks, view_names(blocks))
    except SettingError as error:
        raise ModelError(f"“Likelihoods”: {error.message}", error.hint) from error


def as_fitted(block: Block, word: str) -> tuple[Block, str]:
    """A view as the kernels get it, and its likelihood there: of counts as logarithms log(1 + count), which are Gaussian."""
    if word != "log":
        return block, word
    truth = None if block.truth is None else np.log1p(block.truth)
    return replace(block, values=np.log1p(block.values), truth=truth), "gaussian"
