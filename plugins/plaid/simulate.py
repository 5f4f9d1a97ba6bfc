"""Draws from the model: memberships, hyper-parameters and data; and the designs of the synthetic examples."""

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
    """``x_ij ~ N(phi + sum_k z1_ik z2_jk theta_k, 1 / tau0)``: (N1, N2); with layers ``b_kj`` and effects likewise."""
    if "layers" in replica:
        layers = replica["layers"]
        mean = replica["phi"] + replica["rows"].T.astype(float) @ layers["profiles"]
        mean = mean + layers["row_effects"][:, None] + layers["column_effects"]
        sd = (replica["tau0"] * layers["row_weights"]) ** -0.5
        return mean + rng.standard_normal(mean.shape) * sd[:, None]
    mean = replica["phi"] + np.einsum("k,ki,kj->ij", replica["theta"], replica["rows"], replica["columns"])
    return mean + rng.standard_normal(mean.shape) / np.sqrt(replica["tau0"])


SIZES = {"synth1": 3, "synth2": 3, "synth3": 4, "synth4": 4}
OVERLAPS = {"synth1": (0, 0), "synth2": (5, 10), "synth3": (5, 10), "synth4": (10, 20)}


def synthetic(name: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A fresh matrix of the design of ``synth1`` to ``synth4``: 100 x 200, noise 1, background 0.05, shuffled.

    Blocks of 35x70, 25x50, 20x40 (and 20x40) cells lie along the diagonal, neighbours sharing ``OVERLAPS``
    rows and columns; shifts 4 each, or 2, 3, 4, 5.
    """
    count = SIZES[name]
    theta = np.full(3, 4.0) if count == 3 else np.arange(2.0, 6.0)
    members = []
    for side, (n, lengths) in enumerate(((100, (35, 25, 20, 20)), (200, (70, 50, 40, 40)))):
        z, first = np.zeros((count, n), bool), 0
        for k in range(count):
            z[k, first : first + lengths[k]] = True
            first += lengths[k] - OVERLAPS[name][side]
        members.append(z[:, rng.permutation(n)])
    numbers: Scalars = {"phi": 0.05, "tau0": 1.0, "alpha": 1.0, "mu": 0.0, "tau": 1.0}
    truth: Levels = {"rows": members[0], "columns": members[1], "theta": theta, **numbers}
    return {"X": simulate_matrix(rng, truth), "rows": members[0], "columns": members[1], "theta": theta}
