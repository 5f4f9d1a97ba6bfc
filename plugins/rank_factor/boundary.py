"""A Gaussian process on the scores as classifier: hinges of f(z) by the augmentation of the planes (Polson and Scott 2011).

    f_g ~ GP(0, size^2 exp(-|z - z'|^2 / (2 K length^2))),   prod_{n, g: y_ng != 0} exp(-2 C max(0, 1 - y_ng f_g(z_n)))

f_g is a sum of the kernel at the scores u of the labelled training samples (of ``MOST_CENTRES`` of them): f_g(z) = k(z, u) w_g with
w_g ~ N(0, k(u, u)^-1), which is the process itself at all centres. Given the weights kappa of the hinges, w_g is normal, worked out
as beta = L' w with k(u, u) = L L': precision I + C^2 Phi' diag(kappa) Phi, linear term Phi' y (C^2 kappa + C), Phi = k(z, u) L'^-1.

The labels are cut from the scores (Plummer 2015, Statistics and Computing 25, 37-43): scores follow from the data alone, f from scores
and labels. Pulled by such flexible boundaries, training scores would part as those of new samples, whose labels are not known, do not.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from plaidwork.core.api import Clock
from plaidwork.plugins.rank_factor.kernels.labels import draw_label_weights
from plaidwork.plugins.rank_factor.radial import Boundary
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, Floats, SamplerSettings, Settings

MOST_CENTRES = 1000
BEFORE, EVERY = 24, 4
"""Sweeps before the end of the warm-up in which the boundary settles; then it is drawn every so many sweeps, as it changes no score."""
IN_BLOCKS = 8
"""How many times as fast a sample is in slices of hundreds of samples."""
JITTER = 1e-8
"""Added to the diagonal of the kernel, as a share of it."""


def is_process(params: Settings) -> bool:
    """Whether the classifier is a Gaussian process."""
    return params["classifier"] == "process"


def centres_of(setup: Setup) -> np.ndarray:
    """(M,) places among the training samples of those at whose scores the centres are; even over the classes when not all."""
    codes = setup.codes[setup.train]
    labelled = np.argsort(codes, kind="stable")[int((codes < 0).sum()) :]
    count = min(len(labelled), MOST_CENTRES)
    return np.sort(labelled[np.arange(count) * len(labelled) // count])


def boundary_of(z: Floats, weights: Floats, setup: Setup, params: SamplerSettings) -> Boundary:
    """The boundary of weights (G, M) with the training scores ``z`` (N, K)."""
    return Boundary(z[centres_of(setup)], weights, params["boundary_length"], params["boundary_size"])


def of_state(state: Fields, setup: Setup, params: SamplerSettings) -> Boundary:
    """The boundary of a state."""
    return boundary_of(state["z"], state["beta"][0], setup, params)


def drawn_now(clock: Clock) -> bool:
    """Whether the boundary is drawn in this sweep."""
    after = clock.sweep - clock.warmup
    return clock.sweep == 0 or -BEFORE <= after < 0 or (after > 0 and after % EVERY == EVERY - 1)


def work_on_sample(setup: Setup) -> int:
    """Work of a sample, as of ``gibbs.in_parts``."""
    m, g = len(centres_of(setup)), setup.shape[2]
    return 20 * m + m * m * (1 + g) // 5


def begin(state: Fields, setup: Setup, params: SamplerSettings) -> None:
    """Factor of the kernel at the centres; sums over the samples, which begin with the prior."""
    boundary = of_state(state, setup, params)
    own = boundary.kernel(boundary.centres)
    own[np.diag_indices_from(own)] += JITTER * boundary.size**2
    m, g = len(own), setup.shape[2]
    state["lower"] = cholesky(own, lower=True)
    state["steep"] = np.repeat(np.eye(m)[None], g, axis=0)
    state["pull"] = np.zeros((g, m))


def sample_terms(
    state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator, lo: int, hi: int
) -> tuple[Floats, Floats]:
    """Draw the weights of the hinges of samples lo to hi; precision (G, M, M) and linear term (G, M) by them."""
    boundary, weight, y = of_state(state, setup, params), params["label_weight"], setup.y[lo:hi]
    near, kappa = boundary.kernel(state["z"][lo:hi]), state["label_kappa"][lo:hi]
    draw_label_weights(rng, y, near @ boundary.weights.T, weight, kappa)
    basis = solve_triangular(state["lower"], near.T, lower=True)
    steep, pull = np.empty_like(state["steep"]), np.empty_like(state["pull"])
    for g in range(y.shape[1]):
        steep[g] = (basis * (weight**2 * kappa[:, g])) @ basis.T
        pull[g] = basis @ (y[:, g] * (weight**2 * kappa[:, g] + weight))
    return steep, pull


def add(state: Fields, terms: tuple[Floats, Floats]) -> None:
    """Add what some samples say."""
    state["steep"] += terms[0]
    state["pull"] += terms[1]


def draw_weights(state: Fields, rng: np.random.Generator, g: int) -> None:
    """Draw the weights of the centres of classifier g."""
    factor = cholesky(state["steep"][g], lower=True)
    drawn = cho_solve((factor, True), state["pull"][g])
    drawn += solve_triangular(factor, rng.standard_normal(len(factor)), lower=True, trans="T")
    state["beta"][0, g] = solve_triangular(state["lower"], drawn, lower=True, trans="T")


def work_out(state: Fields, setup: Setup, params: SamplerSettings, lo: int, hi: int) -> None:
    """Work out f at the scores of training samples lo to hi."""
    state["f"][lo:hi] = of_state(state, setup, params).values(state["z"][lo:hi])


def end(state: Fields) -> None:
    """Let go of what its draw needed."""
    del state["lower"], state["steep"], state["pull"]
