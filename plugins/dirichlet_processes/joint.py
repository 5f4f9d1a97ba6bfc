"""What clusters with correlated columns have in common, learned: Psi0, the centres and their weight.

    Sigma_k ~ IW(nu_c, Psi_c), mu_k ~ N(m_c, Sigma_k / k_c)              given the members; nu0 = d - 1 + 2 a0
    Psi0 ~ Wishart(d + 3 + K nu0, (S^-1 + sum_k Sigma_k^-1)^-1)          S = 2 w / (d + 3) I, so that E Psi0 = 2 w I
    m0 ~ N(P^-1 sum_k k0 Sigma_k^-1 mu_k, P^-1)                          P = I + sum_k k0 Sigma_k^-1
    k0 ~ Gamma(1 + K d / 2, 1 / weight + sum_k (mu_k - m0)' Sigma_k^-1 (mu_k - m0) / 2)

Psi0 is bounded: of each column the variance given the columns before it is 2 (a0 - 1) times the least variance of ``Table`` or more, so that
Sigma is expected to be no narrower than that (``wishart_above``).

With one column these are the laws of an independent column, b0 = Psi0 / 2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincc, gammaln, multigammaln

from plaidwork.plugins.dirichlet_processes.joint_layout import log_determinant, pieces
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters
from plaidwork.plugins.dirichlet_processes.kernels.scatter import (
    MORE,
    update_scatter,
    wishart_above,
)
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.settings import ColumnSettings
from plaidwork.plugins.dirichlet_processes.state import Base, Table

TINY = 1e-300
"""A probability below it is taken by its logarithm alone."""


def usual_scatter(params: ColumnSettings) -> float:
    """Prior mean of each diagonal number of Psi0: the prior mean of a variance is ``within`` then."""
    return 2.0 * params["within"] * (params["within_shape"] - 1.0)


def first_scatter(params: ColumnSettings, joint: tuple[int, ...]) -> Floats:
    """(Q,) Psi0 of each matrix at its prior mean, d x d numbers each."""
    return np.concatenate([np.zeros(0), *((usual_scatter(params) * np.eye(d)).ravel() for d in joint)])


def least_scatter(params: ColumnSettings, least: Floats) -> Floats:
    """Of each column the least variance in Psi0 given the columns before it, where a variance within is expected to be ``least`` or more."""
    return 2.0 * (params["within_shape"] - 1.0) * least


def prior_scatter(
    params: ColumnSettings, joint: tuple[int, ...], rng: np.random.Generator, least: float
) -> Floats:
    """(Q,) a draw from the prior, ``least`` the least variance of every column."""
    usual, parts = usual_scatter(params), [np.zeros(0)]
    for d in joint:
        bounds = least_scatter(params, np.full(d, least))
        parts.append(wishart_above(rng, d + MORE, (d + MORE) / usual * np.eye(d), bounds).ravel())
    return np.concatenate(parts)


def log_share_above(shape: Floats | float, least: Floats) -> Floats:
    """Log probability that a Gamma(shape, 1) number is ``least`` or more; by its first term where it is too small for a number."""
    share = gammaincc(shape, least)
    far = (shape - 1.0) * np.log(np.maximum(least, 1.0)) - least - gammaln(shape)
    return np.where(share > TINY, np.log(np.maximum(share, TINY)), far)


def log_prior_joint(base: Base, params: ColumnSettings, table: Table) -> float:
    """Log density of Psi0, the centres and their weights of correlated columns."""
    total, usual = 0.0, usual_scatter(params)
    for (d, columns, square), v in zip(pieces(table.joint_first), table.joint_matrix, strict=True):
        psi, df = base["psi"][square].reshape(d, d), d + MORE
        total += 0.5 * (df - d - 1.0) * log_determinant(psi)
        total -= 0.5 * df / usual * float(np.trace(psi)) + 0.5 * df * d * math.log(2.0 * usual / df)
        total -= float(multigammaln(0.5 * df, d))
        bounds = 0.5 * df / usual * least_scatter(params, table.joint_least[columns])
        total -= float(log_share_above(np.asarray(0.5 * (df - np.arange(d)), float), bounds).sum())
        m0, k0 = base["joint_m0"][columns], float(base["k0"][v])
        total -= 0.5 * float((m0 * m0).sum()) + 0.5 * d * math.log(2.0 * math.pi)
        total -= math.log(params["mean_weight"]) + k0 / params["mean_weight"]
    return total


def update_joint(
    rng: np.random.Generator, c: Clusters, number: int, base: Base, params: ColumnSettings, table: Table
) -> None:
    """Draw the base of correlated columns given the first ``number`` slots, in place. O(K d^3)."""
    for (d, columns, square), v in zip(pieces(table.joint_first), table.joint_matrix, strict=True):
        m0, psi = base["joint_m0"][columns], base["psi"][square].reshape(d, d)
        centres = np.ascontiguousarray(c.joint_centre[:number, columns])
        roots = np.ascontiguousarray(c.joint_root[:number, square]).reshape(number, d, d)
        base["k0"][v] = update_scatter(
            rng, c.size[:number], centres, roots, m0, psi, float(base["k0"][v]), params["within_shape"],
            usual_scatter(params), params["mean_weight"], least_scatter(params, table.joint_least[columns]),
        )  # fmt: skip
