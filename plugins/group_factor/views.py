"""The views as results are made of them: features that were fitted, centred values, and sums of those without gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Block, ModelData, refuse_errors
from plaidwork.plugins.group_factor.inputs import (
    as_fitted,
    blocks_of,
    groups_of,
    likelihoods_of,
    view_names,
)
from plaidwork.plugins.group_factor.intercepts import one_by_group
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING, GAUSSIAN, POISSON
from plaidwork.plugins.group_factor.problems import problems_of
from plaidwork.plugins.group_factor.products_level import (
    add_errors,
    add_products,
    by_group,
    fill_centred_block,
)
from plaidwork.plugins.group_factor.reading import (
    NONE,
    best_constant,
    blocks_of_samples,
    moments,
    rows_of,
    units_of,
    usable_columns,
)
from plaidwork.plugins.group_factor.state import Settings


@dataclass(frozen=True)
class Views:
    """All views side by side; D features that are fitted, N samples, M views.

    Attributes
    ----------
    names : of the views, each once. likelihoods : one per view. blocks : as they are fitted, counts as logarithms.
    raw : (d, N) values of each view, Gaussian ones centred (and scaled), 0 where not observed; of no samples where it is Gaussian and
        has no gaps: those are never in memory as a whole, and :meth:`sums` tells what is needed.
    observed : (d, N) 0 or 1, of the same.
    view, kind : (D,) index of the view; kind of bound (``kernels``).
    columns : per view the columns that are fitted. mean : (G, D) what was taken off in a sample group. unit : (D,) divisor.
    groups : names of the G sample groups. group : (N,) the group of a sample.
    null : (D,) best constant on the scale of x, or (G, D) where groups have intercepts of their own.
    features, samples : names.
    """

    names: tuple[str, ...]
    likelihoods: tuple[str, ...]
    raw: tuple[np.ndarray, ...]
    observed: tuple[np.ndarray, ...]
    view: np.ndarray
    kind: np.ndarray
    columns: tuple[np.ndarray, ...]
    mean: np.ndarray
    unit: np.ndarray
    null: np.ndarray
    features: tuple[str, ...]
    samples: tuple[str, ...]
    groups: tuple[str, ...]
    group: np.ndarray
    blocks: tuple[Block, ...]
    float_type: np.dtype

    @property
    def summed(self) -> list[int]:
        """The views that are Gaussian and have no gaps."""
        n = len(self.samples)
        return [m for m, raw in enumerate(self.raw) if len(raw) and raw.shape[1] < n]

    def sums(self, index: int, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(K, G, d) sums of y z and (G, d) sums of y^2 of such a view, for factor values (K, N), by going through its samples."""
        here, block, columns = self.place(index), self.blocks[index], self.columns[index]
        shift, n_groups = np.ascontiguousarray(self.mean[:, here]), len(self.groups)
        cross, total = np.zeros((len(z), n_groups, len(columns))), np.zeros((n_groups, len(columns)))
        none = np.zeros((0, len(columns)))
        for lo, hi in blocks_of_samples(block):
            group, y = self.group[lo:hi], np.empty((len(columns), hi - lo), self.float_type)
            rows, _ = rows_of(block, lo, hi)
            fill_centred_block(rows, columns, NONE, group, shift, np.ascontiguousarray(self.unit[here]), 0, y)
            add_products(y, 0, by_group(z[:, lo:hi], group, n_groups, self.float_type), cross)
            add_errors(0, len(columns), 0, y, group, np.zeros((8, hi - lo), np.float32), none, total)
        return cross, total

    def place(self, index: int) -> slice:
        """Where the features of a view lie."""
        found = np.flatnonzero(self.view == index)
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)

    def by_sample(self, values: np.ndarray, here: slice) -> np.ndarray:
        """(d, N) the (G, D) numbers of these features, each sample with its group's; (d, 1) where there is one group."""
        chosen = values[:, here].T
        return chosen if len(self.groups) == 1 else chosen[:, self.group]


def read_views(data: ModelData, params: Settings) -> Views:
    """Bring the views into the form of the kernels. Raises ``ModelError`` for what cannot be fitted."""
    blocks = blocks_of(data)
    groups, group = groups_of(data)
    refuse_errors(problems_of(blocks, params, group))
    likelihoods = likelihoods_of(blocks, params)
    blocks, laws = zip(*map(as_fitted, blocks, likelihoods), strict=True)
    own = one_by_group(params, len(groups))
    parts: list[list[np.ndarray]] = [[] for _ in range(7)]
    features: list[list[str]] = []
    for block, word in zip(blocks, laws, strict=True):
        usable, found = usable_columns(block, word, group), moments(block, group)
        count, mean = found.count[:, usable], found.mean[:, usable]
        whole = word == "gaussian" and bool((count.sum(axis=0) == block.shape[0]).all())
        known, values = np.ones((len(usable), 0)), np.zeros((len(usable), 0))
        if not whole:
            known = np.ascontiguousarray(block.observed[:, usable].T, dtype=float)
            values = np.ascontiguousarray(block.values[:, usable].T) * known
        shift, unit = np.zeros_like(mean), np.ones(len(usable))
        if word == "gaussian":
            shift, unit[:] = mean * params["centre_views"], units_of(found, usable, params)
            if not whole:
                values = (values - shift.T[:, group]) * known / unit[:, None]
            null, kind = np.zeros(mean.shape if own else len(usable)), GAUSSIAN
        else:
            total = count.sum(axis=0)
            overall = (mean * count).sum(axis=0) / np.maximum(total, 1)
            null = best_constant(overall, total, word)
            if own:
                null = best_constant(np.where(count > 0, mean, overall), count, word)
            kind = POISSON if word == "poisson" else BERNOULLI
            if kind == BERNOULLI and params["bernoulli_bound"] == "bohning":
                kind = BOHNING
        made = (values, known, shift, unit, null, np.full(len(usable), kind), usable)
        for part, item in zip(parts, made, strict=True):
            part.append(item)
        features.append([block.names[1][column] for column in usable])
    raws, masks, means, units, nulls, kinds, columns = parts
    names = view_names(blocks)
    return Views(
        names,
        likelihoods,
        tuple(raws),
        tuple(masks),
        np.repeat(np.arange(len(blocks)), [len(part) for part in columns]),
        np.concatenate(kinds),
        tuple(columns),
        np.concatenate(means, axis=1),
        np.concatenate(units),
        np.concatenate(nulls, axis=-1),
        _named_apart(names, features),
        tuple(blocks[0].names[0]),
        groups,
        group,
        blocks,
        np.dtype(params["dtype"]),
    )


def _named_apart(views: tuple[str, ...], features: list[list[str]]) -> tuple[str, ...]:
    """Feature names, with the view's where two views have the same."""
    seen: dict[str, int] = {}
    for names in features:
        for name in names:
            seen[name] = seen.get(name, 0) + 1
    return tuple(
        name if seen[name] == 1 else f"{name} ({view})"
        for view, names in zip(views, features, strict=True)
        for name in names
    )
