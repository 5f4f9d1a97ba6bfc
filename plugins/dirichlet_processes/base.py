"""What the clusters have in common, learned: spread, centres and their weight, rates.

The parameters of the clusters are drawn, used once and thrown away: a valid block of a Gibbs sampler, as they are integrated out
everywhere else. All these updates are conjugate; ``joint.py`` and ``rows.py`` have those of correlated columns and of rows of counts.

    s2_kj ~ IG(a_c, b_c), mu_kj ~ N(m_c, s2_kj / k_c)          given the members
    b0_j ~ Gamma(2 + K a0, 2 / w + sum_k 1 / s2_kj)            w = within (a0 - 1): E s2 = within at b0 = w; b0_j >= least_j (a0 - 1)
    m0_j ~ N(sum_k k0 mu_kj / s2_kj / P, 1 / P)                P = 1 + sum_k k0 / s2_kj
    k0_v ~ Gamma(1 + K d / 2, 1 / weight + sum_kj (mu_kj - m0_j)^2 / (2 s2_kj))      by matrix of d columns
    rate_j ~ Gamma(1 + K a, 1 / a + sum_k r_kj),  r_kj ~ Gamma(a + S_kj, rate_j + E_kj)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from plaidwork.plugins.dirichlet_processes.joint import (
    first_scatter,
    log_prior_joint,
    log_share_above,
    prior_scatter,
    update_joint,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters
from plaidwork.plugins.dirichlet_processes.kernels.scatter import gamma_above
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.rows import log_prior_shares, update_shares
from plaidwork.plugins.dirichlet_processes.settings import ColumnSettings
from plaidwork.plugins.dirichlet_processes.state import Base, Table

SHAPE_B0 = 2.0
LEAST = 1e-300


def usual_b0(params: ColumnSettings) -> float:
    """b0 at which the prior mean of a variance is ``within``."""
    return params["within"] * (params["within_shape"] - 1.0)


def least_b0(params: ColumnSettings, least: Floats) -> Floats:
    """b0 at which a variance within is expected to be ``least``."""
    return (params["within_shape"] - 1.0) * least


def bounded(rng: np.random.Generator, b0: Floats, shape: float, rate: Floats, least: Floats) -> Floats:
    """(G,) draws ``b0`` of Gamma(shape, rate), drawn anew of those from ``least`` on where they are below it: draws of the bounded law."""
    for j in np.flatnonzero(b0 < least).tolist():
        b0[j] = gamma_above(rng, shape, float(rate[j] * least[j])) / rate[j]
    return b0


def first_base(
    params: ColumnSettings, matrices: int, numbers: int, counts: int, joint: tuple[int, ...] = ()
) -> Base:
    """The base where it is not learned, and where a chain begins; ``joint`` are the widths of matrices of correlated columns."""
    return {
        "m0": np.zeros(numbers),
        "k0": np.full(matrices, params["mean_weight"]),
        "b0": np.full(numbers, usual_b0(params)),
        "rate": np.full(counts, params["rate_shape"]),
        "joint_m0": np.zeros(sum(joint)),
        "psi": first_scatter(params, joint),
    }


def prior_base(
    params: ColumnSettings,
    matrices: int,
    numbers: int,
    counts: int,
    rng: np.random.Generator,
    joint: tuple[int, ...] = (),
    least: float = 0.0,
) -> Base:
    """A draw from the prior; ``least`` is the least variance within a cluster of every column."""
    if not params["learn_base"]:
        return first_base(params, matrices, numbers, counts, joint)
    m0, k0 = rng.standard_normal(numbers), rng.exponential(params["mean_weight"], matrices)
    usual = np.full(numbers, usual_b0(params) / SHAPE_B0)
    b0 = rng.gamma(SHAPE_B0, usual)
    return {
        "m0": m0,
        "k0": k0,
        "b0": bounded(rng, b0, SHAPE_B0, 1.0 / usual, least_b0(params, np.full(numbers, least))),
        "rate": rng.exponential(params["rate_shape"], counts),
        "joint_m0": rng.standard_normal(sum(joint)),
        "psi": prior_scatter(params, joint, rng, least),
    }


def log_prior(base: Base, params: ColumnSettings, table: Table) -> float:
    """Log density of the base, as far as it is learned and some column has it."""
    if not params["learn_base"]:
        return 0.0
    total = -0.5 * float((base["m0"] ** 2).sum()) - 0.5 * len(base["m0"]) * math.log(2.0 * math.pi)
    usual = SHAPE_B0 / usual_b0(params)
    per_column = (
        SHAPE_B0 * math.log(usual)
        - gammaln(SHAPE_B0)
        + (SHAPE_B0 - 1.0) * np.log(base["b0"])
        - usual * base["b0"]
    )
    if table.least.any():
        per_column -= log_share_above(SHAPE_B0, usual * least_b0(params, table.least))
    used = base["k0"][table.matrices_of_numbers]
    total += float(per_column.sum()) - float(
        (np.log(params["mean_weight"]) + used / params["mean_weight"]).sum()
    )
    total += log_prior_joint(base, params, table) + log_prior_shares(base, params, table)
    return total - float((np.log(params["rate_shape"]) + base["rate"] / params["rate_shape"]).sum())


def draw_variances_and_means(
    rng: np.random.Generator, c: Clusters, number: int, base: Base, k0: Floats, a0: float
) -> tuple[Floats, Floats]:
    """Variances and means (K, G) of the first K slots given their members; ``k0`` (G,) is by column."""
    count, gap = c.known[:number], c.mean[:number] - base["m0"]
    k_c = k0 + count
    b_c = base["b0"] + 0.5 * c.square[:number] + 0.5 * k0 * count / k_c * gap * gap
    s2 = b_c / np.maximum(rng.gamma(a0 + 0.5 * count), LEAST)
    return s2, base["m0"] + count / k_c * gap + np.sqrt(s2 / k_c) * rng.standard_normal(count.shape)


def update_base(
    rng: np.random.Generator, c: Clusters, number: int, base: Base, params: ColumnSettings, table: Table
) -> None:
    """Draw the base given the clusters in the first ``number`` slots, in place. O(K columns)."""
    a0, matrix = params["within_shape"], table.number_of[:, 0]
    if len(matrix):
        s2, mu = draw_variances_and_means(rng, c, number, base, base["k0"][matrix], a0)
        rate = SHAPE_B0 / usual_b0(params) + (1.0 / s2).sum(axis=0)
        shape = SHAPE_B0 + number * a0
        b0 = np.maximum(rng.gamma(shape, size=len(matrix)) / rate, LEAST)
        base["b0"] = bounded(rng, b0, shape, rate, least_b0(params, table.least))
        weight = base["k0"][matrix] / s2
        precision = 1.0 + weight.sum(axis=0)
        base["m0"] = (weight * mu).sum(axis=0) / precision + rng.standard_normal(len(matrix)) / np.sqrt(
            precision
        )
        square = ((mu - base["m0"]) ** 2 / (2.0 * s2)).sum(axis=0)
        for v in table.matrices_of_numbers:
            here = matrix == v
            shape = 1.0 + 0.5 * number * int(here.sum())
            base["k0"][v] = max(
                rng.gamma(shape) / (1.0 / params["mean_weight"] + float(square[here].sum())), 1e-12
            )
    if len(base["rate"]):
        a = params["rate_shape"]
        rates = rng.gamma(a + c.events[:number]) / (base["rate"] + c.time[:number])
        base["rate"] = np.maximum(
            rng.gamma(1.0 + number * a, size=len(base["rate"])) / (1.0 / a + rates.sum(axis=0)), 1e-12
        )
    update_joint(rng, c, number, base, params, table)
    update_shares(rng, c, number, base, params, table)
