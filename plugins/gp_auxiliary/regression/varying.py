"""How a noise that varies with the inputs moves: elliptical slices of its weights u under the evidence with f integrated out.

Murray, Adams and MacKay 2010, AISTATS, figure 2. While they move, theta and so the covariance of f stays: a try costs one Cholesky factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.gp_auxiliary.kernels.precision import dense_log_density
from plaidwork.plugins.gp_auxiliary.regression.law import inputs_of, law_of
from plaidwork.plugins.gp_auxiliary.regression.noise import NoiseLaw
from plaidwork.plugins.gp_auxiliary.regression.state import RegressionFields
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior


@dataclass(frozen=True, slots=True)
class Sliced:
    """What all tries of one sweep have in common.

    Attributes
    ----------
    basis : (N, J) Phi, see ``noise.py``.
    latent : (N, N) covariance of f.
    noise : noise variance of a sample with scale 1.
    y : (N,) standardised values.
    """

    basis: np.ndarray
    latent: np.ndarray
    noise: float
    y: np.ndarray

    @classmethod
    def of(cls, prior: Prior, state: RegressionFields) -> Sliced:
        """At a chain's theta."""
        law, theta, x = law_of(prior), state["theta"], inputs_of(prior.x)
        basis = NoiseLaw("varying", state["places"]).basis(state["fixed"]["x"])
        return cls(basis, law.latent().matrix(x, theta), float(law.noises(theta)[0]), state["fixed"]["y"])

    def log_evidence(self, scale: np.ndarray) -> float:
        """``log N(y | 0, C + R)`` in nats where the noise variances have these scales (N,)."""
        c = self.latent.copy()
        c.flat[:: len(c) + 1] += scale * self.noise - 1.0
        return float(dense_log_density(c, self.y[None])) - 0.5 * len(self.y) * math.log(2.0 * math.pi)


def try_angle(rng: np.random.Generator, state: RegressionFields, sliced: Sliced) -> bool:
    """A try of an elliptical slice of the weights of a varying noise; whether it was taken."""
    if "bracket" not in state:
        height = sliced.log_evidence(state["scale"]) + math.log(rng.random())
        angle = 2.0 * math.pi * rng.random()
        other = rng.standard_normal(len(state["shape"]))
        state["bracket"] = {"low": angle - 2.0 * math.pi, "high": angle, "other": other, "height": height}
    else:
        angle = rng.uniform(state["bracket"]["low"], state["bracket"]["high"])
    bracket = state["bracket"]
    shape = math.cos(angle) * state["shape"] + math.sin(angle) * bracket["other"]
    scale = np.asarray(np.exp(sliced.basis @ shape))
    if sliced.log_evidence(scale) > bracket["height"]:
        state["shape"], state["scale"] = shape, scale
        state["steps"]["current"][0] = math.nan
        del state["bracket"]
        return True
    bracket["low" if angle < 0.0 else "high"] = angle
    return False
