"""The log of the target density, without the augmentation and up to a constant."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from plaidwork.plugins.rank_factor.mixture import decisions, log_weights, size_precision
from plaidwork.plugins.rank_factor.scaling import loading_precision
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, SamplerSettings


def log_gamma(x, shape, rate) -> float:
    """Log density of Gamma(shape, rate), summed."""
    value = shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x
    return float(np.sum(value))


def log_normal(x, variance) -> float:
    """Log density of N(0, variance), summed, without the 2 pi."""
    return float(-0.5 * np.sum(np.log(variance) + np.asarray(x) ** 2 / variance))


def log_data(state: Fields, setup: Setup) -> float:
    """Log likelihood from what was measured of the rows (``rows.measure_part``)."""
    if setup.likelihood != "gaussian":
        return float(-2.0 * state["measured"][:, 1].sum())
    gamma, count = state["gamma"], setup.known.sum(axis=1)
    return float(0.5 * (count * np.log(gamma / (2 * np.pi)) - gamma * state["squares"]).sum())


def label_values(state: Fields) -> np.ndarray:
    """(N, G) value of the classifier of the sample's own group; of a Gaussian process as it was last drawn."""
    if "f" in state:
        return state["f"]
    return decisions(state["z"], state["beta"])[np.arange(len(state["t"])), state["t"]]


def log_labels(state: Fields, setup: Setup, params: SamplerSettings) -> float:
    hinge = np.maximum(0.0, 1.0 - setup.y * label_values(state)) * (setup.y != 0)
    return float(-2.0 * params["label_weight"] * hinge.sum())


def _log_prior_of_planes(state: Fields, params: SamplerSettings) -> float:
    r, s = params["coefficient_shape"], params["coefficient_rate"]
    total = -0.5 * size_precision(params) * float((state["beta"] ** 2).sum())
    total += log_normal(state["beta"], state["b"]) + log_gamma(state["b"], r, state["e"])
    total += log_gamma(state["e"], s, state["b_phi"][..., None])
    total += log_gamma(state["b_phi"], 0.5, state["b_phi_rate"])
    total += log_gamma(state["b_phi_rate"], 0.5, 1.0)
    return total


def log_prior(state: Fields, setup: Setup, params: SamplerSettings) -> float:
    """Log prior of everything."""
    r, s = params["loading_shape"], params["loading_rate"]
    total = -0.5 * loading_precision(params) * float((state["a"] ** 2).sum())
    total += log_normal(state["a"], state["xi"]) + log_gamma(state["xi"], r, state["eta"])
    total += log_gamma(state["eta"], s, state["phi"]) + log_gamma(state["phi"], 0.5, state["phi_rate"])
    total += log_gamma(state["phi_rate"], 0.5, 1.0)
    if state["b"].size:
        total += _log_prior_of_planes(state, params)
    if setup.likelihood == "levels":
        used = np.arange(state["c"].shape[1]) < setup.ranks.top[:, None]
        total += log_normal(state["c"][used], params["threshold_sd"] ** 2)
    if setup.likelihood == "gaussian":
        total += log_gamma(state["gamma"], params["noise_shape"], params["noise_rate"])
    t, psi = state["t"], state["psi"]
    total += log_normal(state["z"] - state["mu"][t], 1.0 / psi[t][:, None])
    if len(psi) > 1:
        alpha = state["alpha"]
        total += float(log_weights(state)[t].sum()) + log_normal(state["mu"], 1.0)
        total += log_gamma(psi, params["precision_shape"], params["precision_rate"])
        total += float((np.log(alpha) + (alpha - 1) * state["log_rest"][:-1]).sum())
        total += log_gamma(alpha, params["mass_shape"], params["mass_rate"])
    return total


def log_volume(state: Fields) -> float:
    """What the log density gains in coordinates without a unit: values by the roots of their prior variances, logarithms of all above these.

    In the values themselves the density of what is not in use grows without bound as it shrinks: with thousands of features one empty
    factor more outweighs all that the data say.
    """
    logs = [1.5 * np.log(state["xi"]), np.log(state["eta"]), np.log(state["phi"]), np.log(state["phi_rate"])]
    if state["b"].size:
        logs += [
            1.5 * np.log(state["b"]),
            np.log(state["e"]),
            np.log(state["b_phi"]),
            np.log(state["b_phi_rate"]),
        ]
    return float(sum(np.sum(one) for one in logs))


def log_density(state: Fields, setup: Setup, params: SamplerSettings) -> float:
    """The whole, as of the last measurement, in the coordinates of :func:`log_volume`; without the labels where they are cut from the scores."""
    labels = 0.0 if "f" in state else log_labels(state, setup, params)
    return log_data(state, setup) + labels + log_prior(state, setup, params) + log_volume(state)
