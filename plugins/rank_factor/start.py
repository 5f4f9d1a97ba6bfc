"""Before the first sweep: factors from a singular value decomposition, thresholds between the levels."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor.boundary import centres_of
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, Settings, factors_of

JITTER = 0.05
"""Sd of the noise on the first scores, by which chains differ from the start."""


def start_factors(setup: Setup, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(d, K) loadings and (N, K) scores: Z = sqrt(N) V, A = U S / sqrt(N) of the centred levels (or values)."""
    d, n, _ = setup.shape
    x = setup.x if setup.levels is None else setup.levels.values * setup.known
    count = setup.known.sum(axis=1, keepdims=True)
    x = (x - x.sum(axis=1, keepdims=True) / count) * setup.known
    a, z = 0.01 * rng.standard_normal((d, k)), rng.standard_normal((n, k))
    small = x @ x.T if d <= n else x.T @ x
    values, vectors = np.linalg.eigh(small)
    values, vectors = values[::-1], vectors[:, ::-1]
    use = min(k, int((values > 1e-10 * max(values[0], 1e-300)).sum()))
    root = np.sqrt(values[:use])
    left = vectors[:, :use] if d <= n else (x @ vectors[:, :use]) / root
    right = (x.T @ left) / root
    z[:, :use] = np.sqrt(n) * right
    a[:, :use] = left * root / np.sqrt(n)
    return a, z + JITTER * rng.standard_normal((n, k))


def start_thresholds(setup: Setup, a: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(d, m - 1) midpoints between the mean w of neighbouring levels; 0 where a row has fewer."""
    c = np.zeros((len(a), setup.n_thresholds))
    if setup.levels is None:
        return c
    for i, (level, count) in enumerate(zip(setup.levels.values, setup.levels.count, strict=True)):
        here = level >= 0
        total = np.bincount(level[here], weights=(z @ a[i])[here], minlength=count)
        mean = total / np.bincount(level[here], minlength=count)
        c[i, : count - 1] = (mean[1:] + mean[:-1]) / 2
    return c


def start_groups(z: np.ndarray, n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """(N,) groups by k-means++ on the first 8 scores, five rounds."""
    x = z[:, :8]
    centres = x[rng.integers(len(x))][None]
    for _ in range(n_groups - 1):
        nearest = ((x[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        total = nearest.sum()
        chosen = rng.choice(len(x), p=nearest / total) if total > 0 else rng.integers(len(x))
        centres = np.vstack([centres, x[chosen]])
    group = np.zeros(len(x), np.int64)
    for _ in range(5):
        group = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for t in range(n_groups):
            if (group == t).any():
                centres[t] = x[group == t].mean(axis=0)
    order = np.argsort(-np.bincount(group, minlength=n_groups), kind="stable")
    return np.argsort(order)[group]


def new_state(setup: Setup, params: Settings, rng: np.random.Generator) -> Fields:
    """The state of a sampler; names as in NOTES.md."""
    (d, n, g), k = setup.shape, factors_of(params, setup.shape[0])
    groups = params["n_components"] if params["classifier"] == "nonlinear" else 1
    process = params["classifier"] == "process"
    k_beta = len(centres_of(setup)) if process else k + bool(params["bias"])
    a, z = start_factors(setup, k, rng)
    t = start_groups(z, groups, rng) if groups > 1 else np.zeros(n, np.int64)
    mu = np.zeros((groups, k))
    for group in range(groups if groups > 1 else 0):
        here = t == group
        mu[group] = z[here].sum(axis=0) / (1 + here.sum())
    prior = (groups, g, 0 if process else k_beta)
    n_test = setup.test_cells.size if setup.test_cells is not None else 0
    state: Fields = {
        "a": a, "z": z, "c": start_thresholds(setup, a, z) if setup.likelihood == "levels" else np.zeros((d, 0)),
        "gamma": np.ones(d),
        "xi": np.ones((d, k)), "eta": np.ones((d, k)), "phi": np.ones(k), "phi_rate": 1.0,
        "beta": np.zeros((groups, g, k_beta)), "b": np.ones(prior), "e": np.ones(prior),
        "b_phi": np.ones((groups, g)), "b_phi_rate": np.ones((groups, g)),
        "label_kappa": np.zeros((n, g)),
        "t": t, "mu": mu, "psi": np.ones(groups), "alpha": 1.0,
        "log_nu": np.log(np.full(groups, 0.5)), "log_rest": np.log(np.full(groups, 0.5)),
        "precision": np.zeros((0, 0)), "linear": np.zeros((0, 0)),
        "scale_precision": np.zeros(packed_size(k)), "scale_linear": np.zeros(k),
        "kappa": np.zeros(0), "w": np.zeros((0, 0)), "measured": np.zeros((d, 4)), "squares": np.zeros(d),
        "new_z": np.zeros((n_test, k)), "new_f": np.zeros((n_test, g)),
    }  # fmt: skip
    if process:
        state["f"] = np.zeros((n, g))
    return state
