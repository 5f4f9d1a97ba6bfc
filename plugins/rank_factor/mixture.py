"""The classifiers and the groups of samples with a plane each: draws of beta, t, mu, psi, nu, alpha."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor.kernels.labels import draw_label_weights
from plaidwork.plugins.rank_factor.kernels.lanes import draw_rows
from plaidwork.plugins.rank_factor.kernels.random import draw_shrinkage
from plaidwork.plugins.rank_factor.kernels.solve import outer_packed
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, SamplerSettings, Settings

FROZEN_SWEEPS = 10
"""Sweeps before a sample may change its group."""


def extended(z: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """(N, K) scores, with a column of ones when the classifiers have an offset."""
    return np.column_stack([z, np.ones(len(z))]) if beta.shape[-1] > z.shape[1] else z


def decisions(z: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """(N, T, G) values of all classifiers."""
    groups, g, k = beta.shape
    return (extended(z, beta) @ beta.reshape(groups * g, k).T).reshape(len(z), groups, g)


def log_weights(state: Fields) -> np.ndarray:
    """(T,) log q_t; the last component takes what is left."""
    log_nu = state["log_nu"].copy()
    log_nu[-1] = 0.0
    return log_nu + np.concatenate([[0.0], np.cumsum(state["log_rest"][:-1])])


def log_densities(log_weight: np.ndarray, mu: np.ndarray, psi: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(N, T) log q_t + log N(z | mu_t, I / psi_t), up to a constant."""
    squares = ((z[:, None] - mu) ** 2).sum(axis=2)
    return log_weight + 0.5 * z.shape[1] * np.log(psi) - 0.5 * psi * squares


def choose(log_p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N,) one of T by their log probabilities (N, T), which need no norm."""
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True)).cumsum(axis=1)
    return np.minimum((rng.random((len(p), 1)) * p[:, -1:] >= p).sum(axis=1), p.shape[1] - 1)


def group_log_probabilities(state: Fields, setup: Setup, params: Settings) -> np.ndarray:
    """(N, T) log conditional of t without its norm, the label augmentation integrated out."""
    apart = np.maximum(0.0, 1.0 - setup.y[:, None] * decisions(state["z"], state["beta"]))
    hinge = (apart * (setup.y[:, None] != 0)).sum(axis=2)
    log_p = log_densities(log_weights(state), state["mu"], state["psi"], state["z"])
    return log_p - 2.0 * params["label_weight"] * hinge


def draw_groups(state: Fields, setup: Setup, params: Settings, rng: np.random.Generator) -> None:
    """Draw t; the caller draws the label augmentation afresh at once."""
    state["t"] = choose(group_log_probabilities(state, setup, params), rng)


def draw_label_terms(state: Fields, setup: Setup, params: Settings, rng: np.random.Generator) -> None:
    """Draw the augmentation of the labels."""
    own = decisions(state["z"], state["beta"])[np.arange(len(state["t"])), state["t"]]
    draw_label_weights(rng, setup.y, own, params["label_weight"], state["label_kappa"])


def size_precision(params: SamplerSettings) -> float:
    """Of the normal factor that bounds the coefficients of a single plane; 0 without."""
    size = params["coefficient_size"]
    return size**-2.0 if size and params["classifier"] == "linear" else 0.0


def coefficient_terms(
    state: Fields, setup: Setup, params: Settings, of: slice = slice(None)
) -> tuple[np.ndarray, np.ndarray]:
    """Precision (T G, packed) and linear term (T G, K') of all classifiers by the labels ``of`` some samples, without their prior."""
    groups, g, _ = state["beta"].shape
    weight, z = params["label_weight"], extended(state["z"][of], state["beta"])
    member = (state["t"][of, None] == np.arange(groups))[:, :, None]
    steep = (weight**2 * state["label_kappa"][of])[:, None] * member
    pull = (setup.y[of] * (weight**2 * state["label_kappa"][of] + weight))[:, None] * member
    precision = steep.reshape(-1, groups * g).T @ outer_packed(z)
    return precision, pull.reshape(-1, groups * g).T @ z


def draw_coefficients(
    state: Fields,
    params: SamplerSettings,
    rng: np.random.Generator,
    precision: np.ndarray,
    linear: np.ndarray,
) -> None:
    """Draw beta and its shrinkage, one hierarchy per classifier, from their terms (:func:`coefficient_terms`), which are used up."""
    beta, b, e = (part.reshape(len(linear), -1) for part in (state["beta"], state["b"], state["e"]))
    draw_rows(rng, precision, linear, 1.0 / b + size_precision(params), beta)
    k = linear.shape[1]
    rate = np.repeat(state["b_phi"].ravel(), k).reshape(-1, k)
    shape, second = params["coefficient_shape"], params["coefficient_rate"]
    draw_shrinkage(rng, beta, b, e, rate, shape, second)
    size = state["b_phi"].shape
    drawn = rng.standard_gamma(0.5 + second * k, size) / (state["b_phi_rate"] + state["e"].sum(axis=2))
    state["b_phi"] = np.maximum(drawn, 1e-100)
    state["b_phi_rate"] = np.maximum(rng.standard_gamma(1.0, size) / (1.0 + state["b_phi"]), 1e-100)


def draw_mixture(state: Fields, params: Settings, rng: np.random.Generator) -> None:
    """Draw mu, psi, nu and alpha given the groups."""
    z, t, psi = state["z"], state["t"], state["psi"]
    groups, k = state["mu"].shape
    count = np.bincount(t, minlength=groups)
    total = np.zeros((groups, k))
    np.add.at(total, t, z)
    precision = 1.0 + count * psi
    noise = rng.standard_normal((groups, k)) / np.sqrt(precision)[:, None]
    state["mu"] = psi[:, None] * total / precision[:, None] + noise
    squares = np.bincount(t, weights=((z - state["mu"][t]) ** 2).sum(axis=1), minlength=groups)
    drawn = rng.standard_gamma(params["precision_shape"] + 0.5 * k * count)
    state["psi"] = np.maximum(drawn, 1e-100) / (params["precision_rate"] + 0.5 * squares)
    draw_sticks(state, params, count, rng)


def draw_sticks(state: Fields, params: Settings, count: np.ndarray, rng: np.random.Generator) -> None:
    """Draw log nu and log (1 - nu) without rounding, then alpha."""
    groups = len(count)
    after = state["alpha"] + np.concatenate([np.cumsum(count[::-1])[::-1][1:], [0]])
    one = np.log(rng.standard_gamma(1.0 + count))
    other = np.log(rng.standard_gamma(after + 1.0)) + np.log1p(-rng.random(groups)) / after
    both = np.logaddexp(one, other)
    state["log_nu"], state["log_rest"] = one - both, other - both
    rate = params["mass_rate"] - float(state["log_rest"][:-1].sum())
    drawn = float(rng.standard_gamma(params["mass_shape"] + groups - 1.0)) / rate
    state["alpha"] = max(drawn, 1e-6)
