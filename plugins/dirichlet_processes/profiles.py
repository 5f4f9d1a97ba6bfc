"""What the clusters of a partition look like: mean and interval of every column, given this grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from plaidwork.core.api import ModelData, first_number
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.rows import counts_of
from plaidwork.plugins.dirichlet_processes.settings import ColumnSettings
from plaidwork.plugins.dirichlet_processes.state import Ints, Table

LEVEL = 0.95


@dataclass(frozen=True)
class Profiles:
    """Rows of a table, one for each column of numbers or counts and each level of a column of categories (R of them).

    Of counts that share a total the value is the share of the total.

    ``value`` (K, R) and ``interval`` (K, R, 2) are on the scale of the data: means, rates, shares; ``whole`` (R,) is that of all
    samples, and ``stands_out`` (K, R) how far a cluster is from it, in standard deviations of the column.
    """

    names: tuple[str, ...]
    matrix: Ints
    value: Floats
    interval: Floats
    whole: Floats
    stands_out: Floats


def profiles_of(
    labels: Ints,
    data: ModelData,
    table: Table,
    params: ColumnSettings,
    centre: Floats,
    scale: Floats,
    weight: Floats,
) -> Profiles:
    """Posterior means and 95 % intervals of the parameters of each cluster with these members.

    ``centre``, ``scale`` (columns,) and ``weight`` (matrices,) are the base at its posterior mean, as the draws hold it.
    """
    blocks = tuple(data["views"])
    first = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
    several, k = len(blocks) > 1, int(labels.max()) + 1
    member = (labels == np.arange(k)[:, None]).astype(float)
    names, matrix, parts = [], [], []

    def called(v: int, j: int) -> str:
        name = str(blocks[v].names[1][j])
        return f"{name} ({blocks[v].name})" if several else name

    coded, counted, alone, joint = map(
        _places, (table.code_of, table.count_of, table.number_of, table.joint_of)
    )
    for v, j in sorted((*coded, *counted, *alone, *joint)):
        place, name = first[v] + j, called(v, j)
        texts = [name]
        if (v, j) in coded:
            at = coded[v, j]
            values, words = table.values[at], blocks[v].levels[j] if blocks[v].levels else ()
            chosen = [1] if list(values) == [0.0, 1.0] else list(range(len(values)))
            parts += [_codes(member, at, level, len(values), table, params) for level in chosen]
            texts = [_category(name, values[level], words, len(chosen) == 1) for level in chosen]
        elif (v, j) in counted:
            parts.append(_counts(member, counted[v, j], table, params, scale[place]))
        else:
            column = _column(table, alone[v, j]) if (v, j) in alone else _joint_column(table, joint[v, j])
            parts.append(_numbers(member, column, params, centre[place], scale[place], weight[v]))
        names += texts
        matrix += [v] * len(texts)
    for v in table.row_matrix:
        parts += _shares(member, counts_of(blocks[v]), weight[v])
        names += [called(v, j) for j in range(blocks[v].shape[1])]
        matrix += [int(v)] * blocks[v].shape[1]
    value, low, high, whole, spread = (np.stack([part[p] for part in parts], axis=-1) for p in range(5))
    far = (value - whole) / np.maximum(spread, 1e-12)
    return Profiles(
        tuple(names), np.array(matrix, np.int64), value, np.stack([low, high], axis=-1), whole, far
    )


Part = tuple[Floats, Floats, Floats, Floats, Floats]
"""Value, low and high end (K,), that of all samples and the spread of a column ()."""


class Column(NamedTuple):
    """A column of numbers (n,), standardised, which cells are known, and what they were standardised by."""

    x: Floats
    observed: np.ndarray
    zero: float
    unit: float


def _places(of: Ints) -> dict[tuple[int, int], int]:
    """The place of each column (matrix, column) among those of its kind."""
    return {(int(v), int(j)): at for at, (v, j) in enumerate(of)}


def _category(name: str, value: float, words: Sequence[str], yes: bool) -> str:
    """What the share of a category is called; that of a yes like its column, unless it has a word of its own."""
    if words:
        return f"{name} = {words[int(value) - first_number(words)]}"
    return name if yes else f"{name} = {value:g}"


def _column(table: Table, at: int) -> Column:
    """A column of numbers, independent of others within a cluster."""
    known = table.items.numbers[:, at], table.items.known[:, at]
    return Column(*known, table.centre[at], table.scale[at])


def _joint_column(table: Table, at: int) -> Column:
    """A column of numbers, correlated with others within a cluster."""
    known = table.items.joint[:, at], table.items.joint_known[:, at]
    return Column(*known, table.joint_centre[at], table.joint_scale[at])


def _numbers(member: Floats, column: Column, params: ColumnSettings, m0: float, b0: float, k0: float) -> Part:
    """A Student law of the mean: centre m_c, squared scale b_c / (a_c k_c), 2 a_c degrees.

    So it is also where the column is correlated with others in a cluster, with b0 = Psi0_jj / 2.
    """
    x, known = column.x, column.observed.astype(float)
    count = member @ known
    mean = member @ (x * known) / np.maximum(count, 1.0)
    square = (member * known * (x - mean[:, None]) ** 2).sum(axis=1)
    k_c, a_c = k0 + count, params["within_shape"] + 0.5 * count
    b_c = b0 + 0.5 * square + 0.5 * k0 * count / k_c * (mean - m0) ** 2
    centre = m0 + count / k_c * (mean - m0)
    half = stats.t.ppf(0.5 + 0.5 * LEVEL, 2.0 * a_c) * np.sqrt(b_c / (a_c * k_c))
    shown = known > 0
    spread = x[shown].std() if shown.any() else 0.0
    unit, zero = column.unit, column.zero
    whole = float(x[shown].mean()) if shown.any() else 0.0
    ends = (zero + unit * (centre - half), zero + unit * (centre + half))
    return zero + unit * centre, *ends, np.array(zero + unit * whole), np.array(unit * spread)


def _codes(member: Floats, at: int, level: int, levels: int, table: Table, params: ColumnSettings) -> Part:
    """A beta law of the share of a level."""
    codes, a = table.items.codes[:, at], params["level_weight"]
    hit, count = member @ (codes == level).astype(float), member @ (codes >= 0).astype(float)
    one, other = a + hit, a * (levels - 1) + count - hit
    low, high = (stats.beta.ppf(q, one, other) for q in (0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL))
    known = codes >= 0
    whole = float((codes[known] == level).mean()) if known.any() else 0.0
    return one / (one + other), low, high, np.array(whole), np.array(np.sqrt(whole * (1.0 - whole)))


def _counts(member: Floats, at: int, table: Table, params: ColumnSettings, rate: float) -> Part:
    """A gamma law of the rate, in counts of a sample of usual exposure."""
    x, unit = table.items.counts[:, at], table.unit[at]
    known = x >= 0
    events, time = (
        member @ np.where(known, x, 0.0),
        member @ np.where(known, table.items.exposure[:, at], 0.0),
    )
    shape = params["rate_shape"] + events
    low, high = (
        unit * stats.gamma.ppf(q, shape) / (rate + time) for q in (0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL)
    )
    spread = float(x[known].std()) if known.any() else 0.0
    whole = float(x[known].mean()) if known.any() else 0.0
    return unit * shape / (rate + time), low, high, np.array(whole), np.array(spread)


def _shares(member: Floats, counts: Floats, weight: float) -> list[Part]:
    """Beta laws of the shares of all columns of ``counts`` (n, W), which together are a Dirichlet law."""
    totals = counts.sum(axis=1)
    one = weight + member @ counts
    other = one.sum(axis=1, keepdims=True) - one
    if counts.shape[1] == 1:
        other = np.full_like(one, 1e-12)  # the whole total
    low, high = (stats.beta.ppf(q, one, other) for q in (0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL))
    there = totals > 0
    share = counts[there] / totals[there, None]
    spread = share.std(axis=0) if there.any() else np.zeros(counts.shape[1])
    whole = counts.sum(axis=0) / max(float(totals.sum()), 1.0)
    found = zip((one / (one + other)).T, low.T, high.T, whole, spread, strict=True)
    return [(value, a, b, np.array(w), np.array(sd)) for value, a, b, w, sd in found]
