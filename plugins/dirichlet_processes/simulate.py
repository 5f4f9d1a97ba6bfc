"""Draws from the prior: base, concentration, partition, and data given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from plaidwork.core.api import per_matrix
from plaidwork.plugins.dirichlet_processes.base import prior_base
from plaidwork.plugins.dirichlet_processes.kernels.scatter import wishart_of_inverse
from plaidwork.plugins.dirichlet_processes.likeness import at_shape, learns_shape, prior_shape
from plaidwork.plugins.dirichlet_processes.partitions import Floats, log_new, shift_of
from plaidwork.plugins.dirichlet_processes.settings import (
    CODES,
    COUNTS,
    JOINT,
    NUMBERS,
    ROWS,
    ColumnSettings,
    Settings,
)
from plaidwork.plugins.dirichlet_processes.starts import new_state
from plaidwork.plugins.dirichlet_processes.state import Base, Ints, State

MOST_SIMULATED = 6
"""Counts of a row that share a total."""


def kinds_simulated(params: ColumnSettings, matrices: int) -> tuple[str, ...]:
    """The likelihood of each matrix; numbers where none is named."""
    words = per_matrix(params["likelihoods"], [str(v) for v in range(matrices)])
    return tuple(word if word in (CODES, COUNTS, JOINT, ROWS) else NUMBERS for word in words)


def draw_partition(rng: np.random.Generator, table: Floats, shift: float) -> Ints:
    """(n,) labels by first appearance, one row after the other.

    For a finite mixture of n samples ``V_n`` in the table belongs to all n, so that placing one by one would be wrong: there a number
    of components is drawn, and shares for them.
    """
    labels: list[int] = []
    sizes: list[int] = []
    for _ in range(len(table) - 1):
        weights = np.exp([*np.log(np.array(sizes) + shift), table[len(sizes)]])
        k = min(
            int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right")), len(sizes)
        )
        if k == len(sizes):
            sizes.append(0)
        sizes[k] += 1
        labels.append(k)
    return np.array(labels, np.int64)


def draw_finite(rng: np.random.Generator, n: int) -> Ints:
    """(n,) labels of a mixture with k components, p(k) = 1 / (k (k + 1)), and even Dirichlet shares of weight 1."""
    k = int(1.0 / max(1.0 - rng.random(), 1e-9))  # P(k >= m) = 1 / m
    gammas = rng.gamma(np.ones(min(k, 10**6)))
    found = np.searchsorted(np.cumsum(gammas), rng.random(n) * gammas.sum(), side="right")
    _, first, codes = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def draw_state(params: Settings, shapes: Sequence[tuple[int, ...]], rng: np.random.Generator) -> State:
    """A state from the prior."""
    kinds, n = kinds_simulated(params, len(shapes)), shapes[0][0]
    widths = {
        kind: sum(shape[1] for shape, one in zip(shapes, kinds, strict=True) if one == kind)
        for kind in (NUMBERS, CODES, COUNTS)
    }
    learned = params["prior"] != "finite" and params["learn_alpha"]
    alpha = float(rng.gamma(params["alpha_shape"]) / params["alpha_rate"]) if learned else params["alpha"]
    if params["prior"] == "finite" and params["learn_alpha"]:
        alpha = params["alpha_shape"] / params["alpha_rate"]
    discount = (
        params["discount"] if params["prior"] == "pitman_yor" and not params["learn_discount"] else 0.25
    )
    if params["prior"] == "pitman_yor" and params["learn_discount"]:
        discount = float(rng.beta(1.0, 3.0))
    joint = tuple(shape[1] for shape, kind in zip(shapes, kinds, strict=True) if kind == JOINT)
    own = params
    if learns_shape(params, kinds):
        own = cast(Settings, {**params, "within_shape": prior_shape(params, rng)})
    base = prior_base(own, len(shapes), widths[NUMBERS], widths[COUNTS], rng, joint, params["least_within"])
    if own is not params:
        base["shape"] = own["within_shape"]
    base["k0"] = np.where(
        [kind in (NUMBERS, JOINT) for kind in kinds], base["k0"], params["mean_weight"]
    )  # else it stays as it begins
    shared = [v for v, kind in enumerate(kinds) if kind == ROWS]
    base["k0"][shared] = params["share_weight"]
    if params["learn_base"]:
        base["k0"][shared] = rng.exponential(params["share_weight"], len(shared))
    columns = sum(shapes[v][1] for v in shared)
    if params["prior"] == "finite":
        labels = draw_finite(rng, n)
    else:
        labels = draw_partition(rng, log_new(params, n, alpha, discount), shift_of(params, discount))
    state = new_state(
        labels,
        (widths[NUMBERS], widths[CODES] + len(shared), 2 * widths[CODES] + columns, widths[COUNTS]),
        params,
        base,
        alpha,
        discount,
        np.zeros((n, sum(joint))),
        joint,
    )
    number = int(labels.max()) + 1
    state["clusters"]["size"][:number] = np.bincount(labels)
    state["at"][:2] = number
    return state


def draw_data(
    state: State, params: Settings, shapes: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> tuple[Floats, ...]:
    """Matrices given the partition and the base; the clusters' parameters are drawn anew. Categories are 0 and 1."""
    labels, base, out = state["labels"], state["base"], []
    params = at_shape(params, base)
    at_number, at_count, at_joint, at_square = 0, 0, 0, 0
    for v, (kind, (_, d)) in enumerate(zip(kinds_simulated(params, len(shapes)), shapes, strict=True)):
        here = slice(at_number, at_number + d) if kind == NUMBERS else slice(0)
        counted = slice(at_count, at_count + d) if kind == COUNTS else slice(0)
        own: Base = {
            "m0": base["m0"][here],
            "k0": base["k0"][v : v + 1],
            "b0": base["b0"][here],
            "rate": base["rate"][counted],
            "joint_m0": base["joint_m0"][at_joint : at_joint + d],
            "psi": base["psi"][at_square : at_square + d * d],
        }
        out.append(draw_matrix(labels, own, kind, d, params, rng))
        at_number += d * (kind == NUMBERS)
        at_count += d * (kind == COUNTS)
        at_joint += d * (kind == JOINT)
        at_square += d * d * (kind == JOINT)
    return tuple(out)


def draw_matrix(
    labels: Ints, base: Base, kind: str, d: int, params: ColumnSettings, rng: np.random.Generator
) -> Floats:
    """One matrix (n, d) given the cluster of each row (n,) and its base; the clusters' parameters are drawn anew."""
    number, n = int(labels.max()) + 1, len(labels)
    if kind == NUMBERS:
        s2 = base["b0"] / rng.gamma(params["within_shape"], size=(number, d))
        mu = base["m0"] + np.sqrt(s2 / base["k0"][0]) * rng.standard_normal((number, d))
        return np.asarray(mu[labels] + np.sqrt(s2[labels]) * rng.standard_normal((n, d)))
    if kind == JOINT:
        return draw_joint(labels, base, d, params, rng)
    if kind == CODES:
        share = rng.beta(params["level_weight"], params["level_weight"], (number, d))
        return (rng.random((n, d)) < share[labels]).astype(float)
    if kind == ROWS:  # totals are not modelled: here they are short, and some are 0
        shares = rng.dirichlet(np.full(d, base["k0"][0]), number)
        return rng.multinomial(rng.integers(0, MOST_SIMULATED + 1, n), shares[labels]).astype(float)
    rates = rng.gamma(params["rate_shape"], size=(number, d)) / base["rate"]
    return rng.poisson(rates[labels]).astype(float)


def draw_joint(labels: Ints, base: Base, d: int, params: ColumnSettings, rng: np.random.Generator) -> Floats:
    """(n, d) correlated columns: ``Sigma^-1 ~ Wishart(d - 1 + 2 a0, Psi0^-1)`` for each cluster."""
    out = np.empty((len(labels), d))
    psi = np.ascontiguousarray(base["psi"].reshape(d, d))
    for k in range(int(labels.max()) + 1):
        here = labels == k
        root = wishart_of_inverse(rng, d - 1.0 + 2.0 * params["within_shape"], psi)
        spread = np.linalg.inv(root)  # Sigma = spread' spread
        mu = base["joint_m0"] + rng.standard_normal(d) @ spread / np.sqrt(base["k0"][0])
        out[here] = mu + rng.standard_normal((int(here.sum()), d)) @ spread
    return out
