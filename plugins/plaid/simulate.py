"""Draws from the model: memberships, hyper-parameters and data."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.plaid.fields import Levels, Scalars
from plaidwork.plugins.plaid.kernels.birth_death import draw_subset
from plaidwork.plugins.plaid.priors import Priors


def draw_subsets(rng: np.random.Generator, size: int, n: int) -> np.ndarray:
    """(size, n) memberships, each of size m with P(m) = 1 / (m H_n) and uniform within."""
    return np.array([draw_subset(rng, n) for _ in range(size)], bool).reshape(size, n)


def draw_scalars(rng: np.random.Generator, priors: Priors) -> Scalars:
    """Hyper-parameters and background from their priors."""
    mu = priors.shift_mean
    if priors.learn_shift_mean:
        mu += rng.standard_normal() * priors.shift_mean_precision**-0.5
    return {
        "alpha": priors.mass.draw(rng),
        "mu": float(mu),
        "tau": priors.spread.draw(rng),
        "tau0": priors.noise.draw(rng),
        "phi": float(priors.background_mean + rng.standard_normal() * priors.background_precision**-0.5),
    }


def simulate_matrix(rng: np.random.Generator, replica: Levels) -> np.ndarray:
    """``x_ij ~ N(phi + sum_k z1_ik z2_jk theta_k, 1 / tau0)``: (N1, N2); with layers ``b_kj`` and effects likewise, t noise with heavy tails."""
    if "layers" in replica:
        layers = replica["layers"]
        mean = replica["phi"] + replica["rows"].T.astype(float) @ layers["profiles"]
        mean = mean + layers["row_effects"][:, None] + layers["column_effects"]
        sd = (replica["tau0"] * layers["row_weights"]) ** -0.5
        return mean + rng.standard_normal(mean.shape) * sd[:, None]
    mean = replica["phi"] + np.einsum("k,ki,kj->ij", replica["theta"], replica["rows"], replica["columns"])
    if "effects" in replica:
        effects = replica["effects"]
        mean = mean + effects["row_effects"][:, None] + effects["column_effects"]
    if "freedom" in replica:
        return mean + rng.standard_t(replica["freedom"], mean.shape) / np.sqrt(replica["tau0"])
    return mean + rng.standard_normal(mean.shape) / np.sqrt(replica["tau0"])
