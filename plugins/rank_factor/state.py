"""What states and settings hold, by name. d rows (features), N training samples, M test samples, K factors, T groups,
G classifiers (K' coefficients each); symmetric K x K matrices are packed, row by row of the lower triangle (NOTES.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, get_args

import numpy as np
from numpy.typing import NDArray

from plaidwork.plugins.rank_factor.radial import Boundary

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Settings(TypedDict):
    """The settings, in canonical type."""

    likelihood: Literal["rank", "gaussian"]
    scheme: Literal["levels", "pairs"]
    n_levels: int
    classifier: Literal["linear", "nonlinear", "process"]
    n_factors: int
    within_features: bool
    n_components: int
    label_weight: float
    bias: bool
    classes: str
    test_name: str
    test_share: float
    image_shape: tuple[float, ...]
    n_top: int
    similarity: float
    shown_feature: str
    margin: float
    threshold_sd: float
    loading_shape: float
    loading_rate: float
    coefficient_shape: float
    coefficient_rate: float
    precision_shape: float
    precision_rate: float
    mass_shape: float
    mass_rate: float
    noise_shape: float
    noise_rate: float


class SamplerSettings(Settings):
    """The settings of the sampler."""

    boundary_length: float
    boundary_size: float
    coefficient_size: float
    loading_size: float
    interweave: bool


Sum = Literal["precision", "linear", "kappa", "w"]
SUMS: tuple[Sum, ...] = get_args(Sum)
"""What one stage sums up for the next; empty between two sweeps."""
Kept = Literal["steep", "pull", "zz", "aa", "p", "h"]
"""What stages of a sweep over large data keep for later ones; not there otherwise."""


class Shared(TypedDict):
    """What the states of both algorithms have: values of the sampler, means of q."""

    a: Floats
    """(d, K) loadings."""
    z: Floats
    """(N, K) scores."""
    c: Floats
    """(d, m - 1) thresholds; (d, 0) without."""
    beta: Floats
    """(T, G, K') classifiers, the offset last; (1, G, M) weights of the centres of a Gaussian process."""
    mu: Floats
    """(T, K) centres of the groups."""
    label_kappa: Floats
    """(N, G) of the sampler, (N, T, G) of q: weights of the labels' hinges."""
    precision: Floats
    """(N, packed) of the scores by the data; (1, packed) where it is the same for all samples."""
    linear: Floats
    """(N, K)"""
    kappa: Floats
    """(pairs,) weights of the comparisons of samples."""
    w: Floats
    """(N, d) values of the factors, for these."""
    measured: Floats
    """(d, 4) comparisons, their hinges, those in order and those with margin."""
    squares: Floats
    """(d,) squared residuals of Gaussian rows."""
    scale_precision: NotRequired[Floats]
    """(packed,) of the scales of the columns; of the sampler."""
    scale_linear: NotRequired[Floats]
    """(K,)"""


class Fields(Shared):
    """A state of the sampler."""

    gamma: Floats
    """(d,) precisions of the noise."""
    xi: Floats
    """(d, K) prior variances of the loadings."""
    eta: Floats
    """(d, K) their rates."""
    phi: Floats
    """(K,) the rates of these."""
    phi_rate: float
    b: Floats
    """(T, G, K') prior variances of the coefficients; empty where there are none, with a Gaussian process."""
    e: Floats
    """(T, G, K') their rates."""
    b_phi: Floats
    """(T, G) the rates of these."""
    b_phi_rate: Floats
    t: Ints
    """(N,) groups."""
    psi: Floats
    """(T,) precisions of the scores."""
    alpha: float
    log_nu: Floats
    """(T,) log nu."""
    log_rest: Floats
    """(T,) log(1 - nu)."""
    new_z: Floats
    """(M, K) scores of the test samples."""
    new_f: Floats
    """(M, G) values of the classifiers there."""
    f: NotRequired[Floats]
    """(N, G) values of a Gaussian process when it was last drawn."""
    lower: NotRequired[Floats]
    """(M, M) while it is drawn: factor of its kernel at the centres."""
    steep: NotRequired[Floats]
    """Precision and linear term of each classifier while they are summed up: (G, M, M) and (G, M) of a Gaussian process, (T G, packed) and
    (T G, K') of planes of large data."""
    pull: NotRequired[Floats]
    zz: NotRequired[Floats]
    """Within a sweep over large data: (N, packed) products z z', or (1, packed) their sum."""
    aa: NotRequired[Floats]
    """(d, packed) products a a'."""
    p: NotRequired[Floats]
    """(d, N) precision of each value a' z by its comparisons, and h its linear term with thresholds."""
    h: NotRequired[Floats]


Scaled = Literal["a", "c", "xi", "eta", "phi", "linear"]
"""Arrays that the moves of scales multiply by row or column."""
Mean = Literal["a", "z", "c", "beta", "mu"]
MEANS: tuple[Mean, ...] = get_args(Mean)
Rate = Literal["eta_rate", "phi_rate", "e_rate", "b_phi_rate"]
RATES: tuple[Rate, ...] = get_args(Rate)
GammaFactor = Literal["eta", "phi", "top", "e", "b_phi", "b_top", "gamma", "psi", "alpha"]
"""Factors of q that are kept by shape and rate."""


class Q(Shared):
    """A state of the ascent: q, gamma factors by shape and rate. ``top`` is q of Phi~, ``b_top`` that of beta's."""

    a_cov: Floats
    """(d, packed)"""
    a_log_det: Floats
    z_cov: Floats
    """(N, packed)"""
    z_log_det: Floats
    beta_cov: Floats
    """(T, G, packed)"""
    beta_log_det: Floats
    c_var: Floats
    xi_eta: Floats
    """(d, K) where q(xi) was set: <eta> and E[a^2]; its mean, and that of 1 / xi."""
    xi_square: Floats
    xi_mean: Floats
    xi_inverse: Floats
    b_eta: Floats
    """(T, G, K') the same of beta."""
    b_square: Floats
    b_mean: Floats
    b_inverse: Floats
    xi_order: float
    eta_shape: float
    eta_rate: Floats
    phi_shape: float
    phi_rate: Floats
    top_shape: float
    top_rate: float
    e_shape: float
    e_rate: Floats
    b_phi_shape: float
    b_phi_rate: Floats
    b_top_shape: float
    b_top_rate: Floats
    gamma_shape: Floats
    gamma_rate: Floats
    share: Floats
    """(N, T) q(t)."""
    mu_var: Floats
    psi_shape: Floats
    psi_rate: Floats
    nu_a: Floats
    nu_b: Floats
    alpha_shape: float
    alpha_rate: float
    hinges: Floats
    """(d,) expected log hinges."""
    gaussian: bool
    good: dict[str, Any]
    """q after the last sweep that rose, its bound and traces."""
    share_added: float
    """Share of the last step that the next one adds."""
    rows: NDArray[np.intp]
    """Places of the fitted rows among the features, and of the training samples."""
    train: NDArray[np.intp]
    n_samples: int
    n_features: int


class Rows(TypedDict):
    """What of a state or draw the rows need to speak of new samples."""

    a: Floats
    z: Floats
    c: Floats
    gamma: Floats


class Draw(Rows):
    """What of a draw the scores of new samples need."""

    beta: Floats
    psi: Floats
    mu: Floats
    log_weight: Floats
    """(T,) log of the groups' shares."""
    boundary: NotRequired[Boundary]
    """The classifier, where it is a Gaussian process."""


class Factors(Draw):
    """What of q predictions need; names as in :class:`Q`, gamma and psi are means."""

    a_cov: Floats
    z_cov: Floats
    c_var: Floats
    beta_cov: Floats
    mu_var: Floats
    share: Floats


def factors_of(params: Settings, n_features: int) -> int:
    """K: as many factors as asked for, but no more than features unless they may be."""
    return min(params["n_factors"], n_features) if params["within_features"] else params["n_factors"]


def wrong_groups(state: Mapping[str, Any]) -> str:
    """Whether a stored state of the sampler has samples in groups that it does not have, as a part of a sentence."""
    if "t" in state and state["t"].max(initial=0) >= len(state["psi"]):
        return f"“t” names group {state['t'].max() + 1} of {len(state['psi'])}"
    return ""
